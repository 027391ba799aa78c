# Made from the package by tools/stubs.py: do not edit.
from kpw_nb.core import Result
from typing import Any
from typing import NamedTuple
import numpy

__all__ = [
    'Relabelling',
    'Free',
    'Strata',
    'resample',
    'permutation_test',
]

class Relabelling:
    @property
    def count(self) -> float: ...
    def draw(self, key: Any) -> numpy.ndarray: ...
    def keys(self, n_resamples: int, rng: Any = None) -> tuple: ...
    @property
    def mirrored(self) -> bool: ...
    @property
    def observed(self) -> numpy.ndarray: ...
    def smallest_pvalue(self, n_resamples: int, alike: int = 1) -> float: ...
    def __getattr__(self, name: str) -> Any: ...

class Free(Relabelling):
    n: int
    m: int
    def __init__(self, n: int, m: int) -> None: ...
    @property
    def count(self) -> float: ...
    def draw(self, key: Any) -> numpy.ndarray: ...
    @property
    def mirrored(self) -> bool: ...
    @property
    def observed(self) -> numpy.ndarray: ...

class Strata(Relabelling):
    strata: numpy.ndarray
    n: int
    def __init__(self, strata: numpy.ndarray, n: int) -> None: ...
    @property
    def count(self) -> float: ...
    def draw(self, key: Any) -> numpy.ndarray: ...
    @property
    def mirrored(self) -> bool: ...
    @property
    def observed(self) -> numpy.ndarray: ...

class Parts(Relabelling):
    parts: tuple
    def __init__(self, parts: tuple) -> None: ...
    @property
    def count(self) -> float: ...
    def draw(self, key: Any) -> numpy.ndarray: ...
    @property
    def observed(self) -> numpy.ndarray: ...

def permutation_pvalue(observed: float, null: Any) -> float: ...

def check_resamples(n_resamples: int, alpha: float = 0.05) -> float: ...

def pvalue_interval(
    b: int,
    N: int,
    confidence: float = 0.95,
    stopped: bool = False,
) -> tuple: ...

def evaluate(statistic: Any, design: Any, task: Any) -> Any: ...

class Resampled(NamedTuple):
    observed: numpy.ndarray
    null: numpy.ndarray
    complete: bool
    partial: bool
    def __getattr__(self, name: str) -> Any: ...

def resample(
    statistic: Any,
    design: Relabelling,
    *,
    n_resamples: int = 199,
    rng: Any = None,
    workers: Any = 1,
    batch: int | None = None,
    progress: Any = False,
    stop: Any = None,
) -> Resampled: ...

class PermutationResult(Result):
    statistic: float
    pvalue: float
    null_distribution: numpy.ndarray
    n_resamples: int
    exact: bool
    interval: tuple
    partial: bool
    def __init__(
        self,
        statistic: float,
        pvalue: float,
        null_distribution: numpy.ndarray,
        n_resamples: int,
        exact: bool,
        interval: tuple,
        partial: bool,
    ) -> None: ...
    def __iter__(self) -> Any: ...

def calibrated(
    statistic: Any,
    design: Relabelling,
    *,
    n_resamples: int = 199,
    alternative: str = 'greater',
    stop_after: int | None = None,
    confidence: float = 0.95,
    **run: Any,
) -> PermutationResult: ...

def permutation_test(
    statistic: Any,
    n: int,
    m: int,
    *,
    n_resamples: int = 199,
    rng: Any = None,
    workers: Any = 1,
    batch: int | None = None,
    progress: Any = False,
    alternative: str = 'greater',
    stop_after: int | None = None,
    confidence: float = 0.95,
) -> PermutationResult: ...

def rounding(rows: Any) -> numpy.ndarray: ...

def zscores(rows: Any) -> numpy.ndarray: ...

def normal_zscores(rows: Any) -> numpy.ndarray: ...

def aggregate(
    observed: Any,
    null: Any,
    how: str = 'max',
    temperature: float = 1.0,
    weights: Any = None,
) -> tuple: ...
