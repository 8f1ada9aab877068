"""Edges in blocks beside the nodes: few are needed, and a search goes on when there is no room for more."""

import numba
import numpy as np
import pytest
from pbm_agents import Workspace
from pbm_agents.search import make_search
from pbm_agents.search import tree as trees
from pbm_agents.search.tree import AN_EDGE, EDGES_OF_NODE, UNVISITED, add_edge, edge_at, edges_of

from pbm_envs import Chameleon, make_game

DENSE = {"chameleon": 6396, "curio": 6476}
"""Bytes of a node when it had an edge for each action, with RAVE in Chameleon."""


def searched_tree(game, simulations, **settings):
    rng, workspace = np.random.default_rng(5), Workspace()
    states = game.init(1, rng)
    views = game.view(states, states["to_move"])
    [result] = make_search(simulations=simulations, **settings).run(game, views, rng, workspace=workspace)
    return result, workspace.newest(0).tree


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="the same numbers, slowly")
@pytest.mark.parametrize("name", DENSE)
def test_a_node_takes_half_the_memory_that_it_took(name):
    game = make_game(name)
    result, tree = searched_tree(game, 1000)
    of_nodes = tree.nodes, tree.places, tree.sums, tree.priors, tree.available, tree.rave, tree.states
    node = sum(array.nbytes // tree.nodes.size for array in of_nodes)
    edges = int(tree.blocks[0, trees.END]) * (trees.EDGE.itemsize + tree.edge_actions.itemsize)
    assert node + edges / result.nodes < DENSE[name] / 2


def test_edges_keep_their_statistics_when_blocks_grow():
    """In any order of actions, of several nodes, and with blocks that were used before."""
    rng = np.random.default_rng(0)
    tree = trees.allocate_tree(Chameleon(size=5), 1, 40, trees.Layout())
    trees.clear_edges(tree, 0)
    for _ in range(3):
        trees.add_node(tree, 0, 0)
    wanted = np.zeros((3, tree.places.shape[2]))
    for step, action in enumerate(rng.permutation(np.arange(3 * wanted.shape[1])).tolist(), start=1):
        n, a = divmod(action, wanted.shape[1])
        assert edge_at(tree, 0, n, a) == UNVISITED
        at = add_edge(tree, 0, n, a)
        assert at == edge_at(tree, 0, n, a) >= AN_EDGE
        tree.edges[0, at]["total"] = wanted[n, a] = step
        tree.edges[0, at]["visits"] = 1
    for n in range(3):
        edges = edges_of(tree, 0, n)
        assert edges["total"].tolist() == wanted[n].tolist()
        assert (edges["visits"] == 1).all()
    assert tree.nodes["edges"][0, :3].tolist() == [wanted.shape[1]] * 3
    assert tree.blocks[0, 0] <= AN_EDGE + 4 * wanted.size


@pytest.mark.parametrize("settings", [{}, {"rave": 0}, {"solver": False, "parallel_simulations": 3}])
@pytest.mark.parametrize(("name", "options"), [("chameleon", {"size": 4}), ("trinim", {"size": 5}), ("curio", {})])
def test_a_search_goes_on_without_room_for_edges(name, options, settings, monkeypatch):
    """Simulations then end where there is none: what the nodes count is as before."""
    game = make_game(name, **options)
    monkeypatch.setattr(trees, "edges_a_node", lambda game, layout: 0.2)
    result, tree = searched_tree(game, 150, **settings)
    assert result.simulations == 150 or result.proven
    assert tree.blocks[0, 0] <= tree.edges.shape[1] < AN_EDGE + game.num_actions + EDGES_OF_NODE * 150
    assert tree.nodes["visits"][0, 0] == result.simulations
    assert result.visits.sum() == result.simulations, "at the root there always is room"
    assert tree.edges["visits"][0, :AN_EDGE].tolist() == [0, 0], "that of all unvisited actions is never written"
    assert tree.edges["child"][0, :AN_EDGE].tolist() == [trees.NO_CHILD, trees.ILLEGAL]
