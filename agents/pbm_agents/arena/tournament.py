"""Games in a folder: `tournament.json` describes the tournament, `games.jsonl` holds the finished games.

The games of a batch are appended to `games.jsonl` in one write when it is done. Whatever happens to the process, the
file holds whole batches, followed at most by part of one, which is dropped on resuming.
"""

from __future__ import annotations

import json
import re
import secrets
from array import array
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from io import FileIO
from pathlib import Path
from typing import Any, final

from pbm_envs import Game, __version__
from pbm_envs.records import GameRecord, RecordError, append_to, record_of_line, verify
from pbm_envs.toolbox import check_settings, printable, quoted, setting

from ..common.faults import Budget, InfrastructureError
from ..common.folders import check_programs, locked, programs, write_about
from ..common.progress import progress_bar
from .journal import Journal
from .openings import Opening
from .schedule import Batch, Plan, Tournament, Unplayed
from .workers import play_batches

COMMAND, GAMES = "tournament.json", "games.jsonl"
NUMBER = re.compile(rb'"number": (\d{1,15})[,}]')
MOST_REPLAYED = 10_000
"""Maximum number of stored games replayed on resuming, evenly spaced (a few seconds). The start of every game is
always checked."""
MOST_IN_A_ROW, MOST_NAMED = 3, 5
"""Number of consecutive batches that faults may end before play stops; number of games and reasons in an error."""


@dataclass(frozen=True)
class Run:
    """Settings of how games are played in a folder, on which the games do not depend."""

    workers: int = setting(1, low=1, help="Processes that play.")
    ray: str | None = setting(
        None, help="Play on the Ray cluster at this address. `auto` uses a running one, `local` starts one here."
    )
    progress: bool = setting(False, help="Show a progress bar.")
    accept_changes: bool = setting(
        False, help="Resume even if agents, files or packages have changed. The folder records the change."
    )
    max_requests: int | None = setting(
        None, low=0, help="Pause once agents have sent this many requests, in all runs together."
    )
    max_cost: float | None = setting(
        None, low=0, help="Pause once agents' answers have cost this much, in all runs together."
    )

    def __post_init__(self) -> None:
        check_settings(self)


ALONE = Run()


def play_tournament(tournament: Tournament, folder: str | Path, run: Run = ALONE) -> list[GameRecord]:
    """Play the missing games of a tournament, and return the records of all its games.

    Args:
        tournament: The tournament.
        folder: Folder for the games; created if missing. The same call resumes after any interruption.
        run: How the games are played.

    Raises:
        ValueError: The folder holds another tournament, was made with other programs, or is in use.
        InfrastructureError: Faults outside the agents, or the budget (BudgetSpentError), left games unplayed.
    """
    if not isinstance(tournament, Tournament):
        raise ValueError(f"tournament is {quoted(tournament)}: expected a Tournament")
    play_in_folder(tournament.plan(), folder, run)
    return tournament_records(folder)


def play_in_folder(
    plan: Plan,
    folder: str | Path,
    run: Run = ALONE,
    take: Callable[[Sequence[GameRecord]], bool] = lambda games: False,
    note: Callable[[], str] = str,
) -> None:
    """Play the missing batches of a plan in its folder, which is created if missing.

    `take` is called with the games of each batch, first the stored ones, then the others as they are done; once it
    returns True, play stops. `note` returns the text at the end of the progress bar. An open-ended plan ends with the
    first fault.

    Raises:
        ValueError: The folder holds something else, was made with other programs, or is in use.
        RecordError: A game in the folder is not one of the plan.
        InfrastructureError: Games are unplayed because of faults.
    """
    command, folder = plan.command(), Path(folder)
    first = next(iter(plan.rounds(command.get("key", ""))))  # raises errors before anything is written
    here = programs(plan.games, plan.agents)
    folder.mkdir(parents=True, exist_ok=True)
    total = None if plan.open_ended else sum(map(len, first))
    with locked(folder, "playing games"):
        command = with_key(folder, command)
        claim(folder, command, here, run.accept_changes)
        with open(folder / GAMES, "a+b", buffering=0) as file, _game_bar(run.progress, total, note) as update:
            stored, journal = StoredGames(file), Journal(folder, Budget(run.max_requests, run.max_cost))
            for batches in plan.rounds(command.get("key", "")):
                results = _play_round(batches, stored, journal, run, plan)
                with closing(results):
                    for games, played in results:
                        stop = take(games)
                        update(games, played)
                        if stop:
                            return
            journal.finish()


def _play_round(
    batches: Sequence[Batch], stored: StoredGames, journal: Journal, run: Run, plan: Plan
) -> Generator[tuple[Sequence[GameRecord], bool], None, None]:
    """Yield the games of each batch, and whether they were played now; stored games come first."""
    missing = []
    for batch in batches:
        if games := stored.take(batch):
            journal.done(games)
            yield games, False
        else:
            missing.append(batch)
    if missing or not plan.open_ended:
        stored.settle()
    unplayed, in_a_row, left = list[Unplayed](), 0, len(missing)
    results = play_batches(missing, run.workers, plan.settings.get("move_seconds"), run.ray, journal)
    with closing(results):
        while left:
            journal.check()
            result, left = next(results), left - 1
            if isinstance(result, Unplayed):
                unplayed.append(result)
                in_a_row += 1
                if plan.open_ended or in_a_row == MOST_IN_A_ROW:
                    break
            else:
                in_a_row = 0
                append_to(stored.file, result)  # in one write
                journal.done(result)
                yield result, True
    if unplayed:
        raise _unplayed_error(unplayed)


def finished_games(folder: str | Path) -> Iterator[GameRecord]:
    """Yield the games finished so far, in the order in which they finished. The folder may be in use."""
    path = Path(folder) / GAMES
    with open(path, "rb") as lines:
        for number, line in enumerate(lines, start=1):
            if line.endswith(b"\n"):  # otherwise it is still being written
                yield record_of_line(line, path, number)


def tournament_records(folder: str | Path) -> list[GameRecord]:
    """Return the games finished so far, in the order of the schedule."""
    return sorted(finished_games(folder), key=lambda record: record.number)


def with_key(folder: Path, command: dict[str, Any]) -> dict[str, Any]:
    """Return the command with a key: its own, the folder's, or a new one. A command without a key gets none."""
    if command.get("key") != "":
        return command
    there = None
    with suppress(OSError, ValueError, RecursionError):  # `claim` reports the error in the file
        there = json.loads((folder / COMMAND).read_text(encoding="utf-8"))
    known = there.get("key") if isinstance(there, dict) else None
    return command | {"key": known if known and isinstance(known, str) else secrets.token_hex(16)}


def claim(folder: Path, command: dict[str, Any], here: Mapping[str, str], accept_changes: bool = False) -> None:
    """Bind the folder to this command and the programs `here`; raise ValueError if it belongs to another."""
    path = folder / COMMAND
    if not path.exists():
        if (folder / GAMES).exists():
            raise ValueError(f"{folder} holds {GAMES} but no {COMMAND}: expected an empty folder, or a tournament's")
        write_about(path, command | {"made_with": [here]})
        return
    try:
        there = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} is not JSON ({error}): expected the command of a tournament") from None
    if not isinstance(there, dict):
        raise ValueError(f"{path} holds {json.dumps(there)[:60]}: expected the command of a tournament")
    made_with = there.pop("made_with", None)
    changed = [
        f"{name.replace('_', ' ')} {_plain(there.get(name))} there and {_plain(command.get(name))} here"
        for name in [*command, *(there.keys() - command.keys())]
        if there.get(name) != command.get(name)
    ]
    if changed:
        raise ValueError(
            f"{folder} holds another tournament: {'; '.join(changed)}. The command that began it resumes it "
            f"({path} says what is played); for this one, name another folder"
        )
    known = check_programs(folder, made_with, here, accept=accept_changes)
    if known != made_with:
        write_about(path, command | {"made_with": known})


def _plain(value: Any) -> str:
    """Return a part of a tournament's command as readable text."""
    if isinstance(value, dict) and isinstance(value.get("options"), dict):
        options = ",".join(f"{name}={choice}" for name, choice in value["options"].items())
        return printable(f"{value.get('game')}:{options}")
    if isinstance(value, list):
        return ", ".join(map(_plain, value)) or "none"
    return "none" if value is None or value == "" else printable(str(value))


@final
class StoredGames:
    """The games in a file, read one batch at a time; only the offset of each line is kept in memory."""

    def __init__(self, file: FileIO) -> None:
        """Index the games in `games.jsonl` by number. Raises RecordError for a line without a number."""
        self.file, self._ends, self._places = file, array("q", [0]), dict[int, int]()
        with open(file.name, "rb") as lines:
            for place, line in enumerate(lines):
                if line.endswith(b"\n"):
                    found = NUMBER.search(line)  # the whole record is read and checked with its batch
                    number = int(found[1]) if found else record_of_line(line, file.name, place + 1).number
                    self._places.setdefault(number, place)
                    self._ends.append(self._ends[-1] + len(line))
        self._kept = len(self._ends) - 1
        """The number of lines to keep: all of them, or those before a partial batch."""
        self._taken, self._settled = bytearray(self._kept), False
        self._every = max(1, -(-self._kept // MOST_REPLAYED))

    def take(self, batch: Batch) -> list[GameRecord]:
        """Return the games of a batch if the file holds all of them, else none.

        Raises:
            RecordError: A game has another start, or contradicts the rules; or other games are between them.
        """
        if (first := self._places.get(batch.number)) is None:
            return []
        last = min(first + len(batch), len(self._taken))
        with open(self.file.name, "rb") as file:
            file.seek(self._ends[first])
            lines = [file.readline() for _ in range(first, last)]
        games = [record_of_line(line, self.file.name, place) for place, line in enumerate(lines, start=first + 1)]
        if [record.number for record in games] != list(range(batch.number, batch.number + len(games))):
            raise self._stray(first)
        for place, (record, opening, seats) in enumerate(zip(games, batch.openings, batch.seats), start=first):  # noqa: B905
            try:
                check_start(record, batch.game, opening, seats)
                if place % self._every == 0:
                    verify(record)
            except RecordError as error:
                raise RecordError(
                    f"{self.file.name}, line {place + 1}: not a game of this tournament: {error}"
                ) from None
        if len(games) < len(batch):
            self._kept = first
            return []
        self._taken[first:last] = bytes([1]) * len(games)
        return games

    def settle(self) -> None:
        """Truncate a partial batch at the end before games are added; raise RecordError for games outside the plan."""
        if self._settled:
            return
        self._settled = True
        if (stray := self._taken.find(0, 0, self._kept)) >= 0:
            raise self._stray(stray)
        if self._ends[self._kept] < Path(self.file.name).stat().st_size:
            self.file.truncate(self._ends[self._kept])

    def _stray(self, place: int) -> RecordError:
        with open(self.file.name, "rb") as file:
            file.seek(self._ends[place])
            number = record_of_line(file.readline(), self.file.name, place + 1).number
        return RecordError(f"{self.file.name}, line {place + 1}: game {number} is not the next one of a batch")


def check_start(record: GameRecord, game: Game, opening: Opening, seats: Sequence[str]) -> None:
    """Raise RecordError unless the game has this start and was played by this version of the package."""
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


@contextmanager
def _game_bar(
    shown: bool, total: int | None, note: Callable[[], str]
) -> Iterator[Callable[[Sequence[GameRecord], bool], None]]:
    """Show a progress bar over games; yield a function of finished games and whether they were played now."""
    if not shown:
        yield lambda games, played: None
        return
    forfeits = 0
    with progress_bar(total=total, unit="game") as bar:
        bar.set_postfix_str(note())

        def update(games: Sequence[GameRecord], played: bool) -> None:
            nonlocal forfeits
            forfeits += sum(len(record.forfeits) for record in games)
            notes = [note(), f"forfeits={forfeits}" * (forfeits > 0)]
            bar.set_postfix_str(", ".join(filter(None, notes)), refresh=False)
            bar.initial += 0 if played else len(games)  # the speed counts only games of this run
            bar.update(len(games))

        yield update


def _unplayed_error(unplayed: Sequence[Unplayed]) -> InfrastructureError:
    """Return the error that lists the unplayed games and the reasons."""
    by_reason: dict[str, list[str]] = {}
    for one in unplayed:
        games = f"{one.number} to {one.number + one.count - 1}" if one.count > 1 else str(one.number)
        by_reason.setdefault(f"{one.agent}: {one.reason}", []).append(games)
    parts = [
        f"games {', '.join(games[:MOST_NAMED])}{', ...' * (len(games) > MOST_NAMED)} ({reason})"
        for reason, games in sorted(by_reason.items())
    ]
    return InfrastructureError(
        f"{sum(one.count for one in unplayed)} games are unplayed, and nobody has forfeited them: "
        f"{'; '.join(parts[:MOST_NAMED])}. After the repair the same command plays them"
    )
