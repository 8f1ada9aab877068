"""Simulations in waves.

A *wave* runs some simulations of each of many positions from the roots to the leaves, evaluates all leaves together,
and backs up their values. Virtual losses make its simulations take different paths. With one simulation per position
and wave this is the sequential algorithm.
"""

from __future__ import annotations

from typing import Any, final

import numpy as np

from pbm_envs import Game
from pbm_envs.authoring import NOBODY, Seeds
from pbm_envs.toolbox import Array, PlayKernels, branch

from .backup import advance, backup, expand, put_priors
from .evaluators import ActionPriors, Evaluator
from .gumbel import GumbelRoots
from .rules import PUCT, Gumbel, Rule
from .settings import SearchSettings
from .tree import EVALUATED, NOT_OPENED, add_roots, copy_subtree, edges_of
from .waves import ENDLESS, NO_WORLDS, Arguments, arguments_of, make_waves, stages
from .workspace import Memory, Simulations

NO_TREES = np.zeros(0, np.int64)


def kernels_of(game: Game, evaluator: Evaluator, rule: Rule, memory: Memory) -> PlayKernels | None:
    """Return the kernels for simulations without Python; None if a part of them is not compiled."""
    play: PlayKernels | None = evaluator.kernels(game) if hasattr(evaluator, "kernels") else None
    if play is not None and play.network is not None:
        if memory.hidden:
            return None
        node_states = memory.tree.states.view(game.dtype).reshape(-1)  # kernels know states of all sizes only as (N,)
        arguments = *play.network.arguments, node_states, memory.accumulators
        return play._replace(network=play.network._replace(arguments=arguments))
    priors: ActionPriors | None = getattr(rule, "priors", None)
    if play is None or priors is None:
        return play
    return play._replace(priors=priors.kernel(game)) if hasattr(priors, "kernel") else None


@final
class Simulator:
    """Searches some positions of one game at once, wave by wave."""

    def __init__(self, game: Game, search: SearchSettings, memory: Memory) -> None:
        """Prepare simulations of this game with these settings in `memory`, which was allocated for them."""
        self.game, self.memory, self.evaluator, self._search = game, memory, search.leaf_evaluator, search
        assert search.selection is not None
        self.rule: Rule = search.selection
        settings = memory.tree.settings
        for name in ("parameter", "rave", "prior_weight", "first_play_reduction", "forced_playouts", "value_weight"):
            settings[name] = getattr(self.rule, name, 0.0)
        settings["solver"] = search.solver and not memory.hidden
        settings["evaluated_nodes"] = self.evaluator.gives_priors
        self.gumbel: GumbelRoots | None = None
        """The candidates at the roots, with Gumbel root selection."""
        self._priors: ActionPriors | None = getattr(self.rule, "priors", None)
        self._select = self.rule.select_kernel(memory.hidden, memory.tree.priors.size > 0)
        self._tables: tuple[Array, ...] = ()
        self._play = kernels_of(game, self.evaluator, self.rule, memory)
        self.stages: Any = None
        self.arguments: Arguments | None = None
        """What `make_waves` calls, with its arguments, after `start`: None if simulations return to Python."""

    def start(self, views: Array, seeds: Seeds, previous: Memory | None = None) -> None:
        """Start new trees for these positions.

        Args:
            views: (G,) the positions as the players to move see them.
            seeds: (G,) the random stream of each tree.
            previous: Trees to start from: their subtrees of these positions are copied.
        """
        game, tree, count = self.game, self.memory.tree, len(views)
        self.views = views
        self.root_masks = game.legal_action_mask(views)
        self.roots = np.zeros(count, game.dtype)
        for name in game.dtype.names or ():  # not the padding between fields: equal states get equal bytes
            self.roots[name] = views[name]
        self.roots["viewer"] = NOBODY
        tree.seeds[:count] = seeds
        add_roots(tree, self.roots.view(np.uint8).reshape(count, -1), self.root_masks)
        if self.evaluator.gives_priors:
            states = game.determinize(views, tree.seeds[:count])
            priors, values = self.evaluator(game, states, self.root_masks, tree.seeds[:count], None)
            tree.priors[:count, 0] = priors
            tree.sums[:count, 0, EVALUATED:] = values[:, None]
        if self._priors is not None:
            tree.priors[:count, 0] = self._priors(game, self.roots)
        if previous is not None:
            self._copy_known(previous)
        if len(self.memory.accumulators):
            network: Any = self.evaluator
            for g, size in enumerate(tree.sizes[:count]):
                states = tree.states[g, :size].view(game.dtype)[:, 0]
                network.accumulate(states, self.memory.accumulators[g, :size])
        if isinstance(self.rule, PUCT) and self.rule.noise:
            self._add_noise(self.rule.noise, self.rule.concentration)
        if isinstance(self.rule, Gumbel):
            self._use_gumbel(self.rule)
        if self._play is not None:
            self.stages = stages(self._select, self._play, self.memory, self._tables)
            self.arguments = arguments_of(self._play, self._tables)

    def _copy_known(self, previous: Memory) -> None:
        """Copy into each tree the subtree of a node of `previous` with the same state, if there is one.

        The tree with the same index is preferred, then the lowest index.
        """
        old, plies = previous.tree, np.unique(self.roots["ply"])
        known: dict[bytes, dict[int, int]] = {}
        for g in range(np.count_nonzero(old.sizes)):
            size = old.sizes[g]
            states = old.states[g, :size].view(self.game.dtype)[:, 0]
            opened = old.nodes["untried"][g, :size] != NOT_OPENED
            for n in np.flatnonzero(opened & np.isin(states["ply"], plies)).tolist():
                known.setdefault(states[n].tobytes(), {})[g] = n
        tree = self.memory.tree
        for g, root in enumerate(self.roots):
            found = known.get(root.tobytes())
            if found:
                other = g if g in found else min(found)
                copy_subtree(old, other, found[other], tree, g, tree.nodes.shape[1] // 2)

    def _add_noise(self, fraction: float, concentration: float) -> None:
        """Mix Dirichlet noise into the priors of the roots (Silver et al. 2017)."""
        tree = self.memory.tree
        for g in range(len(self.views)):
            rng = np.random.default_rng(int(tree.seeds[g]))
            legal = np.flatnonzero(self.root_masks[g])
            legal = legal[legal != self.game.resign_action]
            noise = rng.dirichlet(np.full(len(legal), concentration))
            tree.priors[g, 0, legal] = (1 - fraction) * tree.priors[g, 0, legal] + fraction * noise

    def _use_gumbel(self, rule: Gumbel) -> None:
        """Choose the candidates of sequential halving at the roots, without the resign action."""
        masks, simulations = self.root_masks.copy(), self._search.simulations or 0
        if self.game.resign_action >= 0:
            masks[:, self.game.resign_action] = False
        self.gumbel = GumbelRoots(self.memory.tree, masks, rule.actions, simulations, rule.noise)
        self._tables = tuple(self.gumbel.candidates)

    def simulate(self, trees: Array, waves: int) -> tuple[int, int]:
        """Make waves with one simulation for each entry of `trees`.

        Args:
            trees: (count,) the trees, each at most `parallel_simulations` times.
            waves: The most waves to make. Fewer are made if one proves a root, or if Python is needed between them.

        Returns:
            The number of waves made, and the number of roots proven by the last one.
        """
        if self._play is None:
            if self.memory.hidden:
                branch(self.memory.tree.seeds, trees, self.memory.buffers.seeds)
                self._draw_worlds(trees)
            return 1, self._make_wave(trees)
        made, proven = self._make_waves(trees, waves, drawn=False)
        if proven == NO_WORLDS:
            self._draw_worlds(trees)
            more, proven = self._make_waves(trees, 1, drawn=True)
            made += more
        return made, proven

    def _make_waves(self, trees: Array, waves: int, *, drawn: bool) -> tuple[int, int]:
        assert self.arguments is not None
        given = self.stages, waves, trees, drawn, self.views, self.root_masks, self.arguments
        made, proven = make_waves(*given, *self.memory.buffers, *self.memory.tree)
        if proven == ENDLESS:
            raise ValueError(self.game._why_endless(self.memory.buffers.states[made : made + 1]))
        return made, proven

    def _draw_worlds(self, trees: Array) -> None:
        """Draw the worlds in which the simulations of `trees` begin, with the streams in `Buffers.seeds`."""
        moving, count = self.memory.moving, len(trees)
        moving.states[:count] = self.game.determinize(self.views[trees], self.memory.buffers.seeds[:count])
        moving.masks[:count] = self.root_masks[trees]

    def _make_wave(self, trees: Array) -> int:
        """Make a wave, stage by stage; return the number of roots that it proves."""
        game, tree, moving, buffers = self.game, self.memory.tree, self.memory.moving, self.memory.buffers
        actions, leaf_seeds = buffers.actions, buffers.leaf_seeds
        count, arrived, starting = len(trees), 0, True
        while count:
            arrays = moving.simulations, count, moving.bytes, moving.masks, actions
            here = starting, NO_TREES if arrived else trees, leaf_seeds
            at_leaves = self._select(*arrays, *here, *tree, *self._tables)
            game.step(moving.states[:count], actions[:count])
            if at_leaves and not arrived:  # all are at leaves: none needs to be set aside
                moving.done[:count] = moving.games_done[:count]
                return self._evaluate_and_back_up(moving, count, leaf_seeds[:count])
            starting = False
            going = advance(buffers.simulations, buffers.state_bytes, count, arrived, leaf_seeds, *tree)
            arrived, count = arrived + count - going, going
            if count:
                game.legal_action_mask(moving.states[:count], out=moving.masks[:count])
                if self._priors is not None:  # all are at new nodes
                    priors = self._priors(game, moving.states[:count])
                    put_priors(moving.simulations, count, priors, *tree)
        return self._evaluate_and_back_up(self.memory.leaves, arrived, leaf_seeds[:arrived])

    def _evaluate_and_back_up(self, leaves: Simulations, count: int, seeds: Seeds) -> int:
        game, tree, buffers = self.game, self.memory.tree, self.memory.buffers
        states, masks, last_players = leaves.states[:count], leaves.masks[:count], None
        if self.evaluator.gives_priors:
            game.legal_action_mask(states, out=masks)
        if tree.rave.size:
            last_players = buffers.last_players[:count]
            last_players.fill(NOBODY)
        priors, values = self.evaluator(game, states, masks, seeds, last_players)
        if priors is not None:
            expand(leaves.simulations, count, leaves.bytes, leaves.masks, priors, values, *tree)
        return backup(leaves.simulations, count, values, buffers.last_players, buffers.value, *tree)

    def can_stop(self, trees: Array, left: int | None) -> Array:
        """Return (len(trees),) bool, True where the root is proven or, in `left` more simulations, no other action can
        overtake the most visited one (unless that one is then proven to lose). None for `left` tests proofs only.
        """
        tree = self.memory.tree
        proven = tree.nodes["proven"][trees, 0]
        if left is None:
            return proven
        return proven | (self._leads(trees) > left)

    def simulations_to_stop(self, trees: Array, left: int) -> int:
        """Return how many of the `left` simulations have to be made before any of these trees can stop by its visits.

        With each of them, the lead of the most visited action grows by at most 1.
        """
        return max(0, left - int(self._leads(trees).max())) // 2 + 1

    def _leads(self, trees: Array) -> Array:
        """Return (len(trees),) by how many visits the most visited action of the root leads."""
        visits = np.sort([edges_of(self.memory.tree, g, 0)["visits"] for g in trees], axis=1)
        return visits[:, -1] - visits[:, -2]
