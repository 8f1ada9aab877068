"""A table of a responder's information states, with kernels for search and learning against a known policy.

The responder moves in a tree: each of its information states, a hash of its views so far, is reached by one action from
one earlier state. The opponent's policy is fixed, so a state and an action lead to the same distribution of next states
and returns in every simulation. A simulation selects the responder's actions by UCT (Kocsis & Szepesvari 2006) in known
states and at random below them, and adds one state. The value of a state is that of its most visited action, not the
mean over all actions, so what exploration costs does not reach the states above.
"""

from __future__ import annotations

from typing import NamedTuple, final

import numpy as np

from pbm_envs import Game, sample_actions
from pbm_envs.authoring import States, kernel, take_rows
from pbm_envs.toolbox import Array, stack_kernel

from .evaluation import MemoizedAgent
from .growth import with_views
from .hash_table import insert, locate, resized, slots_for
from .tree import Policy

FIRST_SIZE = 1 << 10
"""Information states in a new table."""


class Statistics(NamedTuple):
    """The arrays of a table with N information states and C choices (their legal actions)."""

    slots: Array
    """The hash table of the keys."""
    keys: Array
    """(N,) uint64: the information states."""
    starts: Array
    """(N + 1,) the first choice of each state."""
    actions: Array
    """(C,) the actions."""
    begun: Array
    """(C,) the number of simulations, including those under way."""
    ended: Array
    """(C,) the number of simulations that ended."""
    totals: Array
    """(C,) the sum of the values that these found."""


@kernel
def enter(table: Statistics, used: int, keys: Array, masks: Array, growing: Array, nodes: Array) -> int:
    """Write the state of each key, or -1, to `nodes` (R,); return the number of states.

    A row that is `growing` adds the state that it lacks, with the legal actions of its mask, and stops growing.
    """
    for r in range(len(keys)):
        nodes[r] = locate(table.slots, table.keys, keys[r]) if growing[r] else -1
        if nodes[r] >= 0 or not growing[r]:
            continue
        growing[r] = False
        nodes[r] = used
        insert(table.slots, table.keys, keys[r], used)
        choice = table.starts[used]
        for action in range(masks.shape[1]):
            if masks[r, action]:
                table.actions[choice] = action
                choice += 1
        used += 1
        table.starts[used] = choice
    return used


@stack_kernel
def choose(
    table: Statistics, nodes: Array, masks: Array, random: Array, c: float, actions: Array, choices: Array
) -> None:
    """Write an action and its choice for each row: UCT with untried actions first, or without a state (-1) any legal
    action, by a `random` number (R,) in [0, 1), and choice -1.
    """
    for r in range(len(nodes)):
        node = nodes[r]
        if node < 0:
            choices[r] = -1
            left = 0
            for action in range(masks.shape[1]):
                left += masks[r, action]
            left = int(random[r] * left)
            for action in range(masks.shape[1]):
                if masks[r, action]:
                    if left == 0:
                        actions[r] = action
                        break
                    left -= 1
            continue
        first, last = table.starts[node], table.starts[node + 1]
        untried, begun = 0, 0
        for choice in range(first, last):
            untried += table.begun[choice] == 0
            begun += table.begun[choice]
        chosen = first
        if untried:
            left = int(random[r] * untried)
            for choice in range(first, last):
                if table.begun[choice] == 0:
                    if left == 0:
                        chosen = choice
                        break
                    left -= 1
        else:
            greatest, width = -np.inf, c * c * np.log(begun)
            for choice in range(first, last):
                ended = table.ended[choice]
                mean = table.totals[choice] / ended if ended else -1.0
                score = mean + np.sqrt(width / table.begun[choice])
                if score > greatest:
                    greatest, chosen = score, choice
        table.begun[chosen] += 1
        actions[r], choices[r] = table.actions[chosen], chosen


@stack_kernel
def most_visited(table: Statistics, node: int) -> int:
    """Return the choice with the most simulations, the better one of two, or -1 if none has ended."""
    chosen = -1
    for choice in range(table.starts[node], table.starts[node + 1]):
        ended = table.ended[choice]
        if ended and (
            chosen < 0
            or ended > table.ended[chosen]
            or (ended == table.ended[chosen] and table.totals[choice] > table.totals[chosen])
        ):
            chosen = choice
    return chosen


@stack_kernel
def sum_of_values(table: Statistics, node: int) -> float:
    """Return the value of a state times the number of its simulations."""
    chosen = most_visited(table, node)
    if chosen < 0:
        return 0.0
    ended = 0
    for choice in range(table.starts[node], table.starts[node + 1]):
        ended += table.ended[choice]
    return ended * table.totals[chosen] / table.ended[chosen]


@stack_kernel
def back_up(table: Statistics, rows: Array, nodes: Array, choices: Array, changes: Array) -> None:
    """Add the `changes` of rows to their choices; replace them by the changes of the states' sums of values."""
    for k in range(len(rows)):
        if nodes[k] >= 0:
            before = sum_of_values(table, nodes[k])
            table.totals[choices[k]] += changes[rows[k]]
            table.ended[choices[k]] += 1
            changes[rows[k]] = sum_of_values(table, nodes[k]) - before


@stack_kernel
def read_best(table: Statistics, keys: Array, actions: Array) -> None:
    """Write the most visited action in each state, or -1 if it is unknown."""
    for r in range(len(keys)):
        node = locate(table.slots, table.keys, keys[r])
        chosen = most_visited(table, node) if node >= 0 else -1
        actions[r] = table.actions[chosen] if chosen >= 0 else -1


@final
class ResponseTable:
    """What a responder in one seat knows of its information states against a known policy."""

    def __init__(self, game: Game, model: MemoizedAgent, seat: int, c: float) -> None:
        """Take the opponent's policy, the responder's seat, and the weight of exploration in UCT."""
        self.game, self.model, self.seat, self.c = game, model, seat, c
        self.states = 0
        """The number of information states."""
        self._table = Statistics(
            slots_for(FIRST_SIZE),
            np.zeros(FIRST_SIZE, np.uint64),
            np.zeros(FIRST_SIZE + 1, np.int64),
            *(np.zeros(FIRST_SIZE * 8, kind) for kind in (np.int32, np.int32, np.int32, np.float64)),
        )

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays."""
        return sum(array.nbytes for array in self._table)

    def best(self, keys: Array) -> Array:
        """Return the most visited actions (R,) in information states, -1 where a state is unknown."""
        actions = np.empty(len(keys), np.int64)
        read_best(self._table, keys, actions)
        return actions

    def simulate(self, states: States, histories: Array, rng: np.random.Generator, quick: bool = False) -> int:
        """Play simultaneous simulations to their ends, in place; return the number of the responder's moves.

        Args:
            states: (R,) full states. Those of the same information state must be drawn from what the responder
                believes there.
            histories: (R,) keys of the responder's information states before the views at `states`; changed.
            rng: Random generator.
            quick: Play out at random below the known states, without the opponent's policy, because that takes long.
        """
        game, seat, moves = self.game, self.seat, 0
        growing = np.ones(len(states), bool)
        path: list[tuple[Array, Array, Array]] = []
        while True:
            alive = np.flatnonzero(~states["done"])
            if not len(alive):
                break
            if quick and not growing[alive].any():
                game.playout(states, rng)
                break
            actions = np.zeros(len(states), np.int64)
            is_mine = states["to_move"][alive] == seat
            mine, theirs = alive[is_mine], alive[~is_mine]
            if len(theirs):
                actions[theirs] = self._reply(states, theirs, growing if quick else None, rng)
            if len(mine):
                moves += len(mine)
                views = game.view(take_rows(states, mine), seat)
                masks = game.legal_action_mask(views)
                keys = with_views(histories[mine], views)
                histories[mine] = keys
                nodes, chosen, choices = (np.empty(len(mine), np.int64) for _ in range(3))
                grows = growing[mine]
                self._reserve(len(mine), int(masks.sum()))
                self.states = enter(self._table, self.states, keys, masks, grows, nodes)
                growing[mine] = grows
                choose(self._table, nodes, masks, rng.random(len(mine)), self.c, chosen, choices)
                actions[mine] = chosen
                path.append((mine, nodes, choices))
            game.step(states, actions)
        changes = states["returns"][:, seat].astype(np.float64)
        for rows, nodes, choices in reversed(path):
            back_up(self._table, rows, nodes, choices, changes)
        return moves

    def _reply(self, states: States, rows: Array, asks: Array | None, rng: np.random.Generator) -> Array:
        """Return the opponent's actions in `rows`: by its known policy, or if `asks` (R,) is given, its own actions
        where that is True, and random ones elsewhere (views rarely repeat, so one action is cheaper than the policy).
        """
        views = self.game.view(take_rows(states, rows), 1 - self.seat)
        if asks is None:
            return self.model.act(self.game, views, rng)
        actions = sample_actions(self.game.legal_action_mask(views), rng)
        asked = np.flatnonzero(asks[rows])
        if len(asked):
            actions[asked] = self.model.agent.act(self.game, take_rows(views, asked), rng)
        return actions

    def _reserve(self, states: int, choices: int) -> None:
        """Make room for more states and choices."""
        table = self._table
        if self.states + states > len(table.keys):
            size = 2 * (self.states + states)
            keys, starts = resized(table.keys, size), resized(table.starts, size + 1)
            table = table._replace(slots=slots_for(size, keys, self.states), keys=keys, starts=starts)
        if (needed := int(table.starts[self.states]) + choices) > len(table.actions):
            names = ("actions", "begun", "ended", "totals")
            table = table._replace(**{name: resized(getattr(table, name), 2 * needed) for name in names})
        self._table = table


def table_policy(policy: Policy, table: ResponseTable) -> Policy:
    """Return `policy` with the responder's part replaced by its table, uniform in states that the table lacks."""
    tree, seat = policy.tree, table.seat
    movers = np.repeat(tree.set_player, np.diff(tree.set_choices))
    probabilities = np.where(movers == seat, tree.uniform_policy().probabilities, policy.probabilities)
    histories = np.zeros(tree.num_roots, np.uint64)
    first_above = 0
    for depth, (first, last, states) in enumerate(tree.levels()):
        if depth:
            pairs, _, _ = tree.sources(tree.pair_parent[first:last].astype(np.int64))
            histories = histories[pairs - first_above]
        first_above = first
        mine = np.flatnonzero(states["to_move"] == seat)
        if not len(mine):
            continue
        histories[mine] = with_views(histories[mine], tree.game.view(take_rows(states, mine), seat))
        low, high = tree.level_sets[depth : depth + 2].tolist()
        sets = low + np.flatnonzero(tree.set_player[low:high] == seat)
        best = table.best(histories[tree.set_pairs[sets] - first])
        sizes = tree.set_choices[sets + 1] - tree.set_choices[sets]
        choices = np.repeat(tree.set_choices[sets] - np.cumsum(sizes) + sizes, sizes) + np.arange(sizes.sum())
        chosen = np.repeat(best, sizes)
        known = chosen >= 0
        probabilities[choices[known]] = tree.choice_actions[choices[known]] == chosen[known]
    return Policy(tree, probabilities)
