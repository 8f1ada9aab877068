"""What an agent would do at every information set of a public tree: its policy as an array."""

from __future__ import annotations

from typing import Protocol, final, runtime_checkable

import numpy as np

from pbm_envs import Game
from pbm_envs.authoring import check_range

from ..common.progress import progress_bar
from ..players.agent import Agent, Views
from .policy import Array, Policy, scaled
from .tree import PublicTree

BATCH = 4096
"""Views that an agent is given at a time, with the repetitions of `samples`."""


@runtime_checkable
class ProbabilityAgent(Agent, Protocol):
    """An agent that can say how likely it is to play each action."""

    def probabilities(self, game: Game, views: Views) -> Array:
        """(B, A) of the actions that `act` would draw from, for each of `views` (B,)."""
        ...


def action_probabilities(agent: Agent, game: Game, views: Views, samples: int, rng: np.random.Generator) -> Array:
    """(B, A) how likely an agent plays each action: as it says itself, or else how often in `samples` tries."""
    if isinstance(agent, ProbabilityAgent):
        return np.asarray(agent.probabilities(game, views), np.float64)
    counts = np.zeros((len(views), game.num_actions))
    rows = np.arange(len(views))
    for _ in range(samples):
        np.add.at(counts, (rows, agent.act(game, views, rng)), 1.0)
    return counts / samples


def agent_policy(
    tree: PublicTree,
    agent: Agent,
    *,
    samples: int = 1,
    seed: int = 0,
    batch: int = BATCH,
    progress: bool = False,
) -> Policy:
    """The policy of an agent.

    An agent with a method `probabilities(game, views)` is asked for it, and the policy is exact. Any other is made to
    act `samples` times at each information set. An agent that plays at random then seems more exploitable than it is:
    a best response also exploits what chance has done to the counts, the less the more samples there are.

    Args:
        tree: Where the agent plays.
        agent: Given the views of the players to move, nothing else.
        samples: How often an agent that does not give probabilities acts at each information set.
        seed: Of the agent's random generator.
        batch: Views that the agent is given at a time.
        progress: Show a progress bar (extra `cli`).
    """
    check_range("samples", samples, 1)
    rng, probabilities = np.random.default_rng(seed), np.empty(tree.num_choices)
    with progress_bar(progress, total=tree.num_information_sets, unit=" sets", unit_scale=True) as bar:
        for first, views in tree.views_by_batch(batch):
            chances = action_probabilities(agent, tree.game, views, samples, rng)
            choices = slice(int(tree.set_choices[first]), int(tree.set_choices[first + len(views)]))
            probabilities[choices] = chances[tree.game.legal_action_mask(views)]
            bar.update(len(views))
    return Policy(tree, scaled(tree, probabilities))


@final
class MemoizedAgent:
    """An agent whose probabilities are found once for each view, and are the same ever after: as it says them, or
    counted in `samples` tries. A deterministic search thus has one policy, whichever way it is asked.
    """

    def __init__(self, agent: Agent, samples: int = 1, seed: int = 0) -> None:
        self.agent, self.samples = agent, samples
        self._rng = np.random.default_rng(seed)
        self._known: dict[bytes, Array] = {}

    def probabilities(self, game: Game, views: Views) -> Array:
        """(B, A) of each of `views` (B,)."""
        keys = [key.tobytes() for key in without_gaps(views)]
        new = {key: row for row, key in enumerate(keys) if key not in self._known}
        if new:
            rows = np.array(list(new.values()))
            found = action_probabilities(self.agent, game, views[rows], self.samples, self._rng)
            self._known.update(zip(new, found, strict=True))
        return np.array([self._known[key] for key in keys])

    def act(self, game: Game, views: Views, rng: np.random.Generator) -> Array:
        """(B,) drawn with these probabilities."""
        sums = self.probabilities(game, views).cumsum(axis=1)
        return (sums > sums[:, -1:] * rng.random((len(views), 1))).argmax(axis=1)


def without_gaps(views: Views) -> Array:
    """Copies in which there is nothing between the fields."""
    packed = np.dtype([(name, views.dtype[name]) for name in views.dtype.names or ()])
    return views.astype(packed)
