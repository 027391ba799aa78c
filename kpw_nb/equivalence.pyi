# Made from the package by tools/stubs.py: do not edit.
from kpw_nb.core import Result
from typing import Any
from typing import NamedTuple
import numpy

__all__ = [
    'kpw_equivalence',
]

class Sums(NamedTuple):
    to_x: numpy.ndarray
    to_y: numpy.ndarray
    diagonal: numpy.ndarray
    square: float
    n: int
    def __getattr__(self, name: str) -> Any: ...

def kernel_sums(kernel: Any, Z: Any, n: int) -> Sums: ...

def biased_mmd(s: Sums) -> float: ...

class Bound(NamedTuple):
    estimate: float
    upper: float
    pvalue: float
    def __getattr__(self, name: str) -> Any: ...

def finite_bound(s: Sums, margin: float, alpha: float) -> Bound: ...

def reachable(s: Sums, alpha: float) -> float: ...

def unbiased_square(s: Sums) -> float: ...

def witness_variances(s: Sums) -> tuple: ...

def asymptotic_bound(s: Sums, margin: float, alpha: float) -> Bound: ...

def auc_bound(
    X: Any,
    Y: Any,
    margin: float,
    alpha: float,
    rng: Any = None,
) -> Bound: ...

class EquivalenceResult(Result):
    equivalent: bool
    pvalue: float
    estimate: float
    upper: float
    margin: float
    alpha: float
    scale: str
    method: str
    why: str
    kernel: object
    sizes: tuple
    def __init__(
        self,
        equivalent: bool,
        pvalue: float,
        estimate: float,
        upper: float,
        margin: float,
        alpha: float,
        scale: str,
        method: str,
        why: str,
        kernel: object,
        sizes: tuple,
    ) -> None: ...

def check_margin(margin: Any, scale: str, bounded: bool) -> float: ...

def bounded_kernel(kernel: Any, method: str) -> bool: ...

def kpw_equivalence(
    X: Any,
    Y: Any,
    margin: float,
    *,
    scale: str = 'mmd',
    method: str = 'auto',
    alpha: float = 0.05,
    kernel: Any = 'gaussian',
    bandwidth: Any = 'median',
    missing: str = 'error',
    rng: Any = None,
) -> EquivalenceResult: ...
