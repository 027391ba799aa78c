"""Options and the environment of the test run. Set here, before numba is imported
anywhere: numba reads it once."""

import gc
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

os.environ |= dict(
    NUMBA_NUM_THREADS="1",
    OPENBLAS_NUM_THREADS="1",
    OMP_NUM_THREADS="1",
    MPLBACKEND="agg",
    # a worker that Dask starts is forked from a process with the imports done
    DASK_DISTRIBUTED__WORKER__MULTIPROCESSING_METHOD="forkserver",
)


def pytest_addoption(parser):
    parser.addoption(
        "--slow", action="store_true", help="also run tests and cells marked slow"
    )
    parser.addoption(
        "--quick",
        action="store_true",
        help="only tests marked quick, and the notebooks that differ from main",
    )


def pytest_configure(config):
    """One throw-away cache for the whole run: nothing old can be found in it, and
    what one notebook's process compiles the next one finds. xdist workers inherit it
    from the process that started them."""
    config.addinivalue_line("markers", "slow: runs only with --slow")
    config.addinivalue_line("markers", "quick: part of make check")
    # an inner loop keeps what it compiled: the cache is keyed by the sources
    if hasattr(config, "workerinput") or config.getoption("--quick"):
        return
    config.cache_root = tempfile.mkdtemp(prefix="kpw_nb-test-")
    os.environ |= dict(
        XDG_CACHE_HOME=config.cache_root,
        NUMBA_CACHE_DIR=os.path.join(config.cache_root, "numba"),
        MPLCONFIGDIR=os.path.join(config.cache_root, "matplotlib"),
        IPYTHONDIR=os.path.join(config.cache_root, "ipython"),
    )


def pytest_unconfigure(config):
    if hasattr(config, "cache_root"):
        shutil.rmtree(config.cache_root, ignore_errors=True)


def changed_notebooks():
    "Notebooks that differ from main: committed on a branch, or not committed yet"
    command = ["git", "diff", "--name-only", "main", "--", "nbs"]
    done = subprocess.run(command, capture_output=True, text=True)
    return {Path(name).stem for name in done.stdout.split()}


def is_quick(item, changed):
    "Is this test part of `make check`?"
    path = getattr(item, "callspec", None) and item.callspec.params.get("path")
    notebook = path is not None and item.path.name == "test_notebooks.py"
    return "quick" in item.keywords or (notebook and Path(path).stem in changed)


def long_ones_first(items):
    """Each of two workers gets half of the list and takes from the other's end when it
    is done: one begins with the site, the other with the notebooks."""
    site = [item for item in items if item.path.name == "test_site.py"]
    books = [item for item in items if item.path.name == "test_notebooks.py"]
    long = {*site, *books}
    others = [item for item in items if item not in long]
    half = max(len(items) // 2 - len(site), 0)
    return site + others[:half] + books + others[half:]


def pytest_collection_finish(session):
    """What is here now stays to the end. Each full collection of garbage would look
    at all of it again: to read a wide table took three times as long."""
    gc.collect()
    gc.freeze()


def pytest_collection_modifyitems(config, items):
    items[:] = long_ones_first(items)
    if config.getoption("--quick"):
        changed = changed_notebooks()
        kept = [item for item in items if is_quick(item, changed)]
        config.hook.pytest_deselected(items=[i for i in items if i not in kept])
        items[:] = kept
    if config.getoption("--slow"):
        return
    for item in items:
        if "slow" in item.keywords:
            item.add_marker(pytest.mark.skip(reason="needs --slow"))
