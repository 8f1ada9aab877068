"""Reading a move from an answer.

The answer is read by the first of these rules that applies:

1. the last JSON object with the key "move", with or without a code fence (Kaggle's convention);
2. moves in brackets, `[a2-b3]` (TextArena's convention);
3. the last line that says `move: ...`, `answer: ...` or `final answer: ...`;
4. the whole answer, or its last line, if that is a move.

Prose is never searched for moves, since a player may mention moves while thinking. A move may be written in any
unambiguous way: capitals, blanks, other dashes and arrows, "x" or "to" between two cells, a letter before its cell. If
two readings give different legal moves, or several brackets name different moves, the answer is unreadable.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from typing import Any, final

from ..core.game import Game
from ..core.state import Mask

KEY = "move"
LONGEST = 60
"""The largest number of characters of an answer that replies quote."""
LIMIT = 20_000
"""The number of characters that are read, from the end of an answer, where its move is."""
NOISE = re.compile(r"[\s`*_\"'.,;:!?()\[\]{}<>|/\\$=@&+~^#\u2018\u2019\u201c\u201d-]+")
"""Separators between the parts of a move, once arrows and dashes are replaced by dashes."""
DASHES = re.compile(r"->|=>|[\u2010-\u2015\u2192\u2212\u27a1\u21d2]")
FILLER = frozenset(("to", "on", "at", "from", "in", "the", "place", "play", "move", "take", "cell", "an", "i"))
LABEL = re.compile(r"\W*(?:final answer|my move|final move|answer|move)[^\w:=]*[:=]", re.IGNORECASE)
"""The start of a labelled line. It is matched only at the start of a line, so that reading takes linear time."""
BRACKETS = re.compile(r"\[([^\[\]\n]{1,40})\]")
DECODER = json.JSONDecoder(strict=False)


class Kind(Enum):
    """The kinds of answers."""

    MOVE = "move"
    ILLEGAL = "illegal"
    UNREADABLE = "unreadable"


@dataclass(frozen=True)
class Reading:
    """The result of reading an answer."""

    kind: Kind
    text: str
    """The part that was read as the move, as written; "" if there was none."""
    action: int = -1
    """The move if `kind` is MOVE, or ILLEGAL and the move exists; otherwise -1."""
    reason: str = ""
    """The reason why the answer could not be read."""


@final
class MoveReader:
    """Reads moves of a game under the given names."""

    def __init__(self, game: Game, cells: Sequence[str], moves: Sequence[str]) -> None:
        self._game, self._own = game, tuple(cells) == game.board.names
        self._exact = {text.lower(): action for action, text in enumerate(moves)}
        self._loose: dict[str, set[int]] = defaultdict(set)
        for action, text in enumerate(moves):
            ends = [cells[cell] for cell in game.action_cells(action)]
            for variant in _variants(text, ends):
                self._loose["".join(_words(variant))].add(action)
            if _either_end_first(game, action):
                for variant in _variants("-".join(reversed(ends)), ends[::-1]):
                    self._loose["".join(_words(variant))].add(action)

    def candidates(self, text: str) -> frozenset[int]:
        """Return the actions that a move text can mean."""
        plain = text.strip()
        if plain.lower() in self._exact and plain.isascii():
            return frozenset((self._exact[plain.lower()],))
        if self._own:
            try:
                return frozenset((self._game.string_to_action(plain),))
            except ValueError:
                pass
        words = _words(plain)
        found = self._loose.get("".join(words)) or self._loose.get("".join(w for w in words if w not in FILLER))
        return frozenset(found or ())

    def move(self, text: str, legal: Mask) -> Reading:
        """Read a move text. If it has several readings, `legal` (A,) decides between them."""
        quoted = " ".join(text.split())[:LONGEST]
        found = self.candidates(text)
        allowed = sorted(action for action in found if legal[action])
        if len(allowed) == 1:
            return Reading(Kind.MOVE, quoted, allowed[0])
        if len(allowed) > 1:
            return Reading(Kind.UNREADABLE, quoted, reason=f"{quoted!r} can mean {len(allowed)} different legal moves")
        if len(found) == 1:
            return Reading(Kind.ILLEGAL, quoted, min(found))
        if found:
            return Reading(Kind.ILLEGAL, quoted)
        return Reading(Kind.UNREADABLE, quoted, reason=f"{quoted!r} is not a move")

    def answer(self, answer: str, legal: Mask) -> Reading:
        """Read the move of an answer, in the order at the head of this module; `legal` is the player's mask, (A,)."""
        answer = answer[-LIMIT:].strip() if isinstance(answer, str) else ""
        if not answer:
            return Reading(Kind.UNREADABLE, "", reason="the answer is empty")
        with suppress(KeyError):
            said = last_json(answer, KEY)
            if isinstance(said, str):
                return self.move(said, legal)
            return Reading(Kind.UNREADABLE, str(said)[:LONGEST], reason=f'"{KEY}" is not text in the last JSON object')
        if bracketed := [text for text in BRACKETS.findall(answer) if self.candidates(text)]:
            readings = {(found.kind, found.action): found for text in bracketed for found in [self.move(text, legal)]}
            if len(readings) == 1:
                return next(iter(readings.values()))
            return Reading(Kind.UNREADABLE, "", reason=f"the brackets name {len(readings)} different moves")
        lines, following = answer.splitlines(), ""
        for line in reversed(lines):
            if (label := LABEL.match(line)) and (text := line[label.end() :].strip() or following):
                return self.move(text, legal)
            following = line.strip() or following
        for text in (answer, lines[-1]):
            if len(text) <= LONGEST and self.candidates(text):
                return self.move(text, legal)
        return Reading(Kind.UNREADABLE, "", reason=f'no JSON object with the key "{KEY}" was found')


def last_json(answer: str, key: str) -> Any:
    """Return the value of `key` in the last JSON object of a text that has it; KeyError if none has."""
    found = {}
    at = answer.find("{")
    while at >= 0:
        try:
            value, end = DECODER.raw_decode(answer, at)
        except (ValueError, RecursionError):
            at = answer.find("{", at + 1)
            continue
        if key in value:
            found = value
        at = answer.find("{", end if key in value else at + 1)
    return found[key]


def _words(text: str) -> list[str]:
    return [word for word in NOISE.split(DASHES.sub("-", text).lower()) if word]


def _variants(text: str, cells: Sequence[str]) -> Iterator[str]:
    """Yield the ways of writing a move; the mask resolves those that mean several moves."""
    yield text
    if len(cells) == 1:
        before, _, after = text.partition(cells[0])
        yield after + before + cells[0]
        yield cells[0] + after + before
    elif len(cells) > 1:
        yield "x".join(cells)
        yield "to".join(cells)


def _either_end_first(game: Game, action: int) -> bool:
    """Return whether the game itself reads the two cells of a move in either order."""
    names = [game.board.names[cell] for cell in game.action_cells(action)]
    if len(names) != 2:
        return False
    try:
        return game.string_to_action("-".join(reversed(names))) == action
    except ValueError:
        return False
