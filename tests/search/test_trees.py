"""Several trees of one position: what stands at their roots is added up, and threads search them side by side."""

import numpy as np
import pytest
from pbm_agents import Search, Workspace
from pbm_agents.play.limits import Limits
from pbm_agents.search import make_search
from pbm_agents.search.result import read_result
from pbm_agents.search.search import Run, first_tree

from pbm_envs import Chameleon, make_game
from pbm_envs.core.randomness import branch

GAMES = [
    ("chameleon", {"size": 4, "allow_resign": True}),
    ("unlur", {"radius": 3}),
    ("trinim", {"size": 6, "num_players": 3}),
    ("curio", {"base": 2, "rows": 4, "cols": 3}),
]


def positions(name, options, count=3):
    """(count,) views of games after two plies."""
    game, rng = make_game(name, **options), np.random.default_rng(3)
    states = game.init(count, rng)
    for _ in range(2):
        game.step(states, (game.legal_action_mask(states) * rng.random((count, game.num_actions))).argmax(axis=1))
    return game, game.view(states, states["to_move"])


@pytest.mark.parametrize(("name", "options"), GAMES, ids=str)
@pytest.mark.parametrize("settings", [{}, {"rave": 0, "parallel_simulations": 4}], ids=str)
def test_what_is_found_is_the_sum_of_the_trees(name, options, settings):
    game, views = positions(name, options)
    seeds = np.array([5, 6, 7], np.uint64)
    own = np.empty(9, np.uint64)
    branch(seeds.copy(), np.repeat(np.arange(3), 3), own)
    parts = make_search(simulations=40, solver=False, **settings).run(game, views[np.repeat(np.arange(3), 3)], own)
    results = make_search(simulations=119, trees=3, solver=False, **settings).run(game, views, seeds)
    for k, result in enumerate(results):
        its = parts[3 * k : 3 * k + 3]
        assert len({part.visits.tobytes() for part in its}) > 1  # each has random numbers of its own
        assert result.simulations == 120  # rounded up
        assert result.visits.tolist() == sum(part.visits for part in its).tolist()
        assert result.nodes == sum(part.nodes for part in its)
        np.testing.assert_allclose(result.value, np.mean([part.value for part in its], axis=0))
        totals = sum(np.nan_to_num(part.values) * part.visits for part in its)
        tried = result.visits > 0
        np.testing.assert_allclose(result.values[tried], totals[tried] / result.visits[tried])
        assert np.isnan(result.values[~tried]).all()
        assert result.visits[result.best] == result.visits.max()
        assert result.principal_variation[0] == result.best


@pytest.mark.parametrize(("name", "options"), GAMES, ids=str)
def test_the_same_seed_gives_the_same_result_on_any_number_of_threads(name, options):
    game, views = positions(name, options)
    seeds = np.array([5, 6, 7], np.uint64)
    found = [
        Search(simulations=90, trees=2, threads=threads).run(game, views[:count], seeds[:count])[0]
        for threads in (1, 2, 3, 7)
        for count in (1, 3)
    ]
    for result in found[1:]:
        assert result.visits.tolist() == found[0].visits.tolist()
        assert result.principal_variation == found[0].principal_variation


def test_trees_are_reused():
    game, views = positions("chameleon", {"size": 4}, 2)
    search, workspace = Search(simulations=100, trees=2, threads=2, reuse=True), Workspace()
    for runs in (1, 2, 3):
        for result in search.run(game, views, np.random.default_rng(runs), workspace=workspace):
            assert result.visits.sum() == 100 * runs
            assert result.simulations == 100


def test_a_proof_in_one_tree_is_enough():
    game = Chameleon(size=3)
    states = game.init(1, np.random.default_rng(0))
    [proof], [guess] = (
        Run(Search(simulations=simulations), game, False, Workspace()).grow(first_tree(states))
        for simulations in (20_000, 60)
    )
    assert proof.proven
    assert not guess.proven
    for trees in ([proof, guess], [guess, proof]):
        result = read_result(game, states, trees)
        assert result.proven
        assert result.value.tolist() == [-1, 1]
        assert result.best == read_result(game, states, [proof]).best
        assert result.proven_actions.tolist() == read_result(game, states, [proof]).proven_actions.tolist()
        assert result.values[result.proven_actions].max() == -1
        assert result.simulations == proof.simulations + guess.simulations
        assert result.visits.sum() == proof.simulations + guess.simulations


def test_forced_playouts_are_pruned_in_each_tree():
    game, views = positions("chameleon", {"size": 4}, 1)

    def evaluate(observations, masks):
        return masks / masks.sum(axis=1, keepdims=True), np.zeros(len(masks))

    settings = {"evaluator": evaluate, "forced_playouts": 2.0, "noise": 0.25}
    [result] = make_search(simulations=80, trees=2, **settings).run(game, views, np.random.default_rng(1))
    assert result.pruned_visits[result.best] == result.visits[result.best]
    assert (result.pruned_visits <= result.visits).all()
    assert result.policy().sum() == pytest.approx(1)


def test_by_the_clock_threads_without_a_position_of_their_own_search_one_together(monkeypatch):
    """Without an evaluator, which need not bear being called by several threads."""
    searched = []
    grow = Run.grow

    def note(self, part):
        found = grow(self, part)
        searched.append((len(part.views), self.search.seconds))
        return found

    game, views = positions("chameleon", {"size": 5})
    monkeypatch.setattr(Run, "grow", note)
    for count, settings, expected in (
        (1, {"threads": 2}, [(1, 0.02)] * 2),
        (2, {"threads": 2}, [(1, 0.02)] * 2),
        (3, {"threads": 2}, [(1, 0.02), (2, 0.02)]),
        (1, {"threads": 2, "trees": 4}, [(2, 0.01)] * 2),
        (1, {"threads": 1, "trees": 2}, [(2, 0.01)]),
        (1, {"threads": 2, "evaluator": lambda planes, masks: (masks * 1.0, np.zeros(len(masks)))}, [(1, 0.02)]),
    ):
        search, workspace = make_search(seconds=0.02, **settings), Workspace()
        search.run(game, views[:count], np.random.default_rng(1), workspace=workspace)  # warms up
        searched.clear()
        results = search.run(game, views[:count], np.random.default_rng(1), workspace=workspace)
        assert sorted(one for one in searched if one[1]) == expected
        assert len(results) == count
        assert all(result.visits.sum() == result.simulations for result in results)


def test_a_proof_by_the_clock_ends_all_threads():
    game = Chameleon(size=3)
    [result] = Search(seconds=3600, threads=2).run(game, game.init(1, np.random.default_rng(0)), np.zeros(1, np.uint64))
    assert result.proven
    assert result.seconds < 3600


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({"trees": 0}, "trees is 0: expected an integer from 1 to 1024"),
        ({"trees": 1025}, "trees is 1025"),
        ({"trees": 2.0}, "trees is 2.0"),
        ({"trees": 2, "gumbel": 4, "evaluator": lambda planes, masks: (masks, masks)}, "nor several trees"),
    ],
    ids=["none", "too many", "float", "with gumbel"],
)
def test_wrong_settings_are_refused(settings, complaint):
    with pytest.raises(ValueError, match=complaint):
        make_search(simulations=5, **settings)


def test_limits_count_all_trees():
    game = Chameleon(size=5)
    Limits(simulations=100).check("mcts:simulations=100,trees=2", game)
    with pytest.raises(ValueError, match="asks for simulations: 120; expected at most 100"):
        Limits(simulations=100).check("mcts:simulations=5,trees=120", game)
