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
  the uniform policy, the magnet, which weakens.
* R-NaD, regularized Nash dynamics (Perolat et al. 2022): NeuRD's loss on rewards that are transformed by the divergence
  from a reference policy, which is replaced by the present policy from time to time.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple, final

import numpy as np

from pbm_envs import Game
from pbm_envs.authoring import States, check_range, copy_states, kernel
from pbm_envs.toolbox import Array, install_command

from .tree import Policy, PublicTree, scaled

try:
    import torch
    from torch import Tensor, nn
except ImportError:
    raise ImportError(f"learning needs PyTorch: {install_command('torch')}") from None

FORBIDDEN = -1e9
"""The logit of a choice that does not exist."""
ROWS = 1 << 14
"""Number of information sets that a network gets at a time."""


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
    """The temperature of PPO and MMD at the end, as a share of the initial one."""
    games: int = 1024
    """Number of games between two updates."""
    epochs: int = 4
    minibatch: int = 1024
    trace: float = 0.95
    """Lambda of generalized advantage estimation."""
    clip: float = 0.2
    """Limit of PPO's ratio."""
    divergence: float = 5.0
    """Weight of MMD's divergence from the last policy."""
    references: int = 10
    """Number of reference policies of R-NaD in a run."""
    threshold: float = 2.0
    """Limit of NeuRD's logits."""
    limit: float = 100.0
    """Limit of NeuRD's gains, which are divided by the probabilities of the choices."""
    hidden: int = 128
    layers: int = 2


PPO = Method("ppo")
MMD = Method("mmd", temperature=0.3)
RNAD = Method("rnad", temperature=0.2, epochs=1, trace=0.9)


class Inputs:
    """What a network needs for every information set of a tree."""

    def __init__(self, tree: PublicTree) -> None:
        """Encode each information set of a tree as the observation of its player and the moves so far."""
        self.tree = tree
        sizes = np.diff(tree.set_choices)
        self.pair_set = np.repeat(np.arange(tree.num_information_sets), np.diff(tree.set_pairs))
        columns = np.arange(int(sizes.max()))
        legal = columns < sizes[:, None]
        choices = np.where(legal, tree.set_choices[:-1, None] + columns, 0)
        self.legal = torch.from_numpy(legal)
        """(S, most choices) which choices there are."""
        self.actions = torch.from_numpy(np.where(legal, tree.choice_actions[choices], 0).astype(np.int64))
        """(S, most choices) their actions."""
        self.features = torch.from_numpy(features(tree))
        """(S, D) uint8"""

    def network(self, method: Method) -> Network:
        """Return a new network."""
        return Network(self, method.hidden, method.layers)

    def policy(self, network: Network) -> Policy:
        """Return a network's policy."""
        legal = self.legal.numpy()
        weights = np.empty(self.tree.num_choices)
        with torch.no_grad():
            for first in range(0, len(legal), ROWS):
                rows = torch.arange(first, min(first + ROWS, len(legal)))
                low, high = self.tree.set_choices[[first, int(rows[-1]) + 1]].tolist()
                weights[low:high] = network(rows)[0].softmax(dim=1).numpy()[legal[first : first + ROWS]]
        return Policy(self.tree, scaled(self.tree, weights))


def features(tree: PublicTree) -> Array:
    """Return numbers (S, D) for each information set: its player, all moves, what the player saw first and sees now.

    These are the numbers of the observation and of the view. Columns that are equal everywhere are left out.
    """
    game, sets = tree.game, tree.num_information_sets
    moves = np.zeros((sets, tree.depth, game.num_actions), np.uint8)
    for depth in range(1, tree.depth):
        low, high = tree.level_sets[depth : depth + 2].tolist()
        _, above, choices = tree.sources(tree.pair_parent[tree.set_pairs[low:high]].astype(np.int64))
        moves[low:high] = moves[above]
        moves[np.arange(low, high), depth - 1, tree.choice_actions[choices]] = 1
    dealt = np.stack([_numbers(game, game.view(copy_states(tree.starts), player)) for player in range(2)], axis=1)
    now = np.empty((sets, dealt.shape[2]), np.uint8)
    for first, _, views in tree.views_by_batch(ROWS):
        now[first : first + len(views)] = _numbers(game, views)
    parts = [tree.set_player[:, None].astype(np.uint8), moves.reshape(sets, -1)]
    parts += [dealt[tree.pair_world[tree.set_pairs[:-1]], tree.set_player], now]
    return np.concatenate([part[:, (part != part[0]).any(axis=0)] for part in parts], axis=1)


def _numbers(game: Game, views: States) -> Array:
    """Return the numbers (B, D) of the observations and of the records, 1 added to the latter, where -1 is nothing."""
    fields = [views[name].reshape(len(views), -1) for name in views.dtype.names or () if name != "returns"]
    parts = [game.observe(views).reshape(len(views), -1), *(part + 1 for part in fields)]
    return np.concatenate(parts, axis=1).astype(np.uint8)


@final
class Network(nn.Module):
    """A fully connected network from information sets to logits of their choices and the value for the mover."""

    def __init__(self, inputs: Inputs, hidden: int, layers: int) -> None:
        super().__init__()
        self.inputs = inputs
        widths = [inputs.features.shape[1], *[hidden] * layers]
        self.torso = nn.Sequential(*(part for a, b in pairwise(widths) for part in (nn.Linear(a, b), nn.ReLU())))
        self.register_buffer("scale", 1 / inputs.features.amax(dim=0).float())
        self.head = nn.Linear(widths[-1], inputs.tree.game.num_actions + 1)
        with torch.no_grad():
            self.head.weight *= 0.01
            self.head.bias.zero_()

    def forward(self, sets: Tensor) -> tuple[Tensor, Tensor]:
        """Return logits (B, most choices) and values (B,) of information sets (B,)."""
        numbers = self.head(self.torso(self.inputs.features[sets] * self.scale))
        logits = numbers[:, 1:].gather(1, self.inputs.actions[sets])
        return logits.masked_fill(~self.inputs.legal[sets], FORBIDDEN), numbers[:, 0]


class Batch(NamedTuple):
    """The moves (N,) between two updates."""

    sets: Tensor
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
class SelfPlay:
    """A network that learns from games against itself."""

    def __init__(self, tree: PublicTree | Inputs, method: Method, moves: int = 1_000_000, seed: int = 0) -> None:
        """Make a learner.

        Args:
            tree: The public tree of the game, or its `Inputs`, which learners can share.
            method: The loss and its settings.
            moves: The number of moves to learn from.
            seed: Seed of the network and the games.
        """
        check_range("moves", moves, 1)
        if method.loss not in LOSSES:
            raise ValueError(f"loss is {method.loss!r}: expected one of {', '.join(LOSSES)}")
        self.inputs = tree if isinstance(tree, Inputs) else Inputs(tree)
        self.tree, self.method, self.total = self.inputs.tree, method, moves
        self.moves = 0
        """The number of moves so far."""
        self._rng = np.random.default_rng(seed)
        self._torch = torch.Generator().manual_seed(seed)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self.network, self.reference = (self.inputs.network(method) for _ in range(2))
        self.reference.load_state_dict(self.network.state_dict())
        self._references = 0
        self._optimizer = torch.optim.Adam(self.network.parameters(), method.learning_rate, eps=1e-5)
        self._scale = 0.0

    @property
    def finished(self) -> bool:
        """Whether all moves have been played."""
        return self.moves >= self.total

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
            temperature *= 1 + (self.method.final - 1) * done
        batch = self._play()
        self.moves += len(batch.sets)
        for _ in range(self.method.epochs):
            for rows in torch.randperm(len(batch.sets), generator=self._torch).split(self.method.minibatch):
                part = Batch(*(array[rows] for array in batch))
                logits, values = self.network(part.sets)
                loss = LOSSES[self.method.loss](self.method, temperature, logits, part)
                loss = loss + 0.5 * (values - part.targets).square().mean()
                self._optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(self.network.parameters(), 1.0)
                self._optimizer.step()

    def _play(self) -> Batch:
        """Play games to their ends, and return the moves."""
        tree, method, shape = self.tree, self.method, (self.tree.depth, self.method.games)
        players, rewards, values = np.full(shape, -1), np.zeros(shape), np.zeros(shape)
        rows: list[tuple[Any, ...]] = []
        roots = tree.chances[tree.pair_world[: tree.num_roots]]
        pairs, games = self._rng.choice(tree.num_roots, method.games, p=roots), np.arange(method.games)
        for ply in range(tree.depth):
            if not len(pairs):
                break
            sets = self.inputs.pair_set[pairs]
            with torch.no_grad():
                chosen = torch.from_numpy(sets)
                logits, found = self.network(chosen)
                logs = logits.log_softmax(dim=1)
                picks = logs.exp().multinomial(1, generator=self._torch)
                if method.loss == "rnad":
                    references = self.reference(chosen)[0].log_softmax(dim=1)
                    ratios = (logs - references).gather(1, picks)[:, 0].numpy()
            players[ply, games], values[ply, games] = tree.set_player[sets], found.numpy()
            rows.append((chosen, picks[:, 0], logs, torch.from_numpy(ply * method.games + games)))
            sizes = tree.set_choices[sets + 1] - tree.set_choices[sets]
            children = tree.children[
                tree.set_transitions[sets] + (pairs - tree.set_pairs[sets]) * sizes + picks[:, 0].numpy()
            ]
            over = children < 0
            rewards[ply, games[over]] = tree.payoffs[~children[over]]
            pairs, games = children[~over], games[~over]
            if method.loss == "rnad":
                ratios *= method.temperature * (2.0 * tree.set_player[sets] - 1)
                rows[-1] += (ratios,)
        self._scale = self._scale or float(rewards.sum(axis=0).std()) or 1.0
        rewards /= self._scale
        if method.loss == "rnad":
            for row in rows:
                rewards.reshape(-1)[row[3].numpy()] += row[4]
        advantages = np.zeros(shape)
        estimate(players, rewards, values, method.trace, advantages)
        sets, chosen, logs, places = (torch.cat([row[k] for row in rows]) for k in range(4))
        gains, known = (
            torch.from_numpy(array.astype(np.float32).reshape(-1))[places] for array in (advantages, values)
        )
        return Batch(sets, chosen, logs, gains, gains + known)


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
