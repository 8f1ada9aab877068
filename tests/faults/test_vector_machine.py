"""The vector environment under any order of calls, in every mode, beside the rules of the games alone."""

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

COUNT = 3
SAME, NEXT, DISABLED = MODES = ("SameStep", "NextStep", "Disabled")
PICKS = st.lists(st.integers(0, 10_000), min_size=COUNT, max_size=COUNT)


class Machine(RuleBasedStateMachine):
    """`states` are the games as they must be; None before the first reset. `illegal`: ended by an illegal action."""

    def __init__(self, name, options):
        super().__init__()
        self.module, self.options, self.game = MODULES[name], options, make_game(name, **options)
        self.states = None
        self.illegal = np.zeros(COUNT, bool)

    @initialize(
        mode=st.sampled_from(MODES), raises=st.booleans(), buffers=st.booleans(), render=st.sampled_from(HEADLESS)
    )
    def make(self, mode, raises, buffers, render):
        self.mode, self.raises, self.render_mode = mode, raises, render
        self.envs = self.module.vector_env(
            COUNT,
            autoreset_mode=mode,
            illegal_action="raise" if raises else "terminate",
            copy=not buffers,
            render_mode=render,
            render_size=60,
            **self.options,
        )

    def check_perception(self, planes, info):
        """What is shown of the games as they must be."""
        game, states = self.game, self.states
        assert (info["to_move"] == states["to_move"]).all()
        views = game.view(as_seen_last(states), states["to_move"])
        assert (planes == game.observe(views)).all()
        masks = game.legal_action_mask(views)
        masks |= self.illegal[:, None] | ~masks.any(axis=1, keepdims=True)
        assert (info["action_mask"] == masks).all()
        assert (self.envs.action_masks() == masks).all()
        assert masks.any(axis=1).all()
        for key in ("action_mask", "to_move", "rewards"):
            assert info[f"_{key}"].all()

    def dealt(self, rows):
        """The next games have started in these rows: take them over."""
        fresh = self.envs.states[rows]
        assert (fresh["ply"] == 0).all()
        assert not fresh["done"].any()
        self.states[rows] = fresh
        self.illegal[rows] = False

    # Calls that must work

    @rule(seed=st.none() | st.integers(0, 5) | st.lists(st.none() | st.integers(0, 5), min_size=COUNT, max_size=COUNT))
    def reset(self, seed):
        planes, info = self.envs.reset(seed=steady(seed, self.states is not None))
        self.states = self.game.init(COUNT, np.random.default_rng(0))
        self.dealt(np.arange(COUNT))
        self.check_perception(planes, info)
        assert not info["rewards"].any()

    @precondition(lambda self: self.states is not None)
    @rule(mask=st.lists(st.booleans(), min_size=COUNT, max_size=COUNT), plies=st.integers(0, 3), picks=PICKS)
    def reset_some(self, mask, plies, picks):
        """Some rows, each from moves of its own."""
        mask, game, states = np.array(mask), self.game, self.game.init(1, np.random.default_rng(picks[0]))
        board, moves = game.board_to_string(states), []
        for k in picks[:plies]:
            legal = game.legal_action_mask(states)[0]
            if game.resign_action >= 0:
                legal[game.resign_action] = False
            actions = np.flatnonzero(legal)
            action = int(actions[k % len(actions)])
            after = states.copy()
            game.step(after, [action])
            if not after["done"][0]:
                states = after
                moves.append(game.action_to_string(action))
        options = {"reset_mask": mask, "board": board, "moves": [moves] * COUNT}
        if not mask.any():
            with pytest.raises(ValueError, match="at least one set"):
                self.envs.reset(options=options)
            return
        planes, info = self.envs.reset(options=options)
        self.states[mask] = states[0]
        self.illegal[mask] = False
        self.check_perception(planes, info)

    @precondition(lambda self: self.states is not None)
    @rule(picks=PICKS, kind=st.sampled_from([list, np.array, lambda a: np.array(a, np.int32)]))
    def step(self, picks, kind):
        self.play(self.actions(picks), kind)

    @precondition(lambda self: self.states is not None)
    @rule(picks=PICKS, row=st.integers(0, COUNT - 1), k=st.integers(0, 10_000))
    def illegal_step(self, picks, row, k):
        """One row plays what it may not."""
        actions, masks = self.actions(picks), self.game.legal_action_mask(self.states)
        wrong = np.flatnonzero(~masks[row])
        if self.states["done"][row] or not len(wrong):
            return
        actions[row] = int(wrong[k % len(wrong)])
        if self.raises:
            before, given = self.displayed(), self.envs.action_masks()
            with pytest.raises(ValueError, match=f"row {row}: .* is illegal here: expected one of") as caught:
                self.envs.step(actions)
            one_line(caught.value)
            assert self.displayed() == before
            assert (self.envs.action_masks() == given).all()
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
        planes, reward, terminated, truncated, info = self.envs.step(kind(actions))
        rewards = self.states["returns"] - before["returns"]
        ended = self.states["done"].copy()
        if self.mode == NEXT and over.any():
            self.dealt(np.flatnonzero(over))
            ended = self.states["done"].copy()
        assert (info["rewards"] == rewards).all()
        assert (reward == rewards[np.arange(COUNT), movers]).all()
        assert reward.dtype == np.float32
        assert (truncated == (ended & self.states["truncated"])).all()
        assert (terminated == (ended & (~self.states["truncated"] | self.illegal))).all()
        assert ((terminated | truncated) == ended).all()
        assert ("final_obs" in info) == (self.mode == SAME and ended.any())
        if self.mode == SAME and ended.any():
            facts = info["final_info"]
            assert (info["_final_obs"] == ended).all()
            assert (facts["returns"][ended] == self.states["returns"][ended]).all()
            assert (facts["plies"][ended] == self.states["ply"][ended]).all()
            for row in np.flatnonzero(ended):
                last = as_seen_last(self.states[row : row + 1])
                assert (info["final_obs"][row] == game.observe(game.view(last, last["to_move"]))[0]).all()
            self.dealt(np.flatnonzero(ended))
        self.check_perception(planes, info)

    @precondition(lambda self: self.states is not None)
    @rule(how=st.sampled_from([copy.deepcopy, lambda envs: pickle.loads(pickle.dumps(envs))]), picks=PICKS)
    def copies(self, how, picks):
        """Equal; it goes its own way; from here on we play in it."""
        twin, before = how(self.envs), self.displayed()
        first = self.envs.step(self.actions(picks))
        again = how(twin).step(self.actions(picks))
        assert str(first) == str(again), "the same future"
        self.envs = twin
        assert self.displayed() == before

    @rule()
    def render(self):
        if self.render_mode is None:
            assert self.envs.render() is None
        elif self.states is None:
            with pytest.raises(RuntimeError, match="call reset"):
                self.envs.render()
        else:
            pictures = self.envs.render()
            assert len(pictures) == COUNT
            assert all(isinstance(picture, (str, np.ndarray)) for picture in pictures)

    @rule()
    def close(self):
        """Whatever comes after it works as before."""
        self.envs.close()

    # Calls that must be refused, and change nothing

    @precondition(lambda self: self.states is None)
    @rule(call=st.sampled_from(["step", "action_masks", "reset_mask"]))
    def before_reset(self, call):
        calls = {
            "step": lambda: self.envs.step([0] * COUNT),
            "action_masks": self.envs.action_masks,
            "reset_mask": lambda: self.envs.reset(options={"reset_mask": np.ones(COUNT, bool)}),
        }
        with pytest.raises(RuntimeError, match=r"there are no games yet: call reset\(\) first"):
            calls[call]()

    @precondition(lambda self: self.states is not None)
    @rule(
        actions=st.sampled_from(
            [None, 5, "abc", [], [0] * (COUNT + 1), [0.0] * COUNT, [[0]] * COUNT, [None] * COUNT, [2**70] * COUNT, {}]
        )
    )
    def strange_step(self, actions):
        before = self.displayed()
        with pytest.raises(ValueError, match="expected integers") as caught:
            self.envs.step(actions)
        one_line(caught.value)
        assert self.displayed() == before

    @precondition(lambda self: self.states is not None and not self.states["done"].any())
    @rule(row=st.integers(0, COUNT - 1), action=st.sampled_from([-1, 10**6, -(2**62)]), picks=PICKS)
    def action_out_of_range(self, row, action, picks):
        actions, before = self.actions(picks), self.displayed()
        actions[row] = action
        with pytest.raises(ValueError, match="does not exist: expected 0") as caught:
            self.envs.step(actions)
        one_line(caught.value)
        assert self.displayed() == before

    @precondition(lambda self: self.states is not None)
    @rule(k=st.integers(0, 100))
    def wrong_reset(self, k):
        wrong = [
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
        before = self.displayed()
        with pytest.raises((ValueError, TypeError, gymnasium.error.Error)) as caught:
            self.envs.reset(**wrong[k % len(wrong)])
        one_line(caught.value)
        assert self.displayed() == before

    # What is always so

    def displayed(self):
        return [self.envs.states[name].tobytes() for name in self.game.dtype.names], self.envs.action_masks().tobytes()

    @invariant()
    def holds_the_games(self):
        if self.states is not None:
            assert equal(self.envs.states, self.states)


@few_and_many(8, 120)
@pytest.mark.parametrize(("name", "options"), CASES, ids=[name for name, _ in CASES])
def test_any_order_of_calls(name, options, examples):
    run_state_machine_as_test(
        lambda: Machine(name, options), settings=settings(STEADY, max_examples=examples, stateful_step_count=40)
    )
