"""What a game gets if it does not say otherwise: playouts, cells of moves, one symmetry, what everybody knows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from .randomness import sample_batch
from .state import NOBODY, copy_states, take_rows
from .symmetry import Symmetry
from .types import Ints, Record, Seeds, States

if TYPE_CHECKING:
    from .hooks import GameHooks


def play_random_games(game: GameHooks, states: States, seeds: Seeds, last_player_by_action: Ints) -> None:
    """Random games to the end, ply by ply over the whole batch, by the game's own step and mask.

    Each game draws from its own stream, so its course does not depend on the games beside it.

    Args:
        game: The rules.
        states: (B,) the games, changed in place.
        seeds: (B,) uint64 streams, advanced in place.
        last_player_by_action: (B, A) int8, written as `Game.playout` says; (0, 0) if nobody asks for it.
    """
    rows = np.flatnonzero(~states["done"])
    while len(rows):
        batch, streams = take_rows(states, rows), seeds[rows]
        masks = np.empty((len(rows), game.num_actions), np.bool_)
        game._legal_action_mask(batch, masks)
        if game.resign_action >= 0:
            masks[:, game.resign_action] = False
        actions = np.empty(len(rows), np.int64)
        sample_batch(masks.view(np.uint8), streams, actions)
        if last_player_by_action.size:
            last_player_by_action[rows, actions] = batch["to_move"]
        game._step(batch, actions)
        states[rows], seeds[rows] = batch, streams
        rows = rows[~batch["done"]]


def cells_in_text(text: str, names: Sequence[str]) -> tuple[int, ...]:
    """The cells of a move text that is the name of a cell, or names of cells with "-" between them; else none.

    >>> cells_in_text("a1", ("a1", "b1")), cells_in_text("b1-a1", ("a1", "b1")), cells_in_text("pass", ("a1", "b1"))
    ((0,), (1, 0), ())
    """
    parts = text.split("-")
    return tuple(names.index(part) for part in parts) if all(part in names for part in parts) else ()


def identity(game: GameHooks) -> Iterator[Symmetry]:
    """The symmetry that every game has."""
    yield Symmetry(
        name="identity",
        cells=np.arange(game.board.size),
        actions=np.arange(game.num_actions),
        planes=np.arange(len(game.planes)),
        marks=(),
        players=tuple(range(game.num_players)),
    )


def common_knowledge(game: GameHooks, state: Record) -> Record:
    """A copy of a state that keeps what all players' views agree on, and 0 where they do not."""
    batch = np.empty(1, game.dtype)
    batch[0] = state
    views = []
    for player in range(game.num_players):
        view = copy_states(batch)
        view["viewer"] = player
        game._view(batch, view)
        view["viewer"] = NOBODY
        views.append(view[0])
    public = copy_states(batch)[0]
    for name in game.dtype.names or ():
        same = np.all([view[name] == views[0][name] for view in views], axis=0)
        public[name] = np.where(same, views[0][name], 0)
    return public
