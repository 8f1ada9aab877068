"""Deep learners by self-play on a public tree: PPO, magnetic mirror descent and R-NaD in one loop (extra `torch`).

A thousand games at a time walk down the tree, and a network sees what its player knows: the observation and all moves
so far. So the policy of every information set can be computed, and its exploitability is exact.

    learner = SelfPlay(tree, PPO, moves=1_000_000, seed=0)
    while not learner.finished:
        learner.step()
    exploitability(tree, learner.policy())

The methods differ in their loss and in a reference policy:

* PPO (Schulman et al. 2017): the clipped gain and an entropy bonus.
* MMD, magnetic mirror descent (Sokota et al. 2023): the gain minus the divergences from the last policy and from
  the uniform policy, the magnet, which weakens while the steps get smaller.
* R-NaD, regularized Nash dynamics (Perolat et al. 2022): NeuRD's loss on rewards that are transformed by the divergence
  from a reference policy, which is replaced by the present policy from time to time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple, final

import numpy as np

from pbm_envs.authoring import kernel
from pbm_envs.toolbox import Array

from ..common.pytorch import Tensor, improve, torch
from ..players.agent import draw
from .inputs import FORBIDDEN, Inputs, Learner, Network, adam, play_games
from .tree import Policy, PublicTree


@final
@dataclass(frozen=True)
class Method:
    """A learner's loss and its settings. Returns are divided by their standard deviation in the first games."""

    loss: str
    """"ppo", "mmd" or "rnad"."""
    learning_rate: float = 1e-3
    """Initial learning rate of Adam; it decays to 0."""
    temperature: float = 0.1
    """Weight of the entropy (PPO), of the magnet (MMD), or of the divergence in the rewards (R-NaD)."""
    final: float = 0.1
    """The temperature of PPO and MMD at the end, as a share of the initial one; it falls by equal factors."""
    games: int = 1024
    """Number of games between two updates."""
    epochs: int = 4
    minibatch: int = 4096
    trace: float = 0.95
    """Lambda of generalized advantage estimation."""
    clip: float = 0.2
    """Limit of PPO's ratio."""
    divergence: float = 1.0
    """Initial weight of MMD's divergence from the last policy, the inverse of its step size."""
    settling: float = 10.0
    """The final weight of that divergence, as a multiple of the initial one; it grows by equal factors."""
    references: int = 10
    """Number of reference policies of R-NaD in a run."""
    threshold: float = 2.0
    """Limit of NeuRD's logits."""
    limit: float = 100.0
    """Limit of NeuRD's gains, which are divided by the probabilities of the choices."""
    gradient: float = 1.0
    """Limit of the gradient's norm."""
    hidden: int = 128
    layers: int = 2


PPO = Method("ppo")
MMD = Method("mmd", learning_rate=5e-3, temperature=0.3, final=0.05)
RNAD = Method("rnad", temperature=0.2, epochs=1, trace=0.9)


class Batch(NamedTuple):
    """The moves (N,) between two updates."""

    sets: Tensor
    """Information sets, or what else a network is called with."""
    chosen: Tensor
    log_policy: Tensor
    """(N, most choices) of the player."""
    advantages: Tensor
    targets: Tensor
    """Value targets."""


@kernel
def estimate(players: Array, rewards: Array, values: Array, trace: float, advantages: Array) -> None:
    """Write generalized advantage estimates (Schulman et al. 2016), for each player over its own moves.

    Args:
        players: (plies, games) the player to move, or -1 after the end.
        rewards: (plies, games) the rewards of `player_0`.
        values: (plies, games) the values for the player to move.
        trace: Lambda.
        advantages: (plies, games), changed in place.
    """
    plies, games = players.shape
    for game in range(games):
        earned, following, running = np.zeros(2), np.zeros(2), np.zeros(2)
        for ply in range(plies - 1, -1, -1):
            player = players[ply, game]
            if player >= 0:
                earned[0] += rewards[ply, game]
                earned[1] -= rewards[ply, game]
                gain = earned[player] + following[player] - values[ply, game]
                running[player] = gain + trace * running[player]
                advantages[ply, game] = running[player]
                following[player], earned[player] = values[ply, game], 0.0


@final
class SelfPlay(Learner):
    """A network that learns from games against itself, or against a fixed policy."""

    def __init__(
        self,
        tree: PublicTree | Inputs,
        method: Method,
        moves: int = 1_000_000,
        seed: int = 0,
        opponent: Policy | None = None,
    ) -> None:
        """Make a learner.

        Args:
            tree: The public tree of the game, or its `Inputs`, which learners can share.
            method: The loss and its settings.
            moves: The number of moves to play, those of the opponent included.
            seed: Seed of the network and the games.
            opponent: A fixed policy that has one seat in each game, if given: the network learns a response to it.
        """
        super().__init__(tree, moves, seed)
        if method.loss not in LOSSES:
            raise ValueError(f"loss is {method.loss!r}: expected one of {', '.join(LOSSES)}")
        self.method = method
        self._opponent = None if opponent is None else self.inputs.table(opponent.probabilities).numpy()
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self.network, self.reference = (Network(self.inputs, method.hidden, method.layers) for _ in range(2))
        self.reference.load_state_dict(self.network.state_dict())
        self._references = 0
        self._optimizer = adam(self.network, method.learning_rate)
        self._scale = 0.0

    def policy(self) -> Policy:
        """Return the present policy, the last iterate."""
        return self.inputs.policy(self.network)

    def step(self) -> None:
        """Play games, and learn from them."""
        done = min(self.moves / self.total, 1.0)
        self._optimizer.param_groups[0]["lr"] = self.method.learning_rate * (1 - done)
        temperature = self.method.temperature
        if self.method.loss == "rnad":
            if self.method.references * done >= self._references + 1:
                self._references += 1
                self.reference.load_state_dict(self.network.state_dict())
        else:
            temperature *= self.method.final**done
        method = replace(self.method, divergence=self.method.divergence * self.method.settling**done)
        batch = self._play()
        learn(self.network, self._optimizer, method, temperature, batch, self.torch_rng)

    def _play(self) -> Batch:
        """Play games to their ends, and return the network's moves."""
        tree, method = self.tree, self.method
        found: list[tuple[Tensor, Tensor, Tensor]] = []

        def choose(pairs: Array, sets: Array, games: Array) -> Array:
            rows = torch.from_numpy(sets)
            with torch.no_grad():
                logits, values = self.network(rows)
                logs = logits.log_softmax(dim=1)
                transformed = logs - self.reference(rows)[0].log_softmax(dim=1) if method.loss == "rnad" else logs
            found.append((logs, values, transformed))
            weights = logs.exp().numpy()
            if self._opponent is not None:
                theirs = tree.set_player[sets] != games % 2
                weights[theirs] = self._opponent[sets[theirs]]
            return draw(weights, self.rng)

        games = play_games(self.inputs, method.games, self.rng, choose)
        self.moves += len(games.sets)
        logs, known, transformed = (torch.cat(part) for part in zip(*found, strict=True))
        sets, chosen = torch.from_numpy(games.sets), torch.from_numpy(games.chosen)
        self._scale = self._scale or float(games.rewards.sum(axis=0).std()) or 1.0
        rewards, values, advantages = games.rewards / self._scale, *np.zeros((2, *games.players.shape))
        values.flat[games.places] = known.numpy()
        if method.loss == "rnad":
            ratios = transformed.gather(1, chosen[:, None])[:, 0].numpy()
            rewards.flat[games.places] += method.temperature * (2.0 * tree.set_player[games.sets] - 1) * ratios
        estimate(games.players, rewards, values, method.trace, advantages)
        gains = torch.from_numpy(advantages.flat[games.places].astype(np.float32))
        batch = Batch(sets, chosen, logs, gains, gains + known)
        if self._opponent is None:
            return batch
        ours = torch.from_numpy(tree.set_player[games.sets] == games.places % method.games % 2)
        return Batch(*(array[ours] for array in batch))


def learn(
    network: Callable[[Tensor], tuple[Tensor, Tensor]],
    optimizer: torch.optim.Optimizer,
    method: Method,
    temperature: float,
    batch: Batch,
    generator: torch.Generator | None = None,
) -> None:
    """Learn from a batch in epochs of minibatches, by the method's loss and the squared error of the values.

    Args:
        network: Returns logits (B, most choices) and values (B,) for `batch.sets` (B,).
        optimizer: Has the network's parameters.
        method: The loss and its settings.
        temperature: The present temperature.
        batch: The moves.
        generator: Draws the minibatches.
    """
    for _ in range(method.epochs):
        for rows in torch.randperm(len(batch.sets), generator=generator).split(method.minibatch):
            part = Batch(*(array[rows] for array in batch))
            logits, values = network(part.sets)
            loss = LOSSES[method.loss](method, temperature, logits, part)
            improve(optimizer, loss + 0.5 * (values - part.targets).square().mean(), method.gradient)


def ppo(method: Method, temperature: float, logits: Tensor, batch: Batch) -> Tensor:
    """Return PPO's loss: the clipped gain and the entropy."""
    logs = logits.log_softmax(dim=1)
    ratio, gains = _ratio(logs, batch), batch.advantages
    gains = (gains - gains.mean()) / (gains.std(unbiased=False) + 1e-8)
    clipped = ratio.clamp(1 - method.clip, 1 + method.clip)
    return -torch.minimum(ratio * gains, clipped * gains).mean() + temperature * (logs.exp() * logs).sum(dim=1).mean()


def mmd(method: Method, temperature: float, logits: Tensor, batch: Batch) -> Tensor:
    """Return the loss of magnetic mirror descent, with the uniform policy as the magnet."""
    logs = logits.log_softmax(dim=1)
    policy = logs.exp()
    away = (policy * (logs - batch.log_policy)).sum(dim=1)
    penalty = temperature * (policy * logs).sum(dim=1) + method.divergence * away
    return (penalty - _ratio(logs, batch) * batch.advantages).mean()


def rnad(method: Method, temperature: float, logits: Tensor, batch: Batch) -> Tensor:
    """Return the loss of neural replicator dynamics (NeuRD, Hennes et al. 2020): gains times logits within limits."""
    policy, picks = batch.log_policy.exp(), batch.chosen[:, None]
    legal = logits > FORBIDDEN / 2
    gains = torch.zeros_like(logits).scatter(1, picks, batch.advantages[:, None] / policy.gather(1, picks))
    gains = (gains - batch.advantages[:, None]).clamp(-method.limit, method.limit)
    centred = logits - (logits * legal).sum(dim=1, keepdim=True) / legal.sum(dim=1, keepdim=True)
    free = torch.where(gains > 0, centred < method.threshold, centred > -method.threshold) & legal
    return -(centred * gains * free).sum(dim=1).mean()


LOSSES = {"ppo": ppo, "mmd": mmd, "rnad": rnad}


def _ratio(logs: Tensor, batch: Batch) -> Tensor:
    picks = batch.chosen[:, None]
    return (logs - batch.log_policy).gather(1, picks)[:, 0].exp()
