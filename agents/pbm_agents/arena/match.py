"""Games played simultaneously; each agent is asked about all games in which it is to move (`asking`).

Questions and answers can be reported as they happen, so that another process can resume after one dies (`workers`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, NamedTuple, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from pbm_envs import Game
from pbm_envs.authoring import check_range
from pbm_envs.envs.memory import AgentWithMemory, new_ids, watches
from pbm_envs.records import RESIGN, Forfeit, GameRecord, make_record
from pbm_envs.toolbox import check_game, quoted, stream

from ..common.faults import InfrastructureError
from ..players.agent import AnyAgent, Views
from .asking import Failure, FaultError, answers_of, ask_or_fault, begin_games, tell, usage_of, warn
from .openings import Opening, check_openings


class Question(NamedTuple):
    """An agent about to be asked, and the rows of its games; no rows while it is being loaded, or observes games."""

    agent: str
    rows: tuple[int, ...]


class Answer(NamedTuple):
    """An answer of the player to move: an action, the reason for a forfeit, or None after a fault."""

    row: int
    mover: int
    answer: int | str | None
    seconds: float
    usage: Mapping[str, float] = {}
    """The cost of the answer, as `UsesResources` reports it."""


Report: TypeAlias = Callable[[Question | Sequence[Answer]], None]
"""Called with each question before it is asked, and with the answers, none if the agent has only been told something.
An exception in it ends the batch."""


@dataclass
class SoFar:
    """The answers in a batch so far, from which another process resumes, and the restrictions it must apply."""

    answers: list[Answer] = field(default_factory=list)
    alone: set[str] = field(default_factory=set)
    """Agents that must be asked about one game at a time."""
    sentences: dict[int, str] = field(default_factory=dict)
    """Rows in which the player to move forfeits, with the reasons."""
    excluded: dict[str, str] = field(default_factory=dict)
    """Agents that forfeit all of their unfinished games, with the reasons."""
    restarts: int = 0


def play_games(
    game: Game,
    agents: Mapping[str, AnyAgent],
    seats: Sequence[Sequence[str]],
    openings: Sequence[Opening],
    seed: int | Sequence[int],
    first_number: int = 0,
    *,
    report: Report = lambda message: None,
    so_far: SoFar | None = None,
) -> list[GameRecord]:
    """Play game b from `openings[b]`, with `agents[seats[b][k]]` as `player_k`, and return the records.

    The same call plays the same games if the agents depend only on their arguments (and not on a clock, for example).
    Other batches have different games.

    Args:
        game: The rules.
        agents: The agents by name.
        seats: For each game, the agent names by seat.
        openings: One opening per game; with hidden information, no set-up may occur twice.
        seed: Seed of the agents, each of which has its own generator. An agent could find the seeds of openings by
            trying all small numbers; `Tournament.key` prevents that.
        first_number: The number of the first record; the others are consecutive.
        report: Called with questions and answers.
        so_far: The answers from which to resume.

    Raises:
        InfrastructureError: A fault kept an agent from answering; there are no records.
        ValueError: Two games with hidden information share a set-up (`check_openings`), a seat has no agent, or the
            seed is not an integer from 0 up or a list of such.
    """
    check_game(game)
    check_openings(game, openings)
    _check_seats(game, agents, seats, openings)
    so_far = so_far or SoFar()
    games = GamesInPlay(game, agents, seats, openings, _generators(seed, len(agents), so_far.restarts), report)
    try:
        games.begin(first_number)
        games.play(so_far.answers, remind=True)
        while not games.states["done"].all():
            games.ask_each_agent(so_far)
    finally:
        games.end()
    return games.records(first_number)


def _check_seats(
    game: Game, agents: Mapping[str, AnyAgent], seats: Sequence[Sequence[str]], openings: Sequence[Opening]
) -> None:
    def is_row(row: object) -> bool:
        names = row if isinstance(row, (list, tuple)) else ()
        return len(names) == game.num_players and all(isinstance(name, str) and name in agents for name in names)

    if not isinstance(seats, (list, tuple)) or not seats or len(seats) != len(openings) or not all(map(is_row, seats)):
        expected = f"{game.num_players} names for each of {len(openings)} openings, out of {', '.join(agents)}"
        raise ValueError(f"seats are {quoted(seats)}: expected {expected}")


@final
class GamesInPlay:
    """Games that are played simultaneously, with the data for their records."""

    def __init__(
        self,
        game: Game,
        agents: Mapping[str, AnyAgent],
        seats: Sequence[Sequence[str]],
        openings: Sequence[Opening],
        generators: Sequence[np.random.Generator],
        report: Report,
    ) -> None:
        """Set up the games. Takes the arguments of `play_games`, with a generator for each agent."""
        self._game, self._agents, self._seats, self._openings = game, agents, seats, openings
        self._generators, self._report = generators, report
        starts, positions = zip(*(opening.position(game) for opening in openings), strict=True)
        self._starts: Sequence[Views] = starts
        self.states: Views = np.concatenate(positions)
        """(B,) the positions, updated in place."""
        self._moves = [list(opening.moves) for opening in openings]
        self._forfeits: list[list[Forfeit]] = [[] for _ in openings]
        self._turns, self._seconds = np.zeros((2, len(openings), game.num_players))
        self._usage = [[Counter[str]() for _ in range(game.num_players)] for _ in openings]
        names = list(agents)
        self._owners = np.array([[names.index(name) for name in row] for row in seats])
        """(B, P) the index of the agent in each seat."""
        self._ids = new_ids(self._owners.size).reshape(self._owners.shape)
        """(B, P) the identifier of each seat of each game for agents with memory."""
        self._watchers = [name for name, agent in agents.items() if watches(agent)]
        self._failures = dict[tuple[int, int], Failure]()
        """Why agents failed outside `act`, by row and seat, until they are to move there."""

    def begin(self, first_number: int = 0) -> None:
        """Notify agents with memory that the games begin, and send the positions of the openings to observing agents.

        Agents that keep a log get the numbers of the records, which are counted from `first_number`.
        """
        numbers = np.repeat(first_number + np.arange(len(self.states)), self._game.num_players)
        for k, (name, agent) in enumerate(self._agents.items()):
            own = self._owners == k
            if isinstance(agent, AgentWithMemory):
                with self._reported(name):
                    if (failure := begin_games(agent, self._game, self._ids[own], numbers[own.ravel()])) is not None:
                        self._failures.update(((row, seat), failure) for row, seat in np.argwhere(own).tolist())
        if self._watchers:
            for row, opening in enumerate(self._openings):
                for state in opening.positions(self._game):
                    self._show(row, state)

    def end(self) -> None:
        """Notify agents with memory that the games have ended, and warn of failures that came too late for them."""
        late = {self._seats[row][seat]: failure for (row, seat), failure in self._failures.items()}
        for k, (name, agent) in enumerate(self._agents.items()):
            if isinstance(agent, AgentWithMemory):
                with self._reported(name):
                    failure = tell(agent.end_games, self._ids[self._owners == k])
                if (failure := failure or late.get(name)) is not None:
                    warn(name, failure)

    def ask_each_agent(self, so_far: SoFar) -> None:
        """Ask each agent in turn about the games in which it is then to move, and play its answers."""
        every_row = np.arange(len(self.states))
        for k, name in enumerate(self._agents):
            to_move = self.states["to_move"]
            rows = np.flatnonzero(~self.states["done"] & (self._owners[every_row, to_move] == k))
            reasons = {
                row: so_far.excluded.get(name)
                or so_far.sentences.pop(row, "")
                or self._failures.pop((row, int(to_move[row])), "")
                for row in rows.tolist()
            }
            for reason in reasons.values():
                if isinstance(reason, InfrastructureError):
                    raise FaultError(name, str(reason)) from reason
            forfeits = [Answer(row, int(to_move[row]), str(reason), 0.0) for row, reason in reasons.items() if reason]
            self._report_and_play(forfeits)
            rows = rows[[not reasons[row] for row in rows.tolist()]]
            for some in np.split(rows, len(rows)) if len(rows) and name in so_far.alone else [rows]:
                if len(some):
                    answers, fault = self._answers_about(some, k, name)
                    self._report_and_play(answers)
                    if fault is not None:
                        raise FaultError(name, str(fault)) from fault

    def _answers_about(
        self, rows: NDArray[np.int64], k: int, name: str
    ) -> tuple[list[Answer], InfrastructureError | None]:
        """Ask agent k about games in which it is to move; return its answers, and a fault if one occurred."""
        agent, movers = self._agents[name], self.states["to_move"][rows]
        ids, views = self._ids[rows, movers], self._game.view(self.states[rows], movers)

        def asks(some: list[int]) -> None:
            self._report(Question(name, tuple(rows[some].tolist())))

        began = perf_counter()
        answers = ask_or_fault(agent, self._game, views, self._generators[k], asks, ids)
        each = (perf_counter() - began) / len(rows)
        fault = next((answer for answer in answers if isinstance(answer, InfrastructureError)), None)
        return [
            Answer(row, mover, None if isinstance(answer, InfrastructureError) else answer, each, used)
            for row, mover, answer, used in zip(
                rows.tolist(), movers.tolist(), answers, usage_of(agent, ids), strict=True
            )
        ], fault

    @contextmanager
    def _reported(self, name: str) -> Iterator[None]:
        """Report that an agent is being called about no question, and that it is done."""
        self._report(Question(name, ()))
        yield
        self._report(())

    def _report_and_play(self, answers: Sequence[Answer]) -> None:
        if answers:
            self._report(answers)
            self.play(answers)

    def play(self, answers: Sequence[Answer], *, remind: bool = False) -> None:
        """Play answers in the order in which they arrived, and record them.

        With `remind`, the answers came from another process: agents with memory that do not observe are asked again
        before each of their moves, to restore their memory.
        """
        game = self._game
        for row, mover, answer, took, used in answers:
            state, moves = self.states[row : row + 1], self._moves[row]
            self._seconds[row, mover] += took
            self._usage[row][mover].update(used)
            if answer is None:
                continue
            if remind:
                self._remind(row, mover)
            self._turns[row, mover] += 1
            if isinstance(answer, int):
                moves.append(game.action_to_string(answer))
                game.step(state, [answer])
                self._show(row, state)
            else:
                moves.append(RESIGN)
                game.remove_player(state)
                self._forfeits[row].append(Forfeit(len(moves), mover, answer))
                self._show(row, state, f"player_{mover} has forfeited the game")

    def _remind(self, row: int, mover: int) -> None:
        """Ask the agent to move about a position whose answer is known, if it has a memory and does not observe."""
        name = self._seats[row][mover]
        agent = self._agents[name]
        if isinstance(agent, AgentWithMemory) and name not in self._watchers:
            view = self._game.view(self.states[row : row + 1], mover)
            with self._reported(name):
                ids = self._ids[row, mover : mover + 1]
                answers = answers_of(agent, self._game, view, np.random.default_rng(0), ids)
            if not isinstance(answers, list):
                self._failures.setdefault((row, mover), answers)

    def _show(self, row: int, state: Views, note: str | None = None) -> None:
        """Send a position of a game to its observing agents, with a note about other events."""
        for seat, name in enumerate(self._seats[row]):
            agent = self._agents[name]
            if name in self._watchers and isinstance(agent, AgentWithMemory):
                view = self._game.view(state, seat)
                with self._reported(name):
                    failure = tell(agent.watch, self._game, view, self._ids[row, seat : seat + 1], note)
                if failure is not None:
                    self._failures.setdefault((row, seat), failure)

    def records(self, first_number: int) -> list[GameRecord]:
        """Return the records of the finished games, numbered from `first_number`."""
        return [
            make_record(
                self._game,
                self._starts[row],
                self._moves[row],
                self.states[row : row + 1],
                self._forfeits[row],
                agents=tuple(self._seats[row]),
                seed=opening.seed,
                opening=len(opening.moves),
                turns=tuple(self._turns[row].astype(int).tolist()),
                seconds=tuple(self._seconds[row].round(6).tolist()),
                usage=tuple({name: round(one[name], 9) for name in one} for one in used) if any(used) else (),
                number=first_number + row,
            )
            for row, (opening, used) in enumerate(zip(self._openings, self._usage, strict=True))
        ]


def _generators(seed: int | Sequence[int], count: int, restarts: int) -> list[np.random.Generator]:
    """Return the agents' generators, from which no other seed can be computed.

    A restart gets new generators, because the numbers that an agent has already drawn are unknown.
    """
    numbers: Sequence[Any] = seed if isinstance(seed, (list, tuple)) else [seed]
    for number in numbers:
        check_range("seed", number, 0)
    return [stream("", "agent", k, restarts, *map(int, numbers)) for k in range(count)]
