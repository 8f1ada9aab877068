"""A game to play: what a person who orders one is offered, and what they may order."""

from __future__ import annotations

import secrets
from collections.abc import Collection
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeAlias

from pbm_envs import Game

from ..agent import Agent
from ..arena import Opening
from ..mcts import SearchAgent
from ..names import KINDS, make_agent
from ..options import allowed, class_of, defaults, game_of, summary
from .session import AGENT, PERSON, Session, seats

Message: TypeAlias = dict[str, Any]
AGENTS = ("random", "mcts:simulations=100", AGENT, "mcts:simulations=10000", "mcts:seconds=2", "pimc:simulations=1000")
"""What the form for a new game offers; others can be typed."""
FILES = {"network", "file"}
"""Kinds of agents and options of theirs that name files."""
LONGEST = 200
"""Characters of a text that a person sends, and texts of a list."""


@dataclass(frozen=True)
class Start:
    """A game to play."""

    game: Game
    players: tuple[str, ...]
    """By seat: PERSON, at least once, or an agent's name."""
    seed: int | None = None
    """None: another one each time, too long to be found by trying."""
    board: str | None = None
    moves: tuple[str, ...] = ()
    hint: str | None = None
    """The adviser; None: as the first opponent that searches, else AGENT."""

    def session(self) -> Session:
        """The game, set up. ValueError if it cannot be."""
        if PERSON not in self.players:
            raise ValueError(f"players are {', '.join(self.players)}: expected {PERSON!r} among them")
        self.adviser()
        seed = secrets.randbits(63) if self.seed is None else self.seed
        return Session(self.game, self.players, Opening(seed, self.board, self.moves))

    def adviser(self) -> Agent:
        """A new one: it has seen nothing of what the opponent sees."""
        if self.hint is not None:
            return make_agent(self.hint)
        opponents = [make_agent(name) for name in self.players if name != PERSON]
        return next((agent for agent in opponents if isinstance(agent, SearchAgent)), make_agent(AGENT))


@cache
def form(name: str) -> Message:
    """What a person can choose in the game `name`."""
    options = []
    for option, default in defaults(name).items():
        expected = allowed(name, option)
        choices = ["true", "false"] if expected == "true or false" else []
        if expected.startswith("one of ") and isinstance(default, str):
            choices = expected.removeprefix("one of ").split(", ")
        options.append({"name": option, "default": typed(default), "allowed": expected, "choices": choices})
    return {"name": name, "about": summary(class_of(name)), "options": options}


def ordered(message: Message, own_agents: Collection[str] | None, hint: str | None) -> Start:
    """What a message asks for. `own_agents`: who may play beside the agents that are named by numbers alone, without
    files and modules; None: whoever can be named.
    """
    game = game_of(text_of(message, "game"), _texts(message, "options"))
    players = seats(game, _texts(message, "players"))
    for name in players:
        if not (own_agents is None or name == PERSON or name in own_agents or _by_numbers(name)):
            raise ValueError(f"{name!r} names a file or a module: expected it to be named where the server is started")
    seed = text_of(message, "seed", "").strip()
    if seed and not (seed.isascii() and seed.isdigit()):
        raise ValueError(f"seed is {seed!r}: expected an integer from 0 up, or nothing")
    return Start(game, players, int(seed) if seed else None, hint=hint)


def typed(value: Any) -> str:
    """The value of an option as a person types it."""
    return str(value).lower()


def _by_numbers(name: str) -> bool:
    """Whether an agent's name names no file and no module."""
    kind, _, rest = name.partition(":")
    options = {part.partition("=")[0].strip() for part in rest.split(",")}
    return (kind in KINDS or not rest) and not FILES & {kind, *options}


def text_of(message: Message, key: str, default: str | None = None) -> str:
    text = message.get(key, default)
    if not isinstance(text, str) or len(text) > LONGEST:
        raise ValueError(f"{key!r} is {str(text)[:LONGEST]!r}: expected a text of at most {LONGEST} characters")
    return text


def _texts(message: Message, key: str) -> list[str]:
    texts = message.get(key, [])
    if not isinstance(texts, list) or len(texts) > LONGEST:
        raise ValueError(f"{key!r} is {str(texts)[:LONGEST]!r}: expected a list of texts")
    return [text_of({key: text}, key) for text in texts]
