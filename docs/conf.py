"""Settings of Sphinx (`make docs`). `pages.py` makes the parts of the site that come from the package."""

import sys
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

sys.path.insert(0, str(Path(__file__).parent))

import moving
import pages

from pbm_envs import __version__

URLS = tomllib.loads((pages.ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["urls"]

project = "pbm_envs"
author = "The pbm_envs founders"
project_copyright = author
release = version = __version__

moving.copy_notebooks()

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.viewcode"]
myst_enable_extensions = ["attrs_block", "attrs_inline", "colon_fence"]
myst_heading_anchors = 3
exclude_patterns = ["_build"]
nb_execution_mode = "off"  # `make notebooks` has run them
nb_merge_streams = True
suppress_warnings = ["misc.highlighting_failure"]  # text blocks

html_theme = "furo"
html_title = f"pbm_envs {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_baseurl = URLS["Documentation"]
html_theme_options = {
    "navigation_with_keys": True,
    "source_repository": URLS["Repository"],
    "source_branch": "main",
    "source_directory": "docs/",
}

# docstrings are plain text with `code` in single backticks
default_role = "code"
autoclass_content = "both"
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_type_aliases = {name: name for name in pages.TYPES}
autodoc_inherit_docstrings = False  # other projects write theirs in other ways
autodoc_default_options = {"undoc-members": True}
autodoc_preserve_defaults = True
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 100
add_module_names = False
toc_object_entries_show_parents = "hide"

autodoc_mock_imports = list(pages.ABSENT)

nitpicky = True
nitpick_ignore_regex = [
    ("py:.*", r"(?!pbm_).*"),  # other projects', whose inventories a build without network cannot read
    ("py:class", r"pbm_envs\.(core\.kernels\.Function|registry\.GameClass)"),  # type variables
    ("py:class", r"pbm_agents\.arena\.(ladder\.Pin|placement\.Meeting|match\.Answer)"),  # of private functions
    ("py:class", r"pbm_agents\.search\.workspace\.Memory"),
    ("py:class", r"pbm_envs\.core\.record_rules\.PlayKernels"),
]


def setup(app):
    app.connect("source-read", pages.fill_in)
    app.connect("autodoc-process-docstring", pages.as_rst)
    app.connect("autodoc-process-signature", pages.signature)
