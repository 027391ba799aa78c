# Made from the package by tools/stubs.py: do not edit.
from kpw_nb.core import Result
from kpw_nb.relabel import Relabelling
from kpw_nb.statistics import Statistic
from typing import Any
import kpw_nb.relabel
import numpy

__all__: list[str] = []

def find_cells(F: Any, axis: Any, cut: Any, child: Any, out: Any) -> Any: ...

class Cells(Result):
    n_cells: int
    dims: tuple
    centers: tuple
    spans: tuple
    radii: numpy.ndarray
    weights: numpy.ndarray
    axis: numpy.ndarray
    cut: numpy.ndarray
    child: numpy.ndarray
    def __init__(
        self,
        n_cells: int,
        dims: tuple,
        centers: tuple,
        spans: tuple,
        radii: numpy.ndarray,
        weights: numpy.ndarray,
        axis: numpy.ndarray,
        cut: numpy.ndarray,
        child: numpy.ndarray,
    ) -> None: ...
    def assign(self, F: Any) -> numpy.ndarray: ...
    def count(self, F: Any) -> numpy.ndarray: ...
    def distortion(self, F: Any, p: float = 2) -> numpy.ndarray: ...

def fit_cells(F: Any, n_cells: int | None = None, *, support: int = 128) -> Cells: ...

def draw_counts(key: Any, totals: Any, n: int) -> numpy.ndarray: ...

class Counts(Relabelling):
    counts_X: numpy.ndarray
    counts_Y: numpy.ndarray
    def __init__(self, counts_X: numpy.ndarray, counts_Y: numpy.ndarray) -> None: ...
    @property
    def count(self) -> Any: ...
    def draw(self, key: Any) -> Any: ...
    @property
    def n(self) -> Any: ...
    @property
    def observed(self) -> Any: ...
    @property
    def totals(self) -> Any: ...

class CellW(Statistic):
    def __init__(self, cells: Any, design: Any, p: Any = 2.0) -> None: ...
    def values(self, counts: Any) -> Any: ...
    def __getattr__(self, name: str) -> Any: ...

class CellMean(Statistic):
    def __init__(self, cells: Any, design: Any) -> None: ...
    def values(self, counts: Any) -> Any: ...
    def __getattr__(self, name: str) -> Any: ...

def compressed_values(
    counts_X: Any,
    counts_Y: Any,
    cells: Any,
    *,
    p: Any = 2,
    statistic: Any = 'wasserstein',
    **options: Any,
) -> kpw_nb.relabel.Resampled: ...
