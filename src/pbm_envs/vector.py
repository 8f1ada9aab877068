"""The vector environment of every game: N games in lockstep, by Gymnasium's VectorEnv contract.

    envs = chameleon_v0.vector_env(1024)        # or gymnasium.make_vec("pbm/Chameleon-v0", num_envs=1024)
    planes, info = envs.reset(seed=7)
    planes, reward, terminated, truncated, info = envs.step(actions)

Self-play: each action is that of the player to move, and what is shown is what the next player to move can know. With
an `opponent` (`pbm_envs.opponents`) each game is that of one seat, and the opponent has answered when `step` returns.

| | shape | |
|---|---|---|
| observations | (N, rows, cols, planes) int8 | view of who is to move (of the seat), `game.planes` |
| reward | (N,) float32 | of the player who just acted (of the seat) |
| `info["action_mask"]` | (N, A) int8 | never all zeros: all ones where a game is over and not yet reset |
| `info["to_move"]` | (N,) int8 | who acts next |
| `info["rewards"]` | (N, P) float32 | of all players, of this step |
| `info["seat"]`, `info["opponent"]` | (N,) | with an opponent: the learner's seat, which of the opponents |
| `info["final_obs"]` | (N,) object | SAME_STEP, where games ended: the last observation, else None |
| `info["final_info"]` | dict | there too: `returns` (N, P), `plies` (N,), `to_move`, `seat`, `opponent` |

Every key k comes with `_k` (N,) bool, which rows it is for. Row i plays the game that the AEC environment plays with
the same seed and actions; seed s stands for s, s + 1, ... . `reset(options=...)`: "board" and "moves" as there, one for
all or a list of one for each (None: the game's own start), for these games, not for those that follow; "reset_mask"
(N,) bool, which games.

Autoreset: SAME_STEP (default) shows the next game's first observation in the step that ends a game; in NEXT_STEP the
action after the end is ignored and starts a game; in DISABLED games that are over stay as they are until reset.
Gymnasium's own wrappers of observations refuse SAME_STEP.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from inspect import signature
from itertools import pairwise
from typing import Any, Literal, TypeAlias, TypeVar, final

import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import ArrayLike, NDArray

from .checks import check_flag, check_range
from .game import Game
from .lockstep import Lockstep, Rows, Seed
from .opponents import RANDOM, Opponents
from .render import Scene
from .render.modes import Frame, Renderer
from .state import Planes, States, taken

Bools: TypeAlias = NDArray[np.bool_]
Floats: TypeAlias = NDArray[np.float32]
IllegalAction: TypeAlias = Literal["terminate", "raise"]
RENDER_MODES = ["ansi", "rgb_array"]
Environment = TypeVar("Environment")


@final
class VectorGames(VectorEnv[Planes, ArrayLike, NDArray[Any]]):
    """`num_envs` games of `game`."""

    _pool: ThreadPoolExecutor | None = None
    """Made by the first step that needs it. (Gymnasium closes even what wrong settings have kept from being made.)"""

    def __init__(
        self,
        game: Game,
        num_envs: int,
        *,
        opponent: Any = None,
        seat: int | str = RANDOM,
        autoreset_mode: AutoresetMode | str = AutoresetMode.SAME_STEP,
        illegal_action: IllegalAction = "terminate",
        copy: bool = True,
        threads: int = 1,
        render_mode: str | None = None,
        render_size: int = 480,
        render_theme: str = "light",
    ) -> None:
        """`opponent`, `seat`: see `pbm_envs.opponents`; None for self-play.

        `illegal_action`: "terminate" ends the game, at -1 for the offender and 0 for the others, terminated and
        truncated (to the seat of a game with opponents only terminated); "raise" raises ValueError and changes nothing.
        `copy`: if False, observations and masks are always the same two arrays, which the next call overwrites and
        nobody else may write to. `threads` write observations and masks side by side, which pays from about 16384 games
        on (in Curio 1024). `render_mode`: None, "ansi" (texts) or "rgb_array" (frames, `render_size` pixels on the
        longer side; extra `render`); `render_theme`: "light" or "dark".
        """
        check_range("num_envs", num_envs, 1, 2**31)
        check_flag("copy", copy)
        check_range("threads", threads, 1, 1024)
        if illegal_action not in ("terminate", "raise"):
            raise ValueError(f"illegal_action is {illegal_action!r}: expected 'terminate' or 'raise'")
        self._renderer = Renderer(game.name, render_mode, RENDER_MODES, render_size, render_theme)
        self.autoreset_mode = _autoreset_mode(autoreset_mode)
        self.metadata = {"render_modes": RENDER_MODES, "autoreset_mode": self.autoreset_mode}
        self.render_mode = render_mode
        self.game = game
        self.num_envs = num_envs
        self.single_observation_space = observation_space(game)
        self.single_action_space = spaces.Discrete(game.num_actions)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._games = Lockstep(game, num_envs)
        self._opponents = None if opponent is None else Opponents(self._games, opponent, seat)
        self._raises = illegal_action == "raise"
        self._copy = copy
        self._rows = np.arange(num_envs)
        cuts = np.linspace(0, num_envs, min(threads, num_envs) + 1).astype(int).tolist()
        self._parts = [slice(a, b) for a, b in pairwise(cuts)]
        self._views = np.empty(num_envs, game.dtype)
        self._planes = np.zeros((num_envs, *game.observation_shape), np.int8)
        self._masks = np.zeros((num_envs, game.num_actions), np.bool_)

    @property
    def states(self) -> States:
        """(N,) the full states, secrets included; of games that are over until the next one has started."""
        return self._games.states

    def reset(self, *, seed: Seed = None, options: Mapping[str, Any] | None = None) -> tuple[Planes, dict[str, Any]]:
        super().reset(seed=int(seed) if isinstance(seed, (int, np.integer)) else None)
        rows, seeded = self._games.reset(seed, options)
        if self._opponents is not None:
            self._opponents.sit(rows, seeded, asked=bool(options and {"board", "moves"} & set(options)))
        return self._perceive(), self._info({"rewards": np.zeros_like(self.states["returns"])})

    def step(self, actions: ArrayLike) -> tuple[Planes, Floats, Bools, Bools, dict[str, Any]]:
        games, states = self._games, self.states
        waiting = np.flatnonzero(states["done"]) if self.autoreset_mode is AutoresetMode.NEXT_STEP else self._rows[:0]
        players, before = self._players().copy(), states["returns"].copy()
        games.play(actions, None if self._raises else self._masks)
        if self._opponents is not None:
            self._opponents.answer()
        rewards = states["returns"] - before
        if waiting.size:
            self._next_games(waiting)
        over = states["done"].copy()
        truncated = states["truncated"] & over
        terminated = over & (~truncated | games.illegal)
        if self._opponents is not None:
            truncated &= ~games.illegal
        info: dict[str, Any] = {"rewards": rewards}
        if self.autoreset_mode is AutoresetMode.SAME_STEP and over.any():
            info |= self._final(np.flatnonzero(over))
            self._next_games(np.flatnonzero(over))
        return self._perceive(), rewards[self._rows, players], terminated, truncated, self._info(info)

    def action_masks(self) -> Bools:
        """(N, A) bool, `info["action_mask"]` as sb3-contrib expects it."""
        self._games.started()
        return self._masks.copy()

    def render(self) -> tuple[Frame, ...] | None:
        """A text or an (H, W, 3) uint8 array for each game, as who is to move (the seat) sees it; None without a render
        mode.
        """
        if self.render_mode is None:
            return None
        return tuple(self._renderer.frame(scene) for scene in self.scenes())

    def scenes(self) -> Iterator[Scene]:
        """The picture of each game."""
        self._games.started()
        return (self.game.scene(view) for view in self.game.view(self.states, self._players()))

    def close_extras(self, **_: Any) -> None:
        if self._pool is not None:
            self._pool.shutdown()
            self._pool = None

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"_pool": None}

    def _players(self) -> NDArray[np.int8]:
        """(N,) through whose eyes each game is seen: who acts in it."""
        return self.states["to_move"] if self._opponents is None else self._opponents.seats

    def _next_games(self, rows: Rows) -> None:
        self._games.deal(rows)
        if self._opponents is not None:
            self._opponents.sit(rows)

    def _perceive(self) -> Planes:
        planes = np.empty_like(self._planes) if self._copy else self._planes
        first, *others = self._parts
        if others and self._pool is None:
            self._pool = ThreadPoolExecutor(len(others))
        waiting = [self._pool.submit(self._perceive_part, part, planes) for part in others] if self._pool else []
        self._perceive_part(first, planes)
        for part in waiting:
            part.result()
        return planes

    def _perceive_part(self, part: slice, planes: Planes) -> None:
        game, states, views = self.game, self.states[part], self._views[part]
        game.view(states, self._players()[part], out=views)
        views["done"][self._games.illegal[part]] = False  # the position is the one before
        game.observe(views, out=planes[part])
        game.legal_action_mask(views, out=self._masks[part])
        self._masks[part][states["done"]] = True

    def _info(self, info: dict[str, Any]) -> dict[str, Any]:
        masks = self._masks.view(np.int8)
        now = {"action_mask": masks.copy() if self._copy else masks, "to_move": self.states["to_move"].copy()}
        if self._opponents is not None:
            now |= self._opponents.info()
        now["rewards"] = info.pop("rewards")
        return now | {f"_{key}": np.ones(self.num_envs, np.bool_) for key in now} | info

    def _final(self, rows: Rows) -> dict[str, Any]:
        """What is known of games that are over, before the next ones start."""
        ended = np.zeros(self.num_envs, np.bool_)
        ended[rows] = True
        views = self.game.view(taken(self.states, rows), self._players()[rows])
        views["done"][self._games.illegal[rows]] = False
        observations = np.full(self.num_envs, None, object)
        for row, planes in zip(rows.tolist(), self.game.observe(views), strict=True):
            observations[row] = planes.copy()
        facts = {
            "returns": self.states["returns"].copy(),
            "plies": self.states["ply"].copy(),
            "to_move": self.states["to_move"].copy(),
        }
        if self._opponents is not None:
            facts |= self._opponents.info()
        facts |= {f"_{key}": ended.copy() for key in facts}
        return {"final_obs": observations, "_final_obs": ended.copy(), "final_info": facts, "_final_info": ended}


def made(environment: Callable[..., Environment], rules: type[Game], settings: Mapping[str, Any]) -> Environment:
    """`environment` of a game by `rules`, whose options are those of the settings that it does not know itself."""
    known = signature(environment).parameters.keys()
    game = rules(**{name: value for name, value in settings.items() if name not in known})
    return environment(game, **{name: value for name, value in settings.items() if name in known})


def observation_space(game: Game) -> spaces.Space[Any]:
    return spaces.Box(0, 127, game.observation_shape, np.int8)


def _autoreset_mode(mode: AutoresetMode | str) -> AutoresetMode:
    if isinstance(mode, str) and mode in {known.value for known in AutoresetMode}:
        return AutoresetMode(mode)
    if not isinstance(mode, AutoresetMode):
        known = [known.value for known in AutoresetMode]
        raise ValueError(f"autoreset_mode is {mode!r}: expected an AutoresetMode or one of {known}")
    return mode
