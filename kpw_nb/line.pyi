# Made from the package by tools/stubs.py: do not edit.
from typing import Any
from typing import NamedTuple
import numpy

__all__: list[str] = []

def as_points(x: Any, name: Any) -> Any: ...

def as_pair(x: Any, y: Any) -> Any: ...

def as_weights(a: Any, n: Any, name: Any) -> Any: ...

class Atoms(NamedTuple):
    rows: numpy.ndarray
    cols: numpy.ndarray
    mass: numpy.ndarray
    def __getattr__(self, name: str) -> Any: ...

def quantile_plan(a: Any, b: Any) -> Atoms: ...

def plan_cost(x: Any, y: Any, atoms: Any, p: Any) -> Any: ...

def sorted_cost(x: Any, y: Any, a: Any, b: Any, p: Any) -> Any: ...

def line_plan(x: Any, y: Any, a: Any = None, b: Any = None) -> Any: ...

def power(gap: Any, p: Any) -> Any: ...

def walk(z: Any, is_x: Any, n: Any, m: Any, p: Any) -> Any: ...

def walks(z: Any, position: Any, orders: Any, n: Any, p: Any, out: Any) -> Any: ...

def close_ends(ends_a: Any, ends_b: Any) -> Any: ...

def next_cut(ends_a: Any, ends_b: Any, i: Any, j: Any) -> Any: ...

def spread_costs(
    low: Any,
    high: Any,
    place: Any,
    counts: Any,
    totals: Any,
    unit_a: Any,
    unit_b: Any,
    p: Any,
    out: Any,
) -> Any: ...
