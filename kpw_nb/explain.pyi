# Made from the package by tools/stubs.py: do not edit.
from kpw_nb.core import Result
from typing import Any
import numpy
import pandas

__all__ = [
    'Difference',
]

def row_costs(FX: Any, FY: Any) -> tuple: ...

def column_shares(projector: Any, Z: Any) -> Any: ...

def chance_shares(projector: Any, Z: Any, n: int, rng: Any = None) -> Any: ...

def level_effect(codes: Any, levels: Any, n: int) -> str: ...

def number_effect(values: Any, n: int, kind: str, leading: int) -> str: ...

def pair_effect(X: Any, Y: Any, i: int, j: int, order: int = 1) -> str: ...

class Difference(Result):
    rows: pandas.DataFrame
    columns: pandas.DataFrame
    def __init__(self, rows: pandas.DataFrame, columns: pandas.DataFrame) -> None: ...
    def of(self, sample: str) -> pandas.DataFrame: ...

def unusual_columns(A: Any, B: Any, owner: Any) -> numpy.ndarray: ...

def explain(
    projector: Any,
    X: Any,
    Y: Any,
    *,
    owner: Any = None,
    n_resamples: int = 199,
    rng: Any = None,
    design: Any = None,
) -> Any: ...
