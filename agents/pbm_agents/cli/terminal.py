"""Input and output in a terminal or a pipe: text, tables, lines with completion, and a screen shared by players."""

import pydoc
import shutil
import sys
import textwrap
from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NoReturn

import typer
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table

from pbm_envs import Game

from ..players.agent import Views

readline: Any = import_module("readline") if find_spec("readline") else None  # missing on Windows
PIPE_WIDTH = 1000
CLEAR = "\033[H\033[2J\033[3J"
"""The escape codes that clear the screen and the scrollback."""


def wrapped(text: str, *, err: bool = False) -> str:
    """Return a text wrapped to the width of the terminal without breaking words; unchanged if it goes to a pipe.

    With `err`, the text goes to stderr.
    """
    if not (sys.stderr if err else sys.stdout).isatty():
        return text
    width = max(20, shutil.get_terminal_size().columns)
    form = {"break_long_words": False, "break_on_hyphens": False, "subsequent_indent": "  "}
    return "\n".join(textwrap.fill(line, width, **form) for line in text.split("\n"))  # type: ignore[arg-type]


def stopped(message: str) -> NoReturn:
    """Print on stderr what is kept of the work that Ctrl-C has stopped, and end the command."""
    typer.echo("\n" + wrapped(f"pbm: {message}", err=True), err=True)
    raise typer.Exit(130)


def table(rows: Sequence[Mapping[str, str]], *, optional: Sequence[str] = (), prose: Sequence[str] = ()) -> None:
    """Print a table, with columns of numbers on the right. In a pipe it is complete.

    Args:
        rows: The cells of each row by heading.
        optional: Headings of columns to omit, in this order, while the table is too wide for the terminal.
        prose: Headings of columns whose cells may take several lines.
    """
    width = Console().width if sys.stdout.isatty() else PIPE_WIDTH
    texts = {name: [row[name] for row in rows] for name in rows[0]} if rows else {}
    wide = {name: max(map(cell_len, [name, *cells])) for name, cells in texts.items()}
    for name in optional:
        if name in wide and sum(wide.values()) + 2 * (len(wide) - 1) > width:
            del wide[name]
    if not prose:
        width = max(width, sum(wide.values()) + 2 * len(wide))
    grid = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for name in wide:
        number = all(not cell or cell[0] in "+-.0123456789" for cell in texts[name])
        grid.add_column(name, justify="right" if number else "left", no_wrap=name not in prose)
    for row in rows:
        grid.add_row(*(row[name] for name in wide))
    console = Console(highlight=False, markup=False, width=width)
    with console.capture() as capture:
        console.print(grid)
    print("\n".join(line.rstrip() for line in capture.get().splitlines()))


def colour() -> bool:
    """Return whether boards are coloured: in a terminal with colours, unless NO_COLOR is set."""
    console = Console()
    return console.color_system is not None and not console.no_color and not console.legacy_windows


def show_board(game: Game, view: Views, names: Sequence[str] | None = None) -> None:
    """Print a position: in colour if the terminal has colours, in the game's narrow form if nothing else fits."""
    width = Console().width if sys.stdout.isatty() else None
    print("\n" + game.to_text(view, colour=colour(), width=width, names=names))


def say(text: str) -> None:
    """Print a text; in a terminal, without breaking words."""
    print(wrapped(text))


def page(text: str) -> None:
    """Print a text; in a terminal, through a pager if it is long."""
    if keyboard() and text.count("\n") >= Console().height:
        pydoc.pager(text)
    else:
        print(text)


def sure(question: str) -> bool:
    """Ask the person at the terminal to confirm; return True if the input is a pipe."""
    return not keyboard() or input(f"{question} [y/N] ").strip().lower() in ("y", "yes")


def keyboard() -> bool:
    """Return whether a person uses a terminal."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def read_line(prompt: str, words: Sequence[str]) -> str:
    """Read a line after a prompt; EOFError if there is none. The Tab key completes it to one of `words`."""
    if keyboard():
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
    """Clear the screen before a player's turn, so that nobody sees another person's view; in a pipe, print a line.

    `first` means that nobody has used the screen before.
    """
    if not keyboard():
        print(f"\n{'-' * 40} {name}")
        return
    if not first:
        input("Enter hides the board ")
    print("\n" * 200 if Console().is_dumb_terminal else CLEAR, end="", flush=True)
    input(f"{name}, press Enter when only you see the screen ")


def _complete(words: Sequence[str]) -> None:
    if readline is None:
        return

    def completer(text: str, k: int) -> str | None:
        return [*(word for word in words if word.lower().startswith(text.lower())), None][k]

    readline.set_completer(completer)
    readline.set_completer_delims("\n")  # moves contain "-"
    libedit = "libedit" in (readline.__doc__ or "")
    readline.parse_and_bind("bind ^I rl_complete" if libedit else "tab: complete")
