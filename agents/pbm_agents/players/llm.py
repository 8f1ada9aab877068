"""A language model on any server with OpenAI's chat completions API, as an agent: `llm:model=...,url=...`.

The prompt is text (`pbm_envs.text`): the rules, then the position as its player sees it. After an unreadable answer or
an illegal move, the model is asked again with an explanation of the mistake; the last bad answer raises ModelError, and
a tournament counts the game as forfeited. The prompt lists the moves so far as the player has seen them: if the agent
can watch the game (arenas, `pbm play`), all of them and the information they revealed; else its own moves and the last
one before each of its turns; for a position outside any game, only the last move.

If the server does not answer (see `chat_client`), InfrastructureError is raised and nobody forfeits the game. `usage`
counts requests (including failed ones), tokens and cost, and so does each game's record (`GameRecord.usage`); `log`
names a file that gets a line of JSON per request.
"""

from __future__ import annotations

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from functools import lru_cache, partial
from typing import Annotated, Any, final

import numpy as np

from pbm_envs import Game
from pbm_envs.authoring import NO_ACTION, Option, States
from pbm_envs.envs.memory import AgentWithMemory, Ids
from pbm_envs.text import History, Kind, PromptStyle, Vocabulary, correction, system_prompt, turn_prompt
from pbm_envs.toolbox import checked

from ..common.faults import InfrastructureError
from .agent import Actions, Views
from .chat_client import ChatClient, Messages, Reply


@dataclass
class Usage:
    """The resources that an agent has used so far."""

    requests: int = 0
    """Requests that were sent, including those that failed."""
    failed: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    illegal: int = 0
    unreadable: int = 0
    forfeits: int = 0
    """Positions in which no attempt was a legal move."""
    seconds: float = 0.0
    """Time spent waiting for the server, summed over requests."""
    cost: float = 0.0
    """Cost at the prices `input_price` and `output_price`."""


class ModelError(RuntimeError):
    """The model did not give a legal move."""


@dataclass
class _Seat:
    """The agent's memory of one seat of one game."""

    number: int | None = None
    """The number of the game's record, if there will be one."""
    history: History | None = None
    played: int = NO_ACTION
    """The action played at the last view of `history`, if that was this seat's turn."""
    usage: dict[str, float] = field(default_factory=dict)
    """The usage of its answers since the last call of `take_usage`."""

    def count(self, **amounts: float) -> None:
        """Add to `usage`."""
        for name, amount in amounts.items():
            if amount:
                self.usage[name] = self.usage.get(name, 0) + amount


@final
class LLMAgent(AgentWithMemory):
    """Asks a language model for each move."""

    @checked
    def __init__(
        self,
        *,
        model: Annotated[str, Option(help="The model's name on the server.")] = "",
        url: Annotated[
            str, Option(help="Address of the server, up to `/v1`. By default OPENAI_BASE_URL, else OpenAI's.")
        ] = "",
        attempts: Annotated[
            int, Option(low=1, help="Maximum answers per position. If the last one is bad too, it is an error.")
        ] = 3,
        temperature: Annotated[
            float | None, Option(help="Sampling temperature. None uses the server's default.")
        ] = None,
        max_tokens: Annotated[
            int | None, Option(help="Maximum tokens of an answer. None uses the server's limit.")
        ] = None,
        timeout: Annotated[float, Option(low=1e-3, help="Seconds that an answer may take, retries included.")] = 120.0,
        retries: Annotated[int, Option(low=0, help="Maximum retries of a request that failed temporarily.")] = 4,
        wait: Annotated[
            float, Option(low=1e-3, help="Seconds before the first retry. Each further wait is twice as long.")
        ] = 1.0,
        parallel: Annotated[int, Option(low=1, help="Number of requests at the same time.")] = 8,
        rules: Annotated[str, Option(help="Rules in the prompt, as in PromptStyle.")] = "short",
        position: Annotated[str, Option(help="Position in the prompt, as in PromptStyle.")] = "both",
        history: Annotated[int | None, Option(help="Moves in the prompt, as in PromptStyle.")] = None,
        legal_moves: Annotated[bool, Option(help="Whether the prompt lists the legal moves.")] = False,
        input_price: Annotated[float, Option(help="Price of a million prompt tokens, in any currency.")] = 0.0,
        output_price: Annotated[float, Option(help="Price of a million completion tokens.")] = 0.0,
        log: Annotated[str, Option(help="File to which a line of JSON is added for each request.")] = "",
    ) -> None:
        """Prepare an agent, which connects to its server when the first move is requested.

        Raises:
            ValueError: For a setting that is not allowed.
            ImportError: If the package `openai` (extra `llm`) is not installed.
        """
        if not model:
            raise ValueError("llm needs the name of a model: expected llm:model=...")
        given = {"temperature": temperature, "max_tokens": max_tokens}
        settings = {name: value for name, value in given.items() if value is not None}
        self.client = ChatClient(model, url, timeout=timeout, retries=retries, wait=wait, settings=settings)
        self.attempts, self.parallel = attempts, parallel
        self.style = PromptStyle(rules, position, history, legal_moves)
        self.usage = Usage()
        self._prices = input_price / 1e6, output_price / 1e6
        self._log, self._lock = log, threading.Lock()
        self._kept: dict[tuple[int, bytes], int | ModelError | InfrastructureError] = {}
        self._seats: dict[int, _Seat] = {}
        self._numbers: dict[int, int] = {}

    def number_games(self, ids: Ids, numbers: Ids) -> None:
        """Store the numbers of the games' records, for the log."""
        self._numbers.update(zip(ids.tolist(), numbers.tolist(), strict=True))

    def begin_games(self, game: Game, ids: Ids) -> None:
        """Start games of which nothing has been seen yet."""
        self._seats.update((number, _Seat(self._numbers.pop(number, None))) for number in ids.tolist())

    def end_games(self, ids: Ids) -> None:
        """Forget these games."""
        for number in ids.tolist():
            self._seats.pop(number, None)

    def watch(self, game: Game, views: States, ids: Ids, note: str | None = None) -> None:
        """Add the views to the histories of the games."""
        for row, number in enumerate(ids.tolist()):
            seat, view = self._seats.setdefault(number, _Seat()), views[row : row + 1]
            if seat.history is None:
                seat.history = History(game, view)
            elif view["ply"][0] == seat.history.ply + 1:
                seat.history.see(view, seat.played, note)
            seat.played = NO_ACTION  # it is in the history now

    def take_usage(self, ids: Ids) -> list[dict[str, float]]:
        """Return and reset the usage of the answers in each of these games, by the names of `Usage`."""
        taken: list[dict[str, float]] = []
        for number in ids.tolist():
            seat = self._seats.get(number, _Seat())
            taken.append(seat.usage)
            seat.usage = {}
        return taken

    def act(self, game: Game, views: Views, rng: np.random.Generator, ids: Ids | None = None) -> Actions:
        """Return a legal action for each view; without `ids` the positions belong to no game.

        Raises:
            ModelError: If the model gives no legal action for one of them. The results for the others are kept for the
                next calls, in which a tournament asks for each alone.
            InfrastructureError: If the server does not answer for one of them.
        """
        numbers = [-1] * len(views) if ids is None else ids.tolist()
        keys = [(number, _content(views, row)) for row, number in enumerate(numbers)]
        if len(views) > 1:  # a fault may have been repaired
            for key in keys:
                if isinstance(self._kept.get(key), InfrastructureError):
                    del self._kept[key]
        words = _vocabulary(game)
        seats = [
            _Seat() if ids is None else self._turn(game, number, views[row : row + 1])
            for row, number in enumerate(numbers)
        ]
        asked = [row for row, key in enumerate(keys) if key not in self._kept]
        with ThreadPoolExecutor(max_workers=min(self.parallel, max(1, len(asked)))) as pool:
            found = pool.map(lambda row: self._move(words, views[row : row + 1], seats[row]), asked)
            self._kept.update((keys[row], move) for row, move in zip(asked, found, strict=True))
        failures = [move for key in keys if isinstance(move := self._kept[key], Exception)]
        if failures and len(views) > 1:
            raise failures[0]
        moves = [self._kept[key] for key in keys]
        for key in set(keys):
            del self._kept[key]
        for seat, move in zip(seats, moves, strict=True):
            if isinstance(move, Exception):
                raise move
            seat.played = move
        return np.array(moves, np.int64)

    def _turn(self, game: Game, number: int, view: States) -> _Seat:
        """Return the seat, with its history extended to this view."""
        seat = self._seats.setdefault(number, _Seat())
        if seat.history is None:
            seat.history = History(game, view)
            seat.history.see_turn(view)
        elif view["ply"][0] > seat.history.ply:
            seat.history.see_turn(view, seat.played)
        return seat

    def _move(self, words: Vocabulary, view: States, seat: _Seat) -> int | ModelError | InfrastructureError:
        """Return the action that the model plays, or the error if it plays none."""
        legal = words.game.legal_action_mask(view)[0]
        messages = [
            {"role": "system", "content": system_prompt(words, self.style, self.attempts)},
            {"role": "user", "content": turn_prompt(words, view, seat.history, self.style)},
        ]
        reason = ""
        about = {"number": seat.number, "seat": int(view["viewer"][0]), "ply": int(view["ply"][0])}
        for left in reversed(range(self.attempts)):
            attempt = about | {"attempt": self.attempts - left}
            try:
                answer = self.client.ask(messages, partial(self._note, messages, seat, attempt))
            except InfrastructureError as error:
                return error
            reading = words.reader.answer(answer, legal)
            if reading.kind is Kind.MOVE:
                return reading.action
            illegal = reading.kind is Kind.ILLEGAL
            reason = f"illegal: {reading.text}" if illegal else f"unreadable: {reading.reason}"
            with self._lock:
                self.usage.illegal += illegal
                self.usage.unreadable += not illegal
                self.usage.forfeits += left == 0
                seat.count(**{"illegal" if illegal else "unreadable": 1})
            messages += [
                {"role": "assistant", "content": answer},
                {"role": "user", "content": correction(words, reading, max(left, 1))},
            ]
        return ModelError(f"{self.client.model}: no legal move in {self.attempts} attempts, the last one {reason}")

    def _note(
        self, messages: Messages, seat: _Seat, about: dict[str, Any], reply: Reply, retry: int, seconds: float
    ) -> None:
        """Record a request in `usage`, in its game and in the log."""
        sent, got, failed = reply.prompt_tokens, reply.completion_tokens, int(reply.error is not None)
        spent = {
            "requests": 1,
            "failed": failed,
            "prompt_tokens": sent,
            "completion_tokens": got,
            "cost": sent * self._prices[0] + got * self._prices[1],
        }
        with self._lock:
            for name, amount in spent.items():
                setattr(self.usage, name, getattr(self.usage, name) + amount)
            self.usage.seconds += seconds
            seat.count(**spent)
            if self._log:
                entry = about | {
                    "retry": retry,
                    "model": self.client.model,
                    "messages": list(messages),
                    "answer": reply.text,
                    "finish_reason": reply.finish_reason,
                    "error": reply.error,
                    "prompt_tokens": sent,
                    "completion_tokens": got,
                    "cost": spent["cost"],
                    "seconds": round(seconds, 3),
                }
                with open(self._log, "ab", buffering=0) as file:  # one write per line: processes may share the file
                    file.write(json.dumps(entry, ensure_ascii=False).encode() + b"\n")

    def __repr__(self) -> str:
        return f"LLMAgent(model={self.client.model!r}, usage={asdict(self.usage)})"


_vocabulary = lru_cache(maxsize=32)(Vocabulary)


def _content(views: States, row: int) -> bytes:
    """Return the bytes of a view's fields without the padding between them, which copies may not preserve."""
    return b"".join(views[name][row].tobytes() for name in views.dtype.names or ())
