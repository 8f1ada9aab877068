"""The games as RLlib's `MultiAgentEnv`, with masks for its `ActionMaskingTorchRLModule`.

    register_env("chameleon", lambda config: MultiAgentGame(chameleon_v0.raw_env(**config)))
    PPOConfig().environment("chameleon", env_config={"size": 5}, disable_env_checking=True)

RLlib's check is disabled because it plays an action without reading the mask. Unlike RLlib's own `PettingZooEnv`, this
adapter gives the module flat float32 observations under the key `observations`, and a float32 mask that is never zero.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias, final

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray
from pettingzoo import AECEnv

from ..envs.aec import BoardGameAECEnv

try:
    from ray.rllib.env.multi_agent_env import MultiAgentEnv
except ImportError:
    raise ImportError("pbm_envs.adapters.rllib needs RLlib: pip install 'ray[rllib]'") from None

Observation: TypeAlias = dict[str, NDArray[np.float32]]
Infos: TypeAlias = dict[str, dict[str, Any]]
Step: TypeAlias = tuple[dict[str, Observation], dict[str, float], dict[str, bool], dict[str, bool], Infos]


@final
class MultiAgentGame(MultiAgentEnv):
    """One game. A step returns the observation of the player to move and the reward since their last turn.

    The last step returns those of all players.
    """

    def __init__(self, env: AECEnv[str, Any, Any]) -> None:
        """Wrap a `raw_env()`, with or without PettingZoo wrappers; ValueError for another environment.

        Illegal actions raise the game's ValueError.
        """
        inner = getattr(env, "unwrapped", None)
        if not isinstance(inner, BoardGameAECEnv) or inner.illegal_action != "raise":
            raise ValueError(f"env is {env!r}: expected a raw_env() of pbm_envs, or one in wrappers")
        super().__init__()
        self.env = env
        self.agents, self.possible_agents = env.possible_agents[:], env.possible_agents[:]
        shapes = {name: space.shape for name, space in env.observation_space(self.agents[0]).items()}
        observed = spaces.Dict(
            action_mask=spaces.Box(0, 1, shapes["action_mask"], np.float32),
            observations=spaces.Box(0, 127, (int(np.prod(shapes["observation"])),), np.float32),
        )
        self.observation_spaces = dict.fromkeys(self.possible_agents, observed)
        self.action_spaces = {agent: env.action_space(agent) for agent in self.possible_agents}

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[dict[str, Observation], Infos]:
        super().reset(seed=seed)
        self.env.reset(seed=seed, options=options)
        self.agents = self.env.agents[:]
        agent = self.env.agent_selection
        return {agent: self._observe(agent)}, {agent: {}}

    def step(self, action_dict: Mapping[str, Any]) -> Step:
        """Play the action of the agent whose observation was last returned; ignore other entries of `action_dict`."""
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
        if not mask.any():  # at the end, when no action is chosen
            mask[:] = 1
        return {"action_mask": mask, "observations": seen["observation"].astype(np.float32).ravel()}
