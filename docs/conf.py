"""Settings of Sphinx (`make docs`). `pages.py` has generated what comes from the package; nothing is generated here."""

import re
import shutil
import sys
from pathlib import Path

from docutils import nodes

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

from pbm_envs import __version__

DOCS = Path(__file__).parent
URLS = tomllib.loads((DOCS.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"].get("urls", {})
PICTURE = re.compile(
    r'<picture><source media="[^"]*" srcset="([^"]+)">\s*<img alt="([^"]*)" src="([^"]+)"[^>]*></picture>'
)


def copy_notebooks() -> None:
    """Copy the notebooks into `docs/notebooks`, with links to the site's pages instead of files of the repository."""
    folder = DOCS / "notebooks"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for path in sorted((DOCS.parent / "notebooks").glob("[0-9]*.ipynb")):
        text = path.read_text(encoding="utf-8").replace("](../docs/", "](../")
        text = re.sub(r"\]\(\.\./src/pbm_envs/games/(\w+)/rules\.md\)", r"](../games/\1.md#the-rules-in-full)", text)
        text = re.sub(r"(?<!!)\[([^\]\n]+)\]\((?:training/|\.\./\.\./benchmarks/|\.\./benchmarks/)[^)]*\)", r"\1", text)
        (folder / path.name).write_text(text, encoding="utf-8")


def adapt(app: object, document: str, source: list[str]) -> None:
    """Convert what GitHub reads differently: pictures in two themes, and links to files of the repository."""
    source[0] = PICTURE.sub(r"![\2](\3){.only-light} ![\2](\1){.only-dark}", source[0])
    source[0] = re.sub(
        r"(?<!!)\[([^\]]+)\]\((?:\.\./)+(?:notebooks/training|benchmarks|src|tests)/[^)]*\)", r"\1", source[0]
    )
    source[0] = re.sub(
        r"(?<!!)\[([^\]]+)\]\((?:\.\./)+(?:CITATION|CONTRIBUTING|LICENSE|SECURITY)[^)]*\)", r"\1", source[0]
    )
    source[0] = re.sub(r"\]\((?:\.\./)+notebooks/(\w+)\.ipynb\)", r"](/notebooks/\1.ipynb)", source[0])


def note_members(app: object, doctree: nodes.document) -> None:
    """Enter the members of the reference pages into the inventory, so that other projects can link to them."""
    module = Path(app.env.docname).name
    if not app.env.docname.startswith("reference/python/"):
        return
    python = app.env.get_domain("py")
    for section in doctree.findall(nodes.section):
        title = section.next_node(nodes.title).astext()
        if re.fullmatch(r"[A-Za-z_][\w.]*", title):
            kind = "method" if "." in title else "class" if title[0].isupper() else "function"
            name = module if title == module else f"{module}.{title}"
            python.note_object(name, "module" if title == module else kind, section["ids"][0], location=section)


project = "pbm_envs"
author = "The pbm_envs founders"
project_copyright = author
release = version = __version__

copy_notebooks()

extensions = ["myst_nb"]
myst_enable_extensions = ["attrs_inline", "colon_fence"]
myst_heading_anchors = 3
exclude_patterns = ["_build", "package.md"]
nb_execution_mode = "off"  # `make notebooks` has run them
nb_merge_streams = True
suppress_warnings = ["misc.highlighting_failure"]  # blocks of text and of output

html_theme = "furo"
html_title = f"pbm_envs {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_baseurl = URLS.get("Documentation", "")
html_theme_options = {"navigation_with_keys": True}
if "Repository" in URLS:
    html_theme_options |= {
        "source_repository": URLS["Repository"],
        "source_branch": "main",
        "source_directory": "docs/",
    }


def setup(app):
    app.connect("source-read", adapt)
    app.connect("doctree-read", note_members)
