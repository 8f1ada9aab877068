"""`pbm serve`: boards to click on in the browser."""

import logging
import webbrowser
from pathlib import Path
from typing import Annotated, Any

import typer

from pbm_envs.registry import parse_game
from pbm_envs.toolbox import require

from ..play.ahead import compiling_ahead
from ..play.limits import Limits
from ..play.session import seats
from .replay import all_games
from .settings import GamePlayers, Options, StartSettings, with_settings

EXAMPLES = """
  pbm serve
  pbm serve curio random person --seed 7
  pbm serve trinim person mcts:seconds=1 random -o num_players=3 --no-open
  pbm serve unlur mcts:seconds=1 mcts:simulations=100     # agents only: watch them
  pbm serve --replay games.jsonl
  pbm serve --public --address https://boards.example.org     # with the token in PBM_SERVE_TOKEN
"""
PORT = 8765
FLAGS = {name: f"--most-{name}" for name in ("simulations", "seconds", "memory", "threads")}


@with_settings(StartSettings, into="beginning")
@with_settings(Limits, skip=("own_agents",), flags=FLAGS, into="limits")
def serve(
    beginning: dict[str, Any],
    limits: dict[str, Any],
    game: Annotated[str, typer.Argument(help="The first game: a name that `pbm games` lists.")] = "chameleon",
    players: GamePlayers = None,
    options: Options = None,
    replay: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Show the games of a file of records, or of a tournament's folder."),
    ] = None,
    host: Annotated[
        str, typer.Option(help="Address to listen on. The default accepts connections from this machine only.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on. 0 picks a free one.")] = PORT,
    clock: Annotated[
        str | None,
        typer.Option(
            metavar="CLOCK",
            help="Time of each player in the first game: seconds per game such as 300, or 300+5 with 5 more for each "
            "move, or seconds per move such as 30/move.",
        ),
    ] = None,
    public: Annotated[bool, typer.Option("--public", help="Publish the boards. Needs --address and --token.")] = False,
    address: Annotated[
        str | None, typer.Option(help="With --public: the address for browsers, such as https://boards.example.org.")
    ] = None,
    token: Annotated[
        str | None,
        typer.Option(
            envvar="PBM_SERVE_TOKEN",
            help="With --public: what everybody must enter once to play. Others on this machine can read it in the "
            "command, but not in the environment variable.",
        ),
    ] = None,
    open: Annotated[bool, typer.Option(help="Open the page in the browser.")] = True,  # noqa: A002
) -> None:
    """Play in the browser.

    Serves a page with a board to click on until Ctrl-C. Every new tab has its own game; other games, seats and agents
    can be chosen there, and other browsers can be invited by links. You see the view of your seat. A game has a link
    that nobody can guess, where it can be resumed after a reload or a restart of the server.

    With --public, browsers elsewhere may use the server under --address, once they have entered the token. It has no
    TLS (a proxy in front of it adds that), no accounts, and nothing that stops a visitor from taking all boards.
    """
    require("pbm serve", "serve", "markdown_it", "starlette", "uvicorn", "h11", "websockets")
    from ..play.access import Publication, is_loopback
    from ..play.clock import TimeControl
    from ..play.kept import KeptGames, state_folder
    from ..play.start import Start
    from ..play.web import MAX_TABLES, application, listen, server

    if address and not public:
        raise ValueError("--address is given without --public: expected both or none")
    publication = Publication.of(address, token) if public else None
    control = TimeControl.parse(clock) if clock else None
    rules, moves = parse_game(game, options), tuple(beginning.pop("moves").split())
    start = Start(rules, seats(rules, players or []), moves=moves, clock=control, **beginning)
    start.check()  # raises errors here rather than in the page
    records = [] if replay is None else all_games(replay)
    listening = listen(host, port)
    logging.basicConfig(format="pbm: %(message)s")
    if publication is not None:
        typer.echo(f"pbm: {publication.warnings(MAX_TABLES)}", err=True)
    elif not is_loopback(host):
        typer.echo(f"pbm: at {host} everyone in the network can play here, and make this machine think", err=True)
    name = f"[{host}]" if ":" in host else host
    own_address = f"http://{name}:{listening.getsockname()[1]}/"
    page = own_address if publication is None else f"{publication.address}/ (listening at {own_address})"
    print(f"{page} - Ctrl-C ends it", flush=True)
    if open and publication is None:
        webbrowser.open(own_address)
    chosen = Limits(**limits, own_agents=start.players)
    with compiling_ahead([rules]):
        games = KeptGames(state_folder())
        server(application(start, host, chosen, records, games, publication)).run(sockets=[listening])
