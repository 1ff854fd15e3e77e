"""Settings of the site, which `make docs` builds without a network.

Sphinx with numpydoc and sphinx-gallery, as scikit-learn and its neighbours: readers know the
layout, and its search is a file of the site that works from a disk.
"""

import re
import warnings
from typing import Any

from reference import write_reference
from sphinx.application import Sphinx

import nldd

project = "nldd"
author = "the nldd developers"
project_copyright = author  # no year: the same sources give the same site in any year
version = release = nldd.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx_click",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "gallery/*.md", "gallery/*.ipynb", "gallery/*.py"]
templates_path = ["_templates"]
nitpicky = False  # types of parameters are prose in numpydoc

# Pages in Markdown are read in the repository too: links are those between files.
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 4

autodoc_typehints = "none"  # numpydoc states types with their shapes
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
    "reference_url": {"nldd": None},
    "download_all_examples": False,
    "show_signature": False,
    "min_reported_time": 30,
    "abort_on_example_error": True,
    "within_subsection_order": "FileNameSortKey",
    "matplotlib_animations": False,
    "plot_gallery": True,
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
html_theme_options = {
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

# Files at the root of the repository that are pages of the site by an `include`.
AT_ROOT = {"CHANGELOG": "changes", "CONTRIBUTING": "contributing", "SECURITY": "security"}


def link_to_pages(app: Sphinx, name: str, source: list[str]) -> None:
    """Links to files at the root of the repository lead to the pages that include them."""
    for file, page in AT_ROOT.items():
        source[0] = re.sub(rf"\]\(\.\./{file}\.md", f"]({page}.md", source[0])


def setup(app: Sphinx) -> dict[str, Any]:
    """Write the pages of the reference before Sphinx looks for pages."""
    warnings.simplefilter("error")  # an example that warns is an example to mend
    write_reference(app.srcdir)
    app.connect("source-read", link_to_pages)
    return {"parallel_read_safe": True}
