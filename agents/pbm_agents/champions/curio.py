"""Curio by alpha-beta search of sampled worlds: every move is searched in each world, and its values are averaged.

This is perfect-information Monte Carlo (Ginsberg 2001) with iterative deepening: all worlds are searched to one ply,
then to two, and so on, and moves that fall behind are dropped. Initially, moves are ordered by the values of the
positions after them.
"""

from __future__ import annotations

import time
from typing import final

import numpy as np

from pbm_envs import Curio, Game
from pbm_envs.authoring import Ints, check_range
from pbm_envs.toolbox import Array, Floats, check_number

from ..exact.curio_lines import PLY_FIELDS, check_game, follows
from ..players.agent import Actions, Views, check_searchable
from ..search.ending import ending
from .lines import (
    ALLOWED,
    LOOKED_AT,
    MOST_CAPTURES,
    MOST_DEPTH,
    MOST_ROYALS,
    PLIES,
    Position,
    Values,
    expected_outcomes,
    value_moves,
)

RULES = {"turn": True, "limit": True, "face": "large", "capture": "le"}
"""The options of Curio that the values were made for."""
WORLDS = 6
MARGIN, DROP = 1.5, 0.5
"""In a world, moves that are worse than the best by more than MARGIN (before the hyperbolic tangent) get only a bound;
moves whose mean over all worlds is worse by more than DROP (after it) are searched no further."""
UNLIMITED = 1 << 62
STANDING = 1 - MOST_CAPTURES
"""The first depth: the value of the position after each move, without captures."""
ROYALS_LEFT = (0.0, 0.0, 0.5, 0.85, 1.1, 1.2)
"""The value of a player's royals, by the number left."""


@final
class CurioValues:
    """The values of positions of Curio: the hyperbolic tangent of a sum over pieces, plus a value of the royals.

    The value of a piece depends on its kind: the number that faces its owner, and the other number.
    """

    def __init__(self, game: Game, kinds: Floats, royals: Floats) -> None:
        """Make the values of a game from weights.

        Args:
            game: Curio with RULES.
            kinds: (base, base) weights of kinds.
            royals: (6, 6) weights by the royals left, at most 5, of the player to move and of the opponent.
        """
        check_game(game)
        if not self.fits(game):
            raise ValueError(f"{game!r} has no values: expected Curio with {RULES}")
        base, most = int(game.options["base"]), MOST_ROYALS + 1
        for name, given, expected in (("kinds", kinds, (base, base)), ("royals", royals, (most, most))):
            if given.shape != expected:
                raise ValueError(f"{name} have shape {given.shape}: expected {expected} for {game!r}")
        assert isinstance(game, Curio)
        self.game = game
        by_faces = np.zeros((base + 1, base + 1))
        by_faces[1:, 1:] = kinds
        self.values = Values(game.steps, game.settings, by_faces, np.asarray(royals, np.float64))

    @staticmethod
    def fits(game: Game) -> bool:
        """Return whether a game is Curio with RULES, without options that lines of play do not support."""
        return follows(game) and all(game.options[name] == value for name, value in RULES.items())

    @classmethod
    def simple(cls, game: Game) -> CurioValues:
        """Return the champion's values: large numbers have more value than small ones, and royals the most."""
        base, royals = int(game.options["base"]), np.array(ROYALS_LEFT)
        numbers = np.arange(1, base + 1) / base
        return cls(game, 0.1 + 0.2 * numbers[:, None] + 0.2 * numbers, royals[:, None] - royals)


@final
class LinesAgent:
    """Plays Curio by the mean value of each move over sampled worlds, each searched by alpha-beta."""

    def __init__(
        self, values: CurioValues, *, nodes: int | None = None, seconds: float | None = None, worlds: int = WORLDS
    ) -> None:
        """Make an agent with these settings.

        Args:
            values: The values of positions, and the game.
            nodes: The budget of a move in positions, not counting those after each legal move. Give this or `seconds`.
            seconds: The budget of a move in seconds.
            worlds: The number of worlds drawn.
        """
        if (nodes is None) == (seconds is None):
            raise ValueError(f"nodes={nodes!r}, seconds={seconds!r}: expected one of the two")
        if nodes is not None:
            check_range("nodes", nodes, 1)
        if seconds is not None:
            check_number("seconds", seconds, 1e-9, 1e9)
        check_range("worlds", worlds, 1)
        self.values, self.nodes, self.seconds, self.worlds = values, nodes, seconds, worlds
        self._position: Position | None = None

    def act(self, game: Game, views: Views, rng: np.random.Generator) -> Actions:
        """Choose an action for each view (see `Agent.act`)."""
        return np.array([moves[0][0] for moves in self.rank(game, views, rng)], np.int64)

    def rank(self, game: Game, views: Views, rng: np.random.Generator) -> list[list[tuple[int, float]]]:
        """Return, for each view, the legal actions, the best first, with their mean values from -1 to 1.

        A value beyond 1 or -1 is certain in all worlds. A single legal action has value 0. Actions that were dropped
        keep the value that they had then.
        """
        check_searchable(game, views)
        if game != self.values.game:
            raise ValueError(f"the values are of {self.values.game!r}, not of {game!r}")
        masks = game.legal_action_mask(views)
        if game.resign_action >= 0:
            masks[:, game.resign_action] = False
        found = []
        for row in range(len(views)):
            legal, start = np.flatnonzero(masks[row]), time.perf_counter()
            if len(legal) == 1:
                found.append([(int(legal[0]), 0.0)])
                continue
            worlds = game.determinize(np.repeat(views[row : row + 1], self.worlds), rng)
            if (worlds["faces"] == worlds["faces"][:1]).all():
                worlds = worlds[:1]
            found.append(self._rank(game, legal, worlds, start))
        return found

    def _rank(self, game: Game, legal: Ints, worlds: Array, start: float) -> list[tuple[int, float]]:
        """Return the actions, the best first by the deepest search of all worlds, with their mean values."""
        ends = np.array([game.action_cells(int(action)) for action in legal], np.int64)
        position, is_over, spent = self._position, ending(), 0
        if position is None:  # compile by a search of one move, before the clock starts
            position = self._position = empty_position(self.values.game)
            value_moves(worlds[:1], position, self.values.values, ends[:1], 1, MARGIN, first := np.zeros(1))
            expected_outcomes(first, np.empty(1))
            start = time.perf_counter()
        position.history.fill(0)
        kept, table = np.arange(len(legal)), np.zeros((len(worlds), len(legal)))
        finished, values = False, np.zeros(len(legal))
        for depth in (STANDING, *range(1, MOST_DEPTH)):
            for world in range(len(worlds)):
                found, spent = self._search_world(position, worlds[world : world + 1], ends[kept], depth, spent, start)
                if found is None or (depth > STANDING and is_over is not None and is_over()):
                    finished = True
                    break
                expected_outcomes(found, table[world])
            means = values[kept] = table.mean(axis=0)
            order = np.argsort(-means, kind="stable")
            if depth > STANDING:
                order = order[means[order] >= means[order[0]] - DROP]
            kept, table = kept[order], np.ascontiguousarray(table[:, order])
            if finished or len(kept) == 1:
                break
        rest = [k for k in np.argsort(-values, kind="stable") if k not in kept]
        return [(int(legal[k]), float(values[k])) for k in (*kept, *rest)]

    def _search_world(
        self, position: Position, world: Array, ends: Ints, depth: int, spent: int, start: float
    ) -> tuple[Floats | None, int]:
        """Return the values of the moves with these ends, or None if the budget is used up, and the positions spent.

        By the clock, the search is repeated if there is more time left than the speed so far had predicted.
        """
        left, found = UNLIMITED if depth == STANDING else self._left(spent, start), np.empty(len(ends))
        while left > len(ends):
            position.counters[ALLOWED] = left
            done = value_moves(world, position, self.values.values, ends, depth, MARGIN, found)
            spent += int(position.counters[LOOKED_AT])
            if done:
                return found, spent
            left = self._left(spent, start)
        return None, spent

    def _left(self, spent: int, start: float) -> int:
        """Return the positions that the budget still allows; by the clock, at the speed so far."""
        if self.nodes is not None:
            return self.nodes - spent
        elapsed = time.perf_counter() - start
        return int(spent / elapsed * max(0.0, float(self.seconds or 0) - elapsed))


def empty_position(game: Curio) -> Position:
    """Return memory to search positions of a game."""
    cells, moves = game.board.size, game.num_actions
    return Position(
        world=np.zeros(1, game.dtype),
        tally=np.zeros((2, 2)),
        moves=np.zeros((PLIES, moves), np.int64),
        order=np.zeros((PLIES, moves)),
        plies=np.zeros((PLIES, PLY_FIELDS), np.int64),
        bounds=np.zeros((PLIES, 3)),
        history=np.zeros((cells, cells)),
        counters=np.array([0, UNLIMITED]),
    )
