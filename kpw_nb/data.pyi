# Made from the package by tools/stubs.py: do not edit.
from typing import Any
import numpy

__all__ = [
    'make_gaussian_shift',
    'make_mixture',
    'load_mnist',
    'mnist_abundance',
    'mnist_digits',
    'load_msrc12',
    'make_blobs',
    'make_hdgm',
    'make_four_gaussians',
    'make_perturbed_uniform',
    'make_waves',
    'make_high_dimensional',
]

def make_gaussian_shift(
    n: int,
    D: int,
    *,
    kind: str = 'diag',
    variance: float | None = None,
    shift: float = 0.15,
    m: int | None = None,
    null: bool = False,
    rng: Any = None,
) -> tuple[numpy.ndarray, numpy.ndarray]: ...

def make_mixture(
    n: int,
    D: int,
    *,
    m: int | None = None,
    null: bool = False,
    rng: Any = None,
) -> tuple[numpy.ndarray, numpy.ndarray]: ...

def load_mnist(source: str = 'auto') -> tuple[numpy.ndarray, numpy.ndarray]: ...

def mnist_abundance(
    n: int,
    *,
    fraction: float = 0.15,
    digit: int = 1,
    counts: str = 'fixed',
    scaling: str = 'unit',
    source: str = 'auto',
    m: int | None = None,
    null: bool = False,
    rng: Any = None,
) -> tuple[numpy.ndarray, numpy.ndarray]: ...

def mnist_digits(
    n: int,
    *,
    digits: Any = 'Q3',
    size: int = 7,
    source: str = 'auto',
    m: int | None = None,
    null: bool = False,
    rng: Any = None,
) -> tuple[numpy.ndarray, numpy.ndarray]: ...

def load_msrc12(user: int = 1) -> tuple[numpy.ndarray, int]: ...

def make_blobs(
    n: int,
    *,
    variance: float = 0.03,
    tilt: float = 1.0,
    m: int | None = None,
    null: bool = False,
    rng: Any = None,
) -> tuple[numpy.ndarray, numpy.ndarray]: ...

def make_hdgm(
    n: int,
    D: int,
    *,
    correlation: float = 0.5,
    separation: float = 0.5,
    m: int | None = None,
    null: bool = False,
    rng: Any = None,
) -> tuple[numpy.ndarray, numpy.ndarray]: ...

def make_four_gaussians(
    n: int,
    *,
    std: float = 1.6,
    m: int | None = None,
    null: bool = False,
    rng: Any = None,
) -> tuple[numpy.ndarray, numpy.ndarray]: ...

def make_perturbed_uniform(
    n: int,
    D: int = 2,
    *,
    perturbations: int = 2,
    amplitude: float = 0.8,
    signs: str = 'plus',
    m: int | None = None,
    null: bool = False,
    rng: Any = None,
) -> tuple[numpy.ndarray, numpy.ndarray]: ...

def make_waves(
    n: int,
    *,
    amplitude: float = 0.6,
    frequency: int = 2,
    m: int | None = None,
    null: bool = False,
    rng: Any = None,
) -> tuple[numpy.ndarray, numpy.ndarray]: ...

def make_high_dimensional(
    n: int,
    D: int,
    *,
    kind: str = 'two_bumps',
    strength: float | None = None,
    m: int | None = None,
    null: bool = False,
    rng: Any = None,
) -> tuple[numpy.ndarray, numpy.ndarray]: ...
