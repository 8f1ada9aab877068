"""Tabs that ask for too much, read nothing, send half a request, or are closed while an agent thinks."""

import contextlib
import itertools
import re
import socket
import threading
import time
from dataclasses import dataclass
from functools import partial

import numpy as np
import pytest
from pbm_agents import Search, make_agent
from pbm_agents.play import web
from pbm_agents.play.limits import Limits
from pbm_agents.play.start import Start
from pbm_agents.search import end_searches_when
from websockets.exceptions import ConnectionClosed

from pbm_envs import Chameleon, Curio
from tests.board.boards import PATIENCE, Person, Tab, serving, start

GAME = Chameleon(size=3)
ENDLESS = "mcts:seconds=3600,memory=64,early_stop=False,solver=False"


def wait(condition, seconds):
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.02)


def thinking(person):
    return [thread for thread in person.table.orders.thinking.threads if thread.is_alive()]


def test_a_search_ends_when_it_is_told_to():
    asked = itertools.count()
    with end_searches_when(lambda: next(asked) > 5):
        results = make_agent(ENDLESS).analyse(GAME, GAME.init(2, np.random.default_rng(0)), np.random.default_rng(0))
    assert all(result.simulations > 0 for result in results)


def test_all_threads_of_a_search_end():
    rng = np.random.default_rng(0)
    with end_searches_when(lambda: True):
        results = Search(simulations=50_000, parallel_simulations=1, threads=2).run(GAME, GAME.init(2, rng), rng)
    assert [result.simulations for result in results] == [1, 1]


@pytest.mark.parametrize("leave", ["close", "new"])
def test_leaving_a_game_ends_its_searches(leave):
    person = Person(start(GAME, "person", ENDLESS, seed=1))
    person.say("play", move="a1x")
    wait(lambda: thinking(person), PATIENCE)
    [agent] = thinking(person)
    time.sleep(0.3)
    if leave == "close":
        person.table.close()
    else:
        person.say("new", game="chameleon", options=["size=3"], players=["person", "random"])
    agent.join(PATIENCE)
    assert not agent.is_alive()
    person.table.close()


@pytest.mark.parametrize(
    ("agent", "expected"),
    [
        ("mcts:simulations=1001", "simulations: 1,001; expected at most 1,000"),
        ("pimc:worlds=2000", "simulations: 2,000; expected at most 1,000"),
        ("greedy:worlds=1001", "simulations: 1,001"),
        ("mcts:seconds=11", "seconds: 11; expected at most 10"),
        ("mcts:seconds=1,memory=100", "memory: 100 MiB; expected at most 64 MiB"),
        ("mcts:seconds=1", "memory: 1,024 MiB"),
        ("mcts:simulations=10,threads=3", "threads: 3; expected at most 2"),
        ("mcts:simulations=100000000", "simulations"),
        ("champion:simulations=100000000", "simulations"),
        ("exact:simulations=100000000", "simulations"),
        ("mcts:simulations=100,parallel_simulations=100000000", "memory: .*; expected at most 64 MiB"),
        ("exact:simulations=100,parallel_simulations=100000000", "memory: .*; expected at most 64 MiB"),
        ("pimc:simulations=1,worlds=1001", "simulations"),
    ],
)
def test_what_a_page_may_ask_for_is_limited(agent, expected):
    own = ("person", "mcts:simulations=5000")
    limits = Limits(simulations=1000, seconds=10, memory=64, threads=2, own_agents=own)
    with pytest.raises(ValueError, match=expected):
        limits.check(agent, GAME)
    with Person(start(GAME, *own), limits=limits) as person:
        rest = {"game": "chameleon", "options": ["size=3"]}
        assert re.search(expected, person.error("new", players=["person", agent], **rest))
        assert person.do("new", players=list(own), **rest)["legal"]
        assert person.do("new", players=["person", "mcts:simulations=1000,threads=2"], **rest)["legal"]


def test_trees_of_large_boards_count_as_memory():
    game = Chameleon(size=19)
    with pytest.raises(ValueError, match=r"memory: .* MiB; expected at most 64 MiB"):
        Limits(memory=64).check("mcts:simulations=50000", game)
    Limits().check("mcts:simulations=1000", game)


def test_a_search_that_takes_too_long_ends_and_is_played():
    limits = Limits(simulations=10**10, memory=10**6, seconds=0.3)
    with Person(start(GAME, "person", "random", seed=1), limits=limits) as person:
        slow = "mcts:simulations=300000,solver=False,early_stop=False,playouts=10000"
        person.do("new", game="chameleon", options=["size=3"], players=["person", slow])
        assert person.play("a1x")["legal"], "else it would think for an hour"


def test_a_tab_that_reads_nothing_is_closed(monkeypatch):
    monkeypatch.setattr(web, "MAX_WAITING_ANSWERS", 5)
    with serving(start(GAME, "person", "random")) as port:
        tab = Tab(port)
        with pytest.raises(ConnectionClosed):  # noqa: PT012  the server says so by one or by the other
            for _ in range(2000):
                tab.say("hello")
                time.sleep(0.002)
            while True:
                tab.hear()
        with contextlib.suppress(ConnectionClosed):
            tab.connection.close()
        with Tab(port) as other:
            assert other.position["legal"]


def test_half_a_request_is_dropped(monkeypatch):
    """An open web socket is none: it outlives those that came after it."""
    monkeypatch.setattr(web, "REQUEST_SECONDS", 3.0)
    whole = b"GET /page.js HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    post = b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 9\r\n\r\nab"
    halves = (b"", b"GET / HT", whole[:-2], post, whole + b"GET")
    with serving(start(GAME, "person", "random")) as port, Tab(port) as tab, contextlib.ExitStack() as connections:
        connect = partial(socket.create_connection, ("127.0.0.1", port), timeout=PATIENCE)
        opened = [connections.enter_context(connect()) for _ in halves]
        for half, connection in zip(halves, opened, strict=True):
            connection.sendall(half)
        for half, connection in zip(halves, opened, strict=True):
            received = b""
            with contextlib.suppress(ConnectionError):
                while part := connection.recv(1 << 16):
                    received += part
            assert (b"200 OK" in received) == half.startswith(whole)
        assert tab.play("a1x")["legal"]


@dataclass(frozen=True)
class SlowStart(Start):
    """The first board that is set up waits for `go`, as if rules were compiled."""

    waiting = threading.Lock()
    go = threading.Event()

    def session(self):
        if self.waiting.acquire(blocking=False):
            self.go.wait(PATIENCE)
        return super().session()


def test_a_board_that_takes_long_to_set_up_does_not_keep_others_waiting():
    slow = SlowStart(GAME, ("person", "random"))
    with serving(slow) as port:
        threads = []
        first = threading.Thread(target=lambda: threads.append(Tab(port)))
        first.start()
        wait(slow.waiting.locked, PATIENCE)
        with Tab(port) as second:
            assert second.position["legal"]
        assert not threads
        slow.go.set()
        first.join(PATIENCE)
        threads[0].connection.close()


def test_one_search_in_two_threads():
    """A `Search` holds settings only; a workspace, and so an agent, is for one thread at a time and says so."""
    game, search = Curio(base=2, rows=4, cols=3), Search(simulations=200)
    views = game.view(game.init(8, np.random.default_rng(0)), 0)

    def run(seed):
        return [result.visits.tolist() for result in search.run(game, views, np.random.default_rng(seed))]

    alone, together = [run(seed) for seed in range(6)], [None] * 6

    def work(seed):
        together[seed] = run(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    assert together == alone
    agent = make_agent(ENDLESS)
    over = threading.Event()

    def think():
        with end_searches_when(over.is_set):
            agent.analyse(GAME, GAME.init(1, np.random.default_rng(0)), np.random.default_rng(0))

    other = threading.Thread(target=think)
    other.start()
    try:
        wait(agent.workspace._lock.locked, PATIENCE)
        with pytest.raises(RuntimeError, match="in use by another search"):
            agent.analyse(GAME, GAME.init(1, np.random.default_rng(0)), np.random.default_rng(0))
    finally:
        over.set()
        other.join(PATIENCE)
