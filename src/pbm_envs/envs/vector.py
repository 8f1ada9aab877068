"""The vector environment of every game: a batch of N games, by Gymnasium's VectorEnv contract.

    envs = chameleon_v0.vector_env(1024)        # or gymnasium.make_vec("pbm/Chameleon-v0", num_envs=1024)
    planes, info = envs.reset(seed=7)
    planes, reward, terminated, truncated, info = envs.step(actions)

In self-play each action is the current player's, and observations show what the next player to move can know. With an
`opponent` (`pbm_envs.envs.opponents`) each game is seen from one seat, and the opponent has moved when `step` returns.

| | shape | |
|---|---|---|
| observations | (N, rows, cols, planes) int8 | view of the player to move (of the seat), `game.planes` |
| reward | (N,) float32 | of the player who just acted (of the seat) |
| `info["action_mask"]` | (N, A) int8 | never all zeros: all ones where a game is over and not yet reset |
| `info["to_move"]` | (N,) int8 | the next player to move |
| `info["rewards"]` | (N, P) float32 | rewards of all players in this step |
| `info["seat"]`, `info["opponent"]` | (N,) | with an opponent: the learner's seat, the opponent's number |
| `info["history"]`, `info["history_players"]` | (N, k) | with `history=k`: the last moves, newest first; the players |
| `info["mask_history"]` | (N, k, A) int8 | and under Curio's `*_total`: the player's masks at their last k turns |
| `info["final_obs"]` | (N,) object | SAME_STEP: the last observation of games that just ended, else None |
| `info["final_info"]` | dict | for games that just ended: `action_mask`, `returns` (N, P), `plies`, `to_move` (N,) |
| | | with an opponent: `seat`, `opponent`, and the learner's `score`: 1, 0, or an equal share for a draw |

The last observation of a game truncated by a limit of plies (`truncated` and not `terminated`) shows the position as if
it were the turn of the next player to move, or of the seat, so that a learner can estimate its value;
`final_info["action_mask"]` is its mask. A terminated game has a mask of ones.

Every key k has a `_k` (N,) bool that marks the rows in which it is valid. Row i plays the game that the AEC environment
plays with the same seed and actions; a seed s means s, s + 1, ... . `reset(options=...)` accepts "board" and "moves" as
in the AEC environment, one for all or a list with one per game (None: the game's own set-up); they apply only to the
first game of each row. "reset_mask" (N,) bool selects the games to reset.

Autoreset modes: SAME_STEP (default) returns the next game's first observation in the step that ends a game; in
NEXT_STEP the action after the end is ignored and starts a game; in DISABLED finished games are unchanged until reset.
SAME_STEP is the default because every action then belongs to a game under way. Gymnasium's vector wrappers accept it
(`RecordEpisodeStatistics`, `NormalizeReward`, `RecordVideo`), except observation wrappers, which need another mode.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import pairwise
from typing import Any, ClassVar, Literal, TypeAlias, final
from weakref import WeakSet

import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import ArrayLike, NDArray

from ..core.checks import check_flag, check_range, check_seed, quoted, to_array, to_options
from ..core.game import Game
from ..core.state import NOBODY, Planes, States, as_bytes
from ..render import Scene
from ..render.modes import Frame, Renderer
from .batch import NO_ROWS, Bools, Floats, GameBatch, Rows, Seed, set_rows
from .buffers import aligned, as_array, as_tensors, import_torch, pinned
from .opponents import RANDOM, Opponents, OpponentScore, Weights

IllegalAction: TypeAlias = Literal["terminate", "raise"]
RENDER_MODES = ["ansi", "rgb_array"]
_with_pools: WeakSet[BoardGameVectorEnv] = WeakSet()
"""Environments with threads, which do not survive a fork: a child process would wait for them forever."""


def _forget_pools() -> None:
    for envs in list(_with_pools):
        envs._pool = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_pools)


class NoNewAttributes:
    """A mixin that rejects unknown attributes after `_seal()`: `envs.opponent = agent` would never be read."""

    _sealed: bool = False
    _instead: ClassVar[dict[str, str]] = {}
    """The suggestion in the error, by attribute."""

    def _seal(self) -> None:
        object.__setattr__(self, "_sealed", True)

    def __setattr__(self, name: str, value: Any) -> None:
        if self._sealed and name not in vars(self) and not hasattr(type(self), name):
            instead = self._instead.get(name, "settings are arguments of the environment's factory")
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r} to set: {instead}")
        super().__setattr__(name, value)


@final
class BoardGameVectorEnv(NoNewAttributes, VectorEnv[Planes, ArrayLike, NDArray[Any]]):
    """`num_envs` games of `game`."""

    _instead = dict.fromkeys(("opponent", "opponents", "league", "weights"), "call set_opponents(agents, weights)")
    _pool: ThreadPoolExecutor | None = None
    """Created by the first step that needs it. A class attribute, since Gymnasium also closes failed environments."""
    _interrupted: bool = False
    """True while opponents play, and after one of them has raised an exception or Ctrl-C has stopped it."""

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
        history: int = 0,
        buffers: Literal["numpy", "torch"] = "numpy",
        pin_memory: bool = False,
        render_mode: str | None = None,
        render_size: int = 480,
        render_theme: str = "light",
    ) -> None:
        """Make an environment; `reset` starts the games.

        Args:
            game: The rules.
            num_envs: The number of games.
            opponent: Opponents (`pbm_envs.envs.opponents`), which `set_opponents` replaces later; None for self-play.
            seat: The learner's seat, or "random" to draw it for each game; needs `opponent`.
            autoreset_mode: Gymnasium's autoreset mode (see the module's docstring).
            illegal_action: "terminate" ends the game, with -1 for the offender and 0 for the others, terminated and
                truncated (for the seat of a game with opponents, only terminated); "raise" raises ValueError and
                changes nothing.
            copy: If False, observations and masks (also in `final_info`) are always the same arrays, which the next
                call overwrites and the caller must not change.
            threads: The number of threads that write observations and masks; useful from 16384 games on (Curio: 4096).
            history: The number of last moves in the infos (`pbm_envs.envs.history`).
            buffers: "torch" returns tensors that share the memory (`pbm_envs.envs.buffers`).
            pin_memory: Whether the tensors are pinned; needs `copy=False`.
            render_mode: None, "ansi" (texts) or "rgb_array" (frames; extra `render`).
            render_size: Pixels of the longer side.
            render_theme: "light" or "dark".
        """
        check_range("num_envs", num_envs, 1, 2**31)
        num_envs = int(num_envs)
        check_flag("copy", copy)
        check_range("threads", threads, 1, 1024)
        check_range("history", history, 0, game.max_plies)
        check_flag("pin_memory", pin_memory)
        if not isinstance(buffers, str) or buffers not in ("numpy", "torch"):
            raise ValueError(f"buffers is {quoted(buffers)}: expected 'numpy' or 'torch'")
        if pin_memory and (copy or buffers == "numpy"):
            raise ValueError("pin_memory is True: expected buffers='torch' and copy=False beside it")
        if buffers == "torch":
            import_torch()
        if not isinstance(illegal_action, str) or illegal_action not in ("terminate", "raise"):
            raise ValueError(f"illegal_action is {quoted(illegal_action)}: expected 'terminate' or 'raise'")
        self._renderer = Renderer(game.name, render_mode, RENDER_MODES, render_size, render_theme)
        self.autoreset_mode = _autoreset_mode(autoreset_mode)
        self.metadata = {"render_modes": RENDER_MODES, "autoreset_mode": self.autoreset_mode}
        self.render_mode, self.game, self.num_envs = render_mode, game, num_envs
        self.single_observation_space = spaces.Box(0, 127, game.observation_shape, np.int8)
        self.single_action_space = spaces.Discrete(game.num_actions)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._games = GameBatch(game, num_envs, history)
        if opponent is None and not (isinstance(seat, str) and seat == RANDOM):
            raise ValueError(f"seat is {quoted(seat)}: expected an opponent with it, since self-play plays all seats")
        self._opponents = None if opponent is None else Opponents(self._games, opponent, seat)
        self._raises = illegal_action == "raise"
        self._copy = copy
        cuts = np.linspace(0, num_envs, min(threads, num_envs) + 1).astype(int).tolist()
        self._parts = [slice(a, b) for a, b in pairwise(cuts)]
        self._views = np.empty(num_envs, game.dtype)
        self._tensors = buffers == "torch"
        memory = pinned if pin_memory else aligned
        self._planes = memory((num_envs, *game.observation_shape), np.int8)
        self._masks = memory((num_envs, game.num_actions), np.bool_)
        self._planes[:], self._masks[:] = 0, False
        self._final_masks = np.ones((0 if copy else num_envs, game.num_actions), np.int8)
        """The masks of `final_info` if not `copy`: ones except in `_final_rows`."""
        self._final_rows = NO_ROWS
        self._seal()

    def set_opponents(self, agents: Any, weights: Weights = None) -> None:
        """Set the opponents of all later games; games under way keep theirs. After a ValueError nothing is changed.

        Args:
            agents: One opponent (`pbm_envs.envs.opponents`), a list, or a mapping from names to opponents.
            weights: Relative frequencies: one number each, or a mapping from names (0 if missing); None if equal.
        """
        if self._opponents is None:
            raise ValueError("this environment plays all seats: make it with opponent=... to have opponents")
        self._opponents.set(agents, weights)

    def opponent_scores(self) -> tuple[OpponentScore, ...]:
        """Return copies of the learner's results, indexed by `info["opponent"]`."""
        return () if self._opponents is None else tuple(map(replace, self._opponents.scores))

    @property
    def has_opponents(self) -> bool:
        """True if the learner plays one seat against opponents; otherwise actions are those of the current player."""
        return self._opponents is not None

    @property
    def states(self) -> States:
        """The full states (N,), including hidden information."""
        return self._games.states

    def reset(self, *, seed: Seed = None, options: Mapping[str, Any] | None = None) -> tuple[Planes, dict[str, Any]]:
        if isinstance(seed, (int, np.integer)):
            check_seed("seed", seed)
            super().reset(seed=int(seed))
        else:
            super().reset()
        options = to_options(options)
        if "reset_mask" in options:
            self._check_uninterrupted()
        rows, seeded = self._games.reset(seed, options)
        if self._opponents is not None:
            self._interrupted = True
            self._opponents.assign_seats(rows, seeded, explicit_start=bool({"board", "moves"} & set(options)))
            self._interrupted = False
        shown = self._observe_games(), self._info({"rewards": np.zeros_like(self.states["returns"])})
        return as_tensors(shown) if self._tensors else shown

    def step(self, actions: ArrayLike) -> tuple[Planes, Floats, Bools, Bools, dict[str, Any]]:
        """Play `actions` (N,), one for each game, and return what the module's docstring describes.

        Raises:
            ValueError: If an action is not an integer in 0..A-1, or is illegal while `illegal_action` is "raise".
                Nothing is changed.
            RuntimeError: Before the first reset; or if an opponent has failed since the last one.
        """
        self._check_uninterrupted()
        games = self._games
        actions = to_array("actions", as_array(actions), "integers, one for each game")
        players = self._players().copy()
        if self._opponents is not None:
            games.take_stock()
        games.play(actions, None if self._raises else self._masks)
        if self._opponents is not None:
            self._interrupted = True
            self._opponents.play_opponents()
        restarts = self.autoreset_mode is AutoresetMode.NEXT_STEP
        waiting = set_rows(games.over) if restarts else NO_ROWS
        brought, ended = games.outcomes(players, restarts=restarts, one_seat=self._opponents is not None)
        if waiting.size:
            self._next_games(waiting)
        info: dict[str, Any] = {"rewards": brought.rewards}
        if ended.size:
            info |= self._final(ended, brought.ended)
            if self._opponents is not None:
                self._opponents.count(ended)
            if self.autoreset_mode is AutoresetMode.SAME_STEP:
                self._next_games(ended)
        self._interrupted = False
        shown = self._observe_games(), brought.reward, brought.terminated, brought.truncated, self._info(info)
        return as_tensors(shown) if self._tensors else shown

    def action_masks(self) -> Bools:
        """Return `info["action_mask"]` as bool, (N, A), as sb3-contrib expects it."""
        self._games.started()
        return self._masks.copy()

    def render(self) -> tuple[Frame, ...] | None:
        """Return a text or an (H, W, 3) uint8 array per game, as the player to move (the seat) sees it, or None."""
        return None if self.render_mode is None else tuple(map(self._renderer.frame, self.scenes()))

    def scenes(self) -> Iterator[Scene]:
        """Yield the picture of each game."""
        self._games.started()
        return (self.game.scene(view) for view in self.game.view(self.states, self._players()))

    def close_extras(self, **_: Any) -> None:
        if self._pool is not None:
            self._pool.shutdown()
            self._pool = None

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"_pool": None}

    def _check_uninterrupted(self) -> None:
        """Raise RuntimeError after a failure of an opponent: the learner would play the opponent's next move."""
        if self._interrupted:
            raise RuntimeError("an opponent failed while it was to move: call reset() to start all games again")

    def _players(self) -> NDArray[np.int8]:
        """Return the learner's seat, or the player to move, in each game (N,)."""
        return self.states["to_move"] if self._opponents is None else self._opponents.seats

    def _next_games(self, rows: Rows) -> None:
        self._games.deal(rows)
        if self._opponents is not None:
            self._opponents.assign_seats(rows)

    def _observe_games(self) -> Planes:
        planes = aligned(self._planes.shape, np.int8) if self._copy else self._planes
        first, *others = self._parts
        if others and self._pool is None:
            self._pool = ThreadPoolExecutor(len(others))
            _with_pools.add(self)
        waiting = [self._pool.submit(self._observe_rows, part, planes) for part in others] if self._pool else []
        self._observe_rows(first, planes)
        for part in waiting:
            part.result()
        return planes

    def _observe_rows(self, part: slice, planes: Planes) -> None:
        game, states, masks, players = self.game, self.states[part], self._masks[part], self._players()[part]
        over = set_rows(self._games.over[part])
        if self._games.states_are_views and not over.size:
            try:
                states["viewer"] = players
                game.observe(states, out=planes[part])
                game.legal_action_mask(states, out=masks)
            finally:
                states["viewer"] = NOBODY
            return
        views = self._games.views(states, players, self._views[part])
        if over.size:
            rows = over + (part.start or 0)
            last = self._games.last_views(rows, players[over])
            as_bytes(views)[over] = as_bytes(last)
        game.observe(views, out=planes[part])
        game.legal_action_mask(views, out=masks)
        if over.size:
            masks[over] = True
            self._games.last_masks(rows, last, self._masks)

    def _info(self, info: dict[str, Any]) -> dict[str, Any]:
        masks = self._masks.view(np.int8)
        if self._copy:
            masks = aligned(masks.shape, np.int8)
            masks[:] = self._masks
        now = {"action_mask": masks, "to_move": self.states["to_move"].copy()}
        if self._opponents is not None:
            now |= self._opponents.info()
        if self._games.history is not None:
            now |= self._games.history.info(self._players())
        now["rewards"] = info.pop("rewards")
        everywhere = np.ones((len(now), self.num_envs), np.bool_)
        return now | {f"_{key}": everywhere[k] for k, key in enumerate(now)} | info

    def _final(self, rows: Rows, ended: Bools) -> dict[str, Any]:
        """Return the infos of games that have just ended: these rows, marked in `ended` (N,)."""
        views = self._games.last_views(rows, None if self._opponents is None else self._opponents.seats[rows])
        if self._copy:
            masks = np.ones((self.num_envs, self.game.num_actions), np.int8)
            self._games.last_masks(rows, views, masks)
        else:
            masks = self._final_masks
            if self._final_rows.size:
                masks[self._final_rows] = 1
            self._final_rows = self._games.last_masks(rows, views, masks).copy()  # `rows` are overwritten
        plies, to_move = self.states["ply"].copy(), self.states["to_move"].copy()
        facts = {"action_mask": masks, "returns": self._games.returns.copy(), "plies": plies, "to_move": to_move}
        if self._opponents is not None:
            facts |= {**self._opponents.info(), "score": self._opponents.points()}
        if self._games.history is not None:
            facts |= self._games.history.info(self._players())
        marks = np.empty((len(facts) + 2, self.num_envs), np.bool_)
        marks[:] = ended
        facts |= {f"_{key}": marks[k] for k, key in enumerate(facts)}
        final = {"final_info": facts, "_final_info": marks[-2]}
        if self.autoreset_mode is not AutoresetMode.SAME_STEP:
            return final
        observations = np.empty(self.num_envs, object)
        for row, planes in zip(rows.tolist(), self.game.observe(views), strict=True):
            observations[row] = planes
        return {"final_obs": observations, "_final_obs": marks[-1]} | final


def _autoreset_mode(mode: AutoresetMode | str) -> AutoresetMode:
    if isinstance(mode, str) and mode in {known.value for known in AutoresetMode}:
        return AutoresetMode(mode)
    if not isinstance(mode, AutoresetMode):
        known = [known.value for known in AutoresetMode]
        raise ValueError(f"autoreset_mode is {quoted(mode)}: expected an AutoresetMode or one of {known}")
    return mode
