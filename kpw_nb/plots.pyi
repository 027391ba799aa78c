# Made from the package by tools/stubs.py: do not edit.
from typing import Any
from typing import NamedTuple
import numpy

__all__ = [
    'plot_projections',
    'plot_field',
    'plot_samples',
    'plot_features',
    'plot_null',
    'plot_power',
    'plot_trace',
]

def shades(colour: Any = None, most: Any = 1.0) -> Any: ...

def shades_of_two(low: Any = '#9B5FB0', high: Any = '#3A9A50') -> Any: ...

class Principal(NamedTuple):
    FX: numpy.ndarray
    FY: numpy.ndarray
    names: tuple
    def __getattr__(self, name: str) -> Any: ...

def principal(FX: Any, FY: Any, dims: Any) -> Any: ...

def plot_projections(
    FX: Any,
    FY: Any,
    plan: Any = None,
    ax: Any = None,
    n_lines: int = 150,
    dims: int = 2,
) -> tuple: ...

def plot_plan(plan: Any, FX: Any = None, FY: Any = None, ax: Any = None) -> tuple: ...

def plot_field(
    projector: Any,
    X: Any,
    Y: Any,
    features: tuple = ...,
    output: Any = 'principal',
    ax: Any = None,
    names: Any = None,
    n_grid: int = 60,
) -> tuple: ...

def plot_samples(
    X: Any,
    Y: Any,
    difference: Any,
    n_show: int = 8,
    image_shape: Any = None,
    ax: Any = None,
    names: Any = None,
) -> tuple: ...

def plot_features(
    difference: Any,
    names: Any = None,
    n_show: int = 15,
    image_shape: Any = None,
    ax: Any = None,
) -> tuple: ...

def plot_convergence(history: dict, ax: Any = None) -> tuple: ...

def plot_null(
    null: Any,
    statistic: float,
    pvalue: float | None = None,
    ax: Any = None,
) -> tuple: ...

def plot_power(study: Any, x: str = 'n', ax: Any = None) -> tuple: ...

def plot_trace(
    trace: Any,
    change: int | None = None,
    ax: Any = None,
    x: str = 't',
) -> tuple: ...

def plot_skeletons(
    frames: Any,
    at: Any,
    change: int | None = None,
    ax: Any = None,
) -> tuple: ...
