"""Text that fits a terminal, without a word broken; in a pipe, lines stay whole."""

from __future__ import annotations

import shutil
import sys
import textwrap


def wrapped(text: str, *, err: bool = False) -> str:
    """Return a text in lines as long as the terminal is wide; unchanged if it goes to a pipe.

    Args:
        text: Its own ends of lines stay.
        err: Whether it goes to stderr.
    """
    if not (sys.stderr if err else sys.stdout).isatty():
        return text
    width = max(20, shutil.get_terminal_size().columns)
    lines = [
        textwrap.fill(line, width, break_long_words=False, break_on_hyphens=False, subsequent_indent="  ")
        for line in text.split("\n")
    ]
    return "\n".join(lines)
