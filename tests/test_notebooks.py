"""Every notebook runs from top to bottom, each in its own process, by nbdev's own
rules (`tst_flags`, `#| eval: false`)."""

import subprocess
import sys

import pytest
from execute import NBS, ROOT, notebooks

RUN = """import sys
from nbdev.test import nbdev_test
nbdev_test.__wrapped__(path=sys.argv[1], flags=sys.argv[2], n_workers=0)"""


@pytest.mark.parametrize(
    "path", notebooks(), ids=lambda p: p.relative_to(NBS).with_suffix("").as_posix()
)
def test_notebook(path, request):
    flags = "slow" if request.config.getoption("--slow") else ""
    run = subprocess.run(
        [sys.executable, "-c", RUN, str(path), flags],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    # "Success." guards against a path nbdev finds nothing at: that, too, ends with code
    # 0
    assert run.returncode == 0 and "Success." in run.stdout, (
        run.stdout[-2000:] + run.stderr[-6000:]
    )
