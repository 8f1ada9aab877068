"""One seat against an opponent, one game at a time and many: contract, opponents, seats, seeds, rewards."""

import copy
import pickle

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.wrappers.vector import RecordEpisodeStatistics
from pettingzoo.utils.wrappers import BaseWrapper

from pbm_envs import Chameleon, chameleon_v0, curio_v0, registered_games, trinim_v0
from pbm_envs.envs.single import SingleSeatEnv
from tests import environments
from tests.environments import MODULES, NAMES

SMALL = environments.SMALL | {"chameleon": {"size": 4}, "curio": {"no_capture_limit": 6}, "trinim": {}}


class FirstLegal:
    """An agent without luck."""

    def act(self, game, views, rng):
        return game.legal_action_mask(views).argmax(axis=1)


class Recording:
    """Plays at random and keeps what it was shown."""

    def __init__(self):
        self.shown = []

    def act(self, game, views, rng):
        self.shown.append(views.copy())
        masks = game.legal_action_mask(views)
        return (masks * rng.random(masks.shape)).argmax(axis=1)


def last_legal(game, views, rng):
    """An opponent that is a function."""
    return game.num_actions - 1 - game.legal_action_mask(views)[:, ::-1].argmax(axis=1)


@pytest.fixture(params=NAMES)
def name(request):
    return request.param


def single(name, opponent="random", **settings):
    return MODULES[name].single_env(opponent=opponent, **{**SMALL[name], **settings})


def drawn(masks, rng):
    return (masks * rng.random(masks.shape)).argmax(axis=-1)


def episode(env, rng, **reset):
    """Observations, masks, rewards and ends of one game with random actions."""
    planes, info = env.reset(**reset)
    turns = [(planes.tolist(), info["action_mask"].tolist(), info["seat"], info["opponent"])]
    over = False
    while not over:
        planes, reward, terminated, truncated, info = env.step(drawn(info["action_mask"], rng))
        turns.append((planes.tolist(), info["action_mask"].tolist(), reward, terminated, truncated))
        over = terminated or truncated
    return turns


@pytest.mark.parametrize("seat", [0, 1, "random"])
def test_gymnasium_contract(name, seat, monkeypatch):
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")  # it tries all render modes
    made = gymnasium.make(f"pbm/{registered_games()[name].__name__}-v0", seat=seat, render_mode="ansi", **SMALL[name])
    check_env(made.unwrapped)


def test_made_by_id(name):
    env = gymnasium.make(f"pbm/{registered_games()[name].__name__}-v0", opponent=FirstLegal(), seat=1, **SMALL[name])
    assert env.unwrapped.game == registered_games()[name](**SMALL[name])
    planes, info = env.reset(seed=1)
    assert env.observation_space.contains(planes)
    assert info["seat"] == 1
    assert (env.get_wrapper_attr("action_masks")() == info["action_mask"]).all()
    assert len(episode(env, np.random.default_rng(0))) > 2


@pytest.mark.parametrize("opponent", [FirstLegal(), last_legal], ids=["agent", "function"])
def test_many_games_are_the_same_games(name, opponent):
    """Row i of the vectorised form is the single environment of seed 20 + i, one game after another."""
    envs = MODULES[name].vector_env(6, opponent=opponent, seat=1, **SMALL[name])
    singles, rng, games = [single(name, opponent, seat=1) for _ in range(6)], np.random.default_rng(4), 0
    planes, info = envs.reset(seed=20)
    for i, env in enumerate(singles):
        assert (env.reset(seed=20 + i)[0] == planes[i]).all()
    for _ in range(60):
        actions = drawn(info["action_mask"], rng)
        illegal = rng.random(6) < 0.03
        actions = np.where(illegal, info["action_mask"].argmin(axis=1), actions)
        planes, reward, terminated, truncated, info = envs.step(actions)
        assert info["action_mask"].any(axis=1).all()
        assert (info["to_move"] == 1).all()
        for i, env in enumerate(singles):
            one = env.step(actions[i])
            assert one[1:4] == (reward[i], terminated[i], truncated[i])
            assert reward[i] == info["rewards"][i, 1]
            if terminated[i] or truncated[i]:
                games += 1
                assert (one[0] == info["final_obs"][i]).all()
                one = env.reset()
            assert (one[0] == planes[i]).all()
            assert (one[-1]["action_mask"] == info["action_mask"][i]).all()
    assert games > 6


@pytest.mark.parametrize("mode", ["SameStep", "NextStep", "Disabled"])
def test_many_games_in_every_mode(name, mode):
    envs = MODULES[name].vector_env(8, opponent="random", autoreset_mode=mode, **SMALL[name])
    rng, over, games = np.random.default_rng(5), np.zeros(8, bool), 0
    planes, info = envs.reset(seed=1)
    for _ in range(80):
        assert envs.observation_space.contains(planes)
        assert info["action_mask"].any(axis=1).all()
        live = ~over if mode != "SameStep" else np.ones(8, bool)
        assert (info["to_move"] == info["seat"])[live].all()
        planes, reward, terminated, truncated, info = envs.step(drawn(info["action_mask"], rng))
        if mode == "NextStep":
            assert not (terminated | truncated)[over].any()
            assert not reward[over].any()
        over = terminated | truncated
        games += over.sum()
        if mode == "Disabled" and over.any():
            planes, info = envs.reset(options={"reset_mask": over})
            over = np.zeros(8, bool)
    assert games > 8


def test_final_info_is_of_the_game_that_ended():
    envs, rng = chameleon_v0.vector_env(16, size=3, opponent=[last_legal, FirstLegal()]), np.random.default_rng(0)
    _, info = envs.reset(seed=2)
    for _ in range(40):
        before = info
        _, reward, terminated, _, info = envs.step(drawn(info["action_mask"], rng))
        for row in np.flatnonzero(terminated):
            final = info["final_info"]
            assert final["seat"][row] == before["seat"][row]
            assert final["opponent"][row] == before["opponent"][row]
            assert final["returns"][row, final["seat"][row]] == reward[row]


def test_the_same_seeds_give_the_same_games(name):
    """Luck of the opponent, seats and opponents of a list included; later games follow from the seed."""
    league = ["random", Recording(), FirstLegal()]
    first, second = single(name, league), single(name, league)
    one, other = np.random.default_rng(0), np.random.default_rng(0)
    games = []
    for seed in (6, None, None, 6):
        games.append(episode(first, one, seed=seed))
        assert games[-1] == episode(second, other, seed=seed)
    assert games[0] != games[1]


def test_seats_and_opponents_are_drawn_for_each_game():
    env = chameleon_v0.single_env(size=3, opponent=["random", FirstLegal()], seat="random")
    seen = {(info["seat"], info["opponent"]) for _ in range(60) for info in [env.reset()[1]]}
    assert seen == {(0, 0), (0, 1), (1, 0), (1, 1)}
    envs = trinim_v0.vector_env(64, num_players=3, opponent="random")
    _, info = envs.reset(seed=1)
    assert set(info["seat"].tolist()) == {0, 1, 2}
    assert (info["to_move"] == info["seat"]).all()


def test_the_opponent_is_shown_its_own_view_and_all_games_at_once():
    recording = Recording()
    envs = curio_v0.vector_env(5, opponent=recording, seat=0)
    _, info = envs.reset(seed=1)
    envs.step(info["action_mask"].argmax(axis=1))
    [views] = recording.shown
    assert len(views) == 5
    assert (views["viewer"] == 1).all()
    assert (views["to_move"] == 1).all()


def test_three_players():
    """The opponent has both other seats; and who has resigned is out, though the others could go on (A2)."""
    env = trinim_v0.single_env(num_players=3, seat=1, allow_resign=True)
    _, info = env.reset(seed=1)
    assert env.states["ply"][0] == 1
    _, _, terminated, _, info = env.step(info["action_mask"].argmax())
    assert terminated or env.states["ply"][0] == 4
    _, reward, terminated, truncated, info = env.step(env.game.resign_action)
    assert (reward, terminated, truncated) == (-0.5, True, False)
    assert info["action_mask"].all()
    envs = trinim_v0.vector_env(4, num_players=3, seat=2, opponent="random", allow_resign=True)
    envs.reset(seed=1)
    _, reward, terminated, _, info = envs.step([envs.game.resign_action] * 4)
    assert reward.tolist() == [-0.5] * 4
    assert terminated.all()
    assert (envs.states["ply"] == 2).all(), "the next games, at the learner's turn"


def test_an_opponent_that_resigns_at_once():
    """The games in which the learner never has a turn are dealt again, as long as there is a chance of others."""

    def resigns(game, views, rng):
        return np.full(len(views), game.resign_action)

    envs = chameleon_v0.vector_env(20, size=3, opponent=[resigns, "random"], seat=1, allow_resign=True)
    _, info = envs.reset(seed=1)
    assert (info["opponent"] == 1).all()
    with pytest.raises(RuntimeError, match="100 games have ended before the turn of the seat 1"):
        chameleon_v0.single_env(size=3, opponent=resigns, seat=1, allow_resign=True).reset()
    env = chameleon_v0.single_env(size=3, opponent=resigns, seat=0, allow_resign=True)
    env.reset()
    assert env.step(0)[1:4] == (1.0, True, False)


def test_starts():
    env = chameleon_v0.single_env(size=3, opponent=FirstLegal(), seat=1, swap_rule=False)
    env.reset(options={"moves": ["b2x"]})
    assert env.game.board_to_string(env.states) == ".../.x./..."
    env.reset(options={"moves": ["b2x", "c3x"]})
    assert env.game.board_to_string(env.states) == "x../.x./..x"
    with pytest.raises(ValueError, match="environment 0: the game ends before player_1 has a turn"):
        env.reset(options={"moves": ["a2x", "b1o", "a3x", "c3o"]})
    for options in ({"bord": "x"}, {"reset_mask": np.ones(1, bool)}):
        with pytest.raises(ValueError, match=r"expected 'board'(,| and) 'moves'"):
            env.reset(options=options)


def test_an_opponent_that_plays_illegally():
    def stuck(game, views, rng):
        return np.zeros(len(views), np.int64)

    env = chameleon_v0.single_env(size=3, opponent=stuck, seat=0)
    env.reset()
    with pytest.raises(ValueError, match=r"the opponent <function .*stuck.* has failed: row 0: 'a1x' is illegal"):
        env.step(0)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"opponent": "mtcs"}, "'mtcs' is not an agent: expected random, mcts"),
        ({"opponent": 7}, "7 is not an agent: expected a name, an agent with act"),
        ({"opponent": FirstLegal}, "<class .*FirstLegal'> is not an agent: expected a name"),
        ({"opponent": []}, "opponent is an empty list"),
        ({"opponent": None}, "opponent is None: expected one"),
        ({"seat": 2}, "seat is 2: expected 0, 1 or 'random'"),
        ({"seat": "first"}, "seat is 'first': expected 0, 1 or 'random'"),
        ({"seat": True}, "seat is True: expected 0, 1 or 'random'"),
        ({"seat": -1}, "seat is -1: expected 0, 1 or 'random'"),
        ({"illegal_action": "lose"}, "illegal_action is 'lose': expected 'terminate' or 'raise'"),
    ],
)
def test_wrong_settings(settings, message):
    with pytest.raises(ValueError, match=message):
        chameleon_v0.single_env(**settings)


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_a_copy_goes_its_own_way(name, duplicate):
    env, rng = single(name), np.random.default_rng(0)
    _, info = env.reset(seed=2)
    for _ in range(2):
        info = env.step(drawn(info["action_mask"], rng))[-1]
    twin = duplicate(env)
    assert (twin.states == env.states).all()
    states = env.states.copy()
    one = episode(twin, np.random.default_rng(1))
    assert (env.states == states).all()
    assert one == episode(env, np.random.default_rng(1))


def test_render():
    env = curio_v0.single_env(seat=1, render_mode="ansi")
    env.reset(seed=1)
    assert env.render() == env.game.to_text(env.game.view(env.states, 1))
    assert curio_v0.single_env().render() is None


class OnlyFirstPlane(gymnasium.vector.VectorObservationWrapper):
    """Shows one plane instead of all."""

    def __init__(self, env):
        super().__init__(env)
        shape = (*env.single_observation_space.shape[:-1], 1)
        self.single_observation_space = gymnasium.spaces.Box(0, 127, shape, np.int8)
        self.observation_space = gymnasium.spaces.Box(0, 127, (env.num_envs, *shape), np.int8)

    def observations(self, observations):
        return observations[..., :1]


def test_registered_ids_take_wrappers():
    envs = gymnasium.make_vec("pbm/Chameleon-v0", num_envs=2, size=3, wrap=RecordEpisodeStatistics)
    assert isinstance(envs, RecordEpisodeStatistics)
    assert envs.unwrapped.game == Chameleon(size=3)
    env = gymnasium.make("pbm/Chameleon-v0", size=3, wrap=gymnasium.wrappers.FlattenObservation)
    assert env.reset(seed=1)[0].shape == (45,)
    assert isinstance(chameleon_v0.env(wrap=BaseWrapper), BaseWrapper)
    with pytest.raises(ValueError, match="wrap is 3: expected a function or class"):
        chameleon_v0.vector_env(2, wrap=3)


def test_one_seat_of_a_wrapped_environment():
    def make_env(**settings):
        return chameleon_v0.vector_env(1, size=3, **{"opponent": "random", "autoreset_mode": "Disabled", **settings})

    env, plain = SingleSeatEnv(OnlyFirstPlane(make_env())), chameleon_v0.single_env(size=3)
    assert env.observation_space.shape == (3, 3, 1)
    (planes, info), (all_planes, _) = env.reset(seed=3), plain.reset(seed=3)
    while True:
        assert (planes == all_planes[..., :1]).all()
        action = info["action_mask"].argmax()
        (planes, *outcome, info), (all_planes, *same, _) = env.step(action), plain.step(action)
        assert outcome == same
        if outcome[1]:
            break
    for settings in ({"opponent": None}, {"autoreset_mode": "SameStep"}):
        with pytest.raises(ValueError, match="expected"):
            SingleSeatEnv(make_env(**settings))


@pytest.mark.parametrize("mode", ["sync", "async"])
@pytest.mark.parametrize("options", [{}, {"opponent": "random"}], ids=["default", "random"])
def test_gymnasiums_own_vector_environments_play_one_seat_of_each_game(mode, options):
    envs = gymnasium.make_vec("pbm/Chameleon-v0", num_envs=2, vectorization_mode=mode, size=3, **options)
    _, info = envs.reset(seed=1)
    planes, reward, _, _, info = envs.step(info["action_mask"].argmax(axis=1))
    assert planes.shape == (2, 3, 3, 5)
    assert info["action_mask"].shape == (2, 19)
    assert reward.shape == (2,)
    envs.close()


def test_a_specification_is_written_as_json():
    spec = gymnasium.make("pbm/Chameleon-v0", opponent=["random", "mcts:simulations=5"], size=3).spec
    again = gymnasium.envs.registration.EnvSpec.from_json(spec.to_json())
    assert gymnasium.make(again).unwrapped.game == Chameleon(size=3)
    assert spec == again


def test_opponents_are_no_attribute_of_wrappers_either():
    """Nothing stands around the environment that would take any attribute, and other wrappers ask it."""
    env = gymnasium.make("pbm/Chameleon-v0", size=3)
    with pytest.raises(AttributeError, match="call set_opponents"):
        env.opponent = FirstLegal()
    wrapped = gymnasium.wrappers.FlattenObservation(env)
    with pytest.raises(AttributeError, match="call set_opponents"):
        wrapped.set_wrapper_attr("opponent", FirstLegal())
    wrapped.get_wrapper_attr("set_opponents")(FirstLegal())
    assert [score.name for score in env.opponent_scores()] == ["random", "FirstLegal"]
