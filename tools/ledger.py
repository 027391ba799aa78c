"""The ledger: what the paper states, where the notebooks prove and check it, and where
its printed text does not hold.

`docs/ledger.yml` lists the statements. The notebooks say the rest beside their cells,
in lines at the top: `<!-- ledger: ... -->` in Markdown and `#| ledger: ...` in code.

    proof ITEM [STATUS]           the cell proves the item, or a part of it
    states ITEM [STATUS]          it says what the item says: a definition, a citation
    erratum E1 GRADE "place in the paper" [of=ITEM,ITEM]   the cell is the erratum
    repeats E1                    it says the same again
    check ITEM [slack] [why=".."] the code checks the item, and may print its slack
    shows E1                      the printed form fails there, the corrected one holds

A slack is what `core.ledger_slack` printed into the committed output. From 10 on, the
directive says why. A figure or table of the paper is a measurement: its status is
`agrees`, `differs` or `ambiguous`, and a cell prints `ledger ITEM: difference ...`."""

import posixpath
import shlex
from dataclasses import dataclass
from pathlib import Path

import yaml
from readme import relocate

LIST = Path(__file__).resolve().parents[1] / "docs" / "ledger.yml"
MARKS = {"code": ("#| ledger:", ""), "markdown": ("<!-- ledger:", "-->")}
VERBS = {
    "code": {"check", "shows"},
    "markdown": {"proof", "states", "erratum", "repeats"},
}
OPTIONS = {"check": {"why"}, "erratum": {"of"}}
STATUS = ("as-printed", "repaired", "ambiguous", "agrees", "differs")
GRADES = ("slip", "gap", "wrong", "ambiguity")
MOST_SLACK = 10


@dataclass
class Entry:
    "One directive: what it says, and the cell that it stands in"

    verb: str
    name: str  # of an item or an erratum
    words: tuple
    options: dict
    notebook: str = ""
    cell: str = ""
    text: str = ""  # of the cell, without its directives; links are from the root
    slack: float | None = None
    title: str = ""  # of the notebook, in short
    difference: str = ""  # of a figure or table from ours, as the cell printed it

    @property
    def label(self):
        "The anchor of the cell on its page"
        return label(self.notebook, self.cell)

    @property
    def items(self):
        "What an erratum is about"
        return [name for name in self.options.get("of", "").split(",") if name]


def label(notebook, cell):
    stem = f"ledger-{notebook.removesuffix('.ipynb')}-{cell}"
    return stem.replace("/", "-").replace("_", "-").lower()


def parse(text, kind):
    "The entry of one directive in a cell of this kind; ValueError if it says nothing"
    parts = shlex.split(text)
    (verb, name), rest = (parts + ["", ""])[:2], parts[2:]
    known = OPTIONS.get(verb, set())
    options = dict(w.split("=", 1) for w in rest if w.split("=", 1)[0] in known)
    words = tuple(w for w in rest if w.split("=", 1)[0] not in known)
    allowed = {
        "check": words in ((), ("slack",)),
        "proof": len(words) == 0 or (len(words) == 1 and words[0] in STATUS),
        "erratum": len(words) == 2 and words[0] in GRADES and name[1:].isdigit(),
    }
    allowed["states"] = allowed["proof"]
    if verb not in VERBS[kind] or not name or not allowed.get(verb, not words):
        raise ValueError(f"{text.strip()!r} is no directive of a {kind} cell")
    return Entry(verb, name, words, options)


def printed_slack(cell, name):
    "The least slack of an item in the output of a cell; None if there is none"
    start, found = f"ledger {name}: slack ", []
    for out in cell.get("outputs", []):
        for line in "".join(out.get("text", "")).splitlines():
            if line.startswith(start):
                found.append(float(line.removeprefix(start)))
    return min(found, default=None)


def printed_difference(cell, name):
    "What the output of a cell says of a figure or table; lines are joined"
    start, found = f"ledger {name}: difference ", []
    for out in cell.get("outputs", []):
        for line in "".join(out.get("text", "")).splitlines():
            if line.startswith(start):
                found.append(line.removeprefix(start))
    return "; ".join(found)


def short_title(nb):
    "`# The dual: from a plan to two potentials` -> `The dual`"
    lines = "".join(nb["cells"][0]["source"]).splitlines()
    heading = next((line for line in lines if line.startswith("# ")), "")
    return heading.removeprefix("# ").partition(":")[0]


def take(nb, notebook):
    "The entries of a notebook, whose cells lose their directives"
    entries = []
    for cell in nb["cells"]:
        start, end = MARKS.get(cell["cell_type"], ("", ""))
        lines = "".join(cell["source"]).splitlines(keepends=True)
        marked = [line for line in lines if start and line.startswith(start)]
        if not marked:
            continue
        cell["source"] = "".join(line for line in lines if line not in marked)
        for line in marked:
            said = line.strip().removeprefix(start).removesuffix(end)
            try:
                entry = parse(said, cell["cell_type"])
            except ValueError as error:
                raise ValueError(f"{notebook}, cell {cell['id']}: {error}") from None
            entry.notebook, entry.title = notebook, short_title(nb)
            entry.cell = cell["id"]
            entry.text = relocate(cell["source"], posixpath.dirname(notebook))
            entry.slack = printed_slack(cell, entry.name)
            entry.difference = printed_difference(cell, entry.name)
            entries.append(entry)
    return entries


def places(entries):
    "Links to the cells of these entries; after the first of a notebook by number"
    found = {}
    for e in entries:
        found.setdefault(e.title or e.notebook, {})[e.label] = None
    links = [
        f"[{title if count == 1 else count}](#{label})"
        for title, labels in found.items()
        for count, label in enumerate(labels, 1)
    ]
    return " ".join(links)


def statements():
    "{section: {id: statement}} of the paper"
    return yaml.safe_load(LIST.read_text(encoding="utf-8"))


def errata(entries):
    "The errata in the order of their numbers, which is the paper's"
    found = [e for e in entries if e.verb == "erratum"]
    return sorted(found, key=lambda e: int(e.name.removeprefix("E")))


def status(entries, name):
    "The set of what the cells that prove or state an item say about it"
    return {
        word
        for e in entries
        if e.name == name and e.verb in ("proof", "states")
        for word in e.words
    }


def problems(sections, entries):
    "What the ledger lacks, in words; nothing if it is whole"
    items = {name: item for part in sections.values() for name, item in part.items()}
    numbers = [e.name for e in errata(entries)]
    found = []
    if numbers != [f"E{k}" for k in range(1, len(numbers) + 1)]:
        found.append(f"errata are not E1, E2, ..., each once: {numbers}")
    for e in entries:
        known = numbers if e.verb in ("erratum", "repeats", "shows") else items
        found += [
            f"{e.notebook}, cell {e.cell}: unknown {name}"
            for name in [e.name, *e.items]
            if name not in (known if name == e.name else items)
        ]
    shown = {e.name for e in entries if e.verb == "shows"}
    found += [f"{n}: no cell shows it" for n in numbers if n not in shown]
    for name, item in items.items():
        found += [f"{name}: {what}" for what in lacking(name, item, entries)]
    return found


def lacking(name, item, entries):
    "What is missing about one statement"
    mine = [e for e in entries if e.name == name]
    verbs, said = {e.verb for e in mine}, status(entries, name)
    if "proof" not in verbs and not (item.get("unproved") and "states" in verbs):
        yield "no proof, and no reason why"
    if len(said) != 1:
        yield f"one status is wanted, not {sorted(said)}"
    if said & {"agrees", "differs"} and "printed" not in item:
        yield "only a figure or table agrees or differs"
    about = [e for e in errata(entries) if name in e.items]
    if said == {"as-printed"} and any(e.words[0] in ("gap", "wrong") for e in about):
        yield "it is not as printed: it has an erratum"
    checks = [e for e in mine if e.verb == "check"]
    if not checks:
        yield "no cell checks it"
    if "printed" in item and not any(e.difference for e in checks):
        yield "its difference is missing"
    lost = {"printed", "ours", "reason"} - item.keys()
    if "printed" in item and lost:
        yield f"it lacks {', '.join(sorted(lost))}"
    measured = [e for e in checks if "slack" in e.words]
    if any(e.slack is None for e in measured) or (item.get("bound") and not measured):
        yield "its slack is missing"
        return
    least = min((e.slack for e in measured), default=1)
    if least >= MOST_SLACK and not any("why" in e.options for e in measured):
        yield f"a slack of {least}, and no reason why"
