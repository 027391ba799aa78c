# Made from the package by tools/stubs.py: do not edit.
from typing import Any
from typing import NamedTuple
import numpy

__all__: list[str] = []

def plan_matrix(phi: Any, n: Any, plan: Any) -> Any: ...

def plan_pull(F: Any, n: Any, plan: Any) -> Any: ...

def repair_plan(plan: Any) -> Any: ...

def plan_bound(phi: Any, n: Any, plan: Any, k: Any = 1) -> Any: ...

class Relaxation(NamedTuple):
    bound: float
    value: float
    S: numpy.ndarray
    plan: numpy.ndarray
    def __getattr__(self, name: str) -> Any: ...

def relax(phi: Any, n: Any, tol: Any = 0.001) -> Relaxation: ...

def rounded_weights(phi: Any, n: Any, R: Any, relaxed: Any) -> numpy.ndarray: ...

def upper_bound(phi: Any, n: Any, R: Any, S: Any, relaxed: Any) -> float: ...
