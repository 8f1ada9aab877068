"""What approximate best responses have in common: games against a frozen agent in both seats, and what they say."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias, final

import numpy as np

from pbm_envs import Game
from pbm_envs.authoring import check_range

from ..common.progress import progress_bar
from ..players.agent import Agent
from .policy import Array

Play: TypeAlias = Callable[[int, int], Array]
"""Plays games in a seat, at most so many, and returns what the responder got in each."""


@final
@dataclass(frozen=True)
class ApproximateResponse:
    """What a responder has won of an agent, over games in both seats."""

    values: tuple[float, float]
    """Its mean returns as player_0 and as player_1."""
    errors: tuple[float, float]
    """Their standard errors."""
    games: int

    @property
    def exploitability(self) -> float:
        """At least so much, but for chance: the mean over both seats."""
        return sum(self.values) / 2

    @property
    def interval(self) -> tuple[float, float]:
        """95%, of `exploitability`."""
        half = 1.96 * float(np.hypot(*self.errors)) / 2
        return self.exploitability - half, self.exploitability + half


@dataclass(frozen=True)
class Responder(ABC):
    """Responds to an agent whose policy is known, or can be asked for."""

    game: Game
    agent: Agent

    @abstractmethod
    def prepare(self, rng: np.random.Generator, progress: bool) -> Play:
        """Learn, or get ready to search."""

    def run(self, games: int, rng: np.random.Generator, progress: bool = False) -> ApproximateResponse:
        """Play against the agent.

        Args:
            games: In each seat.
            rng: For everything that is random.
            progress: Show a progress bar (extra `cli`).

        Raises:
            ValueError: The game is not for two, or a number is too small.
        """
        check_range("games", games, 2)
        if self.game.num_players != 2:
            raise ValueError(f"{self.game!r} has {self.game.num_players} players: expected two")
        play = self.prepare(rng, progress)
        won: list[list[float]] = [[], []]
        with progress_bar(progress, total=2 * games, unit=" games", unit_scale=True) as bar:
            for seat, returns in enumerate(won):
                while len(returns) < games:
                    some = play(seat, games - len(returns))
                    returns += some.tolist()
                    bar.update(len(some))
        means = [float(np.mean(returns)) for returns in won]
        errors = [float(np.std(returns, ddof=1) / np.sqrt(games)) for returns in won]
        return ApproximateResponse((means[0], means[1]), (errors[0], errors[1]), games)
