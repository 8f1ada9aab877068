"""Waves of simulations with random playouts, one after the other, without returning to Python in between.

The stages of a wave are the kernels that `Simulator` calls where something else evaluates the leaves.
"""

from __future__ import annotations

from typing import Any

from pbm_envs.core.calls import call, call_for_flag, call_for_int, table_of_calls
from pbm_envs.core.kernels import stack_kernel
from pbm_envs.core.randomness import next_bits
from pbm_envs.core.record_rules import PlayKernels
from pbm_envs.core.state import NOBODY
from pbm_envs.core.types import Array, Seeds, States

from .backup import backup
from .expansion import advance, put_priors
from .selection import select
from .tree import Tree
from .workspace import Memory

SELECT, ADVANCE, BACKUP, STEP, MASK, PLAYOUT, PRIORS, PUT, WORLD = range(9)
NO_WORLDS = -1
"""In place of how many roots are proven: worlds have to be drawn by `Game.determinize` first."""


def stages(play: PlayKernels, memory: Memory) -> Any:
    """The kernels of a wave, for `make_waves`. Those that this memory was last used with are kept there."""
    kernels = [None if each is None else each.kernel for each in play]
    if memory.stages is None or memory.stages[0] != kernels:
        memory.stages = kernels, _table(play, memory)
    return memory.stages[1]


def _table(play: PlayKernels, memory: Memory) -> Any:
    m, tree = memory, tuple(memory.tree)
    priors = play.step if play.priors is None else play.priors  # in its place stands what is never called
    given = (m.actions, *play.step.arguments) if play.priors is None else (*priors.arguments, m.priors)
    world = [] if play.world is None else [(play.world.kernel, (m.states, m.seeds, m.good, *play.world.arguments))]
    return table_of_calls(
        (select, (m.simulations, 1, m.bytes, m.masks, m.actions, True, m.actions, m.leaf_seeds, tree)),
        (advance, (m.simulations, m.bytes, 1, 1, m.leaf_seeds, tree)),
        (backup, (m.simulations, 1, m.values, m.last_players, m.value, tree)),
        (play.step.kernel, (m.states, m.actions, *play.step.arguments)),
        (play.mask.kernel, (m.states, m.masks, *play.mask.arguments)),
        (play.playout.kernel, (m.states, m.leaf_seeds, *play.playout.arguments, m.last_players)),
        (priors.kernel, (m.states, *given)),
        (put_priors, (m.simulations, 1, m.priors, tree)),
        *world,
    )


@stack_kernel
def make_waves(
    calls: Any,
    waves: int,
    trees: Array,
    drawn: bool,
    views: States,
    root_masks: Array,
    states: States,
    state_bytes: Array,
    masks: Array,
    simulations: Array,
    actions: Array,
    leaf_seeds: Array,
    last_players: Array,
    values: Array,
    value: Array,
    seeds: Array,
    good: Array,
    priors: Array,
    step_arguments: Any,
    mask_arguments: Any,
    playout_arguments: Any,
    priors_arguments: Any,
    world_arguments: Any,
    *arrays: Array,
) -> tuple[int, int]:
    """Make waves of a simulation for each entry of `trees`.

    Args:
        calls: Of `stages`.
        waves: At most so many are made: fewer if one proves a root.
        trees: (count,) the tree of each simulation.
        drawn: With hidden information: the worlds of the only wave are in `states`, and their masks in `masks`.
        views: (G,) what the players to move know.
        root_masks: (G, A) what is legal there.
        states: (2 R,) those of the simulations: first those under way, from R on those that have come to leaves.
        state_bytes: (2 R, bytes) the same.
        masks: (2 R, A) what is legal there.
        simulations: (2 R,) of SIMULATION.
        actions: (R,) overwritten, as all that follow are.
        leaf_seeds: (R,) random streams of the leaves.
        last_players: (R, A) for RAVE, else (0, A).
        values: (R, P) of the leaves.
        value: (P,) of one of them.
        seeds: (R,) random streams of the worlds.
        good: (R,) whether these have been drawn.
        priors: (R, A) float32 of actions in new nodes, beside RAVE, else (0, A).
        step_arguments: Those of `PlayKernels.step`.
        mask_arguments: Those of `PlayKernels.mask`.
        playout_arguments: Those of `PlayKernels.playout`.
        priors_arguments: Those of `PlayKernels.priors`, if there are priors.
        world_arguments: Those of `PlayKernels.world`, if there is one.
        arrays: Those of a Tree.

    Returns:
        How many waves were made, and how many roots the last one has proven. NO_WORLDS: the worlds that are to be drawn
        with `seeds` have to be drawn from Python, and then one wave be made with them.
    """
    tree, half = Tree(*arrays), len(actions)
    done, hidden = tree.settings[0]["done"], tree.available.size > 0
    made, proven = 0, 0
    while made < waves and proven == 0:
        count, arrived, first, starting = len(trees), 0, half, True
        if hidden and not drawn:
            begin_worlds(tree.seeds, trees, views, root_masks, states, masks, seeds)
            if len(calls) == WORLD:
                return made, NO_WORLDS
            call(calls, WORLD, (states[:count], seeds[:count], good[:count], *world_arguments))
            for r in range(count):
                if not good[r]:
                    return made, NO_WORLDS
        while count > 0:
            here = trees if arrived == 0 else trees[:0]
            given = simulations, count, state_bytes, masks, actions, starting, here, leaf_seeds
            at_leaves = call_for_flag(calls, SELECT, (*given, *arrays))
            call_for_int(calls, STEP, (states[:count], actions[:count], *step_arguments))
            if at_leaves and arrived == 0:  # all at once: none need be set aside
                for r in range(count):
                    simulations[r]["done"] = state_bytes[r, done] != 0
                first, arrived, count = 0, count, 0
            else:
                starting = False
                going = call_for_int(calls, ADVANCE, (simulations, state_bytes, count, arrived, leaf_seeds, *arrays))
                arrived, count = arrived + count - going, going
                if count > 0:
                    call(calls, MASK, (states[:count], masks[:count], *mask_arguments))
                if count > 0 and len(priors) > 0:  # all have come to nodes that are new
                    call(calls, PRIORS, (states[:count], *priors_arguments, priors[:count]))
                    call(calls, PUT, (simulations, count, priors, *arrays))
        for r in range(len(last_players[:arrived])):  # none without RAVE
            for a in range(last_players.shape[1]):
                last_players[r, a] = NOBODY
        leaves = states[first : first + arrived]
        call(calls, PLAYOUT, (leaves, leaf_seeds[:arrived], *playout_arguments, last_players[:arrived]))
        for r in range(arrived):
            for k in range(len(value)):
                values[r, k] = leaves[r]["returns"][k]
        proven = call_for_int(calls, BACKUP, (simulations[first:], arrived, values, last_players, value, *arrays))
        made += 1
    return made, proven


@stack_kernel
def begin_worlds(
    tree_seeds: Seeds, trees: Array, views: States, root_masks: Array, states: States, masks: Array, seeds: Seeds
) -> None:
    """For each of `trees` the view and its legal actions, and a random stream for its world."""
    for r in range(len(trees)):
        g = trees[r]
        seeds[r] = next_bits(tree_seeds, g)
        states[r] = views[g]
        for a in range(root_masks.shape[1]):
            masks[r, a] = root_masks[g, a]
