"""Small networks in PyTorch and in the search: the same answers, and they learn from a teacher's games."""

import numpy as np
import pytest

pytestmark = [pytest.mark.libraries, pytest.mark.usefixtures("one_thread")]
torch = pytest.importorskip("torch")

from pbm_agents import Search, evaluate
from pbm_agents.learning.small_training import SmallModule, exported, fit
from pbm_agents.players.search_agents import SearchAgent

from pbm_envs import Chameleon, Trinim, Unlur
from pbm_envs.testing import positions

GAMES = [Chameleon(size=7), Unlur(radius=4), Trinim(size=5, num_players=3)]


@pytest.mark.parametrize("game", GAMES, ids=repr)
@pytest.mark.parametrize("count", [300, pytest.param(10_000, marks=pytest.mark.slow)])
def test_the_search_evaluates_what_pytorch_does(game, count):
    """Priors of legal actions, and values by seat."""
    torch.manual_seed(1)
    module, rng = SmallModule(game, first=64, second=32), np.random.default_rng(1)
    for part in module.parameters():
        torch.nn.init.normal_(part, std=0.3)
    states = np.concatenate([positions(game, rng, plies, count // 8 + 1) for plies in range(12)])
    states = states[~states["done"]][:count]
    assert len(states) == count
    masks = game.legal_action_mask(states)
    priors, values = exported(module)(game, states, masks, np.zeros(count, np.uint64), None)
    observations = game.observe(game.view(states, states["to_move"]))
    with torch.no_grad():
        logits, shares = module(torch.from_numpy(observations), torch.from_numpy(masks))
    np.testing.assert_allclose(priors, logits.softmax(dim=1).numpy(), atol=1e-4)
    players = game.num_players
    own = (players * shares.softmax(dim=1).numpy() - 1) / (players - 1)
    seats = (np.arange(players) - states["to_move"][:, None]) % players
    np.testing.assert_allclose(values, np.take_along_axis(own, seats, axis=1), atol=1e-4)


def test_it_learns_from_a_teacher():
    """On nine cells, in seconds: with few simulations it beats as many with playouts."""
    game, rng, teacher = Chameleon(size=3), np.random.default_rng(1), Search(simulations=100)
    states, turns = game.init(400, rng), []
    while not states["done"].all():
        live = np.flatnonzero(~states["done"])
        some = states[live]
        actions = np.array([result.sample(rng) for result in teacher.run(game, some, rng)])
        turns.append((some.copy(), actions, live))
        game.step(some, actions)
        states[live] = some
    seen, moves, rows = (np.concatenate(part) for part in zip(*turns, strict=True))
    module = fit(game, seen, moves, states["returns"][rows], first=64, second=32, epochs=20, batch=64)
    agent = SearchAgent(Search(simulations=8, evaluator=exported(module)))
    assert evaluate(agent, game, {"playouts": "mcts:simulations=8"}, games=200)["playouts"].score.low > 0.5
