# Made from the package by tools/stubs.py: do not edit.
from kpw_nb.core import Result
from typing import Any
from typing import NamedTuple
import collections.abc
import kpw_nb.blind
import kpw_nb.designs
import kpw_nb.effect
import kpw_nb.encode
import kpw_nb.explain
import kpw_nb.relabel
import kpw_nb.sample
import numpy

__all__ = [
    'Plan',
    'KPWTestResult',
    'KPWTest',
    'kpw_test',
]

def default_family(pool: kpw_nb.blind.Pool) -> list: ...

def trained_family(Z: Any) -> list: ...

class Plan(Result):
    method: str
    family: str
    statistic: str
    combine: str
    why: str
    def __init__(
        self,
        method: str,
        family: str,
        statistic: str,
        combine: str,
        why: str,
    ) -> None: ...

def resolve(
    t: Any,
    n: int,
    m: int,
    lazy: bool = False,
    designed: bool = False,
) -> Plan: ...

def paper_grid(Z: Any) -> list: ...

def labels_of(X: Any, Y: Any) -> numpy.ndarray: ...

class Tried(NamedTuple):
    projector: object
    pvalue: float
    zscore: float
    def __getattr__(self, name: str) -> Any: ...

def select_projector(
    X: Any,
    Y: Any,
    candidates: Any = None,
    *,
    n_resamples: int = 100,
    train_size: float = 0.7,
    rng: Any = None,
) -> tuple: ...

def training_weights(
    family: Any,
    Z: Any,
    n: Any,
    iterations: Any,
    rng: Any,
) -> numpy.ndarray: ...

class Trained(NamedTuple):
    projectors: list
    potentials: list | None
    weights: numpy.ndarray | None
    def __getattr__(self, name: str) -> Any: ...

def train_candidates(
    t: Any,
    plan: Plan,
    X: kpw_nb.sample.Sample,
    Y: kpw_nb.sample.Sample,
    seed: Any,
) -> Trained: ...

class Outcome(NamedTuple):
    values: kpw_nb.relabel.Resampled
    family: list
    weights: numpy.ndarray | None
    fitted: collections.abc.Callable
    samples: tuple
    detail: str
    encoder: kpw_nb.encode.Encoder | None
    def __getattr__(self, name: str) -> Any: ...

def units_of(t: Any) -> Any: ...

class Candidate(NamedTuple):
    name: str
    value: float
    zscore: float
    pvalue: float
    sees: str
    def __getattr__(self, name: str) -> Any: ...

class KPWTestResult(Result):
    statistic: float
    pvalue: float
    interval: tuple
    plan: Plan
    candidates: tuple
    n_resamples: int
    partial: bool
    null_distribution: numpy.ndarray
    seed: int
    seconds: dict
    projector: object
    samples: tuple
    encoding: kpw_nb.encode.Encoder
    design: kpw_nb.designs.Design
    def __init__(
        self,
        statistic: float,
        pvalue: float,
        interval: tuple,
        plan: Plan,
        candidates: tuple,
        n_resamples: int,
        partial: bool,
        null_distribution: numpy.ndarray,
        seed: int,
        seconds: dict,
        projector: object,
        samples: tuple,
        encoding: kpw_nb.encode.Encoder,
        design: kpw_nb.designs.Design,
    ) -> None: ...
    def __iter__(self) -> Any: ...
    def effect(self, confidence: float = 0.95) -> kpw_nb.effect.Effect: ...
    @property
    def method(self) -> str: ...
    def plot(self, axes: Any = None) -> Any: ...
    @property
    def reason(self) -> str: ...
    def reject(self, alpha: float = 0.05) -> bool: ...
    def report(self, path: Any = None) -> Any: ...
    @property
    def smallest_pvalue(self) -> float: ...
    def transform(self, X: Any) -> numpy.ndarray: ...
    def where(self) -> kpw_nb.explain.Difference: ...

def how_sure(interval: Any) -> tuple: ...

def in_number(count: Any) -> str: ...

def short_name(p: Any) -> str: ...

def winner(table: Any) -> int: ...

class KPWTest:
    def __init__(
        self,
        method: Any = 'auto',
        candidates: Any = 'auto',
        combine: Any = 'auto',
        statistic: Any = 'auto',
        refit_iter: Any = 30,
        train_size: Any = None,
        kept: Any = 40000,
        scale: Any = 'auto',
        missing: Any = 'error',
        weigh: Any = 'clusters',
    ) -> None: ...
    def fit(self, X: Any, Y: Any, rng: Any = None) -> KPWTest: ...
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
    ) -> KPWTestResult: ...
    @property
    def trains(self) -> bool: ...
    def __getattr__(self, name: str) -> Any: ...

def held_out_samples(t: Any, X: Any, Y: Any) -> tuple: ...

def kpw_test(
    X: Any,
    Y: Any,
    *,
    strata: Any = None,
    clusters: Any = None,
    paired: bool = False,
    weigh: str = 'clusters',
    method: str = 'auto',
    candidates: Any = 'auto',
    n_resamples: int = 199,
    train_size: float | None = None,
    combine: str = 'auto',
    statistic: str = 'auto',
    scale: str | None = 'auto',
    missing: str = 'error',
    rng: Any = None,
    workers: Any = 1,
    progress: Any = False,
) -> KPWTestResult: ...
