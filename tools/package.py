"""The package as it lies on disk: its parts, in the order in which they may import each
other, and its modules."""

from execute import ROOT

LIB = "kpw_nb"
PARTS = ("ground", "theory", "compare", "watch", "study", "show")


def modules():
    "`part.module` of every module that a notebook makes"
    files = ((part, p.stem) for part in PARTS for p in (ROOT / LIB / part).glob("*.py"))
    return sorted(f"{part}.{stem}" for part, stem in files if not stem.startswith("_"))
