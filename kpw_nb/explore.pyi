# Made from the package by tools/stubs.py: do not edit.
from typing import Any
from typing import NamedTuple
import kpw_nb.kernels
import numpy

__all__ = [
    'feel_projection',
    'watch_bcd',
    'power_playground',
    'your_data',
]

class Explorer:
    def __init__(
        self,
        controls: dict,
        delay: float = 0.2,
        extra: Any = ...,
    ) -> None: ...
    def cancel(self, button: Any = None) -> Any: ...
    def later(self, change: Any = None) -> Any: ...
    def run(self) -> Explorer: ...
    @property
    def settings(self) -> dict: ...
    @property
    def text(self) -> str: ...
    def wait(self, timeout: float = 60.0) -> bool: ...
    def __getattr__(self, name: str) -> Any: ...

class FeelProjection(Explorer):
    def __init__(self, X: Any, Y: Any, delay: Any = 0.2) -> None: ...
    def options(self) -> dict: ...
    def __getattr__(self, name: str) -> Any: ...

def feel_projection(
    X: Any = None,
    Y: Any = None,
    *,
    delay: float = 0.2,
) -> Explorer: ...

class WatchBCD(Explorer):
    def __init__(
        self,
        X: Any,
        Y: Any,
        n_steps: Any = 30,
        delay: Any = 0.1,
        **options: Any,
    ) -> None: ...
    def __getattr__(self, name: str) -> Any: ...

def watch_bcd(
    X: Any = None,
    Y: Any = None,
    *,
    n_steps: int = 30,
    delay: float = 0.1,
    **options: Any,
) -> Explorer: ...

class PowerPlayground(Explorer):
    def __init__(
        self,
        tests: Any,
        n_trials: Any = 100,
        n_resamples: Any = 99,
        rng: Any = 0,
        delay: Any = 0.5,
    ) -> None: ...
    def __getattr__(self, name: str) -> Any: ...

def power_playground(
    tests: dict | None = None,
    *,
    n_trials: int = 100,
    n_resamples: int = 99,
    delay: float = 0.5,
    rng: Any = 0,
) -> Explorer: ...

class Given(NamedTuple):
    X: object
    Y: object
    names: tuple
    def __getattr__(self, name: str) -> Any: ...

class YourData(Explorer):
    def __init__(
        self,
        n_resamples: Any = 199,
        rng: Any = 0,
        delay: Any = 0.3,
    ) -> None: ...
    def samples(self) -> Given: ...
    @property
    def text(self) -> Any: ...
    def __getattr__(self, name: str) -> Any: ...

def your_data(
    *,
    n_resamples: int = 199,
    delay: float = 0.3,
    rng: Any = 0,
) -> Explorer: ...

def levels(values: Any, low: Any, high: Any) -> numpy.ndarray: ...

def as_digits(steps: Any) -> str: ...

def as_bits(marks: Any) -> str: ...

def cloud_points(n: Any = 100, seed: Any = 76) -> tuple: ...

class Setting(NamedTuple):
    shape: int
    shift: int
    spread: int
    n: int
    def samples(self, points: Any) -> tuple: ...
    def __getattr__(self, name: str) -> Any: ...

def cloud_settings() -> list: ...

def null_levels(observed: Any, null: Any) -> tuple: ...

def means_pvalue(X: Any, Y: Any) -> float: ...

def field_grid(window: Any) -> numpy.ndarray: ...

def cloud_state(X: Any, Y: Any, window: Any) -> list: ...

def relabellings(n: Any, n_resamples: Any = 199, rng: Any = 0) -> numpy.ndarray: ...

def cloud_window(points: Any, spread: Any) -> float: ...

def two_clouds_data() -> dict: ...

class Descending(NamedTuple):
    points: numpy.ndarray
    n: int
    eta: float
    kernel: kpw_nb.kernels.Gaussian
    states: list
    def __getattr__(self, name: str) -> Any: ...

def small_descent(
    n: Any = 12,
    eta: Any = 0.05,
    faster: Any = 50,
    turns: Any = 24,
) -> Descending: ...

class Frame(NamedTuple):
    block: str
    turn: int
    F: float
    plan: numpy.ndarray
    def __getattr__(self, name: str) -> Any: ...

def frame_of(run: Any, block: Any, turn: Any, u: Any, v: Any) -> Frame: ...

def descent_frames(run: Any) -> list: ...

def turn_data(run: Any, state: Any, low: Any, high: Any) -> list: ...

def frame_data(run: Any, frame: Any) -> list: ...

def descent_data() -> dict: ...

def explorable(name: str) -> str: ...
