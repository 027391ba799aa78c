# Made from the package by tools/stubs.py: do not edit.
from kpw_nb.statistics import Statistic
from typing import Any
from typing import NamedTuple
import kpw_nb.table
import numpy

__all__: list[str] = []

def midranks(values: Any) -> numpy.ndarray: ...

def standard(F: Any) -> numpy.ndarray: ...

def number_features(values: Any) -> numpy.ndarray: ...

def level_features(codes: Any, levels: int) -> numpy.ndarray: ...

def tail_evidence(square: Any, df: Any) -> numpy.ndarray: ...

class Coordinates(NamedTuple):
    values: numpy.ndarray
    owner: numpy.ndarray
    order: numpy.ndarray
    def __getattr__(self, name: str) -> Any: ...

def pair_indices(coordinates: Coordinates) -> numpy.ndarray: ...

def some_rows(values: Any) -> numpy.ndarray: ...

class PairEvidence:
    def __init__(self, coordinates: Coordinates) -> None: ...
    def parts(self, marks: Any) -> numpy.ndarray: ...
    def values(self, marks: Any) -> numpy.ndarray: ...
    def __getattr__(self, name: str) -> Any: ...

def grouped(evidence: Any, group: Any) -> numpy.ndarray: ...

class ColumnEvidence(Statistic):
    def __init__(
        self,
        X: kpw_nb.table.Columns,
        Y: kpw_nb.table.Columns,
        columns: Any,
        pairs: bool = True,
        design: Any = None,
    ) -> None: ...
    def parts(self, marks: Any) -> numpy.ndarray: ...
    def values(self, orders: Any) -> Any: ...
    def __getattr__(self, name: str) -> Any: ...

def pooled_column(
    X: kpw_nb.table.Columns,
    Y: kpw_nb.table.Columns,
    j: int,
) -> tuple: ...

def step_down(observed: Any, null: Any) -> numpy.ndarray: ...

class Found(NamedTuple):
    strength: numpy.ndarray
    pvalues: numpy.ndarray
    pairs: numpy.ndarray
    leading: numpy.ndarray
    orders: numpy.ndarray
    def __getattr__(self, name: str) -> Any: ...

def balanced(values: Any, D: int) -> numpy.ndarray: ...

def find_evidence(
    X: kpw_nb.table.Columns,
    Y: kpw_nb.table.Columns,
    columns: Any,
    *,
    n_resamples: Any = 199,
    rng: Any = None,
    design: Any = None,
) -> Any: ...
