"""The start of a game: the choices in the form for a new game, and the contents of a message that starts one."""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, TypeAlias

import numpy as np

from pbm_envs import Game, make_game
from pbm_envs.registry import find_game, make_registered_game, parse_game
from pbm_envs.text.puzzles import has_puzzles
from pbm_envs.toolbox import choices_given, options_of, parse_options, summary, typed

from ..arena import Opening
from ..arena.ladder import load_ladder
from ..players.agent import Agent
from ..players.names import make_agent, make_agent_for
from .clock import TimeControl
from .limits import Limits
from .page import board_svg
from .session import PERSON, Session, seats

Message: TypeAlias = dict[str, Any]
LEVELS = {
    "Easy": "greedy",
    "Casual": "mcts:simulations=30",
    "Medium": "mcts:simulations=300",
    "Strong": "champion:simulations=1000",
    "Champion": "champion:simulations=10000",
}
"""The opponents in the form for a new game, by strength."""
ADVISER = "champion:simulations=5000"
"""The default adviser. Its budget is a number of simulations, so that its advice is reproducible."""
SIZES = ("size", "radius", "rows", "cols", "base", "num_players")
"""Options that the form shows first; the others are variants."""
LONGEST_POSITION = 10_000
"""The largest number of characters in the board and in the moves of a message."""
MAX_TEXT_LENGTH = 200
"""The largest number of characters in a text of a message, and of texts in a list."""


@dataclass(frozen=True)
class Start:
    """A game to start: the rules, the players, and the position."""

    game: Game
    players: tuple[str, ...]
    """By seat: PERSON, at least once, or an agent's name."""
    seed: int | None = None
    """The seed; None for a new one each time, too long to be guessed."""
    board: str | None = None
    moves: tuple[str, ...] = ()
    hint: str | None = None
    """The adviser's name; None for ADVISER."""
    continued: bool = False
    """True if the board and the moves are from another game, so that a rematch starts without them."""
    clock: TimeControl | None = None
    """The time of each player; None for a game without a clock."""

    def __post_init__(self) -> None:
        """Raise ValueError for a clock without persons."""
        if self.clock is not None and PERSON not in self.players:
            raise ValueError(f"the clock is {self.clock} and only agents play: expected a person, or no clock")

    def opening(self) -> Opening:
        """Return the opening, with a seed that is drawn if none was given."""
        return Opening(secrets.randbits(63) if self.seed is None else self.seed, self.board, self.moves)

    def session(self) -> Session:
        """Set up the game; ValueError if a name, the board or a move is wrong."""
        self.adviser()
        return Session(self.game, self.players, self.opening())

    def check(self) -> None:
        """Raise ValueError if a name, the board or a move is wrong. Compile rules only to read a board and moves."""
        for name in self.players:
            if name != PERSON:
                make_agent_for(name, self.game)
        self.adviser()
        if self.board is not None or self.moves:
            self.session()

    def adviser(self) -> Agent:
        """Make the adviser, a new agent without knowledge of the opponent's view."""
        return make_agent(self.hint or ADVISER)


@cache
def game_form(name: str) -> Message:
    """Return the choices of a person in the game `name`: its options with their defaults, and opponents."""
    game_class, game = find_game(name), make_game(name)
    choices = form_choices(name)
    return {
        "name": name,
        "title": game.wording.title,
        "about": game.wording.goal or summary(game_class),
        "players": game.num_players,
        "lesson": bool(game.lesson),
        "puzzles": has_puzzles(name),
        "options": [
            {
                "name": option.name,
                "default": typed(option.default),
                "allowed": option.typed,
                "choices": choices.get(option.name, []),
                "about": option.help.replace("`", ""),
                "first": option.name in SIZES,
            }
            for option in options_of(game_class)
        ],
        "levels": [
            {"name": level, "agent": agent, "about": friendly_name(agent), "rating": rating(game, agent)}
            for level, agent in LEVELS.items()
        ],
    }


def rating(game: Game, agent: str) -> int | None:
    """Return an agent's rating on the ladder of this game, in Elo above random play; None if it has none."""
    with suppress(ValueError):
        ladder = load_ladder(game)
        for rung in ladder.rungs:
            if f"{rung.agent},".startswith((f"{agent},", f"{agent}:worlds=")):
                return round(rung.elo)
        placed: dict[str, Any] = json.loads(resources.files(__package__).joinpath("levels.json").read_text())
        rated = placed.get(ladder.id, {}).get(agent)
        return rated and int(rated["value"])
    return None


def level_name(game: str, agent: str) -> str | None:
    """Return the name of the level at which `agent` plays in the form for a new game; None if it is at none of them.

    >>> level_name("curio", "champion:simulations=1000")
    'Strong'
    """
    return next((level for level, known in LEVELS.items() if known == agent), None)


def form_choices(name: str, options: Sequence[str] = ()) -> dict[str, list[str]]:
    """Return, for each option with few values, the values compatible with the given options (`NAME=VALUE`)."""
    make_registered_game(name, {})  # a page names no module
    game_class = find_game(name)
    values = choices_given(game_class, parse_options(name, options, options_of(game_class)))
    return {option: list(map(typed, allowed)) for option, allowed in values.items()}


@cache
def form_picture(name: str, theme: str) -> str:
    """Return a set-up of the game `name` as SVG, which compiles some of its rules."""
    game = make_game(name)
    return board_svg(game.scene(game.view(game.init(1, np.random.default_rng(1)), 0)), theme)


def friendly_name(agent: str) -> str:
    """Return a readable name of an agent.

    >>> friendly_name("mcts:simulations=1000"), friendly_name("random"), friendly_name("mcts:c=2")
    ('Search, 1,000 simulations', 'Random', 'mcts:c=2')
    """
    kind, _, settings = agent.partition(":")
    found = re.fullmatch(r"(simulations|seconds)=([0-9]+|[0-9]+\.[0-9]+)", settings)
    kind = {"mcts": "Search", "ismcts": "Search", "champion": "Champion"}.get(kind, "")
    if kind and found:
        unit, amount = found.groups()
        return f"{kind}, {amount} s a move" if unit == "seconds" else f"{kind}, {int(float(amount)):,} simulations"
    return agent.capitalize() if agent in (PERSON, "random", "greedy", "champion") else agent


def parse_start(message: Message, hint: str | None, limits: Limits | None = None) -> Start:
    """Read a message that starts a game.

    Args:
        message: With "game", "options", "players", "seed" and "clock" (as `TimeControl.parse` reads it), and of a
            position's link "board" and "moves".
        hint: The adviser's name.
        limits: The limits on agents; None for no limits.

    Raises:
        ValueError: If a value is wrong, or an agent is not allowed or exceeds a limit.
    """
    name = text_of(message, "game")
    make_registered_game(name, {})  # a page names no module
    game = parse_game(name, texts_of(message, "options"))
    players = seats(game, texts_of(message, "players"))
    for player in players:
        if limits is not None:
            limits.check(player, game)
    seed = text_of(message, "seed", "").strip()
    if seed and not (seed.isascii() and seed.isdigit()):
        raise ValueError(f"seed is {seed!r}: expected an integer from 0 up, or nothing")
    board, moves = (text_of(message, part, "", LONGEST_POSITION) for part in ("board", "moves"))
    number = int(seed) if seed else None
    clock = text_of(message, "clock", "").strip()
    control = TimeControl.parse(clock) if clock else None
    moves_given = tuple(moves.split())
    return Start(game, players, number, board or None, moves_given, hint, bool(board or moves), control)


def text_of(message: Message, key: str, default: str | None = None, longest: int = MAX_TEXT_LENGTH) -> str:
    """Return the text under `key` of a message, or `default`; ValueError if it is not a text or too long."""
    text = message.get(key, default)
    if not isinstance(text, str) or len(text) > longest:
        raise ValueError(f"{key!r} is {str(text)[:MAX_TEXT_LENGTH]!r}: expected a text of at most {longest} characters")
    return text


def number_of(message: Message, key: str, highest: int) -> int:
    """Return the integer from 0 to `highest` under `key` of a message; ValueError for any other value."""
    number = message.get(key)
    if not isinstance(number, int) or isinstance(number, bool) or not 0 <= number <= highest:
        raise ValueError(f"{key!r} is {str(number)[:MAX_TEXT_LENGTH]!r}: expected an integer from 0 to {highest}")
    return number


def texts_of(message: Message, key: str) -> list[str]:
    """Return the list of texts under `key` of a message; ValueError for any other value."""
    texts = message.get(key, [])
    if not isinstance(texts, list) or len(texts) > MAX_TEXT_LENGTH:
        raise ValueError(f"{key!r} is {str(texts)[:MAX_TEXT_LENGTH]!r}: expected a list of texts")
    return [text_of({key: text}, key) for text in texts]
