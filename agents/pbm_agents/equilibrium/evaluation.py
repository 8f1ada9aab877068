"""Exact policies of agents, best responses and exploitability, by forward and backward sweeps over the public tree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, final, runtime_checkable

import numpy as np

from pbm_envs import Game
from pbm_envs.authoring import check_range, take_rows
from pbm_envs.toolbox import Array, stack_kernel

from ..common.progress import progress_bar
from ..players.agent import Agent, Views
from .growth import with_views
from .hash_table import insert_all, locate_all, resized, slots_for
from .sweeps import Sweep, pull_best, pull_values, push_forward
from .tree import Policy, PublicTree, scaled

BATCH = 4096
"""Number of views that an agent gets at a time."""
MOSTLY = 0.9
"""A decision in which an action has this probability or more does not count as mixed."""


@final
@dataclass(frozen=True, eq=False)
class BestResponse:
    """A best response of one player to a known policy of the opponent."""

    player: int
    value: float
    """The mean return of the responder."""
    policy: Policy
    """The responder's choices, all pure, combined with the opponent's policy."""
    losses: Array
    """(S,) loss of the responder's part of the given policy relative to the best response at each information set,
    weighted by the probability that it gets there. The sum is `value` minus the value of that policy.
    """


def expected_value(tree: PublicTree, policy: Policy) -> float:
    """Return the mean return of `player_0` if both play `policy`."""
    sweep = _sweep(tree, policy, 0)
    tree.sweeps.backward(pull_values, sweep)
    return root_value(tree, sweep)


def best_response(tree: PublicTree, policy: Policy, player: int) -> BestResponse:
    """Return the best response of `player` to the opponent's part of `policy`; its own part affects only `losses`."""
    if player not in (0, 1):
        raise ValueError(f"player is {player!r}: expected 0 or 1")
    sweep = _sweep(tree, policy, player)
    best, losses = respond(tree, sweep)
    mine = tree.set_player == player
    losses *= sweep.own[tree.set_pairs[:-1]]
    chosen = np.where(np.repeat(mine, np.diff(tree.set_choices)), 0.0, policy.probabilities)
    chosen[(tree.set_choices[:-1] + best)[mine]] = 1.0
    return BestResponse(player, root_value(tree, sweep), Policy(tree, chosen), losses)


def exploitability(tree: PublicTree, policy: Policy) -> float:
    """Return the mean winnings of best responses to `policy` over the two seats: NashConv / 2, as in OpenSpiel.

    It is 0 for an equilibrium.
    """
    sweeps = [_sweep(tree, policy, player) for player in range(2)]
    for sweep in sweeps:
        respond(tree, sweep)
    return sum(root_value(tree, sweep) for sweep in sweeps) / 2


def outcome_facts(tree: PublicTree, policy: Policy) -> dict[str, float]:
    """Describe the games in which both play `policy`.

    "mixed" is the share of decisions with a choice, as reached in play, in which no action has probability MOSTLY or
    more; "drawn" the share of games that end with 0 for both; "plies" the mean length of a game.
    """
    sweep = _sweep(tree, policy, 0)
    reached = sweep.counterfactual * sweep.own
    weights = np.add.reduceat(reached, tree.set_pairs[:-1])
    highest = np.maximum.reduceat(policy.probabilities, tree.set_choices[:-1])
    mixed = weights[highest < MOSTLY].sum() / max(weights[np.diff(tree.set_choices) > 1].sum(), 1e-300)
    ends = np.flatnonzero(tree.children < 0)
    pairs, _, choices = tree.sources(ends[tree.payoffs[~tree.children[ends]] == 0])
    drawn = (reached[pairs] * policy.probabilities[choices]).sum()
    return {"mixed": float(mixed), "drawn": float(drawn), "plies": float(reached.sum())}


def forward_sweep(tree: PublicTree, policy: Policy, player: int, values: Array | None = None) -> Sweep:
    """Return a sweep of `player` after its forward pass; `values` (P,) is a buffer for the backward pass."""
    counterfactual, own = np.empty(tree.num_pairs), np.empty(tree.num_pairs)
    counterfactual[: tree.num_roots] = tree.chances[tree.pair_world[: tree.num_roots]]
    own[: tree.num_roots] = 1.0
    values = np.empty(tree.num_pairs) if values is None else values
    sweep = Sweep(player, policy.probabilities, counterfactual, own, values)
    tree.sweeps.forward(push_forward, sweep)
    return sweep


def respond(tree: PublicTree, sweep: Sweep) -> tuple[Array, Array]:
    """Sweep backward with the player's best choices; return the arrays `best` and `losses` of `pull_best`."""
    best, losses = np.zeros(tree.num_information_sets, np.int32), np.zeros(tree.num_information_sets)
    tree.sweeps.backward(pull_best, sweep, best, losses)
    return best, losses


def root_value(tree: PublicTree, sweep: Sweep) -> float:
    """Return the mean return of the sweep's player, after the backward pass."""
    return float(sweep.values[: tree.num_roots].sum())


def _sweep(tree: PublicTree, policy: Policy, player: int) -> Sweep:
    if not isinstance(policy, Policy) or (policy.tree is not tree and policy.tree.digest != tree.digest):
        raise ValueError("policy belongs to another tree, or is not a policy: expected a Policy of this tree")
    return forward_sweep(tree, policy, player)


@runtime_checkable
class ProbabilityAgent(Agent, Protocol):
    """An agent that knows the probability of each of its actions."""

    def probabilities(self, game: Game, views: Views) -> Array:
        """Return the action probabilities (B, A) of `act` for `views` (B,)."""
        ...


def action_probabilities(agent: Agent, game: Game, views: Views, samples: int, rng: np.random.Generator) -> Array:
    """Return an agent's action probabilities (B, A), or action frequencies in `samples` tries if it gives none."""
    if isinstance(agent, ProbabilityAgent):
        return np.asarray(agent.probabilities(game, views), np.float64)
    counts = np.zeros((len(views), game.num_actions))
    rows = np.arange(len(views))
    for _ in range(samples):
        np.add.at(counts, (rows, agent.act(game, views, rng)), 1.0)
    return counts / samples


def agent_policy(
    tree: PublicTree,
    agent: Agent,
    *,
    samples: int = 1,
    seed: int | Sequence[int] = 0,
    batch: int = BATCH,
    progress: bool = False,
) -> Policy:
    """Return the policy of an agent.

    The policy of an agent with a method `probabilities(game, views)` is exact. Any other agent acts `samples` times at
    each information set. A randomizing agent then seems more exploitable than it is, because a best response also
    exploits the sampling error (see `exploitability_bounds`).

    Args:
        tree: The public tree of the game.
        agent: The agent; it gets only the views of the players to move.
        samples: Number of actions sampled at each information set from an agent without `probabilities`.
        seed: Seed of the agent's random generator.
        batch: The largest number of views that the agent gets at a time.
        progress: Show a progress bar (extra `cli`).
    """
    check_range("samples", samples, 1)
    rng, probabilities = np.random.default_rng(seed), np.empty(tree.num_choices)
    with progress_bar(progress, total=tree.num_information_sets, unit=" sets", unit_scale=True) as bar:
        for _, choices, views in tree.views_by_batch(batch):
            chances = action_probabilities(agent, tree.game, views, samples, rng)
            probabilities[choices] = chances[tree.game.legal_action_mask(views)]
            bar.update(len(views))
    return Policy(tree, scaled(tree, probabilities))


@final
@dataclass(frozen=True, eq=False)
class Bounds:
    """Bounds of an agent's exploitability, which hold in expectation and are equal if the policy is exact."""

    low: tuple[float, float]
    """Mean winnings of responses to half of the samples against the other half, as player_0 and as player_1."""
    high: tuple[float, float]
    """Mean winnings of best responses against all samples together."""
    policy: Policy
    """The policy of all samples together."""

    def __str__(self) -> str:
        low, high = sum(self.low) / 2, sum(self.high) / 2
        return f"{high:.6f}" if low == high else f"{low:.3f} to {high:.3f}"


def exploitability_bounds(
    tree: PublicTree, agent: Agent, *, samples: int = 2, seed: int = 0, progress: bool = False
) -> Bounds:
    """Bound the exploitability of an agent by two independent halves of samples at each information set.

    A response to one half does not know the sampling error of the other, so its expected winnings against that half
    equal those against the agent, which are at most the exploitability. A best response to all samples together also
    exploits their error, so it wins at least the exploitability. An agent with `probabilities` needs no samples.

    Args:
        tree: The public tree of the game.
        agent: The agent. Its random choices at different information sets must be independent.
        samples: Number of actions sampled at each information set; rounded up to an even number.
        seed: Seed of the agent's random generators.
        progress: Show progress bars (extra `cli`).
    """
    check_range("samples", samples, 2)
    if isinstance(agent, ProbabilityAgent):
        policy = agent_policy(tree, agent, progress=progress)
        high = _values(tree, policy, policy)
        return Bounds(high, high, policy)
    each = -(-samples // 2)
    halves = [agent_policy(tree, agent, samples=each, seed=[seed, k], progress=progress) for k in range(2)]
    policy = Policy(tree, (halves[0].probabilities + halves[1].probabilities) / 2)
    there, back = _values(tree, *halves), _values(tree, *halves[::-1])
    low = (there[0] + back[0]) / 2, (there[1] + back[1]) / 2
    return Bounds(low, _values(tree, policy, policy), policy)


def _values(tree: PublicTree, known: Policy, played: Policy) -> tuple[float, float]:
    """Return the mean winnings of best responses to `known` against `played`, as player_0 and as player_1."""
    found = []
    movers = np.repeat(tree.set_player, np.diff(tree.set_choices))
    for player in range(2):
        response = best_response(tree, known, player)
        if known is played:
            found.append(response.value)
            continue
        both = np.where(movers == player, response.policy.probabilities, played.probabilities)
        found.append((1 - 2 * player) * expected_value(tree, Policy(tree, both)))
    return found[0], found[1]


@stack_kernel
def draw_known(starts: Array, actions: Array, chances: Array, rows: Array, random: Array, drawn: Array) -> None:
    """Draw an action from each of the policies `rows` (R,) by a `random` number (R,) in [0, 1)."""
    for r in range(len(rows)):
        first, last = starts[rows[r]], starts[rows[r] + 1]
        left = random[r]
        chosen = first
        while chosen < last - 1 and left >= chances[chosen]:
            left -= chances[chosen]
            chosen += 1
        drawn[r] = actions[chosen]


@final
class MemoizedAgent:
    """An agent with a fixed policy: its probabilities, given or sampled `samples` times, are computed once per view.

    Views are known by hashes of 64 bits. It serves one game.
    """

    def __init__(self, agent: Agent, samples: int = 1, seed: int = 0) -> None:
        self.agent, self.samples = agent, samples
        self._rng = np.random.default_rng(seed)
        self._count = self._used = 0
        self._keys, self._slots = np.zeros(1, np.uint64), slots_for(1)
        self._starts, self._actions, self._chances = np.zeros(2, np.int64), np.zeros(1, np.int32), np.zeros(1)

    def probabilities(self, game: Game, views: Views) -> Array:
        """Return the action probabilities (B, A) for `views` (B,)."""
        rows = self._rows(game, views)
        table = np.zeros((len(rows), game.num_actions))
        sizes = self._starts[rows + 1] - self._starts[rows]
        places = np.repeat(self._starts[rows] - np.cumsum(sizes) + sizes, sizes) + np.arange(sizes.sum())
        table[np.repeat(np.arange(len(rows)), sizes), self._actions[places]] = self._chances[places]
        return table

    def act(self, game: Game, views: Views, rng: np.random.Generator) -> Array:
        """Return actions (B,) drawn with these probabilities."""
        rows, drawn = self._rows(game, views), np.empty(len(views), np.int64)
        draw_known(self._starts, self._actions, self._chances, rows, rng.random(len(rows)), drawn)
        return drawn

    def _rows(self, game: Game, views: Views) -> Array:
        """Return the rows (B,) of the policies at `views`, after computing those that are new."""
        keys = with_views(np.zeros(len(views), np.uint64), views)
        rows = np.empty(len(keys), np.int64)
        locate_all(self._slots, self._keys, keys, rows)
        if (rows < 0).any():
            unknown = np.flatnonzero(rows < 0)
            new = np.sort(unknown[np.unique(keys[unknown], return_index=True)[1]])
            found = action_probabilities(self.agent, game, take_rows(views, new), self.samples, self._rng)
            self._add(keys[new], found)
            locate_all(self._slots, self._keys, keys, rows)
        return rows

    def _add(self, keys: Array, policies: Array) -> None:
        count, (rows, actions) = self._count + len(keys), np.nonzero(policies)
        if count > len(self._keys):
            self._keys = resized(self._keys, 2 * count)
            self._starts = resized(self._starts, 2 * count + 1)
            self._slots = slots_for(2 * count, self._keys, self._count)
        if (used := self._used + len(rows)) > len(self._actions):
            self._actions, self._chances = resized(self._actions, 2 * used), resized(self._chances, 2 * used)
        self._actions[self._used : used], self._chances[self._used : used] = actions, policies[rows, actions]
        ends = self._used + np.cumsum(np.bincount(rows, minlength=len(keys)))
        self._starts[self._count + 1 : count + 1] = ends
        insert_all(self._slots, self._keys, keys, self._count)
        self._count, self._used = count, used


def without_gaps(views: Views) -> Array:
    """Return copies of records without the arbitrary bytes between their fields."""
    packed = np.dtype([(name, views.dtype[name]) for name in views.dtype.names or ()])
    return views.astype(packed)
