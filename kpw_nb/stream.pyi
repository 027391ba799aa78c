# Made from the package by tools/stubs.py: do not edit.
from kpw_nb.statistics import Statistic
from typing import Any
from typing import NamedTuple
import collections.abc
import kpw_nb.blind
import kpw_nb.encode
import kpw_nb.engine
import kpw_nb.relabel
import kpw_nb.sample
import kpw_nb.statistics
import numpy

__all__: list[str] = []

class Share(NamedTuple):
    used: int
    groups: int
    size: int
    @property
    def kept(self) -> int: ...
    def __getattr__(self, name: str) -> Any: ...

def share_rows(n: int, m: int, kept: int = 40000) -> tuple: ...

def place_rows(n: int, share: Share, rng: Any) -> numpy.ndarray: ...

class Sight(NamedTuple):
    raws: tuple
    senses: kpw_nb.blind.Senses
    encoder: kpw_nb.encode.Encoder
    def __call__(self, Z: Any) -> numpy.ndarray: ...
    def __getattr__(self, name: str) -> Any: ...

def add_block(sight: Sight, per_unit: Any, groups: int, task: Any) -> tuple: ...

def add_rows(
    sample: kpw_nb.sample.Blocks,
    places: Any,
    sight: Sight,
    units: Any,
    groups: int,
    engine: kpw_nb.engine.Engine,
) -> Any: ...

class Sizes(NamedTuple):
    kept: tuple
    groups: tuple
    used: tuple
    def __getattr__(self, name: str) -> Any: ...

class GroupedContrast(Statistic):
    def __init__(
        self,
        found: kpw_nb.blind.FeatureMap,
        raw: Any,
        sums: Any,
        sizes: Sizes,
    ) -> None: ...
    def values(self, orders: Any) -> Any: ...
    def __getattr__(self, name: str) -> Any: ...

class OfKept(Statistic):
    def __init__(self, statistic: Any, kept: int) -> None: ...
    def values(self, orders: Any) -> Any: ...
    def __getattr__(self, name: str) -> Any: ...

class Streamed(NamedTuple):
    statistic: kpw_nb.statistics.Statistic
    design: kpw_nb.relabel.Relabelling
    kept: tuple
    encoder: kpw_nb.encode.Encoder
    pool: kpw_nb.blind.Pool
    family: list
    shares: tuple
    def __getattr__(self, name: str) -> Any: ...

def stream(
    samples: Any,
    choose: collections.abc.Callable,
    kept: int,
    engine: kpw_nb.engine.Engine,
    encode: Any = ...,
) -> Any: ...
