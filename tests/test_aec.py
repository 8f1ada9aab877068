"""The PettingZoo environments: contract, seeds, wrappers, starts, history. Any order of calls: tests/faults."""

import copy

import numpy as np
import pettingzoo
import pytest
from pettingzoo.test import api_test, parallel_api_test, parallel_seed_test, seed_test
from pettingzoo.utils import wrappers
from pettingzoo.utils.conversions import turn_based_aec_to_parallel

import pbm_envs
from pbm_envs import chameleon_v0, curio_v0, trinim_v0, unlur_v0
from tests.environments import MODULES, NAMES, SMALL


@pytest.fixture(params=NAMES)
def name(request):
    return request.param


def play(env, plies, seed=0):
    """Random legal plies, dead steps included; how many were played."""
    rng = np.random.default_rng(seed)
    for ply in range(plies):
        if not env.agents:
            return ply
        observation, _, terminated, truncated, _ = env.last()
        env.step(None if terminated or truncated else rng.choice(np.flatnonzero(observation["action_mask"])))
    return plies


def started(name, plies=0, **options):
    env = MODULES[name].raw_env(**SMALL[name], **options)
    env.reset(seed=3)
    play(env, plies)
    return env


def everything(env):
    """All that an environment shows."""
    return (
        list(env.agents),
        env.agent_selection,
        dict(env.rewards),
        dict(env._cumulative_rewards),
        dict(env.terminations),
        dict(env.truncations),
        dict(env.infos),
        [{key: value.tobytes() for key, value in env.observe(agent).items()} for agent in env.possible_agents],
        env.state().tobytes(),
        [env.states[name].tobytes() for name in env.states.dtype.names],  # not the padding between them
    )


@pytest.mark.parametrize("wrapped", [True, False], ids=["env", "raw_env"])
def test_pettingzoo_contract(name, wrapped):
    make = MODULES[name].env if wrapped else MODULES[name].raw_env
    api_test(make(**SMALL[name]), num_cycles=300)


def test_pettingzoo_seeds(name):
    seed_test(lambda: MODULES[name].env(**SMALL[name]), num_cycles=200)


def test_pettingzoo_parallel(name):
    parallel_api_test(turn_based_aec_to_parallel(MODULES[name].env(**SMALL[name])), num_cycles=200)
    parallel_seed_test(lambda: turn_based_aec_to_parallel(MODULES[name].env(**SMALL[name])), num_cycles=100)


@pytest.mark.skipif("register" not in vars(pettingzoo), reason="PettingZoo before 1.27 has no registry")
def test_made_by_id(name):
    pbm_envs.register_game(pbm_envs.registered_games()[name])  # a second time, without a warning
    env = pettingzoo.make("aec", f"pbm/{name}-v0", **SMALL[name])
    env.reset(seed=1)
    assert env.unwrapped.game == MODULES[name].raw_env(**SMALL[name]).game
    assert str(env.unwrapped) == f"{name}_v0"


def test_seeds_differ():
    boards = set()
    for seed in range(5):
        env = curio_v0.raw_env()
        env.reset(seed=seed)
        boards.add(env.game.board_to_string(env.states))
    assert len(boards) == 5


def test_a_snapshot_of_other_rules_is_refused():
    env = started("trinim")
    other = trinim_v0.raw_env(size=6)
    with pytest.raises(ValueError, match="expected Trinim"):
        other.set_state(env.get_state())


def test_truncation():
    """A4, C13"""
    env = curio_v0.raw_env(no_capture_limit=1)
    env.reset(options={"board": "D12 D12 D14 D14 D14/. . . . ./. . . . ./. . . . ./L41 L21 L21 L21 L21"})
    env.step(env.game.string_to_action("a1-a2"))
    assert env.truncations == {"player_0": True, "player_1": True}
    assert env.terminations == {"player_0": False, "player_1": False}


def test_observations_are_fresh(name):
    env = started(name)
    first = env.observe("player_0")
    kept = copy.deepcopy(first)
    play(env, 2)
    assert all((first[key] == kept[key]).all() for key in kept)


def test_unknown_options_of_a_reset_are_ignored_with_a_warning(caplog):
    started("trinim").reset(options={"bord": "b/bb"})
    assert "ignores the options ['bord']" in caplog.text


def test_moves_after_the_end():
    env = unlur_v0.raw_env(radius=3, allow_resign=True)
    with pytest.raises(ValueError, match="'c3' comes after the end"):
        env.reset(options={"moves": ["resign", "c3"]})


def test_flags_are_not_actions():
    env = started("chameleon")
    with pytest.raises(TypeError, match="action is True: expected an integer"):
        env.step(True)


def test_a_game_that_is_drawn_from_the_start():
    """C11"""
    env = curio_v0.raw_env()
    env.reset(options={"board": "D14 . . . ./. . . . ./. . . . ./. . . . ./. . . . L41"})
    assert all(env.terminations.values())
    assert play(env, 10) == 2, "two dead steps"


def test_render_viewers():
    """C5: by default what the player to move sees; everything only on request."""
    pictures = {
        viewer: started("curio", 7, render_mode="ansi", render_viewer=viewer).render()
        for viewer in (None, "player_0", "player_1", "all")
    }
    assert pictures[None] == pictures["player_1"]
    assert len(set(pictures.values())) == 3
    assert ",---," in pictures["player_0"]
    assert ",---," not in pictures["all"]


def pettingzoos(raw):
    """The wrappers that `env` does without."""
    env = wrappers.TerminateIllegalWrapper(raw, illegal_reward=-1)
    return wrappers.OrderEnforcingWrapper(wrappers.AssertOutOfBoundsWrapper(env))


@pytest.mark.skipif(
    pettingzoo.__version__.startswith("1.24."),
    reason="the wrappers of PettingZoo 1.24 remove agents from themselves only, after an illegal action",
)
@pytest.mark.filterwarnings("ignore:.*Illegal move:UserWarning")
@pytest.mark.filterwarnings("ignore:.*step.* called after all agents:UserWarning")
@pytest.mark.parametrize(("name", "more"), [*((name, {}) for name in MODULES), ("trinim", {"num_players": 3})], ids=str)
def test_env_does_what_the_usual_wrappers_do(name, more):
    """Side by side, with illegal actions now and then, to the last dead step and beyond."""
    rng, illegal = np.random.default_rng(1), 0
    for seed in range(12):
        options = {**SMALL[name], **more, "allow_resign": True}
        ours, theirs = MODULES[name].env(**options), pettingzoos(MODULES[name].raw_env(**options))
        for env in (ours, theirs):
            env.reset(seed=seed)
        for agent in ours.agent_iter(80):
            assert agent == theirs.agent_selection
            (seen, *rest), (seen_there, *rest_there) = ours.last(), theirs.last()
            assert rest == rest_there
            assert all((seen[key] == seen_there[key]).all() for key in seen)
            action = None
            if not (rest[1] or rest[2]):
                wrong = rng.random() < 0.05 and not seen["action_mask"].all()
                action = int(rng.choice(np.flatnonzero(seen["action_mask"] != wrong)))
                illegal += wrong
            for env in (ours, theirs):
                env.step(action)
            assert everything(ours) == everything(theirs.unwrapped)
        if not ours.agents:
            for env in (ours, theirs):
                env.step(0)
            assert everything(ours) == everything(theirs.unwrapped)
    assert illegal > 0


def test_env_notices_a_wrong_order():
    for env in (chameleon_v0.env(size=3), pettingzoos(chameleon_v0.raw_env(size=3))):
        with pytest.raises(AssertionError, match=r"reset\(\) needs to be called before"):
            env.agent_iter()
        for name in ("rewards", "terminations", "truncations", "infos", "agent_selection", "num_agents", "agents"):
            with pytest.raises(AttributeError, match="cannot be accessed before reset"):
                getattr(env, name)
        env.reset(seed=1)
        turns = iter(env.agent_iter())
        next(turns)
        with pytest.raises(AssertionError, match="need to call step"):
            next(turns)
        assert not hasattr(env, "colour")


@pytest.mark.parametrize("wrapped", [True, False], ids=["env", "raw_env"])
def test_history(name, wrapped):
    """The last moves in the infos of every agent, those of the start included; nothing without the option."""
    make = MODULES[name].env if wrapped else MODULES[name].raw_env
    env, plain, rng = make(**SMALL[name], history=3), make(**SMALL[name]), np.random.default_rng(1)
    env.reset(seed=1)
    plain.reset(seed=1)
    played = []
    while not env.terminations[env.agent_selection] and not env.truncations[env.agent_selection]:
        newest = [*played[::-1][:3], *[(-1, -1)] * 3][:3]
        for agent in env.agents:
            assert env.infos[agent]["history"].tolist() == [action for action, _ in newest]
            assert env.infos[agent]["history_players"].tolist() == [player for _, player in newest]
            assert plain.infos[agent] == {}
        if len(played) == 4:
            twin = env.clone()
            assert (twin.infos["player_0"]["history"] == env.infos["player_0"]["history"]).all()
        agent = env.agent_selection
        action = int(rng.choice(np.flatnonzero(env.observe(agent)["action_mask"])))
        played.append((action, env.possible_agents.index(agent)))
        env.step(action)
        plain.step(action)
    texts = [env.unwrapped.game.action_to_string(action) for action, _ in played[:2]]
    env.reset(seed=1, options={"moves": texts})
    assert env.infos["player_0"]["history"].tolist() == [played[1][0], played[0][0], -1]


def test_history_tells_what_masks_have_told():
    """Under `*_total` legality reveals sums (C7): an agent may remember its own past masks, and no one else's."""
    env, rng = curio_v0.env(base=3, rows=4, cols=4, capture="le_total", history=2), np.random.default_rng(1)
    env.reset(seed=1)
    own = {agent: [] for agent in env.agents}
    for _ in range(12):
        agent = env.agent_selection
        for other in env.agents:
            kept = env.infos[other]["mask_history"]
            for k, mask in enumerate(own[other][::-1][:2]):
                assert (kept[k] == mask).all()
            assert not kept[len(own[other]) :].any()
        mask = env.observe(agent)["action_mask"]
        own[agent].append(mask)
        env.step(int(rng.choice(np.flatnonzero(mask))))
    assert "mask_history" not in curio_v0.env(history=2).unwrapped._history.info(np.zeros(1, int))
