# Made from the package by tools/stubs.py: do not edit.
from typing import Any
import numpy

__all__ = [
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
    kind: str
    packed: InputFile | None
    def __init__(
        self,
        name: str,
        content: bytes | None = None,
        kind: str = '',
        packed: InputFile | None = None,
    ) -> None: ...
    def facts(self) -> Any: ...
    def open(self) -> Any: ...
    @property
    def suffix(self) -> Any: ...

def input_file(path: Any, content: Any = None) -> Any: ...

def is_number(text: Any) -> Any: ...

class Table:
    frame: Any
    named: bool
    labels: numpy.ndarray | None
    path: str
    file: InputFile
    def __init__(
        self,
        frame: Any,
        named: bool,
        labels: numpy.ndarray | None,
        path: str,
        file: InputFile,
    ) -> None: ...
    @property
    def name(self) -> str: ...

def read_table(
    path: Any,
    *,
    columns: Any = ...,
    drop: Any = ...,
    label: str | None = None,
    id: str | None = None,
    header: str = 'auto',
    content: bytes | None = None,
) -> Table: ...

def as_numbers(table: Any) -> Any: ...

def same_columns(A: Any, B: Any) -> Any: ...

class Samples:
    X: Any
    Y: Any
    names: tuple
    files: tuple
    def __init__(self, X: Any, Y: Any, names: tuple, files: tuple) -> None: ...

def read_samples(
    x: Any,
    y: Any = None,
    *,
    label: str | None = None,
    **options: Any,
) -> Samples: ...
