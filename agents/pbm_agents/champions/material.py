"""Learned values of positions of Curio: what the pieces are worth, which are attacked, how many royals are left.

The value of a position for the player to move is the hyperbolic tangent of a sum of weights, one for each feature. It
stands in the place of random playouts at the leaves of the information-set search, whose worlds have no secrets.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, final

import numpy as np

from pbm_envs import Curio, Game
from pbm_envs.core.kernels import kernel
from pbm_envs.core.record_rules import BatchKernel, PlayKernels
from pbm_envs.core.types import Array, Floats, Ints, Record, Seeds, States

DIRECTIONS = 8
MOST_ROYALS = 5
"""More count as so many."""
RULES = {"turn": True, "limit": True, "face": "large", "capture": "le"}
"""Options with which the weights were learned."""


def features_of(base: int) -> int:
    """How many features a position of this base has."""
    return 3 * base * base + 2 * MOST_ROYALS + 3


@kernel
def fill_features(state: Record, base: int, neighbours: Ints, out: Floats) -> None:
    """The features of one position, seen by the player to move.

    Args:
        state: A full state, of a game with RULES.
        base: Its largest number.
        neighbours: (cells, 8) of the board.
        out: (`features_of(base)`,) is overwritten: for each kind of piece (the number towards its owner, then the other
            one) how many more of them the player to move has; how many enemy pieces of each kind that player could
            capture now; how many own pieces the enemy could; own and enemy royals, one-hot; 1; whether the last enemy
            royal could be captured; whether the own last one could.
    """
    for k in range(len(out)):
        out[k] = 0
    mover, kinds = state["to_move"], base * base
    board, owner, where, faces = state["board"], state["owner"], state["cell"], state["faces"]
    own_royals, enemy_royals, royal_attacked, own_royal_attacked = 0, 0, False, False
    for slot in range(len(board)):
        if where[slot] < 0 or owner[slot] < 0:
            continue
        player = int(owner[slot])
        near, far = int(faces[slot, player]), int(faces[slot, 1 - player])
        out[(near - 1) * base + far - 1] += 1 if player == mover else -1
        if near == base or far == base:
            if player == mover:
                own_royals += 1
            else:
                enemy_royals += 1
        for d in range(DIRECTIONS):
            cell = int(where[slot])
            for _ in range(near):
                cell = int(neighbours[cell, d])
                if cell < 0:
                    break
                target = board[cell]
                if target < 0:
                    continue
                if owner[target] != player and faces[target, player] <= near:
                    theirs, other = int(faces[target, 1 - player]), int(faces[target, player])
                    at = (theirs - 1) * base + other - 1
                    royal = theirs == base or other == base
                    if player == mover:
                        out[kinds + at] += 1
                        royal_attacked |= royal
                    else:
                        out[2 * kinds + at] += 1
                        own_royal_attacked |= royal
                break
    first = 3 * kinds
    if own_royals:
        out[first + min(own_royals, MOST_ROYALS) - 1] = 1
    if enemy_royals:
        out[first + MOST_ROYALS + min(enemy_royals, MOST_ROYALS) - 1] = 1
    out[first + 2 * MOST_ROYALS] = 1
    out[first + 2 * MOST_ROYALS + 1] = royal_attacked and enemy_royals == 1
    out[first + 2 * MOST_ROYALS + 2] = own_royal_attacked and own_royals == 1


@kernel
def feature_batch(states: States, base: int, neighbours: Ints, out: Floats) -> None:
    """(B, features) of some positions."""
    for i in range(len(states)):
        fill_features(states[i], base, neighbours, out[i])


@kernel
def value_batch(states: States, base: int, neighbours: Ints, weights: Floats, values: Floats) -> None:
    """(B, 2) values of both players, by seat; of games that are over, their returns."""
    features = np.empty(len(weights), np.float32)
    for i in range(len(states)):
        state = states[i]
        if state["done"]:
            values[i, 0], values[i, 1] = state["returns"][0], state["returns"][1]
            continue
        fill_features(state, base, neighbours, features)
        total = np.float32(0)
        for k in range(len(weights)):
            total += weights[k] * features[k]
        value = np.tanh(total)
        mover = state["to_move"]
        values[i, mover], values[i, 1 - mover] = value, -value


@kernel
def write_values(
    states: States, seeds: Seeds, base: int, neighbours: Ints, weights: Floats, last_player_by_action: Ints
) -> None:
    """In the place of a playout: the values of both players as their returns."""
    values = np.empty((len(states), 2), np.float64)
    value_batch(states, base, neighbours, weights, values)
    for i in range(len(states)):
        states[i]["returns"][0], states[i]["returns"][1] = values[i, 0], values[i, 1]


@final
class MaterialValues:
    """An evaluator of Curio: learned weights of what stands on the board, without playouts or priors."""

    gives_priors = False
    answers_are_checked = True
    """They need not be."""

    def __init__(self, game: Game, weights: Floats) -> None:
        """Values for this game.

        Args:
            game: Curio with RULES.
            weights: (`features_of(base)`,) float32.
        """
        if not self.fits(game):
            raise ValueError(f"{game!r} has no values of material: expected Curio with {RULES}")
        expected = features_of(game.options["base"])
        if weights.shape != (expected,):
            raise ValueError(f"weights have shape {weights.shape}: expected {(expected,)} for {game!r}")
        self.game, self.weights = game, np.ascontiguousarray(weights, np.float32)

    @staticmethod
    def fits(game: Game) -> bool:
        """Whether a game has the options with which weights are learned."""
        return isinstance(game, Curio) and all(game.options[name] == value for name, value in RULES.items())

    def __call__(
        self, game: Game, states: Array, masks: Array, seeds: Seeds, last_player_by_action: Array | None
    ) -> tuple[None, Array]:
        """As `Evaluator`."""
        if game != self.game:
            raise ValueError(f"the values are of {self.game!r}, not of {game!r}")
        values = np.empty((len(states), 2), np.float64)
        value_batch(states, int(game.options["base"]), game.board.neighbours, self.weights, values)
        return None, values

    def kernels(self, game: Game) -> PlayKernels | None:
        """What a search needs that does not return to Python."""
        play = game._play_kernels(False, False)
        if play is None or game != self.game:
            return None
        arguments = int(game.options["base"]), game.board.neighbours, self.weights
        return play._replace(playout=BatchKernel(write_values, arguments))

    def features(self, states: States) -> Floats:
        """(B, features) float32 of full states."""
        out = np.empty((len(states), len(self.weights)), np.float32)
        feature_batch(states, int(self.game.options["base"]), self.game.board.neighbours, out)
        return out

    def save(self, path: str | Path) -> None:
        """Write the weights, as half precision numbers, compressed."""
        np.savez_compressed(path, weights=self.weights.astype(np.float16))

    @classmethod
    def load(cls, game: Game, path: str | Path) -> MaterialValues:
        """The values of a file that `save` has written. ValueError if it fits another game."""
        with np.load(path, allow_pickle=False) as file:
            return cls(game, file["weights"].astype(np.float32))

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, MaterialValues)
            and self.game == other.game
            and bool((self.weights == other.weights).all())
        )

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        return MaterialValues, (self.game, self.weights)
