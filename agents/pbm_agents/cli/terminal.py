"""Input and output in a terminal or a pipe: tables, lines with completion, and a screen that changes hands."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

try:
    import readline
except ImportError:  # Windows
    READLINE = False
else:
    READLINE = True

PIPE_WIDTH = 1000
CLEAR = "\033[H\033[2J\033[3J"
"""Clears the screen and what can be scrolled back to."""


def table(columns: Sequence[str], rows: Sequence[Sequence[str]], numbers: Sequence[str] = ()) -> None:
    """Print a table, in a pipe without cutting lines.

    Args:
        columns: The headings.
        rows: The cells of each row.
        numbers: The headings of columns that are aligned to the right.
    """
    grid = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for column in columns:
        grid.add_column(column, justify="right" if column in numbers else "left", overflow="fold")
    for row in rows:
        grid.add_row(*row)
    console = Console(highlight=False, markup=False, width=None if sys.stdout.isatty() else PIPE_WIDTH)
    with console.capture() as capture:
        console.print(grid)
    print("\n".join(line.rstrip() for line in capture.get().splitlines()))


def keyboard() -> bool:
    """Return whether a person sits at a terminal."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def read_line(prompt: str, words: Sequence[str]) -> str:
    """Read a line, without blanks around it; EOFError if there is none.

    Args:
        prompt: What is printed before it.
        words: What the Tab key completes to.
    """
    if keyboard():
        if READLINE:
            _complete(words)
        return input(prompt).strip()
    print(prompt, end="", flush=True)
    line = sys.stdin.readline()
    if not line:
        raise EOFError
    if not sys.stdin.isatty():
        print(line.strip())
    return line.strip()


def hand_over(name: str, first: bool) -> None:
    """Clear the screen between two persons, so that neither sees what the other saw; in a pipe, print a line.

    Args:
        name: The player whose turn it is.
        first: Whether nobody has been at the screen before.
    """
    if not keyboard():
        print(f"\n{'-' * 40} {name}")
        return
    if not first:
        input("Enter hides the board ")
    print("\n" * 200 if Console().is_dumb_terminal else CLEAR, end="", flush=True)
    input(f"{name}, press Enter when only you see the screen ")


def _complete(words: Sequence[str]) -> None:
    def completer(text: str, k: int) -> str | None:
        fitting = [word for word in words if word.lower().startswith(text.lower())]
        return fitting[k] if k < len(fitting) else None

    readline.set_completer(completer)
    readline.set_completer_delims("\n")  # moves contain "-"
    libedit = "libedit" in (readline.__doc__ or "")
    readline.parse_and_bind("bind ^I rl_complete" if libedit else "tab: complete")
