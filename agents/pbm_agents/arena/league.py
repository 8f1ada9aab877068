"""A league of opponents for a learner in training, by prioritized fictitious self-play.

    league = League({"random": "random"})
    envs = chameleon_v0.vector_env(64, size=5, opponent=league.agents)
    ...                                                    # train for a while
    league.add("after 1,000 updates", NetworkAgent(copy))  # a past self
    league.assign(envs)                                    # reads the scores, sets opponents and weights

The weight of an opponent depends on p, the learner's recent score against it (Vinyals et al. 2019, AlphaStar): with
"hard" it is (1 - p)^2, which favours opponents that still win; with "variance" p (1 - p), which favours those of about
equal strength; "uniform" is fictitious self-play.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias, final

from pbm_envs import Game
from pbm_envs.envs.opponents import OpponentScore

from ..players.agent import AnyAgent
from ..players.names import as_agent
from .match import play_games
from .openings import seated_openings
from .standings import HeadToHead, head_to_head

Weighting: TypeAlias = Callable[[float], float]
WEIGHTINGS: Mapping[str, Weighting] = {
    "hard": lambda p: (1 - p) ** 2,
    "variance": lambda p: p * (1 - p),
    "uniform": lambda p: 1.0,
}
LEAST = 0.01
"""Minimum weight, so that opponents that never win are still drawn occasionally."""


class HasOpponents(Protocol):
    """An environment to which a league can be assigned: vector, single-seat or Stable-Baselines3."""

    def set_opponents(self, agents: Any, weights: Any = None) -> None: ...

    def opponent_scores(self) -> tuple[OpponentScore, ...]: ...


@final
class League:
    """Opponents by name, with the learner's score against each."""

    def __init__(self, agents: Mapping[str, Any], weighting: str | Weighting = "hard") -> None:
        """Start a league.

        Args:
            agents: Opponents by name, at least one, as `set_opponents` takes them.
            weighting: "hard", "variance", "uniform", or a function from the learner's score (0 to 1) to a weight.
        """
        if not agents:
            raise ValueError("the league is empty: expected at least one opponent")
        if isinstance(weighting, str) and weighting not in WEIGHTINGS:
            raise ValueError(f"weighting is {weighting!r}: expected {', '.join(WEIGHTINGS)}, or a function")
        self.agents: dict[str, Any] = dict(agents)
        self.scores: dict[str, OpponentScore] = {}
        self._weighting = WEIGHTINGS[weighting] if isinstance(weighting, str) else weighting

    def add(self, name: str, agent: Any) -> None:
        """Add an opponent, such as a past version of the learner. Its weights must not change: pass a copy."""
        if name in self.agents:
            raise ValueError(f"{name!r} is in the league already: expected another name")
        self.agents[name] = agent

    def remove(self, name: str) -> None:
        """Remove an opponent; at least one must remain."""
        if name not in self.agents or len(self.agents) == 1:
            raise ValueError(f"{name!r} cannot leave: expected one of several, of {list(self.agents)}")
        del self.agents[name]

    def update(self, scores: Sequence[OpponentScore]) -> None:
        """Update the scores from an environment's opponents that have played games."""
        self.scores |= {score.name: score for score in scores if score.games}

    def weights(self) -> dict[str, float]:
        """Return the weight of each opponent. An opponent without games counts as equally strong."""
        recent = {name: self.scores[name].recent if name in self.scores else 0.5 for name in self.agents}
        return {name: max(LEAST, self._weighting(score)) for name, score in recent.items()}

    def assign(self, env: HasOpponents) -> None:
        """Read the scores of an environment, and set the league's opponents and weights for its next games."""
        self.update(env.opponent_scores())
        env.set_opponents(self.agents, self.weights())


def payoffs(game: Game, agents: Mapping[str, Any], openings: int = 20, seed: int = 0) -> HeadToHead:
    """Return the payoff table of every agent against every other, for `plot_head_to_head`.

    Args:
        game: A game of two players.
        agents: The agents by name, in any form that `as_agent` accepts.
        openings: Number of openings per pair, each played from both seats after a random move. With hidden information,
            each game has its own set-up.
        seed: Seed of the openings and agents.
    """
    if game.num_players != 2:
        raise ValueError(f"{game!r} has {game.num_players} players: expected 2")
    if len(agents) < 2:
        raise ValueError(f"agents are {list(agents)}: expected at least two")
    made: dict[str, AnyAgent] = {name: as_agent(agent) for name, agent in agents.items()}
    starts = [(None, seed + k) for k in range(openings)]
    pairs = [(a, b) for a in made for b in made if a != b]
    seats = [pair for pair in pairs for _ in starts]
    played = [
        opening
        for k, pair in enumerate(pairs)
        for opening in seated_openings(game, [pair], starts, k * openings, moves=1)
    ]
    records = play_games(game, made, seats, played, seed)
    if failed := [record for record in records if record.forfeits]:
        raise ValueError(f"{failed[0].agents[failed[0].forfeits[0].player]!r} failed: {failed[0].forfeits[0].reason}")
    return head_to_head(records, list(made))
