"""The scripts of the board: modules for the page, one text for Jupyter."""

from __future__ import annotations

import re
from importlib.resources import files

MODULES = ("dom.js", "cells.js", "marks.js", "history.js", "newgame.js", "panels.js", "board.js")
"""Each imports only from those before it."""


def one_script() -> str:
    """Return all modules as one, which is what anywidget takes: no imports, and the exports of the last."""
    parts = []
    for name in MODULES:
        text = files(__package__).joinpath(name).read_text(encoding="utf-8")
        text = re.sub(r"^import [^;]*;\n", "", text, flags=re.MULTILINE)
        parts.append(text if name == MODULES[-1] else re.sub(r"^export ", "", text, flags=re.MULTILINE))
    return "\n".join(parts)
