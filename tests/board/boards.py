"""A table with someone before it; a server in a thread, and tabs that talk to it."""

import contextlib
import json
import queue
import threading
from random import Random

from pbm_agents.play.limits import Limits
from pbm_agents.play.session import seats
from pbm_agents.play.start import Start
from pbm_agents.play.table import Table
from pbm_agents.play.web import application, listen, server
from websockets.sync.client import connect

from pbm_envs import Chameleon

PATIENCE = 120


def start(game, *players, **rest):
    return Start(game, seats(game, players), **rest)


def nearly_over(game, seed=7):
    """The moves of a random game but for the last, and the last one."""
    session, rng = start(game, "random", "random", seed=seed).session(), Random(1)
    while not session.done:
        session.play(game.action_to_string(rng.choice(session.legal())))
    *moves, last = [move for move, _ in session.moves]
    return tuple(moves), last


class Person:
    """Before a table of their own."""

    def __init__(self, *args, **kwargs):
        self.received = queue.SimpleQueue()
        self.table = Table(self.received.put, *args, **kwargs)
        self.say("hello")
        self.setup = self.hear("setup")
        self.position = self.hear("position")

    def say(self, do, **rest):
        self.table.receive({"do": do, **rest})

    def hear(self, kind=None):
        """The next message, which is of this kind; the address at which the game is kept goes into `kept`."""
        message = self.next_message()
        while message["type"] in ("kept", "preparing"):
            if message["type"] == "kept":
                self.kept = message["address"]
            message = self.next_message()
        assert kind in (None, message["type"]), message
        return message

    def next_message(self):
        return self.received.get(timeout=PATIENCE)

    def settle(self):
        """The next position in which no agent thinks."""
        while (message := self.hear("position")).get("thinking"):
            pass
        self.position = message
        return message

    def do(self, do, **rest):
        """Say something; the position that it leads to."""
        self.say(do, **rest)
        return self.settle()

    def play(self, move):
        return self.do("play", move=move)

    def error(self, do, **rest):
        self.say(do, **rest)
        return self.hear("error")["text"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.table.close()


class Tab(Person):
    """A browser's tab at a server, without the browser: `bytes` is what came over the wire."""

    def __init__(self, port, **rest):
        self.bytes = []
        self.connection = contextlib.ExitStack()
        address = f"127.0.0.1:{port}"
        rest = {"uri": f"ws://{address}/table", "origin": f"http://{address}"} | rest
        self.socket = self.connection.enter_context(connect(**rest))
        self.say("hello", theme="dark")
        self.setup = self.hear("setup")
        self.position = self.hear("position")

    def say(self, do, **rest):
        self.socket.send(json.dumps({"do": do, **rest}))

    def next_message(self):
        text = self.socket.recv(PATIENCE, decode=False)
        message = json.loads(text)
        if message["type"] not in ("kept", "preparing"):  # a random address; when rules are compiled
            self.bytes.append(text)
        return message

    def __exit__(self, *_):
        self.connection.close()


class Guest(Person):
    """A board that enters a game by a link."""

    def __init__(self, kept, address):
        self.address = address
        super().__init__(start(Chameleon(size=3)), kept=kept, at_once=False)

    def say(self, do, **rest):
        super().say(do, **rest | ({"resume": self.address} if do == "hello" else {}))


def until(person, wanted):
    """The next position with what is wanted, which other boards may have changed."""
    while not wanted(person.position):
        person.position = person.hear("position")
    return person.position


def until_ply(person, ply):
    return until(person, lambda position: position.get("plies") == ply)


def catch_up(person):
    """Hear everything that other boards have caused so far."""
    person.say("rules")
    while person.hear()["type"] != "rules":
        pass


def invite(person, seat=None):
    person.say("invite", seat=seat)
    message = person.hear()
    while message["type"] == "position":  # another board may have come or gone
        message = person.hear()
    assert (message["type"], message["seat"]) == ("link", seat), message
    return message["address"]


def measured(page, selector, function):
    """What a function of JavaScript says of all elements, in one question: between two the page may be drawn anew."""
    return page.evaluate(f"[...document.querySelectorAll({json.dumps(selector)})].map({function})")


@contextlib.contextmanager
def serving(start, host="127.0.0.1", limits=None, kept=None, publication=None):
    """The port of a server."""
    listening = listen(host, 0)
    running = server(application(start, host, limits or Limits(), kept=kept, publication=publication))
    thread = threading.Thread(target=running.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        yield listening.getsockname()[1]
    finally:
        running.should_exit = True
        thread.join(PATIENCE)
        listening.close()
