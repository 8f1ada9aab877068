"""A tournament in a folder: `tournament.json` says what is played, `games.jsonl` holds the games that have been.

The games of a batch are added to `games.jsonl` when it is done, in one piece. So whatever happens to the process, the
file holds whole batches, at most followed by a part of one, which is dropped when the tournament is resumed.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from io import BytesIO, FileIO
from pathlib import Path
from typing import Any

from pbm_envs import Game, __version__
from pbm_envs.records import GameRecord, RecordError, append_to, record_of_line, verify
from pbm_envs.toolbox import printable

from ..common.folders import check_programs, locked, programs, write_about
from ..common.progress import progress_bar
from .faults import Faults
from .journal import Budget, Journal
from .openings import Opening
from .schedule import Batch, Tournament
from .workers import play_batches

SCHEMA = 1
COMMAND, GAMES = "tournament.json", "games.jsonl"
PLAYING = "playing games"
NO_BUDGET = Budget()
MOST_REPLAYED = 10_000
"""Of the games of a tournament that goes on, so many are played through (of more, every second, third, ...): some
seconds at most. How each was started is always compared."""


def play_tournament(
    tournament: Tournament,
    folder: str | Path,
    workers: int = 1,
    ray: bool | str = False,
    progress: bool = False,
    accept_changes: bool = False,
    budget: Budget = NO_BUDGET,
) -> list[GameRecord]:
    """Play what is missing of a tournament, and return the records of all its games.

    Args:
        tournament: What is played.
        folder: Where the games are kept; it is made if missing. Stopped in whatever way, the same call resumes.
        workers: Processes that play. The games are the same with any number.
        ray: The address of a Ray cluster that plays instead; True: the one that runs or is started here.
        progress: Show a bar.
        accept_changes: Resume although this package, an agent, a file that an agent reads or a library has changed
            since the folder was made; `tournament.json` records it.
        budget: What agents may use, all calls together; the same call with a larger one resumes.

    Raises:
        ValueError: The folder holds another tournament, was made with other programs, or is in use.
        InfrastructureError: Games are unplayed because of faults that are no agent's doing, or (BudgetSpentError)
            because the budget is used up.
    """
    records = play_in_folder(
        folder,
        command_of(tournament),
        tournament.batches,
        workers,
        ray,
        Bar(progress),
        accept_changes=accept_changes,
        budget=budget,
    )
    return sorted(records, key=lambda record: record.number)


def play_in_folder(
    folder: str | Path,
    command: dict[str, Any],
    schedule: Callable[[str], Sequence[Batch]],
    workers: int,
    ray: bool | str,
    bar: Bar,
    enough: Callable[[Sequence[GameRecord]], bool] = lambda games: False,
    *,
    accept_changes: bool = False,
    budget: Budget = NO_BUDGET,
) -> list[GameRecord]:
    """Play the batches that are missing in `folder`, which is that of `command`; all games that are there then.

    Args:
        folder: Made if missing.
        command: All that the games depend on; written to `tournament.json`, or compared with what it says. With an
            empty "key", that of the folder; where there is none, a new one.
        schedule: All batches, with the key that it is called with.
        workers: Processes that play.
        ray: The address of a Ray cluster that plays instead; True: the one that runs or is started here.
        bar: Shows how far it is.
        enough: Called with the games that were there, then with those of each batch in the order in which they are
            done; once it says True, no more are played.
        accept_changes: As in `play_tournament`.
        budget: As in `play_tournament`.

    Raises:
        ValueError: The folder holds something else, was made with other programs or is in use, or `workers` is none.
        InfrastructureError: Games are unplayed because of faults. An open-ended series ends with the first fault.
    """
    if workers < 1:
        raise ValueError(f"workers is {workers}: expected at least 1")
    folder = Path(folder)
    batches = schedule(command.get("key", ""))  # what is wrong with the command is said before anything is written
    agents = dict.fromkeys(name for batch in batches for name in batch.agents)
    here = programs(list(dict.fromkeys(batch.game for batch in batches)), list(agents))
    folder.mkdir(parents=True, exist_ok=True)
    with (
        locked(folder, PLAYING),
        games_file(folder, command := with_key(folder, command), here, accept_changes) as file,
    ):
        batches = schedule(command.get("key", ""))
        records = resume(file, batches)
        if enough(records):
            return records
        played, planned = {record.number for record in records}, sum(map(len, batches))
        missing = [batch for batch in batches if batch.number not in played]
        faults = Faults(1) if bar.open_ended else Faults()
        journal = Journal(folder, budget, missing, records)
        if missing:
            journal.check()
        results = play_batches(missing, workers, command.get("move_seconds"), ray, journal)
        with closing(results), bar.track(done=len(records), total=planned) as update:
            for result in results:
                if not (games := faults.take(result)):
                    continue
                append_to(file, games)
                journal.done(games)
                records += games
                stop = enough(games)
                update(games)
                if stop:
                    break
                if len(records) < planned:
                    journal.check()
            else:
                faults.check()
                journal.finish()
    return records


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
        "key": tournament.key,
        "batch": tournament.batch,
        "move_seconds": tournament.move_seconds,
    }


def with_key(folder: Path, command: dict[str, Any]) -> dict[str, Any]:
    """The command with a key: its own, that of the folder, or a new one. One without secrets has no key."""
    if command.get("key") != "":
        return command
    there = None
    with suppress(OSError, ValueError, RecursionError):  # what is wrong with the file, `claim` says
        there = json.loads((folder / COMMAND).read_text(encoding="utf-8"))
    known = there.get("key") if isinstance(there, dict) else None
    return command | {"key": known if known and isinstance(known, str) else secrets.token_hex(16)}


def claim(folder: Path, command: dict[str, Any], here: Mapping[str, str], accept_changes: bool = False) -> None:
    """Make the folder that of this tournament, played by the programs `here`; ValueError if it is that of another."""
    path = folder / COMMAND
    if not path.exists():
        if (folder / GAMES).exists():
            raise ValueError(f"{folder} holds {GAMES} but no {COMMAND}: expected an empty folder, or a tournament's")
        write_about(path, command | {"made_with": [here]})
        return
    try:
        there = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} is no JSON ({error}): expected the command of a tournament") from None
    if not isinstance(there, dict):
        raise ValueError(f"{path} holds {_short(there)[:60]}: expected the command of a tournament")
    made_with = there.pop("made_with", None)
    changed = [
        f"{name.replace('_', ' ')} {_plain(there.get(name))} there and {_plain(command.get(name))} here"
        for name in [*command, *(there.keys() - command.keys())]
        if there.get(name) != command.get(name)
    ]
    if changed:
        raise ValueError(
            f"{folder} holds another tournament: {'; '.join(changed)}. The command that began it goes on with it "
            f"({path} says what is played); for this one, name another folder"
        )
    known = check_programs(folder, made_with, here, accept=accept_changes)
    if known != made_with:
        write_about(path, command | {"made_with": known})


def _plain(value: Any) -> str:
    """Return a part of a tournament's command in words, as a person would write it."""
    if isinstance(value, dict) and isinstance(value.get("options"), dict):
        options = ",".join(f"{name}={choice}" for name, choice in value["options"].items())
        return printable(f"{value.get('game')}:{options}")
    if isinstance(value, list):
        return ", ".join(map(_plain, value)) or "none"
    return "none" if value is None or value == "" else printable(str(value))


def _short(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


@contextmanager
def games_file(
    folder: Path, command: dict[str, Any], here: Mapping[str, str], accept_changes: bool = False
) -> Iterator[FileIO]:
    """`games.jsonl` of the tournament that `command` says, to read and to append to. The folder is locked."""
    claim(folder, command, here, accept_changes)
    with open(folder / GAMES, "a+b", buffering=0) as file:
        yield file


def resume(file: FileIO, batches: Sequence[Batch]) -> list[GameRecord]:
    """The games of whole batches; a part of a batch at the end is cut off.

    Raises:
        RecordError: Anything else is amiss: a line that is no record, a game that is not the next one of its batch, or
            was started otherwise, or that contradicts the rules. The first such line is named.
    """
    schedule = {batch.number: batch for batch in batches}
    file.seek(0)
    lines = BytesIO(file.readall()).readlines()
    records = [
        record_of_line(line, file.name, number) for number, line in enumerate(lines, start=1) if line.endswith(b"\n")
    ]
    kept, every = 0, -(-len(records) // MOST_REPLAYED)
    while kept < len(records):
        first = records[kept].number
        batch = schedule.pop(first, None)
        some = records[kept : kept + (len(batch) if batch else 0)]
        if not batch or [record.number for record in some] != list(range(first, first + len(some))):
            raise RecordError(f"{file.name}, line {kept + 1}: game {first} is not the next one of a batch")
        for line, (record, opening, seats) in enumerate(
            zip(some, batch.openings, batch.seats, strict=False), start=kept + 1
        ):
            try:
                check_start(record, batch.game, opening, seats)
                if line % every == 0:
                    verify(record)
            except RecordError as error:
                raise RecordError(f"{file.name}, line {line}: not a game of this tournament: {error}") from None
        if len(some) < len(batch):
            break
        kept += len(batch)
    if kept < len(lines):
        file.truncate(sum(map(len, lines[:kept])))
    return records[:kept]


def check_start(record: GameRecord, game: Game, opening: Opening, seats: Sequence[str]) -> None:
    """RecordError unless the game was started so, by this version of the package."""
    scheduled = {
        "version": __version__,
        "game": game.name,
        "options": dict(game.options),
        "agents": tuple(seats),
        "seed": opening.seed,
        "opening": len(opening.moves),
        "board": opening.board_text(game),
    }
    for name, expected in scheduled.items():
        if (there := getattr(record, name)) != expected:
            raise RecordError(f"{name} is {printable(repr(there), 100)}: expected {printable(repr(expected), 100)}")
    if record.moves[: record.opening] != opening.moves:
        raise RecordError(
            f"the opening is {printable(' '.join(record.moves[: record.opening]), 100)}: expected "
            f"{printable(' '.join(opening.moves), 100)}"
        )


@dataclass(frozen=True)
class Bar:
    """A progress bar over games, if `enabled`; `note` says at any time what stands at its end."""

    enabled: bool
    note: Callable[[], str] = str
    open_ended: bool = False
    """It is not known how many games there will be."""

    @contextmanager
    def track(self, done: int, total: int) -> Iterator[Callable[[Sequence[GameRecord]], None]]:
        """Show it while games are played; what this gives is called with those that have been."""
        if not self.enabled:
            yield lambda games: None
            return
        with progress_bar(total=None if self.open_ended else total, initial=done, unit="game") as progress:
            forfeits = 0
            progress.set_postfix_str(self.note())

            def update(games: Sequence[GameRecord]) -> None:
                nonlocal forfeits
                forfeits += sum(len(record.forfeits) for record in games)
                notes = [self.note(), f"forfeits={forfeits}" * (forfeits > 0)]
                progress.set_postfix_str(", ".join(filter(None, notes)), refresh=False)
                progress.update(len(games))

            yield update
