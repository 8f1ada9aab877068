"""TextArena: whole games in its own loop."""

import numpy as np
import pytest

pytestmark = [pytest.mark.libraries, pytest.mark.filterwarnings("default")]
ta = pytest.importorskip("textarena")

from pbm_agents import make_agent

import pbm_envs.adapters.textarena
from pbm_envs import Chameleon, Curio, Trinim, Unlur, registered_games
from pbm_envs.adapters.textarena import TextArenaEnv, register

SMALL = {
    "Curio": {"base": 2, "rows": 4, "cols": 3},
    "Trinim": {"size": 3, "num_players": 3},
    "Chameleon": {"size": 3},
    "Unlur": {"radius": 3},
}


def player_of(env):
    """The adapter itself, below TextArena's wrappers."""
    while isinstance(env, ta.Wrapper):
        env = env.env
    return env


def answer(env, agent, rng):
    """What `agent` would write: it sees only its player's view."""
    table = player_of(env).table
    action = int(agent.act(table.game, table.view(table.to_move), rng)[0])
    return f"I think. [{table.words.move(action)}]"


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize("suffix", ["", "-raw"])
@pytest.mark.parametrize("agent", ["random", "mcts:simulations=20"])
@pytest.mark.parametrize("disguise", [None, 2])
def test_whole_games(name, suffix, agent, disguise):
    agents, rng = [make_agent(agent), make_agent("random"), make_agent("random")], np.random.default_rng(1)
    env = ta.make(f"Pbm{name}-v0{suffix}", disguise=disguise, **SMALL[name])
    game = player_of(env).table.game
    for seed in range(3):
        env.reset(num_players=game.num_players, seed=seed)
        done = False
        while not done:
            player, observation = env.get_observation()
            assert player == player_of(env).table.to_move
            told = observation if isinstance(observation, str) else "\n".join(text for _, text, _ in observation)
            assert f"You are player_{player}" in told
            done, _ = env.step(action=answer(env, agents[player], rng))
        rewards, info = env.close()
        assert rewards == dict(enumerate(player_of(env).table.returns))
        assert sum(rewards.values()) == pytest.approx(0)
        assert sum(info[player]["turn_count"] for player in rewards) == len(player_of(env).table.moves)
        assert not any(info[player]["invalid_move"] for player in rewards)
        assert info[0]["reason"]


def test_one_error_is_allowed():
    env = TextArenaEnv(Unlur(radius=3))
    env.reset(num_players=2, seed=1)
    assert env.step("?") == (False, {})
    player, observation = env.get_observation()
    assert player == 0
    assert any("could not be read" in text for _, text, _ in observation)
    assert env.step("[c3]")[0] is False
    assert env.get_observation()[0] == 1
    env.step("[a1]")
    assert any("is illegal" in text for _, text, _ in env.get_observation()[1])
    done, _ = env.step("?")
    rewards, info = env.close()
    assert done
    assert rewards == {0: 1, 1: -1}
    assert info[1]["invalid_move"]
    assert not info[0]["invalid_move"]
    assert info[0]["reason"] == "player_1 has forfeited the game."


def test_who_leaves_a_game_of_three():
    env = TextArenaEnv(Trinim(size=3, num_players=3), error_allowance=0)
    env.reset(num_players=3, seed=2)
    done, _ = env.step("?")
    assert not done
    assert env.get_observation()[0] == 1
    done, _ = env.step("?")
    assert done
    assert env.close()[0] == {0: -0.5, 1: -0.5, 2: 1}


def test_swap_keeps_the_turns():
    env = TextArenaEnv(Chameleon(size=3))
    env.reset(num_players=2)
    env.step("[b2x]")
    env.step("[swap]")
    assert env.get_observation()[0] == 0


def test_answers_and_hidden_sides_are_told_to_nobody_else():
    env, board = TextArenaEnv(Curio(base=2, rows=4, cols=3)), "D12 D11 D22/. . ./. . ./L21 L22 L11"
    told = []
    for hidden in (board, board.replace("L21 L22", "L22 L21")):
        env.reset(num_players=2, seed=0)
        env.table.reset(options={"board": hidden})
        env.state.observations[1].clear()
        env.step("My a1 has a secret 1. [a1-a2]")
        player, observation = env.get_observation()
        assert player == 1
        assert not any("secret" in text for _, text, _ in observation)
        told.append([text for _, text, _ in observation])
    assert told[0] != told[1]  # Dark sees the sides towards Dark
    assert "a1-a2" in told[0][0]


def test_registered_once():
    register()
    assert {f"Pbm{kind.__name__}-v0{suffix}" for kind in registered_games().values() for suffix in ("", "-raw")} <= set(
        pbm_envs.adapters.textarena.ta.envs.registration.ENV_REGISTRY
    )
    with pytest.raises(ValueError, match="num_players is 3"):
        TextArenaEnv(Unlur()).reset(num_players=3)
