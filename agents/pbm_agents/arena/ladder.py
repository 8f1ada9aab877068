"""Frozen, rated ladders: fixed opponents with fixed ratings, so that ratings can be compared.

    ladder = load_ladder("chameleon-11")
    print(ladder.id, [(rung.name, round(rung.elo)) for rung in ladder.rungs])

A ladder is for one game with fixed options. Its opponents (rungs) are agent names with every setting spelt out; their
ratings come from one tournament whose games are in the repository (`benchmarks/ladders.py`), with `random` at 0. A
version never changes: different opponents, settings or ratings get a new version. Tests replay some moves of every
rung, so that a change in the search that would shift the scale is noticed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import Any

import numpy as np

from pbm_envs import Game
from pbm_envs.foreign import SCALAR, check_fields, parse_object, registered_game
from pbm_envs.toolbox import quoted

from ..players.names import make_agent
from .openings import Opening

NAME = re.compile(r"(?:ladder/)?(?P<name>[\w-]+?)(?:[/-]v(?P<version>\d+))?")

NUMBER = (int, float)
LADDER = {
    "id": str,
    "game": str,
    "options": {str: SCALAR},
    "opening_moves": int,
    "rungs": [dict],
    "tournament": dict,
    "pins": [dict],
}
RUNG = {"name": str, "agent": str, "elo": NUMBER, "low": NUMBER, "high": NUMBER, "games": int}
PIN = {"agent": str, "board": (str, type(None)), "opening": [str], "seed": int, "moves": [str]}
"""JSON types of the fields of a ladder, its rungs and its pins."""


@dataclass(frozen=True)
class Rung:
    """An opponent and its rating."""

    name: str
    """A short name, such as `1,000 simulations`."""
    agent: str
    """The agent name, for `make_agent`."""
    elo: float
    """Elo points above `random`."""
    low: float
    """The lower end of the 95% interval of `elo`; `high` is the upper one."""
    high: float
    games: int
    """Number of games played in the ladder's tournament."""


@dataclass(frozen=True)
class Pin:
    """The start of a game of a rung against itself, which must never change."""

    agent: str
    board: str | None
    opening: tuple[str, ...]
    """The moves before the rung takes over."""
    seed: int
    moves: tuple[str, ...]
    """The moves that the rung plays: the whole game, or only its start if the rung is slow."""


@dataclass(frozen=True)
class Ladder:
    """The rungs from weak to strong, and the source of their ratings."""

    name: str
    version: int
    game: Game
    opening_moves: int
    """Number of random moves in each opening."""
    rungs: tuple[Rung, ...]
    pins: tuple[Pin, ...] = field(default=(), repr=False)
    tournament: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """The tournament behind the ratings: settings, results of every pair, and the fit of one scale to them."""

    @property
    def id(self) -> str:
        """The identifier to quote with every rating, such as `ladder/chameleon-11/v1`."""
        return f"ladder/{self.name}/v{self.version}"

    def to_json(self) -> str:
        """Return the ladder as JSON text."""
        data = {
            "id": self.id,
            "game": self.game.name,
            "options": dict(self.game.options),
            "opening_moves": self.opening_moves,
            "rungs": [vars(rung) for rung in self.rungs],
            "tournament": dict(self.tournament),
            "pins": [vars(pin) for pin in self.pins],
        }
        return json.dumps(data, indent=1, ensure_ascii=False) + "\n"


def ladder_of_json(text: str) -> Ladder:
    """Return the ladder in a JSON text; ValueError if the text holds anything else."""
    data = parse_object(text, "a ladder")
    check_fields(data, LADDER, "a ladder")
    for name, kinds in (("rungs", RUNG), ("pins", PIN)):
        for part in data[name]:
            check_fields(part, kinds, f"the {name} of a ladder")
    found = NAME.fullmatch(data["id"][:100])
    if found is None or found["version"] is None:
        raise ValueError(f"id is {quoted(data['id'])}: expected one such as 'ladder/chameleon-11/v1'")
    return Ladder(
        name=found["name"],
        version=int(found["version"]),
        game=registered_game(data["game"], data["options"]),
        opening_moves=data["opening_moves"],
        rungs=tuple(Rung(**rung) for rung in data["rungs"]),
        pins=tuple(
            Pin(**pin | {"opening": tuple(pin["opening"]), "moves": tuple(pin["moves"])}) for pin in data["pins"]
        ),
        tournament=data["tournament"],
    )


@cache
def ladders() -> Mapping[str, Ladder]:
    """Return all ladders by id, the newest version of each first.

    >>> "ladder/trinim-5/v1" in ladders()
    True
    """
    folder = resources.files("pbm_agents.arena") / "ladders"
    texts = [file.read_text(encoding="utf-8") for file in folder.iterdir() if file.name.endswith(".json")]
    found = sorted(map(ladder_of_json, texts), key=lambda ladder: (ladder.name, -ladder.version))
    return {ladder.id: ladder for ladder in found}


def load_ladder(which: str | Game) -> Ladder:
    """Return the ladder with a name or id (`chameleon-11`, `ladder/chameleon-11/v1`), or for a game with its options.

    Raises:
        ValueError: There is no such ladder.
    """
    known = ladders()
    if isinstance(which, Game):
        fitting = [ladder for ladder in known.values() if ladder.game == which]
        expected = f"one of {', '.join(sorted({repr(each.game) for each in known.values()}))}"
    else:
        found = NAME.fullmatch(which)
        name, version = (found["name"], found["version"]) if found else ("", None)
        fitting = [
            ladder
            for ladder in known.values()
            if ladder.name == name and (version is None or ladder.version == int(version))
        ]
        expected = f"one of {', '.join(known)}"
    if not fitting:
        raise ValueError(f"there is no ladder for {which!r}: expected {expected}")
    return fitting[0]


def play_pin(game: Game, pin: Pin, most: int) -> tuple[str, ...]:
    """Return the first `most` moves that a pin's rung plays with the current code."""
    rng, player = np.random.default_rng(pin.seed), make_agent(pin.agent)
    _, state = Opening(pin.seed, pin.board, pin.opening).position(game)
    moves: list[str] = []
    while len(moves) < most and not state["done"][0]:
        action = int(player.act(game, game.view(state, state["to_move"]), rng)[0])
        moves.append(game.action_to_string(action))
        game.step(state, [action])
    return tuple(moves)
