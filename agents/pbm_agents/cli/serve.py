"""`pbm serve`: boards to click on in the browser."""

from __future__ import annotations

import logging
import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from pbm_envs.registry import parse_game

from ..play.ahead import compiling_ahead
from ..play.limits import Limits
from ..play.session import DEFAULT_AGENT, seats
from .replay import all_games
from .settings import Options

EXAMPLES = """
  pbm serve
  pbm serve curio random person --seed 7
  pbm serve trinim person mcts:seconds=1 random -o num_players=3 --no-open
  pbm serve unlur mcts:seconds=1 mcts:simulations=100     # agents only: watch them
  pbm serve --replay games.jsonl
"""
PORT = 8765
LIMITS = Limits()


def serve(
    game: Annotated[str, typer.Argument(help="A name that `pbm games` lists, to begin with.")] = "chameleon",
    players: Annotated[
        list[str] | None,
        typer.Argument(help=f"By seat: 'person', or an agent by name. Left out: a person, then {DEFAULT_AGENT}."),
    ] = None,
    options: Options = None,
    seed: Annotated[int | None, typer.Option(min=0, help="The same seed, the same game.")] = None,
    board: Annotated[str | None, typer.Option(help="Start from this board, in games that have such texts.")] = None,
    moves: Annotated[str, typer.Option(help="Start after these moves, separated by blanks.")] = "",
    hint: Annotated[
        str | None,
        typer.Option(
            metavar="AGENT", help=f"The adviser. Left out: as the opponent, if that searches, else {DEFAULT_AGENT}."
        ),
    ] = None,
    replay: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Show the games of a file of records, or of a tournament's folder."),
    ] = None,
    host: Annotated[str, typer.Option(help="Where to listen; by default only this machine can connect.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port; 0 for any free one.")] = PORT,
    most_simulations: Annotated[
        int, typer.Option(min=1, help="A move, of agents that are named on the page.")
    ] = LIMITS.simulations,
    most_seconds: Annotated[float, typer.Option(min=0.1, help="Of any agent, for a move.")] = LIMITS.seconds,
    most_memory: Annotated[
        int, typer.Option(min=1, help="MiB, of the trees of an agent that is named on the page.")
    ] = LIMITS.memory,
    most_threads: Annotated[int, typer.Option(min=1, help="Of an agent that is named on the page.")] = LIMITS.threads,
    open: Annotated[bool, typer.Option(help="Open the page in the browser.")] = True,  # noqa: A002
) -> None:
    """Play in the browser.

    Serves a page with a board to click on until Ctrl-C. Every tab has a game of its own; other games, seats and agents
    can be chosen there. You see what your seat can know. A game has an address that nobody can guess, and goes on there
    after a reload or when the server is started again.
    """
    try:
        from ..play.kept import KeptGames, state_folder
        from ..play.start import Start
        from ..play.web import application, is_loopback, listen, server
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("markdown_it", "starlette", "uvicorn", "websockets"):
            raise
        raise ImportError(f"serve needs {error.name}, of the extra `serve`: pip install 'pbm-envs[serve]'") from None
    rules = parse_game(game, options)
    start = Start(rules, seats(rules, players or []), seed, board, tuple(moves.split()), hint)
    start.check()  # raises errors here rather than in the page
    records = [] if replay is None else all_games(replay)
    listening = listen(host, port)
    logging.basicConfig(format="pbm: %(message)s")
    if not is_loopback(host):
        typer.echo(f"pbm: at {host} everyone in the network can play here, and make this machine think", err=True)
    name = f"[{host}]" if ":" in host else host
    address = f"http://{name}:{listening.getsockname()[1]}/"
    print(f"{address} - Ctrl-C ends it", flush=True)
    if open:
        webbrowser.open(address)
    limits = Limits(most_simulations, most_seconds, most_memory, most_threads, start.players)
    kept = KeptGames(state_folder())
    with compiling_ahead([rules]):
        server(application(start, host, limits, records, kept)).run(sockets=[listening])
