"""Re-execute notebooks in place, with their outputs: `python tools/execute.py [--slow]
[NAME ...]`.

Cells with `#| eval: false` never run; cells with `#| slow` run with `--slow` only. A
cell that does not run keeps its outputs. The first error stops everything, and the
notebook it is in stays as it was.

Pictures are SVG, or PNG of twice the resolution where SVG is heavy, on a transparent
ground, in a grey that can be read on white and on black."""

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
NBS = ROOT / "nbs"
FIXED = dict(
    MPLBACKEND="agg",
    NUMBA_NUM_THREADS="1",
    OPENBLAS_NUM_THREADS="1",
    OMP_NUM_THREADS="1",
    PYTHONHASHSEED="0",
    SOURCE_DATE_EPOCH="0",  # which SVG files would say
)
HEAVY = 120_000  # characters of an SVG: a larger picture is kept as PNG
INK = "#757575"
STYLE = {
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "savefig.facecolor": "none",
    "legend.framealpha": 0.0,
    "svg.hashsalt": "kpw",  # the same picture is the same text
} | {f"{what}.color": INK for what in ("text", "xtick", "ytick")}
STYLE |= {"axes.edgecolor": INK, "axes.labelcolor": INK, "legend.edgecolor": INK}


def notebooks(names=()):
    "All notebooks, or the named ones (`theory/09_descent`, `tutorials/images`)"
    found = {
        p.relative_to(NBS).with_suffix("").as_posix(): p
        for p in sorted(NBS.rglob("*.ipynb"))
        if not any(part.startswith((".", "_")) for part in p.relative_to(NBS).parts)
    }
    names = [n.removeprefix("nbs/").removesuffix(".ipynb") for n in names]
    if unknown := [n for n in names if n not in found]:
        sys.exit(f"No notebook {', '.join(unknown)}; there are: {', '.join(found)}")
    return [found[n] for n in names or found]


def keep_one_picture(out):
    "Of a picture in two formats the lighter one"
    data = out.get("data", {})
    if {"image/svg+xml", "image/png"} <= data.keys():
        heavy = len("".join(data["image/svg+xml"])) > HEAVY
        del data["image/svg+xml" if heavy else "image/png"]


def execute(path, slow):
    "Run one notebook in this process and write it back"
    from execnb.nbio import read_nb, write_nb
    from execnb.shell import CaptureShell
    from matplotlib import rcParams
    from nbdev.clean import clean_nb
    from nbdev.process import extract_directives

    def skip(cell):
        if cell.cell_type != "code":
            return True
        flags = extract_directives(cell, remove=False)
        if flags.get("eval:", [""])[0].lower() == "false" or (
            "slow" in flags and not slow
        ):
            return True
        cell.outputs = []  # execnb replaces outputs only where there are new ones
        return False

    nb = read_nb(path)
    os.chdir(path.parent)
    sys.path.insert(0, str(ROOT))
    shell = CaptureShell(path.parent, mpl_format="svg', 'retina")
    rcParams.update(STYLE)
    try:
        shell.run_all(nb, exc_stop=True, preproc=skip)
    except BaseException as error:
        # a stopped cell (KeyboardInterrupt) leaves no exception in the shell
        sys.exit(
            shell.prettytb(path.relative_to(ROOT))
            if shell.exc
            else f"{path.name}: {type(error).__name__}"
        )
    for out in (out for cell in nb.cells for out in cell.get("outputs", [])):
        keep_one_picture(out)
    clean_nb(nb)
    write_nb(nb, path)


def main():
    args = argparse.ArgumentParser(description=__doc__)
    args.add_argument("names", nargs="*", help="notebooks to run (default: all)")
    args.add_argument("--slow", action="store_true", help="run cells flagged slow, too")
    # in this process, not in a new one
    args.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    args = args.parse_args()
    for path in notebooks(args.names):
        if args.here:
            execute(path, args.slow)
            continue
        start = time.perf_counter()
        name = path.relative_to(NBS).as_posix()
        command = [sys.executable, __file__, "--here", name] + ["--slow"] * args.slow
        if code := subprocess.run(command, env=os.environ | FIXED).returncode:
            sys.exit(code)
        print(f"{name:<40} {time.perf_counter() - start:6.1f} s", flush=True)


if __name__ == "__main__":
    main()
