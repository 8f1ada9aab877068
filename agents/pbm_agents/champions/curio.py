"""Curio by lines of play: worlds are drawn, in each every move is searched by alpha-beta, and the values are averaged.

That is perfect-information Monte Carlo (Ginsberg 2001) with iterative deepening: all worlds are searched to one ply,
then to two, and so on, and moves that fall behind are dropped. Before, moves are ordered by what stands after them.
"""

from __future__ import annotations

import time
from typing import Any, final

import numpy as np

from pbm_envs import Curio, Game
from pbm_envs.authoring import Ints, States, check_range
from pbm_envs.toolbox import Array, Floats, check_number

from ..exact.curio_lines import PLY_FIELDS, check_game, follows
from ..players.agent import Actions, Views, check_searchable
from ..search.ending import ending
from .lines import (
    MOST_CAPTURES,
    MOST_DEPTH,
    MOST_ROYALS,
    PLIES,
    WON,
    Board,
    Values,
    value_moves,
    value_states,
)

RULES = {"turn": True, "limit": True, "face": "large", "capture": "le"}
"""The options that the values were made for."""
WORLDS = 6
MARGIN, DROP = 1.5, 0.5
"""In a world, moves that are worse than the best by more than MARGIN (before the hyperbolic tangent) are only known to
be so; over all worlds, those that are worse by more than DROP (after it) are searched no further."""
UNLIMITED = 1 << 62
STANDING = 1 - MOST_CAPTURES
"""The first depth: what stands after each move, without captures."""
ROYALS_LEFT = (0.0, 0.0, 0.5, 0.85, 1.1, 1.2)
"""What royals are worth by how many are left."""


@final
class CurioValues:
    """What positions of Curio are worth: the hyperbolic tangent of a sum over pieces and of what the royals add.

    A piece counts by its kind: the number towards its owner, then the other one.
    """

    def __init__(self, game: Game, kinds: Floats, royals: Floats) -> None:
        """Values for this game.

        Args:
            game: Curio with RULES.
            kinds: (base, base) weights of kinds.
            royals: (6, 6) by the royals left, at most 5, of the player to move and of the opponent.
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
        self.kinds, self.royals = np.asarray(kinds, np.float64), np.asarray(royals, np.float64)
        by_faces = np.zeros((base + 1, base + 1))
        by_faces[1:, 1:] = self.kinds
        self.values = Values(game.steps, game.settings, by_faces, self.royals)

    @staticmethod
    def fits(game: Game) -> bool:
        """Whether a game is Curio with RULES, and has no options that lines of play do not follow."""
        return follows(game) and all(game.options[name] == value for name, value in RULES.items())

    @classmethod
    def simple(cls, game: Game) -> CurioValues:
        """Those of the champion: large numbers are worth more than small ones, and royals most."""
        base, royals = int(game.options["base"]), np.array(ROYALS_LEFT)
        numbers = np.arange(1, base + 1) / base
        return cls(game, 0.1 + 0.2 * numbers[:, None] + 0.2 * numbers, royals[:, None] - royals)

    def of(self, states: States, depth: int = 0) -> Floats:
        """(B,) values of full states for the players to move, before the hyperbolic tangent.

        They are those of so many plies and of the captures that follow.
        """
        found, board = np.empty(len(states)), empty_board(self.game)
        value_states(states, board, self.values, depth, found, np.empty(1))
        return found

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, CurioValues)
            and self.game == other.game
            and all(np.array_equal(getattr(self, name), getattr(other, name)) for name in ("kinds", "royals"))
        )

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        return CurioValues, (self.game, self.kinds, self.royals)


@final
class LinesAgent:
    """Plays Curio by the mean value of each move over some worlds, in which lines of play are searched."""

    def __init__(
        self, values: CurioValues, *, nodes: int | None = None, seconds: float | None = None, worlds: int = WORLDS
    ) -> None:
        """An agent for the game of these values.

        Args:
            values: What positions are worth.
            nodes: Positions that may be looked at for a move, beside those after each legal one. Either this or
                `seconds` is given.
            seconds: The budget of each move, in seconds.
            worlds: How many are drawn.
        """
        if (nodes is None) == (seconds is None):
            raise ValueError(f"nodes={nodes!r}, seconds={seconds!r}: expected one of the two")
        if nodes is not None:
            check_range("nodes", nodes, 1)
        if seconds is not None:
            check_number("seconds", seconds, 1e-9, 1e9)
        check_range("worlds", worlds, 1)
        self.values, self.nodes, self.seconds, self.worlds = values, nodes, seconds, worlds
        self._board: Board | None = None

    def act(self, game: Game, views: Views, rng: np.random.Generator) -> Actions:
        """As `Agent.act`."""
        return np.array([action for action, _ in self.analyse(game, views, rng)], np.int64)

    def analyse(self, game: Game, views: Views, rng: np.random.Generator) -> list[tuple[int, float]]:
        """For each position the action, and its mean value from -1 to 1; 0 where there is nothing to choose."""
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
                found.append((int(legal[0]), 0.0))
                continue
            worlds = game.determinize(np.repeat(views[row : row + 1], self.worlds), rng)
            if (worlds["faces"] == worlds["faces"][:1]).all():
                worlds = worlds[:1]
            found.append(self._choose(game, legal, worlds, start))
        return found

    def _choose(self, game: Game, legal: Ints, worlds: Array, start: float) -> tuple[int, float]:
        """The best action by the deepest search of each world."""
        board, is_over, spent = self._board, ending(), 0
        if board is None:
            board, start = self._compile(game, legal, worlds), time.perf_counter()
        board.history.fill(0)
        ends = np.array([game.action_cells(int(action)) for action in legal], np.int64)
        kept, table = np.arange(len(legal)), np.zeros((len(worlds), len(legal)))
        found, finished = np.empty(len(legal)), False
        for depth in (STANDING, *range(1, MOST_DEPTH)):
            for world in range(len(worlds)):
                done, spent = self._search_world(
                    board, worlds[world : world + 1], ends[kept], depth, found, spent, start
                )
                finished = not done or (depth > STANDING and is_over is not None and is_over())
                if finished:
                    break
                table[world] = expected_outcomes(found[: len(kept)])
            means = table.mean(axis=0)
            order = np.argsort(-means, kind="stable")
            if depth > STANDING:
                order = order[means[order] >= means[order[0]] - DROP]
            kept, table = kept[order], np.ascontiguousarray(table[:, order])
            if finished or len(kept) == 1:
                break
        return int(legal[kept[0]]), float(table[:, 0].mean())

    def _search_world(
        self, board: Board, world: States, ends: Ints, depth: int, found: Floats, spent: int, start: float
    ) -> tuple[bool, int]:
        """Whether the values of the moves with these ends were found, and how many positions were looked at so far.

        By the clock it is tried again if there was more time than the speed so far had promised.
        """
        left, result = UNLIMITED if depth == STANDING else self._left(spent, time.perf_counter() - start), np.empty(1)
        while left > len(ends):
            board.nodes[1] = left
            done = value_moves(world, board, self.values.values, ends, len(ends), depth, MARGIN, found, result)
            spent += int(board.nodes[0])
            if done:
                return True, spent
            left = self._left(spent, time.perf_counter() - start)
        return False, spent

    def _left(self, spent: int, elapsed: float) -> int:
        """Positions that the budget still allows; by the clock, at the speed so far."""
        if self.nodes is not None:
            return self.nodes - spent
        return int(spent / elapsed * max(0.0, float(self.seconds or 0) - elapsed))

    def _compile(self, game: Game, legal: Ints, worlds: Array) -> Board:
        """Memory to search in; before the clock starts, one search of one move compiles."""
        board = self._board = empty_board(self.values.game)
        ends = np.array([game.action_cells(int(legal[0]))], np.int64)
        value_moves(worlds[:1], board, self.values.values, ends, 1, 1, MARGIN, np.empty(1), np.empty(1))
        return board

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (self.values, self.nodes, self.seconds, self.worlds)


def _again(values: CurioValues, nodes: int | None, seconds: float | None, worlds: int) -> LinesAgent:
    return LinesAgent(values, nodes=nodes, seconds=seconds, worlds=worlds)


def expected_outcomes(values: Floats) -> Floats:
    """Values from -1 to 1; wins that are certain are worth more than 1, the more the earlier."""
    certain = np.sign(values) * (1 + (np.abs(values) - WON + PLIES) / WON)
    return np.where(np.abs(values) > WON / 2, certain, np.tanh(values))


def empty_board(game: Curio) -> Board:
    """Memory to search positions of a game in."""
    cells, moves = game.board.size, game.num_actions
    return Board(
        world=np.zeros(1, game.dtype),
        tally=np.zeros((2, 2)),
        moves=np.zeros((PLIES, moves), np.int64),
        order=np.zeros((PLIES, moves)),
        plies=np.zeros((PLIES, PLY_FIELDS), np.int64),
        bounds=np.zeros((PLIES, 3)),
        history=np.zeros((cells, cells)),
        nodes=np.array([0, UNLIMITED]),
    )
