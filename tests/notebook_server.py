"""Run notebooks, each in its own process, forked from this one, which has imported and
compiled what most of them need: `python notebook_server.py`.

Requests and answers are lines of JSON, one at a time. A request is [notebook, flags,
file]; output and errors of the notebook go to the file. The answer is [exit code,
seconds of processor time]."""

import gc
import inspect
import json
import os
import re
import sys
import threading
from importlib import import_module
from pathlib import Path

import numpy as np
import numba
from execute import ROOT
from nbdev.test import nbdev_test
from package import LIB, modules

HEAVY = ("matplotlib.pyplot", "numba", "pandas", "scipy.stats", "sklearn.base")


def import_as_python(name):
    "Import another library, if it is here, without its compiler"
    numba.config.DISABLE_JIT = True
    try:
        import_module(name)
    except ImportError:
        pass
    finally:
        numba.config.DISABLE_JIT = False


def warm_up():
    "Import the package and compile the kernels of its two main functions"
    for name in (*HEAVY, *(f"{LIB}.{name}" for name in modules())):
        import_module(name)
    from kpw_nb import kpw_distance, kpw_test

    import_as_python("hyppo.ksample")  # compiles for 20 s what runs in 10 ms
    X, Y = np.random.default_rng(0).normal(size=(2, 12, 3))
    kpw_test(X, Y, n_resamples=19, rng=0)
    kpw_distance(X, Y, eta=1.0)
    assert threading.active_count() == 1, "a fork would lose the other threads"
    gc.freeze()  # what is here now is not collected, hence not copied, in the forks


def means_the_same(f, twin, module):
    "Do two functions have the same source, and its names the same meaning?"
    theirs = getattr(twin, "py_func", twin)
    if theirs is None or inspect.getsource(f) != inspect.getsource(theirs):
        return False
    missing = object()
    for name in f.__code__.co_names:
        here = f.__globals__.get(name, missing)
        there = getattr(module, name, missing)
        if here is not there and not (isinstance(here, (int, float)) and here == there):
            return False
    return True


def save_known_types(kernel):
    "What is compiled for a record that a notebook defines is of no use to others"
    save = kernel._cache.save_overload

    def save_overload(signature, compiled):
        types = getattr(signature, "args", signature)  # numba gives either
        records = (getattr(t, "instance_class", None) for t in types)
        if not any(r and r.__module__ == "__main__" for r in records):
            save(signature, compiled)

    kernel._cache.save_overload = save_overload


def share_kernels(module):
    """From here on, a kernel that a notebook defines is the one of the module that the
    notebook writes, if nothing differs: it is compiled once for both."""
    from kpw_nb.ground import core

    make_kernel, make_driver = core.kernel, core.driver

    def of_module(f, made):
        twin = getattr(module, f.__name__, None)
        if f.__module__ != "__main__" or not means_the_same(f, twin, module):
            return made
        if hasattr(twin, "py_func"):
            save_known_types(twin)
        return twin

    def kernel(f=None, **options):
        if f is None:
            return lambda g: kernel(g, **options)
        return of_module(f, make_kernel(f, **options))

    def driver(f):
        return of_module(f, make_driver(f))

    core.kernel, core.driver = kernel, driver


def module_of(path):
    "The module that a notebook writes, or None"
    found = re.search(r"#\| default_exp ([\w.]+)", Path(path).read_text("utf-8"))
    return found and import_module(f"{LIB}.{found[1]}")


def run(path, flags, file):
    "Run a notebook here, by nbdev's own rules, and end with its exit code"
    out = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    null = os.open(os.devnull, os.O_RDONLY)
    for ours, standard in ((null, 0), (out, 1), (out, 2)):
        os.dup2(ours, standard)
    if module := module_of(path):
        share_kernels(module)
    nbdev_test.__wrapped__(path=path, flags=flags, n_workers=0)
    sys.exit()


def main():
    os.chdir(ROOT)
    sys.path[0] = str(ROOT)  # not tests/, which no notebook sees
    warm_up()
    answers = os.fdopen(os.dup(1), "w")
    while request := sys.stdin.readline():
        child = os.fork()
        if child == 0:
            run(*json.loads(request))
        _, status, used = os.wait4(child, 0)
        code = os.waitstatus_to_exitcode(status)
        print(json.dumps([code, used.ru_utime + used.ru_stime]), file=answers)
        answers.flush()


if __name__ == "__main__":
    main()
