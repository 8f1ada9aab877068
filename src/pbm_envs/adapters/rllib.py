"""A PettingZoo environment of ours as RLlib's `MultiAgentEnv`, with masks for its `ActionMaskingTorchRLModule`.

    register_env("chameleon", lambda config: MultiAgentGame(chameleon_v0.raw_env(**config)))
    PPOConfig().environment("chameleon", env_config={"size": 5}, disable_env_checking=True)

RLlib's check of environments plays an action without a look at the mask, which an environment that raises at illegal
actions does not survive.

RLlib's own `PettingZooEnv` hands observations on as they are. The module wants them flat, as float32, under the key
`observations`, and the mask as float32, never all zeros.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias, final

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from ..aec import BoardGame

try:
    from ray.rllib.env.multi_agent_env import MultiAgentEnv
except ImportError:
    raise ImportError("pbm_envs.adapters.rllib needs RLlib: pip install 'ray[rllib]'") from None

Observation: TypeAlias = dict[str, NDArray[np.float32]]
Step: TypeAlias = tuple[
    dict[str, Observation], dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]
]


@final
class MultiAgentGame(MultiAgentEnv):
    """One game. Only who is to move is observed, with the reward since their last turn; at the end all are."""

    def __init__(self, env: BoardGame) -> None:
        """`env`: a `raw_env()`; what it raises at an illegal action is raised here."""
        if not isinstance(env, BoardGame):
            raise ValueError(f"env is {env!r}: expected a raw_env() of pbm_envs")
        super().__init__()
        self.env = env
        self.agents = env.possible_agents[:]
        self.possible_agents = env.possible_agents[:]
        observed = spaces.Dict(
            action_mask=spaces.Box(0, 1, (env.game.num_actions,), np.float32),
            observations=spaces.Box(0, 127, (int(np.prod(env.game.observation_shape)),), np.float32),
        )
        self.observation_spaces = dict.fromkeys(self.possible_agents, observed)
        self.action_spaces = {agent: env.action_space(agent) for agent in self.possible_agents}

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[dict[str, Observation], dict[str, dict[str, Any]]]:
        super().reset(seed=seed)
        self.env.reset(seed=seed, options=options)
        self.agents = self.env.agents[:]
        agent = self.env.agent_selection
        return {agent: self._observe(agent)}, {agent: {}}

    def step(self, action_dict: Mapping[str, Any]) -> Step:
        """`action_dict`: the action of the agent that was observed last."""
        env = self.env
        env.step(int(action_dict[env.agent_selection]))
        observations, rewards, terminated, truncated = {}, {}, {}, {}
        while env.agents:
            agent = env.agent_selection
            _, rewards[agent], terminated[agent], truncated[agent], _ = env.last(observe=False)
            observations[agent] = self._observe(agent)
            if not (terminated[agent] or truncated[agent]):
                break
            env.step(None)
        self.agents = env.agents[:]
        cut = any(truncated.values())
        terminated["__all__"], truncated["__all__"] = not env.agents and not cut, not env.agents and cut
        return observations, rewards, terminated, truncated, {agent: {} for agent in observations}

    def _observe(self, agent: str) -> Observation:
        seen = self.env.observe(agent)
        mask = seen["action_mask"].astype(np.float32)
        if not mask.any():  # at the end, where nothing is chosen
            mask[:] = 1
        return {"action_mask": mask, "observations": seen["observation"].astype(np.float32).ravel()}
