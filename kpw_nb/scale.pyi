# Made from the package by tools/stubs.py: do not edit.
from typing import Any
from typing import NamedTuple
import kpw_nb.engine
import kpw_nb.sample
import numpy

__all__: list[str] = []

class Counter:
    def __call__(self, Z: Any) -> Any: ...
    def __init__(self, projectors: Any, dtype: Any = None) -> None: ...
    def __getattr__(self, name: str) -> Any: ...

def gains(cells: Any, potentials: Any, n: int, m: int) -> Any: ...

class Tree(NamedTuple):
    axis: numpy.ndarray
    cut: numpy.ndarray
    child: numpy.ndarray
    n_cells: int
    def __getattr__(self, name: str) -> Any: ...

def tree_of(cells: Any) -> Tree: ...

def count_block(counter: Any, tree: Any, task: Any) -> Any: ...

def count_rows(
    sample: kpw_nb.sample.Blocks,
    counter: Any,
    tree: Tree,
    leave: Any,
    engine: kpw_nb.engine.Engine,
) -> Any: ...

class Chosen(NamedTuple):
    train: numpy.ndarray
    place: numpy.ndarray
    show: numpy.ndarray
    def __getattr__(self, name: str) -> Any: ...

def choose_rows(n: int, train: int, rng: Any) -> Chosen: ...
