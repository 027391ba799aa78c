# Made from the package by tools/stubs.py: do not edit.
from typing import Any

__all__ = [
    'experiments',
    'reproduce',
]

def draw_problem(
    n: int,
    problem: str,
    *,
    rng: Any = None,
    **settings: Any,
) -> tuple: ...

def paper_tests() -> dict: ...

def digit_tests() -> dict: ...

def all_tests() -> dict: ...

class Experiment:
    title: str
    tests: dict
    grid: tuple
    protocol: str
    n_trials: int
    quick: int
    thin: int
    def __init__(
        self,
        title: str,
        tests: dict,
        grid: tuple,
        protocol: str = 'train_once',
        n_trials: int = 200,
        quick: int = 5,
        thin: int = 1,
    ) -> None: ...

def experiments() -> dict: ...

def reproduce(
    name: str,
    *,
    quick: bool = False,
    n_trials: int | None = None,
    workers: Any = 1,
    store: Any = 'out/experiments',
    progress: Any = True,
) -> Any: ...

def paper_figures(name: str, kind: str | None = None, null: bool = False) -> dict: ...

def klr_figures() -> Any: ...

def beside_klr(study: Any, test: str = 'KPW') -> Any: ...

def beside(study: Any, paper: dict | None = None, column: str = 'D') -> Any: ...

def behind(study: Any, ours: str = 'KPW') -> Any: ...

def falls(study: Any) -> Any: ...

def above_level(study: Any) -> Any: ...

def keep_record(study: Any, name: str, folder: Any = 'records') -> Any: ...

def read_record(name: str, folder: Any = 'records') -> Any: ...

def power_grid(
    study: Any,
    columns: str = 'D',
    rows: str = 'test',
    paper: dict | None = None,
) -> Any: ...

def short(value: Any) -> str: ...

class Narrow:
    def __init__(self, frame: Any, sortable: Any = False) -> None: ...
    def __getattr__(self, name: str) -> Any: ...

def draw_power(
    ax: Any,
    study: Any,
    x: str = 'D',
    ours: str = 'KPW',
    paper: dict | None = None,
) -> Any: ...

def legend_below(fig: Any, ax: Any, columns: int = 5) -> Any: ...

def draw_beside(axes: Any, study: Any, paper: dict, x: str = 'D') -> Any: ...
