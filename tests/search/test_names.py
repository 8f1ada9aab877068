"""Agents by name: what the grammar takes, and what its errors say."""

import re
import sys
import types

import numpy as np
import pytest
from pbm_agents import UCT, PIMCAgent, Playouts, RandomAgent, SearchAgent, make_agent

from pbm_envs import Chameleon, Curio
from pbm_envs.toolbox import install_command


@pytest.mark.parametrize(
    ("name", "kind", "settings"),
    [
        ("random", RandomAgent, {}),
        ("random:", RandomAgent, {}),
        ("mcts", SearchAgent, {"simulations": 1000, "seconds": None, "early_stop": True}),
        ("mcts:simulations=50", SearchAgent, {"simulations": 50}),
        ("mcts: simulations = 50 , c = 1", SearchAgent, {"simulations": 50, "selection": UCT(c=1)}),
        ("mcts:seconds=0.5,c=1.2", SearchAgent, {"simulations": None, "seconds": 0.5, "selection": UCT(c=1.2)}),
        ("mcts:seconds=1e-2,solver=false", SearchAgent, {"seconds": 0.01, "solver": False}),
        ("mcts:solver=True,early_stop=False", SearchAgent, {"solver": True, "early_stop": False}),
        (
            "ismcts:simulations=400,parallel_simulations=4,playouts=2",
            SearchAgent,
            {"simulations": 400, "parallel_simulations": 4, "evaluator": Playouts(2)},
        ),
        ("pimc", PIMCAgent, {"simulations": 100}),  # of each of ten worlds
        ("pimc:worlds=4,simulations=100", PIMCAgent, {"simulations": 25}),
        ("pimc:worlds=5,seconds=1", PIMCAgent, {"seconds": 0.2, "simulations": None}),
        ("pbm_agents:RandomAgent", RandomAgent, {}),
        ("pbm_agents.players.search_agents:PIMCAgent", PIMCAgent, {}),
    ],
)
def test_good_names(name, kind, settings):
    agent = make_agent(name)
    assert type(agent) is kind
    for setting, value in settings.items():
        assert getattr(agent.search, setting) == value


OPTIONS = "simulations, seconds, selection, parallel_simulations, solver, early_stop, "


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        (
            "mtcs",
            "'mtcs' is not an agent: expected random, mcts, ismcts, pimc, greedy, .*network, .* or module:attribute",
        ),
        ("MCTS", "'MCTS' is not an agent: expected random, mcts"),
        ("", "'' is not an agent: expected random, mcts"),
        ("mtcs:simulations=5", "'mtcs:simulations=5' is not an agent: expected random, mcts"),
        ("mcts:simulation=5", f"'mcts:simulation=5': 'simulation=5' is not an option of mcts: .* one of {OPTIONS}"),
        (
            "mcts:simulations",
            "option 'simulations' of mcts has no value: expected simulations=VALUE, an integer from 1 up",
        ),
        ("mcts:5", "'5' is not an option of mcts: expected NAME=VALUE"),
        ("mcts:simulations=5,", "'mcts:simulations=5,': '' is not an option of mcts: expected NAME=VALUE"),
        ("mcts:simulations=5;c=1", "simulations is '5;c=1': expected an integer"),
        ("mcts:simulations=", "simulations is '': expected an integer"),
        ("mcts:solver=maybe", "'mcts:solver=maybe': solver is 'maybe': expected True or False"),
        ("mcts:c=1,c=2", "'mcts:c=1,c=2': c is given twice for mcts"),
        ("mcts:evaluator=1", "'evaluator=1' is not an option of mcts: expected NAME=VALUE, NAME one of "),
        ("mcts:worlds=3", "'worlds=3' is not an option of mcts: .*temperature"),
        ("pimc:temperature=1", "'temperature=1' is not an option of pimc: .*worlds"),
        ("pimc:network=net.pt", "'network=net.pt' is not an option of pimc: .*worlds"),
        ("network:net.pt", "'net.pt' is not an option of network: .* file, temperature"),
        ("network:temperature=net.pt", "temperature is 'net.pt': expected a finite number"),
        ("random:seed=1", "'seed=1' is not an option of random: expected none"),
        ("mcts:simulations=0", "simulations is 0: expected an integer from 1 up"),
        ("mcts:simulations=5,seconds=1", "simulations=5, seconds=1: expected one of the two"),
        ("mcts:temperature=-1", "temperature is -1: expected a finite number from 0 up"),
        ("pimc:worlds=0", "worlds is 0: expected an integer from 1 up"),
        ("pimc:worlds=true", "worlds is 'true': expected an integer"),
        (
            "no.such.module:thing",
            "'no.such.module:thing' is not an agent: expected .* module:attribute .*No module named",
        ),
        ("pbm_agents:Nothing", "'pbm_agents:Nothing' cannot be loaded: .*no attribute 'Nothing'$"),
        ("math:pi", "'math:pi' cannot be loaded: .*3.14159.* is not an agent: expected a name, an agent with act"),
        ("builtins:dict", "'builtins:dict' cannot be loaded: .*{} is not an agent: expected a name, an agent with act"),
    ],
)
def test_bad_names(name, complaint):
    with pytest.raises(ValueError, match=complaint):
        make_agent(name)


@pytest.mark.parametrize("name", ["network", "network:file=net.pt", "mcts:simulations=5,network=net.pt"])
def test_networks_need_pytorch(name, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    for module in ("learning.network", "learning.torsos", "common.pytorch"):
        monkeypatch.delitem(sys.modules, f"pbm_agents.{module}", raising=False)
    with pytest.raises(ImportError, match=re.escape(f"networks need PyTorch: {install_command('torch')}")):
        make_agent(name)


@pytest.mark.parametrize(
    "name", ["collections:abc", "os:getcwd", ":thing", "..x:y", "os:sep:a=1", "random:random:seed=1"]
)
def test_bad_names_of_modules(name):
    """Whatever goes wrong in finding or making it, the error is a ValueError that quotes the name."""
    with pytest.raises(ValueError, match=re.escape(repr(name))):
        make_agent(name)


def test_your_own(monkeypatch):
    """An agent, a class of agents, a function that makes one, and any of these inside something."""

    class First(RandomAgent):
        def act(self, game, views, rng):
            return game.legal_action_mask(views).argmax(axis=1)

    module = types.ModuleType("my_agents")
    module.First, module.first, module.make = First, First(), lambda: First()
    module.inside = types.SimpleNamespace(first=module.first)
    monkeypatch.setitem(sys.modules, "my_agents", module)
    game, rng = Chameleon(size=3), np.random.default_rng(0)
    states = game.init(2, rng)
    for name in ("my_agents:First", "my_agents:first", "my_agents:make", "my_agents:inside.first"):
        assert make_agent(name).act(game, states, rng).tolist() == [0, 0]
    assert make_agent("my_agents:first") is module.first
    assert make_agent("my_agents:First") is not make_agent("my_agents:First")


@pytest.mark.parametrize("name", ["random", "mcts:simulations=5", "ismcts:simulations=5", "pimc:simulations=20"])
@pytest.mark.parametrize("game", [Chameleon(), Curio()], ids=["chameleon", "curio"])
def test_an_agent_does_not_move_for_others(name, game):
    rng = np.random.default_rng(0)
    views = game.view(game.init(2, rng), [0, 1])
    with pytest.raises(ValueError, match="row 1"):
        make_agent(name).act(game, views, rng)
