"""Records of games: one JSON object per line, with everything that is needed to replay the game.

    {"schema": 1, "version": "0.1.0", "number": 0, "game": "chameleon", "options": {"size": 3, ...}, "board": null,
     "seed": 7, "agents": ["random", "mcts:simulations=50"], "opening": 0, "moves": ["b2x", "swap", ...],
     "returns": [-1.0, 1.0], "ending": "won", "forfeits": [], "plies": 9, "turns": [5, 4],
     "seconds": [0.01, 0.2]}

`agents[k]` plays `player_k`. Plies are counted from 1: ply 1 is `moves[0]`. An agent that crashes or plays an illegal
move forfeits: it leaves the game as if it had resigned (A2), whether or not the options allow resigning, and `forfeits`
gives the reason.
"""

from __future__ import annotations

import json
import os
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from io import FileIO
from pathlib import Path
from typing import Any

import numpy as np

from .core.checks import check_path, check_seed, describe_error, quoted
from .core.game import Game
from .core.scene import Drawn
from .core.state import NOBODY, States
from .core.validation import winner_of
from .foreign import check_fields, json_kinds, parse_object, registered_game, wrong_fields
from .version import __version__

SCHEMA = 1
RESIGN = "resign"
ENDINGS = ("won", "drawn", "ply limit", "resigned", "forfeited", "unfinished")
"""The ways in which a game can end. RESIGNED: a player resigned. FORFEITED: a player was removed."""
WON, DRAWN, PLY_LIMIT, RESIGNED, FORFEITED, UNFINISHED = ENDINGS


class RecordError(ValueError):
    """Raised for a line that is not a record, and for a record that contradicts the rules."""


@dataclass(frozen=True)
class Forfeit:
    """The removal of `player` at `ply`."""

    ply: int
    player: int
    reason: str


@dataclass(frozen=True, kw_only=True)
class GameRecord:
    """One game, from its board to its returns."""

    schema: int = SCHEMA
    version: str = __version__
    """The version of this package."""
    number: int = 0
    """The game's position in the schedule of a tournament."""
    game: str
    options: Mapping[str, Any]
    board: str | None
    """The initial board as `init(board=...)` reads it; None if it is empty."""
    seed: int | None = None
    """The seed from which `init(1, default_rng(seed))` drew the board, if no board was given."""
    agents: tuple[str, ...]
    """The agents' names by seat, in the form that `make_agent` reads if an agent has such a name."""
    opening: int = 0
    """The number of moves that were given before the agents took over."""
    moves: tuple[str, ...]
    """Move texts, starting from `board`."""
    returns: tuple[float, ...]
    ending: str
    """One of ENDINGS."""
    forfeits: tuple[Forfeit, ...] = ()
    plies: int
    turns: tuple[int, ...] = ()
    """The number of moves of each seat after the opening."""
    seconds: tuple[float, ...] = ()
    """Thinking time by seat; an agent that plays many games at once is charged its share."""
    usage: tuple[Mapping[str, float], ...] = ()
    """Other costs of each seat by name, if agents report them, such as `prompt_tokens` and `cost` of a language model.
    Empty, and not written, if no agent does."""

    def to_json(self) -> str:
        """Return the record as one line, without a newline."""
        fields = asdict(self) | {"options": dict(self.options)}
        if not self.usage:
            del fields["usage"]
        return json.dumps(fields, ensure_ascii=False)

    def _repr_svg_(self) -> str:
        return self._last_picture()._repr_svg_()

    def _repr_png_(self) -> bytes | None:
        return self._last_picture()._repr_png_()

    def _last_picture(self) -> Drawn:
        """Draw the last position; in an unfinished game, only what all players know."""
        *_, end = replay(self)
        return self.rules().show(end, public=not end["done"][0])

    def rules(self) -> Game:
        """Return the game of the record, with its options; raise RecordError if it does not exist."""
        try:
            return registered_game(self.game, self.options)
        except ValueError as error:
            raise RecordError(str(error)) from None

    @classmethod
    def from_json(cls, line: str) -> GameRecord:
        """Return the record in a line, or raise RecordError. Only `replay` checks that its moves are legal."""
        try:
            given = parse_object(line.strip() if isinstance(line, str) else line, "a record")
            if given.get("schema") != SCHEMA:
                raise ValueError(
                    f"schema is {quoted(given.get('schema'), 60)}: expected {SCHEMA}, which this version reads"
                )
            check_fields({"usage": []} | given, FIELDS, "a record")
            check_seed("seed", given["seed"])
        except ValueError as error:
            raise RecordError(str(error)) from None
        given.setdefault("usage", [])
        for name, (least, most) in LIMITS.items():
            numbers = given[name] if isinstance(given[name], list) else [given[name]]
            numbers = [value for each in numbers for value in (each.values() if isinstance(each, dict) else [each])]
            if not all(least <= number <= most for number in numbers):
                raise RecordError(f"{name}: {str(given[name])[:60]}: expected {least} to {most}")
        seats = len(given["agents"])
        for name in ("returns", "turns", "seconds", "usage"):
            if len(given[name]) != seats and (given[name] or name == "returns"):
                raise RecordError(f"{name} are {len(given[name])}: expected {seats}, one for each player")
        if given["ending"] not in ENDINGS:
            raise RecordError(f"ending is {given['ending'][:60]!r}: expected one of {', '.join(ENDINGS)}")
        for forfeit in given["forfeits"]:
            if wrong_fields(forfeit, FORFEIT) or not 0 <= forfeit["player"] < seats:
                raise RecordError(f"forfeits hold {str(forfeit)[:60]}: expected ply, player and reason of each")
        values: dict[str, Any] = {name: tuple(v) if isinstance(v, list) else v for name, v in given.items()}
        for name in ("moves", "agents"):  # interned: records repeat the same few texts
            values[name] = tuple(map(sys.intern, given[name]))
        values["forfeits"] = tuple(Forfeit(**forfeit) for forfeit in given["forfeits"])
        return cls(**values)


MOST = 1 << 53
"""The largest integer that every JSON reader represents exactly."""
FIELDS, FORFEIT = json_kinds(GameRecord), json_kinds(Forfeit)
LIMITS = dict.fromkeys(("number", "opening", "plies", "turns", "seconds", "usage"), (0, MOST)) | {"returns": (-1, 1)}


def make_record(
    game: Game, start: States, moves: Sequence[str], end: States, forfeits: Sequence[Forfeit] = (), **rest: Any
) -> GameRecord:
    """Return the record of a game from `start` to `end`, batches of one. `rest`: agents, seed and other fields."""
    return GameRecord(
        game=game.name,
        options=dict(game.options),
        board=board_text(game, start),
        moves=tuple(moves),
        returns=tuple(end["returns"][0].tolist()),
        ending=ending(end, moves, forfeits),
        plies=len(moves),
        forfeits=tuple(forfeits),
        **rest,
    )


def board_text(game: Game, start: States) -> str | None:
    """Return the `board` field for a start (a batch of one): None if the board is empty."""
    board = game.board_to_string(start)
    return board if set(board) - set("./ ") else None


def ending(end: States, moves: Sequence[str], forfeits: Sequence[Forfeit] = ()) -> str:
    """Return how a game reached its last position (a batch of one): one of ENDINGS."""
    if not end["done"][0]:
        return UNFINISHED
    if moves and moves[-1] == RESIGN:
        return FORFEITED if any(forfeit.ply == len(moves) for forfeit in forfeits) else RESIGNED
    if end["truncated"][0]:
        return PLY_LIMIT
    return DRAWN if winner_of(end[0]) == NOBODY else WON


def play_moves(game: Game, states: States, moves: Iterable[str]) -> Iterator[States]:
    """Play moves, given as text, in every game of a batch, and yield the batch after each.

    Args:
        game: The rules.
        states: (B,) positions, changed in place; copy those that you keep.
        moves: Move texts as `Game.string_to_action` reads them.

    Raises:
        ValueError: If a move is illegal in one of the games, or comes after its end.
    """
    for text in moves:
        if states["done"].any():
            raise ValueError(f"move {quoted(text)} comes after the end of the game")
        game.step(states, np.full(len(states), game.string_to_action(text)))
        yield states


def replay(record: GameRecord) -> Iterator[States]:
    """Yield the `plies` + 1 positions of the game, each a batch of one.

    Raises RecordError, which names the ply and the reason, if the record contradicts the rules; returns and ending are
    checked after the last position.
    """
    record = _as_in_a_file(record)
    game = record.rules()
    if len(record.agents) != game.num_players:
        raise RecordError(f"agents are {len(record.agents)}: expected {game.num_players}, one for each player")
    try:
        state = game.init(1, np.random.default_rng(0), record.board)
    except ValueError as error:
        raise RecordError(f"ply 0: {error}") from None
    yield state.copy()
    forfeits = {forfeit.ply: forfeit for forfeit in record.forfeits}
    turns = [0] * game.num_players
    for ply, text in enumerate(record.moves, start=1):
        if state["done"][0]:
            raise RecordError(f"ply {ply}: {text!r} comes after the end of the game")
        player = int(state["to_move"][0])
        turns[player] += ply > record.opening
        if ply in forfeits:
            if text != RESIGN or forfeits[ply].player != player:
                raise RecordError(
                    f"ply {ply}: player_{forfeits[ply].player} forfeits and the move is {text!r}: expected 'resign' "
                    f"of player_{player}, the player to move"
                )
            game.remove_player(state)
        else:
            try:
                game.step(state, [game.string_to_action(text)])
            except ValueError as error:
                raise RecordError(f"ply {ply}: {str(error).removeprefix('row 0: ')}") from None
        yield state.copy()
    found = {
        "plies": len(record.moves),
        "turns": tuple(turns) if record.turns else (),
        "returns": tuple(state["returns"][0].tolist()),
        "ending": ending(state, record.moves, record.forfeits),
    }
    for name, value in found.items():
        if getattr(record, name) != value:
            raise RecordError(
                f"ply {len(record.moves)}, the last: {name} by the rules: {value!r}; the record says "
                f"{quoted(getattr(record, name))}"
            )
    if late := [ply for ply in forfeits if not 0 < ply <= len(record.moves)]:
        raise RecordError(f"ply {late[0]}: a forfeit, but the game has {len(record.moves)} plies")


def _as_in_a_file(record: GameRecord) -> GameRecord:
    """Return a record as read back from its line; raise RecordError if it has no valid line."""
    if not isinstance(record, GameRecord):
        raise RecordError(f"{quoted(record)} is not a record: expected a GameRecord")
    try:
        return GameRecord.from_json(record.to_json())
    except RecordError:
        raise
    except Exception as error:  # values of other types can raise anything
        raise RecordError(f"a record cannot be written: {describe_error(error)}") from None


def verify(record: GameRecord) -> None:
    """Raise RecordError unless the record replays (see `replay`)."""
    for _ in replay(record):
        pass


def record_of_line(line: bytes, path: str | Path, number: int) -> GameRecord:
    """Return the record in a line of a file; RecordErrors name file and line."""
    try:
        return GameRecord.from_json(line.decode())
    except ValueError as error:
        raise RecordError(f"{path}, line {number}: {error}") from None


def read_records(path: str | Path) -> Iterator[GameRecord]:
    """Yield the records of a file; a RecordError names the file and line of an invalid record.

    A truncated last line, which has no newline, is skipped with a warning.
    """
    check_path("path", path)
    with open(path, "rb") as file:
        for number, line in enumerate(file, start=1):
            try:
                record = record_of_line(line, path, number)
            except RecordError:
                if line.endswith(b"\n"):
                    raise
                warnings.warn(f"{path}, line {number}, the last, is cut short: it is left out", stacklevel=2)
                return
            yield record


def append_records(path: str | Path, records: Iterable[GameRecord]) -> None:
    """Append records to a file, which is created if missing; write all of them, or none and raise OSError.

    A truncated last line is kept; the records begin on a new line.
    """
    with open(path, "a+b", buffering=0) as file:
        append_to(file, records)


def append_to(file: FileIO, records: Iterable[GameRecord]) -> None:
    """Append records to an open, unbuffered, readable file; they are on disk when this returns."""
    data = "".join(record.to_json() + "\n" for record in records).encode()
    size = file.seek(0, os.SEEK_END)
    if size:
        file.seek(size - 1)
        if file.read(1) != b"\n":
            data = b"\n" + data
    try:
        while data:
            data = data[file.write(data) :]  # a nearly full disk accepts a part of the data and then fails
        os.fsync(file.fileno())
    except OSError as error:
        with suppress(OSError):  # such as a device
            file.truncate(size)
        raise OSError(error.errno, error.strerror, file.name) from error
