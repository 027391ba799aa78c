# Made from the package by tools/stubs.py: do not edit.
from typing import Any
import pathlib

__all__ = [
    'report_page',
]

def column_name(column: Any) -> Any: ...

def two_columns(pair: Any) -> Any: ...

def difference_of(result: Any) -> Any: ...

def is_quick(result: Any) -> bool: ...

def versions() -> Any: ...

def design_words(facts: Any) -> str: ...

def answer_facts(
    result: Any,
    X: Any = None,
    Y: Any = None,
    *,
    names: Any = ...,
    alpha: Any = 0.05,
    settings: Any = None,
    command: Any = None,
    files: Any = ...,
    rows_are: Any = 'called as in your data',
    where: Any = True,
) -> Any: ...

def percent(share: Any) -> Any: ...

def answer_text(facts: Any) -> Any: ...

def report_page(
    result: Any,
    X: Any = None,
    Y: Any = None,
    *,
    facts: dict | None = None,
    **options: Any,
) -> str: ...

def short_answer(result: Any) -> str: ...

def answer_part(result: Any, facts: Any) -> str: ...

def write_report(result: Any, path: Any) -> pathlib.Path: ...
