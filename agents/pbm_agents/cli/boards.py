"""`pbm play` and `pbm serve`: games of persons and agents, in a terminal or a pipe, and in the browser."""

import logging
import secrets
import textwrap
import time
import webbrowser
from contextlib import closing
from pathlib import Path
from shutil import get_terminal_size
from typing import Any

import typer

from pbm_envs.records import RESIGN, append_records
from pbm_envs.registry import parse_game
from pbm_envs.toolbox import require

from ..arena import Opening
from ..play.ahead import compiling_ahead
from ..play.limits import Limits
from ..play.session import DEFAULT_AGENT, Session, seats
from ..players.agent import Agent
from ..players.names import make_agent
from .app import in_words
from .records import all_games
from .settings import OPTIONS, PLAYERS, StartSettings, argument, check_place, flag, with_settings
from .terminal import hand_over, keyboard, page, read_line, say, show_board, sure

HELP = """\
a move      as `moves` lists them; Tab completes it where the terminal can
moves       the legal moves
board       the board again
hint        what an agent would play
undo        take back your last move, unless something hidden has become known since
rules       the rules in short; `rules all` has all of them
resign      give up
save FILE   write the game so far, with all that is hidden, at the end of FILE, for `pbm replay`
quit        leave"""
COMMANDS = [*(line.split()[0] for line in HELP.split("\n")[1:]), "help"]


@with_settings(StartSettings, into="beginning")
def play(
    beginning: dict[str, Any],
    game: str = argument(..., None, "A name that `pbm games` lists, or module:Class."),
    players: list[str] | None = PLAYERS,
    options: list[str] | None = OPTIONS,
    save: Path | None = flag(None, "Save the game to this file when you leave it.", metavar="FILE"),
    pause: float = flag(0, "Seconds to wait after each move of an agent.", min=0, max=3600),
) -> None:
    """Play a game, or watch one.

    Type moves, or `help` for the other commands. You see the view of your seat. Several persons take turns at the
    keyboard. If only agents play, you watch and see the full state. Moves may come from a pipe.

    Examples:
      pbm play chameleon -o size=7
      pbm play curio mcts:simulations=5000 person --seed 7
      pbm play trinim person person random -o num_players=3
      pbm play unlur random mcts:seconds=0.1 --pause 1
    """
    rules, seed = parse_game(game, options), beginning.get("seed")
    adviser = make_agent(beginning.get("hint", DEFAULT_AGENT))
    if save is not None:
        check_place(save)
    chosen = secrets.randbits(63) if seed is None else seed
    names = seats(rules, players or [])
    with compiling_ahead([rules]):
        session = Session(rules, names, Opening(chosen, beginning.get("board"), tuple(beginning["moves"].split())))
        say(repr(rules) if seed is None else f"{rules!r}, seed {seed}")
        say("\n".join(f"player_{seat}: {name}" for seat, name in enumerate(session.players)))
        _run(session, adviser, pause)
    if seed is None:
        print(f"seed {chosen}")  # only at the end, since it reveals hidden information
    if save is not None:
        try:
            _save(session, str(save))
        except (ValueError, OSError):
            print(session.record().to_json())  # so that the game can be recovered
            raise


@with_settings(StartSettings, into="beginning")
@with_settings(
    Limits,
    skip=("own_agents",),
    flags={name: f"--most-{name}" for name in ("simulations", "seconds", "memory", "threads")},
    into="limits",
)
def serve(
    beginning: dict[str, Any],
    limits: dict[str, Any],
    game: str = argument("chameleon", None, "The first game: a name that `pbm games` lists."),
    players: list[str] | None = PLAYERS,
    options: list[str] | None = OPTIONS,
    replay: Path | None = flag(
        None, "Show the games of a file of records, or of a tournament's folder.", metavar="FILE"
    ),
    host: str = flag("127.0.0.1", "Address to listen on. The default accepts connections from this machine only."),
    port: int = flag(8765, "Port to listen on. 0 picks a free one.", min=0, max=65535),
    clock: str | None = flag(
        None,
        "Time of each player in the first game: seconds per game such as 300, or 300+5 with 5 more for each move, or "
        "seconds per move such as 30/move.",
        metavar="CLOCK",
    ),
    public: bool = flag(False, "Publish the boards. Needs --address and --token.", "--public"),
    address: str | None = flag(None, "With --public: the address for browsers, such as https://boards.example.org."),
    token: str | None = flag(
        None,
        "With --public: what everybody must enter once to play. Others on this machine can read it in the command, but "
        "not in the environment variable.",
        envvar="PBM_SERVE_TOKEN",
    ),
    open: bool = flag(True, "Open the page in the browser."),  # noqa: A002
) -> None:
    """Play in the browser.

    Serves a page with a board to click on until Ctrl-C. Every new tab has its own game; other games, seats and agents
    can be chosen there, and other browsers can be invited by links. You see the view of your seat. A game has a link
    that nobody can guess, where it can be resumed after a reload or a restart of the server.

    With --public, browsers elsewhere may use the server under --address, once they have entered the token. It has no
    TLS (a proxy in front of it adds that), no accounts, and nothing that stops a visitor from taking all boards.

    Examples:
      pbm serve
      pbm serve curio random person --seed 7
      pbm serve trinim person mcts:seconds=1 random -o num_players=3 --no-open
      pbm serve unlur mcts:seconds=1 mcts:simulations=100     # agents only: watch them
      pbm serve --replay games.jsonl
      pbm serve --public --address https://boards.example.org     # with the token in PBM_SERVE_TOKEN
    """
    require("pbm serve", "serve", "markdown_it", "starlette", "uvicorn", "h11", "websockets")
    from ..play.access import Publication, is_loopback
    from ..play.clock import TimeControl
    from ..play.kept import KeptGames, state_folder
    from ..play.processes import AgentProcesses
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
    with compiling_ahead([rules]), closing(AgentProcesses()) as processes:
        games = KeptGames(state_folder())
        server(application(start, host, chosen, records, games, publication, processes)).run(sockets=[listening])


def _run(session: Session, adviser: Agent, pause: float) -> None:
    """Run the game until it is over or the persons leave."""
    seated = None
    if not session.persons:
        _show(session)
    try:
        while session.persons or not session.done:
            if session.done or session.mover in session.persons:
                seated = _change_seats(session, seated)
                _show(session)
                while not _carry_out(_next_line(session), session, adviser):
                    pass
            else:
                mover = session.mover
                say(f"\nplayer_{mover} ({session.players[mover]}): {session.play_agent_move()}")
                if not session.persons:
                    _show(session)
                time.sleep(pause)
    except EOFError:
        print("\nThe game is left." if not session.done else "")


def _show(session: Session) -> None:
    """Print the view of the person to move; at the end, and if only agents play, the full state."""
    hides = session.persons and not session.done
    show_board(session.game, session.view(session.mover) if hides else session.state)
    print()


def _change_seats(session: Session, seated: int | None) -> int | None:
    """Return the seat of the person to move, after clearing the view of the person in `seated` from the screen."""
    if session.done or session.game.perfect_information or len(session.persons) == 1 or seated == session.mover:
        return seated
    if seated is not None and keyboard():
        show_board(session.game, session.view(seated))  # the result of the move
        print()
    hand_over(f"player_{session.mover}", first=seated is None)
    return session.mover


def _next_line(session: Session) -> str:
    """Read the next line; EOFError if there is none."""
    legal = () if session.done else map(session.game.action_to_string, session.legal())
    return read_line("over> " if session.done else f"player_{session.mover}> ", [*legal, *COMMANDS])


def _carry_out(line: str, session: Session, adviser: Agent) -> bool:
    """Carry out a typed line and return whether to show the board again; EOFError to leave."""
    word, _, rest = line.partition(" ")
    word = word.lower()
    try:
        if word == "quit" or (session.done and not word):
            raise EOFError
        if word == "save":
            _save(session, rest.strip())
        elif word == "undo":
            say(f"taken back: {' '.join(session.undo())}")
            return True
        elif word == "board":
            return True
        elif word == "help":
            print(HELP)
        elif word == "rules" and rest.strip().lower() == "all":
            page(session.game.rules_page())
        elif word == "rules":
            say("\n\n".join(filter(None, (session.game.wording.summary, session.game.wording.geometry))))
        elif session.done:
            raise ValueError("the game is over: expected undo, save FILE, or an empty line to leave")
        elif word == "moves":
            texts = " ".join(map(session.game.action_to_string, session.legal()))
            print(textwrap.fill(texts, get_terminal_size().columns, break_on_hyphens=False))
        elif word == "hint":
            print(session.hint(adviser))
        elif word and (word != RESIGN or sure("Resign?")):
            session.play(line)
            return True
    except (ValueError, OSError) as error:
        say(in_words(error))
    return False


def _save(session: Session, name: str) -> None:
    if not name:
        raise ValueError("expected a file, such as 'save games.jsonl'")
    check_place(Path(name))
    record = session.record()
    append_records(name, [record])
    print(f"saved in {name}: {record.plies} plies, {record.ending}")
