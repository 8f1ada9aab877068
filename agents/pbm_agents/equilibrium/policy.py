"""Policies as arrays: a probability for every legal action of every information set of a public tree."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from pbm_envs.foreign import check_array, read_arrays

from .tree import PublicTree

Array = NDArray[Any]

FORMAT = "pbm_agents.equilibrium.Policy 1"
TOLERANCE = 1e-6
"""By which probabilities may miss a sum of one."""


@final
@dataclass(frozen=True, eq=False)
class Policy:
    """What both players do at each of their information sets."""

    tree: PublicTree
    probabilities: Array
    """(C,) of each choice of the tree: of each legal action of each information set."""

    def __post_init__(self) -> None:
        shape = (self.tree.num_choices,)
        if self.probabilities.shape != shape or self.probabilities.dtype != np.float64:
            raise ValueError(
                f"probabilities are {self.probabilities.dtype} {self.probabilities.shape}: expected float64 {shape}"
            )

    def at(self, information_set: int) -> dict[int, float]:
        """The legal actions there and their probabilities."""
        choices = slice(*self.tree.set_choices[information_set : information_set + 2].tolist())
        return dict(zip(self.tree.choice_actions[choices].tolist(), self.probabilities[choices].tolist(), strict=True))

    def dense(self, first: int = 0, last: int | None = None) -> Array:
        """(information sets `first` to `last`, actions): the probabilities, 0 for what is not legal."""
        tree = self.tree
        last = tree.num_information_sets if last is None else last
        choices = slice(int(tree.set_choices[first]), int(tree.set_choices[last]))
        rows = np.repeat(np.arange(last - first), np.diff(tree.set_choices[first : last + 1]))
        table = np.zeros((last - first, tree.game.num_actions))
        table[rows, tree.choice_actions[choices]] = self.probabilities[choices]
        return table

    @classmethod
    def from_dense(cls, tree: PublicTree, table: Array) -> Policy:
        """The policy of a table (information sets, actions), whose rows are made to sum to one over legal actions.

        Raises:
            ValueError: The shape is another, or a row has no legal action with a positive probability.
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
        """The policy of whatever gives probabilities, such as a network.

        Args:
            tree: Where it plays.
            function: Given observations (B, rows, cols, planes) and masks (B, actions), as `game.observe_with_mask`
                makes them for the players to move, returns (B, actions) probabilities or weights.
            batch: B, at most.
        """
        probabilities = np.empty(tree.num_choices)
        for first, views in tree.views_by_batch(batch):
            masks = tree.game.legal_action_mask(views)
            weights = np.asarray(function(tree.game.observe(views), masks), np.float64)
            if weights.shape != masks.shape:
                raise ValueError(f"function returned shape {weights.shape}: expected {masks.shape}")
            choices = slice(int(tree.set_choices[first]), int(tree.set_choices[first + len(views)]))
            probabilities[choices] = weights[masks]
        return cls(tree, scaled(tree, probabilities))

    def save(self, path: str | Path) -> None:
        """Write the probabilities to a file (.npz), with the digest of the tree."""
        with open(path, "wb") as file:
            np.savez_compressed(file, format=FORMAT, digest=self.tree.digest, probabilities=self.probabilities)

    @classmethod
    def load(cls, tree: PublicTree, path: str | Path) -> Policy:
        """A policy that was saved for the same tree, by the same rules.

        Raises:
            ValueError: It was saved for another tree.
        """
        arrays = read_arrays(path, "a policy", ("format", "digest", "probabilities"))
        if str(arrays["format"]) != FORMAT:
            raise ValueError(f"{str(path)!r} is no policy: expected a file that Policy.save wrote")
        if str(arrays["digest"]) != tree.digest:
            raise ValueError(f"{str(path)!r} was saved for another tree, or other rules, than {tree!r}")
        weights = check_array(arrays["probabilities"], "the probabilities", (tree.num_choices,)).astype(np.float64)
        if not np.allclose(scaled(tree, weights), weights, atol=TOLERANCE):
            raise ValueError(f"{str(path)!r} holds weights that do not sum to one: expected probabilities")
        return cls(tree, weights)


def scaled(tree: PublicTree, weights: Array) -> Array:
    """(C,) `weights` of choices, made to sum to one in each information set."""
    if not (np.isfinite(weights).all() and (weights >= 0).all()):
        raise ValueError("probabilities are negative or not finite")
    sums = np.add.reduceat(weights, tree.set_choices[:-1])
    if not (sums > 0).all():
        at = int(np.argmin(sums))
        raise ValueError(f"information set {at} has no legal action with a positive probability")
    return weights / np.repeat(sums, np.diff(tree.set_choices))
