"""The names of cells, moves and words in texts: the game's own, or a disguise.

A disguise prevents a player from recalling a known game: the position is rotated or mirrored by a symmetry of the game,
and every cell and every word that could identify the game (`Wording.terms` and the moves that name no cell) gets a
made-up name. Disguises with the same seed are equal. The game itself does not change.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import pairwise, product
from typing import Any, final

import numpy as np

from ..core.boards import NO_CELL
from ..core.game import Game
from ..core.state import NO_ACTION, Ints, Mask, Record, States, single_record
from ..core.symmetry import Symmetry
from .history import SeenPly
from .reading import MoveReader, Reading

SYLLABLES = tuple(a + b for a, b in product("bdfgklmnprstvz", "aeiou"))
RESERVED = frozenset(("move", "take", "game", "none", "side", "line", "name", "role", "rule", "turn"))
"""Words of our prompts that a made-up name must not repeat."""
JOINT = "="
"""The separator between parts of a disguised move that the game writes without one."""


class Vocabulary:
    """The game's own names."""

    disguised = False
    """True if the names of cells differ from those in the board's picture."""

    def __init__(self, game: Game) -> None:
        self.game = game
        self._shown: Ints = np.arange(game.num_actions)
        self._true = self._shown
        """(A,) the displayed action of each action, and the inverse."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.game!r})"

    @cached_property
    def cells(self) -> tuple[str, ...]:
        """The name of each cell."""
        return self.game.board.names

    @cached_property
    def moves(self) -> tuple[str, ...]:
        """The text of each action of the displayed position."""
        return tuple(self.game.action_to_string(action) for action in range(self.game.num_actions))

    @cached_property
    def form(self) -> str:
        """The form of a move, with examples."""
        return self.game.notation.form

    @cached_property
    def reader(self) -> MoveReader:
        """The reader of moves of the displayed position."""
        return MoveReader(self.game, self.cells, self.moves)

    def translate(self, prose: str) -> str:
        """Replace the game's words in prose."""
        return prose

    def displayed(self, view: States | Record) -> Record:
        """Return the displayed form of a view."""
        return single_record(view)

    def move(self, action: int) -> str:
        """Return the text of an action of the game; "" for NO_ACTION."""
        return self.moves[self._shown[action]] if action != NO_ACTION else ""

    def ply(self, seen: SeenPly) -> str:
        """Return a ply as text: the move with the note in brackets, only one of them, or ""."""
        text, note = self.move(seen.action), self.translate(seen.note)
        return f"{text} ({note})" if text and note else text or note

    def legal_moves(self, view: States | Record) -> list[str]:
        """Return the viewer's legal moves, sorted so that their order reveals nothing; none at others' turns."""
        mask = self.game.legal_action_mask(np.array([single_record(view)], self.game.dtype))[0]
        return sorted(self.move(action) for action in np.flatnonzero(mask).tolist())

    def read(self, answer: str, legal: Mask) -> Reading:
        """Read an answer. `legal` (A,) and the action of the reading are the game's own, before any disguise."""
        reading = self.reader.answer(answer, legal[self._true])
        return reading if reading.action < 0 else replace(reading, action=int(self._true[reading.action]))


@final
class Disguise(Vocabulary):
    """Made-up names, drawn from a seed."""

    disguised = True

    def __init__(self, game: Game, seed: int, *, symmetry: Symmetry | None = None) -> None:
        """Draw the names and, unless one is given, a symmetry that leaves the players in their seats."""
        super().__init__(game)
        rng = np.random.default_rng(seed)
        seats = tuple(range(game.num_players))
        candidates = [known for known in game.symmetries if tuple(known.players) == seats]
        drawn = candidates[int(rng.integers(len(candidates)))]
        if symmetry is not None and tuple(symmetry.players) != seats:
            raise ValueError(f"symmetry is {symmetry.name!r}: expected one that leaves the players in their seats")
        self.seed = seed
        self.symmetry = drawn if symmetry is None else symmetry
        self._shown = self.symmetry.actions
        self._true = np.argsort(self._shown)
        words = (*game.wording.terms, *game.cell_free_actions.values(), *_letters(game))
        own = list(dict.fromkeys(word.lower() for word in words))  # in order: a set's order differs between processes
        plain = RESERVED | {*own} | set(re.findall(r"\w+", game.wording.summary.lower()))
        made = (name for name in _made_up(rng) if name not in plain)
        self.cells = tuple(next(made) for _ in range(game.board.size))
        self._words = {word: next(made) for word in own}
        # longer words first, so that "top left" is not read as "top"
        ordered = sorted(own, key=lambda word: (-len(word), word))
        self._pattern = re.compile(rf"(?<![\w`])({'|'.join(map(re.escape, ordered))})(?![\w])", re.IGNORECASE)

    def __repr__(self) -> str:
        return f"Disguise({self.game!r}, {self.seed})"

    @cached_property
    def moves(self) -> tuple[str, ...]:
        return tuple(self._move(action) for action in range(self.game.num_actions))

    @cached_property
    def form(self) -> str:
        examples: dict[int | str, str] = {}
        for action, text in enumerate(self.moves):
            examples.setdefault(len(self.game.action_cells(action)) or text, text)
        texts = [repr(text) for text in examples.values()]
        return "a text such as " + ", ".join(texts[:-1]) + (" or " if len(texts) > 1 else "") + texts[-1]

    def translate(self, prose: str) -> str:
        return self._pattern.sub(lambda found: self._like(found[1]), prose.replace("`", ""))

    def displayed(self, view: States | Record) -> Record:
        return self.game.transform(np.array([single_record(view)], self.game.dtype), self.symmetry)[0]

    def graph(self) -> dict[str, dict[str, Any]]:
        """Return the neighbours of each cell by direction, None beyond the board, and its edges if the game has any."""
        board, edges = self.game.board, self.game.wording.edges
        graph: dict[str, dict[str, Any]] = {}
        for cell, name in enumerate(self.cells):
            graph[name] = {
                "neighbours": [None if k == NO_CELL else self.cells[k] for k in board.neighbours[cell].tolist()]
            }
            if edges:
                touched = [self.translate(edge) for k, edge in enumerate(edges) if board.edges[cell] >> k & 1]
                graph[name]["edges"] = touched
        return graph

    def _like(self, word: str) -> str:
        """Return the made-up word for this one, capitalized like it."""
        made = self._words[word.lower()]
        return made.capitalize() if word[0].isupper() and len(word) > 1 else made

    def _move(self, action: int) -> str:
        """Return the game's own text with each of its parts renamed."""
        text, parts, at = self.game.action_to_string(action), [], 0
        for cell in self.game.action_cells(action):
            start = text.index(self.game.board.names[cell], at)
            parts += [text[at:start], self.cells[cell]]
            at = start + len(self.game.board.names[cell])
        parts.append(text[at:])
        pieces = [self._words.get(part.lower(), part) for part in parts if part]
        joined = pieces[0]
        for left, right in pairwise(pieces):
            joined += (JOINT if left[-1].isalnum() and right[0].isalnum() else "") + right
        return joined


def _letters(game: Game) -> Sequence[str]:
    """Return the letters in move texts that are not cells."""
    found = set()
    for action in range(game.num_actions):
        rest = game.action_to_string(action)
        for cell in game.action_cells(action):
            rest = rest.replace(game.board.names[cell], " ", 1)
        found |= set(re.findall(r"[^\W\d_]+", rest))
    return sorted(found)


def _made_up(rng: np.random.Generator) -> Iterator[str]:
    """Yield distinct names of two, then three syllables, in random order."""
    for length in (2, 3):
        names = ["".join(parts) for parts in product(SYLLABLES, repeat=length)]
        yield from (names[k] for k in rng.permutation(len(names)))
