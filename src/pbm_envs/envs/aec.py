"""The PettingZoo environment of every game: one AEC class, independent of the rules.

Agents are `player_0`, `player_1` (, `player_2`) in move order. An observation is a dict: `observation`, the game's
planes (rows, cols, planes) int8 as the agent may see them, and `action_mask` (actions,) int8, all zeros for an agent
that is not to move. `observe` works for every possible agent at any time after `reset`, also after the end. After a
truncation by a limit of plies, the agent that would be next to move still observes its turn, with its mask, so that a
learner can estimate the value of the position.

`raw_env` raises the game's ValueError for an illegal action and changes nothing. `env` ends the game (-1 for the
offender, 0 for the others, terminated and truncated), rejects actions outside the action space, and detects calls in
the wrong order. These are the checks of PettingZoo's usual wrappers (TerminateIllegalWrapper,
AssertOutOfBoundsWrapper, OrderEnforcingWrapper), built in because the wrappers take twice as long as the games.

With `history=k` the infos contain `history` (k,), the last moves, newest first, padded with -1; `history_players` (k,);
and, if legality reveals hidden information (Curio's `*_total`), `mask_history` (k, actions), the agent's masks at its
last turns. `pbm_envs.envs.history.history_planes` converts moves to planes.

`render_mode` is "ansi" (`render` returns a text), "rgb_array" (an (H, W, 3) uint8 array; needs the extra `render`) or
"human" (a window that shows every position, at most `metadata["render_fps"]` per second; needs the extra `window`;
raises RuntimeError without a display). All draw the same scene, as `render_viewer` sees it: the player to move by
default, or a fixed agent; only "all" shows everything.
"""

from __future__ import annotations

import copy
import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from operator import index
from typing import Any, Literal, TypeAlias, final

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray
from pettingzoo import AECEnv
from pettingzoo.utils.env_logger import EnvLogger

from ..core.checks import check_range, check_seed, quoted, to_moves, to_options
from ..core.compiling import logger
from ..core.game import Game
from ..core.state import INT64, Rng, States, copy_states
from ..records import play_moves
from ..render import Scene
from ..render.modes import EVERYTHING, MODES, Frame, Renderer
from .history import History

Observation: TypeAlias = dict[str, NDArray[np.int8]]
_numbers = itertools.count()
FIRST = np.zeros(1, np.int64)
"""The rows of a batch of one."""
GAME_ATTRIBUTES = ("rewards", "terminations", "truncations", "infos", "agent_selection", "num_agents", "agents")
"""Attributes that exist only after `reset`."""
KEPT = ("agents", "agent_selection", "_skip_agent_selection", "rewards", "_cumulative_rewards", "terminations",
        "truncations", "_rng", "_history")  # fmt: skip
"""Attributes that a snapshot saves besides the game and its state."""


@dataclass(frozen=True)
class Snapshot:
    """A saved position of a game, independent of the environment that it was taken from."""

    game: Game
    states: States
    """The full state, (1,)."""
    fields: dict[str, Any]
    """The values of `KEPT`."""


@final
class BoardGameAECEnv(AECEnv[str, Observation, int | None]):
    """One game of `game`, in `states`: a batch of one."""

    def __init__(
        self,
        game: Game,
        render_mode: str | None = None,
        render_viewer: str | None = None,
        *,
        render_size: int = 480,
        render_theme: str = "light",
        illegal_action: Literal["raise", "terminate"] = "raise",
        history: int = 0,
    ) -> None:
        """Make an environment; `reset` starts a game.

        Args:
            game: The rules.
            render_mode: None, "ansi", "rgb_array" or "human".
            render_viewer: The agent whose view is drawn, such as "player_0"; None for the player to move, or "all" for
                the full state.
            render_size: Pixels of the longer side.
            render_theme: "light" or "dark".
            illegal_action: "raise" (as in `raw_env`) or "terminate" (as in `env`).
            history: The number of last moves in the infos.

        Raises:
            ValueError: If a setting is wrong.
            ImportError: If the render mode needs a library that is missing.
        """
        super().__init__()
        self.possible_agents = [f"player_{k}" for k in range(game.num_players)]
        viewers = [*self.possible_agents, EVERYTHING]
        if render_viewer is not None and not (isinstance(render_viewer, str) and render_viewer in viewers):
            raise ValueError(f"render_viewer is {quoted(render_viewer)}: expected None or one of {viewers}")
        if not isinstance(illegal_action, str) or illegal_action not in ("raise", "terminate"):
            raise ValueError(f"illegal_action is {quoted(illegal_action)}: expected 'raise' or 'terminate'")
        check_range("history", history, 0, game.max_plies)
        self.illegal_action, self._checks = illegal_action, illegal_action == "terminate"
        if not self._checks:
            self.agents: list[str] = []
            self.agent_selection = self.possible_agents[0]
        self.game, self.render_mode, self.render_viewer = game, render_mode, render_viewer
        self._renderer = Renderer(f"{game.name}_v0", render_mode, MODES, render_size, render_theme)
        self.metadata: dict[str, Any] = {
            "name": f"{game.name}_v0",
            "render_modes": list(MODES),
            "is_parallelizable": False,
            "render_fps": 2,
        }
        self._seat = {agent: k for k, agent in enumerate(self.possible_agents)}
        self._states: States | None = None
        self._action = np.zeros(1, INT64)
        self._view = np.empty(1, game.dtype)  # reused: allocating records takes as long as playing a ply
        self._rng: Rng | None = None
        self.game_number = -1
        """The number of the game that `reset`, `set_state` or copying began last, unique in the process."""
        self._cut_off = False
        """True if a limit of plies has ended the game."""
        self._stepped = False
        """True if there was a step or a reset since `agent_iter` named an agent."""
        self._history = History(game, 1, history) if history else None
        self.state_space = spaces.Box(0, 127, game.observation_shape, np.int8)
        self.observation_spaces = {
            agent: spaces.Dict(
                observation=spaces.Box(0, 127, game.observation_shape, np.int8),
                action_mask=spaces.Box(0, 1, (game.num_actions,), np.int8),
            )
            for agent in self.possible_agents
        }
        self.action_spaces = {agent: spaces.Discrete(game.num_actions) for agent in self.possible_agents}

    @property
    def states(self) -> States:
        """The full state (1,), including hidden information."""
        if self._states is None:
            raise RuntimeError("there is no game yet: call reset() first")
        return self._states

    def __getattr__(self, name: str) -> Any:
        if name in GAME_ATTRIBUTES:
            raise AttributeError(f"{name} cannot be accessed before reset")
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        self._check_agent(agent)
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        self._check_agent(agent)
        return self.action_spaces[agent]

    def _check_agent(self, agent: str) -> None:
        if not isinstance(agent, str) or agent not in self._seat:
            raise ValueError(f"there is no agent {quoted(agent)}: expected one of {self.possible_agents}")

    def reset(self, seed: int | None = None, options: Mapping[str, Any] | None = None) -> None:
        """Start a game.

        Args:
            seed: Determines all set-ups from here on; without a seed, the random stream continues.
            options: "board", a board text (default: the game's own set-up), and "moves", a list of move texts played
                from there, for which nobody is rewarded, even if they end the game. Others are ignored with a logged
                warning (PettingZoo's own api_test passes one).
        """
        check_seed("seed", seed)
        options = to_options(options)
        board, moves = options.pop("board", None), to_moves(options.pop("moves", None))
        if options:
            logger.warning("reset ignores the options %s: expected 'board' and 'moves'", sorted(options))
        rng = np.random.default_rng(seed) if seed is not None or self._rng is None else self._rng
        states = self.game.init(1, rng, board)
        start = copy_states(states)
        for _ in play_moves(self.game, states, moves):
            pass
        self._rng, self._states, self._stepped, self.game_number = rng, states, True, next(_numbers)
        if self._history is not None:
            self._history = History(self.game, 1, self._history.length)
            self._history.replay(start, moves)
        self.agents = self.possible_agents[:]
        self.rewards, self._cumulative_rewards = (dict.fromkeys(self.agents, 0.0) for _ in range(2))
        self.terminations, self.truncations = (dict.fromkeys(self.agents, False) for _ in range(2))
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self._skip_agent_selection: str | None = None
        self._close_seats()
        self._show_history()
        if self.render_mode == "human":
            self.render()

    def step(self, action: int | None) -> None:
        """Play `action` for `agent_selection`; None for an agent that is done."""
        self._before_reset("step.")
        states, self._stepped = self.states, True
        if not self.agents:
            if self._checks:
                EnvLogger.warn_step_after_terminated_truncated()
                return
            raise RuntimeError("all agents are done: call reset()")
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        if self._checks:
            assert self.action_spaces[agent].contains(action), "action is not in action space"
        if action is None:
            raise ValueError(f"{agent} is to move: None is for agents that are done")
        self._action[0] = self._number(action)
        before = None if self._history is None else copy_states(states)
        try:
            self.game.step(states, self._action)
        except ValueError:
            if not self._checks or not self.game.legal_action_mask(states).any():  # the latter is the game's fault
                raise
            self._end_at_an_illegal_action(agent)
            return
        if self._history is not None and before is not None:
            self._history.add(FIRST, before, self._action)
        self._cumulative_rewards[agent] = 0.0
        # rewards are still 0: agents with nonzero rewards are done, and their dead step clears the rewards
        if states["done"][0] or action == self.game.resign_action:
            returns = states["returns"][0].tolist()
            for other in self.agents:
                self.rewards[other] = returns[self._seat[other]]
            self._accumulate_rewards()
            self._close_seats()
        else:
            self.agent_selection = self.possible_agents[states["to_move"][0]]
        self._show_history()
        if self.render_mode == "human":
            self.render()

    def _number(self, action: Any) -> int:
        """Return an action as int; raise TypeError unless it is an integer, ValueError if it exceeds 64 bits."""
        expected = f"expected an integer in 0..{self.game.num_actions - 1}"
        given: Any = None if isinstance(action, bool) else action
        try:
            number = index(given)
        except TypeError:
            raise TypeError(f"action is {quoted(action)}: {expected}") from None
        if abs(number) >= 1 << 63:
            raise ValueError(f"action is {quoted(action)}: {expected}")
        return number

    def _end_at_an_illegal_action(self, agent: str) -> None:
        """End the game with -1 for the offender, terminated and truncated, as TerminateIllegalWrapper does."""
        EnvLogger.warn_on_illegal_move()
        self._cumulative_rewards[agent] = 0
        self.terminations, self.truncations = (dict.fromkeys(self.agents, True) for _ in range(2))
        self.rewards = dict.fromkeys(self.agents, 0.0) | {agent: -1.0}
        self._accumulate_rewards()
        self._deads_step_first()

    def _before_reset(self, what: str) -> None:
        """Raise OrderEnforcingWrapper's error before the first reset; without checks, `states` raises."""
        if self._checks and self._states is None:
            raise AssertionError(f"reset() needs to be called before {what}")

    def agent_iter(self, max_iter: int = 2**63) -> Any:
        """Yield the agents in turn, at most `max_iter`: call `step` once for each."""
        check_range("max_iter", max_iter, 0)
        if not self._checks:
            return super().agent_iter(max_iter)
        self._before_reset("agent_iter().")
        return self._turns(max_iter)

    def _turns(self, most: int) -> Iterator[str]:
        while self.agents and most > 0:
            assert self._stepped, "need to call step() or reset() in a loop over `agent_iter`"
            self._stepped = False
            yield self.agent_selection
            most -= 1

    def _show_history(self) -> None:
        """Update the infos of the agents that are in the game."""
        if self._history is not None:
            for agent in self.agents:
                shown = self._history.info(np.array([self._seat[agent]]))
                self.infos[agent] = {name: values[0] for name, values in shown.items()}

    def _close_seats(self) -> None:
        """Update terminations, truncations and the selected agent, since the last ply may have ended the game."""
        states = self.states
        self.agent_selection = self.possible_agents[states["to_move"][0]]
        self._cut_off = truncated = bool(states["truncated"][0])
        if states["done"][0]:
            for agent in self.agents:
                self.terminations[agent], self.truncations[agent] = not truncated, truncated
            if self.agent_selection not in self.agents:
                self.agent_selection = self.agents[0]
        elif states["returns"].any():  # a player has resigned (A2)
            for agent in self.agents:
                self.terminations[agent] = bool(states["returns"][0, self._seat[agent]])
            self._deads_step_first()

    def observe(self, agent: str) -> Observation:
        """Return what `agent` can know, and its legal actions."""
        self._before_reset("observe.")
        states = self.states
        self._check_agent(agent)
        if self._cut_off:
            states = copy_states(states)
            states["done"] = states["truncated"] = False
        observations, masks = self.game.observe_with_mask(states, self._seat[agent], self._view)
        return {"observation": observations[0], "action_mask": masks.view(np.int8)[0]}

    def state(self) -> NDArray[np.int8]:
        """Return the full state as a `player_0` who knows everything would observe it, (rows, cols, planes) int8."""
        self._before_reset("state.")
        return self.game.observe(self.states)[0]

    def clone(self) -> BoardGameAECEnv:
        """Return an equal, independent environment."""
        return copy.deepcopy(self, {id(self.game): self.game})

    def __setstate__(self, fields: dict[str, Any]) -> None:
        """Restore a copy, also from another process, as a game with a number of its own."""
        self.__dict__.update(fields, game_number=next(_numbers))

    def get_state(self) -> Snapshot:
        """Return a snapshot of the game, for `set_state`."""
        states = copy_states(self.states)
        return Snapshot(self.game, states, copy.deepcopy({name: getattr(self, name) for name in KEPT}))

    def set_state(self, snapshot: Snapshot) -> None:
        """Restore a snapshot of a game with the same rules.

        Raises:
            ValueError: For anything else; InvalidStateError, before any change, for records that are not states.
        """
        if not isinstance(snapshot, Snapshot):
            raise ValueError(f"{quoted(snapshot)} is not a snapshot: expected what get_state() returns")
        if snapshot.game != self.game:
            raise ValueError(f"the snapshot is of {snapshot.game!r}: expected {self.game!r}")
        states, own = copy_states(snapshot.states), self._history
        self.game.validate(states)
        self._states, self.game_number, self._stepped = states, next(_numbers), True
        for name, value in copy.deepcopy(snapshot.fields).items():
            setattr(self, name, value)
        self.infos = {agent: {} for agent in self.agents}
        self._cut_off = bool(states["truncated"][0])
        if own is None or self._history is None or self._history.length != own.length:
            self._history = None if own is None else History(self.game, 1, own.length)
        self._show_history()

    def render(self) -> Frame | None:
        """Return the position as text ("ansi") or as an (H, W, 3) uint8 array ("rgb_array"); None in other modes."""
        self._before_reset("render.")
        if self.render_mode is None:
            return None
        return self._renderer.draw(self._scene(), pause=1 / self.metadata["render_fps"])

    def _scene(self) -> Scene:
        if self.render_viewer == EVERYTHING:
            return self.game.scene(self.states)
        viewer = self.possible_agents[self.states["to_move"][0]] if self.render_viewer is None else self.render_viewer
        return self.game.scene(self.game.view(self.states, self._seat[viewer]))

    def close(self) -> None:
        """Close the window, if one is open."""
        self._renderer.close()
