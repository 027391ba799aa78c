"""Sphinx reads this. Names and addresses come from settings.ini; pages come from
docs/build.py, which puts them in docs/_nb."""

from configparser import ConfigParser
from pathlib import Path

_HERE = Path(__file__).parent
_ini = ConfigParser(delimiters=["="])
_ini.read(_HERE.parent / "settings.ini", encoding="utf-8")
_cfg = _ini["DEFAULT"]

project = html_title = _cfg["title"]
author, copyright, version = _cfg["author"], _cfg["copyright"], _cfg["version"]
root_doc = "index"
exclude_patterns = ["_notebooks", "_examples"]
extensions = ["myst_nb", "sphinx_copybutton", "sphinx_design", "sphinx-mathjax-offline"]

nb_execution_mode = "off"  # outputs are those in the notebooks
nb_render_markdown_format = "myst"
myst_enable_extensions = [
    "amsmath",
    "dollarmath",
    "colon_fence",
    "attrs_inline",
    "deflist",
]
myst_heading_anchors = 3  # [text](03_kernels.ipynb#section)
myst_dmath_double_inline = True
suppress_warnings = [
    "myst.header"
]  # a symbol (level 3) may come before the first section (level 2)

html_theme = "sphinx_book_theme"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_favicon = "_static/favicon.svg"
html_context = dict(
    default_mode="auto"
)  # light or dark as the reader's system is; the button changes it
html_show_sourcelink = html_copy_source = html_use_index = (
    False  # the Reference lists every name
)
html_theme_options = dict(
    repository_url=_cfg["git_url"],
    repository_provider="github",
    repository_branch=_cfg["branch"],
    path_to_docs=_cfg["nbs_path"],
    use_repository_button=True,
    # its button would serve the processed page; each page links the notebook
    use_download_button=False,
    show_toc_level=2,
    navbar_start=[],
    navbar_center=[],
    navbar_end=[],
    navbar_persistent=[],  # one search field, in the sidebar
)
copybutton_selector = "div:not(.output) > div.highlight pre"

# Widgets need two scripts, which docs/vendor.py fetches when it can; no page ever asks
# a CDN for them. Without them pages show the static output.
_vendor = {
    "vendor/require.js": {},
    "widgets.js": {},
    "vendor/embed-amd.js": {"data-jupyter-widgets-cdn": ""},
}
nb_ipywidgets_js = (
    _vendor if all((_HERE / "_static" / name).exists() for name in _vendor) else {}
)
