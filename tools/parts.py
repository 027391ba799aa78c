"""The map of the package, docs/_static/parts.svg: its six parts from left to right,
each with its question and its notebooks, as nbs/sidebar.yml lists them.
`tools/readme.py` writes it. Every text stands on a box of its own, so the map reads
on white and on black."""

from html import escape
from textwrap import wrap

from execute import NBS
from package import PARTS, sections

MAP = "docs/_static/parts.svg"
WIDTH, GAP, LINE = 148, 18, 19  # of a box, between boxes, from one line to the next
HEAD = 30 + 4 * LINE  # name and question
STYLE = """
text { font-family: system-ui, -apple-system, "Segoe UI", Roboto, sans-serif }
.box { fill: #eef4f9; stroke: #0072b2; stroke-width: 1.5 }
.bar { fill: #0072b2 }
.name { fill: #ffffff; font-size: 17px; font-weight: 600 }
.question { fill: #1d3b53; font-size: 13.5px; font-style: italic }
.notebook { fill: #1d2b36; font-size: 14px }
.arrow { fill: none; stroke: #8a8f98; stroke-width: 2.5; stroke-linecap: round }
"""


def exports(name):
    "Does this notebook make a module? The map shows no others"
    return "#| default_exp " in (NBS / name).read_text(encoding="utf-8")


def parts():
    "{part: (question, notebooks by number)} of the sections that have a question"
    found = {}
    for section in sections():
        part, _, question = section["section"].lower().partition(": ")
        if question:
            own = sorted(n for n in section["contents"] if n.startswith(f"{part}/"))
            stems = [n[:-6].partition("_")[2] for n in own if exports(n)]
            found[part] = question, stems
    return {part: found[part] for part in PARTS}


def text(kind, x, y, words):
    return f'<text class="{kind}" x="{x}" y="{y}">{escape(words)}</text>'


def column(x, height, part, question, notebooks):
    "One part: a box with a bar for its name"
    yield f'<rect class="box" x="{x}" y="1" width="{WIDTH}" height="{height}" rx="6"/>'
    bar = f"M{x} 31V7a6 6 0 0 1 6-6h{WIDTH - 12}a6 6 0 0 1 6 6v24z"  # round above
    yield f'<path class="bar" d="{bar}"/>'
    yield text("name", x + 12, 22, part)
    for k, line in enumerate(wrap(question, 17)):
        yield text("question", x + 12, 52 + k * LINE, line)
    for k, name in enumerate(notebooks):
        yield text("notebook", x + 12, HEAD + 16 + k * LINE, name)


def described(found):
    "The map in words, for somebody who cannot see it"
    columns = [f"{part} ({', '.join(names)})" for part, (_, names) in found.items()]
    return "Six parts from left to right: " + "; ".join(columns) + "."


def drawn():
    "The map as SVG"
    found = parts()
    height = HEAD + LINE * max(len(names) for _, names in found.values()) + 10
    lines = []
    for k, (part, (question, names)) in enumerate(found.items()):
        x = 1 + k * (WIDTH + GAP)
        lines += column(x, height, part, question, names)
        if k > 0:  # an arrow from the box before
            lines.append(
                f'<path class="arrow" d="M{x - GAP + 3} 16h11m-5-5l5 5l-5 5"/>'
            )
    size = len(found) * (WIDTH + GAP) - GAP + 2, height + 2
    box = f'viewBox="0 0 {size[0]} {size[1]}" width="{size[0]}" height="{size[1]}"'
    opening = f'<svg xmlns="http://www.w3.org/2000/svg" {box} role="img">'
    title = f"<title>{escape(described(found))}</title>"
    return "\n".join([opening, title, f"<style>{STYLE}</style>", *lines, "</svg>", ""])
