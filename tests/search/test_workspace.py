"""The memory of searches: reused, shared by nobody, not pickled."""

import copy
import pickle
import threading

import numpy as np
import pytest
from pbm_agents import Search, SearchAgent, Workspace

from pbm_envs import Chameleon, Curio, Trinim


def uniform(observations, masks):
    return masks * 1.0, np.zeros(len(masks))


def visits(results):
    return [result.visits.tolist() for result in results]


def test_a_workspace_changes_nothing_but_speed():
    """Whatever was searched in it before: another game, another batch, other settings."""
    game, other, rng = Chameleon(size=4), Curio(base=2, rows=4, cols=3), np.random.default_rng(0)
    states, workspace = game.init(3, rng), Workspace()
    seeds, search = np.arange(3, dtype=np.uint64), Search(simulations=70, parallel_simulations=2)
    expected = visits(search.run(game, states, seeds))
    views = other.view(other.init(5, rng), 0)
    for _ in range(2):
        assert visits(search.run(game, states, seeds, workspace=workspace)) == expected
        search.run(other, views, rng, workspace=workspace)
        Search(simulations=20, evaluator=uniform).run(game, states[:1], rng, workspace=workspace)
        assert visits(search.run(game, states[:1], seeds[:1], workspace=workspace)) == expected[:1]


def test_memory_is_kept():
    game, rng, workspace = Chameleon(size=4), np.random.default_rng(0), Workspace()
    search, states = Search(simulations=20), game.init(3, rng)
    search.run(game, states, rng, workspace=workspace)
    memory = workspace.newest(0)
    search.run(game, states[:2], rng, workspace=workspace)
    assert workspace.newest(0) is memory
    search.run(game, np.repeat(states, 2), rng, workspace=workspace)
    assert workspace.newest(0) is not memory, "too small"


@pytest.mark.parametrize("threads", [1, 2])
def test_two_threads_at_once_are_refused(threads):
    """The second raises at once, and the first is not disturbed."""
    game, rng, workspace = Chameleon(size=4), np.random.default_rng(0), Workspace()
    states, seeds = game.init(2, rng), np.arange(2, dtype=np.uint64)
    inside, go_on, found = threading.Event(), threading.Event(), []

    def slow(observations, masks):
        inside.set()
        assert go_on.wait(600)
        return uniform(observations, masks)

    def run():
        search = Search(simulations=10, evaluator=slow, threads=threads)
        found.append(search.run(game, states, seeds, workspace=workspace))

    thread = threading.Thread(target=run)
    thread.start()
    assert inside.wait(600)
    with pytest.raises(RuntimeError, match="this workspace is in use by another search"):
        Search(simulations=10).run(game, states, rng, workspace=workspace)
    go_on.set()
    thread.join()
    assert visits(found[0]) == visits(Search(simulations=10, evaluator=uniform).run(game, states, seeds))
    Search(simulations=10).run(game, states, rng, workspace=workspace)  # free again


def test_one_search_serves_many_threads():
    game, search = Trinim(size=5), Search(simulations=60, parallel_simulations=3)
    states, seeds = game.init(4, np.random.default_rng(0)), np.arange(4, dtype=np.uint64)
    expected, found = visits(search.run(game, states, seeds)), {}

    def run(k):
        workspace = Workspace()
        found[k] = [visits(search.run(game, states, seeds, workspace=workspace)) for _ in range(3)]

    threads = [threading.Thread(target=run, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(found[k] == [expected] * 3 for k in range(4))


def test_a_workspace_is_free_after_an_error():
    game, rng, workspace = Chameleon(size=4), np.random.default_rng(0), Workspace()
    states = game.init(1, rng)
    with pytest.raises(ZeroDivisionError):
        Search(simulations=10, evaluator=lambda *_: 1 / 0).run(game, states, rng, workspace=workspace)
    assert Search(simulations=10).run(game, states, rng, workspace=workspace)


def test_reuse_needs_a_workspace():
    game, rng = Chameleon(size=4), np.random.default_rng(0)
    with pytest.raises(ValueError, match=r"reuse=True without a workspace: expected run\(..., workspace=Workspace\(\)"):
        Search(simulations=10, reuse=True).run(game, game.init(1, rng), rng)


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, lambda thing: pickle.loads(pickle.dumps(thing))])
def test_copies_are_empty(duplicate):
    """Of a workspace, and that of an agent: a copied agent searches as a new one."""
    game, rng, workspace = Chameleon(size=4), np.random.default_rng(0), Workspace()
    states, search = game.init(1, rng), Search(simulations=40, reuse=True)
    [first] = search.run(game, states, rng, workspace=workspace)
    [again] = search.run(game, states, rng, workspace=duplicate(workspace))
    assert again.visits.sum() == first.visits.sum() == 40
    agent = SearchAgent(simulations=40, reuse=True, early_stop=False)
    agent.act(game, states, rng)
    twin = pickle.loads(pickle.dumps(agent))
    assert twin.search == agent.search
    assert twin.analyse(game, states, rng)[0].visits.sum() == 40
    assert agent.analyse(game, states, rng)[0].visits.sum() == 80


def test_a_search_is_settings_only():
    """Compared, pickled, and not changed by running."""
    search = Search(simulations=30, reuse=True)
    before, game = vars(search).copy(), Chameleon(size=3)
    search.run(game, game.init(1, np.random.default_rng(0)), np.random.default_rng(0), workspace=Workspace())
    assert vars(search) == before
    assert pickle.loads(pickle.dumps(search)) == search == Search(simulations=30, reuse=True)
    with pytest.raises(AttributeError):
        search.simulations = 5
