"""The schedule of a tournament: pairings, openings, seats and batches.

Every opening is played from every seating: with two players, A against B and B against A; with three, all six orders of
three agents. (Rotations would balance the advantage of moving first, but with three players it also matters who moves
after whom, and only all six orders let each agent follow every other equally often.) If there are fewer agents than
seats, each takes every double seat: AAB, ABA, BAA, ABB, BAB, BBA. With hidden information, each of these games has its
own set-up (`openings`).

The tournament alone determines the schedule, including the batches, and the games, whichever process plays them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations, product
from typing import Any, NamedTuple

import numpy as np

from pbm_envs import Game, __version__
from pbm_envs.records import GameRecord
from pbm_envs.toolbox import check_settings, derive, describe_error, printable, quoted, setting

from ..common.faults import InfrastructureError
from ..players.agent import AnyAgent, RandomAgent
from ..players.names import make_agent
from .asking import FaultError, UsesResources, ask
from .match import Question, Report, SoFar, play_games
from .openings import Opening, seated_openings

ROUND_ROBIN, GAUNTLET, PAIRS, NEIGHBOURS = FORMS = ("round-robin", "gauntlet", "pairs", "neighbours")
"""Forms of a tournament: every agent plays every other; the first agent plays all others; the first plays the second,
the third the fourth, and so on; each agent plays those near it in the list."""
REACH = 3
"""The greatest distance in the list between two neighbours."""
MOST_OPENINGS = 1_000_000
"""Limit on the openings, because the whole schedule is made before the first game."""
SCHEMA = 1
"""Schema version of `tournament.json`."""


@dataclass(frozen=True)
class Tournament:
    """The settings of a tournament, which determine all of its games."""

    games: tuple[Game, ...] = setting(help="A game with its options. Repeat it for more games.")
    agents: tuple[str, ...] = setting(help="An agent by name. Give at least two.")
    form: str = setting(
        ROUND_ROBIN,
        choices=FORMS,
        help="Pairing. round-robin: each agent plays each other agent. gauntlet: the first agent plays each of the "
        "others. pairs: the first agent plays the second, the third plays the fourth, and so on. neighbours: each "
        f"agent plays those up to {REACH} places away, for agents given in the order of strength.",
    )
    openings: int = setting(
        10,
        low=1,
        high=MOST_OPENINGS,
        help="Openings per game, or per board. Each opening is played from all seats. With hidden information, each "
        "game of an opening has a set-up of its own.",
    )
    boards: tuple[str, ...] = setting(
        (),
        help="Board text to start from, instead of drawn set-ups; can be repeated. Agents play it from all seats, so "
        "it hides nothing from them.",
    )
    opening_moves: int = setting(0, low=0, help="Random moves at the start of each opening.")
    seed: int = setting(0, low=0, help="Seed of the first opening. Each further opening adds 1.")
    key: str = setting(
        "",
        help="Secret from which the random numbers of openings and agents are derived, so that no agent can compute "
        "what is hidden. The same key makes the same games (default: the folder's key, or a new one).",
    )
    batch: int = setting(32, low=1, help="Games that are played and written together, rounded to whole openings.")
    move_seconds: float | None = setting(
        None,
        low=1e-9,
        help="Time limit per move. An agent that exceeds it forfeits the game; for several games at once, the limits "
        "add up. Games are then played in worker processes (default: no limit).",
    )

    def __post_init__(self) -> None:
        """Raise ValueError unless all games, agents, boards and numbers are valid."""
        check_settings(self)
        if not isinstance(self.games, (tuple, list)) or not all(isinstance(game, Game) for game in self.games):
            raise ValueError(f"games are {quoted(self.games)}: expected a tuple of games")
        if not self.games:
            raise ValueError("there is no game: expected at least one")
        if len(set(self.games)) < len(self.games):
            raise ValueError(f"games are {quoted(self.games)}: expected each only once")
        if len(self.agents) < 2 or len(set(self.agents)) < len(self.agents):
            raise ValueError(
                f"agents are {printable(', '.join(self.agents)) or 'none'}: expected at least two, each only once"
            )
        if self.form == PAIRS and len(self.agents) % 2:
            raise ValueError(f"pairs of {len(self.agents)} agents: expected an even number")
        for agent in self.agents:
            make_agent(agent)

    def batches(self, key: str | None = None) -> list[Batch]:
        """Return the whole schedule, with this key if given. Raises ValueError for an invalid opening."""
        key = self.key if key is None else key
        batches: list[Batch] = []
        number = 0
        for game in self.games:
            starts = [(board, self.seed + k) for board in self.boards or (None,) for k in range(self.openings)]
            for group in groups(self.agents, self.form, game.num_players):
                at_once = max(1, self.batch // len(seatings(group, game.num_players)))
                for k in range(0, len(starts), at_once):
                    batches.append(
                        make_batch(number, game, group, starts[k : k + at_once], self.seed, key, self.opening_moves)
                    )
                    number += len(batches[-1])
        return batches

    def plan(self) -> Plan:
        """Return the plan for a folder."""
        settings = {name: value for name, value in vars(self).items() if name not in ("games", "agents")}
        settings["boards"] = list(self.boards)
        return Plan(self.games, self.agents, settings, lambda key: [self.batches(key)])


class Plan(NamedTuple):
    """The plan of the games played in a folder."""

    games: Sequence[Game]
    agents: Sequence[str]
    settings: Mapping[str, Any]
    """Everything else that the games depend on, as JSON data. An empty "key" stands for the folder's key."""
    rounds: Callable[[str], Iterable[Sequence[Batch]]]
    """Yields rounds of batches, given the key; a round is played before the next one is requested."""
    open_ended: bool = False
    """True if the results decide the number of games."""

    def command(self) -> dict[str, Any]:
        """Return the content of `tournament.json`."""
        games = [{"game": game.name, "options": dict(game.options)} for game in self.games]
        about = {"schema": SCHEMA, "version": __version__}
        return {**about, "games": games, "agents": list(self.agents), **self.settings}


@dataclass(frozen=True)
class Unplayed:
    """The games of a batch ended by a fault of the infrastructure; none of them has a record."""

    number: int
    """The number of the first game."""
    count: int
    agent: str
    """The agent that was being asked or created."""
    reason: str


@dataclass(frozen=True)
class Batch:
    """Games of the same agents that are played together; the unit of work."""

    number: int
    """The number of the first game; the others are consecutive."""
    game: Game
    agents: tuple[str, ...]
    seats: tuple[tuple[str, ...], ...]
    openings: tuple[Opening, ...]
    seed: int

    def __len__(self) -> int:
        return len(self.openings)

    def play(self, report: Report = lambda message: None, so_far: SoFar | None = None) -> list[GameRecord] | Unplayed:
        """Play with new agents, which remember no other games; after a fault, return what is unplayed and why."""
        so_far, agents = so_far or SoFar(), dict[str, AnyAgent]()
        try:
            for name in self.agents:
                if name in so_far.excluded:
                    agents[name] = RandomAgent()  # never asked: it forfeits its games
                    continue
                report(Question(name, ()))
                warm_up(name, self.game)
                agents[name] = _made(name)
                report(())
            games = (self.game, agents, self.seats, self.openings, self.seed, self.number)
            return play_games(*games, report=report, so_far=so_far)
        except FaultError as fault:
            return Unplayed(self.number, len(self), fault.agent, fault.reason)


def make_batch(
    number: int,
    game: Game,
    group: tuple[str, ...],
    starts: Sequence[tuple[str | None, int]],
    seed: int,
    key: str,
    opening_moves: int,
) -> Batch:
    """Return a batch, numbered from `number`, in which each start is played from every seating of the group.

    `starts` are as in `seated_openings`; `seed`, that of the schedule, determines the agents' random numbers.
    """
    rows = seatings(group, game.num_players)
    openings = seated_openings(game, rows, starts, number, key=key, moves=opening_moves)
    seats = tuple(rows * len(starts))
    return Batch(number, game, group, seats, tuple(openings), derive(key, "agents", seed, number))


def _made(name: str) -> AnyAgent:
    """Create an agent. It was created once when the tournament began, so a failure is a fault, not the agent's."""
    try:
        return make_agent(name)
    except Exception as error:
        raise FaultError(name, describe_error(error)) from error


@cache
def warm_up(name: str, game: Game) -> None:
    """Ask an agent of this name once per process, so that loading and compiling do not count as thinking time.

    Agents whose answers have a cost are not asked.
    """
    rng, agent = np.random.default_rng(0), _made(name)
    if isinstance(agent, UsesResources):
        return
    state = game.init(1, rng)
    try:
        ask(agent, game, game.view(state, state["to_move"]), rng)
    except InfrastructureError as fault:
        raise FaultError(name, str(fault)) from fault


def groups(agents: tuple[str, ...], form: str, players: int) -> list[tuple[str, ...]]:
    """Return the groups of agents that play each other.

    >>> groups(("a", "b", "c"), "round-robin", 2)
    [('a', 'b'), ('a', 'c'), ('b', 'c')]
    >>> groups(("a", "b", "c", "d"), "gauntlet", 3)
    [('a', 'b', 'c'), ('a', 'b', 'd'), ('a', 'c', 'd')]
    >>> groups(("a", "b", "c", "d"), "pairs", 3)
    [('a', 'b'), ('c', 'd')]
    >>> len(groups(("a", "b", "c", "d", "e"), "neighbours", 2))
    9
    """
    size = min(players, len(agents))
    if form == PAIRS:
        return list(zip(agents[::2], agents[1::2], strict=True))
    if form == GAUNTLET:
        return [(agents[0], *others) for others in combinations(agents[1:], size - 1)]
    if form == NEIGHBOURS:
        near = [some for some in combinations(range(len(agents)), size) if some[-1] - some[0] <= REACH]
        # Ordered by the later agent, so that appending an agent adds games and changes none.
        return [tuple(agents[k] for k in some) for some in sorted(near, key=lambda some: some[::-1])]
    return list(combinations(agents, size))


def seatings(group: tuple[str, ...], players: int) -> list[tuple[str, ...]]:
    """Return every way to fill the seats so that each agent of the group has one.

    >>> seatings(("a", "b"), 2)
    [('a', 'b'), ('b', 'a')]
    >>> len(seatings(("a", "b", "c"), 3)), len(seatings(("a", "b"), 3))
    (6, 6)
    """
    return [seats for seats in product(group, repeat=players) if len(set(seats)) == len(group)]
