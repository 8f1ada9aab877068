"""Many games at once, each agent asked about all games in which it is to move.

An agent that raises, whatever it raises, or whose action is illegal, forfeits that game (`pbm_envs.records`) and the
others go on. If a question about many games fails, the agent is asked again about each of them alone, so that one bad
position does not cost it all. What is asked and answered can be reported as it happens, so that another process can go
on where one has died (`processes`).
"""

from __future__ import annotations

import signal
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from time import perf_counter
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from pbm_envs import Game
from pbm_envs.core.printable import describe_error
from pbm_envs.core.streams import stream
from pbm_envs.envs.memory import AgentWithMemory, Ids, new_ids, watches
from pbm_envs.records import MOST, RESIGN, Forfeit, GameRecord, board_text, make_record

from ..players.agent import AnyAgent, Views


@dataclass(frozen=True)
class Opening:
    """How a game starts: `board`, or the board that `seed` draws; after `moves`."""

    seed: int
    board: str | None = None
    moves: tuple[str, ...] = ()

    def board_text(self, game: Game) -> str | None:
        """The board that it starts from, as a record has it: None if that is empty."""
        return board_text(game, game.init(1, np.random.default_rng(self.seed), self.board))

    def position(self, game: Game) -> tuple[Views, Views]:
        """The board and the position after the moves, batches of one."""
        positions = self.positions(game)
        start, state = positions[0], positions[-1].copy()
        if state["done"][0]:
            raise ValueError(f"the opening {self!r} leaves nothing to play")
        return start, state

    def positions(self, game: Game) -> list[Views]:
        """The board, and the position after each move, batches of one."""
        found = [game.init(1, np.random.default_rng(self.seed), self.board)]
        for text in self.moves:
            found.append(found[-1].copy())
            game.step(found[-1], [game.string_to_action(text)])
        return found


class Answer(NamedTuple):
    """What the player to move in a game did: an action, or why they forfeit."""

    row: int
    mover: int
    answer: int | str
    seconds: float
    usage: Mapping[str, float] | None = None
    """What it took besides, as `UsesResources` says."""


@runtime_checkable
class UsesResources(Protocol):
    """An agent that knows what its answers cost, such as a language model's tokens: it gets into `GameRecord.usage`."""

    def take_usage(self, ids: Ids) -> Sequence[Mapping[str, float]]:
        """For each of the games `ids` (B,), what it has taken since this was last asked for, by name."""
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
        openings: One a game.
        seed: Of the agents: each draws from a generator of its own. With a small one, an agent that tries all of them
            can find the seeds of openings that are as small; `Tournament.key` prevents that.
        first_number: The number of the first record; the others follow.
        reporter: Told what is asked and answered.
        so_far: Go on from there.
    """
    reporter, so_far = reporter or Silence(), so_far or SoFar()
    starts, positions = zip(*(opening.position(game) for opening in openings), strict=True)
    states = np.concatenate(positions)
    moves = [list(opening.moves) for opening in openings]
    forfeits: list[list[Forfeit]] = [[] for _ in openings]
    turns, seconds = np.zeros((2, len(states), game.num_players))
    usage = [[Counter[str]() for _ in range(game.num_players)] for _ in openings]
    generators = _generators(seed, len(agents), so_far.restarts)
    names, every_row = list(agents), np.arange(len(openings))
    owners = np.array([[names.index(name) for name in row] for row in seats])  # (B, P)
    ids = new_ids(owners.size).reshape(owners.shape)  # what agents with memory know each seat of each game by
    for k, agent in enumerate(agents.values()):
        if isinstance(agent, AgentWithMemory):
            _begin(agent, game, ids[owners == k])
    watchers = [name for name, agent in agents.items() if watches(agent)]

    def show(row: int, state: Views, note: str | None = None) -> None:
        for seat, name in enumerate(seats[row]):
            if name in watchers:
                _watch(agents[name], game, game.view(state, seat), ids[row, seat : seat + 1], note)

    def play(answers: Sequence[Answer]) -> None:
        for row, mover, answer, took, used in answers:
            state = states[row : row + 1]
            name = seats[row][mover]
            agent = agents[name]
            if row in remind and isinstance(agent, AgentWithMemory) and name not in watchers:
                _answers(agent, game, game.view(state, mover), np.random.default_rng(0), ids[row, mover : mover + 1])
            turns[row, mover] += 1
            seconds[row, mover] += took
            usage[row][mover].update(used)
            if isinstance(answer, int):
                moves[row].append(game.action_to_string(answer))
                game.step(state, [answer])
            else:
                moves[row].append(RESIGN)
                game.remove_player(state)
                forfeits[row].append(Forfeit(len(moves[row]), mover, answer))
            show(row, state, None if isinstance(answer, int) else f"player_{mover} has forfeited the game")

    if watchers:
        for row, opening in enumerate(openings):
            for state in opening.positions(game):
                show(row, state)

    def report(answers: Sequence[Answer]) -> None:
        if answers:
            reporter.answers(answers)
            play(answers)

    remind = {answer.row for answer in so_far.answers}  # another process was asked: memories see it now
    play(so_far.answers)
    remind = set()
    while not states["done"].all():
        for k, (name, agent) in enumerate(agents.items()):
            rows = np.flatnonzero(~states["done"] & (owners[every_row, states["to_move"]] == k))
            reasons = {row: so_far.excluded.get(name) or so_far.sentences.pop(row, "") for row in rows.tolist()}
            report([Answer(row, int(states["to_move"][row]), reason, 0.0) for row, reason in reasons.items() if reason])
            rows = rows[[not reasons[row] for row in rows.tolist()]]
            for some in np.split(rows, len(rows)) if len(rows) and name in so_far.alone else [rows]:
                if len(some):
                    asked = ids[some, states["to_move"][some]]
                    report(_answers_of(agent, game, states, some, generators[k], name, reporter, asked))
    for k, agent in enumerate(agents.values()):
        if isinstance(agent, AgentWithMemory):
            _end(agent, ids[owners == k])
    return [
        make_record(
            game,
            starts[row],
            moves[row],
            states[row : row + 1],
            forfeits[row],
            agents=tuple(seats[row]),
            seed=opening.seed,
            opening=len(opening.moves),
            turns=tuple(turns[row].astype(int).tolist()),
            seconds=tuple(seconds[row].round(6).tolist()),
            usage=tuple({name: round(one[name], 9) for name in one} for one in usage[row]) if any(usage[row]) else (),
            number=first_number + row,
        )
        for row, opening in enumerate(openings)
    ]


def _answers_of(
    agent: AnyAgent,
    game: Game,
    states: Views,
    rows: NDArray[np.int64],
    rng: np.random.Generator,
    name: str,
    reporter: Reporter,
    ids: Ids,
) -> list[Answer]:
    """The agent's answers about games in which it is to move, and its share of the time for each."""
    movers = states["to_move"][rows]
    views = game.view(states[rows], movers)
    began = perf_counter()
    answers = ask(agent, game, views, rng, lambda some: reporter.asks(name, rows[some].tolist()), ids)
    each = (perf_counter() - began) / len(rows)
    return [
        Answer(row, mover, answer, each, used)
        for row, mover, answer, used in zip(rows.tolist(), movers.tolist(), answers, _usage(agent, ids), strict=True)
    ]


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
    the games by; without them each is a game that begins and ends here.
    """
    asks(list(range(len(views))))
    if ids is None and isinstance(agent, AgentWithMemory):
        return ask_in_game(agent, game, [], views, rng)
    answers = _answers(agent, game, views, rng, ids)
    if not isinstance(answers, str):
        return answers
    if len(views) == 1:
        return [answers]
    each: list[int | str] = []
    for row in range(len(views)):
        asks([row])
        answers = _answers(agent, game, views[row : row + 1], rng, None if ids is None else ids[row : row + 1])
        each.append(answers if isinstance(answers, str) else answers[0])
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
    answers = ask(agent, game, views, rng, ids=ids)
    _end(agent, ids)
    return answers


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
) -> list[int | str] | str:
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
        return describe_error(error)
    masks = game.legal_action_mask(views)
    return [
        action if 0 <= action < game.num_actions and mask[action] else f"illegal: {_name(game, action)}"
        for action, mask in zip(actions.tolist(), masks, strict=True)
    ]


def _name(game: Game, action: int) -> str:
    return game.action_to_string(action) if 0 <= action < game.num_actions else f"action {action}"


def _generators(seed: int | Sequence[int], count: int, restarts: int) -> list[np.random.Generator]:
    """Of the agents: no other seed can be computed from what they carry. Other ones after a restart, as nobody knows
    what an agent has drawn from its own.
    """
    numbers = [seed] if isinstance(seed, int) else list(seed)
    return [stream("", "agent", k, restarts, *numbers) for k in range(count)]
