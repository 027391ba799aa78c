"""Whatever is given, the end is an answer that keeps its promises, or an error of the
house: 300 cases here, 10,000 with --slow (FUZZ=100000 for more), and all cases that
once found something (fuzz_corpus.json)."""

import json
import os
import random
from pathlib import Path

import pytest
from fuzz import CASES, RUNS, judged, outcome
from hypothesis import HealthCheck, Phase, given, seed, settings

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="children are forks")
CORPUS = json.loads((Path(__file__).parent / "fuzz_corpus.json").read_text("utf-8"))
FOUND = []  # of a slow run: every case that broke, not only the first


@pytest.fixture(scope="module", autouse=True)
def warm():
    "What the children need is loaded, and compiled, once"
    plain = dict(n=30, kinds=["normal"], names=["a"], box="pandas", seed=0, shift=0)
    many = plain | dict(n=60)
    for case in (
        dict(call="test", tables=[plain, plain], then=["where"]),
        dict(call="changes", tables=[plain], options=dict(n_resamples=19)),
        dict(call="distance", tables=[plain, plain], options=dict(max_iter=5)),
        dict(
            call="detector",
            tables=[many, many],
            steps=["fit", "detect"],
            options=dict(window=5, n_resamples=19),
        ),
        dict(call="monitor", tables=[many, plain], steps=["fit", "check"]),
        dict(call="sequential", tables=[plain, plain]),
    ):
        assert judged(case) == "ok"


def run(case):
    assert json.loads(json.dumps(case)) == case
    return outcome(case)


OPTIONS = dict(
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.generate, Phase.shrink],
)


@settings(max_examples=300, **OPTIONS)
@seed(34)
@given(CASES)
def test_any_call(case):
    assert run(case) in ("ok", "refused")


@pytest.mark.slow
def test_ten_thousand_calls():
    "Goes on after a case that broke, and ends with all of them"
    counts, wanted = {}, int(os.environ.get("FUZZ", "10000"))

    @settings(max_examples=wanted, **OPTIONS | dict(phases=[Phase.generate]))
    @seed(int(os.environ.get("FUZZ_SEED", random.randrange(2**32))))
    @given(CASES)
    def one(case):
        said = run(case)
        counts[said[:7]] = counts.get(said[:7], 0) + 1
        if said not in ("ok", "refused"):
            FOUND.append((said, case))

    one()
    print(counts)
    if where := os.environ.get("FUZZ_FOUND"):
        lines = [json.dumps(dict(said=said, case=case)) for said, case in FOUND]
        Path(where).write_text("\n".join(lines), encoding="utf-8")
    assert not FOUND, FOUND[0]


@pytest.mark.parametrize("found", CORPUS, ids=[one["why"] for one in CORPUS])
def test_what_was_found_once(found):
    assert run(found["case"]) in ("ok", "refused")


def test_the_judge():
    "A raw error, a broken promise, a death and a hang are told from an answer"
    plain = dict(n=12, kinds=["normal"], names=["a"], box="array", seed=0, shift=0)
    case = dict(call="judge", tables=[plain], options={})

    def raw(case):
        [][1]

    def broken(case):
        raise AssertionError("a p-value of 2")

    def death(case):
        os.abort()

    def memory(case):
        bytearray(1 << 34)

    try:
        for way, said in (
            (raw, "raw: IndexError"),
            (broken, "broken: a p-value of 2"),
            (death, "died: status -6"),
            (memory, "raw: MemoryError"),
            (lambda case: None, "ok"),
        ):
            RUNS["judge"] = way
            assert run(case).startswith(said)
    finally:
        del RUNS["judge"]
