"""The environments under any order of calls, beside the rules of the game alone: AEC, vector and single seat."""

import copy
import logging
import pickle
from contextlib import contextmanager

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from pbm_envs import make_game
from pbm_envs.testing import equal
from tests.environments import MODULES, SMALL
from tests.faults.every import STEADY, few_and_many, one_line

OPTIONS = {
    "chameleon": {"allow_resign": True},
    "curio": {"limit": True, "capture": "le", "no_capture_limit": 4},
    "trinim": {"allow_resign": True},
    "unlur": {"allow_resign": True},
}
"""Further options with which a game ends in more ways."""
CASES = pytest.mark.parametrize("name", MODULES)
COUNT = 3
NUMBERS, SEEDS = st.integers(0, 10_000), st.none() | st.integers(0, 5)
PICKS = st.lists(NUMBERS, min_size=COUNT, max_size=COUNT)
HEADLESS = st.sampled_from([None, "ansi", "rgb_array"])
COPIES = {
    "deepcopy": copy.deepcopy,
    "pickle": lambda env: pickle.loads(pickle.dumps(env)),
    "clone": lambda env: getattr(env, "clone", lambda: copy.deepcopy(env))(),
}
BEFORE = (RuntimeError, AttributeError, AssertionError)
"""What ours and PettingZoo's wrappers raise before reset."""
WRONG = (ValueError, TypeError, OverflowError, RuntimeError, AssertionError, gymnasium.error.Error)


def as_seen_last(states):
    """States as their players see them last.

    A game that a limit of plies or an illegal action has cut off looks like a game under way, since a learner has to
    estimate its value.
    """
    seen = states.copy()
    seen["done"] &= ~states["truncated"]
    seen["truncated"] = False
    return seen


def started(machine):
    return machine.states is not None


class Machine(RuleBasedStateMachine):
    """An environment `env`, and in `states` the games that it must hold; None before the first reset."""

    EARLY, RESETS, STRANGE = {}, [], []
    """Calls that need a reset first; arguments of resets that are refused; what is no action."""

    def __init__(self, name):
        super().__init__()
        self.module, self.options = MODULES[name], SMALL[name] | OPTIONS.get(name, {})
        self.game, self.states, self.mode = make_game(name, **self.options), None, None

    def everything(self, env=None):
        """What a refused call must not change."""
        env = (env or self.env).unwrapped
        return self.states is not None and [env.states[name].tobytes() for name in self.game.dtype.names]

    def accepts(self, action):
        """Whether `action`, one of STRANGE, is a legal call just now."""
        return False

    def legal(self, states, k):
        actions = np.flatnonzero(self.game.legal_action_mask(states)[0])
        return int(actions[k % len(actions)])

    def steady(self, seed):
        """A seed to reset with; None only after the first reset: before it, None deals other games every time."""
        if self.states is not None:
            return seed
        return [one or 0 for one in seed] if isinstance(seed, list) else seed or 0

    @contextmanager
    def refused(self, kinds=WRONG, match=None):
        """Expect an error of one line, and no change."""
        before = self.everything()
        with pytest.raises(kinds, match=match) as caught:
            yield
        one_line(caught.value)
        assert self.everything() == before

    @precondition(started)
    @rule(how=st.sampled_from(sorted(COPIES)), k=NUMBERS)
    def copies(self, how, k):
        """A copy is equal, has the same future, and goes its own way; from here on we play in it."""
        twin, before = COPIES[how](self.env), self.everything()
        ahead, go_on = COPIES[how](twin), self.future(k)
        assert go_on(self.env) == go_on(ahead)
        self.env = twin
        assert self.everything() == before

    @rule()
    def render(self):
        if self.states is None and self.mode is not None:
            with pytest.raises(BEFORE, match="reset"):
                self.env.render()
        elif self.states is not None:
            shown = self.env.render()
            for row, picture in enumerate(shown if isinstance(shown, (list, tuple)) else [shown]):
                if self.mode == "ansi":
                    assert self.game.status(self.env.unwrapped.states[row : row + 1]) in picture
                elif self.mode == "rgb_array":
                    assert (picture.dtype, picture.ndim) == (np.uint8, 3)
                    assert picture.std() > 0
                else:
                    assert picture is None

    @rule()
    def close(self):
        """Whatever comes after it works as before."""
        self.env.close()

    @precondition(lambda self: self.states is None)
    @rule(k=NUMBERS)
    def before_reset(self, k):
        calls = list(self.EARLY.values())
        with self.refused(BEFORE, "reset"):
            calls[k % len(calls)](self)

    @precondition(started)
    @rule(k=NUMBERS)
    def wrong_reset(self, k):
        with self.refused():
            self.env.reset(**self.RESETS[k % len(self.RESETS)])

    @precondition(started)
    @rule(k=NUMBERS)
    def strange(self, k):
        """Also when it is a dead agent's turn, and when nobody is left."""
        action = self.STRANGE[k % len(self.STRANGE)]
        if not self.accepts(action):
            with self.refused():
                self.env.step(action)


class AEC(Machine):
    """`totals` is what each agent has been paid."""

    EARLY = {
        "last": lambda self: self.env.last(),
        "state": lambda self: self.env.state(),
        "observe": lambda self: self.env.observe("player_0"),
        "step": lambda self: self.env.step(0),
        "step None": lambda self: self.env.step(None),
        "get_state": lambda self: self.env.unwrapped.get_state(),
        "states": lambda self: self.env.unwrapped.states,
    }
    RESETS = [
        {"seed": 1, "options": options}
        for options in ({"board": 5}, {"board": "x"}, {"moves": "b2x"}, {"moves": 5}, {"moves": [5]}, {"moves": ["!"]})
    ]
    STRANGE = [0.5, "a", -1, 10**6, 2**70, (), None, True]

    def __init__(self, name, wrapped):
        super().__init__(name)
        self.wrapped, self.offender, self.kept = wrapped, None, None

    @initialize(mode=HEADLESS, viewer=st.sampled_from([None, "all", "player_0", "player_1"]))
    def make(self, mode, viewer):
        self.mode, make = mode, self.module.env if self.wrapped else self.module.raw_env
        self.env = make(**self.options, render_mode=mode, render_viewer=viewer, render_size=60)

    @property
    def live(self):
        """Somebody is to move."""
        return self.states is not None and not self.states["done"][0] and self.offender is None and not self.dead

    @property
    def dead(self):
        """The agent whose turn it is is done."""
        agent = self.env.agent_selection
        return bool(self.env.agents) and (self.env.terminations[agent] or self.env.truncations[agent])

    def accepts(self, action):
        nobody = self.wrapped and not self.env.agents
        return (action is None and self.dead) or (action is True and self.live) or nobody

    def everything(self, env=None):
        if self.states is None:
            return None
        env = (env or self.env).unwrapped
        sent = env.agents, env.agent_selection, env.rewards, env._cumulative_rewards, env.terminations, env.truncations
        future = str(env._rng.bit_generator.state)  # decides the games that follow
        return copy.deepcopy(sent), [env.states[name].tobytes() for name in env.states.dtype.names], future

    def future(self, k):
        action = self.legal(self.states, k) if self.live else None

        def go_on(env):
            env.reset() if action is None else env.step(action)
            return self.everything(env)

        return go_on

    def begun(self):
        self.states = self.env.unwrapped.states.copy()
        self.before = self.states["returns"].copy()  # nobody is paid for what was before the start
        self.offender, self.totals = None, dict.fromkeys(self.env.possible_agents, 0.0)

    @rule(seed=SEEDS)
    def reset(self, seed):
        seed = self.steady(seed)
        self.env.reset(seed=seed)
        self.begun()
        assert self.states["ply"][0] == 0
        if seed is not None:
            before = self.everything()
            self.env.reset(seed=seed)
            assert self.everything() == before, "the same seed, the same game"

    @rule(seed=st.integers(0, 5), plies=st.integers(0, 6), picks=st.lists(NUMBERS, min_size=6, max_size=6))
    def reset_somewhere(self, seed, plies, picks):
        """A board and moves from it; the game may be over there."""
        states = self.game.init(1, np.random.default_rng(seed))
        board, moves = self.game.board_to_string(states), []
        for k in picks[:plies]:
            if not states["done"][0]:
                action = self.legal(states, k)
                moves.append(self.game.action_to_string(action))
                self.game.step(states, [action])
        self.env.reset(self.steady(None), {"board": board, "moves": moves})
        assert equal(self.env.unwrapped.states, states)
        self.begun()

    @precondition(lambda self: self.live)
    @rule(k=NUMBERS, kind=st.sampled_from([int, np.int64, np.int8]))
    def step(self, k, kind):
        action = self.legal(self.states, k)
        self.pay()
        self.game.step(self.states, [action])
        self.env.step(kind(action) if action < 128 else action)

    @precondition(lambda self: self.states is not None and self.dead)
    @rule()
    def dead_step(self):
        before = len(self.env.agents)
        self.pay()
        self.env.step(None)
        assert len(self.env.agents) == before - 1
        if not self.env.agents and self.offender is None:
            paid = [self.totals[agent] for agent in self.env.possible_agents]
            assert paid == (self.states["returns"] - self.before)[0].tolist()

    def pay(self):
        """What `last` says to the agent whose turn it is."""
        observation, reward, terminated, truncated, info = self.env.last()
        self.totals[self.env.agent_selection] += reward
        assert (terminated or truncated) == self.dead
        assert info == {}
        seat = self.env.possible_agents.index(self.env.agent_selection)
        mask = self.game.legal_action_mask(self.game.view(as_seen_last(self.states), seat))[0]
        assert (observation["action_mask"] == mask).all() or self.offender is not None

    @precondition(lambda self: self.states is not None and not self.wrapped)
    @rule()
    def keep(self):
        self.kept = self.env.get_state(), self.states.copy(), self.before, dict(self.totals), self.everything()

    @precondition(lambda self: self.kept is not None)
    @rule()
    def restore(self):
        snapshot, states, self.before, totals, before = self.kept
        self.env.set_state(snapshot)
        self.states, self.totals = states.copy(), dict(totals)
        assert self.everything() == before

    @precondition(started)
    @rule(k=NUMBERS)
    def wrong_reset(self, k):
        if self.wrapped and self.offender is not None:
            self.reset(None)  # PettingZoo's wrapper would forget the offence
        with self.refused(ValueError, "expected"):
            self.env.reset(**self.RESETS[k % len(self.RESETS)])

    @precondition(lambda self: self.live)
    @rule(k=NUMBERS)
    def illegal(self, k):
        """`env` ends the game at -1 for the offender, `raw_env` raises."""
        actions = np.flatnonzero(~self.game.legal_action_mask(self.states)[0])
        if not len(actions):
            return
        action, agent = int(actions[k % len(actions)]), self.env.agent_selection
        if not self.wrapped:
            with self.refused(ValueError, "is illegal here: expected one of"):
                self.env.step(action)
            return
        self.pay()
        self.env.step(action)
        self.offender = agent
        assert self.env.rewards == {one: -1.0 if one == agent else 0 for one in self.env.agents}
        assert all(self.env.terminations.values())
        assert all(self.env.truncations.values())

    @precondition(started)
    @rule(agent=st.sampled_from(["player_9", "", None, 0]))
    def nobody(self, agent):
        with self.refused(ValueError, r"there is no agent .*expected one of"):
            self.env.unwrapped.observe(agent)
        with self.refused(ValueError, "is not a snapshot"):
            self.env.unwrapped.set_state(agent)

    @invariant()
    def shows_the_game(self):
        if self.states is None:
            return
        env, game, states = self.env, self.game, self.states
        assert equal(env.unwrapped.states, states)
        assert (env.state() == game.observe(states)[0]).all()
        assert env.state_space.contains(env.state())
        assert set(env.agents) <= set(env.possible_agents)
        assert env.agent_selection in (env.agents or env.possible_agents)
        last = as_seen_last(states)
        for seat, agent in enumerate(env.possible_agents):
            seen, view = env.observe(agent), game.view(last, seat)
            assert env.observation_space(agent).contains(seen)
            assert (seen["observation"] == game.observe(view)[0]).all()
            assert (seen["action_mask"] == game.legal_action_mask(view)[0]).all()
        for agent in env.agents:
            over = env.terminations[agent] or env.truncations[agent]
            lost = states["returns"][0, env.possible_agents.index(agent)] != 0
            assert over == bool(states["done"][0] or self.offender is not None or lost)
            assert not (env.terminations[agent] and env.truncations[agent]) or self.offender is not None
            assert set(env.rewards) == set(env.agents) == set(env.unwrapped._cumulative_rewards) == set(env.infos)
        if self.live:
            assert env.agent_selection == env.possible_agents[states["to_move"][0]]


SAME, NEXT, DISABLED = MODES = ("SameStep", "NextStep", "Disabled")


class Vector(Machine):
    """Some games at once, in every mode; `illegal` has the games that an illegal action has ended."""

    EARLY = {
        "step": lambda self: self.env.step([0] * COUNT),
        "action_masks": lambda self: self.env.action_masks(),
        "reset_mask": lambda self: self.env.reset(options={"reset_mask": np.ones(COUNT, bool)}),
    }
    RESETS = [
        {"options": {"board": 5}},
        {"options": {"board": "x"}},
        {"options": {"board": [None]}},
        {"options": {"moves": "b2x"}},
        {"options": {"moves": [["?"], None, None]}},
        {"options": {"moves": 5}},
        {"options": {"move": []}},
        {"options": {"reset_mask": [1, 0, 1]}},
        {"options": {"reset_mask": "abc"}},
        {"seed": [1, 2]},
        {"seed": -1},
        {"seed": "x"},
        {"seed": [0.5, 1, 2]},
    ]
    STRANGE = [None, 5, "abc", [], [0] * (COUNT + 1), [0.0] * COUNT, [[0]] * COUNT, [None] * COUNT, [2**70] * COUNT, {}]

    def __init__(self, name):
        super().__init__(name)
        self.illegal = np.zeros(COUNT, bool)

    @initialize(autoreset=st.sampled_from(MODES), raises=st.booleans(), buffers=st.booleans(), mode=HEADLESS)
    def make(self, autoreset, raises, buffers, mode):
        self.autoreset, self.raises, self.mode = autoreset, raises, mode
        self.env = self.module.vector_env(
            COUNT,
            autoreset_mode=autoreset,
            illegal_action="raise" if raises else "terminate",
            copy=not buffers,
            render_mode=mode,
            render_size=60,
            **self.options,
        )
        assert self.env.metadata["autoreset_mode"] is AutoresetMode(autoreset)

    def everything(self):
        return self.states is not None and (super().everything(), self.env.action_masks().tobytes())

    def future(self, k):
        actions = self.actions([k, k + 1, k + 2])
        return lambda env: str(env.step(actions))

    def check_perception(self, planes, info):
        """What is shown of the games as they must be."""
        game, states = self.game, self.states
        assert self.env.observation_space.contains(planes)
        assert (info["to_move"] == states["to_move"]).all()
        views = game.view(as_seen_last(states), states["to_move"])
        assert (planes == game.observe(views)).all()
        masks = game.legal_action_mask(views)
        masks |= self.illegal[:, None] | ~masks.any(axis=1, keepdims=True)
        assert info["action_mask"].dtype == np.int8
        assert (info["action_mask"] == masks).all()
        assert (self.env.action_masks() == masks).all()
        assert masks.any(axis=1).all()
        for key in ("action_mask", "to_move", "rewards"):
            assert info[f"_{key}"].all()

    def dealt(self, rows):
        """The next games have started in these rows: take them over."""
        fresh = self.env.states[rows]
        assert (fresh["ply"] == 0).all()
        assert not fresh["done"].any()
        self.states[rows] = fresh
        self.illegal[rows] = False

    @rule(seed=SEEDS | st.lists(SEEDS, min_size=COUNT, max_size=COUNT))
    def reset(self, seed):
        planes, info = self.env.reset(seed=self.steady(seed))
        self.states = self.game.init(COUNT, np.random.default_rng(0))
        self.dealt(np.arange(COUNT))
        self.check_perception(planes, info)
        assert not info["rewards"].any()

    @precondition(started)
    @rule(mask=st.lists(st.booleans(), min_size=COUNT, max_size=COUNT), plies=st.integers(0, 3), picks=PICKS)
    def reset_some(self, mask, plies, picks):
        """Some rows, each from moves of its own."""
        mask, game, states = np.array(mask), self.game, self.game.init(1, np.random.default_rng(picks[0]))
        board, moves = game.board_to_string(states), []
        for k in picks[:plies]:
            after, action = states.copy(), self.legal(states, k)
            game.step(after, [action])
            if action != game.resign_action and not after["done"][0]:
                states = after
                moves.append(game.action_to_string(action))
        options = {"reset_mask": mask, "board": board, "moves": [moves] * COUNT}
        if not mask.any():
            with self.refused(ValueError, "at least one set"):
                self.env.reset(options=options)
            return
        planes, info = self.env.reset(options=options)
        self.states[mask] = states[0]
        self.illegal[mask] = False
        self.check_perception(planes, info)

    @precondition(started)
    @rule(picks=PICKS, kind=st.sampled_from([list, np.array, lambda a: np.array(a, np.int32)]))
    def step(self, picks, kind):
        self.play(self.actions(picks), kind)

    @precondition(started)
    @rule(picks=PICKS, row=st.integers(0, COUNT - 1), k=NUMBERS)
    def illegal_step(self, picks, row, k):
        """One row plays what it may not."""
        actions, masks = self.actions(picks), self.game.legal_action_mask(self.states)
        wrong = np.flatnonzero(~masks[row])
        if self.states["done"][row] or not len(wrong):
            return
        actions[row] = int(wrong[k % len(wrong)])
        if self.raises:
            with self.refused(ValueError, f"row {row}: .* is illegal here: expected one of"):
                self.env.step(actions)
        else:
            self.play(actions, list, offender=row)

    def actions(self, picks):
        masks = self.game.legal_action_mask(self.states)
        masks[self.states["done"]] = True
        return [int(np.flatnonzero(mask)[k % mask.sum()]) for mask, k in zip(masks, picks, strict=True)]

    def play(self, actions, kind, offender=None):
        game, before = self.game, self.states.copy()
        movers, over = before["to_move"].copy(), before["done"].copy()
        if offender is not None:
            self.states["done"][offender] = self.states["truncated"][offender] = self.illegal[offender] = True
            self.states["returns"][offender, movers[offender]] = -1
        game.step(self.states, actions)
        if self.autoreset == NEXT:
            actions = [10**6 if done else action for done, action in zip(over, actions, strict=True)]  # is ignored
        planes, reward, terminated, truncated, info = self.env.step(kind(actions))
        rewards = self.states["returns"] - before["returns"]
        if self.autoreset == NEXT and over.any():
            self.dealt(np.flatnonzero(over))
        ended = self.states["done"].copy()
        assert (info["rewards"] == rewards).all()
        assert (reward == rewards[np.arange(COUNT), movers]).all()
        assert (reward.dtype, terminated.dtype, truncated.dtype) == (np.float32, np.bool_, np.bool_)
        assert (truncated == (ended & self.states["truncated"])).all()
        assert (terminated == (ended & (~self.states["truncated"] | self.illegal))).all()
        assert ((terminated | truncated) == ended).all()
        assert ("final_obs" in info) == (self.autoreset == SAME and ended.any())
        if self.autoreset != DISABLED and ended.any():
            assert (info["_final_info"] == ended).all()
        if "final_obs" in info:
            facts = info["final_info"]
            assert (info["_final_obs"] == ended).all()
            assert (facts["returns"][ended] == self.states["returns"][ended]).all()
            assert (facts["plies"][ended] == self.states["ply"][ended]).all()
            for row in np.flatnonzero(ended):
                last = as_seen_last(self.states[row : row + 1])
                assert (info["final_obs"][row] == game.observe(game.view(last, last["to_move"]))[0]).all()
            assert all(one is None for one in info["final_obs"][~ended])
            self.dealt(np.flatnonzero(ended))
        self.check_perception(planes, info)

    @precondition(lambda self: self.states is not None and not self.states["done"].any())
    @rule(row=st.integers(0, COUNT - 1), action=st.sampled_from([-1, 10**6, -(2**62)]), picks=PICKS)
    def action_out_of_range(self, row, action, picks):
        actions = self.actions(picks)
        actions[row] = action
        with self.refused(ValueError, "does not exist: expected 0"):
            self.env.step(actions)

    @invariant()
    def holds_the_games(self):
        if self.states is not None:
            assert equal(self.env.states, self.states)


class Middle:
    """The legal action in the middle: nothing is drawn, and it never resigns."""

    def act(self, game, views, rng):
        masks = game.legal_action_mask(views)
        if game.resign_action >= 0:
            masks[:, game.resign_action] = False
        return np.array([np.flatnonzero(mask)[mask.sum() // 2] for mask in masks], np.int64)


class Single(Machine):
    """One seat against `Middle`."""

    EARLY = {"step": lambda self: self.env.step(0), "action_masks": lambda self: self.env.action_masks()}
    RESETS = [
        {"options": {"board": 5}},
        {"options": {"moves": ["?"]}},
        {"options": {"moves": "b2x"}},
        {"options": {"reset_mask": [True]}},
        {"options": {"colour": 1}},
        {"seed": -1},
        {"seed": "x"},
    ]
    STRANGE = [None, 0.5, "a", -1, 10**6, 2**70, (), [0, 1], {}]

    @initialize(seat=st.sampled_from([*range(2), "random"]), raises=st.booleans(), mode=HEADLESS)
    def make(self, seat, raises, mode):
        self.fixed, self.raises, self.mode = seat, raises, mode
        self.env = self.module.single_env(
            opponent=Middle(),
            seat=seat,
            illegal_action="raise" if raises else "terminate",
            render_mode=mode,
            render_size=60,
            **self.options,
        )

    @property
    def over(self):
        return bool(self.states["done"][0] or self.states["returns"][0, self.seat] or self.illegal)

    def accepts(self, action):
        return self.over

    def future(self, k):
        actions = np.flatnonzero(self.env.action_masks())
        return lambda env: str(env.step(int(actions[k % len(actions)])))

    def play_opponents(self):
        """The opponent plays, until it is the learner's turn or the learner is out."""
        states = self.states
        while not states["done"][0] and not states["returns"][0, self.seat] and states["to_move"][0] != self.seat:
            self.game.step(states, Middle().act(self.game, self.game.view(states, states["to_move"]), None))

    def check(self, planes, info):
        game, view = self.game, self.game.view(self.states, self.seat)
        assert self.env.observation_space.contains(planes)
        assert info.keys() == {"action_mask", "seat", "opponent", "score"}
        assert (info["seat"], info["opponent"]) == (self.seat, 0)
        if self.over:
            view = self.game.view(as_seen_last(self.states), self.seat)
            cut = self.states["truncated"][0] and not self.illegal
            view["to_move"] = self.seat  # a game that was cut off is shown as a turn of the seat
            assert (info["action_mask"] == (game.legal_action_mask(view)[0] if cut else 1)).all()
        else:
            assert (planes == game.observe(view)[0]).all()
            assert (info["action_mask"] == game.legal_action_mask(view)[0]).all()
        assert (self.env.action_masks() == info["action_mask"]).all()

    def begun(self, planes, info):
        self.illegal, self.seat = False, info["seat"]
        assert self.fixed in ("random", self.seat)
        self.states = self.env.states.copy()
        assert not self.over
        assert self.states["to_move"][0] == self.seat
        self.check(planes, info)

    @rule(seed=SEEDS)
    def reset(self, seed):
        self.begun(*self.env.reset(seed=self.steady(seed)))

    @rule(seed=st.integers(0, 5))
    def reset_to_a_board(self, seed):
        """Up to the learner's turn the opponent has played from it."""
        start = self.game.init(1, np.random.default_rng(seed))
        options = {"board": self.game.board_to_string(start)}
        self.begun(*self.env.reset(seed=self.steady(None), options=options))
        given, self.states = self.states, start
        self.play_opponents()
        assert equal(given, self.states)

    @precondition(started)
    @rule(k=NUMBERS, kind=st.sampled_from([int, np.int64, np.array]))
    def step(self, k, kind):
        """After the end nothing happens any more."""
        actions = np.flatnonzero(self.env.action_masks())
        action, before, over = int(actions[k % len(actions)]), self.states["returns"].copy(), self.over
        if not over:
            self.game.step(self.states, [action])
            self.play_opponents()
        planes, reward, terminated, truncated, info = self.env.step(kind(action))
        assert type(reward) is float
        assert reward == (self.states["returns"] - before)[0, self.seat] * (not over)
        assert (terminated or truncated) == self.over
        assert truncated == (bool(self.states["truncated"][0]) and not self.illegal)
        self.check(planes, info)

    @precondition(lambda self: self.states is not None and not self.over)
    @rule(k=NUMBERS)
    def illegal_step(self, k):
        wrong = np.flatnonzero(~self.game.legal_action_mask(self.states)[0])
        if not len(wrong):
            return
        action = int(wrong[k % len(wrong)])
        if self.raises:
            with self.refused(ValueError, "is illegal here: expected one of"):
                self.env.step(action)
            return
        _, reward, terminated, truncated, info = self.env.step(action)
        assert (reward, terminated, truncated) == (-1, True, False)
        self.illegal, self.states = True, self.env.states.copy()
        assert info["action_mask"].all()

    @invariant()
    def holds_the_game(self):
        if self.states is not None and not self.illegal:
            ours, theirs = self.states.copy(), self.env.states.copy()
            ours["done"] = theirs["done"] = self.over  # A2: of three players, who resigns ends it here
            assert equal(ours, theirs)


def run(make, examples, steps):
    run_state_machine_as_test(make, settings=settings(STEADY, max_examples=examples, stateful_step_count=steps))


@few_and_many(10, 30)
@pytest.mark.parametrize("wrapped", [False, True], ids=["raw_env", "env"])
@CASES
def test_any_order_of_calls_of_the_aec_environment(name, wrapped, examples, caplog):
    caplog.set_level(logging.CRITICAL)
    run(lambda: AEC(name, wrapped), examples, 60)


@few_and_many(8, 30)
@pytest.mark.parametrize("kind", [Vector, Single])
@CASES
def test_any_order_of_calls(name, kind, examples):
    run(lambda: kind(name), examples, 40)
