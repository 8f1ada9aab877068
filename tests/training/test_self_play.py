"""The parts of AlphaZero: examples with values and visits, temperature, giving up, processes, targets, the buffer."""

import json

import numpy as np
import pytest
from pbm_agents import Search
from pbm_agents.learning.replay_buffer import ReplayBuffer
from pbm_agents.learning.self_play import SelfPlay, self_play, self_play_in_processes, wrong_resignations
from pbm_agents.learning.training_data import CUT_OFF, ENDED, RESIGNED, Examples, joined, value_targets
from pbm_agents.search import make_search

from pbm_envs import Chameleon, Curio, Trinim

GAME = Chameleon(size=3)
THREE = Trinim(num_players=3)
TINY_CURIO = Curio(base=2, rows=4, cols=3, no_capture_limit=3)


def equal(one, other):
    return all(np.array_equal(a, b, equal_nan=True) for a, b in zip(one, other, strict=True))


def uniform(observations, masks):
    """An evaluator that knows nothing; of a module, so that processes find it."""
    return masks / masks.sum(axis=1, keepdims=True), np.zeros(len(observations))


def half(observations, masks):
    """One that thinks well of every position for the player to move."""
    return masks / masks.sum(axis=1, keepdims=True), np.full(len(observations), 0.5)


class Forever:
    """Search results with a policy of two equal moves, and a value that is given."""

    def __init__(self, value):
        self.value = value

    def run(self, game, views, rng, *, workspace=None):
        results = Search(simulations=4).run(game, views, rng, workspace=workspace)
        for result in results:
            object.__setattr__(result, "value", np.full(game.num_players, self.value))
        return results


def examples_of(game, games=4, seed=1, search=None, **settings):
    return self_play(game, search or Search(simulations=8), games, np.random.default_rng(seed), SelfPlay(**settings))


@pytest.mark.parametrize("game", [GAME, THREE, TINY_CURIO], ids=str)
def test_examples_know_their_game_ply_and_player(game):
    examples = examples_of(game)
    assert set(examples.games.tolist()) == {0, 1, 2, 3}
    for k in range(4):
        one = examples.rows(examples.games == k)
        assert one.plies.tolist() == list(range(len(one.plies)))
        by_seat = [np.roll(returns, player) for returns, player in zip(one.returns, one.players, strict=True)]
        assert np.allclose(by_seat, by_seat[0])
        assert (one.endings == one.endings[0]).all()
    assert (examples.visits.sum(axis=1) > 0).all()
    assert not examples.visits[~examples.masks].any()


def test_moves_are_drawn_while_exploring_then_the_best_is_played():
    """At a final temperature of 0 every move after the first plies is the most visited."""
    game = Chameleon(size=4)
    moves = {0: [], 3: []}
    for exploring in moves:
        examples = examples_of(game, games=8, search=Search(simulations=30, solver=False), exploring_plies=exploring)
        first = examples.rows(examples.plies < exploring + 1)
        moves[exploring] = {first.rows(first.games == k).observations.tobytes() for k in range(8)}
    assert len(moves[3]) == 8
    settings = SelfPlay(temperature=1.0, exploring_plies=2, final_temperature=0.25)
    assert [settings.temperature_at(ply) for ply in range(4)] == [1.0, 1.0, 0.25, 0.25]
    assert SelfPlay().temperature_at(10**6) == 1.0


def test_who_gives_up_loses():
    """Everybody gives up at once, except in the share of games in which nobody does."""
    examples = examples_of(GAME, games=40, search=Forever(-0.9), resign_below=-0.8, no_resign_share=0.5)
    given_up = examples.rows(examples.endings == RESIGNED)
    played = examples.rows(examples.endings == ENDED)
    assert 8 < len(set(given_up.games.tolist())) < 32
    assert (given_up.plies == 0).all()
    assert (given_up.returns == [-1, 1]).all()
    assert len(set(played.games.tolist())) + len(set(given_up.games.tolist())) == 40
    assert played.plies.max() > 3
    assert wrong_resignations(examples, -0.8) == 0.5, "of the two players of each game one has won"
    assert np.isnan(wrong_resignations(given_up, -0.8))
    assert (examples_of(GAME, search=Forever(-0.9)).endings == ENDED).all()


def test_three_players_go_on_without_who_gives_up():
    examples = examples_of(THREE, games=6, search=Forever(-0.9), resign_below=-0.8, no_resign_share=0.0)
    assert (examples.endings == RESIGNED).all()
    last = examples.rows(examples.plies == examples.plies.max())
    assert (last.returns.sum(axis=1) == 0).all()
    assert (examples.rows(examples.plies == 0).returns == [-0.5, -0.5, 1]).all()


def test_a_game_that_is_cut_off_is_worth_what_the_evaluator_says():
    """From the player who would be next on; 0 by the rules, which is what random playouts find at the limit."""
    examples = examples_of(TINY_CURIO, games=30, search=Search(simulations=4, evaluator=half))
    cut = examples.rows(examples.endings == CUT_OFF)
    assert len(set(cut.games.tolist())) > 3
    for game in set(cut.games.tolist()):
        last = cut.rows(cut.games == game)
        assert last.returns[last.plies.argmax()].tolist() == [-0.5, 0.5], "the next player expects 0.5"
    assert set(np.abs(examples.rows(examples.endings == ENDED).returns).ravel().tolist()) <= {0.0, 1.0}


def by_definition(examples, lam):
    """TD(lambda) along each player's own turns, slowly."""
    targets = np.empty_like(examples.returns)
    players = examples.returns.shape[1]
    for k in range(len(targets)):
        for place in range(players):
            player = (examples.players[k] + place) % players
            turns = [
                j
                for j in range(len(targets))
                if examples.games[j] == examples.games[k]
                and examples.plies[j] > examples.plies[k]
                and examples.players[j] == player
            ]
            target = examples.returns[k, place]
            for j in sorted(turns, key=lambda j: -examples.plies[j]):
                target = (1 - lam) * examples.root_values[j, 0] + lam * target
            targets[k, place] = target
    return targets


@pytest.mark.parametrize("game", [GAME, THREE, TINY_CURIO], ids=str)
def test_value_targets_by_their_definition(game):
    examples = examples_of(game, games=3)
    shuffled = examples.rows(np.random.default_rng(1).permutation(len(examples.returns)))
    for lam in (0.0, 0.5, 0.9):
        assert np.allclose(value_targets(examples, lam), by_definition(examples, lam), atol=1e-5)
        assert np.allclose(value_targets(shuffled, lam), by_definition(shuffled, lam), atol=1e-5)
    assert (value_targets(examples) == examples.returns).all()
    for wrong in (-0.1, 1.5, float("nan")):
        with pytest.raises(ValueError, match="expected a number from 0 to 1"):
            value_targets(examples, wrong)
    with pytest.raises(ValueError, match="without root values"):
        value_targets(examples._replace(root_values=examples.root_values * np.nan), 0.5)


def test_processes_change_nothing():
    """The same examples from one process and from two, and another seed gives others."""
    search = make_search(simulations=4, evaluator=uniform, noise=0.25)
    alone = self_play_in_processes(GAME, search, 5, seed=7, workers=1, batch=2)
    assert equal(alone, self_play_in_processes(GAME, search, 5, seed=7, workers=2, batch=2, progress=True))
    assert sorted(set(alone.games.tolist())) == [0, 1, 2, 3, 4]
    other = self_play_in_processes(GAME, search, 5, seed=8, workers=1, batch=2)
    assert not equal(alone, other)
    with pytest.raises(ValueError, match="workers is 0"):
        self_play_in_processes(GAME, search, 5, seed=7, workers=0)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"temperature": -1}, "temperature is -1"),
        ({"final_temperature": float("inf")}, "temperature is inf"),
        ({"exploring_plies": -1}, "exploring_plies is -1"),
        ({"resign_below": -2}, "resign_below is -2"),
        ({"no_resign_share": 1.5}, "no_resign_share is 1.5"),
    ],
)
def test_settings_that_cannot_be(settings, message):
    with pytest.raises(ValueError, match=message):
        SelfPlay(**settings)


def test_a_buffer_holds_the_newest_and_goes_on(tmp_path):
    """A ring: what it holds is the end of all that was added, also after it was closed in between."""
    folder, everything = tmp_path / "buffer", []
    for seed in range(5):
        buffer = ReplayBuffer(folder, GAME, capacity=50)
        assert buffer.added == sum(len(part.returns) for part in everything)
        everything.append(examples_of(GAME, games=3, seed=seed))
        buffer.add(everything[-1])
        whole = joined(everything)
        assert len(buffer) == min(50, len(whole.returns))
        assert equal(buffer.newest(10**6), whole.rows(slice(-len(buffer), None)))
    assert len(whole.returns) > 60
    drawn = buffer.sample(200, np.random.default_rng(1))
    assert equal(drawn, buffer.sample(200, np.random.default_rng(1)))
    held = {
        row.tobytes() + bytes(str(game), "ascii")
        for row, game in zip(whole.observations[-50:], whole.games[-50:], strict=True)
    }
    assert {
        row.tobytes() + bytes(str(game), "ascii") for row, game in zip(drawn.observations, drawn.games, strict=True)
    } <= held
    assert not isinstance(drawn.observations, np.memmap) or drawn.observations.base is not buffer
    buffer.add(joined([whole, whole]))  # more than it holds
    assert equal(buffer.newest(50), whole.rows(slice(-50, None)))


def test_buffers_that_are_none_or_others(tmp_path):
    folder = tmp_path / "buffer"
    buffer = ReplayBuffer(folder, GAME, 10)
    with pytest.raises(ValueError, match="empty"):
        buffer.sample(1, np.random.default_rng(0))
    with pytest.raises(
        ValueError, match=r"observations are int8 .*: expected int8 \(\d+, 3, 3, 5\), as of examples of Cham"
    ):
        buffer.add(examples_of(Chameleon(size=4), games=1))
    assert len(buffer) == 0
    for game, capacity in ((Chameleon(size=4), 10), (GAME, 11)):
        with pytest.raises(ValueError, match="holds a buffer of"):
            ReplayBuffer(folder, game, capacity)
    with pytest.raises(ValueError, match="capacity is 0"):
        ReplayBuffer(tmp_path / "new", GAME, 0)
    assert not (tmp_path / "new").exists()
    with pytest.raises(ValueError, match="something else"):
        ReplayBuffer(tmp_path, GAME, 10)
    (folder / "buffer.json").write_text(json.dumps({"format": "x"}))
    with pytest.raises(ValueError, match="is not from a buffer"):
        ReplayBuffer(folder, GAME, 10)
    (folder / "buffer.json").write_text("{")
    with pytest.raises(ValueError, match="cannot be read"):
        ReplayBuffer(folder, GAME, 10)


def test_examples_of_which_no_more_is_known():
    examples = examples_of(GAME, games=1)
    bare = Examples.without_search(*examples[:4])
    assert bare.games.tolist() == list(range(len(bare.returns)))
    assert np.isnan(bare.root_values).all()
    assert [part.dtype for part in bare] == [part.dtype for part in examples]
