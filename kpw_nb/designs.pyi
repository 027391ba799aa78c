# Made from the package by tools/stubs.py: do not edit.
from typing import Any
from typing import NamedTuple
import kpw_nb.relabel
import kpw_nb.sample
import kpw_nb.table
import numpy
import scipy.sparse._csr

__all__: list[str] = []

def averages(codes: Any) -> scipy.sparse._csr.csr_array: ...

class Design:
    relabelling: kpw_nb.relabel.Relabelling
    members: numpy.ndarray | None
    blocks: numpy.ndarray | None
    batches: numpy.ndarray | None
    units: numpy.ndarray | None
    weigh: str
    said: str
    assumes: str
    def __init__(
        self,
        relabelling: kpw_nb.relabel.Relabelling,
        members: numpy.ndarray | None = None,
        blocks: numpy.ndarray | None = None,
        batches: numpy.ndarray | None = None,
        units: numpy.ndarray | None = None,
        weigh: str = 'clusters',
        said: str = 'rows are exchanged freely',
        assumes: str = 'that rows are independent of each other',
    ) -> None: ...
    def centred(self, F: Any) -> numpy.ndarray: ...
    def comparable(self, X: kpw_nb.sample.Sample, Y: kpw_nb.sample.Sample) -> tuple: ...
    def features(self, F: Any) -> numpy.ndarray: ...
    @property
    def free(self) -> bool: ...
    def gram(self, K: Any) -> numpy.ndarray: ...
    @property
    def masses(self) -> Any: ...
    def means(self, F: Any) -> numpy.ndarray: ...
    @property
    def n(self) -> int: ...
    def of_rows(self, marks: Any) -> numpy.ndarray: ...
    def row_weights(self, marks: Any) -> numpy.ndarray: ...

def signed_weights(marks: Any, masses: Any = None) -> numpy.ndarray: ...

def bring_together(Z: Any, batches: Any) -> numpy.ndarray: ...

class Named(NamedTuple):
    codes: numpy.ndarray
    names: numpy.ndarray
    def said(self, code: Any) -> str: ...
    def __getattr__(self, name: str) -> Any: ...

def read_labels(
    value: Any,
    argument: str,
    X: kpw_nb.table.Columns,
    Y: kpw_nb.table.Columns,
) -> Named: ...

class Asked(NamedTuple):
    strata: object
    clusters: object
    paired: bool
    weigh: str
    @property
    def anything(self) -> bool: ...
    def __getattr__(self, name: str) -> Any: ...

class Designed(NamedTuple):
    X: kpw_nb.table.Columns
    Y: kpw_nb.table.Columns
    design: Design
    dropped: tuple
    def __getattr__(self, name: str) -> Any: ...

def read_design(X: Any, Y: Any, asked: Asked, missing: str = 'error') -> Designed: ...

def make_design(
    X: kpw_nb.table.Columns,
    Y: kpw_nb.table.Columns,
    labels: dict,
    asked: Asked,
) -> Design: ...

def warn_if_clustered(X: kpw_nb.table.Columns, Y: kpw_nb.table.Columns) -> Any: ...
