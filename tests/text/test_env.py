"""The Gymnasium environment of texts."""

import json

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from pbm_agents import make_agent

from pbm_envs import Chameleon, Curio, Trinim, Unlur, registered_games
from pbm_envs.text import TextEnv, TextSeat, make_text_env

SMALL = [Chameleon(size=3), Curio(base=2, rows=4, cols=3), Trinim(size=3, num_players=3), Unlur(radius=3)]
small = pytest.mark.parametrize("game", SMALL, ids=str)


@small
@pytest.mark.parametrize("disguise", [None, 3])
def test_gymnasiums_own_check(game, disguise):
    check_env(TextEnv(game, disguise=disguise), skip_render_check=True)


@small
def test_whole_games(game):
    env, rng, ends = TextEnv(game), np.random.default_rng(0), []
    for seed in range(6):
        text, info = env.reset(seed=seed)
        assert text.startswith(info["system_prompt"])
        done = False
        while not done:
            assert f"You are player_{info['seat']}" in text
            assert text in env.observation_space
            move = info["legal_moves"][int(rng.integers(len(info["legal_moves"])))]
            text, reward, terminated, truncated, info = env.step(f"Well. {json.dumps({'move': move})}")
            assert info["kind"] == "move"
            done = terminated or truncated
            assert done or reward == 0
        ends.append(reward)
        assert info["legal_moves"] == []
    assert set(ends) <= {-1, -0.5, 0, 1}


def test_the_same_seed_is_the_same_game():
    env = TextEnv(Curio(), "mcts:simulations=10")
    first, info = env.reset(seed=3)
    answer = json.dumps({"move": info["legal_moves"][0]})
    after = env.step(answer)[0]
    again, _ = env.reset(seed=3)
    assert again == first
    assert env.step(answer)[0] == after


def test_bad_answers():
    env = TextEnv(Unlur(radius=3), seat=0)
    env.reset(seed=1)
    text, reward, terminated, truncated, info = env.step("?")
    assert (reward, terminated, truncated, info["kind"], info["attempts_left"]) == (0, False, False, "unreadable", 2)
    assert "could not be read" in text
    text, reward, terminated, truncated, info = env.step('{"move": "a1"}')
    assert (reward, terminated, info["kind"], info["attempts_left"]) == (0, False, "illegal", 1)
    assert "is illegal in this position" in text
    _, reward, terminated, truncated, info = env.step("?")
    assert (reward, terminated, truncated) == (-1, True, False)
    with pytest.raises(RuntimeError, match="call reset"):
        env.step("?")


def test_leaving_a_game_of_three_ends_it_for_the_seat():
    env = TextEnv(Trinim(size=3, num_players=3), seat=0, attempts=1)
    env.reset(seed=1)
    _, reward, terminated, _, _ = env.step("?")
    assert (reward, terminated) == (-0.5, True)


@pytest.mark.parametrize("name", registered_games())
def test_by_id(name):
    env = gymnasium.make("pbm_envs.text:pbm/Text-v0", game=name, opponent=make_agent("random"), position="board")
    text, info = env.reset(seed=1)
    assert "The board: " in text
    assert info["legal_moves"]


def test_a_reset_that_fails_changes_nothing():
    env = make_text_env("chameleon", size=3)
    text, info = env.reset(seed=1, options={"moves": None})
    for seed, options in ((-1, None), (3, [1]), (3, {"moves": "a1x"}), (3, {"moves": ["a1x", "a1x"]})):
        with pytest.raises(ValueError, match="expected"):
            env.reset(seed=seed, options=options)
        assert env.step("?")[4] == info | {"kind": "unreadable", "attempts_left": info["attempts_left"] - 1}
        assert env.reset(seed=1)[0] == text


def test_after_a_failure_the_seat_does_not_play_for_the_opponent():
    def fails(game, views, rng):
        raise OSError("the server is down")

    env = TextEnv(Chameleon(size=3), fails, seat=0)
    _, info = env.reset(seed=1)
    with pytest.raises(OSError, match="the server is down"):
        env.step(info["legal_moves"][0])
    with pytest.raises(RuntimeError, match="an opponent failed while it was to move: call reset"):
        env.step(info["legal_moves"][1])


def test_render():
    env = make_text_env("unlur", radius=3, render_mode="ansi")
    env.reset(seed=1)
    assert "Side 1" in env.render()
    assert make_text_env(Unlur(radius=3)).render() is None


def test_what_is_wrong():
    with pytest.raises(ValueError, match="render_mode is 'human'"):
        TextEnv(Unlur(), render_mode="human")
    with pytest.raises(ValueError, match="'radius' is not a setting"):
        make_text_env(Unlur(), radius=3)
    with pytest.raises(ValueError, match="seat is 2"):
        TextSeat(Unlur(), seat=2)
