"""The environment of one seat under any order of calls, beside the rules of the game with the same opponent."""

import copy
import pickle

import gymnasium
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


class Middle:
    """The legal action in the middle: no luck, and it never resigns."""

    def act(self, game, views, rng):
        masks = game.legal_action_mask(views)
        if game.resign_action >= 0:
            masks[:, game.resign_action] = False
        return np.array([np.flatnonzero(mask)[mask.sum() // 2] for mask in masks], np.int64)


class Machine(RuleBasedStateMachine):
    """`states` is the game as it must be; None before the first reset."""

    def __init__(self, name, options):
        super().__init__()
        self.module, self.options, self.game = MODULES[name], options, make_game(name, **options)
        self.states = None

    @initialize(seat=st.sampled_from([*range(2), "random"]), raises=st.booleans(), render=st.sampled_from(HEADLESS))
    def make(self, seat, raises, render):
        self.fixed, self.raises, self.render_mode = seat, raises, render
        self.env = self.module.single_env(
            opponent=Middle(),
            seat=seat,
            illegal_action="raise" if raises else "terminate",
            render_mode=render,
            render_size=60,
            **self.options,
        )

    def play_opponents(self):
        """The opponent plays, until it is the learner's turn or the learner is out."""
        states = self.states
        while not states["done"][0] and not states["returns"][0, self.seat] and states["to_move"][0] != self.seat:
            self.game.step(states, Middle().act(self.game, self.game.view(states, states["to_move"]), None))

    @property
    def over(self):
        return bool(self.states["done"][0] or self.states["returns"][0, self.seat] or self.illegal)

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

    @rule(seed=st.none() | st.integers(0, 5))
    def reset(self, seed):
        self.begun(*self.env.reset(seed=steady(seed, self.states is not None)))

    @rule(seed=st.integers(0, 5))
    def reset_to_a_board(self, seed):
        """Up to the learner's turn the opponent has played from it."""
        start = self.game.init(1, np.random.default_rng(seed))
        options = {"board": self.game.board_to_string(start)}
        self.begun(*self.env.reset(seed=steady(None, self.states is not None), options=options))
        given, self.states = self.states, start
        self.play_opponents()
        assert equal(given, self.states)

    @precondition(lambda self: self.states is not None)
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
            with pytest.raises(ValueError, match="is illegal here: expected one of") as caught:
                self.env.step(action)
            one_line(caught.value)
            return
        _, reward, terminated, truncated, info = self.env.step(action)
        assert (reward, terminated, truncated) == (-1, True, False)
        self.illegal, self.states = True, self.env.states.copy()
        assert info["action_mask"].all()

    @precondition(lambda self: self.states is not None)
    @rule(how=st.sampled_from([copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))]), k=NUMBERS)
    def copies(self, how, k):
        twin = how(self.env)
        actions = np.flatnonzero(self.env.action_masks())
        first = self.env.step(int(actions[k % len(actions)]))
        assert str(how(twin).step(int(actions[k % len(actions)]))) == str(first), "the same future"
        self.env = twin

    @rule()
    def render(self):
        if self.render_mode is None:
            assert self.env.render() is None
        elif self.states is None:
            with pytest.raises(RuntimeError, match="call reset"):
                self.env.render()
        else:
            assert isinstance(self.env.render(), (str, np.ndarray))

    @rule()
    def close(self):
        """Whatever comes after it works as before."""
        self.env.close()

    @precondition(lambda self: self.states is None)
    @rule(call=st.sampled_from(["step", "action_masks"]))
    def before_reset(self, call):
        calls = {"step": lambda: self.env.step(0), "action_masks": self.env.action_masks}
        with pytest.raises(RuntimeError, match=r"there are no games yet: call reset\(\) first"):
            calls[call]()

    @precondition(lambda self: self.states is not None and not self.over)
    @rule(action=st.sampled_from([None, 0.5, "a", -1, 10**6, 2**70, (), [0, 1], {}]))
    def strange(self, action):
        with pytest.raises((ValueError, TypeError)) as caught:
            self.env.step(action)
        one_line(caught.value)

    @precondition(lambda self: self.states is not None)
    @rule(k=NUMBERS)
    def wrong_reset(self, k):
        wrong = [
            {"options": {"board": 5}},
            {"options": {"moves": ["?"]}},
            {"options": {"moves": "b2x"}},
            {"options": {"reset_mask": [True]}},
            {"options": {"colour": 1}},
            {"seed": -1},
            {"seed": "x"},
        ]
        with pytest.raises((ValueError, TypeError, gymnasium.error.Error)) as caught:
            self.env.reset(**wrong[k % len(wrong)])
        one_line(caught.value)

    @invariant()
    def holds_the_game(self):
        if self.states is not None and not self.illegal:
            ours, theirs = self.states.copy(), self.env.states.copy()
            ours["done"] = theirs["done"] = self.over  # A2: of three players, who resigns ends it here
            assert equal(ours, theirs)


@few_and_many(8, 120)
@pytest.mark.parametrize(("name", "options"), CASES, ids=[name for name, _ in CASES])
def test_any_order_of_calls(name, options, examples):
    run_state_machine_as_test(
        lambda: Machine(name, options), settings=settings(STEADY, max_examples=examples, stateful_step_count=40)
    )
