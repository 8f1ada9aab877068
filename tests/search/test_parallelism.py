"""How many simulations run at the same time in a search by the clock that is not told."""

import numpy as np
import pytest
from pbm_agents import Search, Workspace
from pbm_agents.search.search import parallel_simulations_that_pay

from pbm_envs import Chameleon


class Network:
    """Takes so many seconds a call and a position on a clock of its own, and remembers how many it was asked about."""

    def __init__(self, call=0.0, position=0.0):
        self.call, self.position, self.asked, self.clock = call, position, [], 0.0

    def __call__(self, observations, masks):
        self.asked.append(len(observations))
        self.clock += self.call + self.position * len(observations)
        return masks / masks.sum(axis=1, keepdims=True), np.zeros((len(masks), 2))

    def perf_counter(self):
        return self.clock


@pytest.mark.parametrize(
    ("network", "count"),
    [(Network(call=0.004), 32), (Network(position=0.001), 4), (Network(call=0.002, position=0.0001), 32)],
    ids=["a call", "a position", "both"],
)
def test_as_many_as_pay(network, count, monkeypatch):
    """What costs as much for 32 positions as for one is asked about 32; measured once, before the clock starts."""
    monkeypatch.setattr("pbm_agents.search.search.time", network)
    game, workspace = Chameleon(size=7), Workspace()
    states, rng = game.init(1, np.random.default_rng(1)), np.random.default_rng(2)
    search, calls = Search(seconds=0.2, evaluator=network), []
    for _ in range(2):
        network.asked.clear()
        [result] = search.run(game, states, rng, workspace=workspace)
        assert 0.2 <= result.seconds <= 0.2 + network.call + network.position * count
        calls.append(len(network.asked))
    assert max(network.asked) == count
    assert calls[1] + 16 < calls[0]
    Search(seconds=0.1, evaluator=network, parallel_simulations=2).run(game, states, rng)
    assert max(network.asked[-5:]) <= 2


def test_what_is_chosen():
    def chosen(seconds, budget=1.0):
        return parallel_simulations_that_pay(Network(), "a game", budget, seconds.get)

    assert chosen({4: 0.001, 8: 0.001, 16: 0.0018, 32: 0.002}) == 8
    assert chosen({4: 0.001, 8: 0.001, 16: 0.0014, 32: 0.002}) == 32
    assert chosen({4: 0.001, 8: 0.001, 16: 0.001, 32: 0.001}, budget=0.005) == 8
    assert chosen({4: 0.001, 8: 0.0019}) == 4
    assert chosen({}) == 8
    assert parallel_simulations_that_pay([], "a game", 1.0, {4: 0.001, 8: 0.0019}.get) == 8
