"""`pbm replay`: check records against the rules and show games move by move."""

from pathlib import Path
from typing import Annotated

import typer

from pbm_envs.records import GameRecord, append_records, record_of_line, verify
from pbm_envs.records import replay as positions
from pbm_envs.server_log import is_server_log, read_server_log
from pbm_envs.toolbox import printable

from ..arena.tournament import GAMES
from .settings import Records
from .terminal import say, show_board

EXAMPLES = """
  pbm replay results
  pbm replay games.jsonl --show 3 | less
  pbm replay games.jsonl --show 3 --ply 12 --seen-by 1
"""


def replay(
    source: Records,
    show: Annotated[int | None, typer.Option(metavar="N", min=1, help="Show the game in line N, move by move.")] = None,
    ply: Annotated[int | None, typer.Option(min=0, help="With --show: show only the position after this ply.")] = None,
    seen_by: Annotated[
        int | None, typer.Option(metavar="PLAYER", min=0, help="With --show: show only what this seat sees.")
    ] = None,
    names: Annotated[
        bool, typer.Option("--names", help="With --show: call the players by their agents' names in the boards.")
    ] = False,
    write: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the games without errors to a new file of records.")
    ] = None,
) -> None:
    """Play records again, and check moves and results.

    SOURCE can also be a log of the play-by-mail server, with a command such as `trinim move 12 fred pw D4-D2` per line.
    For each record that contradicts the rules, prints a line with the ply and the reason, and exits with code 1.
    """
    if show is not None:
        _show(game_in_line(source, show), ply, seen_by, names)
        return
    if ply is not None or seen_by is not None or names:
        raise ValueError("--ply, --seen-by and --names need --show N: which game?")
    if write is not None and write.exists():
        raise ValueError(f"{str(write)!r} exists: expected the name of a new file")
    (path, lines), good = _lines(source), []
    for number, line in enumerate(lines, start=1):
        try:
            record = GameRecord.from_json(line.decode())
            verify(record)
            good.append(record)
        except ValueError as error:
            print(f"{path}, line {number}: {printable(error)}")
    print(f"{len(good)} of {len(lines)} games replay")
    if write is not None:
        append_records(write, good)
    if len(good) < len(lines):
        raise typer.Exit(1)
    if lines:
        print(f"on a board: pbm serve --replay {printable(str(source))}")


def all_games(source: Path) -> list[GameRecord]:
    """Return the records of a file, or of a tournament's folder; ValueError if there is none."""
    path, lines = _lines(source)
    if not lines:
        raise ValueError(f"{path} holds no games: expected a record in each line")
    return [record_of_line(line, path, number) for number, line in enumerate(lines, start=1)]


def game_in_line(source: Path, number: int) -> GameRecord:
    """Return the record in a line, counted from 1, of a file or of a tournament's folder."""
    path, lines = _lines(source)
    if number > len(lines):
        raise ValueError(f"{path} has {len(lines)} lines: there is no game in line {number}")
    return record_of_line(lines[number - 1], path, number)


def file_of_games(source: Path) -> Path:
    """Return the file of records that a source stands for; raise ValueError if there is none."""
    path = source / GAMES if source.is_dir() else source
    if not path.exists():
        there = f"a folder without {GAMES}, which a tournament writes" if source.is_dir() else "not there"
        raise ValueError(f"{str(source)!r} is {there}: expected a file of records, or the folder of a tournament")
    return path


def _lines(source: Path) -> tuple[Path, list[bytes]]:
    path = file_of_games(source)
    data = path.read_bytes()
    if is_server_log(data.decode(errors="replace")):
        return path, [record.to_json().encode() for record in read_server_log(path)]
    return path, data.splitlines()


def _show(record: GameRecord, ply: int | None, seen_by: int | None, names: bool) -> None:
    """Print every position, or the one after `ply`."""
    game, mover = record.rules(), 0
    if seen_by is not None and seen_by >= game.num_players:
        raise ValueError(f"--seen-by {seen_by}: expected 0..{game.num_players - 1}")
    if ply is not None and ply > record.plies:
        raise ValueError(f"--ply {ply}: the game has {record.plies}")
    say(f"{game!r}, seed {record.seed}")
    for seat, agent in enumerate(record.agents):
        print(f"player_{seat}: {printable(agent)}")
    notes = {forfeit.ply: f" (forfeit: {printable(forfeit.reason)})" for forfeit in record.forfeits}
    for number, state in enumerate(positions(record)):
        if ply is None or number == ply:
            if number:
                note = ", given" * (number <= record.opening) + notes.get(number, "")
                print(f"\n{number}. player_{mover}: {printable(record.moves[number - 1])}{note}")
            show_board(game, state if seen_by is None else game.view(state, seen_by), record.agents if names else None)
        mover = int(state["to_move"][0])
    results = ", ".join(f"player_{seat} {value:+g}" for seat, value in enumerate(record.returns))
    print(f"\n{record.ending}: {results}")
