"""Send random messages to the table of `pbm serve` and to that of a page without Python, and compare all answers.

    python browser/compare.py [--sequences 1000] [GAME ...]      # after `make wasm`

Left out, since a page without a server has something else there: see `LEFT_OUT`, and the texts of some errors (`ANY`).
Agents search with few simulations and equal seeds, so their moves and their advice must be equal too.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import subprocess
import sys
import warnings
from collections import deque
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from boards import BOARDS, OUT
from pbm_agents.play import orders, session, start, thinking
from pbm_agents.play.orders import Orders
from pbm_agents.play.session import PERSON, seats
from pbm_agents.play.start import Start
from pbm_agents.play.thinking import Thinking, Thought
from pbm_agents.players.names import make_agent

from pbm_envs import make_game
from pbm_envs.toolbox import typed

SEARCH = "mcts:simulations=40"
"""The adviser, and what searches instead of every agent but `random`; `check.py` compares the moves of champions."""
LENGTH = 24
"""The number of messages of a sequence."""
LEFT_OUT = {
    "setup": ("agents",),  # those that a page has
    "games": ("options", "levels"),  # the boards that are built, and these agents
}
"""Fields of messages that are not compared, by the type of the message or the name of the list that they are in."""
ANY = ("choices",)
"""Orders of which only the types of the answers are compared: values of options, also on boards that are not built."""
NOT_SENT = ("invite",)
"""Orders that need a server."""
RESULT = Path(__file__).parent / "worker_tables.txt"
"""What `--write` writes."""


NOT_JSON = ("", "not JSON")
"""Records that are not JSON, for which the reader of JSON finds its own words."""


class Numbers:
    """Seeds that are not given: the same for both tables."""

    def __init__(self) -> None:
        self.last = 0

    def __call__(self, *_: int) -> int:
        self.last += 1
        return self.last


class Driven:
    """A table of `pbm serve` whose agents think when they are told to."""

    def __init__(self, name: str, first: dict[str, Any]) -> None:
        self.answers: list[dict[str, Any]] = []
        self.waiting: deque[Any] = deque()
        self.fresh = Numbers()
        self._generator = np.random.default_rng
        self._patch(name)
        game = make_game(name, **first["board"])
        begun = Start(game, seats(game, first["players"]), first["seed"], hint=SEARCH)
        self.orders = Orders(self._reply, begun, lambda _: None, [], None, None)  # type: ignore[arg-type]

    def _patch(self, name: str) -> None:
        driven = self

        def think(self: Thinking, kind: Any, work: Any, seconds: float = 0) -> None:
            self._started += 1
            self.kind = kind
            assert self._session is not None
            driven.waiting.append((self._session, self._started, self._session.plies, kind, work))

        def choose_at_pace(self: Thinking) -> None:
            assert self._session is not None
            self.think("answer", self._session.choose_action)

        def default_rng(seed: Any = None) -> Any:
            return self._generator(self.fresh() if seed is None else seed)

        def draw(target: Any, args: Any, daemon: bool) -> Any:
            return SimpleNamespace(start=lambda: target(*args))

        thinking.Thinking.think, thinking.Thinking.choose_at_pace = think, choose_at_pace  # type: ignore[method-assign]
        orders.threading = SimpleNamespace(Thread=draw, Lock=None)  # type: ignore[assignment]
        session.make_agent = start.make_agent = few_simulations
        orders.registered_games = lambda: [name]  # type: ignore[assignment]
        start.ADVISER = SEARCH
        start.secrets = SimpleNamespace(randbits=self.fresh)  # type: ignore[assignment]
        np.random.default_rng = default_rng  # type: ignore[assignment]

    def close(self) -> None:
        """Restore NumPy's generators."""
        np.random.default_rng = self._generator

    def _reply(self, kind: str, /, **rest: Any) -> None:
        if self.orders.greeted:
            self.answers.append({"type": kind, **rest})

    def send(self, message: Any) -> list[dict[str, Any]]:
        """Return the answers to a message, or to the end of an agent's thinking if it is None."""
        self.answers = []
        try:
            if message is None:
                self._finish()
            else:
                self.orders.carry_out(message)
        except (ValueError, ImportError) as error:
            self.answers.append({"type": "error", "text": str(error)})
        return self.answers

    def _finish(self) -> None:
        *known, work = self.waiting.popleft()
        try:
            result = work()
        except Exception as error:
            result = error
        self.orders.use_thought(Thought(*known, result))


def few_simulations(name: str) -> Any:
    """Return an agent that searches instead of one that takes longer."""
    return make_agent("random" if name == "random" else SEARCH)


class Visitor:
    """Somebody who sends messages at random, most of them sensible."""

    def __init__(self, name: str, seed: int) -> None:
        self.name, self.random = name, random.Random(f"{name} {seed}")
        self.position: dict[str, Any] = {}
        self.record = ""

    def first(self) -> dict[str, Any]:
        """Return the first game."""
        board, seed = self.random.choice(BOARDS[self.name]), self.random.randrange(10**6)
        return {"board": board, "players": self._players(), "seed": seed}

    def hear(self, answers: list[dict[str, Any]]) -> None:
        """Remember the last position, and a record."""
        for answer in answers:
            if answer["type"] == "position":
                self.position = answer
            if answer["type"] == "record":
                self.record = answer["text"]

    def _players(self) -> list[str]:
        two = [PERSON, "random"]
        return self.random.choices([[PERSON], two, two[::-1], [PERSON] * 2, ["random", SEARCH]], (3, 4, 4, 3, 1))[0]

    def say(self) -> dict[str, Any]:
        """Return a message."""
        choose, position = self.random, self.position
        legal, plies = position.get("legal") or [], position.get("plies", 0)
        exercise = position.get("exercise")
        if exercise and choose.random() < 0.6:
            return self._solve(exercise, legal)
        if position.get("curtain") and choose.random() < 0.6:
            return {"do": "sit"}
        if legal and choose.random() < 0.55:
            return {"do": "play", "move": self._move(legal)}
        word = choose.choice([word for word in orders.ORDERS if word not in NOT_SENT])
        ply = choose.choice([None, choose.randrange(plies + 1), choose.randrange(plies + 2)])
        cell = choose.randrange(len(position.get("cells") or [0]))
        return {"do": word} | {
            "hello": lambda: {"theme": choose.choice(["light", "dark", "dark", "blue"])},
            "play": lambda: {"move": choose.choice(["a1", "zz", "resign", "  A1 ", "swap", "", "b2-a1", 7])},
            "look": lambda: {"ply": ply},
            "branch": lambda: {"ply": ply},
            "rematch": lambda: {"exchange": choose.random() < 0.5},
            "pace": lambda: {"seconds": choose.choice([None, 0, 1, 3, 99])},
            "open": lambda: {"record": self._record()},
            "choices": lambda: {"game": self.name, "options": []},
            "explain": lambda: {"cells": choose.choice([[cell], [cell], [cell, choose.randrange(9)], [], "a1"])},
            "exercise": lambda: {
                "game": self.name,
                "kind": choose.choice(["lesson", "puzzles", "puzzles", "song"]),
                "number": choose.choice([0, 0, 1, choose.randrange(40), 99]),
            },
            "answer": lambda: {"text": choose.choice(["yes", "3/7"])},
            "new": self._new,
        }.get(word, dict)()

    def _move(self, legal: list[dict[str, Any]]) -> str:
        if self.random.random() < 0.04:
            return "resign"
        move: str = self.random.choice(legal)["move"]
        return self.random.choice([move, move, move, move.upper(), f" {move} "])

    def _solve(self, exercise: dict[str, Any], legal: list[dict[str, Any]]) -> dict[str, Any]:
        choose, number = self.random, exercise["number"]
        if legal and choose.random() < 0.5:
            accepted = [each["move"] for each in exercise["answers"]]
            return {"do": "play", "move": choose.choice(accepted or [each["move"] for each in legal])}
        further = {"do": "exercise", "game": self.name, "kind": exercise["kind"], "number": number + 1}
        said = {"do": "answer", "text": choose.choice(["yes", "no", "1", "2", "12", "1/2", "0.5", ".25", "1/0", "x"])}
        return choose.choice([said, {"do": "reveal"}, further, {"do": "branch"}, {"do": "explain", "cells": [3]}, said])

    def _record(self) -> str:
        if not self.record or self.random.random() < 0.2:
            return self.random.choice([*NOT_JSON, "{}", "[1]", '{"schema": 2}'])
        return self.record if self.random.random() < 0.8 else self.record.replace('"ply', '"pl', 1)

    def _new(self) -> dict[str, Any]:
        board = self.random.choice(BOARDS[self.name])
        options = [f"{name}={typed(value)}" for name, value in board.items()]
        seed = self.random.choice(["", "7", "123456789012", "x"])
        return {"game": self.name, "options": options, "players": self._players(), "seed": seed}


def plain(thing: Any, where: str = "") -> Any:
    """Return a message without what is not compared, and with whole numbers as integers."""
    if isinstance(thing, dict):
        out = LEFT_OUT.get(thing.get("type", where), ())
        return {key: plain(value, key) for key, value in thing.items() if key not in out}
    if isinstance(thing, (list, tuple)):
        return [plain(each, where) for each in thing]
    return int(thing) if isinstance(thing, float) and thing.is_integer() else thing


def line(thing: Any) -> str:
    """Return JSON as JavaScript writes it."""
    return json.dumps(thing, separators=(",", ":"), ensure_ascii=False)


def sequence(name: str, seed: int, length: int) -> dict[str, Any]:
    """Return messages with the answers of the table of `pbm serve`, as hashes."""
    visitor = Visitor(name, seed)
    first = visitor.first()
    table = Driven(name, first)
    steps: list[dict[str, Any]] = []
    try:
        while len(steps) < length or table.waiting:
            ends = bool(table.waiting) and (visitor.random.random() < 0.8 or len(steps) >= length)
            if ends and (table.orders.thinking.pace is not None or len(steps) >= length):
                table.orders.thinking.pace = table.orders.thinking.pace if len(steps) < length else 1.0
                message = None
            else:
                message = {"do": "hello", "theme": "light"} if not steps else visitor.say()
            if message is None and len(steps) >= length:
                break
            answers = table.send(message)
            visitor.hear(answers)
            loose = message is not None and (message["do"] in ANY or message.get("record") in NOT_JSON)
            texts = [line({"type": each["type"]} if loose else plain(each)) for each in answers]
            hashes = [hashlib.sha256(text.encode()).hexdigest() for text in texts]
            steps.append({"message": message, "loose": loose, "hashes": hashes, "texts": texts})
    finally:
        table.close()
    return {"first": first | {"hint": SEARCH}, "steps": steps}


def compare(name: str, sequences: int, first: int = 0, length: int = LENGTH) -> dict[str, int]:
    """Return what `compare.mjs` has counted for a game."""
    node = subprocess.Popen(
        ["node", Path(__file__).with_name("compare.mjs"), OUT, name],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert node.stdin is not None
    for seed in range(first, first + sequences):
        node.stdin.write(line({"left": LEFT_OUT, "seed": seed, **sequence(name, seed, length)}) + "\n")
    counts: dict[str, int] = json.loads(node.communicate()[0])
    return counts


def main() -> None:
    """Compare the games that are named, by default all; exit with status 1 if anything differs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sequences", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0, help="The first sequence's number.")
    parser.add_argument("names", nargs="*", metavar="GAME")
    parser.add_argument(
        "--write", action="store_true", help=f"Write {RESULT.name} too, with the machine and the commit."
    )
    given = parser.parse_args()
    warnings.simplefilter("ignore")  # boards of Trinim on which every game is a draw
    different, lines = 0, about() if given.write else []
    for name in given.names or BOARDS:
        counts = compare(name, given.sequences, given.first)
        different += counts["different"]
        lines.append(f"{name}: " + ", ".join(f"{count:,} {key}" for key, count in counts.items()))
        print(lines[-1], flush=True)
        if given.write:
            RESULT.write_text("\n".join([*lines, ""]), encoding="utf-8")
    sys.exit(different > 0)


def about() -> list[str]:
    """Return lines that say where and with what the tables were compared."""
    sys.path.append(str(RESULT.parents[1] / "benchmarks"))
    from machine import machine

    commit = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, cwd=RESULT.parent)
    node = subprocess.run(["node", "--version"], capture_output=True, text=True)
    return [machine(), f"Node {node.stdout.strip()}, commit {commit.stdout.strip()}", ""]


if __name__ == "__main__":
    main()
