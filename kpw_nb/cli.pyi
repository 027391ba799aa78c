# Made from the package by tools/stubs.py: do not edit.
from typing import Any
import pathlib

__all__ = [
    'main',
]

def write_target(path: Any, content: Any) -> Any: ...

def demo_samples(n: int = 200, rng: Any = 0) -> tuple: ...

def demo(folder: Any = 'out') -> pathlib.Path: ...

def main(argv: Any = None) -> int: ...
