"""Options and the environment of the test run. Set here, before numba is imported
anywhere: numba reads it once."""

import os
import shutil
import tempfile

import pytest

os.environ |= dict(
    NUMBA_NUM_THREADS="1",
    OPENBLAS_NUM_THREADS="1",
    OMP_NUM_THREADS="1",
    MPLBACKEND="agg",
)


def pytest_addoption(parser):
    parser.addoption(
        "--slow", action="store_true", help="also run tests and cells marked slow"
    )


def pytest_configure(config):
    """One throw-away cache for the whole run: nothing old can be found in it, and
    what one notebook's process compiles the next one finds. xdist workers inherit it
    from the process that started them."""
    config.addinivalue_line("markers", "slow: runs only with --slow")
    if hasattr(config, "workerinput"):
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


def pytest_collection_modifyitems(config, items):
    if config.getoption("--slow"):
        return
    for item in items:
        if "slow" in item.keywords:
            item.add_marker(pytest.mark.skip(reason="needs --slow"))
