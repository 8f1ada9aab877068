"""The PettingZoo environment under any order of calls, beside the rules of the game alone."""

import copy
import logging
import pickle

import numpy as np
import pytest
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
from tests.environments import MODULES
from tests.faults.cases import CASES, HEADLESS, as_seen_last
from tests.faults.every import STEADY, few_and_many, one_line, steady

NUMBERS = st.integers(0, 10_000)
BEFORE = (RuntimeError, AttributeError, AssertionError)
"""What ours and PettingZoo's own wrappers raise before reset."""


class Machine(RuleBasedStateMachine):
    """`states` and `totals` are what the environment must show; None before the first reset."""

    def __init__(self, name, options, wrapped):
        super().__init__()
        self.module, self.options, self.wrapped = MODULES[name], options, wrapped
        self.game = make_game(name, **options)
        self.states = None
        self.offender = None
        self.kept = None
        self.totals = {}

    @initialize(mode=st.sampled_from(HEADLESS), viewer=st.sampled_from([None, "all", "player_0", "player_1"]))
    def make(self, mode, viewer):
        self.mode, make = mode, self.module.env if self.wrapped else self.module.raw_env
        self.env = make(**self.options, render_mode=mode, render_viewer=viewer, render_size=60)

    @property
    def raw(self):
        return self.env.unwrapped

    @property
    def live(self):
        """Somebody is to move."""
        return self.states is not None and not self.states["done"][0] and self.offender is None and not self.dead

    @property
    def dead(self):
        """The agent whose turn it is is done."""
        agent = self.env.agent_selection
        return bool(self.env.agents) and (self.env.terminations[agent] or self.env.truncations[agent])

    def started(self):
        self.states = self.raw.states.copy()
        self.before = self.states["returns"].copy()  # nobody is paid for what was before the start
        self.offender = None
        self.totals = dict.fromkeys(self.env.possible_agents, 0.0)

    def legal(self, k):
        actions = np.flatnonzero(self.game.legal_action_mask(self.states)[0])
        return int(actions[k % len(actions)])

    def everything(self):
        env = self.raw
        told = env.agents, env.agent_selection, env.rewards, env._cumulative_rewards, env.terminations, env.truncations
        luck = str(env._rng.bit_generator.state)  # decides the games that follow
        return copy.deepcopy(told), [env.states[name].tobytes() for name in env.states.dtype.names], luck

    # Calls that must work

    @rule(seed=st.none() | st.integers(0, 5))
    def reset(self, seed):
        seed = steady(seed, self.states is not None)
        self.env.reset(seed=seed)
        self.started()
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
                actions = np.flatnonzero(self.game.legal_action_mask(states)[0])
                moves.append(self.game.action_to_string(int(actions[k % len(actions)])))
                self.game.step(states, [actions[k % len(actions)]])
        self.env.reset(steady(None, self.states is not None), {"board": board, "moves": moves})
        assert equal(self.raw.states, states)
        self.started()

    @precondition(lambda self: self.live)
    @rule(k=NUMBERS, kind=st.sampled_from([int, np.int64, np.int8]))
    def step(self, k, kind):
        action = self.legal(k)
        if action > 127:
            kind = int
        self.pay()
        self.game.step(self.states, [action])
        self.env.step(kind(action))

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
        """What `last` tells the agent whose turn it is."""
        observation, reward, terminated, truncated, info = self.env.last()
        self.totals[self.env.agent_selection] += reward
        assert (terminated or truncated) == self.dead
        assert info == {}
        seat = self.env.possible_agents.index(self.env.agent_selection)
        mask = self.game.legal_action_mask(self.game.view(as_seen_last(self.states), seat))[0]
        assert (observation["action_mask"] == mask).all() or self.offender is not None

    @precondition(lambda self: self.states is not None)
    @rule(how=st.sampled_from(["deepcopy", "pickle", "clone"]), k=NUMBERS)
    def copies(self, how, k):
        """Equal; it goes its own way; from here on we play in it."""
        if how == "clone" and self.wrapped:
            how = "deepcopy"
        twin = {
            "deepcopy": copy.deepcopy,
            "pickle": lambda env: pickle.loads(pickle.dumps(env)),
            "clone": lambda env: env.clone(),
        }[how](self.env)
        before = self.everything()
        if self.live:
            self.env.step(self.legal(k))
            assert self.everything() != before
        else:
            self.env.reset()
        self.env = twin
        assert self.everything() == before

    @precondition(lambda self: self.states is not None and not self.wrapped)
    @rule()
    def keep(self):
        self.kept = self.env.get_state(), self.states.copy(), self.before, dict(self.totals), self.everything()

    @precondition(lambda self: self.kept is not None and self.states is not None)
    @rule()
    def restore(self):
        snapshot, states, self.before, totals, before = self.kept
        self.env.set_state(snapshot)
        self.states, self.totals = states.copy(), dict(totals)
        assert self.everything() == before

    @rule()
    def render(self):
        """In every mode that needs no screen; before reset an error."""
        if self.states is None and self.mode is not None:
            with pytest.raises(BEFORE, match="reset"):
                self.env.render()
        elif self.states is None and self.wrapped:
            pass  # PettingZoo's wrapper asks for a reset whatever the mode
        elif self.mode is None:
            assert self.env.render() is None
        elif self.mode == "ansi":
            assert self.game.status(self.states) in self.env.render()
        else:
            picture = self.env.render()
            assert picture.dtype == np.uint8
            assert picture.ndim == 3
            assert picture.std() > 0

    @rule()
    def close(self):
        """Whatever comes after it works as before."""
        self.env.close()

    # Calls that must be refused, and change nothing

    @precondition(lambda self: self.states is None)
    @rule(call=st.sampled_from(["last", "state", "observe", "step", "step None", "agent_iter", "get_state"]))
    def before_reset(self, call):
        env = self.env
        calls = {
            "last": env.last,
            "state": env.state,
            "observe": lambda: env.observe("player_0"),
            "step": lambda: env.step(0),
            "step None": lambda: env.step(None),
            "agent_iter": lambda: next(iter(env.agent_iter())) and self.wrapped,
            "get_state": self.raw.get_state,
        }
        if call == "agent_iter" and not self.wrapped:
            assert list(env.agent_iter()) == []
            return
        with pytest.raises(BEFORE, match="reset") as caught:
            calls[call]()
        one_line(caught.value)

    @precondition(lambda self: self.states is not None)
    @rule(k=NUMBERS)
    def wrong_reset(self, k):
        wrong = [{"board": 5}, {"board": "x"}, {"moves": "b2x"}, {"moves": 5}, {"moves": [5]}, {"moves": ["resign!"]}]
        before = self.everything()
        with pytest.raises(ValueError, match="expected") as caught:
            self.env.reset(seed=1, options=wrong[k % len(wrong)])
        one_line(caught.value)
        if self.wrapped and self.offender is not None:
            self.reset(None)  # PettingZoo's wrapper has already forgotten the offence
        else:
            assert self.everything() == before

    @precondition(lambda self: self.live)
    @rule(k=NUMBERS)
    def illegal(self, k):
        """`env` ends the game at -1 for the offender, `raw_env` raises."""
        actions = np.flatnonzero(~self.game.legal_action_mask(self.states)[0])
        if not len(actions):
            return
        action, before, agent = int(actions[k % len(actions)]), self.everything(), self.env.agent_selection
        if not self.wrapped:
            with pytest.raises(ValueError, match="is illegal here: expected one of") as caught:
                self.env.step(action)
            one_line(caught.value)
            assert self.everything() == before
            return
        self.pay()
        self.env.step(action)
        self.offender = agent
        assert self.env.rewards == {one: -1.0 if one == agent else 0 for one in self.env.agents}

    @precondition(lambda self: self.states is not None)
    @rule(action=st.sampled_from([0.5, "a", -1, 10**6, 2**70, (), None, True]))
    def strange(self, action):
        """What is no action at all: everybody's turn, also those of the dead, and when nobody is left."""
        if (action is None and self.dead) or (action is True and self.live) or (self.wrapped and not self.env.agents):
            return
        before = self.everything()
        with pytest.raises((ValueError, TypeError, OverflowError, RuntimeError, AssertionError)) as caught:
            self.env.step(action)
        one_line(caught.value)
        assert self.everything() == before

    @precondition(lambda self: self.states is not None)
    @rule(agent=st.sampled_from(["player_9", "", None, 0]))
    def nobody(self, agent):
        with pytest.raises(ValueError, match=r"there is no agent .*expected one of"):
            self.raw.observe(agent)
        if not self.wrapped:
            with pytest.raises(ValueError, match="is no snapshot"):
                self.raw.set_state(agent)

    # What is always so

    @invariant()
    def shows_the_game(self):
        if self.states is None:
            return
        env, raw, game, states = self.env, self.raw, self.game, self.states
        assert equal(raw.states, states)
        assert (env.state() == game.observe(states)[0]).all()
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
            assert set(env.rewards) == set(env.agents) == set(raw._cumulative_rewards) == set(env.infos)
        if self.live:
            assert env.agent_selection == env.possible_agents[states["to_move"][0]]


@few_and_many(10, 120)
@pytest.mark.parametrize("wrapped", [False, True], ids=["raw_env", "env"])
@pytest.mark.parametrize(("name", "options"), CASES, ids=[name for name, _ in CASES])
def test_any_order_of_calls(name, options, wrapped, examples, caplog):
    caplog.set_level(logging.CRITICAL)
    run_state_machine_as_test(
        lambda: Machine(name, options, wrapped),
        settings=settings(STEADY, max_examples=examples, stateful_step_count=60),
    )
