"""A language model behind any server that speaks OpenAI's chat completions, as an agent: `llm:model=...,url=...`.

The model is asked in words (`pbm_envs.text`): the rules, then the position as its player sees it; an answer that cannot
be read, or an illegal move, is sent back with what was wrong, and the last bad answer is an error, by which a
tournament counts the game as forfeited. The model is told the moves so far as its player has seen them: all of them,
with what they showed, where the agent can watch the game (arenas, `pbm play`), else its own and the last one before
each of its turns; asked about a position that belongs to no game, it is told the last move.

The key is read from OPENAI_API_KEY (a server of your own, given by `url`, may do without). Requests that fail on the
way (no connection, too slow, 408, 409, 429, 5xx, an answer that is no chat completion) are sent again after a wait that
doubles; other refusals are errors at once. `usage` counts requests, tokens and cost, and so does each game's record
(`GameRecord.usage`); `log` names a file that gets a line of JSON for each request.
"""

from __future__ import annotations

import json
import random
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from typing import Annotated, Any, final

import numpy as np

from pbm_envs import Game
from pbm_envs.authoring import NO_ACTION, Option, States
from pbm_envs.envs.memory import AgentWithMemory, Ids
from pbm_envs.text import History, Kind, PromptStyle, Vocabulary, correction, system_prompt, turn_prompt
from pbm_envs.toolbox import checked

from .agent import Actions, Views

LONGEST_WAIT = 60.0
"""Seconds before a request is sent again, at most."""
RETRIED = (408, 409, 429)
"""Statuses besides 5xx after which a request is sent again."""


@dataclass
class Usage:
    """What an agent has used so far."""

    requests: int = 0
    retries: int = 0
    """Requests that were sent again."""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    illegal: int = 0
    unreadable: int = 0
    forfeits: int = 0
    """Positions in which no attempt was a legal move."""
    seconds: float = 0.0
    """Of waiting for the server, summed over requests."""
    cost: float = 0.0
    """By the prices that were given."""


class ModelError(RuntimeError):
    """The server cannot be asked, or the model has not played a legal move."""


@dataclass
class _Seat:
    """What is known of one seat of one game."""

    history: History | None = None
    played: int = NO_ACTION
    """At the last view of `history`, where that was this seat's turn."""
    usage: dict[str, float] = field(default_factory=dict)
    """What its answers have taken since that was last asked for."""

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
        attempts: Annotated[int, Option(low=1, help="Answers per position. The last bad one is an error.")] = 3,
        temperature: Annotated[float | None, Option(help="Sampling temperature. None is the server's own.")] = None,
        max_tokens: Annotated[int | None, Option(help="Tokens of an answer. None is the server's own limit.")] = None,
        timeout: Annotated[float, Option(low=1e-3, help="Seconds that an answer may take.")] = 120.0,
        retries: Annotated[int, Option(low=0, help="How often a request that failed on the way is sent again.")] = 4,
        wait: Annotated[float, Option(low=1e-3, help="Seconds before the first retry. Each next wait doubles.")] = 1.0,
        parallel: Annotated[int, Option(low=1, help="Requests at the same time.")] = 8,
        rules: Annotated[str, Option(help="Rules in the prompt, as in PromptStyle.")] = "short",
        position: Annotated[str, Option(help="Position in the prompt, as in PromptStyle.")] = "both",
        history: Annotated[int | None, Option(help="Moves in the prompt, as in PromptStyle.")] = None,
        legal_moves: Annotated[bool, Option(help="Whether the prompt lists the legal moves.")] = False,
        input_price: Annotated[float, Option(help="Price of a million prompt tokens, in any currency.")] = 0.0,
        output_price: Annotated[float, Option(help="Price of a million completion tokens.")] = 0.0,
        log: Annotated[str, Option(help="File to which a line of JSON is added for each request.")] = "",
    ) -> None:
        """Connect to a server when the first move is asked for.

        Raises:
            ValueError: For a wrong setting.
            ImportError: Without the package `openai` (extra `llm`).
        """
        _openai()
        if not model:
            raise ValueError("llm needs the name of a model: expected llm:model=...")
        self.model, self.url = model, url
        self.attempts, self.retries, self.wait, self.parallel = attempts, retries, wait, parallel
        self.style = PromptStyle(rules, position, history, legal_moves)
        self.usage = Usage()
        self._prices = input_price / 1e6, output_price / 1e6
        self._settings: dict[str, Any] = {"timeout": float(timeout)}
        self._settings |= {} if temperature is None else {"temperature": float(temperature)}
        self._settings |= {} if max_tokens is None else {"max_tokens": max_tokens}
        self._log, self._lock = log, threading.Lock()
        self._client: Any = None
        self._kept: dict[tuple[int, bytes], int | ModelError] = {}
        self._seats: dict[int, _Seat] = {}

    def begin_games(self, game: Game, ids: Ids) -> None:
        """Games start, of which nothing has been seen yet."""
        self._seats.update((number, _Seat()) for number in ids.tolist())

    def end_games(self, ids: Ids) -> None:
        """These are forgotten."""
        for number in ids.tolist():
            self._seats.pop(number, None)

    def watch(self, game: Game, views: States, ids: Ids, note: str | None = None) -> None:
        """Remember what there was to see."""
        for row, number in enumerate(ids.tolist()):
            seat, view = self._seats.setdefault(number, _Seat()), views[row : row + 1]
            if seat.history is None:
                seat.history = History(game, view)
            elif view["ply"][0] == seat.history.ply + 1:
                seat.history.see(view, seat.played, note)
            seat.played = NO_ACTION  # the history holds it

    def take_usage(self, ids: Ids) -> list[dict[str, float]]:
        """What the answers in each of these games have taken since this was last asked for, as named in `Usage`."""
        taken: list[dict[str, float]] = []
        for number in ids.tolist():
            seat = self._seats.get(number, _Seat())
            taken.append(seat.usage)
            seat.usage = {}
        return taken

    def act(self, game: Game, views: Views, rng: np.random.Generator, ids: Ids | None = None) -> Actions:
        """A legal action for each view; without `ids` they are positions that belong to no game.

        Raises:
            ModelError: If there is none for one of them. What was found out about the others is kept for the next call,
                in which a tournament asks for each alone.
        """
        numbers = [-1] * len(views) if ids is None else ids.tolist()
        keys = [(number, views[row : row + 1].tobytes()) for row, number in enumerate(numbers)]
        words = _vocabulary(game)
        seats = [
            _Seat() if ids is None else self._turn(game, number, views[row : row + 1])
            for row, number in enumerate(numbers)
        ]
        asked = [row for row, key in enumerate(keys) if key not in self._kept]
        with ThreadPoolExecutor(max_workers=min(self.parallel, max(1, len(asked)))) as pool:
            found = pool.map(lambda row: self._move(words, views[row : row + 1], seats[row]), asked)
            self._kept.update((keys[row], move) for row, move in zip(asked, found, strict=True))
        failures = [move for key in keys if isinstance(move := self._kept[key], ModelError)]
        if failures and len(views) > 1:
            raise failures[0]
        moves = [self._kept[key] for key in keys]
        for key in set(keys):
            del self._kept[key]
        for seat, move in zip(seats, moves, strict=True):
            if isinstance(move, ModelError):
                raise move
            seat.played = move
        return np.array(moves, np.int64)

    def _turn(self, game: Game, number: int, view: States) -> _Seat:
        """The seat, whose history reaches up to this view."""
        seat = self._seats.setdefault(number, _Seat())
        if seat.history is None:
            seat.history = History(game, view)
            seat.history.see_turn(view)
        elif view["ply"][0] > seat.history.ply:
            seat.history.see_turn(view, seat.played)
        return seat

    def _move(self, words: Vocabulary, view: States, seat: _Seat) -> int | ModelError:
        """What the model plays, or why it does not."""
        legal = words.game.legal_action_mask(view)[0]
        messages = [
            {"role": "system", "content": system_prompt(words, self.style, self.attempts)},
            {"role": "user", "content": turn_prompt(words, view, seat.history, self.style)},
        ]
        reason = ""
        for left in reversed(range(self.attempts)):
            try:
                answer = self._ask(messages, seat)
            except ModelError as error:
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
        return ModelError(f"{self.model}: no legal move in {self.attempts} attempts, the last one {reason}")

    def _ask(self, messages: Sequence[dict[str, str]], seat: _Seat) -> str:
        """The model's answer."""
        openai, client = _openai(), self._connected()
        reason = ""
        for attempt in range(self.retries + 1):
            if attempt:
                with self._lock:
                    self.usage.retries += 1
            began, pause = time.perf_counter(), min(LONGEST_WAIT, self.wait * 2**attempt)
            try:
                completion = client.chat.completions.create(model=self.model, messages=messages, **self._settings)
                answer = _text(completion)
            except openai.APIStatusError as error:
                reason = f"status {error.status_code}: {error.message}"
                if error.status_code < 500 and error.status_code not in RETRIED:
                    raise ModelError(f"{self.model}: {reason}") from error
                pause = _asked_to_wait(error.response.headers, pause)
            except openai.APIConnectionError as error:  # also what is too slow
                reason = f"{type(error).__name__}: {error}"
            except (ValueError, openai.APIError) as error:
                reason = f"no chat completion: {error}"
            else:
                self._count(seat, messages, answer, completion.usage, attempt, time.perf_counter() - began)
                return answer
            if attempt < self.retries:
                time.sleep(pause * random.uniform(0.75, 1.25))
        raise ModelError(f"{self.model}: {self.retries + 1} requests have failed, the last one by {reason[:300]}")

    def _connected(self) -> Any:
        with self._lock:
            if self._client is None:
                openai = _openai()
                settings: dict[str, Any] = {"max_retries": 0}
                if self.url:
                    settings["base_url"] = self.url
                try:
                    self._client = openai.OpenAI(**settings)
                except openai.OpenAIError as error:
                    if not self.url:
                        raise ModelError(f"{self.model}: {error}") from error
                    self._client = openai.OpenAI(**settings, api_key="none")
            return self._client

    def _count(
        self, seat: _Seat, messages: Sequence[dict[str, str]], answer: str, used: Any, retries: int, seconds: float
    ) -> None:
        """Add a request to `usage`, to its game and to the log."""
        sent, got = (int(getattr(used, name, 0) or 0) for name in ("prompt_tokens", "completion_tokens"))
        cost = sent * self._prices[0] + got * self._prices[1]
        with self._lock:
            self.usage.requests += 1
            self.usage.prompt_tokens += sent
            self.usage.completion_tokens += got
            self.usage.seconds += seconds
            self.usage.cost += cost
            seat.count(requests=1, prompt_tokens=sent, completion_tokens=got, cost=cost)
            if self._log:
                entry = {
                    "model": self.model,
                    "messages": list(messages),
                    "answer": answer,
                    "prompt_tokens": sent,
                    "completion_tokens": got,
                    "cost": cost,
                    "retries": retries,
                    "seconds": round(seconds, 3),
                }
                with open(self._log, "a", encoding="utf-8") as file:
                    file.write(json.dumps(entry, ensure_ascii=False) + "\n")

    def __repr__(self) -> str:
        return f"LLMAgent(model={self.model!r}, usage={asdict(self.usage)})"


@lru_cache(maxsize=32)
def _vocabulary(game: Game) -> Vocabulary:
    return Vocabulary(game)


def _text(completion: Any) -> str:
    """What the model has said; ValueError if that is no chat completion."""
    try:
        content = completion.choices[0].message.content
    except (AttributeError, IndexError, TypeError):
        raise ValueError(f"the server has sent {str(completion)[:100]!r}") from None
    if content is None:
        return ""  # all tokens went into thinking, say: an answer that cannot be read
    if not isinstance(content, str):
        raise ValueError(f"the content is {str(content)[:100]!r}")
    return content


def _asked_to_wait(headers: Any, pause: float) -> float:
    """The seconds of a Retry-After header, within bounds; else `pause`."""
    try:
        return min(LONGEST_WAIT, max(0.0, float(headers.get("retry-after"))))
    except (TypeError, ValueError):
        return pause


def _openai() -> Any:
    """Imported when it is needed: an extra."""
    try:
        import openai
    except ImportError:
        raise ImportError("the package openai is not installed: pip install 'pbm-envs[llm]'") from None
    return openai
