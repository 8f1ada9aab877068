"""Resignation in Trinim (A2): two players and three, in the rules and in the environment."""

from __future__ import annotations

import pytest

from pbm_envs import Trinim, trinim_v0
from tests.play import episode, legal, play, returns

BOARD = "r/rg/gbb"
SHARED = "B2-C1 C3 C2 resign A3 B3"
"""player_0 resigns with two reds; then player_1 has a blue and a green, player_2 a green and a blue."""

environments = pytest.mark.parametrize("make", [trinim_v0.env, trinim_v0.raw_env], ids=["env", "raw_env"])


def three():
    return Trinim(size=3, num_players=3, allow_resign=True)


def environment(make):
    return make(size=3, num_players=3, allow_resign=True)


@pytest.mark.parametrize(("moves", "result"), [("resign", [-1, 1]), ("E1 resign", [1, -1])])
def test_of_two_the_opponent_wins(moves, result):
    """A2, A1"""
    states = play(Trinim(allow_resign=True), moves)
    assert (states["done"][0], states["returns"][0].tolist()) == (True, result)


def test_only_where_allowed():
    """A2: the last action, legal in every position"""
    game = Trinim(allow_resign=True)
    assert game.string_to_action("Resign") == game.num_actions - 1 == Trinim().num_actions
    assert "resign" in legal(game, play(game, "A5-E5"))[0]
    assert "resign" not in legal(Trinim(), play(Trinim()))[0]
    with pytest.raises(ValueError, match=r"or the two ends of a line such as '.*' or 'resign'"):
        game.string_to_action("give up")


@pytest.mark.parametrize(
    ("moves", "result"), [("resign", [-0.5, 0, 0]), ("C1 resign", [0, -0.5, 0]), ("C1 B2 resign", [0, 0, -0.5])]
)
def test_of_three_the_resigned_has_lost_at_once(moves, result):
    """A2: and the others play on"""
    game = three()
    states = play(game, moves, BOARD)
    assert (states["done"][0], states["returns"][0].tolist()) == (False, result)
    assert {"C3", "resign"} <= legal(game, states)[0]
    assert game.to_text(states).count("  out") == 1


@pytest.mark.parametrize(
    ("moves", "movers"),
    [
        ("resign C1 B2 C2 A3 B3 C3", [0, 1, 2, 1, 2, 1, 2]),
        ("C1 resign B2 C2 A3 B3 C3", [0, 1, 2, 0, 2, 0, 2]),
        ("C1 B2 resign C2 A3 B3 C3", [0, 1, 2, 0, 1, 0, 1]),
        ("C1 B2 C2 A3 resign B3 C3", [0, 1, 2, 0, 1, 2, 0]),
    ],
)
def test_the_resigned_is_passed_over(moves, movers):
    """A2"""
    game, texts = three(), moves.split()
    assert [play(game, " ".join(texts[:k]), BOARD)["to_move"][0] for k in range(len(texts))] == movers
    assert play(game, moves, BOARD)["done"].all()


def test_what_the_resigned_has_grabbed_does_not_count():
    """A2, T6: player_0 leads with two reds, 3 points; without them 2 beats 1"""
    assert returns(three(), "B2-C1 C3 C2 resign A3", "r/rg/g.b") == [-0.5, -0.5, 1]


def test_a_draw_shares_what_the_resigned_has_lost():
    """A2: 1 each for those still in"""
    assert returns(three(), SHARED, BOARD) == [-0.5, 0.25, 0.25]


@pytest.mark.parametrize(
    ("moves", "result"),
    [
        ("resign resign", [-0.5, -0.5, 1]),
        ("B2-C1 C3 resign resign", [-0.5, 1, -0.5]),
        ("C1 resign B2 C2 resign", [1, -0.5, -0.5]),
        ("B2-C2 resign C1 resign", [-0.5, -0.5, 1]),
    ],
)
def test_the_last_one_wins(moves, result):
    """A2: whatever the score"""
    game = three()
    states = play(game, moves, BOARD)
    assert (states["done"][0], states["returns"][0].tolist()) == (True, result)
    assert legal(game, states) == [set()]


@environments
@pytest.mark.parametrize(
    ("moves", "turns"),
    [(SHARED, "0, 1, 2, 0, 0 -0.5, 1, 2, 1 0.25, 2 0.25"), ("C1 resign B2 resign", "0, 1, 1 -0.5, 2, 0, 2 1, 0 -0.5")],
)
def test_turns_in_the_environment(make, moves, turns):
    """A2, A1: each player's turns, with the reward at the end, where they step with None"""
    played = episode(environment(make), moves, board=BOARD)
    assert all(terminated or reward == 0 for _, reward, terminated in played)
    told = [agent.removeprefix("player_") + f" {reward:g}" * over for agent, reward, over in played]
    assert ", ".join(told) == turns


@environments
@pytest.mark.parametrize(
    "moves", ["resign C1 B2-C2 A3-C3", "C1 resign C2 B2 A3-C3", "C1 B2 resign C2 A3-B3 C3", "resign resign", SHARED]
)
def test_rewards_sum_to_zero_and_are_the_returns(make, moves):
    """A1, A2"""
    totals = dict.fromkeys(["player_0", "player_1", "player_2"], 0.0)
    for agent, reward, _ in episode(environment(make), moves, board=BOARD):
        totals[agent] += reward
    assert sum(totals.values()) == 0
    assert list(totals.values()) == returns(three(), moves, BOARD)


@environments
def test_the_dead_step(make):
    """A2: terminated at once, with the reward; None takes the agent out and the next one is to move"""
    env = environment(make)
    env.reset(options={"board": BOARD, "moves": ["C1"]})
    resign = env.unwrapped.game.resign_action
    env.step(resign)
    assert env.agent_selection == "player_1"
    assert env.agents == ["player_0", "player_1", "player_2"]
    assert env.terminations == {"player_0": False, "player_1": True, "player_2": False}
    assert env.rewards == {"player_0": 0, "player_1": -0.5, "player_2": 0}
    assert not env.observe("player_1")["action_mask"].any()
    assert env.observe("player_2")["action_mask"].any()
    with pytest.raises(ValueError, match="None"):
        env.step(resign)
    env.step(None)
    assert (env.agent_selection, env.agents) == ("player_2", ["player_0", "player_2"])
    assert env.terminations == env.truncations == {"player_0": False, "player_2": False}
    assert env.rewards == {"player_0": 0, "player_2": 0}
    with pytest.raises((ValueError, AssertionError), match=r"None is for agents that are done|not in action space"):
        env.unwrapped.step(None)


@environments
def test_a_position_with_a_resigned_player(make):
    """A2: reset starts with the dead step"""
    env = environment(make)
    env.reset(options={"board": BOARD, "moves": ["C1", "B2", "resign"]})
    assert (env.agent_selection, env.last()[2]) == ("player_2", True)
    env.step(None)
    assert (env.agent_selection, env.agents) == ("player_0", ["player_0", "player_1"])
    env.step(env.unwrapped.game.resign_action)
    assert env.terminations == {"player_0": True, "player_1": True}
    assert env.rewards == {"player_0": -0.5, "player_1": 1}
