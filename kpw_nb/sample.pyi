# Made from the package by tools/stubs.py: do not edit.
from typing import Any
import kpw_nb.table
import numpy

__all__ = [
    'Sample',
    'as_sample',
]

class Sample:
    values: numpy.ndarray
    rows: numpy.ndarray
    columns: tuple | None
    name: str
    source: kpw_nb.table.Columns | None
    def __init__(
        self,
        values: numpy.ndarray,
        rows: numpy.ndarray,
        columns: tuple | None = None,
        name: str = 'X',
        source: kpw_nb.table.Columns | None = None,
    ) -> None: ...
    def __len__(self) -> Any: ...
    def take(self, index: Any) -> Sample: ...

def spread(n: int, most: int) -> numpy.ndarray: ...

def sample_columns(sample: Sample) -> kpw_nb.table.Columns: ...

def as_sample(
    X: Any,
    name: str = 'X',
    min_points: int = 2,
    start: int = 0,
) -> Sample: ...

def check_sample(X: Any, name: str = 'X', min_points: int = 2) -> numpy.ndarray: ...

def as_samples(X: Any, Y: Any, min_points: int = 2) -> tuple: ...

def check_samples(X: Any, Y: Any, min_points: int = 2) -> tuple: ...

def pool(X: Any, Y: Any) -> numpy.ndarray: ...

def split_samples(
    X: Sample,
    Y: Sample,
    train_size: float = 0.5,
    rng: Any = None,
) -> tuple: ...

def row_marks(values: Any) -> numpy.ndarray: ...

def share_seen(marks: Any, values: Any) -> float: ...

class Blocks:
    blocks: list
    sizes: list
    width: int
    columns: tuple | None
    name: str
    lazy: bool
    def __init__(
        self,
        blocks: list,
        sizes: list,
        width: int,
        columns: tuple | None,
        name: str,
        lazy: bool,
    ) -> None: ...
    def __len__(self) -> Any: ...
    def local(self, index: Any) -> Any: ...
    @property
    def starts(self) -> Any: ...

def block_rows(
    block: Any,
    local: Any,
    name: str,
    start: int,
) -> kpw_nb.table.Columns: ...

def take_rows(sample: Blocks, index: Any) -> kpw_nb.table.Columns: ...

def is_lazy(X: Any) -> bool: ...

def as_blocks(X: Any, name: str = 'X', min_points: int = 2) -> Blocks: ...
