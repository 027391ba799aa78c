"""Three reports as `result.report("answer.html")` writes them, made of real data when
the site is built."""

import numpy as np
import pandas as pd


def penguins():
    "Two species, raw: numbers in their own units, texts, a year, gaps"
    from palmerpenguins import load_penguins

    table, names = load_penguins(), ("Adelie", "Chinstrap")
    return [table[table["species"] == s].drop(columns="species") for s in names], names


def digits(n=400, surplus=80):
    "Images of 8 x 8 points; in the second sample some are ones instead"
    from sklearn.datasets import load_digits

    images, labels = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(images))
    X, Y, spare = order[:n], order[n : 2 * n], order[2 * n :]
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


def write(folder):
    "The reports as files"
    from kpw_nb import kpw_test
    from kpw_nb.show.report import report_page

    folder.mkdir(parents=True, exist_ok=True)
    for make in (penguins, digits, nothing):
        (X, Y), names = make()
        result = kpw_test(X, Y, missing="indicator", rng=0)
        shape = (8, 8) if make is digits else None
        html = report_page(result, result.facts(names=names), shape)
        (folder / f"{make.__name__}.html").write_text(html, "utf-8")
