"""Curio by alpha-beta search of sampled worlds: every move is searched in each world, and its values are averaged.

This is perfect-information Monte Carlo (Ginsberg 2001) with iterative deepening: all worlds are searched to one ply,
then to two, and so on, and moves that fall behind are dropped. Initially, moves are ordered by the values of the
positions after them.
"""

from __future__ import annotations

import time
from importlib.resources import as_file, files
from pathlib import Path
from typing import NamedTuple, final

import numpy as np

from pbm_envs import Curio, Game
from pbm_envs.authoring import Ints, check_range
from pbm_envs.foreign import check_array, read_arrays
from pbm_envs.toolbox import Array, Floats, check_number, in_one_piece

from ..exact.curio_lines import check_game, follows
from ..players.agent import Actions, Views, check_searchable
from ..search.ending import ending
from .lines import expected_outcomes, value_moves
from .position import (
    ALLOWED,
    FIELDS,
    LOOKED_AT,
    MOST_CAPTURES,
    MOST_DEPTH,
    PIECE_SCALE,
    PLIES,
    UNIT_SCALE,
    UNITS,
    Position,
    Values,
)

RULES = {"turn": True, "limit": True, "face": "large", "capture": "le"}
"""The options of Curio that the values were made for."""
WORLDS = 12
MARGIN, NARROW_MARGIN, DROP = 1.5, 0.4, 0.5
"""In a world, moves that are worse than the best by more than MARGIN (before the hyperbolic tangent) get only a bound;
with NARROW_MARGIN if only the best move is needed. Moves whose mean over all worlds is worse by more than DROP (after
it) are searched no further."""
UNLIMITED = 1 << 62
ENTRIES = 1 << 15
"""Entries of the transposition table; a power of 2."""
SHAPE = (5, 5)
"""The board of the learned values."""
MOST_WEIGHT = 32_000
"""The greatest weight: sums over all pieces of a board fit into 64 bits by far."""
STANDING = 1 - MOST_CAPTURES
"""The first depth: the value of the position after each move, without captures."""
MOST_ROYALS = 5
"""The most royals that simple values distinguish."""
ROYALS_LEFT = (0.5, 0.35, 0.25, 0.1, 0.0)
"""In simple values, what the second royal adds to the first, the third to the second, and so on."""


class Weights(NamedTuple):
    """The weights of a network (see `lines`), as they are kept in a file."""

    pieces: Ints
    """(2, base, base, cells, UNITS) int16, by `near - 1` and `far - 1`."""
    biases: Ints
    """(UNITS,) int32."""
    outputs: Ints
    """(UNITS,) int32."""
    fading: float
    """The share of a value that is lost between a capture and the limit of plies without one."""


@final
class CurioValues:
    """The values of positions of Curio: the hyperbolic tangent of the output of a network (see `lines`)."""

    def __init__(self, game: Game, weights: Weights) -> None:
        """Make the values of a game with RULES; raise ValueError for weights of another base or board."""
        check_game(game)
        if not self.fits(game):
            raise ValueError(f"{game!r} has no values: expected Curio with {RULES}")
        assert isinstance(game, Curio)
        base = int(game.options["base"])
        for name, shape in (
            ("pieces", (2, base, base, game.board.size, UNITS)),
            ("biases", (UNITS,)),
            ("outputs", (UNITS,)),
        ):
            given = check_array(getattr(weights, name), name, shape, "i")
            if np.abs(given.astype(np.int64)).max() > MOST_WEIGHT:
                raise ValueError(f"{name} hold numbers beyond {MOST_WEIGHT}: expected smaller ones")
        if not 0 <= weights.fading <= 1:
            raise ValueError(f"fading is {weights.fading}: expected a number from 0 to 1")
        self.game, self.weights = game, weights
        by_faces = np.zeros((2, base + 1, base + 1, game.board.size, UNITS), np.int16)
        by_faces[:, 1:, 1:] = weights.pieces
        biases, outputs = (np.array(given, np.int64) for given in (weights.biases, weights.outputs))
        keys = np.random.default_rng(0).integers(1 << 62, size=by_faces.shape[:-1])
        self.values = Values(game.steps, game.settings, by_faces, biases, outputs, keys, float(weights.fading))

    @staticmethod
    def fits(game: Game) -> bool:
        """Return whether a game is Curio with RULES, without options that lines of play do not support."""
        return follows(game) and all(game.options[name] == value for name, value in RULES.items())

    @classmethod
    def simple(cls, game: Game) -> CurioValues:
        """Return values that were not learned: large numbers have more value than small ones, and royals the most."""
        base, numbers = int(game.options["base"]), np.arange(1, int(game.options["base"]) + 1)
        royal = (numbers[:, None] == base) | (numbers == base)
        pieces = np.zeros((2, base, base, game.board.size, UNITS))
        worth = 0.1 + 0.2 * numbers[:, None] / base + 0.2 * numbers / base + ROYALS_LEFT[0] * royal
        pieces[0, ..., 0] = worth[..., None]
        biases, outputs = np.zeros(UNITS), np.zeros(UNITS)
        outputs[0] = 1
        for k in range(1, MOST_ROYALS):
            pieces[0, ..., k] = royal[..., None]
            biases[k], outputs[k] = -1 - k, ROYALS_LEFT[k] - ROYALS_LEFT[k - 1]
        return cls(game, quantized(pieces, biases, outputs, 0.0))

    @classmethod
    def best(cls, game: Game) -> CurioValues:
        """Return the champion's values: those that were learned, or `simple` ones for another base or board."""
        with as_file(files(__package__) / "weights" / "curio.npz") as path:
            learned = load_weights(path)
        base, cells = int(game.options["base"]), game.board.size
        fits = (base, cells, game.board.shape) == (learned.pieces.shape[1], learned.pieces.shape[3], SHAPE)
        return cls(game, learned) if fits else cls.simple(game)


def quantized(pieces: Floats, biases: Floats, outputs: Floats, fading: float) -> Weights:
    """Return weights as the integers that kernels use, rounded."""
    return Weights(
        np.rint(pieces * PIECE_SCALE).astype(np.int16),
        np.rint(biases * PIECE_SCALE).astype(np.int32),
        np.rint(outputs * UNIT_SCALE).astype(np.int32),
        fading,
    )


def save_weights(path: str | Path, weights: Weights) -> None:
    """Write weights to a compressed file, in one piece."""
    with in_one_piece(path) as part:
        np.savez_compressed(part, **weights._asdict())


def load_weights(path: str | Path) -> Weights:
    """Return the weights from a file that `save_weights` wrote; `CurioValues` checks them against a game."""
    found = read_arrays(path, "a file of weights of Curio's champion", Weights._fields)
    return Weights(
        found["pieces"], found["biases"], found["outputs"], float(check_array(found["fading"], "fading", ()))
    )


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
        return np.array([moves[0][0] for moves in self._rank_all(game, views, rng, NARROW_MARGIN, 0.0)], np.int64)

    def rank(self, game: Game, views: Views, rng: np.random.Generator) -> list[list[tuple[int, float]]]:
        """Return, for each view, the legal actions, the best first, with their mean values from -1 to 1.

        A value beyond 1 or -1 is certain in all worlds. A single legal action has value 0. Actions that were dropped
        keep the value that they had then. `act` needs no values of inferior actions, and so may search deeper.
        """
        return self._rank_all(game, views, rng, MARGIN, MARGIN)

    def _rank_all(
        self, game: Game, views: Views, rng: np.random.Generator, margin: float, known: float
    ) -> list[list[tuple[int, float]]]:
        """Rank the actions of each view, with a margin in several worlds, and one where all is known."""
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
            found.append(self._rank(game, legal, worlds, start, margin if len(worlds) > 1 else known))
        return found

    def _rank(self, game: Game, legal: Ints, worlds: Array, start: float, margin: float) -> list[tuple[int, float]]:
        """Return the actions, the best first by the deepest search of all worlds, with their mean values."""
        ends = np.array([game.action_cells(int(action)) for action in legal], np.int64)
        position, is_over, spent = self._position, ending(), 0
        if position is None:  # compile by a search of one move, before the clock starts
            position = self._position = empty_position(self.values.game)
            value_moves(worlds[:1], position, self.values.values, ends[:1], 1, margin, first := np.zeros(1))
            expected_outcomes(first, np.empty(1))
            start = time.perf_counter()
        position.history.fill(0)
        position.table.fill(-1)
        kept, table = np.arange(len(legal)), np.zeros((len(worlds), len(legal)))
        finished, values = False, np.zeros(len(legal))
        for depth in (STANDING, *range(1, MOST_DEPTH)):
            for world in range(len(worlds)):
                finished = depth > STANDING and is_over is not None and is_over()
                if finished:
                    break
                state = worlds[world : world + 1]
                found, spent = self._search_world(position, state, ends[kept], depth, spent, start, margin)
                finished = len(found) < len(kept)
                if finished and len(worlds) == 1 and len(found):
                    expected_outcomes(found, table[0, : len(found)])
                    table[0, len(found) :] = np.minimum(table[0, len(found) :], table[0, : len(found)].max())
                if finished:
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
        self, position: Position, world: Array, ends: Ints, depth: int, spent: int, start: float, margin: float
    ) -> tuple[Floats, int]:
        """Return the values of the first moves with these ends that the budget allows, and the positions spent.

        By the clock, the search is repeated if there is more time left than the speed so far had predicted.
        """
        left, found, count = UNLIMITED if depth == STANDING else self._left(spent, start), np.empty(len(ends)), 0
        while left > len(ends):
            position.counters[ALLOWED] = left
            count = value_moves(world, position, self.values.values, ends, depth, margin, found)
            spent += int(position.counters[LOOKED_AT])
            if count == len(ends):
                break
            left = self._left(spent, start)
        return found[:count], spent

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
        units=np.zeros((2, UNITS), np.int64),
        moves=np.zeros((PLIES, moves), np.int64),
        order=np.zeros((PLIES, moves)),
        plies=np.zeros((PLIES, FIELDS), np.int64),
        bounds=np.zeros((PLIES, 4)),
        history=np.zeros((cells, cells)),
        counters=np.array([0, UNLIMITED]),
        best=np.zeros(PLIES, np.int64),
        key=np.zeros(1, np.int64),
        table=np.full((ENTRIES, 4), -1),
        table_values=np.zeros(ENTRIES),
    )
