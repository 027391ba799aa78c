# Made from the package by tools/stubs.py: do not edit.
from kpw_nb.core import Result
from typing import Any
from typing import NamedTuple
import numpy

__all__ = [
    'KPWProjector',
    'KPWResult',
    'kpw_distance',
    'MeanProjector',
    'WitnessProjector',
]

def cost_scale(phi: Any, R: Any) -> Any: ...

def cost_unit(scale: Any) -> Any: ...

def start_weights(phi: Any, directions: Any, q: Any, n: Any) -> Any: ...

def random_weights(factor: Any, q: Any, seed: Any) -> Any: ...

def projected_distance(FX: Any, FY: Any) -> Any: ...

class Classes(NamedTuple):
    values: numpy.ndarray
    order: numpy.ndarray
    n: int
    def __getattr__(self, name: str) -> Any: ...

def two_classes(labels: Any) -> Any: ...

class KPWProjector:
    def __init__(
        self,
        kernel: Any = 'gaussian',
        bandwidth: Any = 'median',
        d: Any = 3,
        rho: Any = 0.5,
        P: Any = None,
        eta: Any = 'auto',
        ridge: Any = 0.0,
        rank: Any = None,
        norm: Any = 'rkhs',
        solver: Any = 'bcd',
        step: Any = 'adaptive',
        n_starts: Any = 1,
        max_iter: Any = 1000,
        tol: Any = 0.0001,
        rng: Any = None,
        progress: Any = False,
    ) -> None: ...
    def fit(self, Z: Any, y: Any) -> Any: ...
    def transform(self, Z: Any) -> Any: ...
    @property
    def value_(self) -> float: ...
    def __getattr__(self, name: str) -> Any: ...

def check_parameters(est: Any) -> Any: ...

def factor_of(est: Any) -> Any: ...

class KPWResult(Result):
    value: float
    upper_bound: float | None
    gap: float | None
    transport_cost: float
    objective: float
    converged: bool
    n_iter: int
    eta: float
    start_values: numpy.ndarray
    value_points: tuple
    plan: numpy.ndarray | None
    potentials: tuple | None
    history: dict
    projections: tuple
    projector: KPWProjector
    def __init__(
        self,
        value: float,
        upper_bound: float | None,
        gap: float | None,
        transport_cost: float,
        objective: float,
        converged: bool,
        n_iter: int,
        eta: float,
        start_values: numpy.ndarray,
        value_points: tuple,
        plan: numpy.ndarray | None,
        potentials: tuple | None,
        history: dict,
        projections: tuple,
        projector: KPWProjector,
    ) -> None: ...
    def plot(self, ax: Any = None) -> Any: ...

def with_parameters(source: Any) -> Any: ...

def kpw_distance(
    X: Any,
    Y: Any,
    *,
    kernel: Any = 'gaussian',
    bandwidth: Any = 'median',
    d: Any = 3,
    rho: Any = 0.5,
    P: Any = None,
    eta: Any = 'auto',
    ridge: Any = 0.0,
    rank: Any = None,
    norm: Any = 'rkhs',
    solver: Any = 'bcd',
    step: Any = 'adaptive',
    n_starts: Any = 1,
    max_iter: Any = 1000,
    tol: Any = 0.0001,
    rng: Any = None,
    progress: Any = False,
    certificate: Any = False,
) -> KPWResult: ...

class MeanProjector:
    def __init__(self, kernel: Any = 'gaussian', bandwidth: Any = 'median') -> None: ...
    def fit(self, Z: Any, y: Any) -> Any: ...
    def transform(self, Z: Any) -> Any: ...
    def __getattr__(self, name: str) -> Any: ...

class WitnessProjector:
    def __init__(self, kernel: Any = 'gaussian', bandwidth: Any = 'median') -> None: ...
    def fit(self, Z: Any, y: Any) -> Any: ...
    def transform(self, Z: Any) -> Any: ...
    def __getattr__(self, name: str) -> Any: ...
