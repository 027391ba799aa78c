# Made from the package by tools/stubs.py: do not edit.
from kpw_nb.core import Result
from typing import Any
import pandas

__all__ = [
    'Difference',
]

def row_costs(FX: Any, FY: Any) -> tuple: ...

def column_shares(projector: Any, Z: Any) -> Any: ...

class Difference(Result):
    rows: pandas.DataFrame
    columns: pandas.DataFrame
    def __init__(self, rows: pandas.DataFrame, columns: pandas.DataFrame) -> None: ...
    def of(self, sample: str) -> pandas.DataFrame: ...

def explain(projector: Any, X: Any, Y: Any) -> Difference: ...
