"""What an agent is, the random agent, and agents as policies of a PettingZoo loop."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pbm_envs import Game, sample_actions

Views: TypeAlias = NDArray[np.void]
Actions: TypeAlias = NDArray[np.int64]


class Agent(Protocol):
    """Plays any game of pbm_envs, many games at once, from what the players to move can know."""

    def act(self, game: Game, views: Views, rng: np.random.Generator) -> Actions:
        """(B,) a legal action for each of `views` (B,), each the view of the player who is to move in it."""
        ...


class RandomAgent:
    """Every legal action with the same probability, except that it never resigns."""

    def act(self, game: Game, views: Views, rng: np.random.Generator) -> Actions:
        masks = game.legal_action_mask(views)
        if game.resign >= 0:
            masks[:, game.resign] = False
        return sample_actions(masks, rng)


def as_policy(agent: Agent, seed: int | None = None) -> Callable[[Any], int | None]:
    """`agent` for a PettingZoo loop: called with the environment, gives the action of `env.agent_selection`, or None if
    that agent is done. It is shown what that player can know, nothing else.

        for name in env.agent_iter():
            env.step(policy(env))
    """
    rng = np.random.default_rng(seed)

    def policy(env: Any) -> int | None:
        player = env.agent_selection
        if env.terminations[player] or env.truncations[player]:
            return None
        game, states = env.unwrapped.game, env.unwrapped.states
        view = game.view(states, env.possible_agents.index(player))
        return int(agent.act(game, view, rng)[0])

    return policy
