"""The single-agent environment of every game: one seat against an opponent, by Gymnasium's Env contract.

    env = gymnasium.make("pbm/Curio-v0", opponent="mcts:simulations=50", seat="random")
    planes, info = env.reset(seed=7)
    planes, reward, terminated, truncated, info = env.step(action)

The opponent (`pbm_envs.opponents`; "random" by default) has answered when `reset` and `step` return. Observations
(rows, cols, planes) int8 are what the seat can know; rewards are the seat's: +1, 0 or -1 at the end. `info` has
`action_mask` (A,) int8, all ones after the end; `seat`; and `opponent`, which one of a list it is. `action_masks()`
gives the same as bool, as sb3-contrib's MaskablePPO expects. `reset(options=...)`: "board" and "moves" as in the AEC
environment, whose set-ups these are for the same seed.

This is a vector environment of one game. Many at once, which is much faster: `vector_env(N, opponent=...)`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, final

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from .game import Game
from .opponents import RANDOM
from .render.modes import MODES, Frame, Renderer
from .state import Planes, States
from .vector import IllegalAction, VectorGames, observation_space


@final
class OneSeat(gymnasium.Env[Planes, np.int64]):
    """One game of `game` at a time."""

    metadata = {"render_modes": list(MODES), "render_fps": 2}

    def __init__(
        self,
        game: Game,
        opponent: Any = "random",
        seat: int | str = RANDOM,
        *,
        illegal_action: IllegalAction = "terminate",
        render_mode: str | None = None,
        render_size: int = 480,
        render_theme: str = "light",
    ) -> None:
        """`seat`: which player the learner is, or "random", drawn for each game. `illegal_action`: "terminate" ends
        the game, at -1; "raise" raises ValueError and changes nothing. `render_mode`, `render_size`, `render_theme`:
        as in `pbm_envs.aec`; what is drawn is what the seat sees.
        """
        if opponent is None:
            raise ValueError("opponent is None: expected one; both sides are played in the vector environment")
        self.game = game
        self.render_mode = render_mode
        self._renderer = Renderer(game.name, render_mode, MODES, render_size, render_theme)
        self.observation_space = observation_space(game)
        self.action_space = spaces.Discrete(game.num_actions)
        self._one = VectorGames(
            game,
            1,
            opponent=opponent,
            seat=seat,
            autoreset_mode=AutoresetMode.DISABLED,
            illegal_action=illegal_action,
        )

    @property
    def states(self) -> States:
        """(1,) the full state, secrets included."""
        return self._one.states

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[Planes, dict[str, Any]]:
        """Start a game; without a seed, the one that follows from the last seed."""
        super().reset(seed=seed)
        options = dict(options or {})
        if "reset_mask" in options:
            raise ValueError("reset was given the option 'reset_mask': expected 'board' and 'moves'")
        planes, info = self._one.reset(seed=seed, options=options)
        if self.render_mode == "human":
            self.render()
        return planes[0], _first(info)

    def step(self, action: np.int64 | int) -> tuple[Planes, float, bool, bool, dict[str, Any]]:
        planes, reward, terminated, truncated, info = self._one.step(np.asarray(action).reshape(1))
        if self.render_mode == "human":
            self.render()
        return planes[0], float(reward[0]), bool(terminated[0]), bool(truncated[0]), _first(info)

    def action_masks(self) -> NDArray[np.bool_]:
        """(A,) the legal actions."""
        return self._one.action_masks()[0]

    def render(self) -> Frame | None:
        """The position as the seat sees it: a text or an (H, W, 3) uint8 array; None from a window."""
        if self.render_mode is None:
            return None
        return self._renderer.draw(next(iter(self._one.scenes())), pause=1 / self.metadata["render_fps"])

    def close(self) -> None:
        """Close the window, if there is one."""
        self._renderer.close()


def _first(info: dict[str, Any]) -> dict[str, Any]:
    return {
        "action_mask": info["action_mask"][0],
        "seat": int(info["seat"][0]),
        "opponent": int(info["opponent"][0]),
    }
