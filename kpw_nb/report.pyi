# Made from the package by tools/stubs.py: do not edit.
from typing import Any

__all__ = [
    'report_page',
]

def versions() -> Any: ...

def answer_facts(
    result: Any,
    X: Any,
    Y: Any,
    *,
    alpha: Any = 0.05,
    settings: Any = None,
    command: Any = None,
    files: Any = ...,
    rows_are: Any = 'called as in your data',
) -> Any: ...

def percent(share: Any) -> Any: ...

def answer_text(facts: Any) -> Any: ...

def report_page(
    result: Any,
    X: Any,
    Y: Any,
    *,
    facts: dict | None = None,
    **options: Any,
) -> str: ...
