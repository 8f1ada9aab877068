"""An approximate best response by learning: masked PPO against a frozen agent, in games of any size (extra `torch`).

One network learns both seats from games in which the agent plays the other one. What it then wins is a lower bound of
what a best response would.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, final

import numpy as np

from pbm_envs import Game
from pbm_envs.authoring import States, check_range, take_rows

from ..common.progress import progress_bar
from ..learning.network import PolicyValueNetwork
from ..players.agent import Agent
from .policy import Array
from .responses import Play, Responder

try:
    import torch
    from torch.distributions import Categorical
except ImportError:
    raise ImportError("learning needs PyTorch: pip install 'pbm-envs[torch]'") from None


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
    minibatch: int = 1024
    learning_rate: float = 1e-3
    """At the start; it falls to 0."""
    discount: float = 1.0
    trace: float = 0.95
    """Lambda of the generalized advantage estimation."""
    clip: float = 0.2
    entropy: float = 0.02
    """Its weight at the start; it falls to 0."""
    hidden: int = 128
    layers: int = 2

    def prepare(self, rng: np.random.Generator, progress: bool) -> Play:
        """As `Responder.prepare`: the training."""
        network = self.train(rng, progress)
        return lambda seat, count: self._play(network, seat, min(count, 1024), rng)

    def _play(self, network: PolicyValueNetwork, seat: int, count: int, rng: np.random.Generator) -> Array:
        """(count,) the returns of so many games side by side, each of them played to its end."""
        played = _Games(self.game, self.agent, np.full(count, seat), rng)
        returns, over = np.zeros(count), np.zeros(count, bool)
        while not over.all():
            observations, masks = (torch.from_numpy(part) for part in played.observe())
            with torch.no_grad():
                logits, _ = network(observations, masks)
            rewards, ended = played.step(logits.argmax(dim=1).numpy())
            first = ended & ~over
            returns[first] = rewards[first]
            over |= ended
        return returns

    def train(self, rng: np.random.Generator, progress: bool = False) -> PolicyValueNetwork:
        """The network of the responder."""
        for name in ("steps", "envs", "moves", "epochs"):
            check_range(name, getattr(self, name), 1)
        torch.manual_seed(int(rng.integers(2**31)))
        # the agent need not play alike in positions that mirror each other
        network = PolicyValueNetwork(self.game, self.hidden, self.layers, symmetric=False)
        optimizer = torch.optim.Adam(network.parameters(), self.learning_rate, eps=1e-5)
        played = _Games(self.game, self.agent, np.arange(self.envs) % 2, rng)
        updates = max(1, -(-self.steps // (self.envs * self.moves)))
        with progress_bar(progress, total=updates, unit=" updates", unit_scale=True) as bar:
            for update in range(updates):
                left = 1 - update / updates
                optimizer.param_groups[0]["lr"] = self.learning_rate * left
                self._learn(network, optimizer, self._collect(network, played), self.entropy * left)
                bar.update(1)
        return network.eval()

    def _collect(self, network: PolicyValueNetwork, played: _Games) -> _Batch:
        rows: list[tuple[Any, ...]] = []
        with torch.no_grad():
            for _ in range(self.moves):
                observations, masks = (torch.from_numpy(part) for part in played.observe())
                logits, values = network(observations, masks)
                choice = Categorical(logits=logits, validate_args=False)
                actions = choice.sample()
                rewards, ended = (torch.from_numpy(part) for part in played.step(actions.numpy()))
                rows.append((observations, masks, actions, choice.log_prob(actions), values[:, 0], rewards, ended))
            observations, masks = (torch.from_numpy(part) for part in played.observe())
            after = network(observations, masks)[1][:, 0]
        seen, legal, actions, chances, values, rewards, ended = (torch.stack(part) for part in zip(*rows, strict=True))
        advantages, running = torch.zeros_like(values), torch.zeros_like(after)
        for t in reversed(range(self.moves)):
            goes_on = self.discount * ~ended[t]
            following = values[t + 1] if t + 1 < self.moves else after
            running = rewards[t] + goes_on * following - values[t] + goes_on * self.trace * running
            advantages[t] = running
        parts = (seen, legal, actions, chances, advantages, advantages + values)
        return _Batch(*(part.flatten(0, 1) for part in parts))

    def _learn(self, network: PolicyValueNetwork, optimizer: Any, batch: _Batch, entropy: float) -> None:
        for _ in range(self.epochs):
            for rows in torch.randperm(len(batch.actions)).split(self.minibatch):
                logits, values = network(batch.observations[rows], batch.masks[rows])
                choice = Categorical(logits=logits, validate_args=False)
                gains = batch.advantages[rows]
                gains = (gains - gains.mean()) / (gains.std(unbiased=False) + 1e-8)
                ratio = (choice.log_prob(batch.actions[rows]) - batch.chances[rows]).exp()
                clipped = ratio.clamp(1 - self.clip, 1 + self.clip)
                loss = -torch.minimum(ratio * gains, clipped * gains).mean()
                loss = loss + 0.5 * (values[:, 0] - batch.targets[rows]).square().mean()
                loss = loss - entropy * choice.entropy().mean()
                optimizer.zero_grad()
                loss.backward()
                torch.nn.utils.clip_grad_norm_(network.parameters(), 0.5)
                optimizer.step()


class _Batch(NamedTuple):
    """What was played between two updates, move by move."""

    observations: torch.Tensor
    masks: torch.Tensor
    actions: torch.Tensor
    chances: torch.Tensor
    """Logarithms of the actions' probabilities."""
    advantages: torch.Tensor
    targets: torch.Tensor
    """Of the values."""


class _Games:
    """Games of the responder against the agent: always where the responder is to move."""

    def __init__(self, game: Game, agent: Agent, seats: Array, rng: np.random.Generator) -> None:
        self.game, self.agent, self.seats, self.rng = game, agent, seats, rng
        self.states: States = game.init(len(seats), rng)
        self._answer(np.zeros(len(seats)), np.zeros(len(seats), bool))

    def observe(self) -> tuple[Array, Array]:
        """Observations and masks of the responder."""
        return self.game.observe_with_mask(self.states, self.seats)

    def step(self, actions: Array) -> tuple[Array, Array]:
        """Play, let the agent answer, begin anew what has ended: float32 returns, and which games ended."""
        self.game.step(self.states, actions)
        rewards, ended = np.zeros(len(actions)), np.zeros(len(actions), bool)
        self._answer(rewards, ended)
        return rewards.astype(np.float32), ended

    def _answer(self, rewards: Array, ended: Array) -> None:
        """Until the responder is to move everywhere; a game that ends before its first move there counts for nothing
        if another has ended in the same place.
        """
        while True:
            done = np.flatnonzero(self.states["done"])
            if len(done):
                first = done[~ended[done]]
                rewards[first] = self.states["returns"][first, self.seats[first]]
                ended[done] = True
                self.states[done] = self.game.init(len(done), self.rng)
            waiting = np.flatnonzero(self.states["to_move"] != self.seats)
            if not len(waiting):
                return
            some = take_rows(self.states, waiting)
            views = self.game.view(some, 1 - self.seats[waiting])
            self.game.step(some, self.agent.act(self.game, views, self.rng))
            self.states[waiting] = some
