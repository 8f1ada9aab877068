"""Games of a batch: the same whatever happens beside them; crashes and illegal moves are forfeits."""

import numpy as np
import pytest
from pbm_agents import RandomAgent
from pbm_agents.arena import Opening, play_games

from pbm_envs import Chameleon, Curio, Trinim
from pbm_envs.records import FORFEITED, verify

from .agents import Crashing, First, Illegal, Shapeless


def against(game, agent, count=20, seats=("bad", "good")):
    agents = {"bad": agent, "good": RandomAgent(), "better": First()}
    records = play_games(game, agents, [seats] * count, [Opening(seed) for seed in range(count)], seed=5)
    for record in records:
        verify(record)
    return records


@pytest.mark.parametrize(
    ("agent", "reason"),
    [
        (Crashing(), "ZeroDivisionError: four is too much"),
        (Illegal(), "illegal: a1x"),
        (Shapeless(), "ValueError: gave int64 of shape (1, 2) for 1 games: expected integer actions of shape (1,)"),
    ],
    ids=["crash", "illegal", "shapeless"],
)
def test_who_fails_forfeits_its_own_games(agent, reason):
    records = against(Chameleon(size=5), agent)
    lost = [record for record in records if record.ending == FORFEITED]
    assert lost
    for record in lost:
        assert record.returns == (-1, 1)
        [forfeit] = record.forfeits
        assert (forfeit.player, forfeit.reason, forfeit.ply) == (0, reason, record.plies)
        assert record.moves[-1] == "resign"


def test_one_bad_position_does_not_cost_the_other_games():
    """`Illegal` fails only where a1 is taken."""
    records = against(Chameleon(size=5), Illegal(), count=40)
    failed = [any(f.reason == "illegal: a1x" for f in record.forfeits) for record in records]
    assert 0 < sum(failed) < 40
    for record, fails in zip(records, failed, strict=True):
        assert fails == (record.ending == FORFEITED)


def test_a_crash_in_one_game_is_asked_about_alone():
    class CrashesOnce(RandomAgent):
        def act(self, game, views, rng):
            if (views["pieces"][:, 0] == 0).any():
                raise RuntimeError("the top is gone")
            return super().act(game, views, rng)

    records = against(Trinim(), CrashesOnce())
    for record in records:
        top_gone = next((k for k, move in enumerate(record.moves) if "E1" in move), None)
        assert record.ending == FORFEITED or top_gone is None or top_gone >= record.plies - 2
    assert {record.ending for record in records} >= {FORFEITED}


@pytest.mark.parametrize("allow_resign", [False, True])
def test_in_a_game_of_three_the_others_play_on(allow_resign):
    """A2: the one who fails has lost, and the others decide the game between them."""
    game = Trinim(num_players=3, allow_resign=allow_resign)
    records = against(game, Crashing(), seats=("good", "bad", "better"))
    failed = [record for record in records if record.forfeits]
    assert failed
    for record in failed:
        assert record.returns[1] == -0.5
        assert record.moves[record.forfeits[0].ply - 1] == "resign"
    decided = {record.returns for record in failed}
    assert decided & {(1.0, -0.5, -0.5), (-0.5, -0.5, 1.0)}
    assert decided <= {(1.0, -0.5, -0.5), (-0.5, -0.5, 1.0), (0.25, -0.5, 0.25)}
    assert max(record.plies for record in failed) > failed[0].forfeits[0].ply + 1


def test_when_two_of_three_fail_the_third_has_won():
    for record in against(Trinim(num_players=3), Crashing(), seats=("bad", "good", "bad")):
        if len(record.forfeits) == 2:
            assert record.returns == (-0.5, 1, -0.5)
            break
    else:
        pytest.fail("no game with two forfeits")


def test_the_same_seed_plays_the_same_games():
    first, again = (against(Curio(), RandomAgent()) for _ in range(2))
    assert [record.moves for record in first] == [record.moves for record in again]
    assert len({record.moves for record in first}) == len(first)


def test_agents_are_shown_what_they_can_know_and_cannot_change_the_game():
    class Vandal(RandomAgent):
        def act(self, game, views, rng):
            assert (views["viewer"] == views["to_move"]).all()
            actions = super().act(game, views, rng)
            views[:] = np.zeros_like(views)
            return actions

    assert not any(record.forfeits for record in against(Curio(), Vandal()))


def test_an_opening_that_ends_the_game_is_refused():
    game = Chameleon(size=3)
    with pytest.raises(ValueError, match=r"is over after the .* moves of the opening: expected one"):
        Opening(0, moves=("b1x", "a3o", "b2x", "b3x")).position(game)
