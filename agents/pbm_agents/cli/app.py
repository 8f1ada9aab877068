"""The commands of `pbm`, and how their errors are reported.

A command is a function: its docstring is the help with examples, its parameters (typer's) are the arguments. It raises
ValueError, ImportError or OSError with a message for the user.

A command's module is imported when the command is called, so that `pbm --help` does not wait for Numba.
"""

import importlib
import inspect
import warnings
from importlib import metadata
from typing import Any

import typer
from typer.core import TyperGroup

from ..common.faults import InfrastructureError

COMMANDS = {
    "games": ("lists", "List the games and their options."),
    "agents": ("lists", "List the kinds of agents, or the settings of one."),
    "play": ("boards", "Play a game, or watch one."),
    "serve": ("boards", "Play in the browser."),
    "train": ("train", "Train a network by self-play."),
    "tournament": ("tournaments", "Let agents play a tournament, and rate them."),
    "rate": ("tournaments", "Rate the agents of tournaments."),
    "sprt": ("tournaments", "Test whether NEW is stronger than OLD."),
    "ladder": ("tournaments", "Rate an agent on a frozen ladder."),
    "exploit": ("exploits", "Measure how exploitable an agent is."),
    "curio-bench": ("exploits", "Evaluate an agent or a submission on Curio-Bench."),
    "replay": ("records", "Play records again, and check moves and results."),
    "animate": ("records", "Make a film of a recorded game."),
    "export": ("records", "Write recorded games as a data set, one row for each position."),
    "dataset": ("records", "Make a graded data set of games."),
    "bench": ("machine", "Measure speed on this machine."),
    "warm-up": ("machine", "Compile rules, search and champions in advance."),
}
"""The commands in the order of the help: their modules, and the first paragraphs of their docstrings."""
SUMMARIES = {name: about for name, (_, about) in COMMANDS.items()}
EXPECTED = (ValueError, ImportError, OSError, InfrastructureError)
"""Errors that end in a message on stderr and exit code 2, or UNPLAYED. All others are bugs and end in a traceback."""
UNPLAYED = 3
"""Exit code if a fault or a budget left games unplayed: the same command plays them later."""

LONGEST_ERROR = 2000
"""The largest number of characters in an error message; longer ones are truncated."""


class Commands(TyperGroup):
    """Commands whose modules are imported when they are called, and whose errors and warnings are readable."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args and args[0] in SUMMARIES:
            self.commands[args[0]] = loaded(args[0])
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        said: set[str] = set()

        def say(message: str) -> None:
            from .terminal import wrapped

            if message not in said:
                typer.echo(wrapped(f"pbm: {message}", err=True), err=True)
            said.add(message)

        with warnings.catch_warnings():
            warnings.simplefilter("always", UserWarning)
            warnings.showwarning = lambda message, *_: say(str(message))
            try:
                return super().invoke(ctx)
            except BrokenPipeError:  # `pbm games | head -1`, which typer handles
                raise
            except EXPECTED as error:
                from pbm_envs.toolbox import printable

                lines = in_words(error)[:LONGEST_ERROR].split("\n")
                say("\n".join(printable(line, LONGEST_ERROR) for line in lines))
                raise typer.Exit(UNPLAYED if isinstance(error, InfrastructureError) else 2) from None
            except KeyboardInterrupt:
                typer.echo(err=True)
                raise typer.Exit(130) from None


def in_words(error: Exception) -> str:
    """Return the message of an error, without the system's error numbers."""
    if isinstance(error, FileNotFoundError) and error.filename is not None:
        return f"there is no file or folder {str(error.filename)!r}"
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        return f"{str(error.filename)!r}: {error.strerror.lower()}"
    return str(error)


app = typer.Typer(cls=Commands, no_args_is_help=True, rich_markup_mode=None)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"pbm-envs {metadata.version('pbm-envs')}")
        raise typer.Exit


@app.callback()
def about(
    modules: list[str] | None = typer.Option(
        None, "--import", metavar="MODULE", help="Import a module that registers games or agents; repeatable."
    ),
    version: bool = typer.Option(
        False, "--version", help="Print the version and exit.", callback=_print_version, is_eager=True
    ),
) -> None:
    """Curio, Trinim, Chameleon and Unlur: play them, let agents play them, and look at the results."""
    for module in modules or []:
        try:
            importlib.import_module(module)
        except ImportError as error:
            raise ImportError(f"--import {module}: {error}") from error


def loaded(name: str) -> Any:
    """Import a command's module and return the command."""
    module = importlib.import_module(f".{COMMANDS[name][0]}", __package__)
    command = getattr(module, name.replace("-", "_"))
    about, _, examples = str(inspect.getdoc(command)).partition("\n\nExamples:\n")
    alone = typer.Typer(add_completion=False, rich_markup_mode=None)
    alone.command(name=name, help=about, epilog=f"\b\nExamples:\n{examples}")(command)
    return typer.main.get_command(alone)


for _name, _summary in SUMMARIES.items():
    app.command(name=_name, help=_summary)(lambda: None)  # replaced when it is called
