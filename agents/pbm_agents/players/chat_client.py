"""A client for servers with OpenAI's chat completions API (extra `llm`), with retries and a deadline per answer.

The key is read from OPENAI_API_KEY; a server of your own, given by `url`, may not need one. Requests that may succeed
later (no connection, 408, 409, 429, 5xx, a malformed completion) are sent again after a wait that doubles each time. A
request that still fails, is refused, or is not answered by the deadline raises InfrastructureError.
"""

from __future__ import annotations

import queue
import random
import threading
import time
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, final

from pbm_envs.toolbox import describe_error, import_extra, printable

from ..common.faults import InfrastructureError

LONGEST_WAIT = 60.0
"""The longest wait in seconds before a request is sent again."""
LONGEST_REASON = 300
RETRIED = (408, 409, 429)
"""Status codes, in addition to 5xx, after which a request is sent again."""

Messages: TypeAlias = Sequence[dict[str, str]]


@dataclass(frozen=True)
class Reply:
    """The outcome of a request."""

    text: str = ""
    finish_reason: str | None = None
    prompt_tokens: int = 0
    completion_tokens: int = 0
    error: str | None = None
    retry: bool = True
    """True if the same request may succeed later, after a failure."""
    wait: float | None = None
    """Seconds that the server asks the client to wait before the next request."""


@final
class ChatClient:
    """Sends messages to one model. It connects when the first one is sent, and is thread-safe."""

    def __init__(
        self, model: str, url: str, *, timeout: float, retries: int, wait: float, settings: dict[str, Any]
    ) -> None:
        """Prepare a client; raise ImportError without the package `openai` (extra `llm`).

        Args:
            model: The model's name on the server.
            url: Address of the server, up to `/v1`. "" selects OPENAI_BASE_URL, or else OpenAI's server.
            timeout: Seconds that an answer may take, including all retries and waits.
            retries: The most times that a failed request is sent again.
            wait: Seconds before the first retry. Each further wait doubles.
            settings: Further parameters of a request, such as `temperature`.
        """
        if url and not url.startswith(("http://", "https://")):
            raise ValueError(f"url is {url!r}: expected an address such as 'http://localhost:8000/v1'")
        self._openai = import_extra("openai", "the package openai is not installed", "llm")
        self.model, self.url, self.timeout, self.retries, self.wait = model, url, timeout, retries, wait
        self._settings, self._lock = dict(settings), threading.Lock()
        self.clock, self.sleep = time.monotonic, time.sleep
        self._client: Any = None

    def ask(self, messages: Messages, note: Callable[[Reply, int, float], None]) -> str:
        """Return the model's answer; raise InfrastructureError if all retries fail or the deadline passes.

        Args:
            messages: The conversation so far.
            note: Called after each request with its reply, its number (from 0), and its duration in seconds.
        """
        began = self.clock()
        deadline = began + self.timeout
        for retry in range(self.retries + 1):
            sent_at = self.clock()
            reply = self._send(messages, max(1e-3, deadline - sent_at))
            note(reply, retry, self.clock() - sent_at)
            if reply.error is None:
                return reply.text
            pause = min(LONGEST_WAIT, self.wait * 2**retry) * random.uniform(0.75, 1.25)
            pause = pause if reply.wait is None else min(LONGEST_WAIT, max(0.0, reply.wait))
            if not reply.retry or retry == self.retries or self.clock() + pause >= deadline:
                break
            self.sleep(pause)
        took, reason = self.clock() - began, printable(reply.error or "", LONGEST_REASON)
        failed = f"{retry + 1} requests have failed in {took:.1f} of {self.timeout:g} seconds"
        raise InfrastructureError(f"{self.model}: {failed}, the last one by {reason}")

    def _send(self, messages: Messages, seconds: float) -> Reply:
        """Send a request once. The limit in seconds applies even if the server keeps sending data."""
        client = self._connected()
        results: queue.SimpleQueue[Any] = queue.SimpleQueue()
        with self._lock:
            settings = dict(self._settings)

        def request() -> None:
            try:
                chat = client.chat.completions
                results.put(chat.create(model=self.model, messages=messages, timeout=seconds, **settings))
            except Exception as error:
                results.put(error)

        threading.Thread(target=request, daemon=True).start()
        try:
            result = results.get(timeout=seconds)
        except queue.Empty:
            return Reply(error=f"its deadline: no answer within {seconds:.1f} seconds")
        return self._failure(result, settings) if isinstance(result, Exception) else _reply(result)

    def _failure(self, error: Exception, settings: dict[str, Any]) -> Reply:
        """Return the reply of a failed request; use `max_completion_tokens` from now on if the server requires it."""
        openai = self._openai
        if isinstance(error, openai.APIStatusError):
            reason, code = f"status {error.status_code}: {error.message}", error.status_code
            if code == 400 and error.param == "max_tokens" and "max_tokens" in settings:
                with self._lock:
                    self._settings["max_completion_tokens"] = settings["max_tokens"]
                    self._settings.pop("max_tokens", None)
                return Reply(error=reason, wait=0.0)
            try:
                wait = float(error.response.headers.get("retry-after"))
            except (TypeError, ValueError):
                wait = None
            return Reply(error=reason, retry=code >= 500 or code in RETRIED, wait=wait)
        if isinstance(error, (ValueError, openai.APIError)) and not isinstance(error, openai.APIConnectionError):
            return Reply(error=f"an answer that is not a chat completion: {error}")
        return Reply(error=describe_error(error), retry=isinstance(error, openai.APIConnectionError))

    def _connected(self) -> Any:
        with self._lock:
            if self._client is None:
                openai = self._openai
                settings: dict[str, Any] = {"max_retries": 0} | ({"base_url": self.url} if self.url else {})
                try:
                    self._client = openai.OpenAI(**settings)
                except openai.OpenAIError as error:
                    if not self.url:
                        raise InfrastructureError(f"{self.model}: {error}") from error
                    self._client = openai.OpenAI(**settings, api_key="none")
                weakref.finalize(self, self._client.close)
            return self._client


def _reply(completion: Any) -> Reply:
    """Return the model's answer, or an error if this is not a chat completion."""
    try:
        choice, used = completion.choices[0], completion.usage
        content = choice.message.content
    except (AttributeError, IndexError, TypeError):
        return Reply(error=f"an answer that is not a chat completion: {str(completion)[:100]!r}")
    if content is not None and not isinstance(content, str):
        return Reply(error=f"an answer that is not a chat completion: the content is {str(content)[:100]!r}")
    sent, got = (int(getattr(used, name, 0) or 0) for name in ("prompt_tokens", "completion_tokens"))
    # Without content (if all tokens went into thinking, for example), this is an unreadable answer, not an error.
    text = (content or "").encode("utf-8", "replace").decode()  # a lone surrogate cannot be sent back
    return Reply(text, getattr(choice, "finish_reason", None), sent, got)
