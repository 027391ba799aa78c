"The cache of compiled kernels: an edit that could matter starts a new one, any other edit does not."
import os
import subprocess
import sys
from pathlib import Path

import pytest

import kpw_nb.core as core

RUN = "from kpw_nb.core import _cache_dir; import kpw_nb.inner, kpw_nb.outer; print(_cache_dir('outer')); print(kpw_nb.outer.f(1.))"


@pytest.fixture
def package(tmp_path):
    "A little package with this project's decorator: `outer` calls a kernel of `inner`; `other` is alone"
    folder = tmp_path/"kpw_nb"
    folder.mkdir()
    (folder/"__init__.py").write_text("")
    (folder/"core.py").write_text(Path(core.__file__).read_text(encoding="utf-8"))
    (folder/"inner.py").write_text("from .core import kernel\nSTEP = 1.\n@kernel\ndef g(x): return x + STEP\n")
    (folder/"outer.py").write_text("from .core import kernel\nfrom .inner import g\n@kernel\ndef f(x): return 2*g(x)\n")
    (folder/"other.py").write_text("A = 1\n")
    return folder


def run(package):
    env = os.environ | dict(NUMBA_CACHE_DIR=str(package.parent/"cache"), PYTHONPATH=str(package.parent), PYTHONDONTWRITEBYTECODE="1")
    out = subprocess.run([sys.executable, "-c", RUN], env=env, cwd=package.parent, capture_output=True, text=True)
    assert out.returncode == 0, out.stderr
    where, value = out.stdout.split()
    return where, float(value)


def test_a_changed_callee_is_noticed_and_an_unrelated_edit_is_not(package):
    first, value = run(package)
    assert value == 4 and any(Path(first).rglob("*.nbi"))
    (package/"other.py").write_text("A = 2\n")
    assert run(package) == (first, 4.)
    (package/"inner.py").write_text((package/"inner.py").read_text().replace("STEP = 1.", "STEP = 2."))
    second, value = run(package)
    assert second != first and value == 6      # numba's own cache would still say 4


def test_kernels_of_other_code_are_not_cached():
    @core.kernel
    def twice(x): return 2*x
    assert twice(2.) == 4 and type(twice._cache).__name__ == "NullCache"


def test_processes_that_compile_at_once_do_not_mix_their_files(package):
    "Two processes, both before either has written its index: what is loaded belongs to the key, or is nothing"
    code = """
import kpw_nb.core as core, kpw_nb.inner, importlib
first = kpw_nb.inner.g._cache._cache_file
core._PROCESS = 'another'
second = importlib.reload(kpw_nb.inner).g._cache._cache_file
load = second._load_index
first.save('key of doubles', 'code for doubles')
second._load_index = lambda: {}                      # it looked before the other had written
second.save('key of arrays', 'code for arrays')
second._load_index = load
first._save_data(first._data_name(1), 'code for doubles')     # and the slower one finishes last
print(second.load('key of doubles') in (None, 'code for doubles'), second.load('key of arrays') in (None, 'code for arrays'))
"""
    env = os.environ | dict(NUMBA_CACHE_DIR=str(package.parent/"cache"), PYTHONPATH=str(package.parent), PYTHONDONTWRITEBYTECODE="1")
    out = subprocess.run([sys.executable, "-c", code], env=env, cwd=package.parent, capture_output=True, text=True)
    assert out.stdout.split() == ["True", "True"], out.stdout + out.stderr
