"""Any function of observations and masks evaluates leaves; what it must not return; noise."""

import subprocess
import sys

import numpy as np
import pytest
from pbm_agents import Evaluator, FunctionEvaluator, Playouts, Search
from pbm_agents.search import make_search

from pbm_envs import Chameleon, Trinim, make_game
from pbm_envs.testing import positions

GAMES = [
    ("chameleon", {"size": 4, "allow_resign": True}),
    ("unlur", {"radius": 3}),
    ("trinim", {"size": 5}),
    ("trinim", {"size": 5, "num_players": 3, "allow_resign": True}),
    ("curio", {"base": 2, "rows": 4, "cols": 3, "allow_resign": True}),
]
every_game = pytest.mark.parametrize(("name", "options"), GAMES, ids=str)


def roots(name, options):
    game, rng = make_game(name, **options), np.random.default_rng(1)
    states = np.concatenate([positions(game, rng, plies, 3) for plies in (0, 3, 6)])
    states = states[~states["done"]]
    return game, states, game.view(states, states["to_move"])


def uniform(observations, masks):
    return masks.astype(np.float32), np.zeros(len(masks), np.float32)


@every_game
@pytest.mark.parametrize("settings", [{}, {"parallel_simulations": 5}, {"solver": False}], ids=str)
def test_a_network_in_every_game(name, options, settings):
    """It is asked about positions that are not over, from the view of the player to move, and answers a vector."""
    game, _, views = roots(name, options)
    asked = 0

    def network(observations, masks):
        nonlocal asked
        asked += len(masks)
        assert observations.dtype == np.int8
        assert observations.shape == (len(masks), *game.observation_shape)
        assert masks.dtype == np.bool_
        assert masks.shape == (len(masks), game.num_actions)
        assert masks.any(axis=1).all()
        values = np.sin(observations.reshape(len(masks), -1) @ np.arange(observations[0].size))
        return masks * (1 + np.arange(game.num_actions) % 5), np.outer(values, np.arange(1, game.num_players + 1) / 4)

    results = make_search(simulations=60, evaluator=network, **settings).run(game, views, np.random.default_rng(1))
    legal = game.legal_action_mask(views)
    for row, result in enumerate(results):
        assert result.visits.sum() == result.simulations
        assert not result.visits[~legal[row]].any()
        assert legal[row, result.best]
        assert result.best != game.resign_action
    assert asked > 30 * len(views)


def test_the_network_sees_the_leaf():
    """After the root, the position after the action of the first simulation."""
    game, rng = Trinim(num_players=3), np.random.default_rng(1)
    states = game.init(1, rng)
    seen = []

    def network(observations, masks):
        seen.append((observations.copy(), masks.copy()))
        return masks, np.tile([0.5, -0.75, 0.25], (len(masks), 1))  # player_1 is to move there

    [result] = Search(simulations=1, evaluator=network).run(game, states, rng)
    assert result.visits.tolist() == np.eye(game.num_actions)[result.best].tolist()
    assert result.value.tolist() == [0.25, 0.5, -0.75]
    after = states.copy()
    game.step(after, [result.best])
    (root, root_mask), (leaf, leaf_mask) = seen
    for state, planes, mask in ((states, root, root_mask), (after, leaf, leaf_mask)):
        view = game.view(state, state["to_move"])
        assert (planes == game.observe(view)).all()
        assert (mask == game.legal_action_mask(view)).all()


@pytest.mark.parametrize("shape", [(-1,), (-1, 1), (-1, 2)])
def test_values_of_two_players(shape):
    """Those of the player to move, or of both from that one on: here the player to move loses."""
    game, rng = Chameleon(size=4), np.random.default_rng(1)
    states = positions(game, rng, 3, 2)

    def network(observations, masks):
        values = np.full(len(masks), -0.5)
        if shape == (-1, 2):
            values = np.stack([values, -values], axis=1)
        return masks, values.reshape(shape)

    for result in Search(simulations=1, evaluator=network).run(game, states, rng):
        assert result.player == 1
        assert result.value.tolist() == [-0.5, 0.5]


def test_lists_and_integers_will_do():
    game, rng = Chameleon(size=3), np.random.default_rng(1)
    states = game.init(2, rng)
    network = lambda observations, masks: (masks.astype(int).tolist(), [0] * len(masks))  # noqa: E731
    expected = Search(simulations=50, evaluator=uniform).run(game, states, rng)
    for given in (network, FunctionEvaluator(network)):
        results = Search(simulations=50, evaluator=given).run(game, states, rng)
        assert [r.visits.tolist() for r in results] == [r.visits.tolist() for r in expected]


def test_priors_lead_the_search():
    """While all values are the same, visits follow the priors, from the first simulation on, whatever their scale."""
    game, rng = Chameleon(size=4), np.random.default_rng(1)
    states = game.init(1, rng)

    def network(observations, masks):
        priors = np.where(np.arange(masks.shape[1]) % 2, 300.0, 0.0) * masks
        return np.where(priors.any(axis=1, keepdims=True), priors, masks), np.zeros(len(masks))

    [result] = Search(simulations=96, evaluator=network, solver=False).run(game, states, rng)
    assert not result.visits[::2].any()
    assert set(result.visits[1::2].tolist()) == {6}


@every_game
def test_playouts_are_an_evaluator(name, options):
    """Those that the settings stand for."""
    game, _, views = roots(name, options)
    seeds = np.arange(len(views), dtype=np.uint64)
    named = make_search(simulations=40, playouts=3, avoid_losing_moves=False).run(game, views, seeds)
    given = Search(simulations=40, evaluator=Playouts(3, avoid_losing_moves=False)).run(game, views, seeds)
    assert [r.visits.tolist() for r in given] == [r.visits.tolist() for r in named]
    with pytest.raises(ValueError, match="playouts=2 beside an evaluator"):
        make_search(simulations=40, playouts=2, evaluator=Playouts(2))
    with pytest.raises(ValueError, match="count is 0"):
        Playouts(0)


def answers(change_priors=lambda priors: priors, change_values=lambda values: values):
    def network(observations, masks):
        return change_priors(masks.astype(float)), change_values(np.zeros(len(masks)))

    return network


def put(value):
    def change(array):
        array[-1, ..., 0] = value
        return array

    return change


WRONG = [
    (answers(lambda priors: priors[:, :-1]), r"priors have shape \(\d+, 32\): expected \(\d+, 33\)"),
    (answers(lambda priors: priors[0]), r"priors have shape \(33,\)"),
    (answers(lambda priors: -priors), "priors: expected numbers from 0 up"),
    (answers(put(-0.1)), "priors: expected numbers from 0 up"),
    (answers(put(np.nan)), "priors: expected numbers from 0 up"),
    (answers(put(np.inf)), "priors: expected numbers from 0 up"),
    (answers(np.zeros_like), "not all 0 where actions are legal"),
    (answers(change_values=lambda values: values[:0]), r"values have shape \(0,\): expected \(\d+, 2\) or \(\d+,\)"),
    (answers(change_values=lambda values: np.zeros((len(values), 3))), r"values have shape \(\d+, 3\)"),
    (answers(change_values=lambda values: 0.5), r"values have shape \(\)"),
    *((answers(change_values=lambda values, x=x: values + x), "values: expected finite") for x in (np.nan, -np.inf)),
]


@pytest.mark.parametrize("row", range(len(WRONG)))
def test_wrong_answers_are_refused(row):
    network, complaint = WRONG[row]
    game, rng = Chameleon(size=4), np.random.default_rng(1)
    with pytest.raises(ValueError, match=complaint):
        Search(simulations=10, evaluator=network).run(game, game.init(2, rng), rng)


def test_noise():
    """It depends on the seed and moves visits from one legal action to another; without it nothing is drawn."""
    game, rng = Chameleon(size=4, allow_resign=True), np.random.default_rng(1)
    states = game.init(12, rng)
    seeds = rng.integers(1 << 63, size=12, dtype=np.uint64)
    visits = {}
    for noise in (0.0, 0.5):
        search = make_search(simulations=100, evaluator=uniform, solver=False, noise=noise)
        visits[noise] = [tuple(result.visits.tolist()) for result in search.run(game, states, seeds)]
        assert visits[noise] == [tuple(result.visits.tolist()) for result in search.run(game, states, seeds)]
        [alone] = search.run(game, states[5:6], seeds[5:6])
        assert visits[noise][5] == tuple(alone.visits.tolist())
    assert len(set(visits[0.0])) == 1
    assert len(set(visits[0.5])) == 12
    assert all(row[game.resign_action] == 0 for row in visits[0.5])


def test_no_framework_is_imported():
    """The package plugs in any, and imports none."""
    command = "import sys, pbm_agents; print({'torch', 'jax', 'tensorflow'} & {*sys.modules})"
    assert subprocess.run([sys.executable, "-c", command], capture_output=True, text=True).stdout.strip() == "set()"


def test_values_from_the_mover_on():
    """An observation does not say which seat it is seen from: by default values are given from the mover on."""
    game, rng = Trinim(num_players=3), np.random.default_rng(1)
    answer = lambda _, masks: (masks, np.tile([0.5, -0.3, -0.2], (len(masks), 1)))  # noqa: E731
    for mover in range(3):
        states = positions(game, rng, mover, 1)
        given = game, states, game.legal_action_mask(states), np.zeros(1, np.uint64), None
        for values, first in (("mover", mover), ("seat", 0)):
            _, found = FunctionEvaluator(answer, values=values)(*given)
            assert np.roll(found[0], -first).tolist() == [0.5, -0.3, -0.2]
    with pytest.raises(ValueError, match="values is 'seats': expected 'mover' or 'seat'"):
        FunctionEvaluator(answer, values="seats")


class Guess:
    """An evaluator of somebody else's: a small search's playouts by hand, and priors if asked for."""

    def __init__(self, gives_priors, change=lambda answer: answer):
        self.gives_priors, self.change, self.calls = gives_priors, change, 0

    def __call__(self, game, states, masks, seeds, last_player_by_action):
        self.calls += 1
        assert len(states) == len(masks) == len(seeds)
        priors = masks.astype(np.float32) if self.gives_priors else None
        if last_player_by_action is None:
            game.playout(states, seeds)
        else:
            game.playout(states, seeds, last_player_by_action=last_player_by_action)
        return self.change((priors, states["returns"].astype(float)))


@every_game
def test_an_evaluator_of_your_own_is_taken_as_it_is(name, options):
    """Without priors it searches as playouts do, visit for visit."""
    game, _, views = roots(name, options)
    seeds = np.arange(len(views), dtype=np.uint64)
    expected = make_search(simulations=50, avoid_losing_moves=False).run(game, views, seeds)
    own = Guess(gives_priors=False)
    results = Search(simulations=50, evaluator=own).run(game, views, seeds)
    assert [r.visits.tolist() for r in results] == [r.visits.tolist() for r in expected]
    assert own.calls >= 50
    for result in Search(simulations=50, evaluator=Guess(gives_priors=True), parallel_simulations=4).run(
        game, views, seeds
    ):
        assert result.visits.sum() == result.simulations
    assert isinstance(own, Evaluator)
    assert not isinstance(uniform, Evaluator)


def test_an_evaluator_cannot_change_how_a_game_has_ended():
    """Nor what the solver proves by that."""
    game, rng = Chameleon(size=3), np.random.default_rng(0)
    states = positions(game, rng, 4, 8)
    states = states[~states["done"]]
    lying = Guess(gives_priors=False, change=lambda answer: (None, -answer[1]))
    true = Search(simulations=5000).run(game, states, rng)
    for result, expected in zip(Search(simulations=5000, evaluator=lying).run(game, states, rng), true, strict=True):
        assert result.proven
        assert result.value.tolist() == expected.value.tolist()


BAD_ANSWERS = [
    (False, lambda answer: answer[1], r"gave ndarray of shape \(\d+, 2\): expected a pair of priors \(\d+, 33\)"),
    (False, lambda answer: (*answer, 3), "gave 3 things: expected a pair"),
    (False, lambda answer: None, "gave NoneType: expected a pair"),
    (False, lambda answer: (answer[1], answer[1]), "gave priors: expected None beside gives_priors = False"),
    (True, lambda answer: (None, answer[1]), "priors are None: expected an array, or gives_priors = False"),
    (True, lambda answer: (answer[0][:, :3], answer[1]), r"priors have shape \(\d+, 3\): expected \(\d+, 33\)"),
    (True, lambda answer: (answer[0], answer[1][:, 0]), r"values have shape \(\d+,\): expected \(\d+, 2\)"),
    (True, lambda answer: (answer[0], answer[1] * np.nan), "values: expected finite numbers"),
    (True, lambda answer: (-answer[0], answer[1]), "priors: expected numbers from 0 up"),
]


@pytest.mark.parametrize("row", range(len(BAD_ANSWERS)))
def test_wrong_answers_of_your_own_evaluator_are_refused(row):
    gives_priors, change, complaint = BAD_ANSWERS[row]
    game, rng = Chameleon(size=4), np.random.default_rng(1)
    with pytest.raises(ValueError, match=complaint):
        Search(simulations=10, evaluator=Guess(gives_priors, change)).run(game, game.init(2, rng), rng)


class Tensor:
    """As one of PyTorch that requires gradients."""

    def __init__(self, values):
        self.values = values

    def __array__(self, *arguments, **settings):
        raise RuntimeError("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.")


def test_what_numpy_cannot_read_is_explained():
    game, rng = Chameleon(size=4), np.random.default_rng(1)
    for change, complaint in [
        (lambda priors, values: (Tensor(priors), values), "priors are Tensor: expected an array.*detach"),
        (lambda priors, values: (priors, Tensor(values)), "values are Tensor: expected an array.*without"),
        (lambda priors, values: (priors, ["x"] * len(values)), "values are <U1 .*: expected an array of numbers"),
        (lambda priors, values: priors, r"gave ndarray of shape \(2, 33\): expected a pair of priors \(2, 33\) and"),
    ]:
        evaluator = lambda _, masks, change=change: change(masks * 1.0, np.zeros(len(masks)))  # noqa: E731
        with pytest.raises(ValueError, match=complaint):
            Search(simulations=10, evaluator=evaluator).run(game, game.init(2, rng), rng)


def test_what_is_no_evaluator_is_refused():
    for wrong in (3, "network", Guess, [uniform]):
        with pytest.raises(ValueError, match=r"evaluator is .*: expected a function of observations and masks"):
            Search(simulations=5, evaluator=wrong)


def test_a_network_for_one_game():
    game, rng = Chameleon(size=3), np.random.default_rng(1)
    search = Search(simulations=5, evaluator=FunctionEvaluator(uniform, game=game))
    search.run(game, game.init(1, rng), rng)
    other = Chameleon(size=3, swap_rule=False)
    with pytest.raises(ValueError, match=r"positions of Chameleon\(size=3, swap_rule=True.*not of .*swap_rule=False"):
        search.run(other, other.init(1, rng), rng)


def test_logits_of_any_finite_size_are_priors():
    """A damaged bias made all of them less than -1e30, and their softmax a division by zero."""
    from pbm_agents.learning.onnx_evaluator import write_answers

    for largest in (-3e38, 0.0, 3e38):
        logits, masks = np.array([[largest, -3.4e38, largest]], np.float32), np.array([[True, True, False]])
        priors, values, zero = np.ones((1, 3), np.float32), np.zeros((1, 2)), np.zeros(1, np.int64)
        given, actions = np.zeros((1, 2), np.float32), np.arange(3)[None]
        write_answers(logits, given, zero, actions, zero, zero, masks, priors, values)
        assert priors.tolist() == [[1, 0, 0]]
