"""The explorables of the site: what they show is what the package computes, and they
work in a browser, from a file, by mouse, touch and keyboard."""

import itertools
import json
import re
import statistics
import time

import numpy as np
import pytest
from browser import CHROMIUM, Browser, require

from kpw_nb import kpw_test
from kpw_nb.show.explore import DIGITS, EXPLORABLES, as_bits, explorable, null_levels
from kpw_nb.compare.relabel import permutation_pvalue
from kpw_nb.compare.family import MEMBERS, refit_statistics
from kpw_nb.theory.transport import exact_transport


@pytest.fixture(scope="module")
def fragments():
    "{name: HTML}, as the builder of the site gets it; made once"
    began = time.process_time()
    made = {name: explorable(name) for name in EXPLORABLES}
    assert time.process_time() - began < 30  # 10 on a free machine
    return made


def embedded(fragment):
    "The numbers in a piece of HTML"
    return json.loads(re.search(r"const data = (\{.*\});\n", fragment)[1])


@pytest.fixture(scope="module")
def clouds(fragments):
    return embedded(fragments["two_clouds"])


@pytest.fixture(scope="module")
def descent(fragments):
    return embedded(fragments["descent"])


def read(letters):
    return np.array([DIGITS.index(letter) for letter in letters])


# What is in them ----------------------------------------------------------------------


@pytest.mark.parametrize("name", EXPLORABLES)
def test_a_fragment_stands_alone(fragments, name):
    fragment = fragments[name]
    assert len(fragment.encode()) < 1_000_000
    assert fragment.startswith('<div class="explorable')
    assert fragment.rstrip().endswith("</div>") and fragment.count("<script>") == 1
    assert set(re.findall(r"https?://[^\"/]*", fragment)) == {"http://www.w3.org"}
    assert not re.search(r"<link|<img|@import|url\(|src=| id=", fragment)
    assert "<noscript>" in fragment and 'aria-live="polite"' in fragment
    classes = " ".join(re.findall(r'class="([^"$]*)"', fragment)).split()
    assert all(c == "explorable" or c.startswith("kpw-") for c in classes)


def test_names():
    with pytest.raises(ValueError, match="two_clouds"):
        explorable("clouds")


def settings(clouds):
    "Every position of the controls, in the order of the states"
    return itertools.product(
        range(len(clouds["shapes"])),
        clouds["shifts"],
        clouds["spreads"],
        clouds["sizes"],
    )


def placed(clouds, shape, shift, spread, n):
    "Both samples, as the script places them"
    X, Y = np.array(clouds["X"])[:n], np.array(clouds["Y"][shape])[:n]
    half = np.array([2 * shift, 0])
    return (4 * X - half) / clouds["unit"], (spread * Y + half) / clouds["unit"]


def shown_pvalue(state):
    "As the script counts it"
    null = read(state[3])
    return (1 + (null >= state[0]).sum()) / (1 + len(null))


@pytest.mark.parametrize("first", range(0, 300, 23))
def test_pvalues_are_those_of_the_package(clouds, first):
    "Mutation: points rounded after the test, another seed, letters rounded over a tie"
    assert len(clouds["states"]) == 300
    setting = [*settings(clouds)][first]
    state = clouds["states"][first]
    data = placed(clouds, *setting)
    result = kpw_test(*data, n_resamples=199, rng=0)
    assert shown_pvalue(state) == result.pvalue
    assert len(state[3]) == result.n_resamples == clouds["relabellings"]
    values = np.r_[result.statistic, result.null_distribution]
    shown = np.r_[state[0], read(state[3])] / 63
    assert np.abs(shown - values / values.max()).max() <= 1.5 / 63
    assert float(state[1]) == pytest.approx(values.max(), abs=0.0051)


def test_projections_and_field_are_those_of_the_projector(clouds):
    setting = 2, 0, 3, 100  # two clumps, spread 3/4
    at = [*settings(clouds)].index(setting)
    X, Y = placed(clouds, *setting)
    result = kpw_test(X, Y, n_resamples=199, rng=0)
    f = result.transform(np.vstack([X, Y]))[:, 0]
    drawn, field = map(read, clouds["states"][at][4:])
    assert abs(np.corrcoef(drawn, f)[0, 1]) > 0.999 and len(field) == 400
    assert drawn[:100].mean() <= drawn[100:].mean()
    window = clouds["windows"][clouds["spreads"].index(3)]
    corner = np.array([[-0.95 * window, 0.95 * window]])  # of the first field
    low, high = (f.min(), f.max())
    place = (result.transform(corner)[0, 0] - low) / (high - low)
    if np.corrcoef(drawn, f)[0, 1] < 0:
        place = 1 - place
    assert field[0] == np.clip(np.rint(63 * place), 0, 63)


def test_every_point_is_in_the_window(clouds):
    for shape, shift, spread, n in settings(clouds):
        window = clouds["windows"][clouds["spreads"].index(spread)]
        largest = np.abs(placed(clouds, shape, shift, spread, n)).max()
        assert largest < window < 2 * largest


def test_relabellings_are_those_of_the_test(clouds):
    "Mutation: names shuffled by another seed than the values"
    X, Y = placed(clouds, 3, 30, 4, 20)
    result = kpw_test(X, Y, candidates="KPW", n_resamples=199, rng=0)
    bits = [[k >> b & 1 for k in read(row) for b in range(5, -1, -1)][:40]
            for row in clouds["labels"][0]]  # fmt: skip
    marks = np.array(bits, bool)
    assert (marks.sum(1) == 20).all()
    values = refit_statistics([MEMBERS["KPW"]], np.vstack([X, Y]))(marks)[:, 0]
    np.testing.assert_allclose(values, result.null_distribution, rtol=1e-9)
    assert as_bits(marks[0]) == clouds["labels"][0][0]


def test_the_first_picture_is_telling(clouds):
    start = clouds["start"]
    setting = (
        start["shape"],
        clouds["shifts"][start["shift"]],
        clouds["spreads"][start["spread"]],
        clouds["sizes"][start["size"]],
    )
    state = clouds["states"][[*settings(clouds)].index(setting)]
    assert setting == (1, 0, 4, 100)  # a ring, neither shifted nor spread
    assert shown_pvalue(state) == 0.005 and state[2] > 0.2


def test_levels_keep_ties():
    "Who reaches the observed value still does, and nobody else"
    g = np.random.default_rng(0)
    for _ in range(50):
        null = g.gamma(2, size=99)
        observed = g.choice([*null, null.max() * 1.001, np.median(null), 1e-3])
        null[:3] = observed, observed * (1 - 1e-9), observed * (1 + 1e-9)
        at, steps = null_levels(observed, null)
        shown = (1 + (steps >= at).sum()) / 100
        assert shown == permutation_pvalue(observed, null)
        assert steps.min() >= 0 and steps.max() <= 63


def test_the_descent_is_a_descent(descent):
    F = [frame[2] for frame in descent["frames"]]
    W = [turn[0] for turn in descent["turns"]]
    assert (np.diff(F) < 0).all() and (np.diff(W) > 0).all()
    assert W[-1] < descent["most"] < 1.1 * W[-1]
    blocks = "".join(frame[0] for frame in descent["frames"])
    assert re.fullmatch("uv(suv)+", blocks)


def test_frames_are_plans(descent):
    "Masses of rows fit after u, those of columns after v; W is that of the points"
    n = descent["n"]
    for block, turn, F, plan, masses, rows, columns in descent["frames"]:
        right = read(masses) == 21
        assert block == "s" or right[:n].all() == (block == "u" or rows < 3)
        assert block == "s" or right[n:].all() == (block == "v" or columns < 3)
        assert block == "s" or min(rows, columns) == 0
        # entries beyond 1/n are cut; letters are within half a step
        entries = read(plan).reshape(n, n) / 63
        assert (entries.sum(1) <= 1 + n / 126 + (rows / 100)).all()
    f = np.array(descent["turns"][0][1])[:, None] / 1000
    g = np.array(descent["turns"][-1][1])[:, None] / 1000
    ratio = exact_transport(g[:n], g[n:]).value / exact_transport(f[:n], f[n:]).value
    W = [descent["turns"][k][0] for k in (-1, 0)]
    assert ratio == pytest.approx(W[0] / W[1], rel=0.02)


# In a browser -------------------------------------------------------------------------

PAGE = """<!doctype html><html lang="en" data-theme="light"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1"><title>both</title>
<style>body {{ margin: 0 1rem; font-family: sans-serif; }}
html[data-theme="dark"] {{ background: #14181c; }}</style></head><body>
<script>var before = Object.keys(window)</script>
{}</body></html>"""


@pytest.fixture(scope="module")
def address(fragments, tmp_path_factory):
    "A page in a file with both, and the first one a second time"
    file = tmp_path_factory.mktemp("explorables") / "both.html"
    every = [fragments["two_clouds"], fragments["descent"], fragments["two_clouds"]]
    file.write_text(PAGE.format("\n".join(every)), encoding="utf-8")
    return file.as_uri()


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    require(CHROMIUM, "Chromium is not installed (Debian: apt-get install chromium)")
    window = Browser(tmp_path_factory.mktemp("profile"))
    yield window
    window.close()


def motion(browser, what):
    "Does the visitor want things to move? 'reduce' or 'no-preference'"
    feature = dict(name="prefers-reduced-motion", value=what)
    browser("Emulation.setEmulatedMedia", features=[feature])


@pytest.fixture
def page(browser, address):
    "The page, at its beginning, with pictures that do not move by themselves"
    motion(browser, "reduce")
    browser.size(1280)
    assert browser.open(address) == []
    yield browser
    assert browser.troubles(address) == []


CLOUDS, DESCENT = (f"document.querySelector('.kpw-{n}')" for n in ("clouds", "descent"))


def text(browser, root, name):
    return browser.js(f"{root}.querySelector('.kpw-x-{name}').textContent")


def choose(browser, shape, shift, spread, size):
    "Put all controls somewhere, as a hand would, and tell the page once"
    browser.js(
        f"""(root => {{
            root.querySelectorAll('.kpw-x-shape input')[{shape}].checked = true;
            root.querySelectorAll('.kpw-x-size input')[{size}].checked = true;
            root.querySelector('.kpw-x-shift').value = {shift};
            const last = root.querySelector('.kpw-x-spread');
            last.value = {spread};
            last.dispatchEvent(new Event('input', {{bubbles: true}}));
        }})({CLOUDS})"""
    )


def test_no_names_are_leaked(page):
    new = "Object.keys(window).filter(k => !before.includes(k) && k !== 'before')"
    assert page.js(new) == []
    assert page.js("document.querySelectorAll('[data-ready]').length") == 3


def test_the_sentence_has_the_pvalue(page, clouds):
    "Mutation: states in another order than the controls"
    places = itertools.product(range(4), range(5), range(5), range(3))
    for at, place in [*enumerate(places)][::17]:
        choose(page, *place)
        p = shown_pvalue(clouds["states"][at])
        said = text(page, CLOUDS, "verdict")
        digits = 2 if p >= 0.0995 else 3
        differ = "the samples differ" if p <= 0.05 else "no difference found"
        assert said.startswith(f"p = {p:.{digits}f}: {differ}.")
        reached = round(200 * p) - 1 or "none"
        assert f"Of 199 relabellings {reached} did as well" in said
        bricks = f"{CLOUDS}.querySelectorAll('.kpw-x-reached').length"
        assert page.js(bricks) == round(200 * p) - 1
        means = clouds["states"][at][2]
        places = 2 if means >= 0.0995 else 3
        told = "< 0.001" if means < 0.0005 else f"= {means:.{places}f}"
        assert said.endswith(f"The means alone (t-tests): p {told}.")
        assert "p = 0.000" not in said
        same = "both come from the same distribution" in said
        assert same == (place[:3] == (0, 0, 2))


def test_points_stand_where_they_were_tested(page, clouds):
    choose(page, 2, 3, 4, 0)
    X, Y = placed(clouds, 2, 90, 6, 20)
    found = page.js(
        f"""[...{CLOUDS}.querySelectorAll('.kpw-x-plane .kpw-x-point')]
        .filter(e => e.style.display !== 'none')
        .map(e => new DOMMatrix(e.style.transform)).map(m => [m.e, m.f])"""
    )
    pixels = 180 + 180 * np.vstack([X, Y]) * [1, -1] / clouds["windows"][4]
    np.testing.assert_allclose(found, pixels, atol=0.06)


def test_keyboard(page):
    "The right arrow on a slider changes the picture and the sentence"
    look = f"{CLOUDS}.querySelector('.kpw-x-line svg').innerHTML"
    before = page.js(look), text(page, CLOUDS, "verdict")
    page.js(f"{CLOUDS}.querySelector('.kpw-x-shift').focus()")
    page.press_right()
    after = page.js(look), text(page, CLOUDS, "verdict")
    assert before[0] != after[0] and before[1] != after[1]
    assert "shifted by 0.3" in after[1]
    label = f"{CLOUDS}.querySelector('.kpw-x-plane svg').getAttribute('aria-label')"
    assert "shifted by 0.3" in page.js(label)
    page.js(f"{CLOUDS}.querySelector('.kpw-x-shape input:checked').focus()")
    page.press_right()
    assert "in two clumps" in text(page, CLOUDS, "verdict")
    page.js(f"{DESCENT}.querySelector('.kpw-x-frame').focus()")
    before = page.js(f"{DESCENT}.querySelector('.kpw-x-line svg').innerHTML")
    page.press_right()
    assert text(page, DESCENT, "title").startswith("Turn 1, v:")
    assert page.js(f"{DESCENT}.querySelector('.kpw-x-line svg').innerHTML") != before


def test_relabel(page, clouds):
    "One more at each click, the plane has the shuffled names, and then its own again"
    assert text(page, CLOUDS, "count").startswith("199 of 199 relabellings")
    for k in (1, 2, 3):
        page.js(f"{CLOUDS}.querySelector('.kpw-x-once').click()")
        assert text(page, CLOUDS, "count").startswith(f"{k} of 199 relabellings")
    inX = f"[...{CLOUDS}.querySelectorAll('.kpw-x-plane .kpw-x-point')]"
    inX += ".map(e => e.classList.contains('kpw-x-inx') ? 1 : 0)"
    assert as_bits(page.js(inX)) == clouds["labels"][2][2]
    assert page.js(f"{CLOUDS}.querySelectorAll('.kpw-x-newest').length") == 1
    page.until(f"{inX}.slice(0, 100).every(Boolean)")
    page.js(f"{CLOUDS}.querySelector('.kpw-x-play').click()")
    assert text(page, CLOUDS, "count").startswith("199 of 199")


def test_touch(page):
    "A tap on a button, on a choice, and on the end of a slider"
    page("Emulation.setTouchEmulationEnabled", enabled=True)

    def tap(selector, share=0.5):
        node = f"document.querySelector({selector!r})"
        page.js(f"{node}.scrollIntoView({{block: 'center'}})")
        x, y = page.js(
            f"(b => [b.left + {share} * b.width, b.top + b.height / 2])"
            f"({node}.getBoundingClientRect())"
        )
        points = [dict(x=x, y=y)]
        page("Input.dispatchTouchEvent", type="touchStart", touchPoints=points)
        page("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])

    try:
        tap(".kpw-clouds .kpw-x-once")
        page.until(f"{CLOUDS}.innerText.includes('1 of 199')")
        tap(".kpw-clouds .kpw-x-size label:first-child")
        plane = f"{CLOUDS}.querySelector('.kpw-x-plane svg').getAttribute('aria-label')"
        page.until(f"{plane}.startsWith('20 points of X')")
        tap(".kpw-clouds .kpw-x-spread", 0.98)
        page.until(f"{CLOUDS}.innerText.includes('spread 1.5 times')")
        tap(".kpw-descent .kpw-x-on")
        page.until(f"{DESCENT}.innerText.includes('Turn 1, v')")
    finally:
        page("Emulation.setTouchEmulationEnabled", enabled=False)


def test_steps_of_the_descent(page, descent):
    last = len(descent["frames"]) - 1
    for k in (5, last):
        page.js(
            f"""(s => {{ s.value = {k}; s.dispatchEvent(new Event('input')) }})
            ({DESCENT}.querySelector('.kpw-x-frame'))"""
        )
        F, W = descent["frames"][k][2], descent["turns"][descent["frames"][k][1]][0]
        said = page.js(f"{DESCENT}.querySelector('.kpw-x-curves svg').textContent")
        assert f"F = {F:.3f}" in said and f"W = {W:.3f}" in said
    assert f"No map of norm one has W above {descent['most']}" in text(
        page, DESCENT, "text"
    )
    page.js(f"{DESCENT}.querySelector('.kpw-x-on').click()")  # there is no further one
    assert page.js(f"+{DESCENT}.querySelector('.kpw-x-frame').value") == last
    page.js(f"{DESCENT}.querySelector('.kpw-x-back').click()")
    assert page.js(f"+{DESCENT}.querySelector('.kpw-x-frame').value") == last - 1


def test_it_plays_by_itself(browser, address):
    motion(browser, "no-preference")
    browser.open(address)
    browser.until(f"{CLOUDS}.innerText.includes('so far')")
    browser.until(f"{CLOUDS}.innerText.includes('199 of 199')")
    browser.js(f"{DESCENT}.querySelector('.kpw-x-play').click()")
    browser.until(f"+{DESCENT}.querySelector('.kpw-x-frame').value >= 2")
    browser.js(f"{DESCENT}.querySelector('.kpw-x-play').click()")
    at = browser.js(f"+{DESCENT}.querySelector('.kpw-x-frame').value")
    time.sleep(1)
    assert browser.js(f"+{DESCENT}.querySelector('.kpw-x-frame').value") == at
    assert browser.troubles(address) == []


def test_copies_do_not_tangle(page):
    second = "document.querySelectorAll('.kpw-clouds')[1]"
    before = text(page, second, "verdict")
    choose(page, 0, 2, 2, 0)
    assert text(page, CLOUDS, "verdict") != before == text(page, second, "verdict")


ANSWER = """(node => Array.from({{length: 10}}, (_, k) => {{
    node.value = 1 + k % 4;
    const began = performance.now();
    node.dispatchEvent(new Event('input', {{bubbles: true}}));
    document.body.getBoundingClientRect();
    return performance.now() - began;
}}))({root}.querySelector('.kpw-x-{name}'))"""


@pytest.mark.parametrize("root, name", [(CLOUDS, "spread"), (DESCENT, "frame")])
def test_it_answers_at_once(page, root, name):
    "From the event to the new picture, laid out, in milliseconds"
    assert statistics.median(page.js(ANSWER.format(root=root, name=name))) < 100


WIDER = """[...document.querySelectorAll('body *')]
    .filter(e => e.getBoundingClientRect().right > innerWidth + 0.5
              || (e.scrollWidth > e.clientWidth + 1 && e.clientWidth
                  && !e.closest('svg, button, label, .kpw-x-stage')))
    .map(e => e.outerHTML.slice(0, 80))"""


@pytest.mark.parametrize("width", [390, 1280])
def test_it_fits(browser, address, width):
    motion(browser, "reduce")
    browser.size(width)
    browser.open(address)
    choose(browser, 3, 4, 4, 0)
    assert browser.js(WIDER) == []
    assert browser.js("document.documentElement.scrollWidth") == width


def luminance(colour):
    parts = np.array([*map(int, re.findall(r"\d+", colour)[:3])]) / 255
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return linear @ [0.2126, 0.7152, 0.0722]


TEXTS = "p, figcaption, b, legend, .kpw-x-count, .kpw-x-label, svg text"
COLOURS = (
    f"[...document.querySelectorAll('.kpw-x :is({TEXTS})')].map("
    "e => e.closest('svg') ? getComputedStyle(e).fill : getComputedStyle(e).color)"
)


def colours(page, theme):
    "Of every text"
    page.js(f"document.documentElement.dataset.theme = {theme!r}")
    return set(page.js(COLOURS))


@pytest.mark.parametrize(
    "theme, ground", [("light", "255 255 255"), ("dark", "20 24 28")]
)
def test_both_modes_can_be_read(page, theme, ground):
    "The contrast of every text is at least 4.5"
    found = colours(page, theme)
    assert len(found) >= 4
    for colour in found:
        low, high = sorted((luminance(colour), luminance(ground)))
        assert (high + 0.05) / (low + 0.05) >= 4.5, colour


def test_dark_is_another_mode(page):
    assert not colours(page, "light") & colours(page, "dark")
