"""The server of `pbm serve`: a page with a board, and a game for each tab that opens it.

It needs the extra `serve` (starlette, uvicorn, websockets). Foreign pages cannot use it: requests with a foreign Host
header are rejected, which stops DNS rebinding, and web sockets with a foreign Origin header.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib.resources import files
from typing import Any, final

import h11
import markdown_it  # noqa: F401 - rules need it
import uvicorn
import websockets  # noqa: F401 - uvicorn takes it where it is
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route, WebSocketRoute
from starlette.types import ASGIApp
from starlette.websockets import WebSocket
from uvicorn.protocols.http.h11_impl import H11Protocol

from pbm_envs.foreign import parse_object
from pbm_envs.records import GameRecord

from .access import HEADERS, HostCheck, Publication
from .kept import KEPT_DAYS, KeptGames
from .limits import Limits
from .orders import LONGEST_RECORD
from .page import MODULES
from .processes import AgentProcesses
from .start import Message, Start
from .table import Table

SCRIPTS = ("page.js", *MODULES)
PAGE_FILES = {
    "/": ("page.html", "text/html"),
    "/board.css": ("board.css", "text/css"),
    **{f"/{name}": (name, "text/javascript") for name in SCRIPTS},
}
MAX_MESSAGE_BYTES = 2 * LONGEST_RECORD
"""The largest message that is read."""
MAX_WAITING_ANSWERS = 100
"""Unread messages after which the connection of a tab is closed."""
REQUEST_SECONDS = 10.0
"""The deadline for a request to arrive; then its connection is closed."""
MAX_TABLES = 256
"""Boards that may be open at once."""
MAX_CONNECTIONS = 4 * MAX_TABLES
"""Connections that may be open at once; further ones get the answer that the server is busy."""
IDLE_SECONDS = 6 * 3600.0
"""A board at which nobody has done anything for so long is closed; its game is kept."""
LOOK_SECONDS = 60.0
"""Seconds between searches for such boards."""
TOO_LONG, TOO_MANY, EXPIRED = 1009, 1013, 4000
"""Status codes with which a web socket is closed (RFC 6455); after EXPIRED the page does not connect again."""


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens at `host`; port 0 selects a free port. Raises OSError if that is impossible."""
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listening = socket.create_server(address[:2], family=family)
        # for the connections, too: asyncio does not do it for them, and answers would wait 40 ms for acknowledgements
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return listening
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno and error.errno > 0 else error.strerror
        raise OSError(f"{host}, port {port}: {reason}; expected a free port of this machine") from None


def server(application: ASGIApp) -> uvicorn.Server:
    """Return a server that runs an application until it is interrupted.

    server(application).run(sockets=[listen(...)])
    """
    settings = uvicorn.Config(
        application, log_level="warning", access_log=False, ws_max_size=MAX_MESSAGE_BYTES, lifespan="off",
        timeout_graceful_shutdown=1, http=ImpatientProtocol, limit_concurrency=MAX_CONNECTIONS,
    )  # fmt: skip
    return uvicorn.Server(settings)


@final
class ImpatientProtocol(H11Protocol):
    """Closes connections whose request does not arrive in full within REQUEST_SECONDS."""

    _dropping: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.conn.their_state is h11.SEND_BODY or (self.conn.their_state is h11.IDLE and self.conn.trailing_data[0]):
            self._wait()
        elif self._dropping is not None:
            self._dropping.cancel()
            self._dropping = None

    def _wait(self) -> None:
        if self._dropping is None:
            self._dropping = self.loop.call_later(REQUEST_SECONDS, self._drop)

    def _drop(self) -> None:
        if self.transport.get_protocol() is self and not self.transport.is_closing():
            self.transport.abort()


def application(
    start: Start,
    host: str,
    limits: Limits,
    records: Sequence[GameRecord] = (),
    kept: KeptGames | None = None,
    publication: Publication | None = None,
    processes: AgentProcesses | None = None,
) -> ASGIApp:
    """Make the application with the page and the boards.

    Args:
        start: The first game of every board.
        host: The address at which the server listens, which decides the accepted Host headers.
        limits: The limits on agents that are named on the page.
        records: Games that can be opened; if there are any, every board begins with the first.
        kept: The store of games; None for a temporary one.
        publication: The address and the token of a public server; None for a server that is not public.
        processes: Where agents think; None for threads of this process.
    """
    tables: dict[Table, Callable[[], None]] = {}
    games = KeptGames() if kept is None else kept
    hours = IDLE_SECONDS / 3600

    def close_idle_boards() -> None:
        for board, close in list(tables.items()):
            if board.idle_seconds >= IDLE_SECONDS:
                close()
        if tables:
            games.timekeeper.call_later(LOOK_SECONDS, close_idle_boards)

    async def table(websocket: WebSocket) -> None:
        await websocket.accept()
        if len(tables) >= MAX_TABLES:
            await websocket.close(TOO_MANY, f"{MAX_TABLES} boards are open: expected fewer")
            return
        loop, outbox = asyncio.get_running_loop(), asyncio.Queue[Message]()

        def post(message: Message) -> None:
            outbox.put_nowait(message)
            if outbox.qsize() > MAX_WAITING_ANSWERS:  # the tab does not read them
                receiving.cancel()

        def send(message: Message) -> None:
            with suppress(RuntimeError):  # the server is closing
                loop.call_soon_threadsafe(post, message)

        own = Table(send, start, records=records, limits=limits, kept=games, processes=processes, at_once=False)
        text = f"Nobody has touched this board for {hours:g} hours, so it was closed."
        text += f" Its game is kept for {KEPT_DAYS} days."

        def expire() -> None:
            with suppress(RuntimeError):
                asyncio.run_coroutine_threadsafe(websocket.close(EXPIRED, text), loop)

        tables[own] = expire
        if len(tables) == 1:
            games.timekeeper.call_later(LOOK_SECONDS, close_idle_boards)
        sending = asyncio.create_task(_send_all(outbox, websocket))
        receiving = asyncio.create_task(_receive_all(websocket, own))
        try:
            with suppress(asyncio.CancelledError):
                await receiving
        finally:
            receiving.cancel()
            del tables[own]
            own.close()
            sending.cancel()

    routes = [Route(path, _file) for path in PAGE_FILES]
    return HostCheck(Starlette(routes=[*routes, WebSocketRoute("/table", table)]), host, publication)


async def _file(request: Request) -> Response:
    name, kind = PAGE_FILES[request.url.path]
    return Response((files(__package__) / name).read_bytes(), media_type=kind, headers=HEADERS)


async def _send_all(outbox: asyncio.Queue[Message], websocket: WebSocket) -> None:
    while True:
        await websocket.send_text(json.dumps(await outbox.get()))


async def _receive_all(websocket: WebSocket, own: Table) -> None:
    """Handle the messages of a tab until it is closed."""
    while (event := await websocket.receive())["type"] == "websocket.receive":
        text = event.get("text") or ""
        if len(text) > MAX_MESSAGE_BYTES:
            await websocket.close(TOO_LONG, f"expected at most {MAX_MESSAGE_BYTES} bytes")
            return
        message: Any = None
        with suppress(ValueError):
            message = parse_object(text, "a message")
        own.receive(message)
