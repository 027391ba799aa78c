# Made from the package by tools/stubs.py: do not edit.
from typing import Any
import numpy.random._generator

__all__ = [
    'Result',
]

def check_number(
    value: Any,
    name: str,
    low: float = ...,
    high: float = ...,
    integer: bool = False,
    open_low: bool = False,
) -> float: ...

def check_choice(value: Any, name: str, options: Any) -> str: ...

def as_rng(rng: Any = None) -> numpy.random._generator.Generator: ...

def spawn_seeds(rng: Any, n: int) -> list: ...

def root_seed(rng: Any = None) -> int: ...

def kernel(f: Any = None, **options: Any) -> Any: ...

def exp_into(x: Any, out: Any) -> Any: ...

def write_whole(path: Any, content: Any) -> Any: ...

class Result:
    def __init__(self) -> None: ...
    def summary(self) -> str: ...
