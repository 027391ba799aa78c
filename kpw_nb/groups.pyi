# Made from the package by tools/stubs.py: do not edit.
from kpw_nb.core import Result
from kpw_nb.relabel import Relabelling
from kpw_nb.statistics import Statistic
from typing import Any
from typing import NamedTuple
import kpw_nb.blind
import kpw_nb.encode
import kpw_nb.table
import numpy
import pandas

__all__ = [
    'kpw_groups',
]

class Labelled(NamedTuple):
    columns: kpw_nb.table.Columns
    labels: list
    clusters: list | None
    shared_unit: bool
    def __getattr__(self, name: str) -> Any: ...

def as_list(values: Any) -> list: ...

def read_frame(frame: Any, by: Any, clusters: Any) -> Labelled: ...

def is_annotated(A: Any) -> bool: ...

def read_annotated(A: Any, by: Any, clusters: Any, use: Any) -> Labelled: ...

def read_any(
    frame: Any,
    by: Any,
    clusters: Any = None,
    use: Any = None,
) -> Labelled: ...

class Roll(NamedTuple):
    names: tuple
    codes: numpy.ndarray
    def __getattr__(self, name: str) -> Any: ...

def check_groups(roll: Roll, control: Any, how: str) -> str: ...

def cluster_roll(clusters: Any, roll: Roll, rows: Any) -> Roll: ...

class Look(NamedTuple):
    name: str
    weight: float
    part: slice
    apart: bool
    matrix: numpy.ndarray | None
    search: bool
    def __getattr__(self, name: str) -> Any: ...

class Points(NamedTuple):
    F: numpy.ndarray
    starts: numpy.ndarray
    looks: tuple
    def of(self, g: Any) -> numpy.ndarray: ...
    @property
    def sizes(self) -> numpy.ndarray: ...
    @property
    def voters(self) -> list: ...
    def __getattr__(self, name: str) -> Any: ...

def look_at(pool: kpw_nb.blind.Pool) -> tuple: ...

def cluster_means(F: Any, codes: Any) -> numpy.ndarray: ...

def sorted_rows(Z: Any, roll: Roll, clusters: Roll | None) -> numpy.ndarray: ...

def make_points(Z: Any, roll: Roll, clusters: Roll | None = None) -> Points: ...

def pair_labellings(sizes: Any, pair: Any, n_resamples: int, seed: int) -> Any: ...

class PairContrast(Statistic):
    def __init__(self, points: Points, pair: tuple) -> None: ...
    def gaps(self, marks: Any) -> numpy.ndarray: ...
    @property
    def observed(self) -> numpy.ndarray: ...
    def values(self, marks: Any) -> numpy.ndarray: ...
    def __getattr__(self, name: str) -> Any: ...

def compare(
    points: Points,
    n_resamples: int,
    seed: int,
    pair: Any,
) -> numpy.ndarray: ...

class Family(NamedTuple):
    pvalues: numpy.ndarray
    alone: numpy.ndarray
    zscores: numpy.ndarray
    def __getattr__(self, name: str) -> Any: ...

def step_together(values: Any) -> Family: ...

def compare_all(
    points: Points,
    pairs: Any,
    n_resamples: Any,
    seed: Any,
    engine: Any = ...,
) -> Family: ...

def group_distances(points: Points) -> numpy.ndarray: ...

def largest_shift(points: Points, pair: Any, encoder: kpw_nb.encode.Encoder) -> int: ...

def shift_in_words(tables: Any, column: int, names: Any) -> str: ...

def add_groups(F: Any, codes: Any, sums: Any) -> Any: ...

class AllContrast(Statistic):
    def __init__(self, points: Points) -> None: ...
    def value(self, codes: Any) -> list: ...
    def values(self, labellings: Any) -> Any: ...
    def __getattr__(self, name: str) -> Any: ...

class AnyOrder(Relabelling):
    sizes: tuple
    def __init__(self, sizes: tuple) -> None: ...
    @property
    def count(self) -> float: ...
    def draw(self, key: Any) -> numpy.ndarray: ...
    @property
    def observed(self) -> numpy.ndarray: ...

def compare_at_once(
    points: Points,
    n_resamples: Any,
    seed: Any,
    engine: Any = ...,
) -> Family: ...

class GroupsResult(Result):
    table: pandas.DataFrame
    distances: pandas.DataFrame
    how: str
    control: object
    n_resamples: int
    seed: int
    encoding: kpw_nb.encode.Encoder
    seconds: dict
    def __init__(
        self,
        table: pandas.DataFrame,
        distances: pandas.DataFrame,
        how: str,
        control: object,
        n_resamples: int,
        seed: int,
        encoding: kpw_nb.encode.Encoder,
        seconds: dict,
    ) -> None: ...
    def answer(self, alpha: float = 0.05) -> str: ...
    def dendrogram(self, ax: Any = None, alpha: float = 0.05) -> Any: ...
    def differing(self, alpha: float = 0.05) -> pandas.DataFrame: ...
    def plot(self, ax: Any = None, alpha: float = 0.05) -> Any: ...

class Ready(NamedTuple):
    columns: kpw_nb.table.Columns
    roll: Roll
    clusters: Roll | None
    shared_unit: bool
    def take(self, index: Any) -> Ready: ...
    def __getattr__(self, name: str) -> Any: ...

def make_ready(read: Labelled, by: Any, missing: str) -> Ready: ...

def pairs_of(how: str, control: Any, names: Any) -> list: ...

class Screen(NamedTuple):
    ready: Ready
    encoder: kpw_nb.encode.Encoder
    points: Points
    distances: numpy.ndarray
    def __getattr__(self, name: str) -> Any: ...

def make_screen(ready: Ready, scale: Any, missing: str) -> Screen: ...

def make_table(screen: Screen, pairs: Any, family: Family) -> Any: ...

def run_screen(
    screen: Screen,
    how: Any,
    control: Any,
    n_resamples: Any,
    seed: Any,
    engine: Any,
) -> GroupsResult: ...

def kpw_groups(
    frame: Any,
    by: Any,
    *,
    control: Any = None,
    how: str = 'auto',
    clusters: Any = None,
    use: str | None = None,
    scale: str | None = 'auto',
    missing: str = 'error',
    n_resamples: int = 999,
    rng: Any = None,
    workers: Any = 1,
    progress: Any = False,
) -> GroupsResult: ...
