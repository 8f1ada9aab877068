"""A moment of a game in a PettingZoo environment, to go back to or to go on from elsewhere."""

from __future__ import annotations

from dataclasses import dataclass

from ..core.game import Game
from ..core.types import Rng, States
from .history import History


@dataclass(frozen=True)
class Snapshot:
    """A moment of a game, independent of the environment it was taken from."""

    game: Game
    states: States
    rng: Rng
    agents: tuple[str, ...]
    agent_selection: str
    skipped: str | None
    """Whose turn it is when dead agents have stepped."""
    rewards: dict[str, float]
    cumulative_rewards: dict[str, float]
    terminations: dict[str, bool]
    truncations: dict[str, bool]
    history: History | None = None
