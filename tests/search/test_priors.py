"""Priors beside playouts and RAVE, and playouts that save bridges, as settings of the search."""

import numpy as np
import pytest
from pbm_agents import Search, Workspace
from pbm_agents.search import make_search

from pbm_envs import Chameleon, Curio, Trinim, Unlur


def uniform(game, states):
    return np.full((len(states), game.num_actions), 1 / game.num_actions, np.float32)


def policy(observations, masks):
    return masks, np.zeros(len(masks))


def only(action):
    def priors(game, states):
        found = np.full((len(states), game.num_actions), 1e-6, np.float32)
        found[:, action] = 1
        return found

    return priors


def positions(game, count, plies, seed=1):
    rng = np.random.default_rng(seed)
    states = game.init(count, rng)
    for _ in range(plies):
        game.step(states, [int(rng.choice(np.flatnonzero(mask))) for mask in game.legal_action_mask(states)])
    return game.view(states, states["to_move"])


@pytest.mark.parametrize("game", [Chameleon(size=4), Unlur(radius=3)], ids=repr)
def test_without_weight_they_change_nothing(game):
    views, seeds = positions(game, 3, 2), np.arange(3, dtype=np.uint64)
    plain = Search(simulations=200).run(game, views, seeds.copy())
    weightless = make_search(simulations=200, priors=uniform, prior_weight=0.0).run(game, views, seeds.copy())
    for one, other in zip(plain, weightless, strict=True):
        np.testing.assert_array_equal(one.visits, other.visits)
        np.testing.assert_array_equal(one.values, other.values)


def test_what_they_favour_is_searched():
    game = Chameleon(size=5)
    views = positions(game, 1, 1)
    for action in (3, 20):
        [result] = make_search(simulations=100, priors=only(action), prior_weight=5.0).run(
            game, views, np.random.default_rng(0)
        )
        assert result.visits.argmax() == action


def test_each_new_node_gets_the_priors_of_its_position():
    game, seen = Chameleon(size=4), []

    def priors(game, states):
        assert not states["done"].any()
        seen.extend(state.tobytes() for state in states)
        return uniform(game, states)

    views = positions(game, 2, 2)
    results = make_search(simulations=300, priors=priors).run(game, views, np.random.default_rng(0))
    assert len(seen) == sum(result.nodes for result in results)
    assert len(set(seen)) > 20


def test_trees_that_are_kept_keep_their_priors():
    game, workspace = Chameleon(size=4), Workspace()
    views = positions(game, 1, 2)
    search = make_search(simulations=100, priors=uniform, reuse=True)
    for _ in range(2):
        [result] = search.run(game, views, np.random.default_rng(0), workspace=workspace)
    assert result.visits.sum() == 200


@pytest.mark.parametrize(
    ("settings", "game"),
    [
        ({"priors": 3}, Chameleon(size=3)),
        (
            {"priors": uniform, "evaluator": lambda observations, masks: (masks, np.zeros(len(masks)))},
            Chameleon(size=3),
        ),
        ({"priors": uniform, "rave": 0}, Chameleon(size=3)),
        ({"priors": uniform}, Trinim(size=5)),
        ({"priors": uniform}, Curio(base=2, rows=4, cols=3)),
        ({"prior_weight": -1.0}, Chameleon(size=3)),
        ({"save_bridges": 1}, Chameleon(size=3)),
    ],
)
def test_settings_that_do_not_go_together_are_refused(settings, game):
    with pytest.raises((ValueError, TypeError), match="expected"):
        make_search(simulations=10, **settings).run(game, positions(game, 1, 0), np.random.default_rng(0))


@pytest.mark.parametrize("game", [Chameleon(size=4), Unlur(radius=3), Trinim(size=5)], ids=repr)
def test_saving_bridges_is_a_setting_that_other_games_ignore(game):
    views, seeds = positions(game, 2, 1), np.arange(2, dtype=np.uint64)
    plain, saving = (
        make_search(simulations=200, save_bridges=on).run(game, views, seeds.copy()) for on in (False, True)
    )
    same = all((one.visits == other.visits).all() for one, other in zip(plain, saving, strict=True))
    assert same == (game.name == "trinim")
