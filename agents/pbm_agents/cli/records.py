"""`pbm replay`, `pbm animate`, `pbm export` and `pbm dataset`: records of games, checked, shown and as data sets."""

import os
import shutil
from pathlib import Path
from typing import Any

import typer

from pbm_envs.records import GameRecord, append_records, record_of_line, verify
from pbm_envs.records import replay as positions
from pbm_envs.registry import parse_game
from pbm_envs.render.animation import animate as film_of
from pbm_envs.render.film import check_path
from pbm_envs.server_log import is_server_log, read_server_log
from pbm_envs.toolbox import in_one_piece, is_partial, printable, require

from ..arena import Run
from ..arena.tournament import GAMES
from ..common.folders import locked
from ..data import GRADES, export_records, is_complete, make_games
from ..data.card import Summary
from ..data.export import FORMATS, choices, labelling_agent
from ..data.minari import new_minari_path
from .settings import RECORDS, argument, check_one_given, check_place, flag, with_run, with_settings
from .terminal import say, show_board


def replay(
    source: Path = RECORDS,
    show: int | None = flag(None, "Show the game in line N, move by move.", metavar="N", min=1),
    ply: int | None = flag(None, "With --show: show only the position after this ply.", min=0),
    seen_by: int | None = flag(None, "With --show: show only what this seat sees.", metavar="PLAYER", min=0),
    names: bool = flag(False, "With --show: call the players by their agents' names in the boards.", "--names"),
    write: Path | None = flag(None, "Write the games without errors to a new file of records.", metavar="FILE"),
) -> None:
    """Play records again, and check moves and results.

    SOURCE can also be a log of the play-by-mail server, with a command such as `trinim move 12 fred pw D4-D2` per line.
    For each record that contradicts the rules, prints a line with the ply and the reason, and exits with code 1.

    Examples:
      pbm replay results
      pbm replay games.jsonl --show 3 | less
      pbm replay games.jsonl --show 3 --ply 12 --seen-by 1
    """
    if show is not None:
        _show(game_in_line(source, show), ply, seen_by, names)
        return
    if ply is not None or seen_by is not None or names:
        raise ValueError("--ply, --seen-by and --names need --show N: which game?")
    if write is not None and write.exists():
        raise ValueError(f"{str(write)!r} exists: expected the name of a new file")
    if write is not None:
        check_place(write)
    (path, lines), good = _lines(source), []
    if not lines:
        raise ValueError(f"{path} holds no games: expected some")
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
    if good:
        print(f"on a board: pbm serve --replay {printable(str(source))}")


def animate(
    source: Path = RECORDS,
    out: Path = argument(..., "OUT", "The file to write: .gif or .mp4."),
    show: int = flag(1, "Film the game in line N.", metavar="N", min=1),
    seen_by: str | None = flag(
        None,
        "Draw what this seat sees, or `all` (default: `all` if the game is over, else what is public).",
        metavar="PLAYER",
    ),
    size: int = flag(480, "Length of the longer side in pixels."),
    theme: str = flag("light", "Colours: light or dark."),
    seconds: float = flag(0.8, "Seconds to show each position."),
    overwrite: bool = flag(False, "Replace OUT if it exists.", "--overwrite"),
) -> None:
    """Make a film of a recorded game.

    A GIF needs the extra `render`, an MP4 the extra `video`.

    Examples:
      pbm animate games.jsonl game.gif
      pbm animate results final.mp4 --show 12 --seen-by 1 --size 800 --theme dark
    """
    check_path(out)
    require("pbm animate", "render", "PIL", "matplotlib")
    if out.suffix.lower() == ".mp4":
        require("an MP4", "video", "imageio_ffmpeg")
    if not overwrite and os.path.lexists(out):
        raise ValueError(f"{out} exists: expected the name of a new file, or --overwrite")
    viewer = int(seen_by) if seen_by is not None and seen_by.isdecimal() else seen_by
    film = film_of(game_in_line(source, show), viewer, size=size, theme=theme, seconds=seconds)
    with in_one_piece(out) as part:  # a failure leaves an existing file unchanged
        film.save(part)
    print(f"{out}: {len(film.scenes)} positions, {out.stat().st_size / 1000:,.0f} kB")


@with_settings(
    export_records, skip=("source", "out", "title", "progress"), flags={"with_games": "--with-games/--no-games"}
)
def export(
    settings: dict[str, Any],
    records: Path = argument(..., "RECORDS", "A tournament's folder, a file of records, or a data set."),
    out: str = flag(..., "Folder to make; for Minari, id of the data set.", metavar="FOLDER"),
) -> None:
    """Write recorded games as a data set, one row for each position.

    A row has the view of the player to move, the move and the result of the game. The folder appears when it is
    complete; it has a card (README.md) and the schema.

    Examples:
      pbm export results --to parquet --out positions
      pbm export games.jsonl --to parquet --out positions --label mcts:simulations=200
      pbm export results --to minari --out pbm/chameleon-5/tournament-v0
    """
    _say_written(export_records(records, out, progress=True, **settings), out)


@with_settings(make_games, skip=("game", "folder", "agents", "run"))
@with_settings(export_records, skip=("source", "out", "seed", "title", "with_games", "progress"), into="form")
@with_run()
def dataset(
    settings: dict[str, Any],
    form: dict[str, Any],
    run: dict[str, Any],
    game: str = argument(..., "GAME[:OPTION=VALUE,...]", "The game."),
    out: Path = flag(..., "The folder of the games and the data set.", metavar="FOLDER"),
    grade: str | None = flag(None, f"Strength of the agents: {', '.join(GRADES)}.", metavar="GRADE"),
    agent: list[str] | None = flag(
        None, "Instead of a grade, an agent; can be repeated.", "--agent", "-a", metavar="AGENT"
    ),
    minari_id: str | None = flag(None, "Id of the data set. Needs --to minari.", metavar="ID"),
) -> None:
    """Make a graded data set of games.

    Agents play against themselves, and every position becomes a row. `FOLDER/games.jsonl` holds the games,
    `FOLDER/parquet` the data set. The same command makes the same rows; if it was stopped, it resumes.

    Examples:
      pbm dataset chameleon:size=5 --grade medium --games 1000 --out medium
      pbm dataset curio --agent mcts:simulations=100 --games 500 --out curio-100 --workers 2
      pbm dataset unlur:radius=4 --grade mixed --games 3000 --out mixed --label mcts:simulations=200
    """
    check_one_given(grade=grade, agent=agent or None)
    if grade is not None and grade not in GRADES:
        raise ValueError(f"--grade is {grade!r}: expected one of {', '.join(GRADES)}")
    to = form.pop("to")
    form = {"label": None, "seed": settings["seed"], **form}
    if (to == "minari") != (minari_id is not None):
        raise ValueError(f"--to is {to} and --minari-id is {minari_id}: expected an id for Minari, and for it alone")
    require(to.capitalize(), "data", *FORMATS[to])  # before any game is played
    if minari_id is not None:
        new_minari_path(minari_id)
    labelling_agent(form["label"])
    rules, names = parse_game(game), GRADES[grade] if grade else tuple(agent or ())
    make_games(rules, out, names, **settings, run=Run(**run, progress=True))
    place = minari_id or str(out / to)
    if minari_id is None and is_complete(place, choices(**form, with_games=True)):
        print(f"{place} is complete")
        return
    title = f"{rules.name}, {grade or ', '.join(names)}"
    with locked(out, "writing a data set"):
        for part in filter(is_partial, out.iterdir()):  # of a process that was killed
            shutil.rmtree(part, ignore_errors=True)
        summary = export_records(out, place, to, title=title, progress=True, **form)
    _say_written(summary, place)


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


def _say_written(summary: Summary, place: str) -> None:
    positions = f"{summary.rows:,} positions of " if summary.rows else ""
    print(f"written: {positions}{summary.games:,} games to {place}")
