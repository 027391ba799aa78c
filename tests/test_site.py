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
from functools import partial
from html import unescape
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit

import pytest
import yaml
from browser import CHROMIUM, Browser, require
from execute import NBS, ROOT, notebooks
from ledger import errata, statements, take

LIB = "kpw_nb"
WIDE, PHONE = 1280, 390


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


def test_every_notebook_is_a_page(site, pages):
    sections = yaml.safe_load((NBS / "sidebar.yml").read_text(encoding="utf-8"))[
        "website"
    ]["sidebar"]["contents"]
    names = [n for s in sections for n in s["contents"] if (NBS / n).exists()]
    assert len(names) > 15
    for name in names:
        html = name.replace(".ipynb", ".html")
        assert html in pages
        # the real notebook is there to download, byte for byte
        links = [
            link
            for link in pages[html].links
            if link.endswith(".ipynb") and "_downloads" in link
        ]
        assert links, f"{html} has no notebook to download"
        assert (site / Path(html).parent / unquote(links[0])).read_bytes() == (
            NBS / name
        ).read_bytes()
        assert (
            sum(
                host in " ".join(pages[html].links)
                for host in ("colab.research.google.com", "mybinder.org")
            )
            == 2
        )
    assert {
        "ledger.html",
        "errata.html",
        "changelog.html",
        "reference/index.html",
        "search.html",
    } <= pages.keys()


def test_landing(site):
    """The story and the gallery show every picture that they name; only a notebook
    without any is left out"""
    chosen = yaml.safe_load((ROOT / "docs" / "gallery.yml").read_text(encoding="utf-8"))
    text = unescape((site / "index.html").read_text(encoding="utf-8")).replace("’", "'")
    assert (
        len(chosen["story"]) == 3
        and len({entry["notebook"] for entry in chosen["story"]}) == 1
    )
    for entry in chosen["story"] + chosen["gallery"]:
        assert entry.keys() <= {"notebook", "cell", "title", "text"}, entry
        drawn = '"image/png"' in (NBS / entry["notebook"]).read_text(encoding="utf-8")
        assert (f"{entry['title']}</div>" in text) == drawn, entry


def test_sample_reports(site, pages):
    """Three reports, found from the landing page and from the sidebar, each whole in
    itself. Mutation: one is not linked, needs the site's styles, or says too much."""
    names = {p.relative_to(site).as_posix() for p in (site / "reports").glob("*.html")}
    assert names == {f"reports/{n}.html" for n in ("penguins", "digits", "nothing")}
    for page in ("index.html", "reports.html"):
        assert names <= set(pages[page].links)
    assert "../reports.html" in pages["tutorials/first_test.html"].links
    for name in names:
        text = (site / name).read_text(encoding="utf-8")
        assert not re.search(r"<script|<link|url\(|https?://", text)
        assert all(src.startswith("data:") for src, _ in pages[name].pictures)
        title = re.search(r"<h1>(.*?)</h1>", text, re.S)[1]
        found = title.startswith("The two samples differ, most of all in ")
        assert found == ("nothing" not in name), title


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


def test_pictures_have_words(pages):
    silent = [
        f"{name}: {src}"
        for name, page in pages.items()
        for src, alt in page.pictures
        if not (alt or "").strip()
    ]
    assert not silent, "\n".join(silent)
    assert sum(len(p.pictures) for p in pages.values()) > 30


def public():
    "(module, name) of every public symbol"
    modules = sorted(
        p.stem for p in (ROOT / LIB).glob("*.py") if not p.stem.startswith("_")
    )
    return [(m, name) for m in modules for name in import_module(f"{LIB}.{m}").__all__]


def test_reference_has_every_symbol(site, pages):
    "A section, a signature and an example for each public name of each module"
    examples = site.parent / "_nb" / "_examples"
    for module, name in public():
        assert (
            f"ref-{module}-{name}".replace("_", "-").lower()
            in pages[f"reference/{module}.html"].anchors
        ), f"no section of {module}.{name}"
        assert (examples / f"{module}.{name}.py").is_file(), (
            f"no example of {module}.{name}"
        )


def test_extra_examples_are_of_public_names():
    given = yaml.safe_load((ROOT / "docs" / "examples.yml").read_text(encoding="utf-8"))
    stale = given.keys() - {f"{module}.{name}" for module, name in public()}
    assert not stale, f"docs/examples.yml has {sorted(stale)}, which are not public"


def test_examples_know_their_names(site):
    "No example uses a name that it does not define or import"
    command = [
        Path(sys.executable).with_name("ruff"),
        "check",
        "--isolated",
        "--no-cache",
        "--select",
        "F821,F811,E9",
        site.parent / "_nb" / "_examples",
    ]
    run = subprocess.run(command, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout


# slow examples take minutes each: `make notebooks SLOW=1` runs them
RUN = """import sys, matplotlib.pyplot as plt
for path in sys.argv[1:]:
    code = open(path, encoding="utf-8").read()
    if code.startswith("# slow"):
        continue
    try:
        exec(compile(code, path, "exec"), {"__name__": "example"})
    except Exception as e:
        print(f"{path}: {type(e).__name__}: {e}", file=sys.stderr)
    plt.close("all")"""


@pytest.mark.slow
@pytest.mark.parametrize("module", sorted({m for m, _ in public()}))
def test_examples_run(site, tmp_path, module):
    "Each example runs by itself"
    files = sorted((site.parent / "_nb" / "_examples").glob(f"{module}.*.py"))
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", RUN, *files],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert files and run.returncode == 0
    assert ".py: " not in run.stderr, run.stderr


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
    "Every page loads without an error, typesets its formulas, and fits a phone"
    wrong, formulas = [], 0
    for name in pages:
        browser.size(WIDE)
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
        for width in (WIDE, PHONE):
            browser.size(width)
            wide = browser.js("document.documentElement.scrollWidth")
            if wide > width:
                what = browser.js(
                    "[...document.querySelectorAll('main *')].filter("
                    f"e => e.getBoundingClientRect().right > {width} + 1)"
                    ".slice(0, 3).map(e => e.tagName + '.' + e.className)"
                )
                wrong.append(f"{name}: {wide} pixels wide at {width}: {what}")
        formulas += shown
    assert not wrong, "\n".join(wrong)
    assert formulas > 200


def test_search(browser, address):
    browser.size(WIDE)
    assert not browser.open(address + "search.html?q=kpw_test")
    found = "[...document.querySelectorAll('#search-results li a')].map(a => a.href)"
    browser.until(f"{found}.length > 0")
    browser.until(f"{found}.some(h => h.includes('reference/twosample.html'))")
    assert all(h.startswith(address) for h in browser.js(found))


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
    assert {
        "Start",
        "Use",
        "Learn",
        "Reproduce",
        "Tools",
        "Reference",
        "Record",
    } <= set(captions)
    browser.js(f"{link}.click()")
    browser.until(
        "location.pathname.endsWith('/reference/index.html')"
        " && document.readyState == 'complete'"
    )
    browser.js("document.querySelector('.prev-next-area a.right-next').click()")
    browser.until(
        "/reference\\/\\w+.html$/.test(location.pathname)"
        " && !location.pathname.endsWith('index.html')"
        " && document.readyState == 'complete'"
    )


def test_widgets(browser, address, site):
    "The explorers' slider turns the pictures over, with no Python behind it"
    if not (site / "_static" / "vendor" / "embed-amd.js").exists():
        pytest.skip(
            "npm did not give the widgets' scripts: the page has still pictures"
        )
    browser.size(WIDE)
    assert not browser.open(address + "22_explore.html")
    shown = (
        "[...document.querySelectorAll('.widget-box img')]"
        ".filter(i => i.offsetParent).map(i => i.alt)"
    )
    browser.until(
        "document.querySelectorAll('.widget-box .noUi-handle').length > 1 && "
        + shown
        + ".length == 2"
    )
    before = browser.js(shown)
    assert all(before)
    browser.js("document.querySelector('.widget-box .noUi-handle').focus()")
    browser.press_right()
    browser.until(f"{shown}[0] != {json.dumps(before[0])}")
    assert not browser.troubles(address), browser.troubles(address)


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
