# Made from the package by tools/stubs.py: do not edit.
from typing import Any
import collections.abc
import numpy

__all__: list[str] = []

def check_progress(progress: Any) -> Any: ...

def progress_bar(progress: Any, total: int, desc: str = '') -> Any: ...

def one_thread() -> Any: ...

def in_chunks(function: Any, rows: Any) -> numpy.ndarray: ...

def as_mapper(
    workers: Any,
    backend: str = 'threads',
    ordered: bool = True,
) -> collections.abc.Callable: ...

class Engine:
    workers: int | collections.abc.Callable
    progress: bool | collections.abc.Callable
    backend: str
    ordered: bool
    def __init__(
        self,
        workers: int | collections.abc.Callable = 1,
        progress: bool | collections.abc.Callable = False,
        backend: str = 'threads',
        ordered: bool = True,
    ) -> None: ...
    def run(
        self,
        function: collections.abc.Callable,
        tasks: Any,
        *,
        total: int | None = None,
        weight: collections.abc.Callable | None = None,
        desc: str = '',
    ) -> collections.abc.Iterator: ...
