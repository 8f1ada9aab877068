"""A learned approximate best response: masked PPO against a frozen agent, in games of any size (extra `torch`).

One network learns both seats, from games in which the agent has the other seat.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from pbm_envs.authoring import check_range
from pbm_envs.envs.vector import BoardGameVectorEnv
from pbm_envs.toolbox import Array

from ..common.progress import NoBar, progress_bar
from ..common.pytorch import torch
from ..learning.network import PolicyValueNetwork
from ..players.agent import Agent
from .evaluation import MemoizedAgent
from .learners import Batch, Method, learn
from .responses import Play, Responder


@final
@dataclass(frozen=True)
class LearnedResponder(Responder):
    """A responder trained by PPO, with its settings."""

    steps: int = 300_000
    """Number of the responder's moves in training."""
    envs: int = 256
    """Number of simultaneous games."""
    moves: int = 16
    """Number of the responder's moves per game between two updates."""
    epochs: int = 4
    minibatch: int = 1024
    learning_rate: float = 1e-3
    """Initial learning rate; it decays to 0."""
    discount: float = 1.0
    trace: float = 0.95
    """Lambda of generalized advantage estimation."""
    clip: float = 0.2
    entropy: float = 0.02
    """Initial weight of the entropy bonus; it decays to 0."""
    hidden: int = 128
    layers: int = 2
    samples: int = 8
    """Actions sampled at each view in training from an agent without `probabilities`; its moves are drawn from them."""

    def prepare(self, games: int, rng: np.random.Generator, bar: Any) -> Play:
        """Train, as part of `Responder.prepare`."""
        network = self.train(rng, progress=not isinstance(bar, NoBar))
        return lambda seat, count: self._play(network, seat, min(count, 1024), rng)

    def _play(self, network: PolicyValueNetwork, seat: int, count: int, rng: np.random.Generator) -> Array:
        """Return the returns (count,) of games played simultaneously to their ends."""
        games = self._games(self.agent, count, seat, rng)
        returns, over = np.zeros(count), np.zeros(count, bool)
        while not over.all():
            with torch.no_grad():
                logits, _ = network(*games.observe())
            rewards, ended = games.step(logits.argmax(dim=1))
            first = ended.numpy() & ~over
            returns[first] = rewards.numpy()[first]
            over |= first
        return returns

    def _games(self, agent: Agent, count: int, seat: int | str, rng: np.random.Generator) -> _Games:
        envs = BoardGameVectorEnv(self.game, count, opponent=agent, seat=seat)
        return _Games(envs, int(rng.integers(2**31)))

    def train(self, rng: np.random.Generator, progress: bool = False) -> PolicyValueNetwork:
        """Return the responder's trained network."""
        for name in ("steps", "envs", "moves", "epochs"):
            check_range(name, getattr(self, name), 1)
        torch.manual_seed(int(rng.integers(2**31)))
        # the agent may play differently in symmetric positions
        network = PolicyValueNetwork(self.game, self.hidden, self.layers, symmetric=False)
        optimizer = torch.optim.Adam(network.parameters(), self.learning_rate, eps=1e-5)
        agent = MemoizedAgent(self.agent, self.samples, int(rng.integers(2**31)))  # queries a slow agent once per view
        games = self._games(agent, self.envs, "random", rng)
        method = Method("ppo", epochs=self.epochs, minibatch=self.minibatch, clip=self.clip, gradient=0.5)
        updates = max(1, -(-self.steps // (self.envs * self.moves)))
        with progress_bar(progress, total=updates, unit=" updates", unit_scale=True) as bar:
            for update in range(updates):
                left = 1 - update / updates
                optimizer.param_groups[0]["lr"] = self.learning_rate * left
                (seen, legal), batch = self._play_on(network, games)

                def evaluate(
                    rows: torch.Tensor, seen: torch.Tensor = seen, legal: torch.Tensor = legal
                ) -> tuple[torch.Tensor, torch.Tensor]:
                    logits, values = network(seen[rows], legal[rows])
                    return logits, values[:, 0]

                learn(evaluate, optimizer, method, self.entropy * left, batch)
                bar.update(1)
        return network.eval()

    def _play_on(self, network: PolicyValueNetwork, games: _Games) -> tuple[tuple[torch.Tensor, torch.Tensor], Batch]:
        """Play on; return observations and masks (N,), and the responder's moves, which refer to their rows."""
        rows: list[tuple[Any, ...]] = []
        with torch.no_grad():
            for _ in range(self.moves):
                seen, legal = games.observe()
                logits, values = network(seen, legal)
                choice = torch.distributions.Categorical(logits=logits, validate_args=False)
                actions = choice.sample()
                rows.append((seen, legal, actions, choice.logits, values[:, 0], *games.step(actions)))
            after = network(*games.observe())[1][:, 0]
        seen, legal, actions, logs, values, rewards, ended = (torch.stack(part) for part in zip(*rows, strict=True))
        advantages, running = torch.zeros_like(values), torch.zeros_like(after)
        for t in reversed(range(self.moves)):
            goes_on = self.discount * ~ended[t]
            following = values[t + 1] if t + 1 < self.moves else after
            running = rewards[t] + goes_on * following - values[t] + goes_on * self.trace * running
            advantages[t] = running
        parts = (actions, logs, advantages, advantages + values)
        batch = Batch(torch.arange(actions.numel()), *(part.flatten(0, 1) for part in parts))
        return (seen.flatten(0, 1), legal.flatten(0, 1)), batch


class _Games:
    """Games of the responder against the agent as tensors, always at the responder's turn."""

    def __init__(self, envs: BoardGameVectorEnv, seed: int) -> None:
        self._envs = envs
        self._seen = envs.reset(seed=seed)

    def observe(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the responder's observations and masks."""
        observations, info = self._seen
        return torch.from_numpy(observations.copy()), torch.from_numpy(info["action_mask"]).bool()

    def step(self, actions: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Play; return the rewards and a mask of the games that ended, which are restarted."""
        observations, rewards, terminated, truncated, info = self._envs.step(actions.numpy())
        self._seen = observations, info
        return torch.from_numpy(rewards), torch.from_numpy(terminated | truncated)
