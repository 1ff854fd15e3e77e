"""Settings of the site, which `make docs` builds without a network.

Sphinx with numpydoc and sphinx-gallery, as scikit-learn and its neighbours: readers know the
layout, and its search is a file of the site that works from a disk.
"""

import inspect
import re
import sys
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

import nldd

sys.path.insert(0, str(Path(__file__).parent))  # the modules beside this one

from reference_pages import write_reference

project = "nldd"
author = "the nldd developers"
project_copyright = author  # no year: the same sources give the same site in any year
version = release = nldd.__version__

extensions = [
    "command_help",
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "gallery/*.md", "gallery/*.ipynb", "gallery/*.py"]
nitpicky = False  # types of parameters are prose in numpydoc

# Pages in Markdown are read in the repository too: links are those between files.
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 4

toc_object_entries_show_parents = "hide"
autodoc_typehints = "none"  # numpydoc states types with their shapes
autodoc_preserve_defaults = True  # as they are written: watch=no_progress
autodoc_member_order = "groupwise"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "backreferences_dir": "gallery/uses",
    "doc_module": ("nldd",),
    "download_all_examples": False,
    "show_signature": False,
    "min_reported_time": 30,
    "abort_on_example_error": True,
    "within_subsection_order": "gallery_order.ReadingOrder",
    "parallel": True,  # as many at a time as Sphinx has processes
    "write_computation_times": False,  # a page that loads scripts from elsewhere
}

html_theme = "pydata_sphinx_theme"
html_title = "nldd"
html_logo = "_static/logo.svg"
html_favicon = "_static/favicon.svg"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_sidebars = {"index": []}
html_context = {"default_mode": "auto"}
html_theme_options = {
    "collapse_navigation": True,  # or each page holds all names
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
    "navigation_with_keys": False,
    "show_prev_next": False,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}

# Pages whose text is a file at the root of the repository.
AT_ROOT = {"changes": "CHANGELOG.md", "contributing": "CONTRIBUTING.md", "security": "SECURITY.md"}
ROOT = Path(__file__).parents[1]


def read_from_root(app: Sphinx, name: str, source: list[str]) -> None:
    """Put the files at the root in place of their pages; all links to them lead there."""
    if name in AT_ROOT:
        path = ROOT / AT_ROOT[name]
        app.env.note_dependency(str(path))
        source[0] = re.sub(r"\]\((?!\w+:|#)", "](../", path.read_text("utf-8"))
        source[0] = source[0].replace("](../docs/", "](")
    # The blank line that ends a doctest in Markdown is no part of what is shown.
    source[0] = re.sub(r"(?s)(```python\n.*?)\n+```", r"\1\n```", source[0])
    for page, file in AT_ROOT.items():
        source[0] = source[0].replace(f"](../{file}", f"]({page}.md")


def leave_out_foreign(
    app: Sphinx, what: str, name: str, thing: Any, skip: bool, options: Any
) -> bool | None:
    """Members that nldd did not write, such as ``get_params``, are on scikit-learn's pages."""
    function = inspect.unwrap(getattr(thing, "fget", None) or getattr(thing, "__func__", thing))
    ours = str(getattr(function, "__module__", "")).startswith("nldd")
    return None if ours or what == "module" else True


def setup(app: Sphinx) -> dict[str, Any]:
    """Write the pages of the reference before Sphinx looks for pages."""
    write_reference(Path(app.srcdir))
    app.connect("source-read", read_from_root)
    app.connect("autodoc-skip-member", leave_out_foreign)
    return {"parallel_read_safe": True}
