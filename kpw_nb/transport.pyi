# Made from the package by tools/stubs.py: do not edit.
from kpw_nb.core import Result
from typing import Any
import numpy

__all__ = [
    'exact_transport',
    'wasserstein',
    'sinkhorn',
]

def cost_matrix(x: Any, y: Any, p: float = 2) -> numpy.ndarray: ...

class Transport(Result):
    value: float
    rows: numpy.ndarray
    cols: numpy.ndarray
    mass: numpy.ndarray
    method: str
    shape: tuple
    def __init__(
        self,
        value: float,
        rows: numpy.ndarray,
        cols: numpy.ndarray,
        mass: numpy.ndarray,
        method: str,
        shape: tuple,
    ) -> None: ...
    @property
    def plan(self) -> numpy.ndarray: ...

def simplex(C: Any, a: Any, b: Any) -> Any: ...

def exact_transport(
    x: Any,
    y: Any,
    a: Any = None,
    b: Any = None,
    p: float = 2,
) -> Transport: ...

def wasserstein(
    x: Any,
    y: Any,
    a: Any = None,
    b: Any = None,
    p: float = 2,
) -> float: ...

def entropy(plan: Any) -> float: ...

def dual_objective(
    u: Any,
    v: Any,
    C: Any,
    eta: float,
    a: Any = None,
    b: Any = None,
) -> float: ...

def squared_gaps(point: Any, others: Any, out: Any) -> Any: ...

def exp_sum(costs: Any, v: Any, guess: Any, rate: Any, out: Any) -> Any: ...

def normalise(
    costs: Any,
    v: Any,
    guess: Any,
    rate: Any,
    mass: Any,
    out: Any,
) -> Any: ...

class Entropic(Result):
    value: float
    objective: float
    plan: numpy.ndarray
    potentials: tuple
    n_iter: int
    converged: bool
    error: float
    def __init__(
        self,
        value: float,
        objective: float,
        plan: numpy.ndarray,
        potentials: tuple,
        n_iter: int,
        converged: bool,
        error: float,
    ) -> None: ...

def sinkhorn(
    C: Any,
    eta: float,
    a: Any = None,
    b: Any = None,
    *,
    max_iter: int = 10000,
    tol: float = 1e-09,
    v0: Any = None,
    progress: Any = False,
) -> Entropic: ...
