"""Who may use the server: checks of the Host and Origin headers, and of the token of a public server."""

from __future__ import annotations

import hmac
import logging
import re
import secrets
from contextlib import suppress
from dataclasses import dataclass
from html import escape
from http.cookies import CookieError, SimpleCookie
from ipaddress import ip_address
from typing import final
from urllib.parse import parse_qs

from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
    "connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}
ADDRESS = re.compile(r"https?://([a-z0-9.-]+|\[[0-9a-f:]+\])(:\d{1,5})?/?", re.IGNORECASE)
DEFAULT_PORTS = {"http": ":80", "https": ":443"}
"""What browsers leave out of addresses."""
COOKIE = "pbm_token"
SHORTEST_TOKEN = 16
"""The least number of characters of a token."""
LONGEST_FORM = 1000
"""The largest number of bytes that are read of a form with a token."""
COOKIE_SECONDS = 30 * 24 * 3600
"""How long a browser remembers that it has given the token."""
ASK = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>pbm_envs: token</title><style>body {{ font: 1rem/1.5 system-ui, sans-serif; margin: 3rem auto; max-width: 30rem;
padding: 0 1rem; color-scheme: light dark }} input, button {{ font: inherit; padding: .4rem .6rem }}</style></head>
<body><main><h1>Token</h1><p>{said}</p><form method="post"><label>Token <input name="token" type="password" required
autofocus autocomplete="current-password"></label> <button>Enter</button></form></main></body></html>"""
ASKED = "Whoever runs this server gives its token to those who may play here. This browser remembers it for 30 days."
WRONG = "This is not the token of this server."

_log = logging.getLogger(__name__)


def is_loopback(host: str) -> bool:
    """Return whether only this machine can reach a server that listens at `host`."""
    with suppress(ValueError):
        return ip_address(host).is_loopback
    return host == "localhost"


@dataclass(frozen=True)
class Publication:
    """The address and the token of a public server."""

    address: str
    """The address under which browsers reach the server, such as https://boards.example.org."""
    token: str
    """The token that everybody who plays here must enter."""

    @classmethod
    def of(cls, address: str | None, token: str | None) -> Publication:
        """Check what was given; ValueError for a value that is missing or wrong."""
        if not address or not token:
            missing = " and ".join(name for name, value in (("--address", address), ("--token", token)) if not value)
            raise ValueError(
                f"--public is given without {missing}: expected the address under which browsers reach the server, "
                "such as https://boards.example.org, and a token for those who may play (--token or PBM_SERVE_TOKEN)"
            )
        if not ADDRESS.fullmatch(address):
            raise ValueError(
                f"--address is {address!r}: expected http or https, and a host without a path, such as "
                "https://boards.example.org"
            )
        if len(token) < SHORTEST_TOKEN or not token.isascii() or not token.isprintable():
            raise ValueError(
                f"--token has {len(token)} characters: expected at least {SHORTEST_TOKEN} printable ones of ASCII, "
                f"such as {secrets.token_urlsafe(SHORTEST_TOKEN)}"
            )
        scheme, _, host = address.rstrip("/").lower().partition("://")
        return cls(f"{scheme}://{host.removesuffix(DEFAULT_PORTS[scheme])}", token)

    @property
    def host(self) -> str:
        """The Host header that browsers send."""
        return self.address.partition("://")[2]

    @property
    def is_encrypted(self) -> bool:
        return self.address.startswith("https:")

    def warnings(self, boards: int) -> str:
        """Return what the server does not do, for whoever starts it."""
        plain = "" if self.is_encrypted else " The address begins with http: everybody on the way can read the token."
        return (
            f"this server has no TLS: a proxy in front of it must add that, and pass the Host header on.{plain} It has "
            "no accounts: whoever has the token can play, and make this machine think within the limits of "
            "--most-simulations and the like. It does not slow down or lock out anybody: one visitor can take all "
            f"{boards} boards. It makes no backups of games, and nobody moderates them"
        )


@final
class HostCheck:
    """Rejects foreign Host and Origin headers and, on a public server, browsers without the token."""

    def __init__(self, inner: ASGIApp, host: str, publication: Publication | None = None) -> None:
        """Wrap an application.

        Args:
            inner: The application.
            host: The address at which the server listens.
            publication: Under which address the server is published; None if it is not.
        """
        self._inner, self._host, self._publication = inner, host, publication
        token = "" if publication is None else publication.token
        self._secret = hmac.digest(token.encode(), b"pbm serve", "sha256").hex()
        """What browsers with the token have in a cookie, rather than the token itself."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope.get("headers", ())}
        host, public = headers.get("host", ""), self._publication
        welcome, known = self._is_here(host), public is None or self._has_token(headers.get("cookie", ""))
        if scope["type"] == "websocket":
            origin = f"http://{host}" if public is None else public.address
            welcome = welcome and headers.get("origin") == origin and known
        elif welcome and public is not None and not known:
            await (await self._ask(Request(scope, receive), public))(scope, receive, send)
            return
        if welcome:
            await self._inner(scope, receive, send)
            return
        _log.warning("refused: host %.100r, origin %.100r", host, headers.get("origin", ""))
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
        else:
            refusal = PlainTextResponse("This server is for the pages of its own address.", 403, headers=HEADERS)
            await refusal(scope, receive, send)

    def _has_token(self, cookies: str) -> bool:
        given: SimpleCookie = SimpleCookie()
        with suppress(CookieError):
            given.load(cookies)
        return COOKIE in given and hmac.compare_digest(given[COOKIE].value.encode(), self._secret.encode())

    async def _ask(self, request: Request, public: Publication) -> Response:
        """Ask for the token; if the request contains it, set a cookie and redirect to the page."""
        policy = HEADERS["Content-Security-Policy"].replace("form-action 'none'", "form-action 'self'")
        headers = HEADERS | {"Content-Security-Policy": policy}
        if request.method != "POST":
            return HTMLResponse(ASK.format(said=escape(ASKED)), 401, headers=headers)
        body = b""
        async for part in request.stream():
            body += part
            if len(body) > LONGEST_FORM:
                return PlainTextResponse("expected a token", 413, headers=headers)
        token = parse_qs(body.decode("latin-1")).get("token", [""])[0]
        if not hmac.compare_digest(token.encode(), public.token.encode()):
            return HTMLResponse(ASK.format(said=escape(WRONG)), 401, headers=headers)
        query = f"?{request.url.query}" if request.url.query else ""
        answer = RedirectResponse(f"{public.address}/{query}", 303, headers=headers)
        answer.set_cookie(
            COOKIE, self._secret, COOKIE_SECONDS, secure=public.is_encrypted, httponly=True, samesite="lax"
        )
        return answer

    def _is_here(self, host: str) -> bool:
        """Return whether a Host header names this server.

        A public server has the name of its address only. Otherwise accepted are the names of loopback, the name with
        which the server was started, and, if it listens beyond loopback, any numeric address.
        """
        if self._publication is not None:
            return host.lower() == self._publication.host
        name = host.rpartition(":")[0] if host.rpartition(":")[2].isdigit() else host
        if name in LOOPBACK or name.strip("[]").lower() == self._host.lower():
            return True
        with suppress(ValueError):
            return not is_loopback(self._host) and bool(ip_address(name.strip("[]")))
        return False
