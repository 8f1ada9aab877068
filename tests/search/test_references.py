"""Width 1 without solver and RAVE is the textbook algorithm: from the same seed the visit counts of tests/reference."""

import numpy as np
import pytest
from pbm_agents.search import make_search

from pbm_envs import make_game
from pbm_envs.testing import positions
from tests.reference.search import UCT, Stream, evaluate, ismcts, pruned, puct, visits

pytestmark = pytest.mark.filterwarnings("ignore:every two-player game of Trinim")  # T7

OPEN = [
    ("chameleon", {"size": 3}),
    ("chameleon", {"size": 4, "swap_rule": False, "allow_resign": True}),
    ("unlur", {"radius": 3}),
    ("unlur", {"radius": 3, "allow_resign": True}),
    ("trinim", {"size": 3}),
    ("trinim", {"size": 3, "num_players": 3, "allow_resign": True}),
    ("trinim", {"size": 5, "allow_resign": True}),
    ("trinim", {"size": 5, "num_players": 3}),
    ("trinim", {"size": 6, "num_players": 3, "allow_resign": True}),
]
HIDDEN = [
    ("curio", {"base": 2, "rows": 4, "cols": 3}),
    ("curio", {"base": 2, "rows": 4, "cols": 3, "limit": False, "capture": "any", "no_capture_limit": 9}),
    ("curio", {"base": 2, "rows": 4, "cols": 4, "face": "random", "turn": False, "allow_resign": True}),
    ("curio", {"base": 3, "rows": 4, "cols": 3, "capture": "le_total", "reveal_captured": False}),
]
open_games = pytest.mark.parametrize("game", OPEN, ids=str, indirect=True)
hidden_games = pytest.mark.parametrize("game", HIDDEN, ids=str, indirect=True)


@pytest.fixture
def game(request):
    name, options = request.param
    return make_game(name, **options)


def roots(game, seed, each=4):
    """Positions that are not over, after 0, 1, 2, ... random plies (some after a resignation), and a seed for each."""
    rng = np.random.default_rng(seed)
    states = np.concatenate([positions(game, rng, plies, each) for plies in range(14)])
    states = states[~states["done"]]
    return states, rng.integers(1 << 64, size=len(states), dtype=np.uint64)


def test_the_stream_is_that_of_the_kernels():
    """SplitMix64's published first outputs from the seed 1234567."""
    stream = Stream(1234567)
    assert [stream.bits() for _ in range(3)] == [6457827717110365317, 3203168211198807973, 9817491932198370423]


@open_games
@pytest.mark.parametrize(
    ("simulations", "settings"),
    [
        (1, {"c": 1.0}),
        (12, {"c": 1.0}),
        (97, {"c": 0.3, "avoid_losing_moves": False}),
        (97, {"c": 0.0}),
        (300, {"c": 1.4, "playouts": 2}),
    ],
    ids=str,
)
def test_uct(game, simulations, settings):
    """In a batch, and over two threads."""
    states, seeds = roots(game, simulations)
    search = make_search(simulations=simulations, rave=0, solver=False, **settings)
    results = search.run(game, game.view(states, states["to_move"]), seeds)
    for row, result in enumerate(results):
        slow = UCT(game, seed=int(seeds[row]), **settings)
        root = slow.search(states[row : row + 1], simulations)
        expected = visits(game, root)
        assert result.visits.tolist() == expected, game.to_text(states[row])
        assert result.best == int(np.argmax(expected))
        assert result.value.tolist() == pytest.approx((root.total / simulations).tolist())
        for action, child in root.children.items():
            assert result.values[action] == pytest.approx(child.total[root.player] / child.visits)
    threaded = make_search(simulations=simulations, rave=0, solver=False, threads=2, **settings).run(
        game, states, seeds
    )
    assert [r.visits.tolist() for r in threaded] == [r.visits.tolist() for r in results]


@hidden_games
@pytest.mark.parametrize(("simulations", "c"), [(1, 1.0), (40, 0.0), (150, 0.7)])
def test_ismcts(game, simulations, c):
    """From what the mover and nobody else knows."""
    states, seeds = roots(game, simulations, each=2)
    views = game.view(states, states["to_move"])
    for row, result in enumerate(make_search(simulations=simulations, c=c).run(game, views, seeds)):
        root = ismcts(game, views[row : row + 1], c, int(seeds[row]), simulations)
        assert result.visits.tolist() == visits(game, root), game.to_text(views[row])
        assert result.value.tolist() == pytest.approx((root.total / simulations).tolist())


def fake_network(game, zero_sum=False):
    """Priors and values that look like a network's, made of powers of two so that no sum is rounded. The values of the
    players have nothing to do with one another, unless two are to have `zero_sum`.
    """

    def evaluate(observations, masks):
        flat = observations.reshape(len(observations), -1).astype(np.int64)
        marks = (flat * (np.arange(flat.shape[1]) * 7919 % 101)).sum(axis=1)
        priors = np.zeros(masks.shape)
        for row, mask in enumerate(masks):
            legal = np.flatnonzero(mask)
            weights = 2.0 ** ((legal * 31 + marks[row]) % 4)
            weights[marks[row] % len(legal)] += 1024 - weights.sum()  # a power of two in all
            priors[row, legal] = weights
        values = [(marks * (17 + k) % 33 - 16) / 16 for k in range(game.num_players)]
        return priors, np.stack([values[0], -values[0]] if zero_sum else values, axis=1)

    return evaluate


@open_games
@pytest.mark.parametrize(
    ("simulations", "c", "reduction"), [(1, 1.5, 0.0), (60, 1.5, 0.0), (200, 0.5, 0.0), (90, 1, 0.3)]
)
def test_puct(game, simulations, c, reduction):
    states, seeds = roots(game, simulations, each=2)
    network = fake_network(game)
    search = make_search(simulations=simulations, c=c, solver=False, evaluator=network, first_play_reduction=reduction)
    results = search.run(game, states, seeds)
    for row, result in enumerate(results):
        root = puct(game, states[row : row + 1], network, c, simulations, reduction)
        assert result.visits.tolist() == visits(game, root), game.to_text(states[row])
        assert result.value.tolist() == pytest.approx((root.total / simulations).tolist())


@open_games
@pytest.mark.parametrize(("simulations", "forced"), [(60, 2.0), (150, 8.0)])
def test_forced_playouts(game, simulations, forced):
    """The same visits, and the same policy without those that were only forced: there are some of them."""
    states, seeds = roots(game, simulations, each=2)
    network, fewer = fake_network(game), 0
    search = make_search(simulations=simulations, c=0.5, solver=False, evaluator=network, forced_playouts=forced)
    for row, result in enumerate(search.run(game, states, seeds)):
        root = puct(game, states[row : row + 1], network, 0.5, simulations, forced=forced)
        assert result.visits.tolist() == visits(game, root), game.to_text(states[row])
        left = pruned(root, evaluate(game, root, network)[0], 0.5, forced)
        assert result.pruned_visits.tolist() == [left.get(action, 0) for action in range(game.num_actions)]
        assert result.policy() == pytest.approx(result.pruned_visits / result.pruned_visits.sum())
        fewer += result.pruned_visits.sum() < result.visits.sum()
    assert fewer or forced < 8


@pytest.mark.parametrize("game", [OPEN[0], HIDDEN[0]], ids=str, indirect=True)
@pytest.mark.parametrize("simulations", [1, 4, 9, 40])
def test_forced_playouts_beside_proofs(game, simulations):
    """The best action keeps its visits: there is a policy, also where the most visited action is proven to lose."""
    states, seeds = roots(game, simulations, each=8)
    search = make_search(simulations=simulations, evaluator=fake_network(game), noise=0.25, forced_playouts=2.0)
    for result in search.run(game, game.view(states, states["to_move"]), seeds):
        assert (result.pruned_visits <= result.visits).all()
        assert result.policy().sum() == pytest.approx(1)
        assert result.policy()[result.best] > 0


@pytest.mark.parametrize("game", [OPEN[1], OPEN[2], OPEN[7], HIDDEN[0]], ids=str, indirect=True)
@pytest.mark.parametrize(
    "settings", [{}, {"solver": False, "rave": 0}, {"parallel_simulations": 4}, {"playouts": 3}], ids=str
)
def test_a_row_does_not_see_its_neighbours(game, settings):
    """With all settings as they are by default too: alone, in another order, in another batch."""
    states, seeds = roots(game, 5, each=2)
    views = game.view(states, states["to_move"])
    search = make_search(simulations=100, **settings)
    together = [result.visits.tolist() for result in search.run(game, views, seeds)]
    assert [result.visits.tolist() for result in search.run(game, views[::-1], seeds[::-1])] == together[::-1]
    for row in range(0, len(views), 7):
        [alone] = make_search(simulations=100, **settings).run(game, views[row : row + 1], seeds[row : row + 1])
        assert alone.visits.tolist() == together[row]
    shared = make_search(simulations=100, threads=3, **settings).run(game, views, seeds)
    assert [result.visits.tolist() for result in shared] == together
