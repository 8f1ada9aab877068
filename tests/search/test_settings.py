"""What the settings of a search promise: budget, width, threads, early stop, room, reuse."""

import itertools
import types

import numpy as np
import pytest
from pbm_agents import Search, Workspace, make_agent
from pbm_agents.search import make_search, register_weights, rules
from pbm_agents.search.simulation import Simulator

from pbm_envs import Chameleon, Curio, Trinim, Unlur, make_game, registered_games
from pbm_envs.testing import positions, sample
from tests.reference.search import UCT, Stream, visits

SMALL = [
    ("chameleon", {"size": 4, "allow_resign": True}),
    ("unlur", {"radius": 3, "allow_resign": True}),
    ("trinim", {"size": 5, "num_players": 3, "allow_resign": True}),
    ("curio", {"base": 2, "rows": 4, "cols": 3, "allow_resign": True}),
]
small_games = pytest.mark.parametrize(("name", "options"), SMALL, ids=str)


def roots(name, options, seed=0, plies=(0, 2, 4, 7), each=4):
    """Views of the player to move."""
    game, rng = make_game(name, **options), np.random.default_rng(seed)
    states = np.concatenate([positions(game, rng, k, each) for k in plies])
    states = states[~states["done"]]
    return game, game.view(states, states["to_move"])


@small_games
@pytest.mark.parametrize("width", [1, 3, 16, 200])
def test_the_budget_is_used_exactly(name, options, width):
    """And no virtual loss is left behind: the values of the actions add up to that of the position."""
    game, views = roots(name, options)
    for result in Search(simulations=101, parallel_simulations=width, solver=False).run(
        game, views, np.random.default_rng(1)
    ):
        assert result.simulations == result.visits.sum() == 101
        tried = result.visits > 0
        assert np.abs(result.values[tried]).max() <= 1
        assert np.isnan(result.values[~tried]).all()
        backed_up = (result.visits[tried] * result.values[tried]).sum() / 101
        assert result.value[result.player] == pytest.approx(backed_up)
        assert result.value.sum() == pytest.approx(0)
        assert not result.proven
        assert not result.proven_actions.any()


@small_games
@pytest.mark.parametrize("rave", [0, None])
def test_resigning_is_never_searched(name, options, rave):
    game, views = roots(name, options)
    assert game.legal_action_mask(views)[:, game.resign_action].all()
    for result in make_search(simulations=300, rave=rave, parallel_simulations=2).run(
        game, views, np.random.default_rng(1)
    ):
        assert result.visits[game.resign_action] == 0
        assert game.resign_action not in result.principal_variation
        assert result.policy()[game.resign_action] == 0


@pytest.mark.parametrize("name", registered_games())
@pytest.mark.parametrize("kind", ["mcts:simulations=30", "mcts:simulations=30,temperature=1", "pimc:simulations=60"])
def test_agents_play_legally_and_do_not_change_what_they_are_given(name, kind):
    game, rng = make_game(name), np.random.default_rng(1)
    states = sample(game, rng)
    states = states[~states["done"]]
    views = game.view(states, states["to_move"])
    before = views.copy()
    actions = make_agent(kind).act(game, views, rng)
    assert actions.dtype == np.int64
    assert (views == before).all()
    game.step(states, actions)
    assert make_agent(kind).act(game, views[:0], rng).shape == (0,)


@small_games
@pytest.mark.parametrize("settings", [{"rave": 0}, {}, {"parallel_simulations": 4}], ids=str)
def test_an_early_stop_does_not_change_the_move(name, options, settings):
    """It only spares simulations when no other action can overtake."""
    game, views = roots(name, options, seed=3, plies=range(10), each=6)
    seeds = np.arange(len(views), dtype=np.uint64)
    whole = make_search(simulations=400, solver=False, **settings).run(game, views, seeds)
    short = make_search(simulations=400, solver=False, early_stop=True, **settings).run(game, views, seeds)
    assert [result.best for result in short] == [result.best for result in whole]
    spent = [result.simulations for result in short]
    assert spent == [result.visits.sum() for result in short]
    assert max(spent) <= 400
    assert min(spent) < 400


@small_games
@pytest.mark.parametrize("parallel", [1, 3, 8, 50])
def test_checks_that_are_skipped_would_not_have_stopped_the_search(name, options, parallel, monkeypatch):
    """Beside searches that check after every 32 simulations."""
    game, views = roots(name, options, seed=4, plies=range(10), each=3)
    search = make_search(simulations=300, early_stop=True, parallel_simulations=parallel)

    def found():
        results = search.run(game, views, np.arange(len(views), dtype=np.uint64))
        return [(result.simulations, result.visits.tolist()) for result in results]

    skipping = found()
    monkeypatch.setattr(Simulator, "simulations_to_stop", lambda *_: 0)
    assert skipping == found()
    assert min(simulations for simulations, _ in skipping) < 300


def test_a_proven_position_is_searched_no_further():
    game, rng = Trinim(), np.random.default_rng(0)
    states = game.init(2, rng, board="./../..r/..../gg...")
    for result in Search(simulations=5000).run(game, states, rng):
        assert result.proven
        assert result.simulations == result.visits.sum() < 500


@pytest.mark.parametrize("name", registered_games())
def test_a_budget_of_seconds(name):
    """Not timed: it ends and has done something."""
    game, rng = make_game(name), np.random.default_rng(1)
    states = game.init(3, rng)
    views = game.view(states, states["to_move"])
    for result in Search(seconds=0.02, parallel_simulations=4, early_stop=True).run(game, views, rng):
        assert result.simulations == result.visits.sum() > 0
        assert result.seconds > 0
    game.step(states, make_agent("mcts:seconds=0.01").act(game, views, rng))
    views = game.view(states, states["to_move"])
    game.step(states, make_agent("pimc:seconds=0.01,worlds=2").act(game, views, rng))


@small_games
@pytest.mark.parametrize("network", [False, True])
def test_a_full_tree_goes_on(name, options, network, monkeypatch):
    """Room for a few nodes a tree: simulations end at its leaves. A clock of the test's own lets it come to that."""
    clock = itertools.count(0, 0.005)
    monkeypatch.setattr("pbm_agents.search.search.time", types.SimpleNamespace(perf_counter=lambda: next(clock)))
    game, views = roots(name, options)
    views = np.resize(views, 160)
    evaluator = (lambda _, masks: (masks * 1.0, np.zeros((len(masks), game.num_players)))) if network else None
    search = Search(seconds=0.002, memory=1, solver=False, evaluator=evaluator)
    results = search.run(game, views, np.random.default_rng(1))
    assert max(result.nodes for result in results) < 20
    assert max(result.simulations / result.nodes for result in results) > 4
    for result in results:
        assert result.simulations == result.visits.sum() >= 1
        assert np.nanmax(np.abs(result.values)) <= 1


@pytest.mark.parametrize("game", [Chameleon(size=4), Unlur(radius=3), Trinim(num_players=3)], ids=str)
def test_reuse_goes_on_from_the_last_tree(game):
    """The visit counts are those of the textbook's tree, cut down to the position that has been reached."""
    states, c = game.init(3, np.random.default_rng(0)), 0.2
    seeds, later = np.arange(3, dtype=np.uint64), np.arange(10, 13, dtype=np.uint64)
    search, workspace = make_search(simulations=2000, c=c, rave=0, solver=False, reuse=True), Workspace()
    first = search.run(game, states, seeds, workspace=workspace)
    slow = [UCT(game, c, int(seed)) for seed in seeds]
    trees = [tree.search(states[k : k + 1], 2000) for k, tree in enumerate(slow)]
    for ply in range(2):  # the most visited line
        best = [max(sorted(tree.children), key=lambda a: tree.children[a].visits) for tree in trees]
        assert ply or best == [result.best for result in first]
        game.step(states, best)
        trees = [tree.children[a] for tree, a in zip(trees, best, strict=True)]
    second, kept = search.run(game, states, later, workspace=workspace), 0
    for k, (result, tree) in enumerate(zip(second, trees, strict=True)):
        known = sum(child.visits for child in tree.children.values())
        kept += known
        tree.parent, slow[k].stream = None, Stream(int(later[k]))
        slow[k].grow(tree, 2000)
        assert result.visits.tolist() == visits(game, tree)
        assert result.visits.sum() == known + result.simulations == known + 2000
    assert kept > 20


@pytest.mark.parametrize(("name", "options"), SMALL[:3], ids=str)
def test_reuse_of_the_same_position(name, options):
    """Everything that was known is known, proofs too, and more comes to it."""
    game, views = roots(name, options, plies=(0, 4, 8, 11))
    search, rng, workspace = Search(simulations=150, reuse=True), np.random.default_rng(1), Workspace()
    first, second = (search.run(game, views, rng, workspace=workspace) for _ in range(2))
    for before, after in zip(first, second, strict=True):
        assert (after.visits >= before.visits).all()
        assert after.visits.sum() == before.visits.sum() + after.simulations
        assert after.proven_actions[before.proven_actions].all()
        assert after.values[before.proven_actions].tolist() == before.values[before.proven_actions].tolist()
        assert (after.simulations == 0) == before.proven
    assert sum(before.proven_actions.sum() for before in first) > 0


@small_games
def test_reuse_with_the_solver_keeps_proofs_and_legal_play(name, options):
    """Whole games, all settings as they are by default."""
    game = make_game(name, **options)
    states = game.init(4, np.random.default_rng(0))
    search, rng, workspace = Search(simulations=200, reuse=True), np.random.default_rng(1), Workspace()
    proven = np.full((4, game.num_players), np.nan)
    while not states["done"].all():
        rows = np.flatnonzero(~states["done"])
        some = states[rows]
        results = search.run(game, game.view(some, some["to_move"]), rng, workspace=workspace)
        for row, result in zip(rows, results, strict=True):
            if not np.isnan(proven[row]).any():
                assert result.proven
                assert result.value.tolist() == proven[row].tolist()
            if result.proven:
                proven[row] = result.value
        game.step(some, [result.best for result in results])
        states[rows] = some
    for row in range(4):
        if not np.isnan(proven[row]).any():
            assert states["returns"][row].tolist() == proven[row].tolist(), "both played perfectly from there"
    assert game.name == "curio" or not np.isnan(proven).all()


def test_who_is_not_to_move_or_done_is_refused():
    game, rng = Curio(), np.random.default_rng(1)
    states = game.init(3, rng)
    views = game.view(states, [0, 1, 0])
    for search in (Search(simulations=10), Search(seconds=0.01)):
        with pytest.raises(ValueError, match="row 1 cannot be searched: expected a game that is not over, seen by the"):
            search.run(game, views, rng)
    game.playout(states, rng)
    with pytest.raises(ValueError, match="row 0 cannot be searched"):
        Search(simulations=10).run(game, game.view(states, states["to_move"]), rng)
    with pytest.raises(ValueError, match="expected a batch"):
        Search(simulations=10).run(Chameleon(), states, rng)
    with pytest.raises(TypeError, match="one per game"):
        Search(simulations=10).run(game, views, np.zeros(2, np.uint64))


class PlainChameleon(Chameleon):
    """Whose playouts have no options."""

    playout_options = frozenset()


def test_a_game_whose_playouts_have_no_options():
    """RAVE is left out where nobody has asked for it, and losing moves are not avoided."""
    game, plain, seeds = Chameleon(size=4), PlainChameleon(size=4), np.arange(3, dtype=np.uint64)
    states = game.init(3, np.random.default_rng(0))
    expected = make_search(simulations=60, c=1.0, rave=0).run(game, states, seeds)
    results = make_search(simulations=60, c=1.0).run(plain, states.astype(plain.dtype), seeds)
    assert [result.visits.tolist() for result in results] == [result.visits.tolist() for result in expected]
    with pytest.raises(
        ValueError, match=r"rave is 500: expected 0 or None, as the evaluator or the playouts of PlainCham"
    ):
        make_search(simulations=60, rave=500).run(plain, states.astype(plain.dtype), seeds)


def test_weights_of_a_game_of_ones_own(monkeypatch):
    """By its name, else the weights for other games; what is given comes first."""
    monkeypatch.setattr(rules, "_weights", dict(rules._weights))

    def visits_of(game, **settings):
        states = game.init(2, np.random.default_rng(0))
        results = make_search(simulations=80, **settings).run(game, states, np.arange(2, dtype=np.uint64))
        return [result.visits.tolist() for result in results]

    class Renamed(Chameleon):
        name = "renamed"

    game, own = Chameleon(size=4), Renamed(size=4)
    assert visits_of(own) == visits_of(game, c=1.0, rave=0)
    register_weights("renamed", c=0.3, rave=500)
    assert visits_of(own) == visits_of(game, c=0.3, rave=500)
    assert visits_of(own, rave=0) == visits_of(game, c=1.0, rave=0), "its c is for RAVE"
    assert visits_of(own, c=0.7) == visits_of(game, c=0.7, rave=500)
    for wrong in ({"c": -1.0}, {"c": 1.0, "rave": float("nan")}):
        with pytest.raises(ValueError, match="expected a number from 0"):
            register_weights("renamed", **wrong)


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({}, "simulations=None, seconds=None: expected one of the two"),
        ({"simulations": 5, "seconds": 0.1}, "expected one of the two"),
        ({"simulations": 0}, "simulations is 0: expected an integer from 1 up"),
        ({"simulations": 2.5}, "simulations is 2.5: expected an integer"),
        ({"simulations": True}, "simulations is True: expected an integer"),
        ({"seconds": 0}, "seconds is 0: expected a number from 1e-09"),
        ({"seconds": float("nan")}, "seconds is nan"),
        ({"simulations": 5, "parallel_simulations": 0}, "parallel_simulations is 0"),
        ({"simulations": 5, "playouts": 0}, "playouts is 0"),
        ({"simulations": 5, "threads": 0}, "threads is 0"),
        ({"simulations": 5, "memory": 0}, "memory is 0"),
        ({"simulations": 5, "c": -0.1}, "c is -0.1: expected a number from 0 to"),
        ({"simulations": 5, "c": float("nan")}, "c is nan"),
        ({"simulations": 5, "rave": -1}, "rave is -1"),
        (
            {"simulations": 5, "noise": 0.25},
            "noise is 0.25: expected settings of UCT, .*, or an evaluator that gives priors",
        ),
        ({"simulations": 5, "noise": 1.5}, "noise is 1.5: expected a number from 0 to 1"),
        ({"seconds": "1"}, "seconds is '1'"),
        ({"simulations": 5, "c": True}, "c is True"),
        ({"simulations": 5, "solver": 3}, "solver is 3: expected True or False"),
        ({"simulations": 5, "evaluator": 3}, "evaluator is 3: expected a function"),
        ({"simulations": 5, "concentration": 0}, "concentration is 0"),
    ],
    ids=str,
)
def test_wrong_settings_are_refused(settings, complaint):
    with pytest.raises(ValueError, match=complaint):
        make_search(**settings)
