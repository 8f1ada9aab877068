"""Who plays whom, from which openings and seats, in which batches.

Every opening is played from every seating: in a game of two, A against B and B against A; in a game of three, all six
orders of three agents. (Rotations would do for the luck of moving first. But in a game of three it also matters who
moves after whom, and only all the orders let each agent follow each other one equally often.) Fewer agents than seats
take turns at the double seats: AAB, ABA, BAA, ABB, BAB, BBA.

The schedule, batches included, follows from the tournament alone: so do the games, whoever plays them and when.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import combinations, product

import numpy as np

from pbm_envs import Game
from pbm_envs.records import GameRecord

from ..names import make_agent
from .match import Opening, ask, play_games

ROUND_ROBIN, GAUNTLET, PAIRS = FORMS = ("round-robin", "gauntlet", "pairs")
TRIES = 1000
MOST_OPENINGS = 1_000_000
"""The schedule is made before the first game is played."""


@dataclass(frozen=True)
class Tournament:
    """What determines all games of a tournament."""

    games: tuple[Game, ...]
    agents: tuple[str, ...]
    """As `make_agent` reads them."""
    form: str = ROUND_ROBIN
    """Everyone meets everyone ("round-robin"), or the first meets all others ("gauntlet"), or the first meets the
    second, the third the fourth and so on ("pairs")."""
    openings: int = 10
    """Openings of each game on each board; they are the same for all who meet."""
    boards: tuple[str, ...] = ()
    """Board texts to start from, instead of those that the seeds draw."""
    opening_moves: int = 0
    """Random moves before the agents take over."""
    seed: int = 0
    """The openings have the seeds `seed`, `seed` + 1, ..."""
    batch: int = 32
    """Games played at once, which are written at once: so many, in whole openings, can be lost by killing."""

    def __post_init__(self) -> None:
        """ValueError unless all games, agents, boards and numbers are possible."""
        if not self.games:
            raise ValueError("there is no game: expected at least one")
        if len(set(self.games)) < len(self.games):
            raise ValueError(f"games are {self.games!r}: expected each only once")
        if len(self.agents) < 2 or len(set(self.agents)) < len(self.agents):
            raise ValueError(f"agents are {', '.join(self.agents) or 'none'}: expected at least two, each only once")
        if self.form not in FORMS:
            raise ValueError(f"form is {self.form!r}: expected one of {', '.join(FORMS)}")
        if self.form == PAIRS and len(self.agents) % 2:
            raise ValueError(f"pairs of {len(self.agents)} agents: expected an even number")
        for name, low in {"openings": 1, "opening_moves": 0, "seed": 0, "batch": 1}.items():
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int):
                raise ValueError(f"{name} is {value!r}: expected an integer")
            if value < low:
                raise ValueError(f"{name} is {value}: expected at least {low}")
        if self.openings > MOST_OPENINGS:
            raise ValueError(f"openings is {self.openings}: expected at most {MOST_OPENINGS}")
        for agent in self.agents:
            make_agent(agent)

    def batches(self) -> list[Batch]:
        """The whole schedule. ValueError for an opening that cannot be set up."""
        batches: list[Batch] = []
        number = 0
        for game in self.games:
            openings = [
                draw_opening(game, self.seed + k, board, self.opening_moves)
                for board in self.boards or (None,)
                for k in range(self.openings)
            ]
            for group in groups(self.agents, self.form, game.num_players):
                seats = seatings(group, game.num_players)
                for some in chunks(openings, max(1, self.batch // len(seats))):
                    pairs = [(row, opening) for opening in some for row in seats]
                    batches.append(
                        Batch(
                            number,
                            game,
                            group,
                            seats=tuple(row for row, _ in pairs),
                            openings=tuple(opening for _, opening in pairs),
                            seed=(self.seed, number),
                        )
                    )
                    number += len(pairs)
        return batches


@dataclass(frozen=True)
class Batch:
    """Games of the same agents that are played together: the unit of work."""

    number: int
    """Of the first game; the others follow."""
    game: Game
    agents: tuple[str, ...]
    seats: tuple[tuple[str, ...], ...]
    openings: tuple[Opening, ...]
    seed: tuple[int, int]

    def __len__(self) -> int:
        return len(self.openings)

    def play(self) -> list[GameRecord]:
        """With new agents, so that what they remember of other games plays no part."""
        for name in self.agents:
            warm_up(name, self.game)
        agents = {name: make_agent(name) for name in self.agents}
        return play_games(self.game, agents, self.seats, self.openings, self.seed, self.number)


@cache
def warm_up(name: str, game: Game) -> None:
    """Ask an agent of this name once, so that loading and compiling do not count as thinking; once a process."""
    rng = np.random.default_rng(0)
    state = game.init(1, rng)
    ask(make_agent(name), game, game.view(state, state["to_move"]), rng)


def groups(agents: tuple[str, ...], form: str, players: int) -> list[tuple[str, ...]]:
    """Those who meet.

    >>> groups(("a", "b", "c"), "round-robin", 2)
    [('a', 'b'), ('a', 'c'), ('b', 'c')]
    >>> groups(("a", "b", "c", "d"), "gauntlet", 3)
    [('a', 'b', 'c'), ('a', 'b', 'd'), ('a', 'c', 'd')]
    >>> groups(("a", "b", "c", "d"), "pairs", 3)
    [('a', 'b'), ('c', 'd')]
    """
    size = min(players, len(agents))
    if form == PAIRS:
        return list(zip(agents[::2], agents[1::2], strict=True))
    if form == GAUNTLET:
        return [(agents[0], *others) for others in combinations(agents[1:], size - 1)]
    return list(combinations(agents, size))


def seatings(group: tuple[str, ...], players: int) -> list[tuple[str, ...]]:
    """Every way to fill the seats so that each of the group has one.

    >>> seatings(("a", "b"), 2)
    [('a', 'b'), ('b', 'a')]
    >>> len(seatings(("a", "b", "c"), 3)), len(seatings(("a", "b"), 3))
    (6, 6)
    """
    return [seats for seats in product(group, repeat=players) if len(set(seats)) == len(group)]


def chunks(openings: list[Opening], size: int) -> Iterator[list[Opening]]:
    for k in range(0, len(openings), size):
        yield openings[k : k + size]


def draw_opening(game: Game, seed: int, board: str | None, moves: int) -> Opening:
    """The opening of this seed, with so many random moves, none of which resigns or ends the game."""
    if moves >= game.max_plies:
        raise ValueError(f"opening_moves is {moves}: {game!r} is over after {game.max_plies} plies at most")
    rng = np.random.default_rng((seed, 1))
    for _ in range(TRIES):
        texts: list[str] = []
        state = Opening(seed, board).position(game)[1]
        while len(texts) < moves and not state["done"][0]:
            mask = game.legal_action_mask(state)[0]
            if game.resign >= 0:
                mask[game.resign] = False
            action = int(rng.choice(np.flatnonzero(mask)))
            texts.append(game.action_to_string(action))
            game.step(state, [action])
        if not state["done"][0]:
            return Opening(seed, board, tuple(texts))
    raise ValueError(f"opening_moves is {moves}: in {TRIES} tries {game!r} was over by then")
