"""Batch kernels made from a game's kernels over one record: the loops that every game would otherwise repeat."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, final

import numpy as np

from .kernels import kernel
from .randomness import draw
from .state import NOBODY, Ints, Mask, Planes, Seeds, States, Tables, begin_ply, shows_mask, win


class BatchKernel(NamedTuple):
    """A kernel over batches, and the arguments that a game passes to it besides the batches."""

    kernel: Callable[..., Any]
    arguments: tuple[Any, ...]


class PlayKernels(NamedTuple):
    """The kernels of a game, for kernels that play it without returning to Python."""

    step: BatchKernel
    """Called as `kernel(states, actions, *arguments)`, as `GameHooks._step` is."""
    mask: BatchKernel
    """Called as `kernel(states, out, *arguments)`, as `GameHooks._legal_action_mask` is."""
    playout: BatchKernel
    """Called as `kernel(states, seeds, *arguments, last_player_by_action)`, as `GameHooks._playout` is. Another
    evaluator can take its place, end the games (`done`) and write its values to `returns`."""
    world: BatchKernel | None = None
    """Called as `kernel(worlds, seeds, good, *arguments)`: replaces views by the full states that
    `GameHooks._determinize` finds with these seeds, which are not advanced, if one of its first
    attempts succeeds; `good` (B,) bool marks these rows. None: `_determinize` is called."""
    priors: BatchKernel | None = None
    """Called as `kernel(states, *arguments, out)`: writes priors (B, A) float32 of actions, used with playouts."""
    network: BatchKernel | None = None
    """Evaluates leaves instead of playouts: see `pbm_agents.learning.small_network`."""


class NetworkInputs(NamedTuple):
    """The inputs of a small network: numbers 0 or 1, few of which change with a move; 0 for a record of zeros.

    A state has a set of inputs for each *perspective*, such as that of either player; the mover's are evaluated.
    """

    size: int
    """The number of inputs of a perspective (I)."""
    changed: Callable[..., int]
    """A kernel `changed(before, after, perspective, tables, out)` that writes to `out` i for each input that has become
    1, ~i for each that has become 0, and returns their number."""
    perspective: Callable[..., int]
    """A kernel `perspective(state)` that returns the perspective of the player to move."""
    actions: Ints
    """(perspectives, A) the index of the network's output for each action."""
    tables: Tables
    """The arrays passed to `changed`."""
    sources: Ints
    """(perspectives, I) the index of each input in the flattened observation of the player to move."""
    perspective_sources: Ints
    """(perspectives,) the index there of a number that is 1 in this perspective and 0 in the others."""


@final
class RecordRules:
    """The rules of a game as kernels over one record, compiled into loops over batches.

    A game with `rules = RecordRules(...)` need not implement `_step`, `_legal_action_mask`, `_playout` and `_observe`.
    The last argument of each kernel is the game's attribute `tables`, a tuple of arrays and numbers.

    | kernel | effect |
    |---|---|
    | `play(state, mover, action, tables)` | plays a legal action that is not `resign` |
    | `mark_legal(state, mask, tables)` | sets the legal actions but `resign` in `mask` (A,), initially all False |
    | `observe(view, viewer, planes, tables)` | writes `planes` (rows, cols, planes) int8, initially all zeros |
    | `playout(state, seeds, i, tables, last_player)` | plays to the end with random moves from stream `i`; sets \
`last_player[i, action]` to the player, unless it is empty |

    Before `play` is called, the ply is counted, `last_action` is set, and the turn passes to the next player; a rule
    that gives the turn to another player sets `to_move`. A rule ends the game by `win`, by `end_in_draw`, or by setting
    `returns` and `done`.
    """

    def __init__(
        self,
        play: Callable[..., Any],
        mark_legal: Callable[..., Any],
        observe: Callable[..., Any] | None = None,
        playout: Callable[..., Any] | None = None,
    ) -> None:
        """Set the kernels, which are compiled on first use.

        `observe` is None if the game has `_observe`. `playout` is for speed: without it, each ply marks all legal
        actions and chooses one of them.
        """

        @kernel
        def mask_records(states: States, out: Mask, tables: Tables, resign: int) -> None:
            for i in range(len(states)):
                out[i, :] = False
                if shows_mask(states[i]):
                    mark_legal(states[i], out[i], tables)
                    if resign >= 0:
                        out[i, resign] = True

        @kernel
        def step_records(states: States, actions: Ints, tables: Tables, resign: int, num_actions: int) -> int:
            mask = np.empty(num_actions, np.bool_)
            for i in range(len(states)):  # check all before changing anything
                state, action = states[i], actions[i]
                if state["done"]:
                    continue
                if state["viewer"] != NOBODY or not 0 <= action < num_actions:
                    return i
                if action != resign:
                    mask[:] = False
                    mark_legal(state, mask, tables)
                    if not mask[action]:
                        return i
            for i in range(len(states)):
                state, action = states[i], actions[i]
                if state["done"]:
                    continue
                mover = begin_ply(state, action)
                if action == resign:
                    win(state, 1 - mover)
                else:
                    play(state, mover, action, tables)
            return -1

        @kernel
        def playout_records(
            states: States, seeds: Seeds, tables: Tables, num_actions: int, max_plies: int, last_player: Ints
        ) -> None:
            mask, legal = np.empty(num_actions, np.bool_), np.empty(num_actions, np.int64)
            for i in range(len(states)):
                state = states[i]
                for _ in range(max_plies):  # rules that do not end the game must not make this loop endless
                    if state["done"]:
                        break
                    mask[:] = False
                    mark_legal(state, mask, tables)
                    count = 0
                    for a in range(num_actions):
                        if mask[a]:
                            legal[count] = a
                            count += 1
                    if count == 0:
                        break
                    action = legal[draw(seeds, i, count)]
                    mover = begin_ply(state, action)
                    if last_player.size:
                        last_player[i, action] = mover
                    play(state, mover, action, tables)

        self.observe = None if observe is None else _observe_loop(observe)
        self._step, self._mask = step_records, mask_records
        self._playout = playout_records if playout is None else _playout_loop(playout)

    def kernels(self, tables: Tables, resign: int, num_actions: int, max_plies: int) -> PlayKernels:
        """Return the kernels of a game with these tables, actions and plies."""
        return PlayKernels(
            step=BatchKernel(self._step, (tables, resign, num_actions)),
            mask=BatchKernel(self._mask, (tables, resign)),
            playout=BatchKernel(self._playout, (tables, num_actions, max_plies)),
        )


def _playout_loop(playout: Callable[..., Any]) -> Callable[..., None]:
    @kernel
    def playout_records(
        states: States, seeds: Seeds, tables: Tables, num_actions: int, max_plies: int, last_player: Ints
    ) -> None:
        for i in range(len(states)):
            if not states[i]["done"]:
                playout(states[i], seeds, i, tables, last_player)

    return playout_records


def _observe_loop(observe: Callable[..., Any]) -> Callable[..., None]:
    @kernel
    def observe_records(views: States, tables: Tables, out: Planes) -> None:
        for i in range(len(views)):
            out[i, :, :, :] = 0
            viewer = 0 if views[i]["viewer"] == NOBODY else int(views[i]["viewer"])
            observe(views[i], viewer, out[i], tables)

    return observe_records
