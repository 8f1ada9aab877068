"""An approximate best response by learning: PPO against a frozen agent, in games of any size (extra `torch`).

One network learns both seats from games in which the agent plays the other one. What it then wins is a lower bound of
what a best response would.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from pbm_envs.core.checks import check_range
from pbm_envs.envs.vector import BoardGameVectorEnv

from ..common.progress import progress_bar
from ..learning.network import PolicyValueNetwork
from ..learning.ppo import PPO, play
from .policy import Array
from .responses import Play, Responder

try:
    import torch
except ImportError:
    raise ImportError("learning needs PyTorch: pip install 'pbm-envs[torch]'") from None

MOST_GAMES = 1024
"""Games that are played at once, to find out what a network wins."""


@final
@dataclass(frozen=True)
class LearnedResponder(Responder):
    """The settings of the training."""

    steps: int = 300_000
    """The responder's moves in training."""
    envs: int = 256
    """Games side by side."""
    moves: int = 16
    """Of the responder, in each game between two updates."""
    epochs: int = 4
    learning_rate: float = 1e-3
    """At the start; it falls to 0."""
    entropy: float = 0.02
    """Its weight at the start; it falls to 0."""
    hidden: int = 128
    layers: int = 2

    def prepare(self, rng: np.random.Generator, progress: bool) -> Play:
        """As `Responder.prepare`: the training."""
        network = self.train(rng, progress)
        return lambda seat, count: self._play(network, seat, min(count, MOST_GAMES), rng)

    def train(self, rng: np.random.Generator, progress: bool = False) -> PolicyValueNetwork:
        """Return the network of the responder."""
        for name in ("steps", "envs", "moves", "epochs"):
            check_range(name, getattr(self, name), 1)
        torch.manual_seed(int(rng.integers(2**31)))
        # the agent need not play alike in positions that mirror each other
        network = PolicyValueNetwork(self.game, self.hidden, self.layers, symmetric=False)
        optimizer = torch.optim.Adam(network.parameters(), self.learning_rate, eps=1e-5)
        envs, ppo = BoardGameVectorEnv(self.game, self.envs, opponent=self.agent), PPO(self.epochs, lam=0.95)
        seen = envs.reset(seed=int(rng.integers(2**31)))
        updates = max(1, -(-self.steps // (self.envs * self.moves)))
        with progress_bar(progress, total=updates, unit=" updates", unit_scale=True) as bar:
            for update in range(updates):
                left = 1 - update / updates
                optimizer.param_groups[0]["lr"] = self.learning_rate * left
                batch, expected, seen = play(envs, seen, network, self.moves)
                ppo.update(network, optimizer, batch, expected, self.entropy * left)
                bar.update(1)
        return network.eval()

    def _play(self, network: PolicyValueNetwork, seat: int, count: int, rng: np.random.Generator) -> Array:
        """Return what so many games are worth to the responder in a seat, (count,): each is played to its end."""
        envs = BoardGameVectorEnv(self.game, count, opponent=self.agent, seat=seat, autoreset_mode="Disabled")
        observations, info = envs.reset(seed=int(rng.integers(2**31)))
        returns, over = np.zeros(count), np.zeros(count, bool)
        while not over.all():
            priors, _ = network.priors_and_values(observations, info["action_mask"].astype(bool))
            observations, rewards, terminated, truncated, info = envs.step(priors.argmax(axis=1))
            returns[~over] += rewards[~over]
            over |= terminated | truncated
        return returns
