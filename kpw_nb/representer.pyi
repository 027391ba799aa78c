# Made from the package by tools/stubs.py: do not edit.
from kpw_nb.core import Result
from typing import Any
from typing import Callable
from typing import NamedTuple
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

class Factor(NamedTuple):
    phi: numpy.ndarray
    support: numpy.ndarray
    dual: numpy.ndarray
    triangular: bool
    gram: numpy.ndarray | None
    def expand(self, S: Any) -> Any: ...
    def __getattr__(self, name: str) -> Any: ...

def pivoted_cholesky(
    column: Callable,
    diag: Any,
    rank: int,
    tol: float = 0.0,
) -> tuple: ...

def landmarks(Z: Any, most: int = 512) -> numpy.ndarray: ...

class LandmarkMap:
    def __call__(self, Z: Any) -> numpy.ndarray: ...
    def __init__(self, kernel: Any, points: Any) -> None: ...
    def columns(self, Z: Any) -> numpy.ndarray: ...
    @property
    def matrix(self) -> numpy.ndarray: ...
    def __getattr__(self, name: str) -> Any: ...

def make_features(
    kernel: kpw_nb.kernels.Kernel,
    Z: Any,
    ridge: float = 0.0,
    rank: int | str | None = None,
    norm: str = 'rkhs',
) -> Features: ...

def make_factor(
    kernel: Any,
    Z: Any,
    ridge: Any = 0.0,
    rank: Any = None,
    norm: Any = 'rkhs',
) -> Factor: ...
