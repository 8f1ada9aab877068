"""Trees carried over from one move to the next."""

import numpy as np
import pytest
from pbm_agents import Search, SearchAgent, Workspace
from pbm_agents.search import make_search
from pbm_agents.search.tree import copy_subtree

from pbm_envs import Chameleon, Curio, Trinim, Unlur

GAMES = [Chameleon(size=4), Unlur(radius=3), Trinim(size=5), Trinim(size=5, num_players=3, allow_resign=True)]


@pytest.mark.smallest
@pytest.mark.parametrize("game", [Chameleon(size=3), Trinim(size=3, num_players=3), Unlur(radius=3)], ids=str)
def test_a_game_played_by_searches(game):
    """Also as plain Python: see the marker."""
    rng, agent = np.random.default_rng(3), SearchAgent(simulations=20, parallel_simulations=3, reuse=True)
    states = game.init(2, rng)
    while not states["done"].all():
        going = states[~states["done"]]
        game.step(going, agent.act(game, going, rng))
        states[~states["done"]] = going
    assert (states["returns"].sum(axis=1) == 0).all()


def test_rows_may_change_places():
    game, rng, workspace = Chameleon(size=4), np.random.default_rng(3), Workspace()
    search = make_search(simulations=200, reuse=True, rave=0, solver=False)
    states = game.init(3, rng)
    game.step(states, [0, 3, 8])
    before = search.run(game, states, rng, workspace=workspace)
    after = search.run(game, states[[2, 0]], rng, workspace=workspace)
    assert [r.visits.sum() for r in after] == [400, 400]
    assert (after[0].visits >= before[2].visits).all()
    assert (after[1].visits >= before[0].visits).all()


def test_one_agent_plays_other_games_and_hidden_ones_in_between():
    agent, rng = SearchAgent(simulations=40, reuse=True), np.random.default_rng(0)
    for game in (Chameleon(size=4), Curio(), Unlur(radius=3), Curio(), Chameleon(size=4), Chameleon(size=3)):
        states = game.init(2, rng)
        for _ in range(2):
            actions = agent.act(game, game.view(states, states["to_move"]), rng)
            game.step(states, actions)


def test_reuse_is_compiled_before_the_clock_starts():
    """The first run has nothing to start from, the second must find the kernel there."""
    game, rng, search = Chameleon(size=3), np.random.default_rng(0), Search(seconds=0.001, reuse=True)
    workspace = Workspace()
    states = game.init(1, rng)
    search.run(game, states, rng, workspace=workspace)
    compiled = len(copy_subtree.signatures)
    search.run(game, states, rng, workspace=workspace)
    assert compiled == len(copy_subtree.signatures) > 0


def test_the_trees_of_the_last_run_are_part_of_the_memory():
    game, rng, nodes = Chameleon(size=3), np.random.default_rng(0), {}
    for reuse in (False, True):
        workspace = Workspace()
        Search(seconds=0.001, reuse=reuse, memory=4).run(game, game.init(1, rng), rng, workspace=workspace)
        memory = workspace.newest(0)
        assert memory is not None
        nodes[reuse] = memory.tree.nodes.shape[1]
    assert nodes[True] == nodes[False] // 2
