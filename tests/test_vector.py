"""The vector environment: seeds, starts, threads, buffers. Any order of calls: tests/faults/test_environments.py."""

import copy
import pickle

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

import pbm_envs
from pbm_envs import chameleon_v0, registered_games, trinim_v0
from pbm_envs.core.state import NOBODY
from pbm_envs.testing import equal
from tests.environments import MODULES, NAMES, SMALL

CASES = [
    ("chameleon", {"size": 4}),
    ("chameleon", {"size": 3, "swap_rule": False, "allow_resign": True}),
    ("curio", {"no_capture_limit": 6}),
    ("trinim", {"size": 5}),
    ("trinim", {"num_players": 3, "allow_resign": True}),
    ("unlur", {"radius": 3}),
]
MODES = ["SameStep", "NextStep", "Disabled"]


@pytest.fixture(params=NAMES)
def name(request):
    return request.param


def small(name, num_envs=8, **settings):
    options = next((options for other, options in CASES if other == name), SMALL[name])
    return MODULES[name].vector_env(num_envs, **options, **settings)


def drawn(masks, rng):
    """A random legal action in each row."""
    return (masks * rng.random(masks.shape)).argmax(axis=1)


def ended(envs, seed=5, limit=500):
    """Step to the first end of a game: rows that have just ended, and what step gave."""
    rng = np.random.default_rng(seed)
    _, info = envs.reset(seed=seed)
    for _ in range(limit):
        result = envs.step(drawn(info["action_mask"], rng))
        info = result[4]
        if (result[2] | result[3]).any():
            return np.flatnonzero(result[2] | result[3]), result
    raise AssertionError("no game has ended")


def everything(result):
    """Observations and infos as bytes, infos flattened."""
    planes, *rest, info = result
    flat = {**info, **{f"final {key}": value for key, value in info.get("final_info", {}).items()}}
    flat.pop("final_info", None)
    final = [None if one is None else one.tobytes() for one in flat.pop("final_obs", [])]
    return planes.tobytes(), [one.tobytes() for one in rest], {k: v.tobytes() for k, v in flat.items()}, final


def test_made_by_id(name):
    pbm_envs.register_game(pbm_envs.registered_games()[name])  # a second time, without a warning
    envs = gymnasium.make_vec(f"pbm/{registered_games()[name].__name__}-v0", num_envs=3, allow_resign=True)
    assert envs.unwrapped.game == registered_games()[name](allow_resign=True)
    assert envs.num_envs == 3
    assert envs.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
    assert envs.spec.id == f"pbm/{registered_games()[name].__name__}-v0"
    assert gymnasium.make_vec(f"pbm_envs:pbm/{registered_games()[name].__name__}-v0").num_envs == 1


def test_the_modes_play_the_same_games():
    """Trinim's set-up is random: what follows the first game follows from the seed in every mode."""
    boards = {}
    for mode in MODES:
        envs, rng = trinim_v0.vector_env(4, autoreset_mode=mode), np.random.default_rng(2)
        _, info = envs.reset(seed=9)
        seen = [[] for _ in range(4)]
        for _ in range(90):
            for row in np.flatnonzero(envs.states["ply"] == 0):
                seen[row].append(envs.game.board_to_string(envs.states[row]))
            _, _, terminated, truncated, info = envs.step(drawn(info["action_mask"], rng))
            if mode == "Disabled" and (terminated | truncated).any():
                _, info = envs.reset(options={"reset_mask": terminated | truncated})
        boards[mode] = [games[:3] for games in seen]
    assert boards["SameStep"] == boards["NextStep"] == boards["Disabled"]
    assert all(len(set(games)) > 1 for games in boards["SameStep"])


def test_row_i_has_the_set_ups_of_the_aec_environment_of_its_seed(name):
    envs = small(name, 4)
    singles = [MODULES[name].raw_env(**envs.game.options) for _ in range(4)]
    for seed in (100, None, None):
        envs.reset(seed=seed)
        for row, single in enumerate(singles):
            single.reset(seed=seed and seed + row)
            assert equal(envs.states[row : row + 1], single.states)


def test_each_row_follows_its_own_stream_from_game_to_game():
    envs = small("trinim", 3)
    envs.reset(seed=5)
    streams = [np.random.default_rng(seed) for seed in (5, 6, 7)]
    starts = [envs.game.init(1, stream)[0].tobytes() for stream in streams]
    for k in range(60):
        rows, seeds = np.arange(3) != k % 3, [None, None, None]
        if k == 31:
            seeds[0], streams[0] = 8, np.random.default_rng(8)
        envs.reset(seed=seeds, options={"reset_mask": rows})
        for row in np.flatnonzero(rows).tolist():
            starts[row] = envs.game.init(1, streams[row])[0].tobytes()
        assert [state.tobytes() for state in envs.states] == starts


def test_full_states_remain_when_observing_fails(monkeypatch):
    envs = small("chameleon", 3)
    _, info = envs.reset(seed=5)

    def fail(*_):
        raise MemoryError

    monkeypatch.setattr(type(envs.game), "_observe", fail)
    with pytest.raises(MemoryError):
        envs.step(drawn(info["action_mask"], np.random.default_rng(1)))
    assert (envs.states["viewer"] == NOBODY).all()


def test_last_observations_are_not_overwritten():
    envs = small("trinim", copy=False)
    rows, (*_, info) = ended(envs)
    last = info["final_obs"]
    kept = [last[row].copy() for row in rows]
    for _ in range(5):
        *_, info = envs.step(drawn(info["action_mask"], np.random.default_rng(2)))
    assert all((last[row] == one).all() for row, one in zip(rows, kept, strict=True))


def test_boards_and_moves_for_each():
    envs = trinim_v0.vector_env(3)
    planes, info = envs.reset(
        seed=3, options={"board": [None, "b/bb/bgr/grgg/rbgrr", "b/bb/bgr/grgg/rbgrr"], "moves": [[], ["D4-D2"], None]}
    )
    single = trinim_v0.raw_env()
    single.reset(seed=3)
    assert (planes[0] == single.observe("player_0")["observation"]).all()
    assert envs.game.board_to_string(envs.states[1]) == "b/.b/b.r/gr.g/rbgrr"
    assert envs.game.board_to_string(envs.states[2]) == "b/bb/bgr/grgg/rbgrr"
    assert info["to_move"].tolist() == [0, 1, 0]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"options": {"bord": "x"}}, r"the options \['bord'\]: expected 'board', 'moves', 'reset_mask'"),
        ({"options": {"moves": [["a1x"]]}}, "moves has 1 entries: expected 3"),
        ({"options": {"moves": "a1x"}}, "moves is 'a1x': expected a list of move texts, or a list of 3"),
        ({"options": {"board": 7}}, "board is 7: expected a board text, or a list of 3"),
        ({"options": {"moves": [["a1x"], [], ["nonsense"]]}}, "environment 2: 'nonsense' is not a move of Chameleon"),
        ({"options": {"moves": ["a1x", "a2x", "a3x", "b1x"]}}, "environment 0: .*after the end|environment 0: .*over"),
        ({"seed": [1, 2]}, "seed has 2 entries: expected 3"),
        ({"seed": 1.5}, "seed is 1.5: expected an integer, or a list of 3"),
        ({"options": {"reset_mask": np.zeros(3, bool)}}, "reset_mask is bool .*, 0 set: expected bool"),
        ({"options": {"reset_mask": [True]}}, r"reset_mask is bool \(1,\)"),
    ],
)
def test_a_wrong_reset_changes_nothing(given, message):
    envs = chameleon_v0.vector_env(3, size=3, swap_rule=False)
    envs.reset(options={"moves": ["b2x"]})
    before = envs.states.copy()
    with pytest.raises(ValueError, match=message):
        envs.reset(**given)
    assert (envs.states == before).all()


def test_three_players_and_resignation():
    envs = trinim_v0.vector_env(1, num_players=3, allow_resign=True, autoreset_mode="Disabled")
    _, info = envs.reset(seed=1)
    _, reward, terminated, _, info = envs.step([envs.game.resign_action])
    assert (reward.tolist(), info["rewards"].tolist(), terminated.tolist()) == ([-0.5], [[-0.5, 0, 0]], [False])
    assert info["to_move"].tolist() == [1]
    rng = np.random.default_rng(1)
    total = info["rewards"].copy()
    while not terminated[0]:
        info["action_mask"][:, envs.game.resign_action] = 0
        _, _, terminated, _, info = envs.step(drawn(info["action_mask"], rng))
        assert info["rewards"][0, 0] == 0, "the player who resigned is not paid twice"
        total += info["rewards"]
    assert (total == envs.states["returns"]).all()


def test_threads_change_nothing(name):
    games = [small(name, 7, threads=threads) for threads in (1, 3, 16)]
    shown = [envs.reset(seed=7) for envs in games]
    rng = np.random.default_rng(7)
    for ply in range(120):
        if ply == 40:
            games[1] = copy.deepcopy(games[1])
        if ply == 80:
            games[2] = pickle.loads(pickle.dumps(games[2]))
            games[1].close()
        (planes, *_, info), *others = shown
        for other in others:
            assert (other[0] == planes).all()
            assert (other[-1]["action_mask"] == info["action_mask"]).all()
        actions = drawn(info["action_mask"], rng)
        shown = [envs.step(actions) for envs in games]


def test_fresh_arrays_by_default(name):
    envs = small(name)
    planes, info = envs.reset(seed=1)
    kept = copy.deepcopy((planes, info))
    second = envs.step(drawn(info["action_mask"], np.random.default_rng(0)))
    assert everything((planes, info)) == everything(kept)
    assert not np.shares_memory(planes, second[0])
    for key in info:
        assert not np.shares_memory(info[key], second[4][key])
    second[4]["action_mask"][:] = 0  # it is the caller's
    assert envs.action_masks().any(axis=1).all()


def test_buffers_are_reused_only_on_request(name):
    fresh, reused = small(name), small(name, copy=False)
    one, other = fresh.reset(seed=1), reused.reset(seed=1)
    planes, mask = other[0], other[1]["action_mask"]
    rng = np.random.default_rng(0)
    for _ in range(60):
        assert everything(one) == everything(other)
        actions = drawn(mask, rng)
        one, other = fresh.step(actions), reused.step(actions)
        assert other[0] is planes
        assert np.shares_memory(other[4]["action_mask"], mask)


def test_set_ups_follow_from_the_stream_whatever_was_dealt_ahead(name):
    envs, rng = small(name), np.random.default_rng(0)
    begun = np.zeros(envs.num_envs, int)
    _, info = envs.reset(seed=1)
    while begun.min() < 2:
        for _ in range(15):
            info = envs.step(drawn(info["action_mask"], rng))[4]
            begun += info.get("_final_info", False)
        some = begun % 2 == 0
        if some.any():
            _, info = envs.reset(options={"reset_mask": some})
            begun += some
            for row in np.flatnonzero(some):
                stream = np.random.default_rng(1 + row)
                starts = [envs.game.init(1, stream) for _ in range(begun[row] + 1)]
                assert envs.states[row].tobytes() == starts[-1].tobytes()


def test_a_copy_goes_its_own_way(name):
    envs, rng = small(name), np.random.default_rng(0)
    _, info = envs.reset(seed=1)
    for _ in range(7):
        info = envs.step(drawn(info["action_mask"], rng))[4]
    for twin in (pickle.loads(pickle.dumps(envs)), copy.deepcopy(envs)):
        now, masks = copy.deepcopy(envs), info["action_mask"]
        for _ in range(60):  # into the next games, whose set-ups are the same
            actions = drawn(masks, rng)
            one, other = now.step(actions), twin.step(actions)
            assert everything(one) == everything(other)
            masks = one[4]["action_mask"]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"num_envs": 0}, "num_envs is 0: expected"),
        ({"autoreset_mode": "same"}, "autoreset_mode is 'same': expected .*SameStep"),
        ({"autoreset_mode": None}, "autoreset_mode is None: expected"),
        ({"illegal_action": "lose"}, "illegal_action is 'lose': expected 'terminate' or 'raise'"),
        ({"copy": 2}, "copy is 2"),
        ({"render_mode": "human"}, "render_mode is 'human': expected"),
        ({"threads": 0}, "threads is 0: expected"),
        ({"size": 1}, "size is 1"),
        ({"seat": 1}, "seat is 1: expected an opponent with it"),
        ({"seat": [0, 1]}, r"seat is \[0, 1\]: expected an opponent with it"),
    ],
)
def test_wrong_settings(settings, message):
    with pytest.raises(ValueError, match=message):
        chameleon_v0.vector_env(**{"num_envs": 2, **settings})


def test_records_episode_statistics():
    """A wrapper of Gymnasium's, as training programs use it."""
    envs = gymnasium.wrappers.vector.RecordEpisodeStatistics(chameleon_v0.vector_env(4, size=3))
    assert "episode" in ended(envs)[1][4]


def test_observation_wrappers_take_the_other_modes():
    envs = chameleon_v0.vector_env(4, size=3, autoreset_mode="NextStep")
    planes, _ = gymnasium.wrappers.vector.FlattenObservation(envs).reset(seed=1)
    assert planes.shape == (4, 45)
