"""How `make docs` builds the site. It needs no network, and neither do its pages."""

from __future__ import annotations

import sys
from pathlib import Path

import immigrate
from immigrate import progress

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "extensions"))

project = "immigrate"
author = "The immigrate developers"
copyright = "the immigrate developers"
version = release = immigrate.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.extlinks",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
    # Of this site, in the folder extensions/.
    "docstrings",
    "mathml",
    "pictures",
    "reference",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["gallery/**/*.ipynb", "gallery/**/*.json", "gallery/**/*.py"]
templates_path = ["templates"]

# Every name that a page refers to must exist. Names in single backticks of a docstring are linked
# where there is a page about them, and are plain code where there is none.
nitpicky = True
default_role = "py:obj"
nitpick_ignore_regex = [("py:obj", ".*")]

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
# Headings down to this depth can be linked as page.md#words-of-the-heading.
myst_heading_anchors = 3

extlinks = {"doi": ("https://doi.org/%s", "doi:%s")}
autodoc_default_options = {"members": True, "inherited-members": True}
autodoc_typehints = "none"
toc_object_entries_show_parents = "hide"
numpydoc_show_class_members = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"/plot_",
    "ignore_pattern": r"(^|/)(?!plot_)[^/]*\.py$",
    "within_subsection_order": "FileNameSortKey",
    "backreferences_dir": "reference/used",
    "doc_module": ("immigrate",),
    "reference_url": {"immigrate": None},
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "remove_config_comments": True,
    # How long an example takes, and where it is meanwhile, would change from machine to machine.
    "min_reported_time": float("inf"),
    "write_computation_times": False,
    # A picture speaks for itself.
    "ignore_repr_types": r"matplotlib|immigrate\.plotting",
}

progress.SILENT_SECONDS = float("inf")

html_theme = "pydata_sphinx_theme"
html_title = f"immigrate {version}"
html_math_renderer = "mathml"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {
    "logo": {"text": "immigrate"},
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
    "show_toc_level": 2,
    "show_prev_next": True,
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
}
html_sidebars = {"index": [], "start": [], "changelog": []}
