"""Observations and information states of a player in OpenSpiel, as strings and tensors."""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

import numpy as np

from ..core.game import Game
from ..core.types import Floats, States

MOST_PLIES = 10_000
"""The largest `max_plies` of a game that has an information state tensor."""


class Observer:
    """An observer by OpenSpiel's interface: `tensor`, `dict`, `set_from`, `string_from`.

    `dict`: "player" (P,) one-hot; "observation" (rows, cols, planes); with perfect recall also "view", the concatenated
    fields of the record that the information state is built on, and "moves" (max_plies,), 1 + action.
    """

    def __init__(self, rules: Game, perfect_recall: bool) -> None:
        self._rules, self._recall = rules, perfect_recall
        shapes: dict[str, tuple[int, ...]] = {"player": (rules.num_players,), "observation": rules.observation_shape}
        self.tensor: Floats | None = None
        """All numbers, concatenated; None without an information state tensor."""
        self.dict: dict[str, Floats] = {}
        """The parts of `tensor` by name, as views in their own shapes."""
        if perfect_recall:
            if not has_tensor(rules):
                return
            shapes["view"] = (len(_numbers(np.zeros(1, rules.dtype))),)
            shapes["moves"] = (rules.max_plies,)
        sizes = [int(np.prod(shape)) for shape in shapes.values()]
        self.tensor = np.zeros(sum(sizes), np.float32)
        pieces = np.split(self.tensor, np.cumsum(sizes)[:-1])
        self.dict = {name: piece.reshape(shapes[name]) for name, piece in zip(shapes, pieces, strict=True)}

    def set_from(self, state: Any, player: int) -> None:
        """Fill `tensor`, and thereby `dict`, from a `SpielState`; during the deal only the player is set."""
        if self.tensor is None:
            raise ValueError("there is no information state tensor here: use the string")
        self.tensor.fill(0)
        self.dict["player"][player] = 1
        now = state._moment.now
        if now is None:
            return
        view = self._rules.view(now, int(player))
        self.dict["observation"][:] = self._rules.observe(view)[0]
        if self._recall:
            self.dict["view"][:] = _numbers(self._anchor(state, view))
            moves = state.moves()
            self.dict["moves"][: len(moves)] = np.add(moves, 1)

    def string_from(self, state: Any, player: int) -> str:
        moment, rules = state._moment, self._rules
        if moment.now is None:
            return f"player_{player} | being set up"
        view = rules.view(moment.now, int(player))
        if not self._recall:
            return f"player_{player} | {board_with_digest(rules, view)} | {rules.status(view)}"
        moves = " ".join(rules.action_to_string(move) if move >= 0 else "?" for move in moment.seen[player])
        allowed = f" | allowed #{moment.allowed[player]}" if moment.allowed[player] else ""
        return f"player_{player} | {board_with_digest(rules, self._anchor(state, view))} | {moves}{allowed}"

    def _anchor(self, state: Any, view: States) -> States:
        return state._moment.start if self._rules.perfect_information else view


def has_tensor(rules: Game) -> bool:
    """Return whether information states have a tensor: moves must be few and public, and masks reveal nothing."""
    return rules.max_plies <= MOST_PLIES and rules.public_moves and not rules.mask_reveals_hidden


def board_with_digest(rules: Game, record: States) -> str:
    """Return the board text with a digest of the whole record."""
    fields = (record[name].tobytes() for name in record.dtype.names or ())
    return f"{rules.board_to_string(record)} #{digest(*fields)}"


def digest(*parts: bytes) -> str:
    """Return a hash of all parts, 16 hexadecimal digits."""
    return blake2b(b"".join(parts), digest_size=8).hexdigest()


def _numbers(record: States) -> Floats:
    return np.concatenate([np.ravel(record[name]) for name in record.dtype.names or ()]).astype(np.float32)
