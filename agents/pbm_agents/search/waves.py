"""Waves of simulations that run one after the other without Python, with playouts or a small network.

The stages of a wave are the kernels that `Simulator` calls from Python for other evaluators.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

from pbm_envs.authoring import NOBODY, Seeds, States, next_bits
from pbm_envs.toolbox import Array, PlayKernels, call, call_for_flag, call_for_int, stack_kernel, table_of_calls

from .backup import advance, backup, put_priors
from .tree import Tree
from .workspace import Buffers, Memory

BUFFERS = len(Buffers._fields)
SELECT, ADVANCE, BACKUP, STEP, MASK, PLAYOUT, PRIORS, PUT, NETWORK, WORLD = range(10)
Calls: TypeAlias = Any
"""A table of calls, as an array of addresses: see `pbm_envs.toolbox.table_of_calls`."""
NO_WORLDS, ENDLESS = -1, -2
"""Returned instead of the number of proven roots: `Game.determinize` has to draw the worlds first; a playout has not
ended the game."""


class Arguments(NamedTuple):
    """The arguments of each kernel of `PlayKernels` in addition to the batches; () for a missing kernel."""

    step: Any
    mask: Any
    playout: Any
    priors: Any
    world: Any
    network: Any
    rule: Any
    """The tables of the selection rule."""


def arguments_of(play: PlayKernels, tables: tuple[Array, ...]) -> Arguments:
    """Return the arguments of these kernels, and the tables of the selection rule, for `make_waves`."""
    kernels = play.step, play.mask, play.playout, play.priors, play.world, play.network
    return Arguments._make([*(() if each is None else each.arguments for each in kernels), tables])


def stages(select: Callable[..., bool], play: PlayKernels, memory: Memory, tables: tuple[Array, ...]) -> Any:
    """Return the kernels of a wave, for `make_waves`. The memory keeps those of its last use."""
    kernels = [select, *(None if each is None else each.kernel for each in play)]
    if memory.stages is None or memory.stages[0] != kernels:
        memory.stages = kernels, _table(select, play, memory, tables)
    return memory.stages[1]


def _table(select: Callable[..., bool], play: PlayKernels, memory: Memory, tables: tuple[Array, ...]) -> Any:
    """Return the table of calls: each row has a kernel, and example arguments of the types that `make_waves` passes.

    A kernel called by address has no argument names: arguments are in the order of its parameters, both here, as
    examples, and in the calls. Thus `make_waves` is not compiled again for each game and rule. Another order or type
    raises TypeError in the call, since the types are part of the table. The rows are in the order of SELECT, ADVANCE
    and so on; a missing kernel is replaced by one that is never called.
    """
    b, tree = memory.buffers, tuple(memory.tree)
    step = play.step.kernel, (b.states, b.actions, *play.step.arguments)
    leaves = b.simulations, 1, b.states, b.state_bytes, b.masks, b.values
    priors, network, world = play.priors, play.network, play.world
    return table_of_calls(
        (
            select,
            (b.simulations, 1, b.state_bytes, b.masks, b.actions, True, b.actions, b.leaf_seeds, (*tree, *tables)),
        ),
        (advance, (b.simulations, b.state_bytes, 1, 1, b.leaf_seeds, tree)),
        (backup, (b.simulations, 1, b.values, b.last_players, b.value, tree)),
        step,
        (play.mask.kernel, (b.states, b.masks, *play.mask.arguments)),
        (play.playout.kernel, (b.states, b.leaf_seeds, *play.playout.arguments, b.last_players)),
        step if priors is None else (priors.kernel, (b.states, *priors.arguments, b.priors)),
        (put_priors, (b.simulations, 1, b.priors, tree)),
        step if network is None else (network.kernel, (*leaves, *network.arguments, tree)),
        *([] if world is None else [(world.kernel, (b.states, b.seeds, b.good, *world.arguments))]),
    )


@stack_kernel
def make_waves(
    calls: Calls,
    waves: int,
    trees: Array,
    drawn: bool,
    views: States,
    root_masks: Array,
    arguments: Arguments,
    *arrays: Array,
) -> tuple[int, int]:
    """Make up to `waves` waves with one simulation for each entry of `trees`; stop if one proves a root.

    Args:
        calls: The table from `stages`.
        waves: The most waves to make.
        trees: (count,) the trees.
        drawn: With hidden information, True if the worlds of the only wave are in `Buffers.states` and their masks in
            `Buffers.masks`.
        views: (G,) the positions as the players to move see them.
        root_masks: (G, A) the legal actions there.
        arguments: The result of `arguments_of`.
        arrays: The arrays of Buffers, then those of a Tree.

    Returns:
        The number of waves made, and the number of roots that the last one has proven, or NO_WORLDS if determinization
        needs Python: draw worlds with `Buffers.seeds`, then call again with `drawn=True`. If a playout has not ended a
        game, the row of that game in `Buffers.states`, and ENDLESS; the trees cannot be used any more.
    """
    buffers, in_tree = Buffers(*arrays[:BUFFERS]), arrays[BUFFERS:]
    states, state_bytes, masks, simulations = buffers.states, buffers.state_bytes, buffers.masks, buffers.simulations
    actions, leaf_seeds, last_players = buffers.actions, buffers.leaf_seeds, buffers.last_players
    values, value, priors = buffers.values, buffers.value, buffers.priors
    tree, half = Tree(*in_tree), len(actions)
    done, hidden = tree.settings[0]["done"], tree.available.size > 0
    evaluated = tree.settings[0]["evaluated_nodes"]
    made, proven = 0, 0
    while made < waves and proven == 0:
        count, arrived, first, starting = len(trees), 0, half, True
        if hidden and not drawn:
            begin_worlds(tree.seeds, trees, views, root_masks, buffers)
            if len(calls) == WORLD:
                return made, NO_WORLDS
            call(calls, WORLD, (states[:count], buffers.seeds[:count], buffers.good[:count], *arguments.world))
            for r in range(count):
                if not buffers.good[r]:
                    return made, NO_WORLDS
        while count > 0:
            here = trees if arrived == 0 else trees[:0]
            given = simulations, count, state_bytes, masks, actions, starting, here, leaf_seeds
            at_leaves = call_for_flag(calls, SELECT, (*given, *in_tree, *arguments.rule))
            call_for_int(calls, STEP, (states[:count], actions[:count], *arguments.step))
            if at_leaves and arrived == 0:  # all are at leaves: none needs to be set aside
                for r in range(count):
                    simulations[r]["done"] = state_bytes[r, done] != 0
                first, arrived, count = 0, count, 0
            else:
                starting = False
                going = call_for_int(calls, ADVANCE, (simulations, state_bytes, count, arrived, leaf_seeds, *in_tree))
                arrived, count = arrived + count - going, going
                if count > 0:
                    call(calls, MASK, (states[:count], masks[:count], *arguments.mask))
                if count > 0 and len(priors) > 0 and not evaluated:  # all are at new nodes
                    call(calls, PRIORS, (states[:count], *arguments.priors, priors[:count]))
                    call(calls, PUT, (simulations, count, priors, *in_tree))
        leaves = states[first : first + arrived]
        if evaluated:
            call(calls, MASK, (leaves, masks[first : first + arrived], *arguments.mask))
            its = simulations[first:], arrived, leaves, state_bytes[first:], masks[first:], values
            call(calls, NETWORK, (*its, *arguments.network, *in_tree))
        else:
            for r in range(len(last_players[:arrived])):  # empty without RAVE
                for a in range(last_players.shape[1]):
                    last_players[r, a] = NOBODY
            call(calls, PLAYOUT, (leaves, leaf_seeds[:arrived], *arguments.playout, last_players[:arrived]))
            for r in range(arrived):
                if not leaves[r]["done"]:
                    return first + r, ENDLESS
                for k in range(len(value)):
                    values[r, k] = leaves[r]["returns"][k]
        proven = call_for_int(calls, BACKUP, (simulations[first:], arrived, values, last_players, value, *in_tree))
        made += 1
    return made, proven


@stack_kernel
def begin_worlds(tree_seeds: Seeds, trees: Array, views: States, root_masks: Array, buffers: Buffers) -> None:
    """Write the view, its legal actions, and a random stream for the world of each of `trees`."""
    states, masks = buffers.states, buffers.masks
    for r in range(len(trees)):
        g = trees[r]
        buffers.seeds[r] = next_bits(tree_seeds, g)
        states[r] = views[g]
        for a in range(root_masks.shape[1]):
            masks[r, a] = root_masks[g, a]
