"""The memory that searches work in, kept from one run to the next."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple, final

import numpy as np

from pbm_envs import Game
from pbm_envs.authoring import Seeds, States
from pbm_envs.toolbox import Array

from .tree import SIMULATION, Layout, allocate_tree


@final
class Simulations:
    """Simulations under way, or at leaves: the node, the state and the legal actions of each."""

    def __init__(self, simulations: Array, states: Array, masks: Array) -> None:
        self.simulations, self.states, self.masks = simulations, states, masks
        self.bytes = states.view(np.uint8).reshape(len(states), states.dtype.itemsize)
        self.done = simulations["done"]
        self.games_done = states["done"]


class Buffers(NamedTuple):
    """The arrays of R simulations at once, in addition to the trees. All are overwritten.

    Kernels take them as separate arguments (see `tree`).
    """

    states: States
    """(2 R,) the states of the simulations: those under way first, those at leaves from R on."""
    state_bytes: Array
    """(2 R, bytes) the same states as bytes."""
    masks: Array
    """(2 R, A) their legal actions."""
    simulations: Array
    """(2 R,) of SIMULATION."""
    actions: Array
    """(R,) int64, the actions that they take."""
    leaf_seeds: Seeds
    """(R,) random streams of the leaves."""
    last_players: Array
    """(R, A) int8 for RAVE, else (0, A): the player of each action in the playout."""
    values: Array
    """(R, P) the values of the leaves."""
    value: Array
    """(P,) the value of one leaf."""
    seeds: Seeds
    """(R,) random streams of the worlds."""
    good: Array
    """(R,) bool, True where a world has been drawn."""
    priors: Array
    """(R, A) float32, the priors of actions in new nodes, if trees have priors, else (0, A)."""


def allocate_buffers(game: Game, count: int, layout: Layout) -> Buffers:
    """Return buffers for `count` simulations at once (R)."""
    states = np.zeros(2 * count, game.dtype)
    return Buffers(
        states=states,
        state_bytes=states.view(np.uint8).reshape(2 * count, game.dtype.itemsize),
        masks=np.zeros((2 * count, game.num_actions), np.bool_),
        simulations=np.zeros(2 * count, SIMULATION),
        actions=np.zeros(count, np.int64),
        leaf_seeds=np.zeros(count, np.uint64),
        last_players=np.zeros((count if layout.rave else 0, game.num_actions), np.int8),
        values=np.zeros((count, game.num_players)),
        value=np.zeros(game.num_players),
        seeds=np.zeros(count, np.uint64),
        good=np.zeros(count, np.bool_),
        priors=np.zeros((count if layout.priors else 0, game.num_actions), np.float32),
    )


@final
class Memory:
    """The memory of one thread of a search: trees, and buffers for their simulations. Allocated once."""

    def __init__(self, game: Game, trees: int, capacity: int, parallel: int, layout: Layout) -> None:
        """Allocate as `allocate_tree` does; `parallel` simulations are under way in each tree."""
        self.hidden = layout.hidden
        kept = trees if layout.accumulators[1] else 0
        self.accumulators = np.empty((kept, capacity + 1, *layout.accumulators), np.float32)
        """The sums of a network's first layer for each node; the last entry is for leaves without a node."""
        self.tree = allocate_tree(game, trees, capacity, layout)
        self.buffers = allocate_buffers(game, trees * parallel, layout)
        self.moving, self.leaves = (
            Simulations(self.buffers.simulations[half], self.buffers.states[half], self.buffers.masks[half])
            for half in (slice(trees * parallel), slice(trees * parallel, None))
        )
        self.stages: tuple[Any, Any] | None = None
        """The kernels of a game, and the table of calls made from them."""

    @property
    def trees(self) -> int:
        """The number of trees that fit."""
        return len(self.tree.nodes)


@final
class Workspace:
    """The memory that searches work in, kept from one `Search.run` to the next.

    Without a workspace, each run allocates its own memory. Pass the same workspace to successive runs to avoid that,
    and for `reuse=True`, which starts from the trees that the last run left here. Memory is kept as long as the same
    `Search` searches the same game; a different search or game replaces it.

    A workspace serves one run at a time: if two threads use it at once, RuntimeError is raised. A pickled or copied
    workspace is empty.

    >>> from pbm_agents import Search, Workspace
    >>> from pbm_envs import Chameleon
    >>> game, rng, workspace = Chameleon(size=3), np.random.default_rng(0), Workspace()
    >>> search, states = Search(simulations=30, reuse=True), game.init(1, rng)
    >>> [first] = search.run(game, states, rng, workspace=workspace)
    >>> [second] = search.run(game, states, rng, workspace=workspace)
    >>> int(first.visits.sum()), int(second.visits.sum())
    (30, 60)
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._made_for: tuple[Any, ...] = ()
        self._newest: dict[int, Memory] = {}
        self._older: dict[int, Memory] = {}
        self._compiled: set[tuple[Any, ...]] = set()

    @contextmanager
    def in_use(self) -> Iterator[None]:
        """Lock the workspace for one run; raise RuntimeError if another run is using it."""
        if not self._lock.acquire(blocking=False):
            raise RuntimeError("this workspace is in use by another search: expected a workspace for each thread")
        try:
            yield
        finally:
            self._lock.release()

    def make_room(self, made_for: tuple[Any, ...]) -> None:
        """Free the memory of other searches; `made_for` identifies the search that uses it from now on."""
        if self._made_for != made_for:
            self._newest.clear()
            self._older.clear()
            self._made_for = made_for

    def newest(self, part: int) -> Memory | None:
        """Return the memory that the last run used for this part of its positions, or None."""
        return self._newest.get(part)

    def spare(self, part: int, trees: int, *, keep: bool) -> Memory | None:
        """Return memory for at least `trees` trees, or None; with `keep`, never the last run's."""
        memory = (self._older if keep else self._newest).get(part)
        return memory if memory is not None and memory.trees >= trees else None

    def put(self, part: int, memory: Memory, *, keep: bool) -> None:
        """Make this the newest memory; with `keep`, the last run's becomes the older one."""
        if keep and part in self._newest:
            self._older[part] = self._newest[part]
        self._newest[part] = memory

    def is_new(self, kind: tuple[Any, ...]) -> bool:
        """Return whether this is the first run of its kind, so that kernels may have to be compiled."""
        new = kind not in self._compiled
        self._compiled.add(kind)
        return new

    def __reduce__(self) -> tuple[Any, ...]:
        return Workspace, ()
