"""The four games as OpenSpiel's: its own checks, and agreement with our environments."""

import copy
import importlib
import pickle
import re
import subprocess
import sys

import numpy as np
import pyspiel
import pytest
from open_spiel.python.observation import make_observation

from pbm_envs import Chameleon, Curio, Trinim, Unlur, registered_games
from pbm_envs.adapters.openspiel import MOST_PLIES, PREFIX, SpielGame, load, register
from pbm_envs.envs.aec import BoardGameAECEnv
from pbm_envs.testing import equal
from pbm_envs.toolbox import install_command
from tests.openspiel.games import configurations, dealt, prefixes

NAMES = [
    "python_pbm_curio(base=2,rows=4,cols=3,no_capture_limit=20)",
    "python_pbm_curio(base=2,rows=4,cols=3,face=random,turn=False,reveal_captured=False,no_capture_limit=20)",
    "python_pbm_curio(base=2,rows=4,cols=3,board=D12 . D11/. . ./. . ./L21 L22 .)",
    "python_pbm_curio(base=3,rows=4,cols=4,capture=le_total,no_capture_limit=20,allow_resign=True)",
    "python_pbm_trinim(size=3,num_players=3)",
    "python_pbm_trinim(size=6,num_players=3,allow_resign=True)",
    "python_pbm_trinim(size=3,num_players=3,board=r/.g/rgb)",
    "python_pbm_chameleon(size=3)",
    "python_pbm_chameleon(size=5,swap_rule=False,allow_resign=True)",
    "python_pbm_unlur(radius=3)",
]
every_configuration = pytest.mark.parametrize("rules", configurations(), ids=str)


@pytest.mark.parametrize("name", NAMES)
def test_random_sim_test(name):
    """OpenSpiel's own: clones, histories, serialization, masks, rewards, lengths and sizes of tensors."""
    pyspiel.random_sim_test(pyspiel.load_game(name), num_sims=2, serialize=True, verbose=False)


@pytest.mark.slow
@every_configuration
def test_random_sim_test_under_every_option(rules):
    pyspiel.random_sim_test(load(rules), num_sims=5, serialize=True, verbose=False)


@every_configuration
def test_it_is_the_game_of_the_environment(rules):
    """The same actions: players, masks, observations, ends and what is paid."""
    game, rng = load(rules), np.random.default_rng(1)
    env = BoardGameAECEnv(rules)
    state = dealt(game, rng)
    env.reset(options={"board": rules.board_to_string(state.states)} if rules.deal else None)
    for _ in range(80):
        assert equal(state.states, env.states)
        if state.is_terminal():
            break
        mover = state.current_player()
        assert env.agent_selection == f"player_{mover}"
        for player, agent in enumerate(env.possible_agents):
            given = env.observe(agent)
            tensor = state.observation_tensor(player)
            assert tensor[: rules.num_players] == np.eye(rules.num_players)[player].tolist()
            assert tensor[rules.num_players :] == given["observation"].ravel().tolist()
            assert state.legal_actions(player) == np.flatnonzero(given["action_mask"]).tolist()
        assert state.returns() == [0] * rules.num_players
        action = int(rng.choice(state.legal_actions()))
        assert state.action_to_string(action) == rules.action_to_string(action)
        state.apply_action(action)
        env.step(action)
        while not state.is_terminal() and env.terminations[env.agent_selection]:  # whoever has resigned
            env.step(None)
    else:
        return
    assert state.returns() == pytest.approx(env.states["returns"][0].tolist())
    assert sum(state.returns()) == pytest.approx(0)
    assert state.current_player() == pyspiel.PlayerId.TERMINAL


@every_configuration
def test_facts(rules):
    game = load(rules)
    kind = game.get_type()
    assert (game.num_players(), game.num_distinct_actions()) == (rules.num_players, rules.num_actions)
    assert game.max_game_length() == rules.max_plies
    assert (game.min_utility(), game.max_utility()) == (-1 if rules.num_players == 2 else -0.5, 1)
    assert game.utility_sum() == 0
    open_game = kind.information == pyspiel.GameType.Information.PERFECT_INFORMATION
    assert open_game == (rules.name != "curio")
    chance = kind.chance_mode == pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC
    assert chance == (rules.name in ("curio", "trinim"))
    total = rules.name == "curio" and rules.options["capture"].endswith("_total")
    assert kind.provides_information_state_tensor == (rules.max_plies <= MOST_PLIES and not total)
    assert game.max_chance_nodes_in_history() == len(dealt(game, np.random.default_rng(0)).history())
    assert game.rules == rules


@pytest.mark.parametrize("name", NAMES)
def test_copies_and_pickles(name):
    game = pyspiel.load_game(name)
    assert pickle.loads(pickle.dumps(game)).to_string() == game.to_string()
    rng = np.random.default_rng(2)
    for state in [game.new_initial_state(), *prefixes(game, rng, 6)]:
        twins = [
            state.clone(),
            copy.deepcopy(state),
            pickle.loads(pickle.dumps(state)),
            game.deserialize_state(state.serialize()),
        ]
        before = str(state), state.history(), state.information_state_string(0)
        for twin in twins:
            assert (str(twin), twin.history(), twin.information_state_string(0)) == before
            if not twin.is_terminal():
                twin.apply_action(twin.legal_actions()[-1])
        assert (str(state), state.history(), state.information_state_string(0)) == before
        assert len({str(twin) for twin in twins}) == 1


def test_a_position_can_be_entered():
    """In the middle of a game; what came before is not known there."""
    rules = Trinim(size=3, num_players=3)
    game, rng = load(rules), np.random.default_rng(3)
    before = prefixes(game, rng, 2)[-1]
    state = game.enter(before.states)
    assert state.history() == []
    assert state.legal_actions() == before.legal_actions()
    assert state.observation_tensor(1) == before.observation_tensor(1)
    for action in iter(lambda: state.legal_actions(), []):
        state.apply_action(action[0])
        before.apply_action(action[0])
    assert state.returns() == before.returns()
    assert before.is_terminal()
    with pytest.raises(ValueError, match="states are views: determinize them first"):
        game.enter(rules.view(rules.init(1, rng), 0))
    with pytest.raises(ValueError, match="expected one game of Trinim"):
        game.enter(rules.init(2, rng))
    with pytest.raises(RuntimeError, match="still being set up"):
        _ = game.new_initial_state().states


def test_a_board_leaves_nothing_to_chance():
    game = pyspiel.load_game("python_pbm_trinim(size=3,num_players=3)")
    state = game.new_initial_state("r/.g/rgb")
    assert game.rules.board_to_string(state.states) == "r/.g/rgb"
    fixed = load(game.rules, "r/.g/rgb")
    assert str(fixed.new_initial_state()) == str(state)
    assert fixed.get_type().chance_mode == pyspiel.GameType.ChanceMode.DETERMINISTIC
    assert fixed.max_chance_outcomes() == 0


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("curio(base=20)", "base is 20: expected an integer from 2 to 9"),
        ("curio(board=xyz)", "board is 'xyz': expected 5 rows"),
        ("curio(face=big)", "face is 'big': expected one of large"),
        ("trinim(size=4)", "size is 4: expected one of 3, 5, 6"),
    ],
)
def test_bad_options(name, complaint):
    with pytest.raises(ValueError, match=complaint):
        pyspiel.load_game(PREFIX + name)


def test_zero_stands_for_none():
    loaded = pyspiel.load_game("python_pbm_curio(no_capture_limit=0,num_pieces=0)").rules
    assert loaded == Curio(no_capture_limit=None)
    assert load(loaded).rules == loaded
    assert pyspiel.load_game("python_pbm_curio").rules == Curio()


def test_an_illegal_action_changes_nothing():
    state = load(Chameleon(size=3)).new_initial_state()
    before = str(state)
    with pytest.raises(ValueError, match="'swap' is illegal here"):
        state.apply_action(18)
    assert str(state) == before


def test_what_cannot_be_observed():
    game = load(Curio())
    with pytest.raises(ValueError, match=r"params are \{'a': 1\}: expected none"):
        game.make_py_observer(None, {"a": 1})
    public = pyspiel.IIGObservationType(perfect_recall=False, private_info=pyspiel.PrivateInfoType.NONE)
    with pytest.raises(ValueError, match="expected public_info and private_info=SINGLE_PLAYER"):
        game.make_py_observer(public)
    total = load(Curio(capture="le_total"))
    observer = make_observation(total, pyspiel.IIGObservationType(perfect_recall=True))
    with pytest.raises(ValueError, match="there is no information state tensor here"):
        observer.set_from(dealt(total, np.random.default_rng(0)), 0)


def test_the_observer_names_its_pieces():
    rules = Unlur(radius=3)
    state = load(rules).new_initial_state()
    move = state.legal_actions()[3]
    state.apply_action(move)
    observer = make_observation(state.get_game(), pyspiel.IIGObservationType(perfect_recall=True))
    observer.set_from(state, 1)
    assert observer.dict["player"].tolist() == [0, 1]
    assert observer.dict["moves"][:2].tolist() == [move + 1, 0]
    assert np.array_equal(observer.dict["observation"], rules.observe(rules.view(state.states, 1))[0])
    assert observer.string_from(state, 1) == state.information_state_string(1)


def test_registered_once_for_all():
    assert [PREFIX + name in pyspiel.registered_names() for name in registered_games()] == [True] * 4
    register()
    assert isinstance(pyspiel.load_game("python_pbm_unlur"), SpielGame)


def test_a_process_that_has_played_ends_well():
    """What OpenSpiel keeps of Python games has crashed processes at their end."""
    play = "import pyspiel, pbm_envs.adapters.openspiel as a; pyspiel.load_game('python_pbm_unlur').new_initial_state()"
    assert subprocess.run([sys.executable, "-c", play], check=False).returncode == 0


def test_without_openspiel(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyspiel", None)
    monkeypatch.delitem(sys.modules, "pbm_envs.adapters.openspiel")
    with pytest.raises(ImportError, match=re.escape(install_command("openspiel"))):
        importlib.import_module("pbm_envs.adapters.openspiel")
