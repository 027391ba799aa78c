"""What the site asks of Sphinx beyond its settings: names of the package in backticks
are links to the reference, and every page has a description for search engines and
previews."""

import json
from html import escape
from pathlib import Path
from textwrap import shorten

from docutils import nodes
from sphinx.util.nodes import make_refnode

KEEP_PLAIN = (nodes.title, nodes.reference, nodes.literal_block)
MOST = 200  # characters of a description


def documented(env):
    "{how people write it: (page, anchor)} of every public name and its methods"
    found = {}
    for full, entry in env.get_domain("py").objects.items():
        parts = full.split(".")
        short = parts[-1:] if entry.objtype in ("class", "function") else parts[-2:]
        found[".".join(short)] = entry.docname, entry.node_id
    return found


def is_name(text):
    "Does a word in backticks speak of the package, not of an argument or a value?"
    return text.endswith("()") or "_" in text or not text.islower()


def link_names(app, tree, docname):
    "Make `kpw_test` in prose a link to its page"
    known = documented(app.env)
    for node in list(tree.findall(nodes.literal)):
        text = node.astext()
        name = text.removesuffix("()").removeprefix("kpw_nb.")
        above = node.parent
        while above is not None and not isinstance(above, KEEP_PLAIN):
            above = above.parent
        if above is not None or name not in known or not is_name(text):
            continue
        new = make_refnode(app.builder, docname, *known[name], node.deepcopy())
        node.replace_self(new)


def description(tree):
    "The promise under the title, else the first paragraph of the page"
    for kind in (nodes.block_quote, nodes.paragraph):
        for node in tree.findall(kind):
            text = " ".join(node.astext().split())
            if len(text) > 20:
                return shorten(text, MOST, placeholder=" …")
    return ""


def describe(app, page, template, context, tree):
    "Meta tags: what the page is about, for search engines and previews"
    if tree is None:
        return
    said = description(tree) or app.config.project
    title = escape(context["title"], quote=True)
    tags = {"og:title": title, "og:description": escape(said), "og:type": "article"}
    lines = [f'<meta property="{k}" content="{v}">' for k, v in tags.items()]
    if 'name="description"' not in context["metatags"]:
        lines.append(f'<meta name="description" content="{escape(said)}">')
    context["metatags"] += "\n".join(lines)


def back_links(app, config):
    "Where each name is made and used, for the templates of the reference"
    seen = Path(app.srcdir) / "_fragments" / "seen.json"
    config.autosummary_context = json.loads(seen.read_text(encoding="utf-8"))


def setup(app):
    app.connect("config-inited", back_links)
    app.connect("doctree-resolved", link_names)
    app.connect("html-page-context", describe)
