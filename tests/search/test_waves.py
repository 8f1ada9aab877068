"""Simulations that do not return to Python in between find what stage by stage finds, and end in time."""

import _thread
import threading
import time

import numpy as np
import pytest
from pbm_agents import Search, Workspace
from pbm_agents.champions.agent import load_patterns
from pbm_agents.champions.patterns import PatternPriors
from pbm_agents.search import end_searches_when, make_search
from pbm_agents.search.evaluators import Playouts

from pbm_envs import Chameleon, Unlur, make_game

GAMES = [
    ("chameleon", {"size": 4}),
    ("unlur", {"radius": 3}),
    ("trinim", {"size": 5}),
    ("curio", {}),
    ("curio", {"capture": "le_total"}),
]
SETTINGS = [
    {"simulations": 120},
    {"simulations": 131, "parallel_simulations": 4, "early_stop": True},
    {"simulations": 60, "rave": 0, "solver": False, "parallel_simulations": 3},
    {"simulations": 60, "save_bridges": True, "threads": 2},
    {"simulations": 60, "avoid_losing_moves": False, "reuse": True},
]


def search_all(name, options, settings):
    """What is found in some positions, twice with one workspace."""
    return search_game(make_game(name, **options), settings)


def search_game(game, settings):
    rng = np.random.default_rng(3)
    states, found, workspace = game.init(4, rng), [], Workspace()
    for _ in range(2):
        views = game.view(states, states["to_move"])
        results = make_search(**settings).run(game, views, rng, workspace=workspace)
        found += [(r.visits.tolist(), np.nan_to_num(r.values).tolist(), r.simulations, r.nodes) for r in results]
        game.step(states, [r.best for r in results])
    return found


@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize(("name", "options"), GAMES)
def test_compiled_waves_are_those_of_stages(name, options, settings, monkeypatch):
    at_once = search_all(name, options, settings)
    monkeypatch.setattr(Playouts, "kernels", lambda self, game: None)
    assert search_all(name, options, settings) == at_once


@pytest.mark.parametrize("game", [Chameleon(size=4), Unlur(radius=3)], ids=lambda game: game.name)
def test_so_are_those_with_learned_patterns(game, monkeypatch):
    settings = {
        "simulations": 90,
        "priors": load_patterns(game),
        "prior_weight": 2.0,
        "save_bridges": True,
        "parallel_simulations": 2,
    }
    at_once = search_game(game, settings)
    monkeypatch.setattr(PatternPriors, "__call__", priors_from_python(game))
    monkeypatch.delattr(PatternPriors, "kernel")
    assert search_game(game, settings) == at_once


def priors_from_python(game):
    fill, arguments = load_patterns(game).kernel(game)

    def call(self, game, states):
        priors = np.empty((len(states), game.num_actions), np.float32)
        fill(states, *arguments, priors)
        return priors

    return call


@pytest.mark.parametrize(("name", "options"), GAMES)
def test_games_of_the_package_have_kernels(name, options):
    game = make_game(name, **options)
    assert Playouts().kernels(game) is not None
    assert Playouts(count=2).kernels(game) is None, "played one after the other, from Python"


def test_worlds_are_drawn_by_a_kernel_where_one_attempt_can_do():
    assert Playouts().kernels(make_game("curio")).world is not None
    for options in ({"capture": "le_total"}, {"face": "random"}):
        assert Playouts().kernels(make_game("curio", **options)).world is None


def test_a_long_search_can_be_interrupted():
    """Ctrl-C is noticed between calls of kernels."""
    game, rng = make_game("chameleon", size=11), np.random.default_rng(0)
    states = game.init(1, rng)
    Search(simulations=100).run(game, states, rng)  # compiles
    workspace = Workspace()

    def interrupt():
        while not workspace._lock.locked():
            time.sleep(0.01)
        _thread.interrupt_main()

    threading.Thread(target=interrupt, daemon=True).start()
    with pytest.raises(KeyboardInterrupt):  # else it takes an hour
        Search(seconds=3600, memory=64).run(game, states, rng, workspace=workspace)


def test_whoever_ends_searches_is_asked_often():
    """After the first simulation, and then so often that none of them waits for long."""
    game, rng, asked = make_game("chameleon", size=11), np.random.default_rng(0), []
    states = game.init(1, rng)
    with end_searches_when(lambda: bool(asked.append(1))):
        [result] = Search(simulations=20_000).run(game, states, rng)
    assert result.simulations == 20_000
    assert len(asked) > 20
