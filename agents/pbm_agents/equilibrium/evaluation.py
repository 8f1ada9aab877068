"""Best responses and exploitability, exact: one sweep forward and one back over the public tree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from .policy import Array, Policy
from .sweeps import Sweep, pull_best, pull_values, push_forward, sum_draws
from .tree import PublicTree

MOSTLY = 0.9
"""The probability from which on a choice does not count as mixed."""


@final
@dataclass(frozen=True, eq=False)
class BestResponse:
    """The best that a player can do against a known policy of the opponent."""

    player: int
    value: float
    """What it wins on average."""
    policy: Policy
    """The responder's choices, all pure, beside the opponent's policy."""
    losses: Array
    """(S,) what the responder's own policy of before loses at each information set by not choosing so there, weighted
    with the probability of coming there by it. They sum to what it loses in all: `value` less the policy's own value.
    """


def expected_value(tree: PublicTree, policy: Policy) -> float:
    """What `player_0` wins on average if both play `policy`."""
    _check(tree, policy)
    sweep = forward_sweep(tree, policy, 0)
    tree.sweeps.backward(pull_values, sweep)
    return float(sweep.values[: tree.num_roots].sum())


def best_response(tree: PublicTree, policy: Policy, player: int) -> BestResponse:
    """The best response of `player` to the opponent's part of `policy`.

    Args:
        tree: The public tree of the game.
        policy: Of both players; what it says of `player` matters only for `losses`.
        player: Who responds.
    """
    _check(tree, policy)
    if player not in (0, 1):
        raise ValueError(f"player is {player!r}: expected 0 or 1")
    sweep = forward_sweep(tree, policy, player)
    losses, best = np.zeros(tree.num_information_sets), np.zeros(tree.num_information_sets, np.int32)
    tree.sweeps.backward(pull_best, sweep, best, losses)
    mine = tree.set_player == player
    losses *= sweep.own[tree.set_pairs[:-1]]
    chosen = np.where(np.repeat(mine, np.diff(tree.set_choices)), 0.0, policy.probabilities)
    chosen[(tree.set_choices[:-1] + best)[mine]] = 1.0
    return BestResponse(player, float(sweep.values[: tree.num_roots].sum()), Policy(tree, chosen), losses)


def exploitability(tree: PublicTree, policy: Policy) -> float:
    """How much `policy` loses to best responses, on average over the two seats: NashConv / 2, as in OpenSpiel. It is 0
    for an equilibrium.
    """
    _check(tree, policy)
    total = 0.0
    for player in range(2):
        sweep = forward_sweep(tree, policy, player)
        losses, best = np.empty(tree.num_information_sets), np.empty(tree.num_information_sets, np.int32)
        tree.sweeps.backward(pull_best, sweep, best, losses)
        total += float(sweep.values[: tree.num_roots].sum())
    return total / 2


def outcome_facts(tree: PublicTree, policy: Policy) -> dict[str, float]:
    """How games go that are played by `policy`.

    Returns:
        "mixed": the share of decisions with a choice, as they are met in play, in which no action has MOSTLY or more;
        "drawn": the share of games that end with 0 for both; "plies": the mean length.
    """
    _check(tree, policy)
    sweep = forward_sweep(tree, policy, 0)
    reached = sweep.counterfactual * sweep.own
    sizes = np.diff(tree.set_choices)
    weights = np.add.reduceat(reached, tree.set_pairs[:-1])
    highest = np.maximum.reduceat(policy.probabilities, tree.set_choices[:-1])
    mixed = weights[highest < MOSTLY].sum() / max(weights[sizes > 1].sum(), 1e-300)
    drawn = sum_draws(tree.flat, policy.probabilities, reached)
    return {"mixed": float(mixed), "drawn": float(drawn), "plies": float(reached.sum())}


def forward_sweep(tree: PublicTree, policy: Policy, player: int, values: Array | None = None) -> Sweep:
    """A sweep of `player` that has come to the ends of the tree; `values` (P,) is room for the way back."""
    counterfactual, own = tree.root_reach()
    room = np.empty(tree.num_pairs) if values is None else values
    sweep = Sweep(player, policy.probabilities, counterfactual, own, room)
    tree.sweeps.forward(push_forward, sweep)
    return sweep


def _check(tree: PublicTree, policy: Policy) -> None:
    if not isinstance(policy, Policy) or (policy.tree is not tree and policy.tree.digest != tree.digest):
        raise ValueError("policy is none, or of another tree: expected a Policy of this tree")
