# Made from the package by tools/stubs.py: do not edit.
from kpw_nb.core import Result
from typing import Any
from typing import Callable
import kpw_nb.kernels
import numpy

__all__: list[str] = []

class Features(Result):
    phi: numpy.ndarray
    dual: numpy.ndarray
    support: numpy.ndarray
    eigenvalues: numpy.ndarray
    @property
    def H(self) -> numpy.ndarray: ...
    def __init__(
        self,
        phi: numpy.ndarray,
        dual: numpy.ndarray,
        support: numpy.ndarray,
        eigenvalues: numpy.ndarray,
    ) -> None: ...
    def transform(self, kernel: Any, Znew: Any, Z: Any) -> numpy.ndarray: ...

def pivoted_cholesky(
    column: Callable,
    diag: Any,
    rank: int,
    tol: float = 0.0,
) -> tuple: ...

def make_features(
    kernel: kpw_nb.kernels.Kernel,
    Z: Any,
    ridge: float = 0.0,
    rank: int | str | None = None,
    norm: str = 'rkhs',
) -> Features: ...
