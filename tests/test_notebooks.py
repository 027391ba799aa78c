"""Every notebook runs from top to bottom, each in its own process, by nbdev's own
rules (`tst_flags`, `#| eval: false`)."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from execute import NBS, ROOT, notebooks


@pytest.fixture(scope="session")
def server():
    "A process with everything imported, whose forks run notebooks"
    script = Path(__file__).with_name("notebook_server.py")
    path = os.pathsep.join([str(ROOT / "tools"), os.environ.get("PYTHONPATH", "")])
    with subprocess.Popen(
        [sys.executable, script],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        bufsize=1,
        env=os.environ | dict(PYTHONPATH=path),
    ) as process:
        yield process
        process.stdin.close()


@pytest.fixture
def run(server, request, tmp_path, record_property):
    "Run a notebook: its exit code, and what it wrote"

    def run(path):
        flags = "slow" if request.config.getoption("--slow") else ""
        log = tmp_path / "log"
        print(json.dumps([str(path), flags, str(log)]), file=server.stdin)
        code, seconds = json.loads(server.stdout.readline())
        record_property("cpu", seconds)
        return code, log.read_text(encoding="utf-8", errors="replace")

    return run


@pytest.mark.parametrize(
    "path", notebooks(), ids=lambda p: p.relative_to(NBS).with_suffix("").as_posix()
)
def test_notebook(path, run):
    code, out = run(path)
    # "Success." guards against a path nbdev finds nothing at: that, too, ends with code
    # 0
    assert code == 0 and "Success." in out, out[-8000:]


@pytest.mark.parametrize("line", ["assert False, 'seen'", "import os; os.abort()"])
def test_a_notebook_that_fails(run, tmp_path, line):
    path = tmp_path / "fails.ipynb"
    cell = dict(cell_type="code", id="a", metadata={}, source=line, outputs=[])
    spec = dict(name="python3", display_name="python3", language="python")
    nb = dict(
        cells=[cell], metadata=dict(kernelspec=spec), nbformat=4, nbformat_minor=5
    )
    path.write_text(json.dumps(nb), encoding="utf-8")
    code, out = run(path)
    assert code != 0 and "Success." not in out
    assert "seen" in out or "abort" in line
