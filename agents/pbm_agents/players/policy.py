"""Functions as agents: policies of observations and masks, and functions with the arguments of `Agent.act`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from pbm_envs import Game

from ..search.evaluators import as_array
from .agent import Actions, Views

Policy: TypeAlias = Callable[[NDArray[np.int8], NDArray[np.bool_]], Any]
"""A function from observations (B, rows, cols, planes) and masks (B, A) of the players to move to actions (B,), or to
scores (B, A) such as logits, of which the best legal one is played. The result is read by `numpy.asarray`."""
Act: TypeAlias = Callable[[Game, Views, np.random.Generator], Any]
"""A function with the arguments of `Agent.act`."""


@final
class PolicyAgent:
    """A policy, such as `play` of a trained model, as an agent.

    The policy gets observations of views, and thus nothing that is hidden from the player to move.

    >>> from pbm_envs import Chameleon
    >>> agent = PolicyAgent(lambda observations, masks: masks.argmax(axis=1))  # the first legal action
    >>> game, rng = Chameleon(size=3), np.random.default_rng(0)
    >>> agent.act(game, game.init(2, rng), rng).tolist()
    [0, 0]
    """

    def __init__(self, policy: Policy) -> None:
        if isinstance(policy, type) or not callable(policy):
            raise ValueError(f"the policy is {policy!r}: expected a function of observations and masks")
        self.policy = policy

    def act(self, game: Game, views: Views, rng: np.random.Generator) -> Actions:
        """Return the policy's actions; raise ValueError if one of them cannot be played."""
        masks = game.legal_action_mask(views)
        answer = as_array("the policy gave", self.policy(game.observe(views), masks.copy()))
        return _actions(game, answer, masks)


@final
class FunctionAgent:
    """A function with the arguments of `Agent.act` as an agent."""

    def __init__(self, function: Act) -> None:
        self.function = function

    def act(self, game: Game, views: Views, rng: np.random.Generator) -> Actions:
        """Return the function's actions."""
        return np.asarray(self.function(game, views, rng))


def _actions(game: Game, answer: NDArray[Any], masks: NDArray[np.bool_]) -> Actions:
    """Return actions (B,) from a policy's actions or scores."""
    if answer.shape == masks.shape:
        scores = np.where(masks, answer, -np.inf)
        best = scores.max(axis=1)
        if not np.isfinite(best).all():
            raise ValueError(f"the policy's best score is {best[~np.isfinite(best)][0]}: expected finite numbers")
        return scores.argmax(axis=1)
    if answer.shape != masks.shape[:1] or answer.dtype.kind not in "iu":
        raise ValueError(
            f"the policy gave {answer.dtype} {answer.shape}: expected integer actions {masks.shape[:1]} or scores "
            f"{masks.shape}"
        )
    for action, mask in zip(answer.tolist(), masks, strict=True):
        if not (0 <= action < game.num_actions and mask[action]):
            raise ValueError(f"the policy played {action}, which its mask forbids")
    return answer.astype(np.int64)
