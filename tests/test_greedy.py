"""The greedy agent: wins at once, does not lose at once, and knows no more than its view."""

import numpy as np
import pytest
from pbm_agents import make_agent
from pbm_agents.players.agent import GreedyAgent

from pbm_envs import Chameleon, Curio, Trinim, Unlur, make_game
from pbm_envs.testing import sample


@pytest.mark.parametrize("game", [Chameleon(size=4), Unlur(radius=3), Trinim(), Trinim(num_players=3)], ids=repr)
def test_it_plays_what_is_best_one_ply_ahead(game):
    """Against every legal action tried by itself."""
    rng = np.random.default_rng(3)
    states = np.concatenate([sample(game, rng) for _ in range(8)])
    states = states[~states["done"]]
    actions = GreedyAgent().act(game, game.view(states, states["to_move"]), rng)
    better = 0
    for row, action in enumerate(actions.tolist()):
        mover, outcomes = states["to_move"][row], {}
        for each in np.flatnonzero(game.legal_action_mask(states[row : row + 1])[0]):
            state = states[row : row + 1].copy()
            game.step(state, [each])
            outcomes[int(each)] = state["returns"][0, mover]
        assert outcomes[action] == max(outcomes.values())
        better += min(outcomes.values()) < outcomes[action]
    assert better


@pytest.mark.parametrize("name", ["curio", "trinim"])
def test_it_never_resigns(name):
    game, rng = make_game(name, allow_resign=True), np.random.default_rng(4)
    states = sample(game, rng)
    states = states[~states["done"]]
    masks = game.legal_action_mask(states)
    actions = GreedyAgent().act(game, game.view(states, states["to_move"]), rng)
    assert masks[np.arange(len(states)), actions].all()
    assert not (actions == game.resign_action)[masks.sum(axis=1) > 1].any()


def test_it_sees_no_more_than_its_view():
    """Worlds that look the same get the same action from the same seed."""
    game, rng = Curio(base=2, rows=4, cols=3), np.random.default_rng(5)
    states = np.repeat(game.init(1, rng), 20)
    views = game.view(game.determinize(game.view(states, 0), rng), 0)
    actions = {int(GreedyAgent().act(game, views[k : k + 1], np.random.default_rng(1))[0]) for k in range(20)}
    assert len(actions) == 1


def test_options():
    assert make_agent("greedy:worlds=3").worlds == 3
    with pytest.raises(ValueError, match="worlds is 0: expected an integer from 1 up"):
        make_agent("greedy:worlds=0")
