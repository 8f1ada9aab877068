"""What a search has found: policies, the expected line, text and table."""

import re

import numpy as np
import pytest
from pbm_agents import Search, SearchAgent
from pbm_agents.search import make_search

from pbm_envs import Chameleon, Trinim, make_game, registered_games
from pbm_envs.testing import sample


def search(game, simulations, **settings):
    """Results of positions from the start, the middle and the end of games, and the states."""
    rng = np.random.default_rng(2)
    states = sample(game, rng)
    states = states[~states["done"]]
    views = game.view(states, states["to_move"])
    return states, make_search(simulations=simulations, **settings).run(game, views, rng)


def one(board="./../..r/..../gg...", simulations=400, **settings):
    """Trinim: E3 (red) alone, and A5-B5 (green)."""
    game, rng = Trinim(), np.random.default_rng(0)
    [result] = make_search(simulations=simulations, **settings).run(game, game.init(1, rng, board=board), rng)
    return result


@pytest.mark.parametrize("name", registered_games())
def test_a_result_fits_together(name):
    game = make_game(name)
    states, results = search(game, 200)
    legal = game.legal_action_mask(states)
    for state, result, mask in zip(states, results, legal, strict=True):
        assert result.game is game
        assert result.player == state["to_move"]
        assert result.visits.shape == result.values.shape == result.proven_actions.shape == (game.num_actions,)
        assert result.value.shape == (game.num_players,)
        assert not result.visits[~mask].any()
        assert not result.proven_actions[~mask].any()
        assert (np.isnan(result.values) == (result.visits == 0)).all()
        assert mask[result.best]
        assert result.principal_variation[0] == result.best
        assert 1 <= result.nodes <= 202


@pytest.mark.parametrize("name", ["chameleon", "trinim", "unlur"])
def test_the_expected_line_can_be_played(name):
    """From the best action on, every move legal; where the outcome is proven and the line ends the game, by that."""
    game = make_game(name)
    states, results = search(game, 1000)
    longest, ended = 0, 0
    for row, result in enumerate(results):
        state = states[row : row + 1].copy()
        for action in result.principal_variation:
            assert not state["done"][0]
            game.step(state, [action])
        longest = max(longest, len(result.principal_variation))
        if result.proven and state["done"][0]:
            assert state["returns"][0].tolist() == result.value.tolist()
            ended += 1
    assert longest >= 3
    assert ended > 0


def test_policies():
    game, rng = Chameleon(size=4, allow_resign=True), np.random.default_rng(0)
    [result] = Search(simulations=500, solver=False).run(game, game.init(1, rng), rng)
    visits = result.visits
    np.testing.assert_allclose(result.policy(), visits / visits.sum())
    np.testing.assert_allclose(result.policy(0.5), visits**2 / (visits**2.0).sum())
    assert result.policy(0).tolist() == np.eye(len(visits))[result.best].tolist()
    assert result.policy(1e-4).argmax() == visits.argmax(), "no overflow"
    even = result.policy(1e9)
    np.testing.assert_allclose(even[visits > 0], 1 / np.count_nonzero(visits))
    for temperature in (0, 0.3, 1, 1e9):
        policy = result.policy(temperature)
        assert policy.sum() == pytest.approx(1)
        assert not policy[visits == 0].any()
    for wrong in (-1, float("nan"), float("inf")):
        with pytest.raises(ValueError, match=f"temperature is {wrong}: expected a finite number from 0 up"):
            result.policy(wrong)


def test_an_action_known_to_lose_is_not_drawn():
    """However often it was tried before that was proven."""
    game, rng = Chameleon(size=3), np.random.default_rng(0)
    _, results = search(game, 3000)
    lost = 0
    for result in results:
        losing = result.proven_actions & (result.values == -1)
        if result.values[result.best] > -1 and losing.any():
            lost += 1
            assert not result.policy()[losing].any()
            assert result.sample(rng) not in np.flatnonzero(losing)
    assert lost > 0


def test_samples_follow_the_policy():
    result, rng = one(solver=False), np.random.default_rng(1)
    policy = result.policy(2.0)
    drawn = np.bincount([result.sample(rng, 2.0) for _ in range(4000)], minlength=len(policy))
    assert np.abs(drawn - 4000 * policy).max() < 5 * np.sqrt(1000)  # five standard deviations or more


def test_agents_with_a_temperature():
    """Low: the best action. High: others too, as the generator has it."""
    game = Chameleon(size=4)
    states = game.init(40, np.random.default_rng(0))
    cold, hot = SearchAgent(simulations=60), SearchAgent(simulations=60, temperature=2.0)
    played = hot.act(game, states, np.random.default_rng(1))
    assert played.tolist() == hot.act(game, states, np.random.default_rng(1)).tolist()
    best = [result.best for result in cold.analyse(game, states, np.random.default_rng(1))]
    assert cold.act(game, states, np.random.default_rng(1)).tolist() == best
    assert (played != best).any()
    with pytest.raises(ValueError, match="temperature is -1"):
        SearchAgent(simulations=60, temperature=-1)


def test_a_result_as_text():
    """What was found out, the expected line, the best action first."""
    result = one()
    text = str(result)
    first, expected, blank, head, *rows = text.splitlines()
    assert "player_0 to move" in first
    assert "proven" in first
    assert "player_0 +1.000, player_1 -1.000" in first
    assert expected.startswith("expected: ")
    assert not blank
    assert head.split() == ["move", "visits", "share", "value"]
    best = result.game.action_to_string(result.best)
    assert rows[0].split()[0] == expected.split()[1] == best
    assert rows[0].split()[-2:] == ["+1.000", "proven"]


def test_a_result_as_a_table():
    """The same rows as in the text."""
    result = one(solver=False)
    cells = re.findall(r"<t[hd](?: [^>]*)?>(.*?)</t[hd]>", result._repr_html_())
    assert [cell for cell in cells if cell] == " ".join(str(result).splitlines()[3:]).split()
    assert "proven" not in str(result)


def test_many_moves_are_cut_short():
    """The best and the most visited are shown."""
    game, rng = Trinim(), np.random.default_rng(0)
    [result] = Search(simulations=2000).run(game, game.init(1, rng), rng)
    rows = [line.split() for line in str(result).splitlines()[4:]]
    assert 5 <= len(rows) <= 20
    assert rows[0][0] == game.action_to_string(result.best)
    counts = [int(row[1].replace(",", "")) for row in rows[1:]]
    assert counts == sorted(counts, reverse=True)
