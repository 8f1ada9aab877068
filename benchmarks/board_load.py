"""Measure how long a person at a board of `pbm serve` waits for the answer to their own move, with many boards open.

    pip install -e ".[bench,serve]" && python benchmarks/board_load.py

Starts the server and opens all boards over web sockets, as browsers do. At some of them a person plays an agent and
answers its moves at once, so that the agent thinks nearly all the time; at the others two persons play each other by
a link, and think for random times. All play random legal moves, and the games change from board to board. The wait is
the time from sending a move to the first position that shows it. The persons' programs run in this process, on the same
cores as the server, so the waits include theirs.
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

ROOT = Path(__file__).parent.parent
GAMES = ("chameleon", "curio", "trinim", "unlur")
LIMIT = 0.3
"""Seconds that a person may wait for the answer to their own move."""


class Person:
    """A person at a board. `waits` are the seconds until each own move was shown, once `measuring` is true."""

    measuring = False

    def __init__(self, port: int, seed: int, think: float, opponent: str) -> None:
        self._address, self._rng, self._think = f"127.0.0.1:{port}", Random(seed), think
        self._seats = ["person", opponent]
        self._socket: ClientConnection
        self._sent = (0.0, -1)
        self.waits: list[float] = []
        self.moves = 0
        self.link: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self.errors: list[str] = []
        self.playing: asyncio.Task[None]

    async def sit_down(self, **hello: str) -> None:
        self._socket = await connect(
            f"ws://{self._address}/table", origin=f"http://{self._address}", max_size=None, ping_interval=None
        )
        await self.say("hello", theme="light", **hello)

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
                if message["type"] != "position" or message["curtain"]:
                    continue
                began, plies = self._sent
                if began and message["plies"] > plies:
                    self._sent = (0.0, -1)
                    self.moves += 1
                    if self.measuring:
                        self.waits.append(now - began)
                if turn is None or turn.done():
                    answer = self._answer(message)
                    turn = asyncio.create_task(answer) if answer is not None else None
        if turn is not None:
            turn.cancel()

    def _answer(self, position: dict[str, Any]) -> Any:
        if self._sent[0] or position["seats"] != self._seats:  # the first game of a board is not yet the wanted one
            return None
        request = position["table"]["request"]
        if request is not None:
            return None if request["mine"] else self.say("agree")
        if position["done"]:
            return self.say("rematch", exchange=False) if position["seat"] == 0 else None
        return self._move(position) if position["legal"] else None

    async def _move(self, position: dict[str, Any]) -> None:
        if self._think:
            await asyncio.sleep(self._think * self._rng.uniform(0.2, 1.8))
        move = self._rng.choice(position["legal"])["move"]
        self._sent = (perf_counter(), position["plies"])
        await self.say("play", move=move)

    async def close(self) -> None:
        await self._socket.close()


async def sit_down_all(port: int, tables: int, agents: int, agent: str, think: float) -> list[Person]:
    """Open all boards, and let their persons begin."""
    persons: list[Person] = []
    for number in range(tables):
        game = GAMES[(number // 2) % len(GAMES)]
        invited = number >= agents and (number - agents) % 2 == 1
        person = Person(port, number, *((0.0, agent) if number < agents else (think, "person")))
        await person.sit_down(**({"resume": await persons[-1].link} if invited else {}))
        if not invited:
            await person.begin(game)
        persons.append(person)
        person.playing = asyncio.create_task(person.play())
    return persons


async def measure(port: int, options: argparse.Namespace, server: int) -> None:
    persons = await sit_down_all(port, options.tables, options.agents, options.agent, options.think)
    await asyncio.sleep(options.warm_up)
    Person.measuring = True
    before = used(server), used(os.getpid())
    began = perf_counter()
    await asyncio.sleep(options.seconds)
    Person.measuring = False
    taken = perf_counter() - began
    after = used(server), used(os.getpid())
    resident = re.findall(r"VmRSS:\s+(\d+)", Path(f"/proc/{server}/status").read_text())[0]
    for title, chosen in (("against agents", persons[: options.agents]), ("by a link", persons[options.agents :])):
        report(title, np.array([wait for person in chosen for wait in person.waits]))
    report("all", np.array([wait for person in persons for wait in person.waits]))
    errors = [error for person in persons for error in person.errors]
    server_share, own_share = ((then - now) / taken for then, now in zip(after, before, strict=True))
    print(f"\nprocessors used: server {server_share:.2f}, persons {own_share:.2f}")
    print(f"memory of the server: {int(resident) / 1024:,.0f} MiB")
    print(f"boards open: {len(persons)}; errors: {len(errors)} {errors[:3] or ''}")
    await asyncio.gather(*(person.close() for person in persons))


def report(title: str, waits: np.ndarray[Any, Any]) -> None:
    median, high, most = (1000 * np.quantile(waits, share) for share in (0.5, 0.99, 1.0))
    over = f"{(waits > LIMIT).sum():>12}"
    print(f"{title:16}{len(waits):>8,}{median:>12.0f}{high:>16.0f}{most:>12.0f}{over}", flush=True)


def used(process: int) -> float:
    """Return the processor time of a process in seconds."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(") ")[2].split()
    return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=int, default=200)
    parser.add_argument("--agents", type=int, default=20, help="boards at which an agent thinks")
    parser.add_argument("--agent", default="champion:seconds=3")
    parser.add_argument("--think", type=float, default=10.0, help="mean seconds that a person thinks about a move")
    parser.add_argument("--warm-up", type=float, default=20.0)
    parser.add_argument("--seconds", type=float, default=120.0)
    options = parser.parse_args()
    print(f"{machine()}, load average before the run {os.getloadavg()[0]:.1f}\n")
    print(
        f"{options.tables} boards, {options.agents} of them against {options.agent}, the others by a link with a move "
        f"every {options.think:g} s; {options.seconds:g} s\n\n"
        f"{'milliseconds':16}{'moves':>8}{'median':>12}{'99th percentile':>16}{'longest':>12}{'over 300 ms':>12}"
    )
    with tempfile.TemporaryDirectory() as state:
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
