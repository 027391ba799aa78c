"Two small samples in files of every kind, for the tests of files, report and command."

import numpy as np

from kpw_nb.cli import main

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
