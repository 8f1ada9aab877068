"""A reader for logs of the play-by-mail server: the commands that players mailed to it, one per line.

    curio challenge -base=3 -no_turn fred ted
    curio board 12 D33 D23 . . D12/.../L11 . L32 L31 .
    curio move 12 fred secret d2-b4
    trinim resign 7 ted secret

The first player of a challenge is `player_0`. A challenge does not contain the number of its board: the first command
with a new number assigns it to the oldest challenge of that game that has no number and names the player. Unlur's help
page has commands without a number, which belong to the player's only board of that game. The server drew the set-ups of
Curio and Trinim, and no command contains them; add them as lines with `board` and the text that `Game.init`
reads. The server did not limit plies, so records of Curio have `no_capture_limit=None`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from .core.checks import check_path, quoted
from .core.game import Game
from .core.options import Option, options_of
from .records import RESIGN, GameRecord, RecordError, make_record
from .registry import make_game, registered_games

SERVER_OPTIONS = {
    "chameleon": ("size",),
    "curio": ("base", "rows", "cols", "num_pieces", "turn", "limit", "face", "capture"),
    "trinim": ("size",),
    "unlur": ("radius",),
}
"""The options of each game on the server."""
COMMANDS = {
    "challenge": "[options] userid1 userid2",
    "board": "[board#] board text",
    "move": "[board#] userid password move",
    "resign": "[board#] userid password",
}
"""The commands and the form of their arguments, after the name of the game."""


@dataclass
class Table:
    """A game in the log."""

    game: str
    options: dict[str, Any]
    players: tuple[str, ...]
    line: int
    number: int | None = None
    board: str | None = None
    plies: list[tuple[int, str, str]] = field(default_factory=list)
    """Line number, player and move text of each ply."""


def read_server_log(path: str | Path) -> list[GameRecord]:
    """Return the games of a log of the server, in the order of their challenges.

    Empty lines and lines that begin with # are skipped. Passwords are not kept.

    Raises:
        RecordError: If a line is not a command, or a move contradicts the rules. Names the line and the expected form.
    """
    check_path("path", path)
    tables: list[Table] = []
    lines = Path(path).read_text(encoding="utf-8", errors="replace").splitlines()
    for number, line in enumerate(lines, start=1):
        words = line.split()
        if words and not words[0].startswith("#"):
            try:
                _read_command(words, number, tables)
            except ValueError as error:
                raise RecordError(f"{path}, line {number}: {error}") from None
    return [_record(path, table, number) for number, table in enumerate(tables)]


def is_server_log(text: str) -> bool:
    """Return whether a text begins with a command of the server; no file of records does."""
    words = next((line.split() for line in text.splitlines() if line.strip() and not line.startswith("#")), [])
    return len(words) > 1 and words[0].lower() in SERVER_OPTIONS and words[1].lower() in COMMANDS


def _read_command(words: list[str], line: int, tables: list[Table]) -> None:
    """Add a challenge to the tables, or a move to one of them."""
    game, command = words[0].lower(), words[1].lower() if len(words) > 1 else ""
    if game not in SERVER_OPTIONS:
        raise ValueError(f"{quoted(words[0])} is not a game of the server: expected one of {', '.join(SERVER_OPTIONS)}")
    if command not in COMMANDS:
        raise ValueError(f"{quoted(command)} is not a command: expected '{game}' and one of {', '.join(COMMANDS)}")
    rest = words[2:]
    form = f"expected '{game} {command} {COMMANDS[command]}'"
    if command == "challenge":
        tables.append(_challenge(game, rest, line))
        return
    number = int(rest.pop(0)) if rest and rest[0].isdecimal() else None
    if command == "board":
        if not rest:
            raise ValueError(f"the board text is missing: {form}")
        _table(tables, game, number, None).board = " ".join(rest)
        return
    if len(rest) != (3 if command == "move" else 2):
        raise ValueError(f"{len(rest)} words after the board#: {form}")
    user = rest[0]
    _table(tables, game, number, user).plies.append((line, user, rest[2] if command == "move" else RESIGN))


def _challenge(game: str, words: list[str], line: int) -> Table:
    """Read the options and players of a challenge."""
    options: dict[str, Any] = {"no_capture_limit": None} if game == "curio" else {}
    declared = {option.name: option for option in options_of(registered_games()[game])}
    known = {flag: value for name in SERVER_OPTIONS[game] for flag, value in _flags(declared[name]).items()}
    players = []
    for word in words:
        if not word.startswith("-"):
            players.append(word)
            continue
        flag, equals, text = word[1:].partition("=")
        name, value = known.get(flag.lower() + equals, ("", None))
        if not name or (equals and not text.isdecimal()):
            forms = ", ".join(f"-{flag}{'number' * flag.endswith('=')}" for flag in known)
            raise ValueError(f"{quoted(word)} is not an option of {game}: expected {forms}")
        options[name] = int(text) if equals else value
    if len(players) not in ((2, 3) if game == "trinim" else (2,)) or len(set(players)) < len(players):
        raise ValueError(
            f"{len(players)} players: expected '{game} challenge [options] userid1 userid2"
            f"{' [userid3]' * (game == 'trinim')}'"
        )
    if game == "trinim":
        options["num_players"] = len(players)
    make_game(game, **options)
    return Table(game, options, tuple(players), line)


def _flags(option: Option) -> dict[str, tuple[str, Any]]:
    """Return the flags of an option (without "-") with its name and value; a flag ending in "=" takes a number."""
    if option.type is bool:
        return {option.name: (option.name, True), f"no_{option.name}": (option.name, False)}
    if option.choices and option.type is str:
        return {f"{option.name}_{choice}": (option.name, choice) for choice in option.choices}
    return {f"{option.name}=": (option.name, None)}


def _table(tables: list[Table], game: str, number: int | None, user: str | None) -> Table:
    """Return the table that a command belongs to, after assigning it the command's number."""
    mine = [table for table in tables if table.game == game and user in (None, *table.players)]
    named = [table for table in mine if table.number == number and number is not None]
    open_tables = [table for table in mine if table.number is None]
    if number is None and len(mine) != 1:
        raise ValueError(f"{user or 'the board text'} fits {len(mine)} boards of {game}: expected a board# here")
    found = named or (mine if number is None else open_tables)
    if not found:
        raise ValueError(f"board {number} has no challenge before it" + (f" that names {user}" if user else ""))
    if number is not None:
        found[0].number = number
    return found[0]


def _record(path: str | Path, table: Table, number: int) -> GameRecord:
    """Play a game from the log and return its record."""
    resigns = {"allow_resign": True} if any(move == RESIGN for _, _, move in table.plies) else {}
    game: Game = make_game(table.game, **table.options, **resigns)
    if game.random_setup and table.board is None:
        raise RecordError(
            f"{path}, line {table.line}: the server drew the board of this game, and the log does not contain it: "
            f"expected a line '{table.game} board {table.number or 'board#'} TEXT'"
        )
    try:
        start = game.init(1, np.random.default_rng(0), table.board)
    except ValueError as error:
        raise RecordError(f"{path}, line {table.line}: {error}") from None
    state = start.copy()
    for line, user, move in table.plies:
        mover = table.players[int(state["to_move"][0])]
        try:
            if state["done"][0]:
                raise ValueError(f"{quoted(move)} comes after the end of the game")
            if user != mover:
                raise ValueError(f"{quoted(move)} of {user}: expected a move of {mover}, the player to move")
            game.step(state, [game.string_to_action(move)])
        except ValueError as error:
            raise RecordError(f"{path}, line {line}: {str(error).removeprefix('row 0: ')}") from None
    moves = [game.action_to_string(game.string_to_action(move)) for _, _, move in table.plies]
    return make_record(game, start, moves, state, agents=table.players, number=number)
