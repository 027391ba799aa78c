# Made from the package by tools/stubs.py: do not edit.
from typing import Any
from typing import NamedTuple
import kpw_nb.sample
import kpw_nb.table
import numpy

__all__ = [
    'Encoder',
]

def robust_units(ordered: Any, known: Any) -> tuple: ...

def soften(z: Any) -> numpy.ndarray: ...

def both_sides(ordered: Any, values: Any) -> numpy.ndarray: ...

def rank_curve(values: Any) -> numpy.ndarray: ...

def midrank_scores(curve: Any, values: Any) -> numpy.ndarray: ...

def share_a_unit(low: Any, high: Any, units: Any) -> bool: ...

def fair_weight(counts: Any) -> float: ...

def refuse_texts(column: Any, levels: Any, known: int, apart: bool = False) -> Any: ...

def refuse_counter(column: Any, values: Any, n: int) -> Any: ...

def has_gap(columns: kpw_nb.table.Columns) -> numpy.ndarray: ...

def refuse_gaps(*tables: Any) -> Any: ...

def refuse_infinity(columns: kpw_nb.table.Columns) -> Any: ...

def complete_rows(columns: kpw_nb.table.Columns) -> kpw_nb.table.Columns: ...

class Field(NamedTuple):
    name: object
    kind: str
    said: str
    dropped: bool
    def __getattr__(self, name: str) -> Any: ...

class Category(NamedTuple):
    levels: tuple
    weight: float
    gaps: bool
    def __call__(self, texts: Any) -> numpy.ndarray: ...
    @property
    def width(self) -> Any: ...
    def __getattr__(self, name: str) -> Any: ...

class Learnt(NamedTuple):
    centre: numpy.ndarray
    unit: numpy.ndarray
    use: numpy.ndarray
    gaps: numpy.ndarray
    curves: tuple
    categories: tuple
    order: numpy.ndarray
    def numbers(self, A: Any, scale: Any) -> numpy.ndarray: ...
    def __getattr__(self, name: str) -> Any: ...

def same_columns(
    columns: kpw_nb.table.Columns,
    names: tuple,
    kinds: tuple,
) -> kpw_nb.table.Columns: ...

class Encoder:
    names: tuple
    kinds: tuple
    fields: tuple
    scale: str | None
    why: str
    missing: str
    owner: numpy.ndarray
    learnt: Learnt
    dropped_rows: tuple
    def __call__(self, columns: kpw_nb.table.Columns) -> numpy.ndarray: ...
    def __init__(
        self,
        names: tuple,
        kinds: tuple,
        fields: tuple,
        scale: str | None,
        why: str,
        missing: str,
        owner: numpy.ndarray,
        learnt: Learnt,
        dropped_rows: tuple = ...,
    ) -> None: ...

def learn(
    X: kpw_nb.table.Columns,
    Y: kpw_nb.table.Columns,
    scale: Any = 'auto',
    missing: Any = 'error',
) -> Encoder: ...

def check_tables(scale: Any, missing: Any) -> Any: ...

def encoded(
    encoder: Encoder,
    columns: kpw_nb.table.Columns,
) -> kpw_nb.sample.Sample: ...

def encode_samples(
    X: Any,
    Y: Any,
    scale: Any = 'auto',
    missing: Any = 'error',
    min_points: int = 2,
) -> tuple: ...

def encode_others(encoder: Encoder, *tables: Any) -> tuple: ...

def summary(encoder: Encoder) -> str: ...
