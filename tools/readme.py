"""README.md from nbs/index.ipynb: `python tools/readme.py` writes it, and its pictures.

GitHub shows no picture that is not a file: the one figure of the notebook, an SVG,
is written beside it, and so is the map of the six parts."""

import json
import posixpath
import re
from pathlib import Path

import parts

ROOT = Path(__file__).resolve().parents[1]
HOME = "nbs/index.ipynb"
PICTURE = "docs/_static/answer.svg"


def directives(source):
    "`#| echo: false` -> {'echo': 'false'}, `#| hide` -> {'hide': ''}"
    return dict(re.findall(r"^#\|\s*([\w-]+):?[ \t]*(.*?)\s*$", source, re.M))


def relocate(text, folder="nbs"):
    "Links relative to a folder as links relative to the root"

    def fix(m):
        if re.match(r"[a-z]+:|#|/", m[2]):
            return m[0]
        return f"{m[1]}({posixpath.normpath(posixpath.join(folder, m[2]))})"

    return re.sub(r"(\[[^\]]*\])\(([^)\s]+)\)", fix, text)


def output(out, alt):
    "One output as Markdown, or None if GitHub has nothing to show"
    data = out.get("data", {})
    if "image/svg+xml" in data:
        return f"![{alt}]({PICTURE})"
    if "text/markdown" in data:
        return relocate("".join(data["text/markdown"]).strip())
    if out.get("name") == "stderr":
        return None
    text = "".join(out.get("text") or data.get("text/plain") or "").rstrip()
    return f"```text\n{text}\n```" if text else None


def readme():
    "The text of README.md"
    pieces = [
        "<!-- Made from nbs/index.ipynb by tools/readme.py: edit the notebook. -->"
    ]
    for cell in json.loads((ROOT / HOME).read_text(encoding="utf-8"))["cells"]:
        source = "".join(cell["source"]).strip()
        if cell["cell_type"] == "markdown":
            pieces.append(relocate(source))
        if cell["cell_type"] != "code":
            continue
        flags = directives(source)
        if flags.keys() & {"hide", "default_exp"} or flags.get("include") == "false":
            continue
        code = "\n".join(
            line
            for line in source.splitlines()
            if not re.match(r"#\||.*#\|\s*hide_line\s*$", line)
        ).strip()
        if code and flags.get("echo") != "false":
            pieces.append(f"```python\n{code}\n```")
        if flags.get("output") != "false":
            alt = flags.get("fig-alt", "")
            pieces += [output(out, alt) for out in cell["outputs"]]
    return "\n\n".join(filter(None, pieces)) + "\n"


def picture():
    "The figure of the notebook, as SVG"
    cells = json.loads((ROOT / HOME).read_text(encoding="utf-8"))["cells"]
    shown = [o.get("data", {}) for c in cells for o in c.get("outputs", [])]
    (svg,) = [data["image/svg+xml"] for data in shown if "image/svg+xml" in data]
    return "".join(svg)


if __name__ == "__main__":
    (ROOT / PICTURE).write_text(picture(), encoding="utf-8")
    (ROOT / parts.MAP).write_text(parts.drawn(), encoding="utf-8")
    (ROOT / "README.md").write_text(readme(), encoding="utf-8")
