"""The package as it lies on disk: its parts, in the order in which they may import each
other, its modules, and the sections of its site."""

import yaml
from execute import NBS, ROOT

LIB = "kpw_nb"
PARTS = ("ground", "theory", "compare", "watch", "study", "show")


def modules():
    "`part.module` of every module that a notebook makes"
    files = ((part, p.stem) for part in PARTS for p in (ROOT / LIB / part).glob("*.py"))
    return sorted(f"{part}.{stem}" for part, stem in files if not stem.startswith("_"))


def sections():
    "The sections of nbs/sidebar.yml, in its order"
    site = yaml.safe_load((NBS / "sidebar.yml").read_text(encoding="utf-8"))
    return site["website"]["sidebar"]["contents"]
