# Made from the package by tools/stubs.py: do not edit.
from kpw_nb.core import Result
from typing import Any
import collections.abc
import kpw_nb.kernels
import numpy

__all__ = [
    'concentration',
    'threshold',
    'type2_bound',
    'empirical_rate',
]

def bias_rate(n: Any, d: int, p: float) -> Any: ...

def fixed_bias(n: float, m: float | None, d: int, p: float, B: float) -> float: ...

def kpw_bias(
    n: float,
    m: float | None,
    d: int,
    p: float,
    B: float,
    *,
    rank: Any = 1,
    tail: Any = 0.0,
) -> float: ...

def kernel_tail(
    kernel: kpw_nb.kernels.Kernel,
    Z: Any,
    held_out: Any,
    *,
    bound: float = 1.0,
) -> numpy.ndarray: ...

def concentration_p12(
    n: float,
    alpha: float,
    B: float,
    p: float,
    m: float | None = None,
) -> float: ...

def concentration(
    n: float,
    m: float | None,
    alpha: float,
    B: float,
    p: float,
) -> float: ...

def concentration_poincare(
    n: float,
    m: float | None,
    alpha: float,
    L: float,
    p: float,
    M: float,
) -> float: ...

def finite_sample_bound(
    n: float,
    m: float,
    d: int,
    p: float,
    alpha: float,
    B: float,
    L: float,
    *,
    constant: float,
    varrho: float,
    rank: float = 1,
) -> float: ...

def threshold(
    n: float,
    m: float,
    d: int,
    p: float,
    alpha: float,
    B: float,
    *,
    rank: Any = 1,
    tail: Any = 0.0,
) -> float: ...

def type2_bound(
    kpw: float,
    gamma: float,
    n: float,
    m: float,
    B: float,
    p: float,
) -> float: ...

class RateFit(Result):
    exponent: float | numpy.ndarray
    low: float | numpy.ndarray
    high: float | numpy.ndarray
    sizes: numpy.ndarray
    mean: numpy.ndarray
    values: numpy.ndarray
    def __init__(
        self,
        exponent: float | numpy.ndarray,
        low: float | numpy.ndarray,
        high: float | numpy.ndarray,
        sizes: numpy.ndarray,
        mean: numpy.ndarray,
        values: numpy.ndarray,
    ) -> None: ...

def empirical_rate(
    statistic: collections.abc.Callable,
    sample: collections.abc.Callable,
    sizes: Any,
    *,
    n_trials: int = 20,
    confidence: float = 0.95,
    rng: Any = None,
) -> RateFit: ...
