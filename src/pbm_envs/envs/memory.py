"""Agents that remember: what they are told beside views, so that each game has a memory of its own.

An agent with memory is asked like any other, `act(game, views, rng, ids)`, with one more argument: `ids` (B,) int64,
one number for each game *and seat*. The same number always means the same game from the same seat, and no number is
used twice in a process; so an agent that plays several seats of a game keeps them apart, as it must where they know
different things. Numbers say nothing about the game.

`begin_games(game, ids)` comes before the first question about a game, `end_games(ids)` when nothing more will be asked
about it, because it is over or was given up. An agent that overrides `watch` is shown, in arenas and by `pbm play`,
the game after each ply as its seat sees it, and not only when it is to move.
"""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.game import Game
from ..core.types import Rng, States

Ids = NDArray[np.int64]
_numbers = itertools.count()


class AgentWithMemory(ABC):
    """The base class of agents that remember. A question that fails may be asked again: change the memory last."""

    @abstractmethod
    def begin_games(self, game: Game, ids: Ids) -> None:
        """Games start that will be called `ids` (B,)."""

    @abstractmethod
    def act(self, game: Game, views: States, rng: Rng, ids: Ids) -> Any:
        """(B,) a legal action for each of `views` (B,), of the games `ids` (B,)."""

    @abstractmethod
    def end_games(self, ids: Ids) -> None:
        """These are over: their memory can go."""

    def watch(self, game: Game, views: States, ids: Ids, note: str | None = None) -> None:  # noqa: B027
        """After a ply, whoever has played it, the games `ids` (B,) look like `views` (B,) to their seats.

        The first call for a game shows where it starts, so it may come before any ply. What is shown may be shown
        again. `note` says what has happened where it was no move, such as a forfeit. By default nothing is remembered.
        """


def watches(agent: Any) -> bool:
    """Whether the agent wants to be shown every ply."""
    return isinstance(agent, AgentWithMemory) and type(agent).watch is not AgentWithMemory.watch


def new_ids(count: int) -> Ids:
    """(count,) numbers that nobody has had before."""
    return np.fromiter(itertools.islice(_numbers, count), np.int64, count)
