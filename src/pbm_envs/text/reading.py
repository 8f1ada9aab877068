"""Reading a move out of an answer.

What counts, in this order; only the first kind that is there is looked at:

1. the last JSON object with the key "move", in a fence or not (Kaggle's convention);
2. moves in brackets, `[a2-b3]` (TextArena's convention);
3. the last line that says `move: ...`, `answer: ...` or `final answer: ...`;
4. the whole answer, or its last line, if that is a move.

Prose is never searched for moves: what a player considers on the way is no answer. A move may be written in any way
that leaves no doubt: capitals, blanks, other dashes and arrows, "x" or "to" between two cells, a letter before its
cell. If two ways of reading it give two legal moves, or several brackets name different moves, it counts as unreadable.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, final

from ..core.game import Game
from ..core.types import Mask

KEY = "move"
LONGEST = 60
"""Characters of an answer that are quoted back."""
LIMIT = 20_000
"""Characters of an answer that are read: the last ones, since an answer ends with its move."""
NOISE = re.compile(r"[\s`*_\"'.,;:!?()\[\]{}<>|/\\$=@&+~^#\u2018\u2019\u201c\u201d-]+")
"""What may stand between the parts of a move, once arrows and dashes are dashes."""
DASHES = re.compile(r"->|=>|[\u2010-\u2015\u2192\u2212\u27a1\u21d2]")
FILLER = frozenset(("to", "on", "at", "from", "in", "the", "place", "play", "move", "take", "cell", "an", "i"))
LABEL = re.compile(r"\W*(?:final answer|my move|final move|answer|move)[^\w:=]*[:=]", re.IGNORECASE)
"""How a labelled line begins. It is matched at the head of one line, so that reading takes linear time."""
BRACKETS = re.compile(r"\[([^\[\]\n]{1,40})\]")
DECODER = json.JSONDecoder(strict=False)


class Kind(Enum):
    """What an answer turned out to be."""

    MOVE = "move"
    ILLEGAL = "illegal"
    UNREADABLE = "unreadable"


@dataclass(frozen=True)
class Reading:
    """An answer as it was read."""

    kind: Kind
    text: str
    """What counted as the move, as it was written; "" if there was nothing."""
    action: int = -1
    """If `kind` is MOVE or ILLEGAL and the move exists; else -1."""
    reason: str = ""
    """Why it could not be read."""


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
                self._loose[_key(variant)].add(action)
            if _either_end_first(game, action):
                for variant in _variants("-".join(reversed(ends)), ends[::-1]):
                    self._loose[_key(variant)].add(action)

    def candidates(self, text: str) -> frozenset[int]:
        """The actions that a move text can mean."""
        plain = text.strip()
        if plain.lower() in self._exact and plain.isascii():
            return frozenset((self._exact[plain.lower()],))
        if self._own:
            try:
                return frozenset((self._game.string_to_action(plain),))
            except ValueError:
                pass
        words = [word for word in NOISE.split(_dashed(plain).lower()) if word]
        for wanted in (words, [word for word in words if word not in FILLER]):
            if found := self._loose.get("".join(wanted)):
                return frozenset(found)
        return frozenset()

    def move(self, text: str, legal: Mask) -> Reading:
        """The move that a text is. `legal` (A,) decides between several ways of reading it, and nothing else does."""
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
        return Reading(Kind.UNREADABLE, quoted, reason=f"{quoted!r} is no move")

    def answer(self, answer: str, legal: Mask) -> Reading:
        """Return the move that an answer names, by the order at the head of this module.

        Args:
            answer: What the player wrote; only its last `LIMIT` characters are read.
            legal: The player's action mask, (A,) bool.
        """
        answer = answer[-LIMIT:].strip() if isinstance(answer, str) else ""
        if not answer:
            return Reading(Kind.UNREADABLE, "", reason="the answer is empty")
        said = _last_json(answer)
        if said is not _NOTHING:
            if not isinstance(said, str):
                return Reading(
                    Kind.UNREADABLE, str(said)[:LONGEST], reason=f'"{KEY}" is no text in the last JSON object'
                )
            return self.move(said, legal)
        bracketed = [text for text in BRACKETS.findall(answer) if self.candidates(text)]
        if bracketed:
            readings = {(found.kind, found.action): found for text in bracketed for found in [self.move(text, legal)]}
            if len(readings) == 1:
                return next(iter(readings.values()))
            return Reading(Kind.UNREADABLE, "", reason=f"the brackets name {len(readings)} different moves")
        lines = answer.splitlines()
        following = ""
        for line in reversed(lines):
            if (label := LABEL.match(line)) and (text := line[label.end() :].strip() or following):
                return self.move(text, legal)
            following = line.strip() or following
        for text in (answer, lines[-1]):
            if len(text) <= LONGEST and self.candidates(text):
                return self.move(text, legal)
        return Reading(Kind.UNREADABLE, "", reason=f'no JSON object with the key "{KEY}" was found')


_NOTHING = object()


def last_json(answer: str, key: str) -> Any:
    """The value of `key` in the last JSON object of a text that has it; KeyError if there is none."""
    found = _NOTHING
    at = answer.find("{")
    while at >= 0:
        try:
            value, end = DECODER.raw_decode(answer, at)
        except (ValueError, RecursionError):
            at = answer.find("{", at + 1)
            continue
        if key in value:
            found = value[key]
        at = answer.find("{", end if key in value else at + 1)
    if found is _NOTHING:
        raise KeyError(key)
    return found


def _last_json(answer: str) -> Any:
    try:
        return last_json(answer, KEY)
    except KeyError:
        return _NOTHING


def _dashed(text: str) -> str:
    return DASHES.sub("-", text)


def _key(text: str) -> str:
    return "".join(word for word in NOISE.split(_dashed(text).lower()) if word)


def _variants(text: str, cells: Sequence[str]) -> Iterator[str]:
    """Ways of writing a move; those that stand for several moves are told apart by what is legal."""
    yield text
    if len(cells) == 1:
        before, _, after = text.partition(cells[0])
        yield after + before + cells[0]
        yield cells[0] + after + before
    elif len(cells) > 1:
        yield "x".join(cells)
        yield "to".join(cells)


def _either_end_first(game: Game, action: int) -> bool:
    """Whether the game itself reads the two cells of a move in either order."""
    names = [game.board.names[cell] for cell in game.action_cells(action)]
    if len(names) != 2:
        return False
    try:
        return game.string_to_action("-".join(reversed(names))) == action
    except ValueError:
        return False
