"""`pbm play`: games of persons and agents in a terminal or through a pipe."""

import secrets
import textwrap
import time
from pathlib import Path
from shutil import get_terminal_size
from typing import Annotated, Any

import typer

from pbm_envs.records import RESIGN, append_records
from pbm_envs.registry import parse_game

from ..arena import Opening
from ..play.ahead import compiling_ahead
from ..play.session import DEFAULT_AGENT, Session, seats
from ..players.agent import Agent
from ..players.names import make_agent
from .settings import GamePlayers, Options, StartSettings, with_settings
from .terminal import hand_over, keyboard, page, read_line, say, show_board, sure

EXAMPLES = """
  pbm play chameleon -o size=7
  pbm play curio mcts:simulations=5000 person --seed 7
  pbm play trinim person person random -o num_players=3
  pbm play unlur random mcts:seconds=0.1 --pause 1
"""
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
    game: Annotated[str, typer.Argument(help="A name that `pbm games` lists, or module:Class.")],
    beginning: dict[str, Any],
    players: GamePlayers = None,
    options: Options = None,
    save: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Save the game to this file when you leave it.")
    ] = None,
    pause: Annotated[float, typer.Option(min=0, max=3600, help="Seconds to wait after each move of an agent.")] = 0,
) -> None:
    """Play a game, or watch one.

    Type moves, or `help` for the other commands. You see the view of your seat. Several persons take turns at the
    keyboard. If only agents play, you watch and see the full state. Moves may come from a pipe.
    """
    rules, seed = parse_game(game, options), beginning.get("seed")
    adviser = make_agent(beginning.get("hint", DEFAULT_AGENT))
    if save is not None and (save.is_dir() or not save.absolute().parent.is_dir()):
        raise ValueError(f"{str(save)!r} cannot be written: expected a file in a folder that exists")
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
        except OSError:
            print(session.record().to_json())  # so that the game can be recovered
            raise


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
    if session.done:
        return read_line("over> ", COMMANDS)
    legal = map(session.game.action_to_string, session.legal())
    return read_line(f"player_{session.mover}> ", [*legal, *COMMANDS])


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
        say(str(error))
    return False


def _save(session: Session, name: str) -> None:
    if not name:
        raise ValueError("expected a file, such as 'save games.jsonl'")
    record = session.record()
    append_records(name, [record])
    print(f"saved in {name}: {record.plies} plies, {record.ending}")
