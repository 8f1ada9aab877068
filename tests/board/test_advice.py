"""The adviser: the same hint for the same view, values on one scale, and the move at which a game turned."""

import numpy as np
import pytest
from pbm_agents import make_agent
from pbm_agents.play.adviser import MoveValue, analyse, can_analyse, curve, how_sure, turning_ply
from pbm_agents.play.limits import Limits
from pbm_agents.play.start import LEVELS, game_form

from pbm_envs import Chameleon, Curio, Trinim, Unlur, registered_games
from tests.board.boards import Person, start

GAMES = [
    Chameleon(size=5),
    Curio(base=2, rows=4, cols=3),
    Curio(),
    Trinim(),
    Trinim(size=3, num_players=3),
    Unlur(radius=3),
]


def position_after(game, plies, seed=2):
    session, rng = start(game, *["random"] * game.num_players, seed=seed).session(), np.random.default_rng(seed)
    while session.plies < plies:
        session.play(game.action_to_string(int(rng.choice(session.legal()))))
    return session


@pytest.mark.parametrize("game", GAMES, ids=str)
def test_the_same_view_gets_the_same_moves_on_one_scale(game):
    """Eight advisers of their own, in worlds that the player cannot tell apart: no value is above that of the hint."""
    session = position_after(game, 2)
    mover, rng, found = session.mover, np.random.default_rng(5), []
    view = session.view(mover)
    for world in np.split(game.determinize(np.repeat(view, 8), rng), 8):
        found.append(analyse(make_agent("champion:simulations=60"), game, game.view(world, mover)))
    assert all(moves == found[0] for moves in found)
    values = [move.value for move in found[0]]
    assert max(values) == values[0]
    assert all(-1 <= value <= 1 for value in values)
    assert {move.action for move in found[0]} <= set(session.legal())


def test_only_agents_that_search_are_asked_for_values():
    assert all(can_analyse(make_agent(name)) for name in ("champion", "mcts", "exact"))
    assert not any(can_analyse(make_agent(name)) for name in ("random", "greedy"))


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([0.1], "only move"),
        ([0.5, 0.1, 0.0], "clearly the best"),
        ([0.2, 0.1, 0.0], "a little better"),
        ([0.2, 0.17, 0.0], "one of two"),
        ([0.2, 0.17, 0.15], "one of several"),
    ],
)
def test_a_hint_says_how_sure_it_is(values, words):
    assert words in how_sure([MoveValue(k, value) for k, value in enumerate(values)])
    assert "proven" in how_sure([MoveValue(0, 1.0, proven=True), MoveValue(1, 0.9)])
    assert "loses" in how_sure([MoveValue(0, -1.0, proven=True), MoveValue(1, -1.0)])


def test_the_curve_has_the_plies_that_a_seat_may_know():
    for game, plies in ((Chameleon(size=3), [0, 1, 2]), (GAMES[1], [0, 2])):
        session = position_after(game, 3)
        name = "champion:simulations=20"
        found = curve(make_agent(name), name, game, session.positions[:3], 0)
        assert sorted(found) == plies
    assert turning_ply({0: 0.1, 1: 0.0, 2: -0.7, 3: -0.8}, -1.0) == 1
    assert turning_ply({0: 0.0, 1: 0.01}, -1.0) is None
    assert turning_ply({}, 1.0) is None


def test_a_finished_game_says_where_it_turned():
    """Chameleon 3x3 from a won position (a2x wins): a blunder, then the resignation that follows."""
    moves = ("a1x", "c1o", "a3x", "b1o")
    begin = start(Chameleon(size=3), "person", "person", moves=moves, hint="champion:simulations=200")
    with Person(begin) as person:
        person.play("c3o")
        over = person.play("resign")
        assert over["turn"] is None
        found = person.do("values")
        known = [value for value in found["values"] if value is not None]
        assert known[-1] == found["players"][found["seat"]]["return"]
        assert found["turn"] is None or found["turn"]["ply"] <= found["plies"]


def test_levels_have_names_and_ratings_of_the_ladder():
    for name in registered_games():
        levels = {level["name"]: level["rating"] for level in game_form(name)["levels"]}
        assert list(levels) == list(LEVELS)
        assert levels["Easy"] < levels["Casual"] < levels["Medium"]
        assert levels["Medium"] < levels["Strong"] <= levels["Champion"]


def test_an_agent_at_a_level_is_called_by_its_name():
    for agent, name in (
        ("greedy", "Easy"),
        (LEVELS["Champion"], "Champion"),
        ("mcts:simulations=31", "Search, 31 simulations"),
    ):
        with Person(start(Chameleon(size=3), "person", agent)) as person:
            assert [player["name"] for player in person.position["players"]] == ["You", name]


class OnlyTwo:
    """An agent for two players, which says so."""

    def check_plays(self, game):
        if game.num_players > 2:
            raise ValueError("expected two players")

    def act(self, game, views, rng):
        return game.legal_action_mask(views).argmax(axis=1)


def test_an_agent_that_cannot_play_the_game_is_refused_before_it_begins():
    name = "tests.board.test_advice:OnlyTwo"
    limits = Limits(own_agents=(name,))
    with Person(start(Chameleon(size=3), "person", name), limits=limits) as person:
        rest = {"game": "trinim", "players": ["person", name]}
        said = person.error("new", options=["num_players=3"], **rest)
        assert said == f"'{name}' cannot play this game: expected two players"
        assert person.do("new", **rest)["legal"]
    with pytest.raises(ValueError, match="cannot play this game"):
        start(Trinim(num_players=3), "person", name, "random").check()
