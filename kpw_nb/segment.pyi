# Made from the package by tools/stubs.py: do not edit.
from kpw_nb.core import Result
from typing import Any
from typing import NamedTuple
import kpw_nb.detect
import numpy

__all__ = [
    'kpw_changepoint',
]

def scan(K: Any, order: Any, low: Any) -> Any: ...

def thin_sides(order: Any, cut: Any, most: Any = 60) -> Any: ...

def cut_values(
    statistic: kpw_nb.detect.PairStatistic,
    M: Any,
    order: Any,
    low: Any,
    grid: Any,
) -> Any: ...

def block_order(start: Any, stop: Any, block: Any, g: Any) -> Any: ...

def residual_block(Z: Any) -> Any: ...

class Cuts:
    statistics: list
    matrices: list
    low: int
    grid: numpy.ndarray
    def __init__(
        self,
        statistics: list,
        matrices: list,
        low: int,
        grid: numpy.ndarray,
    ) -> None: ...
    def owner(self, column: Any) -> Any: ...
    def parts(self, order: Any) -> Any: ...

def segment_cuts(Z: Any, candidates: Any, low: Any) -> Any: ...

def telling_gram(
    statistic: kpw_nb.detect.PairStatistic,
    M: Any,
    Z: Any,
    candidate: Any,
    cut: Any,
) -> Any: ...

def test_segment(
    Z: Any,
    plan: Any,
    block: Any,
    n_resamples: Any,
    seed: Any,
    engine: Any,
) -> Any: ...

class Plan(NamedTuple):
    candidates: list
    low: int
    block: int | None
    alpha: float
    n_resamples: int
    most: float
    def block_of(self, Z: Any) -> Any: ...
    def __getattr__(self, name: str) -> Any: ...

def cut_pvalue(
    K: Any,
    cut: Any,
    low: Any,
    block: Any,
    n_resamples: Any,
    seed: Any,
) -> Any: ...

def locate(
    K: Any,
    low: Any,
    block: Any,
    alpha: Any,
    n_resamples: Any,
    seed: Any,
    engine: Any,
) -> Any: ...

class SegmentTest(NamedTuple):
    start: int
    stop: int
    pvalue: float
    level: float
    block: int
    def __getattr__(self, name: str) -> Any: ...

def search_changes(Z: Any, plan: Any, seeds: Any, engine: Any) -> Any: ...

def locate_again(Z: Any, found: Any, plan: Any, seeds: Any, engine: Any) -> Any: ...

class ChangePoints(Result):
    changes: tuple
    rows: tuple
    pvalues: tuple
    confidence_sets: tuple
    pvalue: float
    tests: tuple
    alpha: float
    block: int
    seed: int
    def __init__(
        self,
        changes: tuple,
        rows: tuple,
        pvalues: tuple,
        confidence_sets: tuple,
        pvalue: float,
        tests: tuple,
        alpha: float,
        block: int,
        seed: int,
    ) -> None: ...
    def summary(self) -> Any: ...

def kpw_changepoint(
    series: Any,
    *,
    alpha: float = 0.05,
    block: Any = 'auto',
    min_size: int | None = None,
    max_changes: int | None = None,
    candidates: Any = 'auto',
    n_resamples: int = 199,
    rng: Any = None,
    workers: Any = 1,
    progress: Any = False,
) -> ChangePoints: ...
