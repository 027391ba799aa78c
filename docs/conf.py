"""Sphinx reads this. Names and addresses come from settings.ini; pages come from
docs/build.py, which puts them in docs/_nb."""

import sys
from configparser import ConfigParser
from pathlib import Path

_HERE = Path(__file__).parent
sys.path.insert(0, str(_HERE))  # for hooks.py
_ini = ConfigParser(delimiters=["="])
_ini.read(_HERE.parent / "settings.ini", encoding="utf-8")
_cfg = _ini["DEFAULT"]

project = html_title = _cfg["title"]
author, copyright, version = _cfg["author"], _cfg["copyright"], _cfg["version"]
root_doc = "index"
exclude_patterns = ["_notebooks", "_fragments"]
templates_path = [str(_HERE / "templates")]
extensions = ["myst_nb", "sphinx_copybutton", "sphinx_design", "sphinx-mathjax-offline"]
extensions += ["sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx.ext.napoleon"]
extensions += ["hooks"]

nb_execution_mode = "off"  # outputs are those in the notebooks
nb_render_markdown_format = "myst"
myst_enable_extensions = ["amsmath", "dollarmath", "colon_fence", "attrs_inline"]
myst_enable_extensions += ["attrs_block", "deflist"]
myst_heading_anchors = 4  # [text](theory/01_kernels.ipynb#section)
myst_dmath_double_inline = True

autodoc_typehints = "none"  # the docstrings' types are for people
autodoc_member_order = "bysource"
_sklearn = "set_fit_request, set_transform_request, set_score_request"
autodoc_default_options = {"members": True, "exclude-members": _sklearn}
napoleon_google_docstring = False
napoleon_use_rtype = napoleon_use_param = False
napoleon_use_ivar = True
python_maximum_signature_line_length = 70
add_module_names = False
default_role = "literal"

html_theme = "sphinx_book_theme"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = [("sort.js", {"defer": "defer"})]
html_favicon = "_static/favicon.svg"
html_search_scorer = str(_HERE / "_static" / "scorer.js")
html_context = dict(default_mode="auto")  # light or dark as the reader's system is
html_show_sourcelink = html_copy_source = html_use_index = False
html_theme_options = dict(
    use_download_button=False,  # each page has the notebook itself
    show_toc_level=2,
    collapse_navbar=True,  # a section's pages show while one of them is read
    navbar_start=[],
    navbar_center=[],
    navbar_end=[],
    navbar_persistent=[],  # one search field, in the sidebar
)
if _cfg.getboolean("published", False):
    html_theme_options |= dict(
        repository_url=_cfg["git_url"],
        repository_branch=_cfg["branch"],
        path_to_docs=_cfg["nbs_path"],
        use_repository_button=True,
    )
copybutton_selector = "div:not(.output) > div.highlight pre"
