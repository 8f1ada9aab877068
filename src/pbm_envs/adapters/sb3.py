"""Many games from one seat as a `VecEnv` of Stable-Baselines3, with masks for sb3-contrib.

    from stable_baselines3.common.vec_env import VecMonitor

    env = VecMonitor(GamesVecEnv(Chameleon(size=5), 64, opponent="random"))
    model = MaskablePPO("MlpPolicy", env)
    env = GamesVecEnv(RecordEpisodeStatistics(chameleon_v0.vector_env(64, opponent="random")))  # in wrappers

All games are one batch of `pbm_envs.envs.vector`, which describes seats, opponents and rewards; this is much faster
than a `DummyVecEnv` of single environments. Without `VecMonitor` the log of Stable-Baselines3 has no returns and
lengths of games.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, final

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from numpy.typing import NDArray

from ..core.game import Game
from ..core.state import Planes
from ..envs.batch import Bools, Floats
from ..envs.factories import make_vector_env
from ..envs.vector import BoardGameVectorEnv

try:
    from stable_baselines3.common.vec_env import VecEnv
except ImportError:
    raise ImportError("pbm_envs.adapters.sb3 needs Stable-Baselines3: pip install sb3-contrib") from None

METHODS = ("action_masks", "opponent_scores", "render", "set_opponents")


@final
class GamesVecEnv(VecEnv):
    """A batch of games, each for one seat against an opponent; `games` is the vector environment that plays them.

    `set_opponents` and `opponent_scores` are those of the vector environment.
    """

    def __init__(self, games: Game | VectorEnv[Any, Any, Any], num_envs: int | None = None, **settings: Any) -> None:
        """Make the environments, or wrap a vector environment.

        Args:
            games: The rules; or a vector environment of `pbm_envs`, with or without Gymnasium's vector wrappers, that
                has an opponent and the autoreset mode SAME_STEP.
            num_envs: With rules, the number of games (default 1).
            settings: With rules, the settings of `pbm_envs.envs.vector`; the opponent is "random" by default.

        Raises:
            ValueError: If a setting is wrong.
        """
        if isinstance(games, Game):
            games = make_vector_env(games, num_envs or 1, **{"opponent": "random", **settings})
        elif settings or num_envs is not None:
            raise ValueError(f"{games!r} was given settings too: expected none beside a vector environment")
        inner = games.unwrapped
        if not isinstance(inner, BoardGameVectorEnv) or inner.autoreset_mode is not AutoresetMode.SAME_STEP:
            raise ValueError(f"games are {games!r}: expected a vector environment of pbm_envs that resets in SAME_STEP")
        if not inner.has_opponents:
            raise ValueError("opponent is None: expected one, since Stable-Baselines3 rewards the player who acts next")
        self.games, self._plain = games, inner
        self.set_opponents, self.opponent_scores = inner.set_opponents, inner.opponent_scores
        self._actions: Any = None
        super().__init__(games.num_envs, games.single_observation_space, games.single_action_space)

    def reset(self) -> Planes:
        """Start all games with the set seeds and options, and return observations (N, rows, cols, planes)."""
        names = {name for options in self._options for name in options}
        options = {name: [one.get(name) for one in self._options] for name in names}
        planes, _ = self.games.reset(seed=self._seeds, options=options)
        self._reset_seeds()
        self._reset_options()
        return planes

    def step_async(self, actions: NDArray[Any]) -> None:
        self._actions = actions

    def step_wait(self) -> tuple[Planes, Floats, Bools, list[dict[str, Any]]]:
        """Return observations, rewards, dones and infos.

        If a game has ended, its observation is the first of the next game, and its info has the `opponent` (its number
        in `opponent_scores()`) and the learner's `score`.
        """
        planes, rewards, terminated, truncated, info = self.games.step(self._actions)
        over = terminated | truncated
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for row in np.flatnonzero(over).tolist():
            infos[row] = {
                "opponent": int(info["final_info"]["opponent"][row]),
                "score": float(info["final_info"]["score"][row]),
                "terminal_observation": info["final_obs"][row],
                "TimeLimit.truncated": bool(truncated[row] & ~terminated[row]),
            }
        return planes, rewards, over, infos

    def env_method(
        self, method_name: str, *args: Any, indices: int | Iterable[int] | None = None, **kwargs: Any
    ) -> list[Any]:
        """Call a method for the games `indices` (None for all); ValueError for another method or unknown arguments.

        The methods are `action_masks` ((A,) bool for each game), `render`, and two that concern all games together:
        `opponent_scores` and `set_opponents`, the only one that takes arguments.
        """
        for_all = method_name == "set_opponents"
        if method_name not in METHODS or ((args or kwargs) and not for_all):
            raise ValueError(
                f"env_method was given {method_name!r}: expected one of {METHODS}, and arguments only for set_opponents"
            )
        results = getattr(self._plain, method_name)(*args, **kwargs)
        rows = self._get_indices(indices)
        if for_all or method_name == "opponent_scores":
            return [results for _ in rows]
        return [None if results is None else results[row] for row in rows]

    def get_attr(self, attr_name: str, indices: int | Iterable[int] | None = None) -> list[Any]:
        """Return an attribute of the vector environment, which all games share, once per game."""
        return [getattr(self._plain, attr_name) for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: int | Iterable[int] | None = None) -> None:
        instead = "call set_opponents(agents, weights)" if "opponent" in attr_name else "make another environment"
        raise ValueError(f"set_attr was given {attr_name!r}: the games share all settings; {instead}")

    def env_is_wrapped(self, wrapper_class: Any, indices: int | Iterable[int] | None = None) -> list[bool]:
        """Return whether the vector environment has a wrapper of this class, once per game."""
        wrapper: Any = self.games
        while not isinstance(wrapper, wrapper_class) and wrapper is not self._plain:
            wrapper = wrapper.env
        return [isinstance(wrapper, wrapper_class) for _ in self._get_indices(indices)]

    def close(self) -> None:
        """Do nothing, since no window or process is open."""
