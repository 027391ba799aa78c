# Made from the package by tools/stubs.py: do not edit.
from kpw_nb.core import Result
from typing import Any

__all__ = [
    'power_study',
    'power_table',
    'sample_size',
]

def wilson(k: int, n: int, confidence: float = 0.95) -> tuple: ...

def cluster_wilson(
    rejections: Any,
    n_tests: int = 1,
    confidence: float = 0.95,
) -> tuple: ...

def power_study(
    tests: dict,
    sampler: Any,
    *,
    n: int | None = None,
    grid: Any = None,
    protocol: str = 'equal',
    n_trials: int = 200,
    n_tests: int = 1,
    alpha: float = 0.05,
    n_resamples: int = 199,
    rng: Any = None,
    workers: Any = 1,
    store: Any = None,
    progress: Any = False,
    max_seconds: float | None = None,
) -> Any: ...

def power_table(
    study: Any,
    rows: Any = 'test',
    columns: Any = 'n',
    digits: int = 2,
) -> Any: ...

class SampleSize(Result):
    n: int | None
    interval: tuple
    power: float
    study: object
    unit: str
    said: str
    pvalue: float | None
    def __init__(
        self,
        n: int | None,
        interval: tuple,
        power: float,
        study: object,
        unit: str = 'points of each sample',
        said: str = '',
        pvalue: float | None = None,
    ) -> None: ...

def sample_size(
    test: Any,
    sampler: Any,
    *,
    strata: Any = None,
    clusters: Any = None,
    paired: bool = False,
    power: float = 0.8,
    point: dict | None = None,
    n_start: int = 32,
    n_max: int = 10000,
    max_seconds: float | None = None,
    rng: Any = None,
    **options: Any,
) -> SampleSize: ...
