"""Input and output in a terminal or a pipe: tables, lines with completion, and a screen that changes hands."""

from __future__ import annotations

import pydoc
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table

from .wrapping import wrapped

if TYPE_CHECKING:
    from pbm_envs import Game

    from ..players.agent import Views

try:
    import readline
except ImportError:  # Windows
    READLINE = False
else:
    READLINE = True

PIPE_WIDTH = 1000
CLEAR = "\033[H\033[2J\033[3J"
"""Clears the screen and what can be scrolled back to."""


def table(
    columns: Sequence[str],
    rows: Sequence[Sequence[str]],
    numbers: Sequence[str] = (),
    *,
    optional: Sequence[str] = (),
    prose: Sequence[str] = (),
) -> None:
    """Print a table. In a pipe it is whole; in a terminal, what does not fit is left out, and no name is broken.

    Args:
        columns: The headings.
        rows: The cells of each row.
        numbers: The headings of columns that are aligned to the right.
        optional: The headings of columns that are left out, in this order, while the table is too wide.
        prose: The headings of columns whose cells may stand in several lines.
    """
    width = Console().width if sys.stdout.isatty() else PIPE_WIDTH
    wide = {name: max(cell_len(text) for text in (name, *(row[k] for row in rows))) for k, name in enumerate(columns)}
    for name in (name for name in optional if name in wide):
        if sum(wide.values()) + 2 * (len(wide) - 1) > width:
            del wide[name]
    if not prose:
        width = max(width, sum(wide.values()) + 2 * len(wide))
    grid = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for name in wide:
        grid.add_column(name, justify="right" if name in numbers else "left", no_wrap=name not in prose)
    for row in rows:
        grid.add_row(*(cell for name, cell in zip(columns, row, strict=True) if name in wide))
    console = Console(highlight=False, markup=False, width=width)
    with console.capture() as capture:
        console.print(grid)
    print("\n".join(line.rstrip() for line in capture.get().splitlines()))


def colour() -> bool:
    """Return whether boards have colours: at a terminal that has them, unless NO_COLOR is set."""
    console = Console()
    return console.color_system is not None and not console.no_color and not console.legacy_windows


def show_board(game: Game, view: Views) -> None:
    """Print a position: in colour where the terminal has colours, in the game's narrow form where it does not fit."""
    width = Console().width if sys.stdout.isatty() else None
    print("\n" + game.to_text(view, colour=colour(), width=width))


def say(text: str) -> None:
    """Print a text, at a terminal without breaking words."""
    print(wrapped(text))


def page(text: str) -> None:
    """Print a text, at a terminal a screen at a time if it is long."""
    if keyboard() and text.count("\n") >= Console().height:
        pydoc.pager(text)
    else:
        print(text)


def sure(question: str) -> bool:
    """Ask a person at the terminal whether they are sure; what comes from a pipe is."""
    return not keyboard() or input(f"{question} [y/N] ").strip().lower() in ("y", "yes")


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
