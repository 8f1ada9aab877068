"""The PettingZoo environment of every game: one AEC class that knows no rules.

Agents are `player_0`, `player_1` (, `player_2`) in move order. An observation is a dict: `observation`, the game's
planes (rows, cols, planes) int8 as the agent may see them, and `action_mask` (actions,) int8, all zeros for an agent
that is not to move. `observe` answers for every possible agent at any time after `reset`, after the end too.

`raw_env` raises the game's ValueError for an illegal action and changes nothing; `env` ends the game: -1 for the
offender, 0 for the others, terminated and truncated (PettingZoo's TerminateIllegalWrapper).

`render_mode`: "ansi" (`render` returns a text), "rgb_array" (an (H, W, 3) uint8 array; extra `render`) or "human" (a
window that shows every position, at most `metadata["render_fps"]` in a second; extra `window`, and a display, else
RuntimeError). All draw the same scene, of what `render_viewer` sees: who is to move by default, or always one agent;
only "all" shows everything.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from operator import index
from typing import Any, TypeAlias, final

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray
from pettingzoo import AECEnv
from pettingzoo.utils import wrappers

from .game import Game
from .kernels import logger
from .render import Scene
from .render.modes import MODES, Frame, Renderer
from .state import INT64, Rng, States, copied

Observation: TypeAlias = dict[str, NDArray[np.int8]]
EVERYTHING = "all"
"""The viewer of a full state."""


@dataclass(frozen=True)
class Snapshot:
    """A moment of a game, independent of the environment it was taken from."""

    game: Game
    states: States
    rng: Rng
    agents: tuple[str, ...]
    agent_selection: str
    skipped: str | None
    """whose turn it is when dead agents have stepped"""
    rewards: dict[str, float]
    cumulative_rewards: dict[str, float]
    terminations: dict[str, bool]
    truncations: dict[str, bool]


@final
class BoardGame(AECEnv[str, Observation, int | None]):
    """One game of `game`, in `states`: a batch of one."""

    def __init__(
        self,
        game: Game,
        render_mode: str | None = None,
        render_viewer: str | None = None,
        *,
        render_size: int = 480,
        render_theme: str = "light",
    ) -> None:
        """`render_mode`: None, "ansi", "rgb_array" or "human". `render_viewer`: through whose eyes; None for who is to
        move, an agent, or "all" for a board without secrets. `render_size`: pixels on the longer side;
        `render_theme`: "light" or "dark".
        """
        super().__init__()
        self.possible_agents = [f"player_{k}" for k in range(game.num_players)]
        viewers = [*self.possible_agents, EVERYTHING]
        if render_viewer is not None and render_viewer not in viewers:
            raise ValueError(f"render_viewer is {render_viewer!r}: expected None or one of {viewers}")
        self.agent_selection = self.possible_agents[0]
        self.game = game
        self.render_mode = render_mode
        self.render_viewer = render_viewer
        self._renderer = Renderer(f"{game.name}_v0", render_mode, MODES, render_size, render_theme)
        self.metadata: dict[str, Any] = {
            "name": f"{game.name}_v0",
            "render_modes": list(MODES),
            "is_parallelizable": False,
            "render_fps": 2,
        }
        self.agents: list[str] = []
        self._seat = {agent: k for k, agent in enumerate(self.possible_agents)}
        self._states: States | None = None
        self._action = np.zeros(1, INT64)
        self._view = np.empty(1, game.dtype)  # a new array of records takes as long as all rules of a ply
        self._rng: Rng | None = None
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
        """(1,) the full state, secrets included."""
        if self._states is None:
            raise RuntimeError("there is no game yet: call reset() first")
        return self._states

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: Mapping[str, Any] | None = None) -> None:
        """Start a game. `options`: "board", a board text (the game's own set-up if missing), and "moves", a list of
        move texts played from there.

        A seed decides all set-ups from here on; without one the next set-up follows from the last. Other options are
        ignored with a logged warning (PettingZoo's own api_test passes one).
        """
        options = dict(options or {})
        board, moves = options.pop("board", None), options.pop("moves", ())
        if not isinstance(moves, (list, tuple)):
            raise ValueError(f"moves are {moves!r}: expected a list of move texts")
        if options:
            logger.warning("reset ignores the options %s: expected 'board' and 'moves'", sorted(options))
        rng = np.random.default_rng(seed) if seed is not None or self._rng is None else self._rng
        states = self.game.init(1, rng, board)
        for text in moves:
            if states["done"][0]:
                raise ValueError(f"move {text!r} comes after the end of the game")
            self.game.step(states, [self.game.string_to_action(text)])
        self._rng, self._states = rng, states
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self._skip_agent_selection: str | None = None
        self._close_seats()
        if self.render_mode == "human":
            self.render()

    def step(self, action: int | None) -> None:
        states, agent = self.states, self.agent_selection
        if not self.agents:
            raise RuntimeError("all agents are done: call reset()")
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        if action is None:
            raise ValueError(f"{agent} is to move: None is for agents that are done")
        self._action[0] = index(action)
        self.game.step(states, self._action)
        self._cumulative_rewards[agent] = 0.0
        # rewards are still 0: whoever has been paid is done, and their dead step clears them
        if states["done"][0] or action == self.game.resign:
            returns = states["returns"][0].tolist()
            for other in self.agents:
                self.rewards[other] = returns[self._seat[other]]
            self._accumulate_rewards()
            self._close_seats()
        else:
            self.agent_selection = self.possible_agents[states["to_move"][0]]
        if self.render_mode == "human":
            self.render()

    def _close_seats(self) -> None:
        """Terminations, truncations and whose turn it is, when the game or one agent's part in it may be over."""
        states = self.states
        self.agent_selection = self.possible_agents[states["to_move"][0]]
        if states["done"][0]:
            truncated = bool(states["truncated"][0])
            for agent in self.agents:
                self.terminations[agent], self.truncations[agent] = not truncated, truncated
            if self.agent_selection not in self.agents:
                self.agent_selection = self.agents[0]
        elif states["returns"].any():  # a player has resigned (A2)
            for agent in self.agents:
                self.terminations[agent] = bool(states["returns"][0, self._seat[agent]])
            self._deads_step_first()

    def observe(self, agent: str) -> Observation:
        states = self.states
        if agent not in self._seat:
            raise ValueError(f"there is no agent {agent!r}: expected one of {self.possible_agents}")
        observations, masks = self.game.perceive(states, self._seat[agent], self._view)
        return {"observation": observations[0], "action_mask": masks.view(np.int8)[0]}

    def state(self) -> NDArray[np.int8]:
        """(rows, cols, planes) int8: the full state, as a `player_0` who knows everything would observe it."""
        return self.game.observe(self.states)[0]

    def clone(self) -> BoardGame:
        """An equal environment that goes its own way."""
        twin = BoardGame(
            self.game,
            self.render_mode,
            self.render_viewer,
            render_size=self._renderer.size,
            render_theme=self._renderer.theme,
        )
        twin.set_state(self.get_state())
        return twin

    def get_state(self) -> Snapshot:
        return Snapshot(
            game=self.game,
            states=copied(self.states),
            rng=copy.deepcopy(self._rng_now()),
            agents=tuple(self.agents),
            agent_selection=self.agent_selection,
            skipped=self._skip_agent_selection,
            rewards=dict(self.rewards),
            cumulative_rewards=dict(self._cumulative_rewards),
            terminations=dict(self.terminations),
            truncations=dict(self.truncations),
        )

    def set_state(self, snapshot: Snapshot) -> None:
        """Go on from a moment of a game by the same rules."""
        if not isinstance(snapshot, Snapshot):
            raise ValueError(f"{snapshot!r} is no snapshot: expected what get_state() gives")
        if snapshot.game != self.game:
            raise ValueError(f"the snapshot is of {snapshot.game!r}: expected {self.game!r}")
        self._states = copied(snapshot.states)
        self._rng = copy.deepcopy(snapshot.rng)
        self.agents = list(snapshot.agents)
        self.agent_selection = snapshot.agent_selection
        self._skip_agent_selection = snapshot.skipped
        self.rewards = dict(snapshot.rewards)
        self._cumulative_rewards = dict(snapshot.cumulative_rewards)
        self.terminations = dict(snapshot.terminations)
        self.truncations = dict(snapshot.truncations)
        self.infos = {agent: {} for agent in self.agents}

    def _rng_now(self) -> Rng:
        if self._rng is None:
            raise RuntimeError("there is no game yet: call reset() first")
        return self._rng

    def render(self) -> Frame | None:
        """The position as a text ("ansi") or as an (H, W, 3) uint8 array ("rgb_array"); None in the other modes."""
        if self.render_mode is None:
            return None
        return self._renderer.draw(self._scene(), pause=1 / self.metadata["render_fps"])

    def _scene(self) -> Scene:
        if self.render_viewer == EVERYTHING:
            return self.game.scene(self.states)
        viewer = self.possible_agents[self.states["to_move"][0]] if self.render_viewer is None else self.render_viewer
        return self.game.scene(self.game.view(self.states, self._seat[viewer]))

    def close(self) -> None:
        """Close the window, if there is one."""
        self._renderer.close()


def wrapped(raw: BoardGame) -> AECEnv[str, Observation, int | None]:
    """With PettingZoo's usual wrappers."""
    env: Any = wrappers.TerminateIllegalWrapper(raw, illegal_reward=-1)
    env = wrappers.AssertOutOfBoundsWrapper(env)
    return wrappers.OrderEnforcingWrapper(env)
