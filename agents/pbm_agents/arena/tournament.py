"""A tournament in a folder: `tournament.json` says what is played, `games.jsonl` holds the games that have been.

The games of a batch are added to `games.jsonl` when it is done, in one piece. So whatever happens to the process, the
file holds whole batches, at most followed by a part of one, which is dropped when the tournament is resumed.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from io import BytesIO, FileIO
from pathlib import Path
from typing import Any

from pbm_envs import __version__
from pbm_envs.records import GameRecord, RecordError, append_to, record_of_line

from .schedule import Batch, Tournament
from .workers import play_batches, play_batches_on_ray

SCHEMA = 1
COMMAND, GAMES = "tournament.json", "games.jsonl"


def play_tournament(
    tournament: Tournament,
    folder: str | Path,
    workers: int = 1,
    ray: bool | str = False,
    progress: bool = False,
) -> list[GameRecord]:
    """Play what is missing of the tournament in `folder` (made if missing), and return the records of all its games.

    `workers` processes play; or the Ray cluster at the address `ray` (True: the one that runs or is started here). The
    games are the same. `progress` shows a bar. ValueError if the folder holds another tournament.
    """
    if workers < 1:
        raise ValueError(f"workers is {workers}: expected at least 1")
    folder = Path(folder)
    batches = tournament.batches()
    folder.mkdir(parents=True, exist_ok=True)
    claim(folder, command_of(tournament))
    with games_file(folder) as file:
        records = resume(file, batches)
        played = {record.number for record in records}
        missing = [batch for batch in batches if batch.number not in played]
        results: Generator[list[GameRecord], None, None]
        if ray:
            results = play_batches_on_ray(missing, None if ray is True else ray)
        else:
            results = play_batches(missing, min(workers, max(1, len(missing))))
        with closing(results), bar(progress, done=len(records), total=sum(map(len, batches))) as update:
            for games in results:
                append_to(file, games)
                records += games
                update(games)
    return sorted(records, key=lambda record: record.number)


def tournament_records(folder: str | Path) -> list[GameRecord]:
    """The games that have been played so far, in order; they may be of a tournament that is being played."""
    path = Path(folder) / GAMES
    lines = path.read_bytes().split(b"\n")[:-1]  # what follows the last end of line is being written
    records = [record_of_line(line, path, number) for number, line in enumerate(lines, start=1)]
    return sorted(records, key=lambda record: record.number)


def command_of(tournament: Tournament) -> dict[str, Any]:
    """What is written to `tournament.json`: all that the games depend on."""
    return {
        "schema": SCHEMA,
        "version": __version__,
        "games": [{"game": game.name, "options": dict(game.options)} for game in tournament.games],
        "agents": list(tournament.agents),
        "form": tournament.form,
        "openings": tournament.openings,
        "boards": list(tournament.boards),
        "opening_moves": tournament.opening_moves,
        "seed": tournament.seed,
        "batch": tournament.batch,
    }


def claim(folder: Path, command: dict[str, Any]) -> None:
    """Make the folder that of this tournament, or ValueError if it is that of another."""
    path = folder / COMMAND
    if not path.exists():
        if (folder / GAMES).exists():
            raise ValueError(f"{folder} holds {GAMES} but no {COMMAND}: expected an empty folder, or a tournament's")
        part = path.with_suffix(".part")
        try:
            with open(part, "w", encoding="utf-8") as file:
                file.write(json.dumps(command, indent=1, ensure_ascii=False) + "\n")
                file.flush()
                os.fsync(file.fileno())
            os.replace(part, path)
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(path)) from error
        return
    try:
        there = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} is no JSON ({error}): expected the command of a tournament") from None
    if not isinstance(there, dict):
        raise ValueError(f"{path} holds {_short(there)[:60]}: expected the command of a tournament")
    changed = [
        f"{name} {_short(there.get(name))} there and {_short(command.get(name))} here"
        for name in [*command, *(there.keys() - command.keys())]
        if there.get(name) != command.get(name)
    ]
    if changed:
        raise ValueError(
            f"{folder} holds another tournament: {'; '.join(changed)}. Go on with the command of {path}, or take "
            "another folder"
        )


def _short(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


@contextmanager
def games_file(folder: Path) -> Iterator[FileIO]:
    """`games.jsonl`, to read and to append to, by one process at a time."""
    with open(folder / GAMES, "a+b", buffering=0) as file:
        if sys.platform != "win32":
            import fcntl

            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise ValueError(f"another process is playing the tournament in {folder}") from None
        yield file


def resume(file: FileIO, batches: Sequence[Batch]) -> list[GameRecord]:
    """The games of whole batches; a part of a batch at the end is cut off. RecordError if anything else is amiss."""
    sizes = {batch.number: len(batch) for batch in batches}
    file.seek(0)
    lines = BytesIO(file.readall()).readlines()
    records = [
        record_of_line(line, file.name, number) for number, line in enumerate(lines, start=1) if line.endswith(b"\n")
    ]
    kept = 0
    while kept < len(records):
        first = records[kept].number
        size = sizes.pop(first, 0)
        some = [record.number for record in records[kept : kept + size]]
        if not size or some != list(range(first, first + len(some))):
            raise RecordError(f"{file.name}, line {kept + 1}: game {first} is not the next one of a batch")
        if len(some) < size:
            break
        kept += size
    if kept < len(lines):
        file.truncate(sum(map(len, lines[:kept])))
    return records[:kept]


@contextmanager
def bar(shown: bool, done: int, total: int) -> Iterator[Callable[[Sequence[GameRecord]], None]]:
    """A progress bar; what it gives is called with the games that have been played."""
    if not shown:
        yield lambda games: None
        return
    try:
        from tqdm.auto import tqdm
    except ImportError:
        raise ImportError("a progress bar needs tqdm: pip install 'pbm-envs[cli]'") from None
    with tqdm(total=total, initial=done, unit="game", dynamic_ncols=True) as progress:
        forfeits = 0

        def update(games: Sequence[GameRecord]) -> None:
            nonlocal forfeits
            forfeits += sum(len(record.forfeits) for record in games)
            if forfeits:
                progress.set_postfix(forfeits=forfeits, refresh=False)
            progress.update(len(games))

        yield update
