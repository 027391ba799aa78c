"""What `make wheel` builds can be installed into an empty environment and does its job
there; and the workflows that a host would run call what exists."""

import os
import re
import shutil
import subprocess
import sys
import tarfile
import venv
import zipfile
from configparser import ConfigParser
from pathlib import Path

import pytest
import yaml
from execute import ROOT
from test_project import tracked

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def settings():
    ini = ConfigParser(delimiters=["="])
    ini.read(ROOT / "settings.ini", encoding="utf-8")
    return ini["DEFAULT"]


def run(*command, cwd, **env):
    "What a command prints, without a way to the clone"
    clean = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    done = subprocess.run(
        list(map(str, command)),
        cwd=cwd,
        env=clean | env,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    "The folder with both archives, built as `make wheel` does from a copy of the clone"
    clone, dist = (tmp_path_factory.mktemp(name) for name in ("clone", "dist"))
    for path in tracked():
        target = clone / path.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, target)
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", dist, cwd=clone)
    return dist


@pytest.fixture(scope="module")
def empty(built, tmp_path_factory):
    """The commands of a new environment in which the wheel was installed. What it
    needs is that of the running one, further back on the path: nothing is fetched."""
    home = tmp_path_factory.mktemp("empty")
    venv.create(home, with_pip=False, symlinks=os.name != "nt")
    python = home / "bin" / "python"
    place = run(python, "-c", "import site; print(*site.getsitepackages())", cwd=home)
    theirs = [p for p in sys.path if p.endswith(("site-packages", "dist-packages"))]
    Path(place.strip(), "dependencies.pth").write_text("\n".join(theirs))
    (wheel,) = built.glob("*.whl")
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet"]
    run(*pip, "--no-deps", "--no-index", "--force-reinstall", wheel, cwd=home)
    return home / "bin"


def names(built):
    "The files of the wheel"
    (wheel,) = built.glob("*.whl")
    return zipfile.ZipFile(wheel).namelist()


def test_the_wheel_has_the_package_whole_and_nothing_else(built):
    found = names(built)
    package = [p.relative_to(ROOT).as_posix() for p in tracked()]
    wanted = {p for p in package if p.startswith("kpw_nb/")}
    info = f"kpw_nb-{settings()['version']}.dist-info/"
    assert {"kpw_nb/py.typed", "kpw_nb/show/templates/report.html.j2"} <= wanted
    assert {p for p in found if not p.startswith(info)} == wanted
    assert any(p.startswith(info) and p.endswith("LICENSE") for p in found)


def test_the_source_archive_has_what_setup_reads(built):
    (archive,) = built.glob("*.tar.gz")
    with tarfile.open(archive) as tar:
        found = {p.partition("/")[2] for p in tar.getnames()}
    assert {"settings.ini", "setup.py", "CITATION.cff", "LICENSE"} <= found
    assert not [p for p in found if p.startswith(("tests", "nbs", "docs"))]


def test_twine_has_no_complaint(built):
    files = sorted(built.iterdir())
    assert len(files) == 2
    run(sys.executable, "-m", "twine", "check", "--strict", *files, cwd=built)


SMOKE = """
import numpy as np
import kpw_nb
from kpw_nb import kpw_test
g = np.random.default_rng(0)
X, Y = g.normal(size=(30, 2)), g.normal(size=(30, 2)) + 2
result = kpw_test(X, Y, n_resamples=99, rng=0)
result.report("answer.html")
print(kpw_nb.__file__, kpw_nb.__version__, result.pvalue, sep="\\n")
"""


def test_the_library_works_where_it_was_installed(empty, tmp_path):
    file, version, pvalue = run(
        empty / "python", "-c", SMOKE, cwd=tmp_path
    ).splitlines()
    assert Path(file).is_relative_to(empty.parent)
    assert version == settings()["version"]
    assert float(pvalue) == 0.01
    assert "<html" in (tmp_path / "answer.html").read_text(encoding="utf-8")


def test_the_command_works_where_it_was_installed(empty, tmp_path):
    assert run(empty / "kpw-nb", "--version", cwd=tmp_path).split() == [
        "kpw_nb",
        settings()["version"],
    ]
    for name, shift in (("before", 0), ("after", 20)):
        rows = [f"{k % 7 + shift},{k * k % 11}" for k in range(30)]
        (tmp_path / f"{name}.csv").write_text("\n".join(["mass,width", *rows]))
    said = run(empty / "kpw-nb", "test", "before.csv", "after.csv", cwd=tmp_path)
    assert "The two samples differ, most of all in mass" in said


def each_step(path):
    "(job, step) of each step of a workflow"
    for name, job in yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"].items():
        for step in job["steps"]:
            yield name, step


def test_there_is_a_workflow_for_tests_site_and_release():
    assert [p.stem for p in WORKFLOWS] == ["release", "site", "test"]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda p: p.stem)
def test_a_workflow_calls_what_exists(path):
    "Targets of the Makefile, and the files that it caches by"
    listed = re.search(r"^\.PHONY: (.*)$", (ROOT / "Makefile").read_text(), re.M)
    called = []
    for _, step in each_step(path):
        called += re.findall(r"^make ([\w-]+)", step.get("run", ""), re.M)
        for file in step.get("with", {}).get("cache-dependency-path", "").split():
            assert (ROOT / file).is_file()
    assert called and set(called) <= set(listed[1].split())


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda p: p.stem)
def test_a_workflow_may_do_no_more_than_it_must(path):
    "It reads, unless a job that runs no code of ours says so; actions are pinned"
    flow = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert flow["permissions"] == {"contents": "read"}
    assert set(flow["concurrency"]) == {"group", "cancel-in-progress"}
    for name, job in flow["jobs"].items():
        writes = "write" in job.get("permissions", {}).values()
        assert not (writes and any("run" in step for step in job["steps"])), name
        assert job["timeout-minutes"] <= 120
    uses = [step["uses"] for _, step in each_step(path) if "uses" in step]
    assert all(re.fullmatch(r"[\w/-]+@(v\d+|release/v\d+)", use) for use in uses), uses


def test_the_makefile_lists_its_targets():
    text = (ROOT / "Makefile").read_text()
    listed = re.search(r"^\.PHONY: (.*)$", text, re.M)[1].split()
    explained = re.findall(r"^([a-z-]+):.*## ", text, re.M)
    assert "wheel" in listed and sorted(listed) == sorted(explained)
