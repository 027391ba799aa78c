# Made from the package by tools/stubs.py: do not edit.
from kpw_nb.core import Result
from typing import Any
from typing import NamedTuple
import kpw_nb.sample
import numpy
import pandas

__all__: list[str] = []

def check_units(units: Any, labels: Any) -> numpy.ndarray: ...

def deal(units: Any, labels: Any, K: int, g: Any) -> numpy.ndarray: ...

def deal_folds(units: Any, labels: Any, rng: Any = None) -> numpy.ndarray: ...

class Path(NamedTuple):
    auc: float
    coef: numpy.ndarray
    centre: numpy.ndarray
    scores: numpy.ndarray
    def __getattr__(self, name: str) -> Any: ...

def naive_auc(x: Any, y: Any) -> float: ...

def area(x: Any, y: Any) -> float: ...

def left_out_blocks(units: Any, labels: Any) -> list: ...

def ridge_path(F: Any, labels: Any, blocks: Any) -> Path: ...

class Rule:
    def __call__(self, Z: Any) -> numpy.ndarray: ...
    def __init__(self, Z: Any, labels: Any, units: Any) -> None: ...
    def __getattr__(self, name: str) -> Any: ...

def feature_sets(Z: Any) -> dict: ...

def best_cut(scores: Any, labels: Any) -> float: ...

class Placed(NamedTuple):
    compared: numpy.ndarray
    wins: numpy.ndarray
    def __getattr__(self, name: str) -> Any: ...

def placements(scores: Any, labels: Any, units: Any = None) -> Placed: ...

class Estimate(NamedTuple):
    value: float
    variance: float
    df: float
    most: float
    def __getattr__(self, name: str) -> Any: ...

def unit_variance(parts: Any, labels: Any, folds: Any, units: Any) -> tuple: ...

def fold_auc(
    scores: Any,
    labels: Any,
    folds: Any,
    units: Any,
    across: Any = False,
    noise: Any = 0.0,
) -> Estimate: ...

def interval_of(e: Estimate, confidence: float) -> tuple: ...

class Crossed(NamedTuple):
    scores: numpy.ndarray
    above: numpy.ndarray
    rules: list
    trained: int
    noise: float
    def __getattr__(self, name: str) -> Any: ...

def some_rows(rows: Any, labels: Any, most: int, g: Any) -> numpy.ndarray: ...

def noise_share(rules: Any, Z: Any, labels: Any) -> float: ...

def cross_fit(
    Z: Any,
    labels: Any,
    folds: Any,
    units: Any,
    rng: Any = None,
) -> Crossed: ...

def line_of(projector: Any, Z: Any, labels: Any) -> Any: ...

def cross_project(
    projector: Any,
    Z: Any,
    labels: Any,
    folds: Any,
    rng: Any = None,
) -> numpy.ndarray: ...

def in_spreads(f: Any, labels: Any) -> numpy.ndarray: ...

def bootstrap_costs(values: Any, units: Any, rng: Any) -> numpy.ndarray: ...

def line_distance(
    values: Any,
    labels: Any,
    units: Any,
    confidence: float,
    rng: Any = None,
) -> tuple: ...

class Shift(NamedTuple):
    value: float
    low: float
    high: float
    def __getattr__(self, name: str) -> Any: ...

def mean_shift(values: Any, labels: Any, units: Any, confidence: float) -> Shift: ...

def typical_shift(values: Any, labels: Any, units: Any, confidence: float) -> Shift: ...

def share_shift(marked: Any, labels: Any, units: Any, confidence: float) -> Shift: ...

def column_shifts(
    X: Any,
    Y: Any,
    columns: Any,
    units: Any,
    confidence: float,
) -> Any: ...

def pair_differences(F: Any, labels: Any, units: Any) -> numpy.ndarray: ...

def pair_weights(delta: Any) -> numpy.ndarray: ...

class Pairs(NamedTuple):
    share: float
    interval: tuple
    def __getattr__(self, name: str) -> Any: ...

def pair_share(
    Z: Any,
    labels: Any,
    folds: Any,
    units: Any,
    confidence: float,
) -> Any: ...

class Effect(Result):
    auc: float
    interval: tuple
    total_variation: float
    distance: float
    distance_interval: tuple
    columns: pandas.DataFrame
    confidence: float
    scores: numpy.ndarray
    labels: numpy.ndarray
    folds: numpy.ndarray
    rules: tuple
    trained: int
    units: int | None
    pairs: Pairs | None
    def __init__(
        self,
        auc: float,
        interval: tuple,
        total_variation: float,
        distance: float,
        distance_interval: tuple,
        columns: pandas.DataFrame,
        confidence: float,
        scores: numpy.ndarray,
        labels: numpy.ndarray,
        folds: numpy.ndarray,
        rules: tuple,
        trained: int,
        units: int | None = None,
        pairs: Pairs | None = None,
    ) -> None: ...
    def plot(self, axes: Any = None) -> Any: ...

def measure_effect(
    projector: Any,
    X: kpw_nb.sample.Sample,
    Y: kpw_nb.sample.Sample,
    *,
    owner: Any = None,
    units: Any = None,
    confidence: float = 0.95,
    rng: Any = None,
) -> Effect: ...

def roc_curve(scores: Any, labels: Any, folds: Any, grid: Any) -> numpy.ndarray: ...
