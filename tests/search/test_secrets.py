"""An agent never depends on what it cannot know: exchange hidden faces, same seed, same search."""

import numpy as np
import pytest
from pbm_agents import Search, make_agent
from pbm_agents.search import make_search

from pbm_envs import Curio
from pbm_envs.testing import equal, positions

OPTIONS = [
    {},
    {"base": 2, "rows": 4, "cols": 3, "limit": False, "capture": "any", "no_capture_limit": None},
    {"face": "random", "capture": "lt", "turn": False, "allow_resign": True},
    {"face": "small", "capture": "ge", "reveal_captured": False},
    {"base": 3, "rows": 4, "cols": 4, "capture": "le_total", "allow_resign": True},
    {"base": 3, "rows": 4, "cols": 4, "capture": "gt_total", "turn": False, "face": "small"},
]
option_sets = pytest.mark.parametrize("options", OPTIONS, ids=str)


def twins(options):
    """States, and others that the players to move cannot tell from them."""
    game, rng = Curio(**options), np.random.default_rng(3)
    states = np.concatenate([positions(game, rng, plies, 4) for plies in (0, 1, 5, 10, 20, 30)])
    states = states[~states["done"]]
    others = game.determinize(game.view(states, states["to_move"]), rng)
    different = [not equal(states[row : row + 1], others[row : row + 1]) for row in range(len(states))]
    assert sum(different) >= 6, "there is something to hide"
    return game, states, others


def same(one, other):
    """Two search results, but for the time they took."""
    arrays = all(
        np.array_equal(getattr(one, name), getattr(other, name), equal_nan=True)
        for name in ("visits", "values", "proven_actions", "value")
    )
    return arrays and all(
        getattr(one, name) == getattr(other, name)
        for name in ("player", "proven", "best", "principal_variation", "simulations", "nodes")
    )


@option_sets
@pytest.mark.parametrize("settings", [{}, {"parallel_simulations": 4, "playouts": 2}], ids=str)
def test_the_search_is_the_same(options, settings):
    game, states, others = twins(options)
    seeds = np.arange(len(states), dtype=np.uint64)
    search = make_search(simulations=60, **settings)
    results, again = (search.run(game, game.view(batch, batch["to_move"]), seeds) for batch in (states, others))
    assert all(same(one, other) for one, other in zip(results, again, strict=True))


@option_sets
def test_the_search_with_a_network_is_the_same(options):
    """The network, too, is shown only what the player to move in a simulation can know."""
    game, states, others = twins(options)

    def network(observations, masks):
        marks = observations.reshape(len(observations), -1).astype(int) @ np.arange(observations[0].size)
        return masks / (1 + (np.arange(masks.shape[1]) + marks[:, None]) % 7), np.sin(marks)

    search = Search(simulations=40, evaluator=network)
    results, again = (
        search.run(game, game.view(batch, batch["to_move"]), np.random.default_rng(1)) for batch in (states, others)
    )
    assert all(same(one, other) for one, other in zip(results, again, strict=True))


@option_sets
@pytest.mark.parametrize(
    "name",
    [
        "mcts:simulations=50",
        "ismcts:simulations=50,temperature=1",
        "pimc:worlds=5,simulations=50",
        "pimc:worlds=3,simulations=30,solver=false,parallel_simulations=2",
    ],
)
def test_the_agents_play_the_same(options, name):
    game, states, others = twins(options)
    one, other = (
        make_agent(name).act(game, game.view(batch, batch["to_move"]), np.random.default_rng(1))
        for batch in (states, others)
    )
    assert one.tolist() == other.tolist()
    assert game.legal_action_mask(states)[np.arange(len(states)), one].all()


def test_a_search_of_full_states_knows_everything():
    """What the others are compared with: given states instead of views, it finds a capture that wins."""
    game, rng = Curio(base=2, rows=4, cols=3, capture="le"), np.random.default_rng(1)
    states = game.init(1, rng, board="D12 . ./. L22 ./. . ./. . L11")
    [knowing] = Search(simulations=200).run(game, states, rng)
    assert knowing.proven
    assert game.action_to_string(knowing.best) == "b3-a4"
    [guessing] = Search(simulations=200).run(game, game.view(states, 0), rng)
    assert not guessing.proven
