"""Agents of `pbm serve` think in processes of their own: what these get, how they end, and who waits for whom."""

import os
import time

import pytest
from pbm_agents.common.faults import InfrastructureError
from pbm_agents.play import processes as module
from pbm_agents.play.processes import AgentProcesses

from pbm_envs import Chameleon, Curio
from tests.board.agents import Scripted
from tests.board.boards import Person, start

GAME = Chameleon(size=3)
ENDLESS = "mcts:seconds=3600,memory=64,early_stop=False,solver=False"
MOVES = ("b2x", "a1x", "c3x", "a2x", "b1x")


class Deadly(Scripted):
    """Ends its process."""

    def act(self, game, views, rng):
        os._exit(3)


class Jealous(Scripted):
    """Fails if it is asked about a second seat, or about an earlier position."""

    seat, ply = None, -1

    def act(self, game, views, rng):
        assert self.seat in (None, views["viewer"][0])
        assert self.ply < views["ply"][0]
        self.seat, self.ply = views["viewer"][0], views["ply"][0]
        return super().act(game, views, rng)


@pytest.fixture(scope="module")
def processes():
    """A single process, which all agents of these tests share."""
    made = AgentProcesses(1)
    yield made
    made.close()


def moves_against(agent, processes):
    """The moves of a game in which a person takes the first of MOVES that is legal."""
    with Person(start(GAME, "person", agent, seed=3, hint="mcts:simulations=30"), processes=processes) as person:
        while not person.position["done"] and len(person.position["moves"]) < 6:
            legal = {move["move"] for move in person.position["legal"]}
            person.play(next(move for move in (*MOVES, *sorted(legal)) if move in legal))
        person.do("undo")
        hint = person.do("hint")["hint"]
        return [move["move"] for move in person.position["moves"]], hint


def test_games_and_hints_are_those_of_agents_in_the_process_of_the_server(processes):
    for agent in ("random", "mcts:simulations=50"):
        assert moves_against(agent, processes) == moves_against(agent, None)


def test_an_agent_that_ends_its_process_ends_no_board(processes):
    with Person(start(GAME, "person", "tests.board.test_processes:Deadly"), processes=processes) as person:
        person.say("play", move="b2x")
        while (message := person.hear())["type"] == "position":
            pass
        assert message["text"] == "the agent gave no answer: the process ended with exit code 3"
        assert person.do("new", game="chameleon", options=["size=3"], players=["random", "person"])["legal"]


def test_seats_and_games_share_no_agent(processes):
    """An agent keeps what it has seen only for the next question of the same seat, whoever has the same name."""
    jealous = "tests.board.test_processes:Jealous"
    for _ in range(2):
        with Person(start(Curio(), jealous, "person", seed=3, hint=jealous), processes=processes) as person:
            if person.position["thinking"]:
                person.settle()
            for _ in range(3):
                assert not person.position["done"]
                person.play(person.do("hint")["hint"]["move"])


def test_a_game_that_is_left_gives_its_process_to_the_next(processes):
    with Person(start(GAME, "person", ENDLESS), processes=processes) as person:
        person.say("play", move="b2x")
        while not person.hear("position")["thinking"]:
            pass
        assert person.do("new", game="chameleon", options=["size=3"], players=["random", "person"])["legal"]


def test_closing_ends_agents_that_think():
    """A process that nobody ended would keep the program from ending."""
    made = AgentProcesses(1)
    with Person(start(GAME, "person", ENDLESS), processes=made) as person:
        person.say("play", move="b2x")
        while not person.hear("position")["thinking"]:
            pass
        while not made._busy:
            time.sleep(0.01)
        made.close()
        while (message := person.hear())["type"] == "position":
            pass
        assert message["text"].startswith("the agent gave no answer")
    assert not made._busy
    assert not made._idle
    with made.used(GAME, 1.0, 1e12, print), pytest.raises(InfrastructureError, match="the game was left"):
        module.worker_process()(len, "random", GAME)


def test_a_limit_of_seconds_counts_from_when_the_agent_gets_a_process(processes, monkeypatch):
    """Whoever waited for long still has its time, and the game whose clock runs out first comes first."""
    order = []
    monkeypatch.setattr(module, "_result", lambda worker, question, is_over: order.append(question._seconds))
    for seconds, until in ((5.0, 1e12), (7.0, 0.0)):
        with processes.used(GAME, seconds, until, lambda message: None):
            module.worker_process()(len, "random", GAME)
    assert order == [5.0, 0.0]


def test_processes_get_views_only():
    """Of a game with hidden information an agent's process gets what the agent may know, and an adviser's the same."""
    game, sent = Curio(), []
    session = start(game, "mcts:simulations=10", "person", seed=1).session()

    def keep(function, *arguments):
        sent.append(arguments)
        return session.legal()[0], arguments[3]

    token = module._run.set(keep)
    try:
        session.play_agent_move()
        session.play(game.action_to_string(session.legal()[0]))
        session.play_agent_move()
        session.hint(None, "mcts")
    finally:
        module._run.reset(token)
    assert [name for name, *_ in sent] == ["mcts:simulations=10"] * 2 + ["mcts"]
    for ply, (_, rules, view, _, past) in zip((0, 2, 3), sent, strict=True):
        mover = ply % 2
        assert rules == game
        assert (view == game.view(session.position(ply), mover)).all()
        assert all((seen == game.view(session.position(k), mover)).all() for k, seen in enumerate(past))
        assert (view != session.position(ply)).all()
