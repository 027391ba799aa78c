"""What is committed belongs together: notebooks, package, README and sidebar say the
same, and nothing of one machine is in them."""

import ast
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from execute import NBS, ROOT, notebooks
from package import PARTS, modules, sections
from parts import MAP, drawn, parts
from readme import PICTURE, directives, picture, readme

EACH = pytest.mark.parametrize(
    "path", notebooks(), ids=lambda p: p.relative_to(NBS).with_suffix("").as_posix()
)


def tool(name, *args, cwd=ROOT):
    "Run a command of this environment; its output if it fails"
    run = subprocess.run(
        [Path(sys.executable).with_name(name), *args],
        cwd=cwd,
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stdout + run.stderr


def code_cells(path):
    "(number, source, outputs) of each code cell"
    for i, cell in enumerate(json.loads(path.read_text(encoding="utf-8"))["cells"]):
        if cell["cell_type"] == "code":
            yield i, "".join(cell["source"]), cell["outputs"]


def texts(folder, pattern):
    "{relative path: text} of the files below a folder"
    return {
        p.relative_to(folder).as_posix(): p.read_text(encoding="utf-8")
        for p in sorted(folder.rglob(pattern))
        if "__pycache__" not in p.parts and ".ipynb_checkpoints" not in p.parts
    }


def tracked():
    """Every text file that git has or would add (or, without git, every file outside
    hidden and built folders)"""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    git = (
        subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
        if shutil.which("git")
        else None
    )
    if git and git.returncode == 0:
        names = filter(None, git.stdout.split("\0"))
    else:
        built = re.compile(
            r"\.venv|\.git|__pycache__|.*\.egg-info|\..*_cache|_site|_nb|build|dist|\.hypothesis"
        )
        names = (
            p.relative_to(ROOT)
            for p in ROOT.rglob("*")
            if not any(map(built.fullmatch, p.relative_to(ROOT).parts))
        )
    return [ROOT / n for n in names if (ROOT / n).is_file()]


# what stands at a fixed address is written by hand, all else is exported
BY_HAND = "__init__.py", "__main__.py", "data.py"


@pytest.fixture
def copy(tmp_path):
    "A copy of what nbdev reads and writes"
    for name in ("nbs", "kpw_nb"):
        shutil.copytree(
            ROOT / name,
            tmp_path / name,
            ignore=shutil.ignore_patterns("__pycache__", ".ipynb_checkpoints"),
        )
    for name in ("settings.ini", "pyproject.toml", "setup.py"):
        shutil.copy(ROOT / name, tmp_path)
    return tmp_path


def test_export_changes_nothing(copy):
    for p in (copy / "kpw_nb").rglob("*.py"):
        if p.name not in BY_HAND:
            p.unlink()  # so that a module whose notebook is gone is noticed
    tool("nbdev_export", cwd=copy)
    assert texts(copy / "kpw_nb", "*.py") == texts(ROOT / "kpw_nb", "*.py"), (
        "Notebooks and package differ: run make export."
    )
    assert (copy / "pyproject.toml").read_text() == (
        ROOT / "pyproject.toml"
    ).read_text()


def test_clean_changes_nothing(copy):
    tool("nbdev_clean", cwd=copy)
    before, after = texts(ROOT / "nbs", "*.ipynb"), texts(copy / "nbs", "*.ipynb")
    dirty = [name for name in before if before[name] != after[name]]
    assert not dirty, f"Run make export: it cleans {dirty}"


def test_readme_is_the_index_notebook():
    assert (ROOT / "README.md").read_text(encoding="utf-8") == readme(), (
        "Run make export."
    )
    assert (ROOT / PICTURE).read_text(encoding="utf-8") == picture()


def test_the_map_shows_every_part():
    "It is drawn from the sidebar, and the README has its parts in the same order"
    assert (ROOT / MAP).read_text(encoding="utf-8") == drawn(), "Run make export."
    assert tuple(parts()) == PARTS
    shown = readme()
    assert MAP in shown
    assert tuple(re.findall(r"^\| `(\w+)` \|", shown, re.M)) == PARTS
    modules_drawn = [
        f"{p}.{name}" for p, (_, names) in parts().items() for name in names
    ]
    assert sorted(modules_drawn) == modules()


@pytest.mark.parametrize("part", PARTS)
def test_a_part_is_a_section_of_the_sidebar(part):
    "Its notebooks are in its section, by number; a guide may open it"
    (section,) = [s for s in sections() if s["section"].lower().startswith(f"{part}:")]
    own = [name for name in section["contents"] if not name.startswith("tutorials/")]
    assert own == sorted(
        p.relative_to(NBS).as_posix() for p in (NBS / part).glob("*.ipynb")
    )


def test_sidebar_lists_every_notebook_once():
    listed = [name for section in sections() for name in section["contents"]]
    books = [name for name in listed if name.endswith(".ipynb")]
    assert sorted(books) == sorted(p.relative_to(NBS).as_posix() for p in notebooks())
    assert len(set(listed)) == len(listed)


def test_docs_code_is_small():
    "Sphinx does the work; ours is short, and no pattern decides what a page says"
    code = texts(ROOT / "docs", "*.py").values()
    assert sum(len(text.splitlines()) for text in code) <= 450
    assert not any("import re\n" in text for text in code)


def test_no_machine_paths():
    # The look-behind skips the base64 text of pictures and the middles of longer paths
    local = re.compile(
        r"(?<![\w.+/])(?:/(?:home|Users|root|work|tmp|mnt|opt|var)/\w|file:/{3}|[A-Z]:\\\\?Users)"
    )
    found = []
    for p in tracked():
        try:
            text = p.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            pytest.fail(f"{p.relative_to(ROOT)} is binary: keep it out of git")
        found += [
            f"{p.relative_to(ROOT)}: {text[m.start() : m.start() + 60]!r}"
            for m in local.finditer(text)
        ]
    assert not found, "\n".join(found)


def test_only_core_sets_the_numba_cache():
    # numba's own cache runs stale code (ground/01_core, "Kernels that are compiled
    # once"): one decorator may use it
    option = re.compile(r"cache\s*=\s*" + "True")
    found = [
        f"{p.name}, cell {i}"
        for p in notebooks()
        if p.stem != "01_core"
        for i, source, _ in code_cells(p)
        if option.search(source)
    ]
    found += [
        name
        for folder in ("tests", "tools", "docs")
        for name, text in texts(ROOT / folder, "*.py").items()
        if option.search(text)
    ]
    assert not found, f"Use kpw_nb.ground.core.kernel instead in {found}"


@EACH
def test_notebook_is_readable(path):
    """Small cells, small file, outputs where the code shows something, no errors
    among them"""
    assert path.stat().st_size < 3e6, "larger than 3 MB: draw smaller figures"
    cells, shown = list(code_cells(path)), 0
    for i, source, outputs in cells:
        flags, where = directives(source), f"cell {i}:\n{source[:200]}"
        shown += len(outputs)
        assert not any(o["output_type"] == "error" for o in outputs), where
        if flags.get("eval") == "false" or re.search(r"^[%!]", source, re.M):
            continue
        calls = [
            s.value
            for s in ast.parse(source).body
            if isinstance(s, ast.Expr) and isinstance(s.value, ast.Call)
        ]
        talks = any(
            ast.unparse(c.func) in ("print", "display", "plt.show") for c in calls
        )
        assert outputs or not talks, (
            f"no output committed for {where}\nRun make notebooks."
        )
        prints = any(ast.unparse(c.func) == "print" for c in calls)
        assert not prints or any(o["output_type"] == "stream" for o in outputs), (
            f"printed text is lost if a cell ends in a semicolon: {where}"
        )
    assert shown or not cells, "a notebook without any output: run make notebooks"


def pictures(outputs):
    "Of a cell: how many pictures it shows, also those in place of a widget"
    return sum(
        any(kind.startswith("image/") for kind in output.get("data", {}))
        for output in outputs
    )


@EACH
def test_pictures_are_told_in_words(path):
    "Who cannot see a picture reads what it shows, and no two pictures show the same"
    told, silent = [], []
    for i, source, outputs in code_cells(path):
        if pictures(outputs):
            words = directives(source).get("fig-alt", "").strip("\"' ")
            told.append(words)
            if len(words) < 30:
                silent.append(f"cell {i}: {words!r}")
    assert not silent, "pictures want #| fig-alt: " + ", ".join(silent)
    twice = sorted({words for words in told if told.count(words) > 1})
    assert not twice, f"one text for several pictures: {twice}"


def heads(path):
    "(level, text) of every heading, and the cell that opens the notebook"
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    found = []
    for cell in cells:
        if cell["cell_type"] == "markdown":
            text = re.sub(r"```.*?```", "", "".join(cell["source"]), flags=re.S)
            found += re.findall(r"^(#{1,6})[ \t]+(.+)$", text, re.M)
    return [(len(marks), text) for marks, text in found], "".join(cells[0]["source"])


@EACH
def test_notebook_opens_with_title_and_promise(path):
    "One title, then one line that a search engine can show; no level is left out"
    found, opening = heads(path)
    levels = [level for level, _ in found]
    assert levels.count(1) == 1 and levels[0] == 1, found
    jumps = [b for a, b in zip(found, found[1:]) if b[0] > a[0] + 1]
    assert not jumps, f"headings that leave out a level: {jumps}"
    promise = re.match(r"# .+\n+> (.+)", opening)
    assert promise, f"no '> promise' below the title: {opening[:80]!r}"
    assert 40 <= len(promise[1]) <= 200, (len(promise[1]), promise[1])
