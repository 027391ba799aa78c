"The explorers, driven as by a hand; what a panel holds is what the package computes."

import base64
import io
import json
import os
import re
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from datetime import datetime, timezone
from html import escape
from importlib.util import find_spec
from pathlib import Path

import ipywidgets as widgets
import numpy as np
import pytest
from browser import CHROMIUM, Browser, require

from kpw_nb.show import explore
from kpw_nb.study.rivals import EnergyTest, MMDTest
from kpw_nb.ground.core import spawn_seeds
from kpw_nb.theory.distance import KPWProjector, kpw_distance
from kpw_nb.show.explore import (
    Explorer,
    feel_projection,
    power_playground,
    watch_bcd,
    your_data,
)
from kpw_nb.study.power import power_study, wilson
from kpw_nb.show.report import report_page
from kpw_nb.compare.twosample import kpw_test

PNG = b"\x89PNG"
rng = np.random.default_rng(0)
X, Y = rng.standard_normal((15, 2)), rng.standard_normal((12, 2)) * 2


@pytest.fixture(scope="module", autouse=True)
def compiled():
    "What the panels need is compiled before anybody waits for them"
    for method in ("refit", "split"):
        kpw_test(X, Y, method=method, n_resamples=19, rng=0)


class Panel(Explorer):
    "Counts what it is asked; negative numbers fail, 99 takes for ever"

    title = "Panel"

    def __init__(self, delay=0.1):
        super().__init__(dict(x=widgets.FloatText(value=1.0)), delay)
        self.seen = []

    def _work(self, given_up):
        x = self.settings["x"]
        self.seen.append(x)
        if x < 0:
            raise ValueError(f"x must not be negative, got <{x}>")
        while x == 99 and not given_up.is_set():
            time.sleep(0.01)
        yield x

    def _show(self, value, figure):
        figure.subplots().plot([0, value])
        return f"x is <b>{value:g}</b>"


@pytest.fixture
def panel():
    return Panel()


def until(condition, seconds=30):
    "Wait for what a thread will do; the machine may be busy"
    deadline = time.monotonic() + seconds
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert condition()


def test_trailing_edge():
    "A burst makes one run, with the last value, and not before the controls are still"
    panel = Panel(1.0)
    for x in range(2, 12):
        panel.controls["x"].value = x
        time.sleep(0.01)
    last = time.monotonic()
    assert panel.seen == [] and not panel.wait(0)
    assert panel.wait(30) and time.monotonic() - last >= 0.9
    assert panel.seen == [11.0] and panel.value == 11.0 and panel.n_runs == 1
    panel.controls["x"].value = 3
    assert panel.wait(10) and panel.seen == [11.0, 3.0]


def test_work_is_done_elsewhere(panel):
    "Moving a control returns at once, though the work lasts"
    panel.controls["x"].value = 99
    until(lambda: panel.seen == [99.0])
    assert not panel.wait(0)
    panel.controls["x"].value = 5  # a new move gives up what is running
    assert panel.wait(10) and panel.value == 5.0
    panel.controls["x"].value = 99
    until(lambda: len(panel.seen) == 3)
    panel.cancel()
    assert panel.wait(0) and panel.value == 5.0  # what was there stays
    panel.controls["x"].value = 6
    panel.cancel()  # cancelled while it waits
    time.sleep(0.3)
    assert 6.0 not in panel.seen
    assert panel.run().value == 6.0  # and it can be used again


def test_errors_are_shown(panel):
    panel.run()
    before = panel.picture.value
    panel.controls["x"].value = -2
    assert panel.wait(10)
    assert (
        panel.text == "ValueError: x must not be negative, got <-2.0>"
        and "<-2.0>" not in panel.message.value
    )  # escaped
    assert (
        isinstance(panel.error, ValueError)
        and panel.value == 1.0
        and panel.picture.value == before
    )
    panel.controls["x"].value = 2
    assert panel.wait(10) and panel.error is None and panel.text == "x is 2"


def test_threads_do_not_tangle(panel):
    "Many hands at once: the panel ends with the value of its control"

    def hand(k):
        for j in range(20):
            panel.controls["x"].value = 1 + k + j / 100

    hands = [threading.Thread(target=hand, args=(k,)) for k in range(5)]
    for h in hands:
        h.start()
    for h in hands:
        h.join()
    assert panel.wait(20) and panel.value == panel.controls["x"].value


def test_static_fallback(panel, monkeypatch):
    "Without a kernel: picture and text, no view of a widget; with one: all three"
    assert panel._repr_mimebundle_() == {"text/plain": "Panel: nothing run yet"}
    bundle = panel.run()._repr_mimebundle_()
    assert (
        bundle.keys() == {"image/png", "text/plain"}
        and bundle["text/plain"] == "Panel: x is 1"
    )
    assert base64.b64decode(bundle["image/png"]).startswith(PNG)
    monkeypatch.setattr(explore, "_live", lambda: True)
    assert panel._repr_mimebundle_().keys() == {
        "image/png",
        "text/plain",
        "application/vnd.jupyter.widget-view+json",
    }


def test_pyplot_is_left_alone(panel):
    from matplotlib import pyplot as plt

    plt.close("all")
    panel.run()
    feel_projection(X, Y)
    assert plt.get_fignums() == []


def test_bad_delay():
    with pytest.raises(ValueError, match="delay must be at least 0"):
        Panel(-1)
    with pytest.raises(TypeError, match="delay must be a number"):
        feel_projection(X, Y, delay="soon")


# feel the projection


def test_feel_projection():
    "Every slider reaches kpw_distance"
    feel = feel_projection(X, Y, delay=0.05)
    assert (
        feel.value.value
        == kpw_distance(X, Y, bandwidth=feel._median, d=2, rho=0.5, ridge=0.01).value
    )
    assert (
        bytes(feel.picture.value).startswith(PNG)
        and f"{feel.value.value:.4g}" in feel.text
    )
    for name, moved, option in [
        ("rho", 0.9, 0.9),
        ("d", 3, 3),
        ("ridge", 0.1, 0.1),
        ("bandwidth", 2.0, 2 * feel._median),
        ("d", 1, 1),
    ]:
        before, picture = feel.value.value, feel.picture.value
        feel.controls[name].value = moved
        assert feel.wait() and feel.error is None
        assert feel.options()[name] == option
        assert (
            feel.value.value == kpw_distance(X, Y, **feel.options()).value != before
            and feel.picture.value != picture
        )
    auto = feel.value.eta
    feel.controls["eta"].value = 10.0
    assert (
        feel.wait()
        and np.isclose(feel.value.eta, 10 * auto)
        and feel.value.value
        == kpw_distance(
            X,
            Y,
            eta=10 * auto,
            **{k: v for k, v in feel.options().items() if k != "eta"},
        ).value
    )


def test_feel_says_the_pvalue():
    "That of the exact test with this projector; for many points there is none"
    feel = feel_projection(X, Y, delay=0.05)
    for name, moved in (("d", 1), ("bandwidth", 0.5)):
        feel.controls[name].value = moved
        assert feel.wait() and feel.error is None
        alone = KPWProjector(**feel.options())
        expected = kpw_test(X, Y, candidates=alone, rng=0).pvalue
        assert feel.pvalue == expected and f"p = {expected:.3g} by 199" in feel.text
    g = np.random.default_rng(0)
    many = feel_projection(g.normal(size=(250, 2)), g.normal(size=(251, 2)))
    assert many.pvalue is None and many.text.startswith("value ")


def test_feel_gives_the_test_up():
    "A move while the relabellings run ends them"
    feel = feel_projection(X, Y, delay=0.05)
    given_up = threading.Event()
    given_up.set()
    with pytest.raises(explore._GivenUp):
        feel._exact(feel.options(), given_up)


def test_feel_warnings_are_shown():
    feel = feel_projection(X, Y, delay=0.05)
    feel.controls["eta"].value = 1000.0
    assert feel.wait() and "collapsed to the product coupling" in feel.text


def test_feel_on_a_line():
    assert feel_projection(X[:, :1], Y[:, :1]).error is None


def test_feel_bad_input():
    with pytest.raises(ValueError, match="X and Y go together"):
        feel_projection(X)
    with pytest.raises(ValueError, match="X has 2 features but Y has 1"):
        feel_projection(X, Y[:, :1])


# watch the algorithm


def test_watch_bcd():
    "State k is the run that stops after k iterations"
    watch = watch_bcd(X, Y, n_steps=6, delay=0.05)
    assert len(watch.states) == 6 and watch.value is watch.states[0]
    watch.controls["iteration"].value = 4
    assert (
        watch.wait()
        and watch.value is watch.states[3]
        and watch.play.value == 4
        and watch.text.startswith("iteration 4 of 6")
    )
    with pytest.warns(UserWarning):
        r = kpw_distance(X, Y, d=2, rho=1.0, ridge=0.01, max_iter=4, tol=0.0)
    np.testing.assert_array_equal(watch.value.plan, r.plan)
    for a, b in zip(watch.value.potentials, r.potentials):
        np.testing.assert_array_equal(a, b)
    F = watch.states[-1].history["F"]
    assert (np.diff(F) <= 1e-12).all()
    watch.play.value = 6  # the play button drives the slider
    assert watch.wait() and watch.value is watch.states[5]
    assert len(watch.figure.axes) == 5  # four pictures and a colour bar


def test_watch_bad_input():
    with pytest.raises(ValueError, match="max_iter is set by watch_bcd"):
        watch_bcd(X, Y, max_iter=3)
    with pytest.raises(ValueError, match="n_steps must be at least 2"):
        watch_bcd(X, Y, n_steps=1)
    with pytest.raises(ValueError, match="rho must be"):
        watch_bcd(X, Y, rho=2.0)


# power playground


def test_power_playground():
    "The counts are those of power_study with the same seeds; intervals are Wilson's"
    tests = {"MMD": MMDTest(), "Energy": EnergyTest()}
    play = power_playground(tests, n_trials=12, n_resamples=19, rng=3, delay=0.05)
    assert play.value is None and play.n_runs == 0  # nothing runs unasked
    for name, value in dict(n=15, D=3, size=0.8, kind="mean").items():
        play.controls[name].value = value
    assert (
        play.wait()
        and play.error is None
        and play.n_runs == 1
        and play.progress.value == 12
    )
    seeds = explore._same_seeds(spawn_seeds(3, 1)[0], 12)
    tables = [
        power_study(
            tests,
            explore._changed,
            grid=[play.settings],
            n_trials=1,
            n_resamples=19,
            rng=s,
        )
        for s in seeds
    ]
    assert play.value["trials"] == 12
    assert play.value["counts"] == {
        name: sum(int(t.rejections[t.test == name].item()) for t in tables)
        for name in tests
    }
    low, high = wilson(play.value["counts"]["MMD"], 12)
    assert (
        f"MMD {play.value['counts']['MMD'] / 12:.2f} [{low:.2f}, {high:.2f}]"
        in play.text
    )
    again = play.value
    play.go.click()  # the same settings give the same trials
    assert play.wait() and play.value == again and play.n_runs == 2


def test_power_arrives_bit_by_bit_and_stops():
    play = power_playground(
        {"Energy": EnergyTest()}, n_trials=100_000, n_resamples=19, delay=0.01
    )
    play.refresh, seen = 0.0, []
    play.message.observe(lambda change: seen.append(play.value["trials"]), "value")
    play.go.click()
    until(lambda: len(seen) >= 4, 60)
    play.stop.click()
    assert play.wait(1) and seen == sorted(set(seen)) and play.error is None
    with play._runs.turn:
        pass  # the thread has ended
    done = play.value["trials"]
    time.sleep(0.3)
    assert play.value["trials"] == done < 100_000  # nothing goes on in the dark


def test_power_intervals_shrink():
    wide, narrow = (wilson(T // 2, T) for T in (10, 100))
    assert narrow[1] - narrow[0] < wide[1] - wide[0]


def test_power_errors_are_shown():
    class Broken:
        def test(self, X, Y, *, n_resamples, rng):
            raise ValueError("no power today")

    play = power_playground({"broken": Broken()}, n_resamples=19).run()
    assert "no power today" in play.text and play.error is not None
    with pytest.warns(UserWarning, match="can never reject"):
        power_playground(n_resamples=5)
    with pytest.raises(ValueError, match="n_resamples"):
        power_playground(n_resamples=0)
    with pytest.raises(ValueError, match="n_trials must be at least 1"):
        power_playground(n_trials=0)


# your data


def as_file(name, content):
    return (
        dict(
            name=name,
            type="",
            size=len(content),
            content=memoryview(content),
            last_modified=datetime.now(timezone.utc),
        ),
    )


def as_npy(A, **kw):
    out = io.BytesIO()
    np.save(out, A, **kw)
    return out.getvalue()


def test_your_data_picks():
    yours = your_data(n_resamples=39, delay=0.05)
    for name in ("iris: versicolor and virginica", "no difference"):
        yours.controls["data"].value = name
        assert yours.wait() and yours.error is None
        seed = explore._same_seeds(yours._root, 2)[1]
        expected = kpw_test(*yours.samples()[:2], n_resamples=39, rng=seed)
        assert yours.value.pvalue == expected.pvalue
        assert yours.value.statistic == expected.statistic
        answer = expected.facts()["answer"]
        assert yours.text == answer and escape(answer, quote=False) in yours.page.value
    assert yours.progress.value == yours.progress.max == 39


@pytest.mark.parametrize("name", list(explore._problems()))
def test_every_problem_gives_samples(name):
    yours = your_data()
    yours.controls["data"].unobserve_all()
    yours.controls["data"].value = name
    A, B, _ = yours.samples()
    assert list(A.columns) == list(B.columns)
    assert np.isfinite(A.to_numpy()).all()
    assert list(A.index) == list(range(1, len(A) + 1))
    assert yours.samples().X.equals(A)


def as_csv(A, names="height, weight"):
    return "\n".join(
        [names] + [",".join(map(repr, row)) for row in A.tolist()]
    ).encode()


def test_your_data_uploads():
    yours = your_data(n_resamples=39, delay=0.05)
    yours.controls["X"].value = as_file("x.csv", as_csv(X))
    yours.controls["Y"].value = as_file("y.npy", as_npy(Y.astype("f4") + 5))
    assert yours.wait() and yours.error is None
    assert yours.settings["data"] == "your files"
    A, B, names = yours.tested
    assert names == ("x.csv", "y.npy")
    assert list(A.columns) == list(B.columns) == ["height", "weight"]
    np.testing.assert_array_equal(A.to_numpy(), X)
    np.testing.assert_array_equal(B.to_numpy(), Y.astype("f4") + 5)
    assert yours.text.startswith("The two samples differ, most of all in ")
    assert yours.text.endswith("(p = 0.025).")
    assert "y.npy" in yours.page.value and "height" in yours.page.value


def test_your_data_takes_mixed_tables():
    """Mutation: the panel turns texts into an error, or forgets its own settings."""
    g = np.random.default_rng(0)
    lines = [f"{v:.3f},{c}" for v, c in zip(g.normal(size=60), g.choice([*"abc"], 60))]
    lines[7] = ",a"
    x, y = "\n".join(["size,kind", *lines]), "\n".join(["size,kind", *lines[::2]])
    yours = your_data(n_resamples=19, delay=0.01)
    yours.controls["X"].value = as_file("x.csv", x.encode())
    yours.controls["Y"].value = as_file("y.csv", y.encode())
    assert yours.wait() and "missing (NaN or empty) in column 'size'" in yours.text
    yours.controls["missing"].value = "indicator"
    yours.controls["scale"].value = "rank"
    assert yours.wait() and yours.error is None
    encoding = yours.value.encoding
    assert (encoding.scale, encoding.missing) == ("rank", "indicator")
    assert "category of 3: a, b, c" in yours.page.value
    assert "only 60 of 90 rows are different" in yours.text  # warnings are shown


def test_your_data_takes_a_design():
    "Each row of the wine is its own cluster, then a name that is no column"
    yours = your_data(n_resamples=19, delay=0.01)
    yours.controls["paired"].value = True
    yours.run()
    assert "row i of X and row i of Y" in yours.text  # 59 and 71 wines
    yours.controls["paired"].value = False
    yours.controls["clusters"].value = "grower"
    yours.run()
    assert "'grower' is no column of X" in yours.text
    yours.controls["clusters"].value = " "
    yours.run()
    assert yours.value.design.free


def test_your_data_shows_the_page_of_the_report():
    """Mutation: the explorer has a layout of its own again."""
    yours = your_data(n_resamples=19, delay=0.01).run()
    assert yours.picture not in yours.children and yours.page in yours.children
    told = dict(names=yours.tested.names, rows_are="counted from 1")
    page = report_page(yours.value, yours.value.facts(**told))
    shared = r"<p>.*?</p>|<table>.*?</table>|<figure>.*?</figure>"
    parts = re.findall(shared, yours.page.value, re.S)
    assert parts == re.findall(shared, page, re.S) and len(parts) > 10
    assert yours._repr_mimebundle_()["text/html"] == yours.page.value
    yours.controls["data"].value = "your files"
    assert yours.wait() and "no file yet" in yours.text
    assert yours.page.value.startswith("<div")  # what was found stays


@pytest.mark.parametrize("n", [100, 1500])
def test_your_data_names_rows_of_the_file(n):
    "Planted rows lead; where half of the rows trained, positions were lost"
    g = np.random.default_rng(0)
    A, B = g.normal(size=(n, 3)), g.normal(size=(n, 3))
    B[::10, 1] += 6
    yours = your_data(n_resamples=99, delay=0.01)
    yours.controls["X"].value = as_file("x.csv", as_csv(A, "a,b,c"))
    yours.controls["Y"].value = as_file("y.csv", as_csv(B, "a,b,c"))
    assert yours.wait() and yours.error is None
    rows = yours.value.where().of("Y")["row"][:5].tolist()
    assert all(row % 10 == 1 for row in rows)
    shown = yours.page.value[yours.page.value.index("Rows of Y (y.csv)") :]
    assert re.findall(r'<th scope="row" class="n">(\d+)<', shown)[:5] == [
        *map(str, rows)
    ]
    assert "Rows are counted from 1" in yours.page.value


def test_your_data_cancels():
    yours = your_data(n_resamples=100_000, delay=0.01)
    yours.go.click()
    until(lambda: yours.progress.value, 60)
    yours.stop.click()
    stopped = time.monotonic()
    with yours._runs.turn:
        pass  # the thread has ended
    assert (
        time.monotonic() - stopped < 60 and yours.value is None and yours.error is None
    )


def test_missing_file():
    yours = your_data(delay=0.01)
    yours.controls["data"].value = "your files"
    assert yours.wait() and "X and Y: no file yet" in yours.text


BAD_FILES = {  # name and content of X, and what the sentence says
    "empty": ("a.csv", b"", "a.csv is empty; fix the file and upload it again"),
    "kind": ("a.xlsx", b"PK", "a.xlsx: files of this kind are not read"),
    "no kind": ("noname", b"1,2\n3,4", "noname: files of this kind are not read"),
    "ragged": ("a.csv", b"1,2\n3\n4,5,6", "a.csv cannot be read"),
    "text": ("a.csv", b"1,2\n3,x\n4,5", "column 2 is a category in X but a number"),
    "gap": ("a.csv", b"1,2\n3,\n4,5", "(NaN or empty) in column 2"),
    "infinity": ("a.csv", b"1,2\n3,inf\n4,5", "column 2"),
    "one row": ("a.csv", b"x,y\n1,2", "a.csv has one row of data"),
    "not text": ("a.csv", b"\xff\xfe\x00", "a.csv cannot be read"),
    "not npy": ("a.npy", b"nonsense", "a.npy is not an npy file"),
    "cut": ("a.npy", as_npy(np.ones((3, 2)))[:-8], "a.npy cannot be read"),
    "objects": ("a.npy", as_npy(np.array([[{}]]), allow_pickle=True), "cannot be read"),
    "columns": (
        "a.npy",
        as_npy(np.ones((3, 1))),
        "a.npy has 1 features but y.npy has 2",
    ),
}


@pytest.mark.parametrize("name, content, says", BAD_FILES.values(), ids=BAD_FILES)
def test_bad_files(name, content, says):
    "Every bad file is named, with what is wrong; no option of the command line is"
    yours = your_data(delay=0.01)
    yours.controls["Y"].value = as_file("y.npy", as_npy(Y))
    yours.controls["X"].value = as_file(name, content)
    assert yours.wait() and says in yours.text and "--" not in yours.text


def test_notebook_has_fallbacks():
    "A picture for each explorer, and no view that a page could not fill"
    path = Path(__file__).parents[1] / "nbs" / "show/03_explore.ipynb"
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    bundles = [o["data"] for c in cells for o in c.get("outputs", ()) if "data" in o]
    words = [("".join(b.get("text/plain", "")), b) for b in bundles]
    titles = ("Feel the projection:", "Watch the algorithm:", "Power playground:")
    assert sum("image/png" in b for w, b in words if w.startswith(titles)) == 3
    assert sum("kpw" in "".join(b.get("text/html", "")) for b in bundles) == 1
    assert all(
        "text/plain" in b and "application/vnd.jupyter.widget-view+json" not in b
        for b in bundles
    )


# a live server and a real browser


EXPLORERS = {  # how to make each, and what its sentence then says
    "feel_projection()": "value ",
    "watch_bcd(n_steps=6)": "iteration ",
    "power_playground(n_trials=4, n_resamples=19)": "trials",
    "your_data(n_resamples=19)": "The two samples",
}


@pytest.fixture
def notebook_server(tmp_path):
    "The address of a notebook with a cell for each explorer, on a server of its own"
    require(CHROMIUM, "Chromium is not installed (Debian: apt-get install chromium)")
    require(find_spec("jupyterlab"), "jupyterlab is not installed: run make docs")
    cells = [
        dict(
            cell_type="code",
            id=f"explore{k}",
            metadata={},
            execution_count=None,
            outputs=[],
            source=f"from kpw_nb.show.explore import *\n{code}",
        )
        for k, code in enumerate(EXPLORERS)
    ]
    kernel = dict(
        kernelspec=dict(name="python3", display_name="Python 3", language="python")
    )
    (tmp_path / "live.ipynb").write_text(
        json.dumps(dict(cells=cells, metadata=kernel, nbformat=4, nbformat_minor=5))
    )
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    env = (
        os.environ
        | {
            f"JUPYTER_{kind}_DIR": str(tmp_path / kind)
            for kind in ("CONFIG", "DATA", "RUNTIME")
        }
        | dict(PYTHONPATH=os.pathsep.join(sys.path))
    )
    flags = [
        f"--port={port}",
        "--ip=127.0.0.1",
        "--no-browser",
        "--allow-root",
        "--expose-app-in-browser",
        "--IdentityProvider.token=secret",
        f"--ServerApp.root_dir={tmp_path}",
        "--LabApp.news_url=None",
        "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
    ]
    with open(tmp_path / "log", "w") as log:
        server = subprocess.Popen(
            [sys.executable, "-m", "jupyterlab", *flags],
            env=env,
            stdout=log,
            stderr=log,
            cwd=tmp_path,
        )
    try:
        for _ in range(120):
            try:
                urllib.request.urlopen(
                    f"http://127.0.0.1:{port}/api?token=secret", timeout=2
                )
                break
            except OSError:
                if server.poll() is not None:
                    pytest.fail((tmp_path / "log").read_text()[-2000:])
                time.sleep(0.5)
        yield f"http://127.0.0.1:{port}/doc/tree/live.ipynb?token=secret"
    finally:
        server.terminate()
        try:
            server.wait(20)
        except subprocess.TimeoutExpired:
            server.kill()  # its kernel notices and ends


CHANGE = (  # pick the next entry of a list
    "(s => {{ s.selectedIndex += 1; "
    "s.dispatchEvent(new Event('change', {{bubbles: true}})) }})"
    "({cell}.querySelector('select'))"
)


def use_explorer(window, k, says):
    "Move the first control of cell k and wait for its picture and its sentence"
    cell = f"document.querySelectorAll('.jp-CodeCell')[{k}]"
    picture = f"{cell}.querySelector('img.widget-image, .widget-html-content img')"
    found = f"{cell}.querySelectorAll('.widget-html-content')"
    window.until(f"!!{cell}.querySelector('.noUi-handle, select')", 180)
    if k < 2:  # the other two wait for a hand
        window.until(f"{picture}.naturalWidth > 100", 180)
    before = window.js(f"{picture}?.src || ''")
    if window.js(f"!!{cell}.querySelector('.noUi-handle')"):
        window.js(f"{cell}.querySelector('.noUi-handle').focus()")
        for _ in range(4):
            window.press_right()
    else:
        window.js(CHANGE.format(cell=cell))
    new = f"{picture}.src != {json.dumps(before)} && {picture}.naturalWidth > 100"
    said = f"[...{found}].some(e => e.innerText.includes({json.dumps(says)}))"
    window.until(f"{new} && {said}", 120)


def test_explorers_in_a_live_notebook(notebook_server, tmp_path):
    "Each explorer gets a new picture and a sentence when a slider is moved"
    (tmp_path / "profile").mkdir()
    window = Browser(tmp_path / "profile")
    try:
        window.size(1280, 5000)  # cells that are out of sight are not drawn
        window.open(notebook_server)
        window.until(
            "!!document.querySelector('.jp-Notebook .jp-CodeCell .cm-content') && "
            "document.body.innerText.includes('Idle')",
            120,
        )
        window.js("void window.jupyterapp.commands.execute('notebook:run-all-cells')")
        for k, says in enumerate(EXPLORERS.values()):
            use_explorer(window, k, says)
    finally:
        window.close()
