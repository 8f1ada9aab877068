"""The single-agent environment of every game: one seat against an opponent, by Gymnasium's Env contract.

    env = gymnasium.make("pbm/Curio-v0", opponent="mcts:simulations=50", seat="random")
    planes, info = env.reset(seed=7)
    planes, reward, terminated, truncated, info = env.step(action)

The opponent (`pbm_envs.envs.opponents`; "random" by default) has moved when `reset` and `step` return. Observations
(rows, cols, planes) int8 show what the seat can know; rewards are the seat's: +1, 0 or -1 at the end. `info` has
`action_mask` (A,) int8, all ones after the end; `seat`; the number of the `opponent`; and the `score` of a finished
game: 1, 0, or 1/2 (with three players 1/3) for a draw. `action_masks()` returns the mask as bool for sb3-contrib's
MaskablePPO. `reset(options=...)`: "board" and "moves" as in the AEC environment, which has the same set-ups for the
same seeds. After a truncation by a limit of plies, the last observation and mask are those of a turn of the learner,
who can thus estimate the value of the position.

`set_opponents(agents, weights=None)` replaces the opponents from the next game on. Unknown attributes cannot be set.

This is a vector environment of one game. Many games at once are much faster: `vector_env(N, opponent=...)`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, final

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from numpy.typing import NDArray

from ..core.checks import check_seed, quoted, to_array, to_options
from ..core.game import Game
from ..core.state import Planes, States
from ..render.modes import MODES, Frame, Renderer
from .opponents import RANDOM, OpponentScore, Weights
from .vector import BoardGameVectorEnv, IllegalAction, NoNewAttributes

SHOWN = ("action_mask", "seat", "opponent", "history", "history_players", "mask_history")


@final
class SingleSeatEnv(NoNewAttributes, gymnasium.Env[Planes, np.int64]):
    """One game of `game` at a time."""

    _instead = BoardGameVectorEnv._instead
    metadata = {"render_modes": list(MODES), "render_fps": 2}

    def __init__(
        self,
        game: Game | VectorEnv[Any, Any, Any],
        opponent: Any = "random",
        seat: int | str = RANDOM,
        *,
        illegal_action: IllegalAction = "terminate",
        history: int = 0,
        render_mode: str | None = None,
        render_size: int = 480,
        render_theme: str = "light",
    ) -> None:
        """Make an environment; `reset` starts a game.

        Args:
            game: The rules; or a vector environment of one game, with or without wrappers, with an opponent and the
                autoreset mode DISABLED, which then determines opponent, seat, illegal actions and history.
            opponent: One or several opponents (`pbm_envs.envs.opponents`); by default "random".
            seat: The learner's seat, or "random" to draw it for each game.
            illegal_action: "terminate" ends the game, with reward -1; "raise" raises ValueError and changes nothing.
            history: The number of last moves in the infos, as in the vector environment.
            render_mode: None, "ansi", "rgb_array" or "human"; the seat's view is drawn.
            render_size: Pixels of the longer side.
            render_theme: "light" or "dark".

        Raises:
            ValueError: If a setting is wrong.
            ImportError: If the render mode needs a library that is missing.
        """
        if opponent is None:
            raise ValueError("opponent is None: expected one; both sides are played in the vector environment")
        if isinstance(game, Game):
            rest: dict[str, Any] = {"illegal_action": illegal_action, "history": history}
            mode = AutoresetMode.DISABLED
            game = BoardGameVectorEnv(game, 1, opponent=opponent, seat=seat, autoreset_mode=mode, **rest)
        self._one, plain = game, getattr(game, "unwrapped", None)
        if not isinstance(plain, BoardGameVectorEnv) or not plain.has_opponents or plain.num_envs != 1:
            raise ValueError(
                f"game is {quoted(game)}: expected rules, or a vector environment of one game with an opponent"
            )
        if plain.autoreset_mode is not AutoresetMode.DISABLED:
            raise ValueError(f"autoreset_mode is {plain.autoreset_mode}: expected AutoresetMode.DISABLED")
        self._plain, self.game = plain, plain.game
        self.render_mode = render_mode
        self._renderer = Renderer(self.game.name, render_mode, MODES, render_size, render_theme)
        self.observation_space = self._one.single_observation_space
        self.action_space = self._one.single_action_space
        self._seal()

    def set_opponents(self, agents: Any, weights: Weights = None) -> None:
        """Set the opponents of all later games, as in the vector environment."""
        self._plain.set_opponents(agents, weights)

    def opponent_scores(self) -> tuple[OpponentScore, ...]:
        """Return copies of the learner's results, indexed by `info["opponent"]`."""
        return self._plain.opponent_scores()

    @property
    def states(self) -> States:
        """The full state (1,), including hidden information."""
        return self._plain.states

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[Planes, dict[str, Any]]:
        """Start a game; without a seed, the random stream continues."""
        check_seed("seed", seed)
        super().reset(seed=None if seed is None else int(seed))
        options = to_options(options)
        if "reset_mask" in options:
            raise ValueError("reset was given the option 'reset_mask': expected 'board' and 'moves'")
        planes, info = self._one.reset(seed=seed, options=options)
        if self.render_mode == "human":
            self.render()
        return planes[0], _first(info)

    def step(self, action: np.int64 | int) -> tuple[Planes, float, bool, bool, dict[str, Any]]:
        number = to_array("action", action, "an integer")
        if number.size != 1:
            raise ValueError(f"action is {quoted(action)}: expected an integer in 0..{self.game.num_actions - 1}")
        planes, reward, terminated, truncated, info = self._one.step(number.reshape(1))
        if self.render_mode == "human":
            self.render()
        return planes[0], float(reward[0]), bool(terminated[0]), bool(truncated[0]), _first(info)

    def action_masks(self) -> NDArray[np.bool_]:
        """Return the mask of legal actions, (A,) bool."""
        return self._plain.action_masks()[0]

    def render(self) -> Frame | None:
        """Return the position as the seat sees it: a text or an (H, W, 3) uint8 array; None from a window."""
        if self.render_mode is None:
            return None
        return self._renderer.draw(next(iter(self._plain.scenes())), pause=1 / self.metadata["render_fps"])

    def set_wrapper_attr(self, name: str, value: Any, *, force: bool = True) -> bool:
        """Set an attribute through wrappers, as Gymnasium does; raise AttributeError for an opponent."""
        return super().set_wrapper_attr(name, value, force=force or name in self._instead)

    def close(self) -> None:
        """Close the window, if one is open."""
        self._renderer.close()


def _first(info: dict[str, Any]) -> dict[str, Any]:
    """Return infos with the same keys in every step, as NumPy arrays and scalars, as TorchRL requires."""
    score = info["final_info"]["score"][0] if "final_info" in info else np.float32(0)
    names = [name for name in SHOWN if name in info]
    return {name: info[name][0] for name in names} | {"score": score}
