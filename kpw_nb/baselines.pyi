# Made from the package by tools/stubs.py: do not edit.
from kpw_nb.statistics import Statistic
from kpw_nb.statistics import Together
from typing import Any
from typing import NamedTuple
import kpw_nb.relabel
import numpy

__all__ = [
    'MMDTest',
    'EnergyTest',
    'MMDAggTest',
    'FuseTest',
    'MMDOTest',
    'MMDNTKTest',
    'METest',
    'PWTest',
    'SinkhornTest',
    'KLRTest',
    'ClassifierTest',
]

class MMDTest:
    def __init__(self, kernel: Any = 'gaussian', bandwidth: Any = 'median') -> None: ...
    def fit(self, X: Any, Y: Any, rng: Any = None) -> Any: ...
    def test(
        self,
        X: Any,
        Y: Any,
        *,
        strata: Any = None,
        clusters: Any = None,
        paired: bool = False,
        n_resamples: int = 199,
        rng: Any = None,
        workers: Any = 1,
        progress: Any = False,
    ) -> kpw_nb.relabel.PermutationResult: ...
    def __getattr__(self, name: str) -> Any: ...

class EnergyTest:
    def fit(self, X: Any, Y: Any, rng: Any = None) -> Any: ...
    def test(
        self,
        X: Any,
        Y: Any,
        *,
        strata: Any = None,
        clusters: Any = None,
        paired: bool = False,
        n_resamples: int = 199,
        rng: Any = None,
        workers: Any = 1,
        progress: Any = False,
    ) -> kpw_nb.relabel.PermutationResult: ...
    def __getattr__(self, name: str) -> Any: ...

class MMDAggTest:
    def __init__(self, kernels: Any = ..., n_bandwidths: Any = 10) -> None: ...
    def fit(self, X: Any, Y: Any, rng: Any = None) -> Any: ...
    def test(
        self,
        X: Any,
        Y: Any,
        *,
        strata: Any = None,
        clusters: Any = None,
        paired: bool = False,
        n_resamples: int = 199,
        rng: Any = None,
        workers: Any = 1,
        progress: Any = False,
    ) -> kpw_nb.relabel.PermutationResult: ...
    def __getattr__(self, name: str) -> Any: ...

class FuseStatistic(Statistic):
    def __init__(self, Z: Any, n: Any, bandwidths: Any, sharp: Any) -> None: ...
    def values(self, orders: Any) -> Any: ...
    def __getattr__(self, name: str) -> Any: ...

class FuseTest:
    def __init__(
        self,
        kernels: Any = ...,
        n_bandwidths: Any = 10,
        sharpness: Any = 'program',
    ) -> None: ...
    def fit(self, X: Any, Y: Any, rng: Any = None) -> Any: ...
    def test(
        self,
        X: Any,
        Y: Any,
        *,
        strata: Any = None,
        clusters: Any = None,
        paired: bool = False,
        n_resamples: int = 199,
        rng: Any = None,
        workers: Any = 1,
        progress: Any = False,
    ) -> kpw_nb.relabel.PermutationResult: ...
    def __getattr__(self, name: str) -> Any: ...

def mmd_power_ratio(log_h: Any, D2: Any, n: Any, reg: Any = 1e-08) -> Any: ...

class MMDOTest:
    def __init__(
        self,
        reg: Any = 1e-08,
        span: Any = 10.0,
        n_grid: Any = 21,
    ) -> None: ...
    def fit(self, X: Any, Y: Any, rng: Any = None) -> Any: ...
    def test(
        self,
        X: Any,
        Y: Any,
        *,
        strata: Any = None,
        clusters: Any = None,
        paired: bool = False,
        n_resamples: int = 199,
        rng: Any = None,
        workers: Any = 1,
        progress: Any = False,
    ) -> kpw_nb.relabel.PermutationResult: ...
    def __getattr__(self, name: str) -> Any: ...

def ntk(A: Any, B: Any, depth: Any = 2, bias: Any = 0.3) -> Any: ...

class MMDNTKTest:
    def __init__(self, depth: Any = 2, bias: Any = 0.3) -> None: ...
    def fit(self, X: Any, Y: Any, rng: Any = None) -> Any: ...
    def test(
        self,
        X: Any,
        Y: Any,
        *,
        strata: Any = None,
        clusters: Any = None,
        paired: bool = False,
        n_resamples: int = 199,
        rng: Any = None,
        workers: Any = 1,
        progress: Any = False,
    ) -> kpw_nb.relabel.PermutationResult: ...
    def __getattr__(self, name: str) -> Any: ...

class MESlope(NamedTuple):
    value: float
    in_locations: numpy.ndarray
    in_log_h: float
    def __getattr__(self, name: str) -> Any: ...

def me_objective(
    locations: Any,
    log_h: Any,
    Z: Any,
    n: Any,
    gamma: Any = 0.001,
) -> Any: ...

class MEStatistic(Statistic):
    def __init__(self, phi: Any, n: Any, gamma: Any) -> None: ...
    def values(self, orders: Any) -> Any: ...
    def __getattr__(self, name: str) -> Any: ...

class METest:
    def __init__(
        self,
        n_locations: Any = 5,
        gamma: Any = 0.001,
        max_iter: Any = 100,
    ) -> None: ...
    def fit(self, X: Any, Y: Any, rng: Any = None) -> Any: ...
    def test(
        self,
        X: Any,
        Y: Any,
        *,
        strata: Any = None,
        clusters: Any = None,
        paired: bool = False,
        n_resamples: int = 199,
        rng: Any = None,
        workers: Any = 1,
        progress: Any = False,
    ) -> kpw_nb.relabel.PermutationResult: ...
    def __getattr__(self, name: str) -> Any: ...

class StiefelFit(NamedTuple):
    projector: numpy.ndarray
    objective: numpy.ndarray
    cost: numpy.ndarray
    angle: numpy.ndarray
    error: numpy.ndarray
    def __getattr__(self, name: str) -> Any: ...

def stiefel_bcd(
    Z: Any,
    n: Any,
    U: Any,
    eta: Any,
    max_iter: Any = 200,
    tol: Any = 1e-05,
) -> Any: ...

class PWTest:
    def __init__(
        self,
        d: Any = 3,
        eta: Any = 10.0,
        max_iter: Any = 200,
        tol: Any = 1e-05,
        n_starts: Any = 1,
    ) -> None: ...
    def fit(self, X: Any, Y: Any, rng: Any = None) -> Any: ...
    def test(
        self,
        X: Any,
        Y: Any,
        *,
        strata: Any = None,
        clusters: Any = None,
        paired: bool = False,
        n_resamples: int = 199,
        rng: Any = None,
        workers: Any = 1,
        progress: Any = False,
    ) -> kpw_nb.relabel.PermutationResult: ...
    def transform(self, Z: Any) -> Any: ...
    def __getattr__(self, name: str) -> Any: ...

class SinkhornStatistic(Statistic):
    def __init__(self, C: Any, n: Any, eta: Any, max_iter: Any, tol: Any) -> None: ...
    def values(self, orders: Any) -> Any: ...
    def __getattr__(self, name: str) -> Any: ...

class Afterwards(Together):
    def __getattr__(self, name: str) -> Any: ...

class SinkhornTest:
    def __init__(
        self,
        eta: Any = 0.1,
        max_iter: Any = 200,
        tol: Any = 0.0001,
    ) -> None: ...
    def fit(self, X: Any, Y: Any, rng: Any = None) -> Any: ...
    def test(
        self,
        X: Any,
        Y: Any,
        *,
        strata: Any = None,
        clusters: Any = None,
        paired: bool = False,
        n_resamples: int = 199,
        rng: Any = None,
        workers: Any = 1,
        progress: Any = False,
    ) -> kpw_nb.relabel.PermutationResult: ...
    @property
    def valid(self) -> bool: ...
    def __getattr__(self, name: str) -> Any: ...

class Whitening(NamedTuple):
    inverse: numpy.ndarray
    trace: float
    log_det: float
    shift: float
    def __getattr__(self, name: str) -> Any: ...

def kl_parts(phi: Any, order: Any, n: Any, smooth: Any, sharp: Any) -> Any: ...

class KLRStatistic(Statistic):
    def __init__(self, features: Any, n: Any, ridges: Any) -> None: ...
    def values(self, orders: Any) -> Any: ...
    def __getattr__(self, name: str) -> Any: ...

class KLRTest:
    def __init__(
        self,
        factors: Any = ...,
        ridges: Any = ...,
        rank: Any = 200,
    ) -> None: ...
    def fit(self, X: Any, Y: Any, rng: Any = None) -> Any: ...
    def test(
        self,
        X: Any,
        Y: Any,
        *,
        strata: Any = None,
        clusters: Any = None,
        paired: bool = False,
        n_resamples: int = 199,
        rng: Any = None,
        workers: Any = 1,
        progress: Any = False,
    ) -> kpw_nb.relabel.PermutationResult: ...
    def __getattr__(self, name: str) -> Any: ...

class RankStatistic(Statistic):
    def __init__(self, scores: Any, n: Any) -> None: ...
    def values(self, orders: Any) -> Any: ...
    def __getattr__(self, name: str) -> Any: ...

class ClassifierTest:
    def __init__(self, classifier: Any = None) -> None: ...
    def fit(self, X: Any, Y: Any, rng: Any = None) -> Any: ...
    def scores(self, Z: Any) -> numpy.ndarray: ...
    def test(
        self,
        X: Any,
        Y: Any,
        *,
        strata: Any = None,
        clusters: Any = None,
        paired: bool = False,
        n_resamples: int = 199,
        rng: Any = None,
        workers: Any = 1,
        progress: Any = False,
    ) -> kpw_nb.relabel.PermutationResult: ...
    def __getattr__(self, name: str) -> Any: ...

def paper_baselines(extra: bool = False) -> dict: ...
