"""Many games at once, each agent asked about all games in which it is to move.

An agent that raises, whatever it raises, or whose action is illegal, forfeits that game (`pbm_envs.records`) and the
others go on. If a question about many games fails, the agent is asked again about each of them alone, so that one bad
position does not cost it all. A fault of the infrastructure (`InfrastructureError`, `OSError`, `MemoryError`) forfeits
nothing: it ends all of these games without a record. What is asked and answered can be reported as it happens, so that
another process can go on where one has died (`workers`).
"""

from __future__ import annotations

import signal
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from time import perf_counter
from typing import NamedTuple, Protocol, final, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from pbm_envs import Game
from pbm_envs.envs.memory import AgentWithMemory, Ids, new_ids, watches
from pbm_envs.records import MOST, RESIGN, Forfeit, GameRecord, make_record
from pbm_envs.toolbox import describe_error, stream

from ..common.faults import InfrastructureError
from ..players.agent import AnyAgent, Views
from .openings import Opening, check_openings

MOST_FAULTS = 3
"""Faults in a row, after which an agent is not asked about the other games of a question."""


class Answer(NamedTuple):
    """What the player to move in a game did: an action, why they forfeit, or None after a fault."""

    row: int
    mover: int
    answer: int | str | None
    seconds: float
    usage: Mapping[str, float] | None = None
    """What it took besides, as `UsesResources` says."""


@runtime_checkable
class UsesResources(Protocol):
    """An agent that knows what its answers cost, such as a language model's tokens: it gets into `GameRecord.usage`."""

    def take_usage(self, ids: Ids) -> Sequence[Mapping[str, float]]:
        """For each of the games `ids` (B,), what it has taken since this was last asked for, by name."""
        ...


class FaultError(InfrastructureError):
    """A fault has ended games that were being played."""

    def __init__(self, agent: str, reason: str) -> None:
        """Take the name of the agent that was being asked, or made, and the reason."""
        super().__init__(f"{agent}: {reason}")
        self.agent, self.reason = agent, reason


@runtime_checkable
class KeepsLog(Protocol):
    """An agent whose log says which game each line belongs to."""

    def number_games(self, ids: Ids, numbers: Ids) -> None:
        """Take the number of the record for each of the games `ids` (B,); called before `begin_games`."""
        ...


@dataclass
class SoFar:
    """What has been answered in a batch, from which another process goes on, and what it must mind."""

    answers: list[Answer] = field(default_factory=list)
    alone: set[str] = field(default_factory=set)
    """Agents to be asked about one game at a time."""
    sentences: dict[int, str] = field(default_factory=dict)
    """Rows in which the player to move forfeits, and why."""
    excluded: dict[str, str] = field(default_factory=dict)
    """Agents that forfeit whatever they have not finished, and why."""
    restarts: int = 0


class Reporter(Protocol):
    """Whom a batch tells what happens in it."""

    def asks(self, agent: str, rows: Sequence[int]) -> None:
        """The agent is about to be asked about these games; none: it is being loaded."""

    def answers(self, answers: Sequence[Answer]) -> None: ...


class Silence:
    """Reports to nobody."""

    def asks(self, agent: str, rows: Sequence[int]) -> None:
        pass

    def answers(self, answers: Sequence[Answer]) -> None:
        pass


def play_games(
    game: Game,
    agents: Mapping[str, AnyAgent],
    seats: Sequence[Sequence[str]],
    openings: Sequence[Opening],
    seed: int | Sequence[int],
    first_number: int = 0,
    *,
    reporter: Reporter | None = None,
    so_far: SoFar | None = None,
) -> list[GameRecord]:
    """One record a game: game b starts from `openings[b]`, and `agents[seats[b][k]]` plays `player_k` in it.

    The same call plays the same games, if the agents look at nothing but their arguments (a clock, say); the games of
    another batch are others.

    Args:
        game: The rules.
        agents: By name.
        seats: For each game the names by seat.
        openings: One a game; in a game of hidden information no set-up twice.
        seed: Of the agents: each draws from a generator of its own. With a small one, an agent that tries all of them
            can find the seeds of openings that are as small; `Tournament.key` prevents that.
        first_number: The number of the first record; the others follow.
        reporter: Told what is asked and answered.
        so_far: Go on from there.

    Raises:
        InfrastructureError: An agent could not answer because of a fault that is not its own.
        ValueError: Two games of hidden information have one set-up: `check_openings`.
    """
    check_openings(game, openings)
    so_far = so_far or SoFar()
    games = GamesInPlay(game, agents, seats, openings, _generators(seed, len(agents), so_far.restarts))
    games.begin(first_number)
    games.play(so_far.answers, remind=True)
    try:
        while not games.states["done"].all():
            games.ask_each_agent(reporter or Silence(), so_far)
    finally:
        games.end()
    return games.records(first_number)


@final
class GamesInPlay:
    """Games that are played side by side, with what is written down of each."""

    def __init__(
        self,
        game: Game,
        agents: Mapping[str, AnyAgent],
        seats: Sequence[Sequence[str]],
        openings: Sequence[Opening],
        generators: Sequence[np.random.Generator],
    ) -> None:
        """Set the games up; the arguments are those of `play_games`, with a generator for each agent."""
        self._game, self._agents, self._seats, self._openings = game, agents, seats, openings
        self._generators = generators
        starts, positions = zip(*(opening.position(game) for opening in openings), strict=True)
        self._starts: Sequence[Views] = starts
        self.states: Views = np.concatenate(positions)
        """(B,) the positions, which change in place."""
        self._moves = [list(opening.moves) for opening in openings]
        self._forfeits: list[list[Forfeit]] = [[] for _ in openings]
        self._turns, self._seconds = np.zeros((2, len(openings), game.num_players))
        self._usage = [[Counter[str]() for _ in range(game.num_players)] for _ in openings]
        names = list(agents)
        self._owners = np.array([[names.index(name) for name in row] for row in seats])
        """(B, P) which of the agents has each seat."""
        self._ids = new_ids(self._owners.size).reshape(self._owners.shape)
        """(B, P) what agents with memory know each seat of each game by."""
        self._watchers = [name for name, agent in agents.items() if watches(agent)]

    def begin(self, first_number: int = 0) -> None:
        """Tell agents with memory that the games begin, and those that watch, all positions of the openings.

        Agents that keep a log are told the numbers of the records, which are counted from `first_number`.
        """
        numbers = np.repeat(first_number + np.arange(len(self.states)), self._game.num_players)
        for k, agent in enumerate(self._agents.values()):
            own = self._owners == k
            if isinstance(agent, KeepsLog):
                with suppress(Exception):
                    agent.number_games(self._ids[own], numbers[own.ravel()])
            if isinstance(agent, AgentWithMemory):
                _begin(agent, self._game, self._ids[own])
        if self._watchers:
            for row, opening in enumerate(self._openings):
                for state in opening.positions(self._game):
                    self._show(row, state)

    def end(self) -> None:
        """Tell agents with memory that the games are over."""
        for k, agent in enumerate(self._agents.values()):
            if isinstance(agent, AgentWithMemory):
                _end(agent, self._ids[self._owners == k])

    def ask_each_agent(self, reporter: Reporter, so_far: SoFar) -> None:
        """Ask each agent in turn about the games in which it is to move then, and play what it answers."""
        every_row = np.arange(len(self.states))
        for k, name in enumerate(self._agents):
            to_move = self.states["to_move"]
            rows = np.flatnonzero(~self.states["done"] & (self._owners[every_row, to_move] == k))
            reasons = {row: so_far.excluded.get(name) or so_far.sentences.pop(row, "") for row in rows.tolist()}
            forfeits = [Answer(row, int(to_move[row]), reason, 0.0) for row, reason in reasons.items() if reason]
            self._report_and_play(forfeits, reporter)
            rows = rows[[not reasons[row] for row in rows.tolist()]]
            for some in np.split(rows, len(rows)) if len(rows) and name in so_far.alone else [rows]:
                if len(some):
                    answers, fault = self._answers_about(some, k, name, reporter)
                    self._report_and_play(answers, reporter)
                    if fault is not None:
                        raise FaultError(name, str(fault)) from fault

    def _answers_about(
        self, rows: NDArray[np.int64], k: int, name: str, reporter: Reporter
    ) -> tuple[list[Answer], InfrastructureError | None]:
        """What agent k answers about games in which it is to move, and its share of the time for each; the fault."""
        agent, movers = self._agents[name], self.states["to_move"][rows]
        ids, views = self._ids[rows, movers], self._game.view(self.states[rows], movers)

        def asks(some: list[int]) -> None:
            reporter.asks(name, rows[some].tolist())

        began = perf_counter()
        answers = ask_or_fault(agent, self._game, views, self._generators[k], asks, ids)
        each = (perf_counter() - began) / len(rows)
        fault = next((answer for answer in answers if isinstance(answer, InfrastructureError)), None)
        return [
            Answer(row, mover, None if isinstance(answer, InfrastructureError) else answer, each, used)
            for row, mover, answer, used in zip(
                rows.tolist(), movers.tolist(), answers, _usage(agent, ids), strict=True
            )
        ], fault

    def _report_and_play(self, answers: Sequence[Answer], reporter: Reporter) -> None:
        if answers:
            reporter.answers(answers)
            self.play(answers)

    def play(self, answers: Sequence[Answer], *, remind: bool = False) -> None:
        """Play what was answered, and write it down.

        Args:
            answers: In the order in which they came.
            remind: Another process was asked: agents with memory that do not watch are asked again, for what they
                remember, before each of their moves.
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
        """Ask the agent to move about a position whose answer is known, if it has a memory and does not watch."""
        name = self._seats[row][mover]
        agent = self._agents[name]
        if isinstance(agent, AgentWithMemory) and name not in self._watchers:
            view = self._game.view(self.states[row : row + 1], mover)
            _answers(agent, self._game, view, np.random.default_rng(0), self._ids[row, mover : mover + 1])

    def _show(self, row: int, state: Views, note: str | None = None) -> None:
        """Show a position of a game to those who watch it, with a note if something has happened besides."""
        for seat, name in enumerate(self._seats[row]):
            if name in self._watchers:
                view = self._game.view(state, seat)
                _watch(self._agents[name], self._game, view, self._ids[row, seat : seat + 1], note)

    def records(self, first_number: int) -> list[GameRecord]:
        """The records of the games, which are over, numbered from `first_number`."""
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
                usage=self._usage_of(row),
                number=first_number + row,
            )
            for row, opening in enumerate(self._openings)
        ]

    def _usage_of(self, row: int) -> tuple[dict[str, float], ...]:
        """By seat what the answers in a game have taken besides; () if nothing is known."""
        usage = self._usage[row]
        return tuple({name: round(one[name], 9) for name in one} for one in usage) if any(usage) else ()


def ask(
    agent: AnyAgent,
    game: Game,
    views: Views,
    rng: np.random.Generator,
    asks: Callable[[list[int]], None] = lambda rows: None,
    ids: Ids | None = None,
) -> list[int | str]:
    """For each view (B,) the agent's action, or a short text that says why there is none that can be played.

    `asks` is called before each question with the rows that it is about. `ids` (B,) are what an agent with memory knows
    the games by; without them each is a game that begins and ends here. Raises InfrastructureError after a fault.
    """
    if ids is None and isinstance(agent, AgentWithMemory):
        asks(list(range(len(views))))
        return ask_in_game(agent, game, [], views, rng)
    answers: list[int | str] = []
    for answer in ask_or_fault(agent, game, views, rng, asks, ids):
        if isinstance(answer, InfrastructureError):
            raise answer
        answers.append(answer)
    return answers


def ask_or_fault(
    agent: AnyAgent,
    game: Game,
    views: Views,
    rng: np.random.Generator,
    asks: Callable[[list[int]], None],
    ids: Ids | None,
) -> list[int | str | InfrastructureError]:
    """As `ask`, with the fault in the place of each answer that there is not because of one."""
    asks(list(range(len(views))))
    answers = _answers(agent, game, views, rng, ids)
    if isinstance(answers, list):
        return [*answers]
    if len(views) == 1:
        return [answers]
    each: list[int | str | InfrastructureError] = []
    for row in range(len(views)):
        last = each[-MOST_FAULTS:]
        if len(last) == MOST_FAULTS and all(isinstance(answer, InfrastructureError) for answer in last):
            each.append(last[-1])
            continue
        asks([row])
        answers = _answers(agent, game, views[row : row + 1], rng, None if ids is None else ids[row : row + 1])
        each.append(answers[0] if isinstance(answers, list) else answers)
    return each


def ask_in_game(
    agent: AnyAgent, game: Game, past: Sequence[Views], views: Views, rng: np.random.Generator
) -> list[int | str]:
    """`ask`, for an agent with memory as if it had played the games so far.

    `past` are views (B,) of the same seats after each earlier ply, the oldest first: the agent is asked about those in
    which it was to move, or watches all of them.
    """
    if not isinstance(agent, AgentWithMemory):
        return ask(agent, game, views, rng)
    ids = new_ids(len(views))
    _begin(agent, game, ids)
    for earlier in past:
        if watches(agent):
            _watch(agent, game, earlier, ids)
        elif len(own := np.flatnonzero(earlier["to_move"] == earlier["viewer"])):
            _answers(agent, game, earlier[own], np.random.default_rng(0), ids[own])
    try:
        return ask(agent, game, views, rng, ids=ids)
    finally:
        _end(agent, ids)


def _begin(agent: AgentWithMemory, game: Game, ids: Ids) -> None:
    """Tell the agent; one that fails here fails when it is asked."""
    with suppress(Exception):
        agent.begin_games(game, ids)


def _end(agent: AgentWithMemory, ids: Ids) -> None:
    with suppress(Exception):
        agent.end_games(ids)


def _watch(agent: AnyAgent, game: Game, views: Views, ids: Ids, note: str | None = None) -> None:
    assert isinstance(agent, AgentWithMemory)
    with suppress(Exception):
        agent.watch(game, views, ids, note)


def _usage(agent: AnyAgent, ids: Ids) -> Sequence[Mapping[str, float]]:
    """What the agent says that its answers in these games took; nothing if it says nothing that can be kept."""
    if isinstance(agent, UsesResources):
        with suppress(Exception):
            told = [dict(one) for one in agent.take_usage(ids)]
            amounts = [item for one in told for item in one.items()]
            if len(told) == len(ids) and all(isinstance(name, str) and 0 <= number <= MOST for name, number in amounts):
                return told
    return [{}] * len(ids)


def _answers(
    agent: AnyAgent, game: Game, views: Views, rng: np.random.Generator, ids: Ids | None
) -> list[int | str] | str | InfrastructureError:
    """The answers to one question, or why there are none. Nothing that an agent raises gets out of here but Ctrl-C."""
    try:
        if isinstance(agent, AgentWithMemory):
            actions = np.asarray(agent.act(game, views.copy(), rng, new_ids(len(views)) if ids is None else ids))
        else:
            actions = np.asarray(agent.act(game, views.copy(), rng))
        if actions.shape != views.shape or actions.dtype.kind not in "iu":
            raise ValueError(f"gave {actions.dtype} of shape {actions.shape} for {len(views)} games")
    except KeyboardInterrupt as error:
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            raise
        return describe_error(error)  # in a worker, which Ctrl-C ends without an exception, only an agent raises it
    except BaseException as error:  # sys.exit() and GeneratorExit too: an agent ends its own game and nothing else
        return fault_of(error) or describe_error(error)
    masks = game.legal_action_mask(views)
    return [
        action if 0 <= action < game.num_actions and mask[action] else f"illegal: {_name(game, action)}"
        for action, mask in zip(actions.tolist(), masks, strict=True)
    ]


def fault_of(error: BaseException) -> InfrastructureError | None:
    """Return the fault that an agent's error says, or None if the error is the agent's own.

    >>> fault_of(ConnectionRefusedError("no server"))
    InfrastructureError('ConnectionRefusedError: no server')
    >>> fault_of(ZeroDivisionError("by zero"))
    """
    kind, text = type(error), describe_error(error)
    if issubclass(kind, InfrastructureError):
        return InfrastructureError(text.removeprefix("InfrastructureError: "))
    out_of_memory = issubclass(kind, MemoryError) or kind.__name__ == "OutOfMemoryError"  # PyTorch's
    return InfrastructureError(text) if out_of_memory or issubclass(kind, OSError) else None


def _name(game: Game, action: int) -> str:
    return game.action_to_string(action) if 0 <= action < game.num_actions else f"action {action}"


def _generators(seed: int | Sequence[int], count: int, restarts: int) -> list[np.random.Generator]:
    """Of the agents: no other seed can be computed from what they carry. Other ones after a restart, as nobody knows
    what an agent has drawn from its own.
    """
    numbers = [seed] if isinstance(seed, int) else list(seed)
    return [stream("", "agent", k, restarts, *numbers) for k in range(count)]
