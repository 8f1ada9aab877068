"""Many games from one seat as a `VecEnv` of Stable-Baselines3, with masks for sb3-contrib.

    env = GamesVecEnv(Chameleon(size=5), 64, opponent="random")
    model = MaskablePPO("MlpPolicy", env)

All games are one batch (`pbm_envs.vector`), which is much faster than a `DummyVecEnv` of single environments. Seats,
opponents and rewards as there.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, final

import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from ..game import Game
from ..opponents import RANDOM
from ..state import Planes
from ..vector import Bools, Floats, VectorGames

try:
    from stable_baselines3.common.vec_env import VecEnv
except ImportError:
    raise ImportError("pbm_envs.adapters.sb3 needs Stable-Baselines3: pip install sb3-contrib") from None

METHODS = ("action_masks", "render")


@final
class GamesVecEnv(VecEnv):
    """`num_envs` games of `game`; `games` is the vector environment that plays them."""

    def __init__(
        self,
        game: Game,
        num_envs: int,
        opponent: Any = "random",
        seat: int | str = RANDOM,
        render_mode: str | None = None,
    ) -> None:
        if opponent is None:
            raise ValueError("opponent is None: expected one, since Stable-Baselines3 rewards whoever acts next")
        self.games = VectorGames(
            game,
            num_envs,
            opponent=opponent,
            seat=seat,
            autoreset_mode=AutoresetMode.SAME_STEP,
            render_mode=render_mode,
        )
        self._actions: Any = None
        super().__init__(num_envs, self.games.single_observation_space, self.games.single_action_space)

    def reset(self) -> Planes:
        """Observations (N, rows, cols, planes), after `seed` and `set_options` as they say."""
        names = {name for options in self._options for name in options}
        options = {name: [one.get(name) for one in self._options] for name in names}
        planes, _ = self.games.reset(seed=self._seeds, options=options)
        self._reset_seeds()
        self._reset_options()
        return planes

    def step_async(self, actions: NDArray[Any]) -> None:
        self._actions = actions

    def step_wait(self) -> tuple[Planes, Floats, Bools, list[dict[str, Any]]]:
        """Where a game has ended, the observation is the next game's first."""
        planes, rewards, terminated, truncated, info = self.games.step(self._actions)
        over = terminated | truncated
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for row in np.flatnonzero(over).tolist():
            infos[row] = {
                "terminal_observation": info["final_obs"][row],
                "TimeLimit.truncated": bool(truncated[row] & ~terminated[row]),
            }
        return planes, rewards, over, infos

    def env_method(
        self, method_name: str, *args: Any, indices: int | Iterable[int] | None = None, **kwargs: Any
    ) -> list[Any]:
        """`action_masks` (A,) bool of each game, or `render`."""
        if method_name not in METHODS or args or kwargs:
            raise ValueError(f"env_method was given {method_name!r}: expected one of {METHODS}, without arguments")
        answers = getattr(self.games, method_name)()
        return [None if answers is None else answers[row] for row in self._get_indices(indices)]

    def get_attr(self, attr_name: str, indices: int | Iterable[int] | None = None) -> list[Any]:
        """Of the vector environment, which all games share."""
        return [getattr(self.games, attr_name) for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: int | Iterable[int] | None = None) -> None:
        raise ValueError(f"set_attr was given {attr_name!r}: the games share all settings; make another environment")

    def env_is_wrapped(self, wrapper_class: Any, indices: int | Iterable[int] | None = None) -> list[bool]:
        return [False for _ in self._get_indices(indices)]

    def close(self) -> None:
        """Nothing is held open."""
