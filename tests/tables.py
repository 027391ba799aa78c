"Two small samples in files of every kind, for the tests of files, report and command."

import numpy as np

from kpw_nb.show.cli import main

NAMES = ["height", "weight", "age"]
FAST = ["--n-resamples", "19"]


def save_csv(path, A, names=NAMES, sep=","):
    "A table as text; no header line if there are no names"
    header = sep.join(names or [])
    np.savetxt(path, A, delimiter=sep, header=header, comments="", fmt="%.17g")


def two_samples():
    "Thirty and twenty-four rows; the second column of Y is wider"
    g = np.random.default_rng(11)
    return g.normal(size=(30, 3)), g.normal(size=(24, 3)) * [1, 4, 1]


def write_tables(folder):
    "Both samples in files of every kind"
    X, Y = two_samples()
    for A, name in ((X, "x"), (Y, "y")):
        save_csv(folder / f"{name}.csv", A)
        save_csv(folder / f"{name}.tsv", A, sep="\t")
        save_csv(folder / f"{name}_bare.csv", A, names=None)
        np.save(folder / f"{name}.npy", A)
        np.savez(folder / f"{name}.npz", A)
    np.savez(folder / "both.npz", X=X, Y=Y)
    lines = ["height,weight,age,group"]
    for A, group in ((X, "a"), (Y, "b")):
        lines += [",".join(f"{v:.17g}" for v in row) + "," + group for row in A]
    (folder / "labelled.csv").write_text("\n".join(lines) + "\n")


def run(capsys, *words):
    "Exit code, stdout and stderr of a command"
    capsys.readouterr()
    code = main([str(w) for w in words])
    said = capsys.readouterr()
    return code, said.out, said.err


# ---------------------------------------------------------------- tables as people have

ROWS = 40


def penguins(rows=ROWS, seed=0, **changes):
    """Columns of a mixed table: a number, two categories, a truth value and a date.

    A change is a list for the whole column, or {row, from 1: entry}.
    """
    g = np.random.default_rng(seed)
    table = dict(
        mass=[f"{v:.1f}" for v in g.normal(4000, 500, rows)],
        island=g.choice(["Biscoe", "Dream", "Torgersen"], rows).tolist(),
        male=g.choice(["True", "False"], rows).tolist(),
        seen=[f"2007-11-{d:02d}" for d in g.integers(1, 31, rows)],
        brood=g.integers(1, 4, rows).astype(str).tolist(),
    )
    for name, change in changes.items():
        column = list(table.get(name, [""] * rows))
        if isinstance(change, dict):
            for row, entry in change.items():
                column[row - 1] = entry
        else:
            column = [str(v) for v in change]
        table[name] = column
    return table


def as_csv(table, sep=","):
    "Columns as text"
    lines = [sep.join(table)] + [sep.join(row) for row in zip(*table.values())]
    return "\n".join(lines) + "\n"


def as_parquet(**columns):
    "The usual table, with columns of Python's objects, as a parquet file"
    import io

    import pandas as pd

    frame = pd.read_csv(io.StringIO(as_csv(penguins())), parse_dates=["seen"])
    return frame.assign(**columns).to_parquet()


def packed(**members):
    "A zip archive"
    import io
    import zipfile

    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, text in members.items():
            archive.writestr(name.replace("_", "."), text)
    return out.getvalue()


def each(form, rows=ROWS):
    "A different text for every row"
    return [form.format(k) for k in range(1, rows + 1)]


GOOD = as_csv(penguins(seed=1))
LINES = GOOD.splitlines(keepends=True)
TWO = "test bad.csv good.csv"
ONE = "test bad.csv --label g"

BAD_CELLS = {  # changed columns of one file of two, and what the line says of it
    "text among numbers": (
        dict(mass={3: "heavy"}),
        "'mass' holds numbers, but 'heavy'",
    ),
    "number with a unit": (dict(mass={3: "3.5 kg"}), "'3.5 kg' in row 3 is none; fix"),
    "all with units": (dict(mass=each("{} kg")), "'mass' is a category in bad.csv but"),
    "a dash": (
        dict(mass={7: "-"}),
        "but '-' in row 7 is none; fix it, leave it empty",
    ),
    "a question mark": (dict(mass={1: "?"}), "but '?' in row 1 is none; fix"),
    "spreadsheet error": (dict(mass={9: "#DIV/0!"}), "but '#DIV/0!' in row 9 is none"),
    "less than": (dict(mass={9: "<0.5"}), "but '<0.5' in row 9 is none; fix"),
    "per cent": (dict(mass=each("{}.5%")), "'mass' is a category in bad.csv but a num"),
    "currency": (
        dict(mass=each("${}")),
        "'mass' is a category in bad.csv but a number",
    ),
    "thousands": (
        dict(mass=each('"{},000"')),
        "('1,000' in row 1); write decimals with",
    ),
    "decimal commas": (
        dict(mass=each('"{},5"')),
        "'mass' does not hold numbers ('1,5'",
    ),
    "underscore": (dict(mass={2: "1_000"}), "but '1_000' in row 2 is none; fix"),
    "two numbers": (dict(mass={2: "3 4"}), "but '3 4' in row 2 is none; fix"),
    "header again": (penguins(mass={20: "mass"}), "but 'mass' in row 20 is none"),
    "list in a cell": (
        dict(mass={4: '"[1, 2]"'}),
        "but '[1, 2]' in row 4 is none; fix",
    ),
    "number for a text": (dict(island=["3"] * ROWS), "'island' is a number in bad.csv"),
    "date for a number": (
        dict(mass=["2007-11-11"] * ROWS),
        "'mass' is a date in bad.csv",
    ),
    "year for a date": (
        dict(seen=["2007"] * ROWS),
        "'seen' is a number in bad.csv but",
    ),
    "text for a truth": (dict(male=["m", "f"] * 20), "'male' is a category in bad.csv"),
    "no such day": (dict(seen={5: "2007-11-31"}), "but '2007-11-31' in row 5 is none"),
    "no such month": (dict(seen={5: "2007-13-01"}), "'seen' holds dates, but '2007-13"),
    "no date": (dict(seen={5: "in spring"}), "but 'in spring' in row 5 is none; write"),
    "other dates": (
        dict(seen=["11/12/2007"] * ROWS),
        "'seen' is a category in bad.csv",
    ),
    "gap in a number": (dict(mass={4: ""}), "'mass' (1 in bad.csv), first in row 4 of"),
    "gap in a text": (
        dict(island={4: "NA"}),
        "'island' (1 in bad.csv), first in row 4",
    ),
    "gap in a date": (
        dict(seen={4: "", 6: ""}),
        "'seen' (2 in bad.csv), first in row 4",
    ),
    "gap in a truth": (
        dict(male={4: ""}),
        "'male' (1 in bad.csv), first in row 4 of bad",
    ),
    "gaps only": (
        dict(mass=[""] * ROWS),
        "'mass' (40 in bad.csv), first in row 1 of bad",
    ),
    "infinity": (dict(mass={8: "inf"}), "the first in row 8, column 'mass'; replace"),
    "minus infinity": (
        dict(mass={8: "-inf"}),
        "bad.csv contains 1 infinity value(s), th",
    ),
    "too large": (
        dict(mass={8: "1e999"}),
        "the first in row 8, column 'mass'; replace",
    ),
}

BAD_COLUMNS = {  # a column that both samples of one file have, and what the line says
    "identifier": (each("N{}A1"), "'new' is different in every row (such as 'N"),
    "counter": (
        each("{}"),
        "'new' is different in every row (such as 1), like an ident",
    ),
    "addresses": (
        each("p{}@x.org"),
        "--drop new, or use it as the name of rows with --id",
    ),
    "remarks": (
        each("it rained on day {}"),
        "'new' is different in every row (such as",
    ),
    "days of others": (each("{}.11.2007"), "'new' is different in every row (such as"),
    "stamps": (each("{}:30"), "'new' is different in every row (such as"),
    "lists": (each('"[1, {}]"'), "'new' is different in every row (such as '[1, "),
}

BAD_LABELS = {  # the label column, and what the line says
    "one label": (["a"] * ROWS, "bad.csv: the label 'g' has 1 value (a); exactly two"),
    "three labels": (["a", "b", "c", "a"] * 10, "has 3 values (a, b, c); exactly two"),
    "measured label": (
        each("{}.5"),
        "has 40 values (1.5, 2.5, 3.5, 4.5, 5.5 and 35 more)",
    ),
    "label with a gap": (["a", "b", "", "b"] * 10, "'g' is empty in row 3; fill it"),
    "a lonely label": (["a"] * 39 + ["b"], "g = b has 1 row; at least 2 are needed"),
    "labels and spaces": (
        ["a", "A"] * 19 + ["a", "B"],
        "3 values (A, B, a); exactly two",
    ),
}

BAD_FILES = {  # name: (the file, its content, words, what the line says)
    "empty": ("bad.csv", "", TWO, "bad.csv is empty; write a table"),
    "blank": ("bad.csv", "\n \n\n", TWO, "bad.csv holds no rows; write a table"),
    "header only": (
        "bad.csv",
        LINES[0],
        TWO,
        "bad.csv has no rows of data; at least 2",
    ),
    "one row": ("bad.csv", "".join(LINES[:2]), TWO, "bad.csv has one row of data; at"),
    "short row": ("bad.csv", GOOD + "1,Dream\n", TWO, "row 41 has 2 of 5 fields; save"),
    "long row": (
        "bad.csv",
        GOOD + "1,2,3,4,5,6\n",
        TWO,
        "Expected 5 fields in line 42",
    ),
    "open quote": (
        "bad.csv",
        GOOD + '"1,2,3',
        TWO,
        "bad.csv cannot be read (Error tok",
    ),
    "twice a name": (
        "bad.csv",
        "a,b,a\n1,2,3\n4,5,6\n",
        TWO,
        "'a' stands twice in the",
    ),
    "index": (
        "bad.csv",
        ",a\n0,1\n1,2\n",
        TWO,
        "column 1 has no name, as if it were an",
    ),
    "last comma": ("bad.csv", "a,b,\n1,2,\n3,4,\n", TWO, "column 3 has no name, as if"),
    "other names": (
        "bad.csv",
        GOOD.replace("mass", "Mass"),
        TWO,
        "'Mass' only in bad.csv and",
    ),
    "units": ("bad.csv", "a,b\nkg,m\n1,2\n3,4\n", TWO, "'kg' in column 1); remove the"),
    "spaces": (
        "bad.csv",
        "a b c\n1 2 3\n4 5 6\n",
        TWO,
        "separated by spaces; separate",
    ),
    "years": (
        "bad.csv",
        "1999,2000\n1999,2004\n",
        TWO,
        "say --header yes or --header no",
    ),
    "no header": (
        "bad.csv",
        "".join(LINES[1:]),
        TWO,
        "Torgersen, False, 2007-11-09, 1)",
    ),
    "mixed header": (
        "bad.csv",
        "1,a\n2,b\n3,c\n",
        TWO,
        "say --header yes or --header no",
    ),
    "latin": (
        "bad.csv",
        "größe\n1\n2\n".encode("latin-1"),
        TWO,
        "save it again as text in",
    ),
    "late latin": (
        "bad.csv",
        GOOD.encode() + b"1,\xe9,True,2007-11-11,1\n",
        TWO,
        "UTF-8",
    ),
    "utf-16": (
        "bad.csv",
        GOOD.encode("utf-16"),
        TWO,
        "bad.csv cannot be read ('utf-8'",
    ),
    "zeros": ("bad.csv", b"a,b\n1,\x002\n", TWO, "bad.csv is not plain text; save it"),
    "a workbook": (
        "bad.csv",
        b"PK\x03\x04\x00\x00\x00",
        TWO,
        "bad.csv is not plain text",
    ),
    "kind": (
        "bad.xlsx",
        b"PK",
        "test bad.xlsx good.csv",
        "bad.xlsx: files of this kind",
    ),
    "several": (
        "bad.zip",
        packed(a_csv=GOOD, b_csv=GOOD),
        "test bad.zip good.csv",
        "a.csv",
    ),
    "cut": ("bad.csv.gz", b"\x1f\x8b\x08", "test bad.csv.gz good.csv", "pack it again"),
    "no id": (
        "bad.csv",
        GOOD,
        TWO + " --id who",
        "no column 'who' for --id; it has mass",
    ),
    "id twice": (
        "bad.csv",
        GOOD,
        TWO + " --id brood",
        "stands twice in 'brood', again in",
    ),
    "no label": ("bad.csv", GOOD, ONE, "bad.csv has no column 'g' for --label; it has"),
    "no column": (
        "bad.csv",
        GOOD,
        TWO + " --columns size",
        "'size' for --columns; it has",
    ),
    "no drop": (
        "bad.csv",
        GOOD,
        TWO + " --drop size",
        "'size' for --drop; they have mass",
    ),
    "all dropped": (
        "bad.csv",
        "a\n1\n2\n",
        TWO + " --drop a",
        "bad.csv: no column is left",
    ),
    "pipes": (
        "bad.csv",
        GOOD,
        "test - -",
        "both samples cannot come from the standard in",
    ),
    "scale": (
        "bad.csv",
        GOOD,
        TWO + " --scale best",
        "choose from 'auto', 'std', 'rank'",
    ),
    "missing": (
        "bad.csv",
        GOOD,
        TWO + " --missing mean",
        "choose from 'error', 'indicat",
    ),
}


def bad_tables():
    "{name: (files, words of the command, what the line says)}"
    found = {}
    for name, (changes, says) in BAD_CELLS.items():
        found[name] = ({"bad.csv": as_csv(penguins(**changes))}, TWO, says)
    for name, (column, says) in BAD_COLUMNS.items():
        table = penguins(new=column, g=["a", "b"] * 20)
        found[name] = ({"bad.csv": as_csv(table)}, ONE, says)
    for name, (labels, says) in BAD_LABELS.items():
        found[name] = ({"bad.csv": as_csv(penguins(g=labels))}, ONE, says)
    for name, (file, content, words, says) in BAD_FILES.items():
        found[name] = ({file: content}, words, says)
    words = "test bad.parquet good.csv --drop brood"
    for name, cell in dict(lists=[1, 2], records=dict(a=1), raw=b"\x00").items():
        content = as_parquet(mass=[cell] * ROWS)
        found[f"parquet with {name}"] = ({"bad.parquet": content}, words, "'mass'")
    gaps = penguins(mass=[""] * ROWS)
    words = TWO + " --missing drop"
    says = (
        "bad.csv has 0 rows without a gap; column 'mass' has 40 gaps in 40 rows; leave"
    )
    found["a gap in every row"] = ({"bad.csv": as_csv(gaps)}, words, says)
    flat = "a,b\n" + "1,x\n" * 9
    says = "bad.csv and bad.csv are constant"
    found["constant"] = ({"bad.csv": flat}, "test bad.csv bad.csv", says)
    return found
