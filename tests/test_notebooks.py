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


@pytest.mark.parametrize(
    "path", notebooks(), ids=lambda p: p.relative_to(NBS).with_suffix("").as_posix()
)
def test_notebook(path, server, request, tmp_path, record_property):
    flags = "slow" if request.config.getoption("--slow") else ""
    log = tmp_path / "log"
    print(json.dumps([str(path), flags, str(log)]), file=server.stdin)
    code, seconds = json.loads(server.stdout.readline())
    record_property("cpu", seconds)
    out = log.read_text(encoding="utf-8", errors="replace")
    # "Success." guards against a path nbdev finds nothing at: that, too, ends with code
    # 0
    assert code == 0 and "Success." in out, out[-8000:]
