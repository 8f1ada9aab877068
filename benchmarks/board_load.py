"""Measure how long a person at a board of `pbm serve` waits for the answer to their own move, with many boards open.

    pip install -e ".[bench,serve]" && python benchmarks/board_load.py > benchmarks/results/board_load.txt

Starts the server and opens all boards over web sockets, as browsers do. At some of them a person plays an agent and
answers its moves at once, so that the agent thinks all the time; at the others two persons play each other by a link,
and think for random times. All play random legal moves, and the games change from board to board. The wait is the time
from sending a move to the first position that shows it. The persons' programs run in this process, on the same cores as
the server and its agents, so the waits include theirs. What it does at the moment is on standard error.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from random import Random
from time import perf_counter
from typing import Any

import numpy as np
from machine import machine
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed
from websockets.typing import Origin

ROOT = Path(__file__).parent.parent
GAMES = ("chameleon", "curio", "trinim", "unlur")
LIMIT = 0.3
"""Seconds that a person may wait for the answer to their own move."""
SITTING_SECONDS = 60.0
"""The longest time for all persons to begin their games."""
AT_ONCE = 8
"""Boards that are opened at the same time."""
STARTED = perf_counter()


def say(what: str) -> None:
    """Report a stage on standard error."""
    print(f"[{perf_counter() - STARTED:5.1f} s] {what}", file=sys.stderr, flush=True)


class Person:
    """A person at a board. `waits` and `thoughts` are measured once `measuring` is true."""

    measuring = False

    def __init__(self, port: int, seed: int, think: float, opponent: str) -> None:
        self._address, self._rng, self._think = f"127.0.0.1:{port}", Random(seed), think
        self._seats = ["person", opponent]
        self._socket: ClientConnection
        self._sent = (0.0, -1)
        self._moved = 0.0
        self.waits: list[float] = []
        """Seconds until each own move was shown."""
        self.thoughts: list[float] = []
        """Seconds until the agent's answer was shown."""
        self.link: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self.seated = asyncio.Event()
        """Set once the wanted game is on the board."""
        self.errors: list[str] = []
        self.playing: asyncio.Task[None]

    async def sit_down(self, **hello: str) -> None:
        """Open the board, and start to play."""
        self._socket = await connect(
            f"ws://{self._address}/table", origin=Origin(f"http://{self._address}"), max_size=None, ping_interval=None
        )
        await self.say("hello", theme="light", **hello)
        self.playing = asyncio.create_task(self.play())

    async def say(self, do: str, **rest: Any) -> None:
        await self._socket.send(json.dumps({"do": do, **rest}))

    async def begin(self, game: str) -> None:
        await self.say("new", game=game, players=self._seats)
        if self._seats[1] == "person":
            await self.say("invite", seat=1)

    async def play(self) -> None:
        """Play until the connection is closed."""
        turn: asyncio.Task[None] | None = None
        with suppress(ConnectionClosed):
            async for text in self._socket:
                now, message = perf_counter(), json.loads(text)
                if message["type"] == "link":
                    self.link.set_result(message["address"])
                elif message["type"] == "error":
                    self.errors.append(message["text"])
                if message["type"] != "position" or message["curtain"] or message["seats"] != self._seats:
                    continue
                self.seated.set()
                self._note(now, message)
                if turn is None or turn.done():
                    answer = self._answer(message)
                    turn = asyncio.create_task(answer) if answer is not None else None
        if turn is not None:
            turn.cancel()

    def _note(self, now: float, position: dict[str, Any]) -> None:
        began, plies = self._sent
        if began and position["plies"] > plies:
            self._sent, self._moved = (0.0, -1), began
            if self.measuring:
                self.waits.append(now - began)

    def _answer(self, position: dict[str, Any]) -> Any:
        if self._sent[0]:
            return None
        request = position["table"]["request"]
        if request is not None:
            return None if request["mine"] else self.say("agree")
        if position["done"]:
            return self.say("rematch", exchange=False) if position["seat"] == 0 else None
        if not position["legal"]:
            return None
        if self._moved and self.measuring and self._seats[1] != "person":
            self.thoughts.append(perf_counter() - self._moved)
        return self._move(position)

    async def _move(self, position: dict[str, Any]) -> None:
        if self._think:
            await asyncio.sleep(self._think * self._rng.uniform(0.2, 1.8))
        move = self._rng.choice(position["legal"])["move"]
        self._sent = (perf_counter(), position["plies"])
        await self.say("play", move=move)

    async def close(self) -> None:
        await self._socket.close()


async def sit_down_all(port: int, options: argparse.Namespace) -> list[Person]:
    """Open all boards, several at once, and begin all games."""
    free = asyncio.Semaphore(AT_ONCE)

    async def sit(number: int) -> list[Person]:
        """Open the board of a person against an agent, or those of two persons."""
        async with free:
            against_agent = number < options.agents
            think, opponent = (0.0, options.agent) if against_agent else (options.think, "person")
            persons = [Person(port, 2 * number + seat, think, opponent) for seat in range(1 if against_agent else 2)]
            await persons[0].sit_down()
            await persons[0].begin(GAMES[number % len(GAMES)])
            if not against_agent:
                await persons[1].sit_down(resume=await persons[0].link)
            for person in persons:
                await person.seated.wait()
            return persons

    pairs = (options.tables - options.agents) // 2
    async with asyncio.timeout(SITTING_SECONDS):
        found = await asyncio.gather(*(sit(number) for number in range(options.agents + pairs)))
    return [person for persons in found for person in persons]


async def measure(port: int, options: argparse.Namespace, server: int) -> None:
    """Open the boards, let them play, and print what was measured."""
    say(f"opening {options.tables} boards")
    persons = await sit_down_all(port, options)
    say(f"{len(persons)} boards are open; they play for {options.warm_up:g} s before anything is measured")
    await asyncio.sleep(options.warm_up)
    Person.measuring = True
    own = os.getpid()
    before, began = (used(server), workers_of(server), used(own), used_by_all()), perf_counter()
    for second in range(0, round(options.seconds), 10):
        moves = sum(len(person.waits) for person in persons)
        say(f"measuring, {second} of {options.seconds:g} s: {moves} moves of persons so far")
        await asyncio.sleep(min(10, options.seconds - second))
    Person.measuring = False
    taken, after = perf_counter() - began, (used(server), workers_of(server), used(own), used_by_all())
    for title, chosen in (("against agents", persons[: options.agents]), ("by a link", persons[options.agents :])):
        report(title, [wait for person in chosen for wait in person.waits])
    waits = [wait for person in persons for wait in person.waits]
    report("all", waits)
    thoughts = np.array([each for person in persons for each in person.thoughts])
    print(f"\nover 300 ms: {100 * np.mean(np.array(waits) > LIMIT):.2f}% of the persons' own moves")
    print(
        f"answers of agents: {len(thoughts)}, seconds: median {np.median(thoughts):.1f}, longest {thoughts.max():.1f}"
    )
    shares = {pid: (seconds - before[1].get(pid, 0)) / taken for pid, seconds in after[1].items()}
    server_share, own_share, all_share = ((after[k] - before[k]) / taken for k in (0, 2, 3))  # type: ignore[operator]
    others = all_share - server_share - own_share - sum(shares.values())
    print(
        f"processors used: server {server_share:.2f}, agents {sum(shares.values()):.2f}, persons {own_share:.2f}, "
        f"other programs {others:.2f}"
    )
    agents = [memory(pid) for pid, share in shares.items() if share > 0.01]
    print(
        f"memory, MiB: server {memory(server):,.0f}, {len(agents)} processes of agents, {max(agents):,.0f} at most each"
    )
    errors = [error for person in persons for error in person.errors]
    print(f"errors: {len(errors)} {errors[:3] or ''}")
    await asyncio.gather(*(person.close() for person in persons))


def report(title: str, waits: list[float]) -> None:
    """Print a line of the table."""
    shown = [f"{1000 * np.quantile(waits, share):>12.0f}" for share in (0.5, 0.95, 0.99, 1.0)]
    over = sum(wait > LIMIT for wait in waits)
    print(f"{title:16}{len(waits):>8,}{''.join(shown)}{over:>14}", flush=True)


def used(process: int) -> float:
    """Return the processor time of a process in seconds."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(") ")[2].split()
    return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")


def used_by_all() -> float:
    """Return the processor time of all processes of this machine in seconds."""
    user, nice, system, *_ = Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]
    return (int(user) + int(nice) + int(system)) / os.sysconf("SC_CLK_TCK")


def memory(process: int) -> float:
    """Return the memory of a process in MiB that no other process shares."""
    return int(re.findall(r"RssAnon:\s+(\d+)", Path(f"/proc/{process}/status").read_text())[0]) / 1024


def workers_of(server: int) -> dict[int, float]:
    """Return the processor time of the processes that a process has started, by their numbers."""
    tasks = Path(f"/proc/{server}/task").glob("*/children")
    children = [pid for task in tasks for pid in task.read_text().split()]
    return {int(pid): used(int(pid)) for pid in children}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=int, default=200)
    parser.add_argument("--agents", type=int, default=20, help="boards at which an agent thinks")
    parser.add_argument("--agent", default="champion:seconds=3")
    parser.add_argument("--think", type=float, default=10.0, help="mean seconds that a person thinks about a move")
    parser.add_argument("--warm-up", type=float, default=15.0)
    parser.add_argument("--seconds", type=float, default=90.0)
    options = parser.parse_args()
    print(f"{machine()}, load average before the run {os.getloadavg()[0]:.1f}\n")
    print(
        f"boards: {options.tables}\nagents: {options.agents} {options.agent}, each at a board of its own; the other "
        f"boards by a link, with a move every {options.think:g} s\nmeasured: {options.seconds:g} s\n\n"
        f"{'milliseconds':16}{'moves':>8}{'median':>12}{'95%':>12}{'99%':>12}{'longest':>12}{'over 300 ms':>14}"
    )
    with tempfile.TemporaryDirectory() as state:
        say("starting the server")
        command = [sys.executable, "-m", "pbm_agents.cli", "serve", "--port", "0", "--no-open"]
        environment = os.environ | {"XDG_STATE_HOME": state}
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as server:
            assert server.stdout
            port = int(re.search(r":(\d+)/", server.stdout.readline())[1])  # type: ignore[index]
            try:
                asyncio.run(measure(port, options, server.pid))
            finally:
                server.terminate()


if __name__ == "__main__":
    main()
