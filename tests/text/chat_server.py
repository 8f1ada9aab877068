"""A server on loopback that answers as OpenAI's chat completions do, with texts of our choice; and players for it."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np


@dataclass
class Reply:
    """What the server does with a request."""

    text: str = ""
    status: int = 200
    wait: float = 0.0
    """Seconds before it answers."""
    body: str | None = None
    """Sent as it is instead of a completion."""
    headers: dict[str, str] = field(default_factory=dict)
    finish: str = "stop"
    hang_up: bool = False
    """Close the connection without an answer."""
    cut: bool = False
    """Close the connection in the middle of the answer."""
    drips: bool = False
    """Send a blank now and then, and never an answer."""


Answer = Callable[[list[dict[str, Any]]], "Reply | str"]


@dataclass
class Server:
    """`requests` are the bodies that have come, in order."""

    url: str
    requests: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)


@contextmanager
def chat_server(answer: Answer, *, refused: str = "", key: str = ""):
    """Serve `answer(messages)` until the block ends.

    Args:
        answer: The player.
        refused: A parameter that is refused with status 400, as newer models of OpenAI refuse `max_tokens`.
        key: The only key that is not refused with status 401.
    """
    lock, ended = threading.Lock(), threading.Event()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *args: Any) -> None:
            """Nothing is printed."""

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with lock:
                server.requests.append(body)
                server.keys.append(self.headers.get("Authorization", ""))
                if key and server.keys[-1] != f"Bearer {key}":
                    reply: Reply | str = Reply(status=401)
                elif refused in body:
                    error = {"message": f"Unsupported parameter: {refused}", "param": refused, "code": "unsupported"}
                    reply = Reply(status=400, body=json.dumps({"error": error}))
                else:
                    reply = answer(body["messages"])
            if isinstance(reply, str):
                reply = Reply(reply)
            ended.wait(reply.wait)
            if reply.drips:
                self.drip()
                return
            if reply.hang_up:
                self.close_connection = True
                return
            streamed = body.get("stream") and reply.status == 200 and reply.body is None
            data = reply.body if reply.body is not None else completion(body, reply)
            if streamed:
                data = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks(body, reply)) + "data: [DONE]\n\n"
            raw = data.encode()
            try:
                self.send_response(reply.status)
                self.send_header("Content-Type", "text/event-stream" if streamed else "application/json")
                self.send_header("Content-Length", str(len(raw)))
                for name, value in reply.headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(raw[: len(raw) // 2] if reply.cut else raw)
                self.close_connection = self.close_connection or reply.cut
            except OSError:
                pass  # who asked has given up

        def drip(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.close_connection = True
            with suppress(OSError):
                while not ended.wait(0.05):
                    self.wfile.write(b" ")

    httpd = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    httpd.daemon_threads = True
    server = Server(f"http://127.0.0.1:{httpd.server_port}/v1")
    thread = threading.Thread(target=httpd.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        ended.set()
        httpd.shutdown()
        httpd.server_close()
        thread.join(timeout=10)


def usage(body: dict[str, Any], reply: Reply) -> dict[str, Any]:
    """As if each word were a token."""
    sent = sum(len(str(message["content"]).split()) for message in body["messages"])
    got = len(reply.text.split())
    return {"prompt_tokens": sent, "completion_tokens": got, "total_tokens": sent + got}


def completion(body: dict[str, Any], reply: Reply) -> str:
    if reply.status != 200:
        return json.dumps({"error": {"message": f"status {reply.status}", "type": "test", "code": None}})
    message = {"role": "assistant", "content": reply.text}
    return json.dumps(
        {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1,
            "model": body["model"],
            "choices": [{"index": 0, "message": message, "finish_reason": reply.finish, "logprobs": None}],
            "usage": usage(body, reply),
        }
    )


def chunks(body: dict[str, Any], reply: Reply) -> list[dict[str, Any]]:
    """The same as a stream."""
    head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": body["model"]}
    first = {"index": 0, "delta": {"role": "assistant", "content": reply.text}, "finish_reason": None}
    last = {"index": 0, "delta": {}, "finish_reason": reply.finish}
    return [
        head | {"choices": [first]},
        head | {"choices": [last]},
        head | {"choices": [], "usage": usage(body, reply)},
    ]


def text_of(messages: list[dict[str, Any]]) -> str:
    """What was said last to the player."""
    content = messages[-1]["content"]
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


def random_player(seed: int = 0) -> Answer:
    """Plays one of the legal moves that the prompt lists."""
    rng = np.random.default_rng(seed)

    def answer(messages: list[dict[str, Any]]) -> str:
        listed = re.findall(r"^Legal moves: (.*)$", text_of(messages), re.M)[-1].split()
        return f'I play at random.\n{{"move": "{listed[int(rng.integers(len(listed)))]}"}}'

    return answer


def told_view(game: Any, text: str) -> Any:
    """(1,) the view of the player whom the prompt `text` asks, made of nothing but what it says."""
    rng = np.random.default_rng(0)
    if game.name in ("chameleon", "unlur"):  # they begin with an empty board
        states = game.init(1, rng)
        for move in re.findall(r"^\d+\. player_\d: (\S+)", text, re.M):
            game.step(states, [game.string_to_action(move)])
        return game.view(states, int(states["to_move"][0]))
    told = json.loads(re.findall(r"^The position as JSON: (.*)$", text, re.M)[-1])
    player = int(told["you"][-1])
    if game.name == "trinim":
        states, colours = game.init(1, rng), ("red", "green", "blue")
        pieces = [colours.index(told["cells"][name]) + 1 if name in told["cells"] else 0 for name in game.board.names]
        states["pieces"][0], states["left"] = pieces, np.count_nonzero(pieces)
        for seat in range(game.num_players):
            states["held"][0, seat] = [told["taken"][f"player_{seat}"].get(colour, 0) for colour in colours]
    else:
        rows, columns = game.options["rows"], game.options["cols"]
        names = [[f"{'abcdefghijklmnopqrstuvwxyz'[k]}{row}" for k in range(columns)] for row in range(rows, 0, -1)]
        cells = {name: piece(game, told["cells"][name], player) for name in told["cells"]}
        states = game.init(1, rng, "/".join(" ".join(cells.get(name, ".") for name in row) for row in names))
        states["quiet"] = told["plies since the last capture"]
    states["ply"], states["to_move"] = told["ply"], player
    return game.view(states, player)


def piece(game: Any, told: str, player: int) -> str:
    """A piece of Curio in a board text; what its viewer does not see is something that could be there."""
    side, sides = told.split()
    shown, hidden = sides.split("/")
    owner = player if side == "own" else 1 - player
    if hidden == "?":  # the larger number faces the owner
        hidden = "1" if side == "own" else str(game.options["base"])
    return "LD"[owner] + (shown + hidden if player == 0 else hidden + shown)
