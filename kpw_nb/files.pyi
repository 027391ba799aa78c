# Made from the package by tools/stubs.py: do not edit.
from typing import Any
import numpy

__all__ = [
    'BadInput',
    'read_table',
    'read_samples',
]

class BadInput(ValueError):
    def __init__(self, problem: str, remedy: str = '') -> None: ...
    def __getattr__(self, name: str) -> Any: ...

def name_some(names: Any, most: Any = 8) -> Any: ...

def first_line(error: Any, most: Any = 160) -> Any: ...

class InputFile:
    name: str
    content: bytes | None
    def __init__(self, name: str, content: bytes | None = None) -> None: ...
    def facts(self) -> Any: ...
    def open(self) -> Any: ...
    @property
    def suffix(self) -> Any: ...

def input_file(path: Any, content: Any = None) -> Any: ...

def is_number(text: Any) -> Any: ...

class Table:
    values: numpy.ndarray
    columns: tuple
    named: bool
    labels: numpy.ndarray | None
    path: str
    def __init__(
        self,
        values: numpy.ndarray,
        columns: tuple,
        named: bool,
        labels: numpy.ndarray | None,
        path: str,
    ) -> None: ...
    @property
    def name(self) -> str: ...
    def take(self, columns: Any) -> Table: ...

def read_table(
    path: Any,
    *,
    columns: Any = ...,
    drop: Any = ...,
    label: str | None = None,
    header: str = 'auto',
    content: bytes | None = None,
) -> Table: ...

def same_columns(A: Any, B: Any) -> Any: ...

def file_sample(values: Any, columns: Any, name: Any, rows: Any = None) -> Any: ...

class Samples:
    X: Any
    Y: Any
    files: tuple
    def __init__(self, X: Any, Y: Any, files: tuple) -> None: ...

def read_samples(
    x: Any,
    y: Any = None,
    *,
    label: str | None = None,
    **options: Any,
) -> Samples: ...
