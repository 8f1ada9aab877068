"""The start of a game: what the form for a new game offers, and what a message that starts one may name."""

from __future__ import annotations

import secrets
from collections.abc import Collection
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeAlias

from pbm_envs import Game
from pbm_envs.registry import find_game

from ..arena import Opening
from ..players.agent import Agent
from ..players.names import make_agent, may_be_named_on_the_web
from ..players.search_agents import SearchAgent
from .options import allowed_values, defaults, parse_game, summary
from .session import DEFAULT_AGENT, PERSON, Session, seats

Message: TypeAlias = dict[str, Any]
SUGGESTED_AGENTS = (
    "random",
    "mcts:simulations=100",
    DEFAULT_AGENT,
    "mcts:simulations=10000",
    "mcts:seconds=2",
    "pimc:simulations=1000",
)
"""Agents that the form for a new game suggests; others can be typed."""
MAX_TEXT_LENGTH = 200
"""The largest number of characters in a text of a message, and of texts in a list."""


@dataclass(frozen=True)
class Start:
    """A game to start: the rules, the players, and the position."""

    game: Game
    players: tuple[str, ...]
    """By seat: PERSON, at least once, or an agent's name."""
    seed: int | None = None
    """None for a new one each time, too long to be guessed."""
    board: str | None = None
    moves: tuple[str, ...] = ()
    hint: str | None = None
    """The adviser's name; None for the same as the first opponent that searches, or else DEFAULT_AGENT."""

    def session(self) -> Session:
        """Set the game up; ValueError if a name, the board or a move is wrong."""
        if PERSON not in self.players:
            raise ValueError(f"players are {', '.join(self.players)}: expected {PERSON!r} among them")
        self.adviser()
        seed = secrets.randbits(63) if self.seed is None else self.seed
        return Session(self.game, self.players, Opening(seed, self.board, self.moves))

    def adviser(self) -> Agent:
        """Make the adviser: a new agent, which has seen nothing of what the opponent sees."""
        if self.hint is not None:
            return make_agent(self.hint)
        opponents = [make_agent(name) for name in self.players if name != PERSON]
        return next((agent for agent in opponents if isinstance(agent, SearchAgent)), make_agent(DEFAULT_AGENT))


@cache
def game_form(name: str) -> Message:
    """Return what a person can choose in the game `name`: its options, their defaults and allowed values."""
    options = []
    for option, default in defaults(name).items():
        expected = allowed_values(name, option)
        choices = ["true", "false"] if expected == "true or false" else []
        if expected.startswith("one of ") and isinstance(default, str):
            choices = expected.removeprefix("one of ").split(", ")
        options.append({"name": option, "default": option_text(default), "allowed": expected, "choices": choices})
    return {"name": name, "about": summary(find_game(name)), "options": options}


def parse_start(message: Message, own_agents: Collection[str] | None, hint: str | None) -> Start:
    """Read a message that starts a game.

    Args:
        message: With "game", "options", "players" and "seed".
        own_agents: The agents that may play although a page may not name them; None for any agent.
        hint: The adviser's name.

    Raises:
        ValueError: If a value is wrong, or an agent is not allowed.
    """
    game = parse_game(text_of(message, "game"), _texts(message, "options"))
    players = seats(game, _texts(message, "players"))
    for name in players:
        if not (own_agents is None or name == PERSON or name in own_agents or may_be_named_on_the_web(name)):
            raise ValueError(
                f"{name!r} may not be chosen here (a file, a module, a setting of the machine): expected an agent that "
                "is named where the server is started, or another"
            )
    seed = text_of(message, "seed", "").strip()
    if seed and not (seed.isascii() and seed.isdigit()):
        raise ValueError(f"seed is {seed!r}: expected an integer from 0 up, or nothing")
    return Start(game, players, int(seed) if seed else None, hint=hint)


def option_text(value: Any) -> str:
    """Return the value of an option as a person types it."""
    return str(value).lower()


def text_of(message: Message, key: str, default: str | None = None) -> str:
    """Return the text under `key` of a message, or `default`; ValueError if it is no text or too long."""
    text = message.get(key, default)
    if not isinstance(text, str) or len(text) > MAX_TEXT_LENGTH:
        raise ValueError(
            f"{key!r} is {str(text)[:MAX_TEXT_LENGTH]!r}: expected a text of at most {MAX_TEXT_LENGTH} characters"
        )
    return text


def _texts(message: Message, key: str) -> list[str]:
    texts = message.get(key, [])
    if not isinstance(texts, list) or len(texts) > MAX_TEXT_LENGTH:
        raise ValueError(f"{key!r} is {str(texts)[:MAX_TEXT_LENGTH]!r}: expected a list of texts")
    return [text_of({key: text}, key) for text in texts]
