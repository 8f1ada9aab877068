"""Regret minimization with networks on public trees: Deep CFR and ESCHER (extra `torch`).

An iteration plays with a policy that is proportional to the positive advantages that a network predicts, adds what it
finds to memories, and trains networks on these: the advantages, and the average policy, which is the solution. Memories
forget nothing. The losses are quadratic or linear in their targets, so the entries of an information set are kept as
their sum: only a constant of the loss is lost. Iteration t counts t times.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np

from pbm_envs.authoring import seeds
from pbm_envs.toolbox import Array

from ..common.pytorch import Tensor, improve, nn, torch
from ..players.agent import draw
from .inputs import Inputs, Learner, Network, adam, play_games, torso
from .sampling import sample_externally
from .sweeps import Regrets
from .tree import Policy, PublicTree, proportional


@final
@dataclass(frozen=True)
class RegretMethod:
    """Settings of Deep CFR and ESCHER."""

    iterations: int = 50
    """The number of iterations that share the moves."""
    updates: int = 50
    """Number of minibatches from which each network learns in an iteration."""
    minibatch: int = 512
    learning_rate: float = 3e-3
    """Initial learning rate of Adam; it decays to a tenth."""
    exploration: float = 0.2
    """Probability of a random choice in the games from which ESCHER learns values."""
    hidden: int = 128
    layers: int = 2


class RegretLearner(Learner):
    """The iterations and networks that Deep CFR and ESCHER share."""

    def __init__(
        self,
        tree: PublicTree | Inputs,
        moves: int = 1_000_000,
        seed: int = 0,
        method: RegretMethod = RegretMethod(),
    ) -> None:
        """Take the tree or its `Inputs`, the number of moves to visit, a seed, and the settings."""
        super().__init__(tree, moves, seed)
        self.method, self.iterations = method, 0
        choices, sets = self.tree.num_choices, self.tree.num_information_sets
        self.regrets, self.visits = np.zeros(choices), np.zeros(sets)
        """The weighted sums (C,) of regrets, and (S,) of the weights."""
        self.average = np.zeros(choices)
        """(C,) the weighted sums of policies."""
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self.advantage_network, self.average_network = (
                Network(self.inputs, method.hidden, method.layers) for _ in range(2)
            )
        self._optimizers = [
            adam(network, method.learning_rate) for network in (self.advantage_network, self.average_network)
        ]

    def policy(self) -> Policy:
        """Return the policy of the network that learns the average policy."""
        return self.inputs.policy(self.average_network)

    def step(self) -> None:
        """Run an iteration."""
        self.iterations += 1
        left = 1 - 0.9 * min(self.moves / self.total, 1.0)
        for optimizer in self._optimizers:
            optimizer.param_groups[0]["lr"] = self.method.learning_rate * left
        regrets, visits, average = self.gather(positive(self.inputs, self.inputs.outputs(self.advantage_network)))
        self.regrets += self.iterations * regrets
        self.visits += self.iterations * visits
        self.average += self.iterations * average
        self._learn_advantages()
        self._learn_average()

    @abstractmethod
    def gather(self, advantages: Array) -> tuple[Array, Array, Array]:
        """Return sums of regrets (C,), of visits (S,) and of policies (C,) under the policy of advantages (C,)."""

    def _samples(self, weights: Array) -> Tensor:
        """Return information sets (updates, minibatch), drawn by weights (S,)."""
        shape = (self.method.updates, self.method.minibatch)
        ends = weights.cumsum()
        return torch.from_numpy(np.searchsorted(ends, self.rng.random(shape) * ends[-1], side="right"))

    def _learn_advantages(self) -> None:
        means = self.regrets / np.repeat(np.maximum(self.visits, 1e-9), self.inputs.sizes)
        scale = np.sqrt((means**2 * np.repeat(self.visits, self.inputs.sizes)).sum() / self.visits.sum()) + 1e-9
        targets, legal = self.inputs.table(means / scale), self.inputs.legal
        for rows in self._samples(self.visits):
            errors = (self.advantage_network(rows)[0] - targets[rows]).square() * legal[rows]
            improve(self._optimizers[0], errors.sum(dim=1).mean())

    def _learn_average(self) -> None:
        targets = self.inputs.table(proportional(self.tree, self.average))
        for rows in self._samples(np.add.reduceat(self.average, self.tree.set_choices[:-1])):
            logs = self.average_network(rows)[0].log_softmax(dim=1)
            improve(self._optimizers[1], -(targets[rows] * logs).sum(dim=1).mean())


def positive(inputs: Inputs, advantages: Array) -> Array:
    """Return the positive parts of advantages (C,); where none is positive, 1 for the highest, as Deep CFR does."""
    starts = inputs.tree.set_choices[:-1]
    highest = np.repeat(np.maximum.reduceat(advantages, starts), inputs.sizes)
    return np.where(highest > 0, np.maximum(advantages, 0.0), (advantages == highest).astype(float))


@final
class DeepCFR(RegretLearner):
    """Deep CFR (Brown et al. 2019), by external sampling; one network serves both players, whom it tells apart.

    Networks go on from one iteration to the next.
    """

    def gather(self, advantages: Array) -> tuple[Array, Array, Array]:
        """Run traversals until the iteration's share of moves is used."""
        tree, share = self.tree, self.total / self.method.iterations
        found = Regrets(np.zeros(tree.num_choices), np.zeros(tree.num_choices))
        visits, random = np.zeros(tree.num_information_sets), seeds(self.rng, 1)
        chances = np.asarray(tree.chances[tree.pair_world[: tree.num_roots]], np.float64)
        visited = 0
        while visited < share:
            arguments = (self.inputs.pair_set, chances, found, tree.depth, 16, random, advantages, visits)
            visited += sample_externally(tree.flat, *arguments)
        self.moves += visited
        return found.totals, visits, found.average


@final
class ESCHER(RegretLearner):
    """ESCHER (McAleer et al. 2023): regrets from a network of values, without importance weights.

    The player whose regrets are estimated chooses uniformly, so regrets have weights that no iteration changes. Half of
    an iteration's games train the values, with some exploration, the other half give regrets.
    """

    def __init__(
        self,
        tree: PublicTree | Inputs,
        moves: int = 1_000_000,
        seed: int = 0,
        method: RegretMethod = RegretMethod(),
    ) -> None:
        """Take the arguments of `RegretLearner`."""
        super().__init__(tree, moves, seed, method)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed + 1)
            self.value_network = ValueNetwork(self.inputs, method.hidden, method.layers)
        self._optimizers.append(adam(self.value_network, method.learning_rate))

    def gather(self, advantages: Array) -> tuple[Array, Array, Array]:
        """Play games that train the values, then games that use them."""
        tree, policy = self.tree, proportional(self.tree, advantages)
        tabled, end = self.inputs.table(policy).numpy(), self.moves + self.total / self.method.iterations
        count = max(16, int(self.total / self.method.iterations / tree.depth / 2))
        self._learn_values(tabled, count)
        sums = [np.zeros(size) for size in (tree.num_choices, tree.num_information_sets, tree.num_choices)]
        while self.moves < end:
            for total, part in zip(sums, self.regret_games(tabled, count, self.values), strict=True):
                total += part
        regrets, visits, average = sums
        return regrets, visits, average

    def values(self, pairs: Array) -> Array:
        """Return the estimated values of pairs for `player_0`."""
        with torch.no_grad():
            found: Array = self.value_network(torch.from_numpy(pairs)).numpy().astype(float)
        return found

    def regret_games(self, policy: Array, count: int, values: Callable[[Array], Array]) -> tuple[Array, Array, Array]:
        """Play games in which one player chooses uniformly; return sums of its regrets, visits, and policies.

        Args:
            policy: (S, most choices) the policy.
            count: The number of games.
            values: Returns the values for `player_0` of pairs.
        """
        tree, inputs = self.tree, self.inputs
        legal = inputs.legal.numpy()

        def choose(pairs: Array, sets: Array, at: Array) -> Array:
            uniform = (tree.set_player[sets] == at % 2)[:, None]
            return draw(np.where(uniform, legal[sets], policy[sets]), self.rng)

        games = play_games(inputs, count, self.rng, choose)
        self.moves += len(games.sets)
        ours = tree.set_player[games.sets] == games.places % count % 2
        pairs, sets = games.pairs[ours], games.sets[ours]
        rows, columns = np.nonzero(legal[sets])
        children = inputs.children(pairs[rows], sets[rows], columns)
        found = np.where(children < 0, tree.payoffs[~np.minimum(children, -1)], 0.0)
        inside = children >= 0
        found[inside] = values(children[inside])
        found *= 1.0 - 2.0 * tree.set_player[sets[rows]]
        means = np.bincount(rows, found * policy[sets[rows], columns], minlength=len(sets))
        choices = tree.set_choices[sets[rows]] + columns
        regrets = np.bincount(choices, found - means[rows], minlength=tree.num_choices)
        theirs = games.sets[~ours]
        rows, columns = np.nonzero(legal[theirs])
        choices = tree.set_choices[theirs[rows]] + columns
        average = np.bincount(choices, policy[theirs[rows], columns], minlength=tree.num_choices)
        return regrets, np.bincount(sets, minlength=tree.num_information_sets), average

    def _learn_values(self, policy: Array, count: int) -> None:
        """Play games with some exploration, and learn their returns, weighted for the policy."""
        explore, legal, sizes = self.method.exploration, self.inputs.legal.numpy(), self.inputs.sizes

        def choose(pairs: Array, sets: Array, games: Array) -> Array:
            return draw((1 - explore) * policy[sets] + explore * legal[sets] / sizes[sets, None], self.rng)

        games = play_games(self.inputs, count, self.rng, choose)
        self.moves += len(games.sets)
        chances = policy[games.sets, games.chosen]
        ratios = np.ones(games.players.shape)
        ratios.flat[games.places] = chances / ((1 - explore) * chances + explore / sizes[games.sets])
        below = np.cumprod(np.vstack([ratios[1:], np.ones((1, count))])[::-1], axis=0)[::-1]
        weights = torch.from_numpy((ratios * below).flat[games.places].astype(np.float32))
        returns = torch.from_numpy(games.rewards.sum(axis=0)[games.places % count].astype(np.float32))
        pairs = torch.from_numpy(games.pairs.astype(np.int64))
        for _ in range(self.method.updates):
            rows = torch.randint(len(pairs), (self.method.minibatch,), generator=self.torch_rng)
            errors = self.value_network(pairs[rows]) - returns[rows]
            improve(self._optimizers[2], (weights[rows] * errors.square()).mean())


@final
class ValueNetwork(nn.Module):
    """A network from pairs of a node and a world to the value for `player_0`. It sees what both players saw first."""

    def __init__(self, inputs: Inputs, hidden: int, layers: int) -> None:
        super().__init__()
        self.pair_set = torch.from_numpy(inputs.pair_set)
        self.pair_world = torch.from_numpy(inputs.tree.pair_world.astype(np.int64))
        self.features, self.dealt = inputs.features, inputs.dealt
        self.layers = nn.Sequential(
            *torso(self.features.shape[1] + self.dealt.shape[1], hidden, layers), nn.Linear(hidden, 1)
        )

    def forward(self, pairs: Tensor) -> Tensor:
        """Return the values (B,) of pairs (B,)."""
        seen = torch.cat([self.features[self.pair_set[pairs]], self.dealt[self.pair_world[pairs]]], dim=1)
        found: Tensor = self.layers(seen)[:, 0]
        return found
