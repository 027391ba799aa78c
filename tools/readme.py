"""README.md from nbs/index.ipynb: `python tools/readme.py` writes it.

GitHub shows no picture that is not a file, and no binary file is kept in git: a figure
becomes one line that links to the notebook."""

import json
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
HOME = "nbs/index.ipynb"
PICTURE = f"*The picture is in [{HOME}]({HOME}).*"


def directives(source):
    "`#| echo: false` -> {'echo': 'false'}, `#| hide` -> {'hide': ''}"
    return dict(re.findall(r"^#\|\s*([\w-]+):?[ \t]*(.*?)\s*$", source, re.M))


def relocate(text):
    "Links relative to nbs/ as links relative to the root"

    def fix(m):
        if re.match(r"[a-z]+:|#|/", m[2]):
            return m[0]
        return f"{m[1]}({m[2][3:] if m[2].startswith('../') else 'nbs/' + m[2]})"

    return re.sub(r"(\[[^\]]*\])\(([^)\s]+)\)", fix, text)


def output(out):
    "One output as Markdown, or None if GitHub has nothing to show"
    data = out.get("data", {})
    if any(kind.startswith("image/") for kind in data):
        return PICTURE
    if "text/markdown" in data:
        return relocate("".join(data["text/markdown"]).strip())
    if out.get("name") == "stderr":
        return None
    text = "".join(out.get("text") or data.get("text/plain") or "").rstrip()
    return f"```text\n{text}\n```" if text else None


def readme():
    "The text of README.md"
    parts = [
        "<!-- Made from nbs/index.ipynb by tools/readme.py: edit the notebook. -->"
    ]
    for cell in json.loads((ROOT / HOME).read_text(encoding="utf-8"))["cells"]:
        source = "".join(cell["source"]).strip()
        if cell["cell_type"] == "markdown":
            parts.append(relocate(source))
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
            parts.append(f"```python\n{code}\n```")
        if flags.get("output") != "false":
            parts += map(output, cell["outputs"])
    return "\n\n".join(filter(None, parts)) + "\n"


if __name__ == "__main__":
    (ROOT / "README.md").write_text(readme(), encoding="utf-8")
