"""Three reports as `result.report("answer.html")` writes them, made of real data when
the site is built: penguins of two species, digits of which one is too frequent, and
two samples without a difference."""

import re
from typing import NamedTuple

import numpy as np
import pandas as pd
from pages import grid, notebook


class Sample(NamedTuple):
    "A report, and what to say about it"

    name: str  # of its file
    title: str
    text: str
    answer: str
    html: str


def penguins():
    "Two species, raw: numbers in their own units, texts, a year, gaps"
    from palmerpenguins import load_penguins

    table = load_penguins()
    kinds = [table[table["species"] == s] for s in ("Adelie", "Chinstrap")]
    return [kind.drop(columns="species") for kind in kinds], ("Adelie", "Chinstrap")


def digits(n=400, surplus=80):
    "Images of 8 x 8 points; in the second sample some are ones instead"
    from sklearn.datasets import load_digits

    images, labels = load_digits(return_X_y=True)
    g = np.random.default_rng(0)
    order = g.permutation(len(images))
    X, Y = order[:n], order[n : 2 * n]
    spare = order[2 * n :]
    Y[:surplus] = spare[labels[spare] == 1][:surplus]
    names = [f"row {k // 8 + 1}, column {k % 8 + 1}" for k in range(64)]
    tables = [pd.DataFrame(images[i], columns=names, index=i) for i in (X, Y)]
    return tables, ("all digits", "all digits, and more ones")


def nothing():
    """The penguins of one species, cut in two at random. One cut in twenty is rejected
    all the same; this is one of the others"""
    (table, _), _ = penguins()
    order = np.random.default_rng(2).permutation(len(table))
    halves = [table.iloc[np.sort(half)] for half in np.array_split(order, 2)]
    return halves, ("one half of the Adelies", "the other half")


MADE = (
    (penguins, "Penguins of two species", "A raw table: numbers, texts, gaps."),
    (digits, "Digits with too many ones", "Images, a column for each point."),
    (nothing, "No difference", "One species, cut in two at random."),
)


def samples():
    "The three reports"
    from kpw_nb import kpw_test
    from kpw_nb.report import answer_facts, report_page

    found = []
    for make, title, text in MADE:
        (X, Y), names = make()
        result = kpw_test(X, Y, missing="indicator", rng=0)
        facts = answer_facts(result, X, Y, names=names)
        html = report_page(result, facts=facts)
        found.append(Sample(make.__name__, title, text, facts["answer"], html))
    return found


def plain(text):
    "A text in which Markdown finds no marks"
    return re.sub(r"([\\`*_<>$\[\]])", r"\\\1", text)


def cards(found):
    "A card for each report, with its first line"
    made = [
        f":::{{grid-item-card}} {s.title}\n:link: reports/{s.name}.html\n"
        f":link-type: url\n:class-card: way-card\n\n{s.text}\n\n"
        f"*{plain(s.answer)}*\n:::"
        for s in found
    ]
    return grid(made, "1 1 3 3", 2)


def page(found):
    "The page that leads to the reports"
    return notebook(
        "# Sample reports\n\n*What an answer looks like: one page, which needs nothing "
        "else and can be passed on.*\n\nThese are the pages that "
        '`result.report("answer.html")` and `kpw-nb test --report` write. Each says '
        "what was found, where, how sure one may be, and how to repeat it; a notebook "
        "shows the short form of the same page. They are made of real data when this "
        "site is built. How, is told in [The answer page](24_report.ipynb).\n\n"
        + cards(found)
    )


def write(found, folder):
    "The reports as files"
    folder.mkdir(parents=True, exist_ok=True)
    for s in found:
        (folder / f"{s.name}.html").write_text(s.html, encoding="utf-8")
