"""Agents with memory: an interface that identifies games, so that an agent can keep a separate memory for each.

The `act(game, views, rng, ids)` of an agent with memory has one more argument than that of other agents: `ids` (B,)
int64, one number for each game *and seat*, which is never reused in a process and contains no information about the
game. So an agent that plays several seats of a game can keep them apart, as it must if they know different things.

`begin_games(game, ids)` is called before the first `act` in a game, `end_games(ids)` after the last, when the game is
over or was abandoned. In arenas and in `pbm play`, `watch` is called after each ply with the view of the agent's seat,
not only when that seat is to move.
"""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.game import Game
from ..core.state import Rng, States

Ids = NDArray[np.int64]
_numbers = itertools.count()


class AgentWithMemory(ABC):
    """The base class of agents with memory. A call of `act` that fails may be repeated, so change the memory last."""

    @abstractmethod
    def begin_games(self, game: Game, ids: Ids) -> None:
        """Start games, which are identified by `ids` (B,)."""

    @abstractmethod
    def act(self, game: Game, views: States, rng: Rng, ids: Ids) -> Any:
        """Return (B,) a legal action for each of `views` (B,), which belong to the games `ids` (B,)."""

    @abstractmethod
    def end_games(self, ids: Ids) -> None:
        """End the games `ids` (B,); their memory can be freed."""

    def watch(self, game: Game, views: States, ids: Ids, note: str | None = None) -> None:  # noqa: B027
        """Observe the games `ids` (B,) after a ply of any player; `views` (B,) are the views of their seats.

        The first call for a game has its initial position, so it may come before any ply. A position may be repeated.
        `note` describes an event that was not a move, such as a forfeit. The default does nothing.
        """


def watches(agent: Any) -> bool:
    """Return whether the agent overrides `watch`."""
    return isinstance(agent, AgentWithMemory) and type(agent).watch is not AgentWithMemory.watch


def reserve_ids(ids: Ids) -> None:
    """Keep `new_ids` from returning these numbers, which a copied environment brings from another process."""
    global _numbers
    _numbers = itertools.count(max(next(_numbers), int(ids.max(initial=-1)) + 1))


def new_ids(count: int) -> Ids:
    """Return (count,) numbers that have not been used before."""
    return np.fromiter(itertools.islice(_numbers, count), np.int64, count)
