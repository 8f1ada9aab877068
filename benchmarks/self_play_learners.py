"""Learners by self-play whose exploitability is measured: PPO, magnetic mirror descent and R-NaD, in one frame.

One network plays both seats, in batches of whole games; what is learned from a batch is all that differs. Values are
those of the player to move. No target networks, no replay, one process.

* `PPO` (Schulman et al. 2017) with a clipped ratio and a constant weight of the entropy, which decides how exploitable
  it becomes (Rudolph et al. 2026, "Reevaluating policy gradient methods for imperfect-information games").
* `MMD`: magnetic mirror descent (Sokota et al. 2023) with networks: close to the last policy by reverse KL, drawn to
  the uniform one, both weights falling with the square root of the updates.
* `RNaD`: regularized Nash dynamics (Perolat et al. 2022): returns less what the policy's logarithm has gained on that
  of a fixed one, NeuRD on the logits, and from time to time the policy of now becomes the fixed one. Without the
  paper's slowly moving target network.
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from typing import NamedTuple, final

import numpy as np
import torch
from numpy.typing import NDArray
from pbm_agents.learning.network import PolicyValueNetwork
from torch import Tensor

from pbm_envs import Game
from pbm_envs.core.state import take_rows

GAMES = 512
"""Of a batch."""
MINIBATCH = 512
LEARNING_RATE = 2e-3
"""At the start; it falls to 0."""
CLIP, EPOCHS = 0.2, 4
REFRESHES = 8
"""How often R-NaD replaces the policy that it is regularized by, in all."""
LARGEST_ADVANTAGE, LARGEST_LOGIT = 10.0, 3.0
"""Of NeuRD."""


class Batch(NamedTuple):
    """Moves (M,) of whole games, both players'."""

    observations: Tensor
    masks: Tensor
    actions: Tensor
    log_policies: Tensor
    """(M, A) as they were played."""
    values: Tensor
    """As the network guessed them."""
    returns: Tensor
    """Of the player who moved."""
    games: Tensor
    movers: Tensor
    plies: Tensor


class Learner(ABC):
    """A network that learns by self-play."""

    def __init__(self, game: Game, setting: float, moves: int, seed: int) -> None:
        """`setting` is what is tuned; `moves` are those of the whole training, about."""
        torch.manual_seed(seed)
        self.game, self.setting, self.total = game, setting, moves
        self.rng = np.random.default_rng(seed)
        self.network = PolicyValueNetwork(game, hidden=128, layers=2)
        self.moves = self.updates = 0
        """So far."""
        self._optimizer = torch.optim.Adam(self.network.parameters(), LEARNING_RATE, eps=1e-5)

    @abstractmethod
    def learn(self, batch: Batch) -> None:
        """From one batch."""

    def update(self) -> None:
        """Play a batch of games, and learn from it."""
        self._optimizer.param_groups[0]["lr"] = LEARNING_RATE * max(1 - self.moves / self.total, 0.02)
        batch = self.play()
        self.updates += 1
        self.moves += len(batch.actions)
        self.learn(batch)

    def play(self) -> Batch:
        """GAMES games from their start to their end."""
        states, rows = self.game.init(GAMES, self.rng), []
        while (alive := np.flatnonzero(~states["done"])).size:
            some = take_rows(states, alive)
            movers = some["to_move"].astype(np.int64)
            seen, masks = (torch.from_numpy(part) for part in self.game.observe_with_mask(some, movers))
            with torch.no_grad():
                logits, values = self.network(seen, masks)
                logs = logits.log_softmax(dim=1)
                actions = torch.multinomial(logs.exp(), 1)[:, 0]
            self.game.step(some, actions.numpy())
            states[alive] = some
            plies = torch.full_like(actions, len(rows))
            places = (torch.from_numpy(alive), torch.from_numpy(movers), plies)
            rows.append((seen, masks, actions, logs, values[:, 0], *places))
        seen, masks, actions, logs, values, games, movers, plies = (torch.cat(part) for part in zip(*rows, strict=True))
        returns = torch.from_numpy(states["returns"].astype(np.float32))[games, movers]
        return Batch(seen, masks, actions, logs, values, returns, games, movers, plies)

    def _descend(self, loss: Tensor) -> None:
        self._optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.network.parameters(), 0.5)
        self._optimizer.step()

    def policies(self, observations: NDArray[np.uint8], masks: NDArray[np.bool_]) -> NDArray[np.float64]:
        """(B, A) as it plays now."""
        return self.network.priors_and_values(observations, masks)[0].astype(np.float64)


def entropies(logs: Tensor) -> Tensor:
    """(M,) of the logarithms of policies (M, A)."""
    return -(logs.exp() * logs.clamp(min=-100)).sum(dim=1)


@final
class PPO(Learner):
    """`setting`: the weight of the entropy."""

    def learn(self, batch: Batch) -> None:
        for _ in range(EPOCHS):
            for rows in torch.randperm(len(batch.actions)).split(MINIBATCH):
                logits, values = self.network(batch.observations[rows], batch.masks[rows])
                logs, actions = logits.log_softmax(dim=1), batch.actions[rows, None]
                gains = batch.returns[rows] - batch.values[rows]
                gains = (gains - gains.mean()) / (gains.std(unbiased=False) + 1e-8)
                ratio = (logs.gather(1, actions) - batch.log_policies[rows].gather(1, actions))[:, 0].exp()
                loss = -torch.minimum(ratio * gains, ratio.clamp(1 - CLIP, 1 + CLIP) * gains).mean()
                loss = loss + 0.5 * (values[:, 0] - batch.returns[rows]).square().mean()
                self._descend(loss - self.setting * entropies(logs).mean())


@final
class MMD(Learner):
    """`setting`: the temperature at the start."""

    STEP_SIZE = 10.0
    """At the start."""

    def learn(self, batch: Batch) -> None:
        falling = self.updates**-0.5
        for _ in range(EPOCHS):
            for rows in torch.randperm(len(batch.actions)).split(MINIBATCH):
                logits, values = self.network(batch.observations[rows], batch.masks[rows])
                logs, actions = logits.log_softmax(dim=1), batch.actions[rows, None]
                before = batch.log_policies[rows]
                gains = batch.returns[rows] - batch.values[rows]
                ratio = (logs.gather(1, actions) - before.gather(1, actions))[:, 0].exp()
                moved = (logs.exp() * (logs - before)).sum(dim=1)
                loss = -(ratio * gains).mean() + moved.mean() / (self.STEP_SIZE * falling)
                loss = loss + 0.5 * (values[:, 0] - batch.returns[rows]).square().mean()
                self._descend(loss - self.setting * falling * entropies(logs).mean())


@final
class RNaD(Learner):
    """`setting`: the weight of the regularization."""

    def __init__(self, game: Game, setting: float, moves: int, seed: int) -> None:
        super().__init__(game, setting, moves, seed)
        self._fixed, self._refreshed = copy.deepcopy(self.network), 0

    def learn(self, batch: Batch) -> None:
        if self.moves * REFRESHES // self.total > self._refreshed:
            self._fixed, self._refreshed = copy.deepcopy(self.network), self._refreshed + 1
        with torch.no_grad():
            fixed = self._fixed(batch.observations, batch.masks)[0].log_softmax(dim=1)
        costs = self.setting * (batch.log_policies - fixed).masked_fill(~batch.masks, 0.0)
        later, targets = transformed(batch, costs.gather(1, batch.actions[:, None])[:, 0])
        policies = batch.log_policies.exp()
        chosen = torch.zeros_like(policies).scatter_(1, batch.actions[:, None], 1.0)
        worths = batch.values[:, None] + chosen / policies.clamp(min=1e-6) * (later - batch.values)[:, None] - costs
        gains = (worths - (policies * worths).sum(dim=1, keepdim=True)).clamp(-LARGEST_ADVANTAGE, LARGEST_ADVANTAGE)
        for rows in torch.randperm(len(batch.actions)).split(MINIBATCH):
            logits, values = self.network(batch.observations[rows], batch.masks[rows])
            legal = batch.masks[rows]
            kept = logits.masked_fill(~legal, 0.0)
            kept = (kept - kept.sum(dim=1, keepdim=True) / legal.sum(dim=1, keepdim=True)).masked_fill(~legal, 0.0)
            more = gains[rows]
            free = torch.where(more > 0, kept < LARGEST_LOGIT, kept > -LARGEST_LOGIT) & legal
            loss = -(kept * more * free).sum(dim=1).mean()
            self._descend(loss + 0.5 * (values[:, 0] - targets[rows]).square().mean())


def transformed(batch: Batch, costs: Tensor) -> tuple[Tensor, Tensor]:
    """Returns (M,) with what moves cost their player and bring the other: of the moves after each, and of it too."""
    totals = torch.zeros(GAMES, 2)
    totals[batch.games, batch.movers] = batch.returns
    totals[batch.games, 1 - batch.movers] = -batch.returns
    later, with_this = torch.empty_like(costs), torch.empty_like(costs)
    for ply in range(int(batch.plies.max()), -1, -1):
        rows = torch.nonzero(batch.plies == ply)[:, 0]
        games, movers = batch.games[rows], batch.movers[rows]
        later[rows] = totals[games, movers]
        totals[games, movers] -= costs[rows]
        totals[games, 1 - movers] += costs[rows]
        with_this[rows] = totals[games, movers]
    return later, with_this


LEARNERS: dict[str, type[Learner]] = {"PPO": PPO, "MMD": MMD, "R-NaD": RNaD}
