"""Games that a limit of plies cuts off: the last observation is one like every other, with its mask."""

import numpy as np
import pytest

from pbm_envs import Curio, chameleon_v0, curio_v0, sample_actions

GAME = Curio(base=2, rows=4, cols=3, no_capture_limit=4)
OPTIONS = dict(GAME.options)
TURN = list(GAME.planes).index("my turn")
MODES = ["SameStep", "NextStep", "Disabled"]


def cut_off(envs, seed=3, steps=300):
    """Steps of random play that cut games off: rows, observations, masks, states after it, infos."""
    rng = np.random.default_rng(seed)
    _, info = envs.reset(seed=seed)
    found = 0
    for _ in range(steps):
        before = envs.states.copy()
        actions = sample_actions(info["action_mask"], rng)
        planes, _, terminated, truncated, info = envs.step(actions)
        rows = np.flatnonzero(truncated & ~terminated)
        fresh = rows[~before["done"][rows]]
        if fresh.size:
            found += fresh.size
            yield fresh, before[fresh], actions[fresh], planes, info
        if envs.metadata["autoreset_mode"].value == "Disabled" and (terminated | truncated).any():
            _, info = envs.reset(options={"reset_mask": terminated | truncated})
    assert found > 10


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("capture", ["le", "le_total"])
def test_the_last_observation_is_the_next_players(mode, capture):
    """As if there were no limit: the same moves by rules without one give the same observation and mask."""
    limited = curio_v0.vector_env(16, **{**OPTIONS, "capture": capture}, autoreset_mode=mode)
    free = Curio(**{**OPTIONS, "capture": capture, "no_capture_limit": None})
    for rows, before, actions, planes, info in cut_off(limited):
        states = np.array(before.tolist(), free.dtype)
        free.step(states, actions)
        observations, masks = free.observe_with_mask(states, states["to_move"])
        final = info["final_info"]
        assert (final["to_move"][rows] == states["to_move"]).all()
        assert (final["action_mask"][rows] == masks).all()
        shown = np.stack(list(info["final_obs"][rows])) if mode == "SameStep" else planes[rows]
        assert (shown == observations).all()
        assert (shown[..., TURN] == 1).all()
        if mode != "SameStep":
            assert (info["action_mask"][rows] == masks).all()


def test_every_observation_of_a_running_or_cut_off_game_is_of_a_turn():
    """What a value network is asked about at a truncation is what it has been trained on."""
    for settings in ({}, {"opponent": "random"}, {"opponent": "random", "seat": 1}):
        envs = curio_v0.vector_env(16, **OPTIONS, **settings)
        for rows, _, _, planes, info in cut_off(envs):
            assert (planes[..., TURN] == 1).all()
            for row in rows:
                assert (info["final_obs"][row][..., TURN] == 1).all()
                assert info["final_info"]["action_mask"][row].any()
                assert not info["final_info"]["action_mask"][row].all()


def test_a_seat_is_not_told_by_the_mask_of_a_turn_it_does_not_have():
    """Under `*_total` legality reveals sums (C7): where the opponent would be next, the learner's last mask says
    nothing.
    """
    envs = curio_v0.vector_env(32, **{**OPTIONS, "capture": "le_total"}, opponent="random", seat="random")
    kinds = set()
    for rows, _, _, _, info in cut_off(envs, steps=400):
        final = info["final_info"]
        for row in rows:
            own = final["to_move"][row] == final["seat"][row]
            assert final["action_mask"][row].all() != own
            kinds.add(bool(own))
    assert kinds == {True, False}


def test_the_two_environments_show_the_same_end():
    env, rng, ends = curio_v0.raw_env(**OPTIONS), np.random.default_rng(1), 0
    for seed in range(20):
        env.reset(seed=seed)
        while not (any(env.terminations.values()) or any(env.truncations.values())):
            env.step(int(rng.choice(np.flatnonzero(env.observe(env.agent_selection)["action_mask"]))))
        if all(env.truncations.values()):
            ends += 1
            mover = env.possible_agents[env.states["to_move"][0]]
            assert env.agent_selection == mover
            for agent in env.possible_agents:
                seen = env.observe(agent)
                assert (seen["observation"][..., TURN] == (agent == mover)).all()
                assert seen["action_mask"].any() == (agent == mover)
            assert (env.clone().observe(mover)["observation"] == env.observe(mover)["observation"]).all()
    assert ends > 5


def test_an_illegal_action_is_no_truncation():
    """Its last observation is that of before, its mask all ones: it has ended, and there is nothing to estimate."""
    envs = chameleon_v0.vector_env(2, size=3)
    planes, _ = envs.reset(options={"moves": ["b2x"]})
    taken = envs.game.string_to_action("b2x")
    _, _, terminated, truncated, info = envs.step([taken, 0])
    assert terminated.tolist() == truncated.tolist() == [True, False]
    assert (info["final_obs"][0] == planes[0]).all()
    assert info["final_info"]["action_mask"][0].all()
