# Made from the package by tools/stubs.py: do not edit.
from kpw_nb.core import Result
from typing import Any
from typing import ClassVar
from typing import NamedTuple
import kpw_nb.kernels
import numpy

__all__ = [
    'KPWDetector',
    'kpw_detect',
    'detection_delay',
    'false_alarm_rate',
]

class PairStatistic:
    kernel: kpw_nb.kernels.Kernel
    quick: ClassVar[bool]
    def __init__(self, kernel: kpw_nb.kernels.Kernel) -> None: ...
    def pairs(self, A: Any, B: Any) -> Any: ...
    def represent(self, Z: Any) -> Any: ...
    def value(self, M: Any, n: Any) -> Any: ...

class PairMMD(PairStatistic):
    def value(self, M: Any, n: Any) -> Any: ...

class PairMean(PairStatistic):
    def value(self, M: Any, n: Any) -> Any: ...

def ridged(K: Any, mu: Any) -> Any: ...

class PairKPW(PairStatistic):
    R: numpy.ndarray
    eta: float
    mu: float
    iterations: int
    def __init__(
        self,
        kernel: kpw_nb.kernels.Kernel,
        R: numpy.ndarray,
        eta: float,
        mu: float = 0.0,
        iterations: int = 20,
    ) -> None: ...
    def value(self, M: Any, n: Any) -> Any: ...

class PairProjected(PairStatistic):
    points: numpy.ndarray
    coef: numpy.ndarray
    def __init__(
        self,
        kernel: kpw_nb.kernels.Kernel,
        points: numpy.ndarray,
        coef: numpy.ndarray,
    ) -> None: ...
    def pairs(self, A: Any, B: Any) -> Any: ...
    def represent(self, Z: Any) -> Any: ...
    def value(self, M: Any, n: Any) -> Any: ...

def stream_candidates(candidates: Any, default: Any) -> Any: ...

def pair_statistic(projector: Any, Z: Any, size: Any) -> Any: ...

def block_of_columns(K: Any) -> Any: ...

def block_length(series: Any) -> int: ...

def take(M: Any, frames: Any) -> Any: ...

def path_values(
    statistic: PairStatistic,
    M: Any,
    path: Any,
    n: Any,
    window: Any,
    ends: Any,
) -> Any: ...

class Standard(NamedTuple):
    centre: numpy.ndarray
    scale: numpy.ndarray
    def combine(self, values: Any) -> Any: ...
    def __getattr__(self, name: str) -> Any: ...

class Family:
    statistics: list
    matrices: list
    n: int
    window: int
    def __init__(
        self,
        statistics: list,
        matrices: list,
        n: int,
        window: int,
    ) -> None: ...
    def follow(self, path: Any, ends: Any) -> Any: ...
    def look(self, frames: Any) -> Any: ...
    @property
    def stride(self) -> Any: ...

def path_maxima(family: Any, paths: Any, engine: Any) -> Any: ...

def threshold_at(maxima: Any, tail: Any) -> Any: ...

def family_rate(tail: Any, looks: Any) -> Any: ...

def tail_for_rate(rate: Any, looks: Any) -> Any: ...

def run_length(tail: Any, path: Any, window: Any) -> Any: ...

def tail_for_run(frames: Any, path: Any, window: Any) -> Any: ...

class RunLength:
    target: float
    window: int
    horizon: None
    rule: ClassVar[str]
    def __init__(self, target: float, window: int, horizon: None = None) -> None: ...
    def estimate(self, tail: Any) -> Any: ...
    @property
    def length(self) -> Any: ...
    def tail(self) -> Any: ...

class FamilyRate:
    target: float
    window: int
    horizon: int
    rule: ClassVar[str]
    def __init__(self, target: float, window: int, horizon: int) -> None: ...
    def estimate(self, tail: Any) -> Any: ...
    @property
    def length(self) -> Any: ...
    @property
    def looks(self) -> Any: ...
    def tail(self) -> Any: ...

class OneLook:
    target: float
    window: int
    horizon: None
    rule: ClassVar[str]
    def __init__(self, target: float, window: int, horizon: None = None) -> None: ...
    def estimate(self, tail: Any) -> Any: ...
    def tail(self) -> Any: ...

class Calibration(Result):
    rule: str
    target: float
    horizon: int | None
    threshold: float
    estimate: float
    interval: tuple
    how: str
    block: int
    n_resamples: int
    seed: int
    maxima: numpy.ndarray
    def __init__(
        self,
        rule: str,
        target: float,
        horizon: int | None,
        threshold: float,
        estimate: float,
        interval: tuple,
        how: str,
        block: int,
        n_resamples: int,
        seed: int,
        maxima: numpy.ndarray,
    ) -> None: ...

def one_looks(
    family: Any,
    n_frames: Any,
    n_resamples: Any,
    rng: Any,
    engine: Any,
) -> Any: ...

class KPWDetector:
    def __init__(
        self,
        window: int = 100,
        *,
        method: str = 'refit',
        calibration: str = 'arl',
        target: float | None = None,
        horizon: int | None = None,
        candidates: Any = 'auto',
        block: Any = 'auto',
        n_resamples: int = 199,
        n_reference: int | None = None,
        restart: bool = False,
        rng: Any = None,
    ) -> None: ...
    def detect(self, series: Any, times: Any = None) -> Any: ...
    def fit(
        self,
        reference: Any,
        *,
        workers: Any = 1,
        progress: Any = False,
    ) -> KPWDetector: ...
    def reset(self) -> KPWDetector: ...
    def save(self, path: Any) -> Any: ...
    def update(self, x: Any, time: float | None = None) -> DetectorState: ...
    def __getattr__(self, name: str) -> Any: ...

class DetectorState(Result):
    t: int
    statistic: float
    threshold: float
    alarm: bool
    run_length: int
    def __init__(
        self,
        t: int,
        statistic: float,
        threshold: float,
        alarm: bool,
        run_length: int,
    ) -> None: ...

class Detection(NamedTuple):
    detector: KPWDetector
    trace: object
    def __getattr__(self, name: str) -> Any: ...

def kpw_detect(
    series: Any,
    reference: int,
    *,
    window: Any = None,
    times: Any = None,
    workers: Any = 1,
    progress: Any = False,
    **options: Any,
) -> Detection: ...

def detection_delay(alarms: Any, change: int) -> float: ...

def false_alarm_rate(alarms: Any, change: int | None = None) -> float: ...

def average_run_length(
    frames: Any,
    alarmed: Any,
    confidence: float = 0.95,
) -> tuple: ...

def edd_curve(null: Any, changed: Any, change: int, n_points: int = 25) -> Any: ...
