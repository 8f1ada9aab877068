"""How cells, moves and words are called in texts: as the game calls them, or in disguise.

A disguise keeps a player from recalling a game by heart: the position is turned or mirrored by a symmetry of the game,
every cell has a made-up name, and so has every word by which the game could be recognised (`Wording.terms` and the
moves that name no cell). Two disguises of one seed are the same. Nothing else changes: a game played in disguise is the
game.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import pairwise, product
from typing import Any, final

import numpy as np

from ..core.boards import NO_CELL
from ..core.game import Game
from ..core.state import single_record
from ..core.symmetry import Symmetry
from ..core.types import Record, States
from .reading import MoveReader

SYLLABLES = tuple(a + b for a, b in product("bdfgklmnprstvz", "aeiou"))
RESERVED = frozenset(("move", "take", "game", "none", "side", "line", "name", "role", "rule", "turn"))
"""Words of ours that could be made up."""
JOINT = "="
"""Between the parts of a move in disguise that the game writes without anything between them."""


class Vocabulary:
    """The game's own names."""

    def __init__(self, game: Game) -> None:
        self.game = game

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.game!r})"

    @property
    def disguised(self) -> bool:
        """Cells have other names than on the board's picture."""
        return False

    @cached_property
    def cells(self) -> tuple[str, ...]:
        """The name of each cell."""
        return self.game.board.names

    @cached_property
    def moves(self) -> tuple[str, ...]:
        """The text of each action."""
        return tuple(self.game.action_to_string(action) for action in range(self.game.num_actions))

    @cached_property
    def form(self) -> str:
        """What a move looks like, with examples."""
        return self.game.notation.form

    @cached_property
    def reader(self) -> MoveReader:
        """Reads moves, in terms of the position that is shown."""
        return MoveReader(self.game, self.cells, self.moves)

    def translate(self, prose: str) -> str:
        """Prose of the game with the words that are used here."""
        return prose

    def displayed(self, view: States | Record) -> Record:
        """The view that is told, of this view."""
        return single_record(view)

    def displayed_action(self, action: int) -> int:
        """The action as it is called in the view that is told."""
        return action

    def true_action(self, action: int) -> int:
        """The inverse of `displayed_action`."""
        return action


@final
class Disguise(Vocabulary):
    """Made-up names, drawn from a seed."""

    def __init__(self, game: Game, seed: int, *, symmetry: Symmetry | None = None) -> None:
        """`symmetry` is drawn too, among those that leave the players in their seats, unless it is given."""
        super().__init__(game)
        rng = np.random.default_rng(seed)
        seats = tuple(range(game.num_players))
        candidates = [known for known in game.symmetries if tuple(known.players) == seats]
        drawn = candidates[int(rng.integers(len(candidates)))]
        if symmetry is not None and tuple(symmetry.players) != seats:
            raise ValueError(f"symmetry is {symmetry.name!r}: expected one that leaves the players in their seats")
        self.seed = seed
        self.symmetry = drawn if symmetry is None else symmetry
        self._to = self.symmetry.actions
        self._back = np.argsort(self._to)
        words = list(dict.fromkeys((*game.wording.terms, *game.cell_free_actions.values(), *_letters(game))))
        own = {word.lower() for word in words}
        plain = own | RESERVED | set(re.findall(r"\w+", game.wording.summary.lower()))
        made = (name for name in _made_up(rng) if name not in plain)
        self._cells = tuple(next(made) for _ in range(game.board.size))
        self._words = {word: next(made) for word in own}
        # longer words first, so that "top left" would not be taken for "top"
        ordered = sorted(own, key=lambda word: (-len(word), word))
        self._pattern = re.compile(rf"(?<![\w`])({'|'.join(map(re.escape, ordered))})(?![\w])", re.IGNORECASE)

    def __repr__(self) -> str:
        return f"Disguise({self.game!r}, {self.seed})"

    @property
    def disguised(self) -> bool:
        return True

    @cached_property
    def cells(self) -> tuple[str, ...]:
        return self._cells

    @cached_property
    def words(self) -> Mapping[str, str]:
        """What is said for each word of the game, in small letters."""
        return dict(self._words)

    @cached_property
    def moves(self) -> tuple[str, ...]:
        return tuple(self._move(action) for action in range(self.game.num_actions))

    @cached_property
    def form(self) -> str:
        examples: dict[Any, str] = {}
        for action, text in enumerate(self.moves):
            cells = len(self.game.action_cells(action))
            examples.setdefault(cells or text, text)
        texts = [repr(text) for text in examples.values()]
        return "a move such as " + ", ".join(texts[:-1]) + (" or " if len(texts) > 1 else "") + texts[-1]

    def translate(self, prose: str) -> str:
        return self._pattern.sub(lambda found: self._like(found[1]), prose.replace("`", ""))

    def displayed(self, view: States | Record) -> Record:
        record = single_record(view)
        batch = np.array([record], self.game.dtype)
        return self.game.transform(batch, self.symmetry)[0]

    def displayed_action(self, action: int) -> int:
        return int(self._to[action])

    def true_action(self, action: int) -> int:
        return int(self._back[action])

    def graph(self) -> dict[str, dict[str, Any]]:
        """Of each cell its neighbours, direction by direction (None where there is none), and its edges."""
        board, edges = self.game.board, self.game.wording.edges
        graph: dict[str, dict[str, Any]] = {}
        for cell, name in enumerate(self.cells):
            graph[name] = {
                "neighbours": [None if k == NO_CELL else self.cells[k] for k in board.neighbours[cell].tolist()]
            }
            touched = [self.translate(edge) for k, edge in enumerate(edges) if board.edges[cell] >> k & 1]
            if edges:
                graph[name]["edges"] = touched
        return graph

    def _like(self, word: str) -> str:
        """The word that stands for this one, with its capital."""
        made = self._words[word.lower()]
        return made.capitalize() if word[0].isupper() and len(word) > 1 else made

    def _move(self, action: int) -> str:
        """The parts of the game's own text, each under its other name."""
        text, parts, at = self.game.action_to_string(action), [], 0
        for cell in self.game.action_cells(action):
            start = text.index(self.game.board.names[cell], at)
            parts += [text[at:start], self._cells[cell]]
            at = start + len(self.game.board.names[cell])
        parts.append(text[at:])
        pieces = [self._words.get(part.lower(), part) for part in parts if part]
        joined = pieces[0]
        for left, right in pairwise(pieces):
            joined += (JOINT if left[-1].isalnum() and right[0].isalnum() else "") + right
        return joined


def _letters(game: Game) -> Sequence[str]:
    """What moves consist of beside cells and signs."""
    found = set()
    for action in range(game.num_actions):
        rest = game.action_to_string(action)
        for cell in game.action_cells(action):
            rest = rest.replace(game.board.names[cell], " ", 1)
        found |= set(re.findall(r"[^\W\d_]+", rest))
    return sorted(found)


def _made_up(rng: np.random.Generator) -> Any:
    """Different names of two, then three syllables, in random order."""
    for length in (2, 3):
        names = ["".join(parts) for parts in product(SYLLABLES, repeat=length)]
        yield from (names[k] for k in rng.permutation(len(names)))
