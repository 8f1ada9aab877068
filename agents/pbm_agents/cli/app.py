"""The commands, one line each, and what becomes of errors.

A command is a function in a module of its own: its docstring is the help, its parameters (typer's) are the arguments,
its module's EXAMPLES stand below the help. It raises ValueError, ImportError or OSError with a message for people.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import typer
from typer.core import TyperGroup

from . import animate, bench, games, play, rate, replay, serve, tournament

EXPECTED = (ValueError, ImportError, OSError)
"""What a person can cause: one line on stderr and exit code 2, no traceback. All else is a bug and shows where."""


class Commands(TyperGroup):
    """Commands whose errors and warnings are one line each."""

    def invoke(self, ctx: Any) -> Any:
        said: set[str] = set()

        def say(message: str) -> None:
            if message not in said:
                typer.echo(f"pbm: {message}", err=True)
            said.add(message)

        with warnings.catch_warnings():
            warnings.simplefilter("always", UserWarning)
            warnings.showwarning = lambda message, *_: say(str(message))
            try:
                return super().invoke(ctx)
            except BrokenPipeError:  # `pbm games | head -1`: typer's own affair
                raise
            except EXPECTED as error:
                typer.echo(f"pbm: {error}", err=True)
                raise typer.Exit(2) from None
            except KeyboardInterrupt:
                typer.echo(err=True)
                raise typer.Exit(130) from None


app = typer.Typer(cls=Commands, no_args_is_help=True, add_completion=False, rich_markup_mode=None)


@app.callback()
def about() -> None:
    """Curio, Trinim, Chameleon and Unlur: play them, let agents play them, and look at the results."""


def add(function: Callable[..., None], examples: str) -> None:
    """Make `function` the command of its name."""
    app.command(epilog="\b\nExamples:\n" + examples.strip("\n"))(function)


add(games.games, games.EXAMPLES)
add(play.play, play.EXAMPLES)
add(serve.serve, serve.EXAMPLES)
add(tournament.tournament, tournament.EXAMPLES)
add(rate.rate, rate.EXAMPLES)
add(replay.replay, replay.EXAMPLES)
add(animate.animate, animate.EXAMPLES)
add(bench.bench, bench.EXAMPLES)
