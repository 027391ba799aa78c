"""The site as a visitor meets it: built once, its links, words for pictures and
examples checked as text, then every page opened in a real browser, from a server that
puts it under a sub-path.

Without the docs extra (`make docs` installs it) or without Chromium the tests skip;
with `CI` in the environment they fail instead."""

import fcntl
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
from configparser import ConfigParser
from functools import partial
from html import unescape
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import quote_plus, unquote, urljoin, urlsplit

import pytest
from browser import CHROMIUM, Browser, require
from execute import NBS, ROOT, notebooks
from ledger import errata, statements, take
from package import LIB, modules, sections

WIDE, PHONE = 1280, 390
VIEWS = (WIDE, "light"), (WIDE, "dark"), (PHONE, "light")
LOOK = Path(__file__).with_name("look.js").read_text(encoding="utf-8")


@pytest.fixture(scope="session")
def site():
    "The folder of the built site; processes of one test run share it"
    require(
        find_spec("myst_nb") and find_spec("sphinx_book_theme"),
        "the docs extra is not installed: run make docs",
    )
    shared = Path(
        os.environ["XDG_CACHE_HOME"]
    )  # a new folder for each test run: see conftest
    with open(shared / "site.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        log = shared / "site.log"
        if not log.exists():
            run = subprocess.run(
                [sys.executable, ROOT / "docs" / "build.py", shared / "site"],
                cwd=ROOT,
                capture_output=True,
                text=True,
            )
            log.write_text(
                ""
                if run.returncode == 0
                else (run.stdout + run.stderr)[-6000:] or "failed"
            )
    assert not log.read_text(), f"make docs fails:\n{log.read_text()}"
    return shared / "site" / "_site"


class Reader(HTMLParser):
    "Links, anchors and pictures of a page"

    def __init__(self, text):
        super().__init__()
        self.links, self.anchors, self.pictures = [], set(), []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.anchors.update(filter(None, (attrs.get("id"), attrs.get("name"))))
        if tag == "img":
            self.pictures.append((attrs.get("src"), attrs.get("alt")))
        for key in ("href", "src"):
            if attrs.get(key):
                self.links.append(attrs[key])


@pytest.fixture(scope="session")
def pages(site):
    "{path: Reader} of every page"
    return {
        p.relative_to(site).as_posix(): Reader(p.read_text(encoding="utf-8"))
        for p in sorted(site.rglob("*.html"))
        if "_static" not in p.relative_to(site).parts
    }


def read_settings():
    ini = ConfigParser(delimiters=["="])
    ini.read(ROOT / "settings.ini", encoding="utf-8")
    return ini["DEFAULT"]


def listed():
    "Names of the sidebar, in its order"
    return [name for part in sections() for name in part["contents"]]


def entries(site, page):
    "Targets of the sidebar of a page, relative to the site"
    text = (site / page).read_text(encoding="utf-8")
    nav = re.search(r'<nav[^>]*class="[^"]*bd-links.*?</nav>', text, re.S)[0]
    targets = re.findall(r'<a [^>]*href="([^"]+)"', nav)
    here = Path(page).parent
    return [page if t == "#" else os.path.normpath(here / t) for t in targets]


def test_the_sidebar_is_short(site, pages):
    """A section with a page of its own shows its pages there, and in the sidebar only
    while one of them is read. Mutation: the sidebar shows all pages at once."""
    assert len(entries(site, "index.html")) < 45
    for part in sections():
        if "page" not in part:
            continue
        overview = f"{part['page']}.html"
        assert overview in entries(site, "index.html")
        for name in part["contents"]:
            html = name.removesuffix(".ipynb") + ".html"
            assert html in pages[overview].links
            assert html not in entries(site, "index.html")
            assert html in entries(site, html)
    questions = ROOT / "docs" / "pages" / "questions.md"
    for name in ("clusters", "promises"):
        assert f"]({name}.md)" in questions.read_text(encoding="utf-8")
        assert f"{name}.html" not in entries(site, "index.html")
        shown = entries(site, f"{name}.html")
        assert {f"{name}.html", "questions.html"} <= set(shown)


def test_every_name_of_the_sidebar_is_a_page(site, pages):
    """Mutation: a page of the sidebar is not written, or its download is the processed
    notebook."""
    assert len(listed()) > 60
    for name in listed():
        html = name.removesuffix(".ipynb") + ".html"
        assert html in pages
        if name.endswith(".ipynb") and name != "index.ipynb":
            offers = [t for t in pages[html].links if "_downloads" in t]
            offers = [t for t in offers if t.endswith(".ipynb")]
            assert offers, f"{html} has no notebook to download"
            file = site / Path(html).parent / unquote(offers[0])
            assert file.read_bytes() == (NBS / name).read_bytes()


def test_landing(pages, site):
    """What it is, code with its answer, the explorable, a picture, install, three
    doors, gallery, in this order. Mutation: the explorable comes before the code."""
    text = (site / "index.html").read_text(encoding="utf-8")
    text = text[text.index("<article") :]
    wanted = ("A Python package", "kpw_test", "KPWTestResult", 'class="explorable')
    rest = ("<img", ">Install<", "Reproduce", "Gallery")
    places = [text.index(what) for what in (*wanted, *rest)]
    assert places == sorted(places)
    links = set(pages["index.html"].links)
    assert {"install.html", "when_not.html", "experiments/comparison.html"} <= links
    assert len(pages["index.html"].pictures) > 12


def test_sample_reports(site, pages):
    """Three reports, found from the landing page's neighbour, each whole in itself.
    Mutation: one is not linked, needs the site's styles, or says too much."""
    names = {p.relative_to(site).as_posix() for p in (site / "reports").glob("*.html")}
    assert names == {f"reports/{n}.html" for n in ("penguins", "digits", "nothing")}
    assert names <= set(pages["reports.html"].links)
    assert "reports.html" in pages["index.html"].links
    for name in names:
        text = (site / name).read_text(encoding="utf-8")
        assert not re.search(r"<script|<link|url\(|https?://", text)
        assert all(src.startswith("data:") for src, _ in pages[name].pictures)
        title = re.search(r"<h1>(.*?)</h1>", text, re.S)[1]
        found = title.startswith("The two samples differ, most of all in ")
        assert found == ("nothing" not in name), title


def test_the_headline_has_the_column_s_own_p(site):
    """What the title of a report says of a column is what the table says of it, and
    how large the difference is stands below. Mutation: the overall p in the title."""
    for name in ("penguins", "digits"):
        text = unescape((site / "reports" / f"{name}.html").read_text("utf-8"))
        title = re.search(r"<h1>(.*?)</h1>", text, re.S)[1]
        table = text[text.index("<h2>Where they differ</h2>") :]
        own = re.search(r'<td class="n">([\d.e-]+)</td>', table)[1]
        assert re.search(r"\(p = ([\d.e-]+)", title)[1] == own, name
        assert "you would be right" in text


def test_links_are_named_by_titles(site, pages):
    "Mutation: a link is called 09_descent"
    named = []
    for name in pages:
        text = (site / name).read_text(encoding="utf-8")
        links = re.findall(r"<a\b[^>]*>(.*?)</a>", text, re.S)
        words = (re.sub(r"<[^>]+>", "", link).strip() for link in links)
        named += [f"{name}: {w}" for w in words if re.fullmatch(r"\d\d[a-z]?_\w+", w)]
    assert not named, named[:9]


AVOIDED = (
    "can be meant",
    "told as gaps",
    "made and said",
    "Not finding is not showing",
    "one of the crowd",
    "How, is told",
    "Who expects such",
    "or as many as their rows",
    "that was measured and",
)


def test_words_to_avoid(site, pages):
    "On no page but the code of this test"
    shown = {n: (site / n).read_text(encoding="utf-8") for n in pages}
    found = [f"{n}: {w}" for n, text in shown.items() for w in AVOIDED if w in text]
    assert not found, found


def test_nothing_leads_to_a_host_that_may_not_exist(pages):
    "Links outside come from settings.ini, and only once the package is published"
    assert not read_settings().getboolean("published")
    hosts = ("github.com/kpw-nb", "colab.research", "mybinder", "kpw-nb.github.io")
    dead = [
        f"{name}: {link}"
        for name, page in pages.items()
        for link in page.links
        if any(host in link for host in hosts)
    ]
    assert not dead, "\n".join(dead)


def test_links(site, pages):
    """Every link inside the site leads to a file, and to a place in it; none depends
    on where the site lies"""
    broken = []
    for name, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme in ("http", "https", "mailto", "data"):
                continue
            if parts.scheme or parts.netloc or parts.path.startswith("/"):
                broken.append(f"{name}: {link} is absolute")
            target = urljoin(name, unquote(parts.path)) if parts.path else name
            file = site / (target or "index.html")
            if file.is_dir():
                file = file / "index.html"
                target = f"{target.rstrip('/')}/index.html".lstrip("/")
            if not file.is_file():
                broken.append(f"{name}: no file {link}")
            elif (
                parts.fragment
                and target in pages
                and unquote(parts.fragment) not in pages[target].anchors
            ):
                broken.append(f"{name}: no place {link}")
    assert not broken, "\n".join(sorted(set(broken)))


def test_nothing_comes_from_elsewhere(site, pages):
    "Scripts, styles and pictures are files of the site"
    for name in pages:
        text = (site / name).read_text(encoding="utf-8")
        assert not re.findall(
            r"<(?:script|img|link(?=[^>]*stylesheet))[^>]*(?:src|href)=[\"'](?:https?:)?//[^\"']*",
            text,
        ), name


def test_every_page_says_what_it_is(site, pages):
    """A title of its own, a description for search engines and previews, one first
    heading. Mutation: two pages share a title."""
    titles = {}
    for name in pages:
        if name.startswith(("reports/", "search", "genindex")):
            continue
        text = unescape((site / name).read_text(encoding="utf-8"))
        title = re.search(r"<title>(.*?)</title>", text, re.S)[1]
        assert titles.setdefault(title, name) == name, f"{title} twice"
        said = re.findall(r'<meta[^>]*name="description"[^>]*>', text)
        assert len(said) == 1 and len(said[0]) > 60, f"{name}: {said}"
        for kind in ("og:title", "og:description", "og:type"):
            assert text.count(f'property="{kind}"') == 1, f"{name}: {kind}"
        article = text[text.index("<article") :]
        assert len(re.findall(r"<h1\b", article)) == 1, name


def test_pictures_have_words(pages):
    silent = [
        f"{name}: {src}"
        for name, page in pages.items()
        for src, alt in page.pictures
        if not (alt or "").strip()
    ]
    assert not silent, "\n".join(silent)
    assert sum(len(p.pictures) for p in pages.values()) > 100


def public():
    "(module, name) of every public symbol"
    return [
        (m, name) for m in modules() for name in import_module(f"{LIB}.{m}").__all__
    ]


def test_reference_has_a_page_for_every_name(site, pages):
    """Mutation: a name is left out of docs/pages/reference/index.rst, or its page lacks
    the example or the way back to where it is made and used."""
    front = import_module(LIB).__all__
    wanted = {
        f"{LIB}.{name}" if name in front else f"{LIB}.{module}.{name}"
        for module, name in public()
    }
    made = {Path(p).stem for p in pages if p.startswith("reference/")} - {"index"}
    assert made == wanted
    for full in wanted:
        text = (site / "reference" / f"{full}.html").read_text(encoding="utf-8")
        assert ">Examples<" in text and "&gt;&gt;&gt; " in text, full
        assert "Derived and tested in" in text, full


def test_names_in_prose_are_links(pages):
    "Mutation: `kpw_test` in a guide stays plain"
    there = "../reference/kpw_nb.kpw_test.html#kpw_nb.kpw_test"
    assert there in pages["compare/11_twosample.html"].links


def test_ledger(site):
    """Every statement and every erratum is on its page, and no directive on any.
    Mutation: a section is left out."""
    text = unescape((site / "ledger.html").read_text(encoding="utf-8"))
    for part in statements().values():
        for item in part.values():
            assert item["name"].replace("'", "’") in text, item["name"]
    books = {
        p.relative_to(NBS).as_posix(): json.loads(p.read_text(encoding="utf-8"))
        for p in notebooks()
    }
    entries = [e for name, nb in books.items() for e in take(nb, name)]
    text = (site / "errata.html").read_text(encoding="utf-8")
    for e in errata(entries):
        assert f'id="erratum-{e.name.lower()}"' in text, e.name
        assert f"{e.name}. " in text and f"({e.words[0]})" in text
    assert all(word in text for word in ("lost its 2", "No finite number", "descent"))
    text = (site / "theory/09_descent.html").read_text(encoding="utf-8")
    assert re.search(r"Erratum E\d+: ", text), "a boxed erratum has no number"
    for page in site.rglob("*.html"):
        shown = page.read_text(encoding="utf-8")
        assert "#| ledger" not in shown and "!-- ledger" not in shown, page


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass


@pytest.fixture(scope="module")
def address(site):
    "The site under a sub-path of a local server"
    with tempfile.TemporaryDirectory() as root:
        (Path(root) / "some").mkdir()
        (Path(root) / "some" / "where").symlink_to(site, target_is_directory=True)
        server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=root))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/some/where/"
        server.shutdown()
        server.server_close()


@pytest.fixture(scope="module")
def browser():
    require(CHROMIUM, "Chromium is not installed (Debian: apt-get install chromium)")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        chromium = Browser(profile)
        yield chromium
        chromium.close()


def test_pages_in_a_browser(browser, address, site, pages):
    """Every page loads without an error and typesets its formulas; nothing is cut,
    wrapped, out of its box or too faint (`look.js`), wide or on a phone, light or dark.
    Mutation: `white-space: pre-wrap` for code; a table without its scrolling box."""
    wrong, formulas, views = [], 0, VIEWS
    browser.size(WIDE)
    for name in pages:
        wrong += [f"{name}: {t}" for t in browser.open(address + name)]
        asked = len(
            re.findall(
                r'class="math notranslate', (site / name).read_text(encoding="utf-8")
            )
        )
        shown = browser.js("document.querySelectorAll('mjx-container').length")
        bad = browser.js(
            "[...document.querySelectorAll('mjx-merror, merror, [data-mjx-error]')]"
            ".map(e => e.textContent).slice(0, 3)"
        )
        if shown < asked:
            wrong.append(f"{name}: {shown} of {asked} formulas")
        if bad:
            wrong.append(f"{name}: formulas fail: {bad}")
        if browser.js("[...document.images].some(i => i.complete && !i.naturalWidth)"):
            wrong.append(f"{name}: a picture does not show")
        for width, theme in views:
            browser.size(width)
            browser.js(f"document.documentElement.dataset.theme = '{theme}'")
            wide = browser.js("document.documentElement.scrollWidth")
            seen = [f"{wide} pixels wide"] * (wide > width) + browser.js(LOOK)
            if not name.startswith("reports/"):  # the answer page has tests of its own
                wrong += [f"{name} at {width}, {theme}: {what}" for what in seen]
        formulas += shown
        views = views[::-1]  # the next page begins with the width that this one has
    assert not wrong, "\n".join(wrong)
    assert formulas > 200


GUIDE, PAGE = "tutorials/{}.html", "reference/kpw_nb.{}.html"
SEARCHES = {
    "two sample test": (GUIDE.format("first_test"), PAGE.format("kpw_test")),
    "install": ("install.html",),
    "cite": ("cite.html",),
    "kpw_test": (PAGE.format("kpw_test"),),
    "change point": (GUIDE.format("change_points"),),
    "missing values": (GUIDE.format("units_gaps"), "questions.html"),
    "effect size": (GUIDE.format("effect_size"),),
    "how large is the difference": (GUIDE.format("effect_size"),),
    "drift": (GUIDE.format("drift_in_ci"), GUIDE.format("daily_batches")),
    "data drift": ("questions.html",),
    "A/B test": ("questions.html",),
    "how many samples do I need": ("questions.html", GUIDE.format("power_planning")),
    "sample size": (GUIDE.format("power_planning"),),
    "p-value too large": ("questions.html",),
    "wasserstein distance python": ("questions.html",),
    "MMD": ("questions.html",),
    "multiple testing": ("questions.html",),
    "batch effect": ("questions.html",),
    "paired data": (GUIDE.format("paired_images"),),
    "many groups": (GUIDE.format("groups"),),
    "equivalence": (GUIDE.format("close_enough"),),
    "command line": (GUIDE.format("command_line"),),
    "paper figure": (GUIDE.format("paper_figure"),),
    "what is KPW": (GUIDE.format("what_is_kpw"),),
    "big data": (GUIDE.format("big_data"),),
}


@pytest.mark.parametrize("words", SEARCHES)
def test_search(browser, address, words):
    """The page that people mean comes first, and what is quoted of it is its own text.
    Mutation: the words of the theme in the snippets."""
    browser.size(WIDE)
    assert not browser.open(f"{address}search.html?q={quote_plus(words)}")
    found = "[...document.querySelectorAll('#search-results li a')].map(a => a.href)"
    browser.until(f"{found}.length > 0")
    browser.until("/found/.test(document.querySelector('.search-summary').textContent)")
    first = browser.js(found)[0].removeprefix(address).partition("#")[0]
    assert first.partition("?")[0] in SEARCHES[words], browser.js(found)[:4]
    browser.until("document.querySelector('#search-results .context')")
    quoted = "[...document.querySelectorAll('#search-results .context')]"
    quoted = browser.js(f"{quoted}.map(e => e.textContent).join(' ')")
    assert "Settings Light Dark" not in quoted, quoted[:300]


SHIFT = """new Promise(done => { let sum = 0;
new PerformanceObserver(list => { for (const e of list.getEntries())
  if (!e.hadRecentInput) sum += e.value; }).observe(
  {type: 'layout-shift', buffered: true}); setTimeout(() => done(sum), 500) })"""


@pytest.mark.parametrize("name", ["theory/01_kernels", "theory/07_transport", "index"])
def test_pages_do_not_jump(browser, address, name):
    "Mutation: formulas are set while the text around them is seen"
    browser.size(WIDE)
    browser.open(f"{address}{name}.html")
    assert browser.js(SHIFT) < 0.1
    shown = "getComputedStyle(document.querySelector('article')).visibility"
    assert browser.js(shown) == "visible"


@pytest.mark.parametrize("width", [WIDE, PHONE])
def test_navigation(browser, address, width):
    """From the landing page through the sidebar to the reference, and on by the
    button at the foot"""
    browser.size(width)
    browser.open(address)
    visible = (
        "(e => { const r = e.getBoundingClientRect();"
        " return r.width > 0 && r.left >= 0 && r.right <= innerWidth + 1"
        " && getComputedStyle(e).visibility == 'visible' })"
    )
    place = '[href="reference/index.html"]'
    link = f"document.querySelector('.bd-sidebar-primary a{place}, dialog a{place}')"
    if width == PHONE:
        assert not browser.js(f"{visible}({link})")
        browser.js("document.querySelector('.primary-toggle').click()")
    browser.until(f"{visible}({link})")
    captions = browser.js(
        "[...document.querySelectorAll('.bd-sidebar-primary .caption-text,"
        " dialog .caption-text')].map(e => e.textContent)"
    )
    headings = ["Start", "Guides", "Theory", "Benchmarks", "API", "Developers"]
    assert captions == headings
    browser.js(f"{link}.click()")
    browser.until(
        "location.pathname.endsWith('/reference/index.html')"
        " && document.readyState == 'complete'"
    )
    browser.js("document.querySelector('.prev-next-area a.right-next').click()")
    browser.until(
        "/reference\\/[\\w.]+.html$/.test(location.pathname)"
        " && !location.pathname.endsWith('index.html')"
        " && document.readyState == 'complete'"
    )


def test_dark(browser, address):
    browser.size(WIDE)
    browser.open(address)
    background = (
        "getComputedStyle(document.body).backgroundColor.match(/\\d+/g)"
        ".slice(0, 3).map(Number).reduce((a, b) => a + b)"
    )
    browser.js("document.documentElement.dataset.theme = 'light'")
    light = browser.js(background)
    browser.js("document.documentElement.dataset.theme = 'dark'")
    assert browser.js(background) < 200 < 600 < light
