"""Who meets whom, and that the luck of openings and seats cancels."""

from collections import Counter
from itertools import permutations

import pytest
from pbm_agents.arena import Tournament

from pbm_envs import Chameleon, Curio, Trinim, Unlur

AGENTS = ("random", "mcts:simulations=2", "mcts:simulations=3", "mcts:simulations=4")


def schedule(*games, agents=AGENTS, **settings):
    """(game, seats, opening) of every game."""
    batches = Tournament(games, agents, **settings).batches()
    return [(b.game, s, o) for b in batches for s, o in zip(b.seats, b.openings, strict=True)]


@pytest.mark.parametrize("form", ["round-robin", "gauntlet", "pairs"])
@pytest.mark.parametrize("game", [Trinim(), Trinim(num_players=3)], ids=str)
def test_every_opening_is_played_from_every_seat(game, form):
    games = schedule(game, form=form, openings=3, seed=5)
    for _, seats, opening in games:
        others = {s for _, s, o in games if o == opening and set(s) == set(seats)}
        assert others >= set(permutations(seats))
    assert {opening.seed for _, _, opening in games} == {5, 6, 7}
    assert max(Counter((s, o) for _, s, o in games).values()) == 1, "a game is played twice"


@pytest.mark.parametrize("form", ["round-robin", "gauntlet", "pairs"])
@pytest.mark.parametrize("agents", [AGENTS[:2], AGENTS], ids=len)
def test_each_agent_has_each_seat_equally_often_and_follows_each_other_equally_often(agents, form):
    games = schedule(Trinim(num_players=3), agents=agents, form=form, openings=2)
    for agent in agents:
        assert len({sum(s[seat] == agent for _, s, _ in games) for seat in range(3)}) == 1
        before = Counter(s[seat - 1] for _, s, _ in games for seat in range(3) if s[seat] == agent)
        after = Counter(s[seat] for _, s, _ in games for seat in range(3) if s[seat - 1] == agent)
        assert before == after


def test_who_meets_whom():
    def met(form, *games):
        return Counter(frozenset(s) for _, s, _ in schedule(*games, form=form, openings=1))

    a, b, c, d = AGENTS
    two, three = Chameleon(size=3), Trinim(num_players=3)
    assert met("round-robin", two) == {frozenset(p): 2 for p in [(a, b), (a, c), (a, d), (b, c), (b, d), (c, d)]}
    assert met("gauntlet", two) == {frozenset(p): 2 for p in [(a, b), (a, c), (a, d)]}
    assert met("pairs", two) == {frozenset(p): 2 for p in [(a, b), (c, d)]}
    assert met("round-robin", three) == {frozenset(p): 6 for p in [(a, b, c), (a, b, d), (a, c, d), (b, c, d)]}
    assert met("gauntlet", three) == {frozenset(p): 6 for p in [(a, b, c), (a, b, d), (a, c, d)]}
    assert met("pairs", three) == {frozenset(p): 6 for p in [(a, b), (c, d)]}
    assert met("pairs", two, three) == {frozenset(p): 8 for p in [(a, b), (c, d)]}


def test_batches_hold_whole_openings_and_number_the_games():
    batches = Tournament((Trinim(num_players=3), Curio()), AGENTS[:3], openings=5, batch=13).batches()
    assert [batch.number for batch in batches] == [0, 12, 24, 30, 40, 50]
    for batch in batches:
        assert len(batch) <= 13
        assert len(set(Counter(batch.openings).values())) == 1


def test_a_batch_for_one_opening_may_be_larger_than_asked():
    assert {len(batch) for batch in Tournament((Trinim(num_players=3),), AGENTS, batch=1).batches()} == {6}


def test_openings_on_given_boards_and_after_random_moves():
    boards = ("r/rg/bgb/gbrr/rgbbg", "g/rr/bgb/gbrr/rgbbg")
    openings = {o for _, _, o in schedule(Trinim(), boards=boards, openings=3, opening_moves=2)}
    assert Counter(opening.board for opening in openings) == dict.fromkeys(boards, 3)
    assert {len(opening.moves) for opening in openings} == {2}
    assert len({opening.moves for opening in openings}) > 1
    for game in (Curio(), Unlur(radius=3, allow_resign=True)):
        for _, _, opening in schedule(game, openings=20, opening_moves=4):
            assert "resign" not in opening.moves
            assert opening.position(game)[1]["ply"] == 4


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"agents": ("random",)}, "agents are random: expected at least two"),
        ({"agents": ("random", "random")}, "agents are random, random: expected at least two, each only once"),
        ({"agents": ("random", "sage")}, "'sage' is not an agent"),
        ({"form": "swiss"}, "form is 'swiss': expected one of round-robin, gauntlet, pairs"),
        ({"form": "pairs", "agents": AGENTS[:3]}, "pairs of 3 agents: expected an even number"),
        ({"openings": 0}, "openings is 0: expected an integer from 1 to 1000000"),
        ({"seed": -1}, "seed is -1: expected an integer from 0 up"),
        ({"boards": ("r/rr",)}, "board is 'r/rr': expected 5 rows"),
        ({"opening_moves": 14}, "opening_moves is 14: in 1000 tries"),
        ({"opening_moves": 99}, "opening_moves is 99: Trinim.* is over after 15 plies at most"),
        ({"openings": 10**30}, "openings is 1000.*: expected an integer from 1 to 1000000"),
        ({"openings": 2.5}, "openings is 2.5: expected an integer"),
        ({"games": ()}, "there is no game"),
        ({"games": (Trinim(), Trinim())}, "expected each only once"),
    ],
)
def test_impossible_tournaments_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        Tournament(**{"games": (Trinim(),), "agents": AGENTS, **settings}).batches()
