"""The public tree of a two-player game with public moves and a hidden deal, and policies on it.

    tree = PublicTree.build(Curio(base=2, rows=2, cols=3, no_capture_limit=2))
    tree.num_information_sets                                    # 39446

A *public node* is the common knowledge of both players: the moves, and the information that they have revealed. It
contains the *worlds* (set-ups) that are still possible. A player's *information set* at a node is a set of worlds that
the player cannot tell apart by all of their views (perfect recall). Perfect information is the case of one world.

Only nodes with a player to move are in the tree; where the game ends, a transition leads to a payoff. Arrays are flat
and in breadth-first order:

    nodes -> pairs (of a node and one of its worlds) in the order of the player's information sets -> transitions
    information sets -> choices (their legal actions)

Information set s has the pairs `set_pairs[s]` to `set_pairs[s + 1]` and the choices `set_choices[s]` to
`set_choices[s + 1]`; from its k-th pair, its j-th choice is the transition
`set_transitions[s] + k * (number of choices) + j`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from typing import final

import numpy as np
from numpy.typing import ArrayLike

from pbm_envs import Game
from pbm_envs.authoring import NOBODY, States, copy_states, take_rows
from pbm_envs.foreign import check_array, read_arrays
from pbm_envs.toolbox import Array

from .growth import GIBIBYTE, check_public_moves, check_two_players, grow, set_ups
from .sweeps import Flat, Sweeps
from .tree_file import read_tree, write_tree

FORMAT = "pbm_agents.equilibrium.Policy 1"
TOLERANCE = 1e-6
"""Tolerance for the sum of probabilities in a file."""


@final
@dataclass(frozen=True, eq=False)
class PublicTree:
    """A public tree, as described above. Its arrays are read-only; trees with the same `digest` are equal."""

    game: Game
    starts: States
    """(W,) the set-ups."""
    chances: Array
    """(W,) their probabilities."""
    payoffs: Array
    """The possible returns of `player_0`; those of `player_1` are the negatives."""
    level_sets: Array
    """(L + 1,) the first information set of each depth, and the number of information sets."""
    node_pairs: Array
    """(N + 1,) the first pair of each public node, and the number of pairs."""
    set_player: Array
    """(S,) the player to move."""
    set_pairs: Array
    """(S + 1,) the first pair of each information set, and the number of pairs."""
    set_choices: Array
    """(S + 1,) the first choice of each information set, and the number of choices."""
    set_transitions: Array
    """(S + 1,) the first transition of each information set, and the number of transitions."""
    choice_actions: Array
    """(C,) the actions, in ascending order within an information set."""
    pair_world: Array
    """(P,) the world of each pair."""
    pair_parent: Array
    """(P,) the transition that leads to a pair; -1 at the roots."""
    children: Array
    """(T,) the pair that a transition leads to, or ~k where the game ends with `payoffs[k]`."""

    @classmethod
    def build(
        cls,
        game: Game,
        *,
        worlds: States | None = None,
        chances: ArrayLike | None = None,
        memory: float = 8.0,
        threads: int | None = None,
        progress: bool = False,
    ) -> PublicTree:
        """Build the tree of all public histories from the start to the end of the game.

        Args:
            game: Any two-player zero-sum game with public moves.
            worlds: (W,) initial states instead of every set-up: the worlds that are commonly known to be possible.
            chances: (W,) probabilities of `worlds`, or weights; equal if not given.
            memory: Memory limit in GiB, for the tree and its construction.
            threads: Number of parts of a level expanded in parallel (default: one per processor).
            progress: Show a progress bar (extra `cli`).

        Raises:
            TreeTooLargeError: The tree needs more memory; the message gives the size reached.
            ValueError: The game is not for two players, has hidden moves, or its legal actions reveal more than views.
        """
        check_two_players(game)
        check_public_moves(game)
        starts, weights = set_ups(game) if worlds is None else _check_worlds(game, worlds, chances)
        arrays = grow(game, starts, int(memory * GIBIBYTE), threads, progress)
        return cls(game, starts, weights, **arrays)

    def __post_init__(self) -> None:
        for name, array in self._arrays().items():
            if name != "starts":  # plain and read-only, so that kernels are compiled only once
                plain = np.asarray(array).view()
                plain.flags.writeable = False
                object.__setattr__(self, name, plain)

    @property
    def num_information_sets(self) -> int:
        """The number of information sets of both players together."""
        return len(self.set_player)

    @property
    def num_public_nodes(self) -> int:
        """The number of public nodes with a player to move."""
        return len(self.node_pairs) - 1

    @property
    def num_pairs(self) -> int:
        """The number of pairs of a decision node and a world that is possible there."""
        return len(self.pair_world)

    @property
    def num_choices(self) -> int:
        """The number of legal actions, summed over the information sets."""
        return len(self.choice_actions)

    @property
    def num_transitions(self) -> int:
        """The number of legal actions, summed over the pairs of a node and a world."""
        return len(self.children)

    @property
    def depth(self) -> int:
        """The number of plies of the longest game."""
        return len(self.level_sets) - 1

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays."""
        return sum(array.nbytes for array in self._arrays().values())

    @cached_property
    def digest(self) -> str:
        """A hash of the game's name and options and of all arrays, so of the rules as far as they affect the tree."""
        digest = blake2b(repr(self.game).encode(), digest_size=16)
        for name, array in self._arrays().items():
            if name != "starts":  # the bytes between the fields of records are arbitrary
                digest.update(np.ascontiguousarray(array).data)
        return digest.hexdigest()

    @property
    def num_roots(self) -> int:
        """The number of pairs before the first move, one per set-up."""
        return self._level_pairs(1)

    @cached_property
    def flat(self) -> Flat:
        """The arrays that sweeps use."""
        return Flat(*(getattr(self, name) for name in Flat._fields))

    @cached_property
    def sweeps(self) -> Sweeps:
        """A runner of sweeps over this tree."""
        return Sweeps(self.flat, self.level_sets)

    def uniform_policy(self) -> Policy:
        """Return the policy that plays every legal action with the same probability."""
        return Policy(self, proportional(self, np.zeros(self.num_choices)))

    def sources(self, transitions: ArrayLike) -> tuple[Array, Array, Array]:
        """Return the pairs that transitions leave, their information sets, and the choices."""
        sets = np.searchsorted(self.set_transitions, transitions, side="right") - 1
        sizes = self.set_choices[sets + 1] - self.set_choices[sets]
        pairs, choices = np.divmod(transitions - self.set_transitions[sets], sizes)
        return self.set_pairs[sets] + pairs, sets, self.set_choices[sets] + choices

    def moves(self, information_set: int) -> list[int]:
        """Return the actions that lead from the start to an information set."""
        pair, actions = self.set_pairs[information_set], []
        while self.pair_parent[pair] >= 0:
            pair, _, choice = self.sources(int(self.pair_parent[pair]))
            actions.append(int(self.choice_actions[choice]))
        return actions[::-1]

    def state(self, pair: int) -> States:
        """Return the state (1,) of a pair of a node and a world."""
        state = copy_states(self.starts[self.pair_world[pair]].reshape(1))
        information_set = int(np.searchsorted(self.set_pairs, pair, side="right")) - 1
        for action in self.moves(information_set):
            self.game.step(state, [action])
        return state

    def view(self, information_set: int) -> States:
        """Return the view (1,) of the player to move at an information set."""
        state = self.state(int(self.set_pairs[information_set]))
        return self.game.view(state, int(self.set_player[information_set]))

    def levels(self) -> Iterator[tuple[int, int, States]]:
        """Yield, depth by depth, the first pair, the pair after the last, and the states of these pairs."""
        states = take_rows(self.starts, self.pair_world[: self.num_roots].astype(np.int64))
        for depth in range(self.depth):
            first, last, below = (self._level_pairs(depth + k) for k in range(3))
            yield first, last, states
            if below == last:
                return
            pairs, _, choices = self.sources(self.pair_parent[last:below].astype(np.int64))
            states = take_rows(states, pairs - first)
            self.game.step(states, self.choice_actions[choices].astype(np.int64))

    def views_by_batch(self, batch: int) -> Iterator[tuple[int, slice, States]]:
        """Yield the first information set of each batch, its choices, and the views of the players to move."""
        for depth, (first, _, states) in enumerate(self.levels()):
            low, high = self.level_sets[depth : depth + 2].tolist()
            for start in range(low, high, batch):
                end = min(start + batch, high)
                some = take_rows(states, self.set_pairs[start:end] - first)
                choices = slice(int(self.set_choices[start]), int(self.set_choices[end]))
                yield start, choices, self.game.view(some, self.set_player[start:end])

    def save(self, path: str | Path) -> None:
        """Write the tree to a file that `load` maps into memory."""
        write_tree(path, self.game, self._arrays())

    @classmethod
    def load(cls, path: str | Path, game: Game | None = None) -> PublicTree:
        """Return the tree in a file. The arrays are checked, and stay in the file until they are used.

        Args:
            path: A file that `save` wrote.
            game: The game, if it is not a registered one.
        """
        names = {field.name for field in fields(cls)} - {"game"}
        game, arrays = read_tree(path, game, names)
        return cls(game, **arrays)

    def _arrays(self) -> dict[str, Array]:
        """Return the arrays of a file, in order."""
        names = (field.name for field in fields(self) if field.name != "game")
        arrays: dict[str, Array] = {name: getattr(self, name) for name in names}
        arrays["starts"] = np.atleast_1d(self.starts).view(np.uint8)
        return arrays

    def _level_pairs(self, depth: int) -> int:
        """Return the first pair of a depth, or the number of pairs below the last depth."""
        return int(self.set_pairs[self.level_sets[min(depth, self.depth)]])

    def __repr__(self) -> str:
        return (
            f"PublicTree({self.game!r}: {len(self.starts):,} worlds, {self.num_public_nodes:,} public nodes, "
            f"{self.num_information_sets:,} information sets, {self.depth} plies)"
        )


@final
@dataclass(frozen=True, eq=False)
class Policy:
    """A probability for every legal action of every information set of a public tree, for both players."""

    tree: PublicTree
    probabilities: Array
    """(C,) a probability for each choice of the tree."""

    def __post_init__(self) -> None:
        shape = (self.tree.num_choices,)
        if self.probabilities.shape != shape or self.probabilities.dtype != np.float64:
            raise ValueError(
                f"probabilities are {self.probabilities.dtype} {self.probabilities.shape}: expected float64 {shape}"
            )

    def at(self, information_set: int) -> dict[int, float]:
        """Return the legal actions of an information set and their probabilities."""
        choices = slice(*self.tree.set_choices[information_set : information_set + 2].tolist())
        return dict(zip(self.tree.choice_actions[choices].tolist(), self.probabilities[choices].tolist(), strict=True))

    def dense(self, first: int = 0, last: int | None = None) -> Array:
        """Return the probabilities (`last - first` information sets, actions), 0 for illegal actions."""
        tree = self.tree
        last = tree.num_information_sets if last is None else last
        choices = slice(int(tree.set_choices[first]), int(tree.set_choices[last]))
        rows = np.repeat(np.arange(last - first), np.diff(tree.set_choices[first : last + 1]))
        table = np.zeros((last - first, tree.game.num_actions))
        table[rows, tree.choice_actions[choices]] = self.probabilities[choices]
        return table

    @classmethod
    def from_dense(cls, tree: PublicTree, table: Array) -> Policy:
        """Return the policy of a table (information sets, actions); rows are scaled to sum to one over legal actions.

        Raises:
            ValueError: The shape is wrong, or a row has no legal action with a positive probability.
        """
        table = np.asarray(table, np.float64)
        shape = (tree.num_information_sets, tree.game.num_actions)
        if table.shape != shape:
            raise ValueError(f"table has shape {table.shape}: expected {shape}")
        sizes = np.diff(tree.set_choices)
        rows = np.repeat(np.arange(len(sizes)), sizes)
        return cls(tree, scaled(tree, table[rows, tree.choice_actions]))

    @classmethod
    def from_function(cls, tree: PublicTree, function: Callable[[Array, Array], Array], batch: int = 4096) -> Policy:
        """Return the policy of a function, such as a network.

        Args:
            tree: The public tree of the game.
            function: Maps observations (B, rows, cols, planes) and masks (B, actions), as `game.observe_with_mask`
                returns them for the players to move, to probabilities or weights (B, actions).
            batch: The maximum B.
        """
        probabilities = np.empty(tree.num_choices)
        for _, choices, views in tree.views_by_batch(batch):
            masks = tree.game.legal_action_mask(views)
            weights = np.asarray(function(tree.game.observe(views), masks), np.float64)
            if weights.shape != masks.shape:
                raise ValueError(f"function returned shape {weights.shape}: expected {masks.shape}")
            probabilities[choices] = weights[masks]
        return cls(tree, scaled(tree, probabilities))

    def save(self, path: str | Path) -> None:
        """Write the probabilities to a file (.npz), with the digest of the tree."""
        with open(path, "wb") as file:
            np.savez_compressed(file, format=FORMAT, digest=self.tree.digest, probabilities=self.probabilities)

    @classmethod
    def load(cls, tree: PublicTree, path: str | Path) -> Policy:
        """Return a saved policy; ValueError if it was saved for another tree, or under other rules."""
        arrays = read_arrays(path, "a policy", ("format", "digest", "probabilities"))
        if str(arrays["format"]) != FORMAT:
            raise ValueError(f"{str(path)!r} is not a policy: expected a file that Policy.save wrote")
        if str(arrays["digest"]) != tree.digest:
            raise ValueError(f"{str(path)!r} was saved for another tree, or other rules, than {tree!r}")
        weights = check_array(arrays["probabilities"], "the probabilities", (tree.num_choices,)).astype(np.float64)
        if not np.allclose(scaled(tree, weights), weights, atol=TOLERANCE):
            raise ValueError(f"{str(path)!r} holds weights that do not sum to one: expected probabilities")
        return cls(tree, weights)


def scaled(tree: PublicTree, weights: Array) -> Array:
    """Return the weights (C,), scaled to sum to one in each information set; ValueError if that is impossible."""
    if not (np.isfinite(weights).all() and (weights >= 0).all()):
        raise ValueError("probabilities are negative or not finite")
    sums = np.add.reduceat(weights, tree.set_choices[:-1])
    if not (sums > 0).all():
        at = int(np.argmin(sums))
        raise ValueError(f"information set {at} has no legal action with a positive probability")
    return weights / np.repeat(sums, np.diff(tree.set_choices))


def proportional(tree: PublicTree, weights: Array) -> Array:
    """Return the weights (C,) scaled as by `scaled`, uniform in information sets where all are zero."""
    sizes = np.diff(tree.set_choices)
    sums = np.repeat(np.add.reduceat(weights, tree.set_choices[:-1]), sizes)
    return np.where(sums > 0, weights / np.where(sums > 0, sums, 1.0), np.repeat(1 / sizes, sizes))


def _check_worlds(game: Game, worlds: States, chances: ArrayLike | None) -> tuple[States, Array]:
    if len(worlds) == 0 or (worlds["viewer"] != NOBODY).any():
        raise ValueError("worlds are empty or views: expected full states")
    weights = np.full(len(worlds), 1 / len(worlds)) if chances is None else np.array(chances, np.float64)
    if weights.shape != worlds.shape or (weights < 0).any() or not 0 < weights.sum() < np.inf:
        raise ValueError(f"chances have shape {weights.shape}: expected {worlds.shape}, none negative, not all zero")
    return copy_states(worlds), weights / weights.sum()
