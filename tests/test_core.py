"Compiled kernels and their cache, and the number that repeats a run"

import copy
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st

import kpw_nb.ground.core as core
from kpw_nb import kpw_changepoint, kpw_equivalence, kpw_groups, kpw_test

GROUND = Path(core.__file__).parent
RUN = """
from kpw_nb.ground.core import _cache_dir
import kpw_nb.theory.inner, kpw_nb.compare.outer as outer
print(_cache_dir("compare.outer"), outer.f(1.0))
"""
INNER = """
from ..ground.core import kernel
STEP = 1.0
@kernel
def g(x):
    return x + STEP
"""
OUTER = """
from kpw_nb.ground.core import kernel
from ..theory.inner import g
@kernel
def f(x):
    return 2 * g(x)
"""


@pytest.fixture
def package(tmp_path):
    "With this project's decorator: `outer` calls a kernel of `inner`; `other` is alone"
    folder = tmp_path / "kpw_nb"
    parts = dict(
        ground=("core", "errors"), theory=("inner",), compare=("outer", "other")
    )
    made = dict(inner=INNER, outer=OUTER, other="A = 1\n")
    for part, names in parts.items():
        (folder / part).mkdir(parents=True)
        for name in names:
            text = made.get(name)
            if text is None:
                text = (GROUND / f"{name}.py").read_text(encoding="utf-8")
            (folder / part / f"{name}.py").write_text(text)
    for place in (folder, *(folder / part for part in parts)):
        (place / "__init__.py").write_text("")
    return folder


def python(package, code):
    "What a new process prints that has this package, and a cache of its own"
    here = package.parent
    env = os.environ | dict(
        NUMBA_CACHE_DIR=str(here / "cache"),
        PYTHONPATH=str(here),
        PYTHONDONTWRITEBYTECODE="1",
    )
    command = [sys.executable, "-c", code]
    out = subprocess.run(command, env=env, cwd=here, capture_output=True, text=True)
    assert out.returncode == 0, out.stderr
    return out.stdout.split()


def run(package):
    where, value = python(package, RUN)
    return where, float(value)


def test_a_changed_callee_is_noticed_and_an_unrelated_edit_is_not(package):
    first, value = run(package)
    assert value == 4 and any(Path(first).rglob("*.nbi"))
    (package / "compare" / "other.py").write_text("A = 2\n")
    assert run(package) == (first, 4.0)
    (package / "theory" / "inner.py").write_text(
        INNER.replace("STEP = 1.", "STEP = 2.")
    )
    second, value = run(package)
    assert second != first and value == 6  # numba's own cache would still say 4


def test_kernels_of_other_code_are_not_cached():
    @core.kernel
    def twice(x):
        return 2 * x

    assert twice(2.0) == 4 and type(twice._cache).__name__ == "NullCache"


def test_processes_that_compile_at_once_do_not_mix_their_files(package):
    "Neither has seen the other's index: what is loaded belongs to the key"
    code = """
import importlib
import kpw_nb.ground.core as core, kpw_nb.theory.inner as inner
first = inner.g._cache._cache_file
core._PROCESS = 'another'
second = importlib.reload(inner).g._cache._cache_file
load = second._load_index
first.save('key of doubles', 'code for doubles')
second._load_index = lambda: {}  # it looked before the other had written
second.save('key of arrays', 'code for arrays')
second._load_index = load
first._save_data(first._data_name(1), 'code for doubles')  # the slower finishes last
for kind in ('doubles', 'arrays'):
    print(second.load(f'key of {kind}') in (None, f'code for {kind}'))
"""
    assert python(package, code) == ["True", "True"]


# Damaged files ------------------------------------------------------------------------

DAMAGE = """
import importlib
from pathlib import Path
import numpy as np
from kpw_nb.ground.core import _cache_dir
import kpw_nb.theory.inner as inner, kpw_nb.compare.outer as outer

def call():
    "With new kernels, as in a new process; the last is how many came from the cache"
    importlib.reload(inner)
    f = importlib.reload(outer).f
    return f(1.0), f(2), sum(f.stats.cache_hits.values())

def damage(path, how):
    data = path.read_bytes()
    noise = np.random.default_rng(len(data)).bytes(len(data))
    path.write_bytes(noise if how == "noise" else data[: int(how * len(data))])

call()
assert call() == (4.0, 6.0, 2)
for kind in ("nbi", "nbc"):
    for how in (0, 0.01, 0.3, 0.9, 0.999, "noise"):
        for path in Path(_cache_dir("compare.outer")).parent.rglob(f"*.{kind}"):
            damage(path, how)
        try:
            print(kind, how, call() == (4.0, 6.0, 0), call() == (4.0, 6.0, 2))
        except Exception as error:
            print(kind, how, type(error).__name__, "-")
"""


def test_a_damaged_file_is_compiled_again(package):
    "A full disk or a killed process must not break every later call"
    found = np.reshape(python(package, DAMAGE), (-1, 4))
    assert len(found) == 12
    assert (found[:, 2:] == "True").all(), found  # and is replaced, not only survived


# The number that repeats a run --------------------------------------------------------

SEEDS = st.integers(0, 2**130)


def drawn(rng):
    "What a call draws that takes everything from `root_seed(rng)`"
    children = core.spawn_seeds(core.root_seed(rng), 2)
    return [np.random.default_rng(child).random() for child in children]


@given(SEEDS)
def test_an_integer_stands_for_itself(seed):
    assert core.root_seed(seed) == seed
    assert core.root_seed(np.random.SeedSequence(seed)) == seed
    assert core.root_seed(np.random.default_rng(seed)) == seed


@given(
    SEEDS, st.integers(1, 3), st.sampled_from(["used", "spawned", "jumped", "child"])
)
def test_a_stream_that_has_moved_gives_another_number(seed, steps, how):
    g = np.random.default_rng(seed)
    for _ in range(steps):
        if how == "used":
            g.random()
        elif how == "spawned":
            g.spawn(1)
        elif how == "jumped":
            g = np.random.Generator(g.bit_generator.jumped())
        else:
            g = g.spawn(1)[0]
    twin = copy.deepcopy(g)
    root = core.root_seed(g)
    assert root != seed and 0 <= root < 2**128
    assert core.root_seed(twin) == root  # where a stream stands decides
    assert core.root_seed(g) not in (root, seed)  # and it has moved on
    assert drawn(root) == drawn(core.root_seed(root))


@given(SEEDS)
def test_a_generator_moves_on_and_a_seed_sequence_does_not(seed):
    g, sequence = np.random.default_rng(seed), np.random.SeedSequence(seed)
    assert drawn(g) == drawn(seed) != drawn(g)
    assert drawn(sequence) == drawn(sequence) == drawn(seed)
    first, second = sequence.spawn(2)
    assert core.root_seed(first) == core.root_seed(first) != core.root_seed(second)


@given(SEEDS)
def test_other_bit_generators(seed):
    "Only what `default_rng(seed)` would begin with is called by its seed"
    g = np.random.Generator(np.random.Philox(seed))
    assert core.root_seed(g) != seed


def test_no_seed_is_a_new_number_every_time():
    roots = {core.root_seed(None) for _ in range(20)}
    assert len(roots) == 20
    assert all(isinstance(root, int) and root >= 0 for root in roots)


def test_numpy_s_global_state_is_left_alone():
    before = np.random.get_state()[1].copy()
    drawn(None)
    assert np.array_equal(np.random.get_state()[1], before)


@pytest.mark.parametrize("rng", [-1, 1.5, "7", True, [1], np.random.RandomState(0)])
def test_an_invalid_rng_is_an_error(rng):
    with pytest.raises(TypeError, match="rng must be a non-negative integer"):
        core.root_seed(rng)


def test_answers_have_one_form():
    """The sentence first, what was found, and how under a line that opens it; no
    number with ten digits. Mutation: an answer is a raw table again."""
    g = np.random.default_rng(0)
    table = pd.DataFrame(g.normal(size=(90, 2)), columns=["a", "b"])
    table["by"] = np.repeat(["x", "y", "z"], 30)
    table.loc[60:, "a"] += 3
    series = np.vstack([g.normal(size=(40, 2)), g.normal(size=(40, 2)) + 4])
    two = g.normal(size=(2, 200, 2))
    answers = {
        "2 of 3 pairs": kpw_groups(table, "by", n_resamples=199, rng=0),
        "The MMD is below 0.4": kpw_equivalence(*two, 0.4),
        "1 change": kpw_changepoint(series, n_resamples=39, rng=0),
        "Shown one of each": kpw_test(*two, n_resamples=19, rng=0).effect(),
    }
    for sentence, result in answers.items():
        page = result._repr_html_()
        assert page.startswith(f"<p><b>{sentence}"), page[:80]
        assert not re.search(r"\d\.\d{9}", page)
    for found in list(answers.values())[:3:2]:
        assert found.plot(kind="figure")[0].get_size_inches()[0] > 7
        with pytest.raises(ValueError, match="kind must be one of"):
            found.plot(kind="poster")
