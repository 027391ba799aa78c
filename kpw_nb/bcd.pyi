# Made from the package by tools/stubs.py: do not edit.
from typing import Any
from typing import NamedTuple
import kpw_nb.transport
import numpy

__all__: list[str] = []

def literal_gram(K: Any, P: Any, n: Any) -> Any: ...

def literal_problem(K: numpy.ndarray, P: numpy.ndarray, n: int) -> tuple: ...

def literal_plan(u: Any, v: Any, s: Any, A: Any, U: Any, eta: Any) -> Any: ...

def literal_objective(u: Any, v: Any, s: Any, A: Any, U: Any, eta: Any) -> Any: ...

def literal_gradient(u: Any, v: Any, s: Any, A: Any, U: Any, eta: Any) -> Any: ...

def theory_step(phi: numpy.ndarray, R: numpy.ndarray, n: int, eta: float) -> tuple: ...

def update_rows(
    F: Any,
    n: Any,
    u: Any,
    v: Any,
    inv_eta: Any,
    plan: Any,
    columns: Any,
) -> Any: ...

def update_columns(
    F: Any,
    n: Any,
    u: Any,
    v: Any,
    inv_eta: Any,
    plan: Any,
    columns: Any,
) -> Any: ...

def plan_laplacian(
    F: Any,
    n: Any,
    u: Any,
    v: Any,
    inv_eta: Any,
    plan: Any,
    columns: Any,
) -> Any: ...

def rows_times(A: Any, Bt: Any) -> Any: ...

def gram_product(phi: Any, H: Any, W: Any) -> Any: ...

class Problem(NamedTuple):
    phi: numpy.ndarray
    H: numpy.ndarray
    R: numpy.ndarray
    n: int
    eta: float
    tau: float
    def __getattr__(self, name: str) -> Any: ...

class Start(NamedTuple):
    W: numpy.ndarray
    v: numpy.ndarray
    step: float
    def __getattr__(self, name: str) -> Any: ...

def coefficients(phi: Any, S: Any) -> Any: ...

def witness_start(phi: Any, directions: Any, n: Any, q: Any) -> Any: ...

class Descent(NamedTuple):
    W: numpy.ndarray
    v: numpy.ndarray
    step: float
    F: numpy.ndarray
    u: numpy.ndarray
    plan: numpy.ndarray
    history: numpy.ndarray
    objective: float
    converged: bool
    def __getattr__(self, name: str) -> Any: ...

def descend(problem: Any, start: Any, max_iter: Any, tol: Any, hold: Any) -> Any: ...

def descent(
    problem: Any,
    start: Any,
    max_iter: Any,
    tol: Any,
    hold: Any,
) -> Descent: ...

def sparse_laplacian(F: Any, n: Any, plan: Any) -> Any: ...

class Ascent(NamedTuple):
    W: numpy.ndarray
    F: numpy.ndarray
    transport: kpw_nb.transport.Transport
    history: numpy.ndarray
    converged: bool
    def __getattr__(self, name: str) -> Any: ...

def exact_ascent(phi: Any, R: Any, n: Any, W: Any, max_iter: Any, tol: Any) -> Any: ...

def line_pull(f: Any, is_x: Any, n: Any, out: Any) -> Any: ...

def sort_keys(keys: Any, spare: Any, counts: Any) -> Any: ...

def line_pulls(F: Any, is_x: Any, n: Any, out: Any, values: Any) -> Any: ...

def sorted_ascent(phi: Any, is_x: Any, steps: int) -> numpy.ndarray: ...
