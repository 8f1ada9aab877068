"""The commands of `pbm`, and how their errors are reported.

A command is a function in a module of its own: its docstring is the help, its parameters (typer's) are the arguments,
its module's EXAMPLES stand below the help. It raises ValueError, ImportError or OSError with a message for people.
"""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from . import (
    animate,
    bench,
    dataset,
    exploit,
    export,
    games,
    ladder,
    play,
    rate,
    replay,
    serve,
    sprt,
    tournament,
    warm_up,
)

EXPECTED = (ValueError, ImportError, OSError)
"""Errors of the user, which end in one line on stderr and exit code 2. All others are bugs and end in a traceback."""


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
            except BrokenPipeError:  # `pbm games | head -1`, which typer handles
                raise
            except EXPECTED as error:
                typer.echo(f"pbm: {error}", err=True)
                raise typer.Exit(2) from None
            except KeyboardInterrupt:
                typer.echo(err=True)
                raise typer.Exit(130) from None


app = typer.Typer(cls=Commands, no_args_is_help=True, add_completion=False, rich_markup_mode=None)


@app.callback()
def about(
    modules: Annotated[
        list[str] | None,
        typer.Option("--import", metavar="MODULE", help="A module that registers games or agents; repeatable."),
    ] = None,
) -> None:
    """Curio, Trinim, Chameleon and Unlur: play them, let agents play them, and look at the results."""
    for module in modules or []:
        importlib.import_module(module)


def add(function: Callable[..., None], examples: str) -> None:
    """Make `function` the command of its name."""
    app.command(name=function.__name__.replace("_", "-"), epilog="\b\nExamples:\n" + examples.strip("\n"))(function)


add(games.games, games.EXAMPLES)
add(play.play, play.EXAMPLES)
add(serve.serve, serve.EXAMPLES)
add(tournament.tournament, tournament.EXAMPLES)
add(rate.rate, rate.EXAMPLES)
add(sprt.sprt, sprt.EXAMPLES)
add(ladder.ladder, ladder.EXAMPLES)
add(exploit.exploit, exploit.EXAMPLES)
add(replay.replay, replay.EXAMPLES)
add(animate.animate, animate.EXAMPLES)
add(export.export, export.EXAMPLES)
add(dataset.dataset, dataset.EXAMPLES)
add(bench.bench, bench.EXAMPLES)
add(warm_up.warm_up, warm_up.EXAMPLES)
