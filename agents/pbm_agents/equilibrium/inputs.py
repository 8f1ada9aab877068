"""What networks see on public trees, and games of policies on them (extra `torch`)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple, final

import numpy as np

from pbm_envs import Game
from pbm_envs.authoring import States, check_range, copy_states
from pbm_envs.toolbox import Array

from ..common.pytorch import Tensor, nn, torch
from .tree import Policy, PublicTree, scaled

FORBIDDEN = -1e9
"""The output for a choice that does not exist."""
ROWS = 1 << 14
"""Number of information sets that a network gets at a time."""


class Inputs:
    """What a network needs for every information set of a tree."""

    def __init__(self, tree: PublicTree) -> None:
        """Encode each information set of a tree as the observation of its player and the moves so far."""
        self.tree = tree
        self.sizes = sizes = np.diff(tree.set_choices)
        """(S,) the number of choices."""
        self.pair_set = np.repeat(np.arange(tree.num_information_sets), np.diff(tree.set_pairs))
        columns = np.arange(int(sizes.max()))
        legal = columns < sizes[:, None]
        choices = np.where(legal, tree.set_choices[:-1, None] + columns, 0)
        self.legal = torch.from_numpy(legal)
        """(S, most choices) which choices there are."""
        self.actions = torch.from_numpy(np.where(legal, tree.choice_actions[choices], 0).astype(np.int64))
        """(S, most choices) their actions."""
        dealt = _dealt(tree)
        self.features = _shares(features(tree, dealt))
        """(S, D) float32 in [0, 1]"""
        self.dealt = _shares(_varying(dealt.reshape(len(dealt), -1)))
        """(W, D) float32 in [0, 1], what both players see at the start of each world."""

    def children(self, pairs: Array, sets: Array, chosen: Array) -> Array:
        """Return the pairs that choices in pairs lead to, or ~k where the game ends with `payoffs[k]`."""
        tree = self.tree
        return tree.children[tree.set_transitions[sets] + (pairs - tree.set_pairs[sets]) * self.sizes[sets] + chosen]

    def outputs(self, network: Network) -> Array:
        """Return a network's outputs for all choices (C,), without gradients."""
        legal = self.legal.numpy()
        found = np.empty(self.tree.num_choices)
        with torch.no_grad():
            for first in range(0, len(legal), ROWS):
                rows = slice(first, min(first + ROWS, len(legal)))
                low, high = self.tree.set_choices[[rows.start, rows.stop]].tolist()
                found[low:high] = network.evaluate(rows)[0].numpy()[legal[rows]]
        return found

    def policy(self, network: Network) -> Policy:
        """Return the policy of a network whose outputs are logits."""
        outputs, starts = self.outputs(network), self.tree.set_choices[:-1]
        weights = np.exp(outputs - np.repeat(np.maximum.reduceat(outputs, starts), self.sizes))
        return Policy(self.tree, scaled(self.tree, weights))

    def greedy(self, network: Network) -> Policy:
        """Return the policy that plays the choices with a network's highest outputs."""
        outputs, starts = self.outputs(network), self.tree.set_choices[:-1]
        highest = np.repeat(np.maximum.reduceat(outputs, starts), self.sizes)
        return Policy(self.tree, scaled(self.tree, (outputs == highest).astype(float)))

    def table(self, numbers: Array) -> Tensor:
        """Return numbers of all choices (C,) as a table (S, most choices), 0 where there is no choice."""
        table = np.zeros(self.legal.shape, np.float32)
        table[self.legal.numpy()] = numbers
        return torch.from_numpy(table)


def features(tree: PublicTree, dealt: Array) -> Array:
    """Return numbers (S, D) for each information set: its player, all moves, what the player saw first and sees now.

    These are the numbers of the observation and of the view. Columns that are equal everywhere are left out.

    Args:
        tree: The public tree.
        dealt: (W, 2, D) what each player sees at the start of each world.
    """
    game, sets = tree.game, tree.num_information_sets
    moves = np.zeros((sets, tree.depth, game.num_actions), np.uint8)
    for depth in range(1, tree.depth):
        low, high = tree.level_sets[depth : depth + 2].tolist()
        _, above, choices = tree.sources(tree.pair_parent[tree.set_pairs[low:high]].astype(np.int64))
        moves[low:high] = moves[above]
        moves[np.arange(low, high), depth - 1, tree.choice_actions[choices]] = 1
    now = np.empty((sets, dealt.shape[2]), np.uint8)
    for first, _, views in tree.views_by_batch(ROWS):
        now[first : first + len(views)] = _numbers(game, views)
    parts = [tree.set_player[:, None].astype(np.uint8), moves.reshape(sets, -1)]
    parts += [dealt[tree.pair_world[tree.set_pairs[:-1]], tree.set_player], now]
    return np.concatenate([_varying(part) for part in parts], axis=1)


def _dealt(tree: PublicTree) -> Array:
    """Return the numbers (W, 2, D) that each player sees at the start of each world."""
    views = [tree.game.view(copy_states(tree.starts), player) for player in range(2)]
    return np.stack([_numbers(tree.game, seen) for seen in views], axis=1)


def _shares(numbers: Array) -> Tensor:
    """Return numbers from 0 (N, D) as shares of the highest number of their column."""
    return torch.from_numpy(numbers) * (1 / torch.from_numpy(numbers.max(axis=0)).float())


def _varying(numbers: Array) -> Array:
    """Return the columns of a table that are not equal everywhere."""
    return numbers[:, (numbers != numbers[0]).any(axis=0)]


def _numbers(game: Game, views: States) -> Array:
    """Return the numbers (B, D) of the observations and of the records, 1 added to the latter, where -1 is nothing."""
    fields = [views[name].reshape(len(views), -1) for name in views.dtype.names or () if name != "returns"]
    parts = [game.observe(views).reshape(len(views), -1), *(part + 1 for part in fields)]
    return np.concatenate(parts, axis=1).astype(np.uint8)


def torso(inputs: int, hidden: int, layers: int) -> nn.Sequential:
    """Return fully connected layers."""
    widths = [inputs, *[hidden] * layers]
    return nn.Sequential(*(part for a, b in pairwise(widths) for part in (nn.Linear(a, b), nn.ReLU())))


@final
class Network(nn.Module):
    """A fully connected network from information sets to logits of their choices and the value for the mover."""

    def __init__(self, inputs: Inputs, hidden: int = 128, layers: int = 2) -> None:
        super().__init__()
        self.inputs = inputs
        self.torso = torso(inputs.features.shape[1], hidden, layers)
        self.head = nn.Linear(hidden, inputs.tree.game.num_actions + 1)
        with torch.no_grad():
            self.head.weight *= 0.01
            self.head.bias.zero_()

    def forward(self, sets: Tensor) -> tuple[Tensor, Tensor]:
        """Return logits (B, most choices) and values (B,) of information sets (B,)."""
        different, rows = sets.unique(return_inverse=True)  # games share their first moves, so this saves time
        logits, values = self.evaluate(different)
        return logits.index_select(0, rows), values.index_select(0, rows)

    def evaluate(self, sets: Tensor | slice) -> tuple[Tensor, Tensor]:
        """Return what `forward` does, of information sets that are all different."""
        numbers = self.head(self.torso(self.inputs.features[sets]))
        logits = numbers[:, 1:].gather(1, self.inputs.actions[sets])
        return logits.masked_fill(~self.inputs.legal[sets], FORBIDDEN), numbers[:, 0]


class Games(NamedTuple):
    """Games that were played to their ends: their moves (N,), ply by ply, and what happened at each ply."""

    pairs: Array
    sets: Array
    chosen: Array
    """Index of the choice in its information set."""
    places: Array
    """Index of the move in the arrays below, if these are flat."""
    players: Array
    """(plies, games) the player to move, or -1 after the end."""
    rewards: Array
    """(plies, games) the rewards of `player_0`."""


def play_games(
    inputs: Inputs, count: int, rng: np.random.Generator, choose: Callable[[Array, Array, Array], Array]
) -> Games:
    """Play games at the same time.

    Args:
        inputs: What networks see on the tree.
        count: The number of games.
        rng: Draws the set-ups.
        choose: Called at each ply with the pairs, the information sets and the indices of the games that go on; returns
            the index of the choice in each.
    """
    tree, shape = inputs.tree, (inputs.tree.depth, count)
    players, rewards = np.full(shape, -1), np.zeros(shape)
    rows: list[tuple[Array, ...]] = []
    pairs = rng.choice(tree.num_roots, count, p=tree.chances[tree.pair_world[: tree.num_roots]])
    games = np.arange(count)
    for ply in range(tree.depth):
        if not len(pairs):
            break
        sets = inputs.pair_set[pairs]
        chosen = choose(pairs, sets, games)
        players[ply, games] = tree.set_player[sets]
        rows.append((pairs, sets, chosen, ply * count + games))
        children = inputs.children(pairs, sets, chosen)
        over = children < 0
        rewards[ply, games[over]] = tree.payoffs[~children[over]]
        pairs, games = children[~over], games[~over]
    pairs, sets, picks, places = (np.concatenate(part) for part in zip(*rows, strict=True))
    return Games(pairs, sets, picks, places, players, rewards)


def adam(network: nn.Module, learning_rate: float) -> torch.optim.Adam:
    """Return an optimizer for a network."""
    return torch.optim.Adam(network.parameters(), learning_rate, eps=1e-5, fused=True)


class Learner(ABC):
    """A learner on a public tree that plays a given number of moves."""

    def __init__(self, tree: PublicTree | Inputs, moves: int = 1_000_000, seed: int = 0) -> None:
        """Take the public tree of the game, or its `Inputs`, which learners can share, and the number of moves."""
        check_range("moves", moves, 1)
        self.inputs = tree if isinstance(tree, Inputs) else Inputs(tree)
        self.tree, self.total = self.inputs.tree, moves
        self.moves = 0
        """The number of moves so far."""
        self.rng = np.random.default_rng(seed)
        self.torch_rng = torch.Generator().manual_seed(seed)

    @property
    def finished(self) -> bool:
        """Whether all moves have been played."""
        return self.moves >= self.total

    @abstractmethod
    def step(self) -> None:
        """Play games, and learn from them."""

    @abstractmethod
    def policy(self) -> Policy:
        """Return the present solution."""
