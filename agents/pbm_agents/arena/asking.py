"""Requests for actions, which distinguish an agent's own failure (a forfeit) from a fault of the infrastructure.

An agent that raises any exception, or returns an illegal action, forfeits that game. If a question about many games
fails, the agent is asked again about each game separately, so that one bad position does not forfeit all of them. A
fault of the infrastructure (`InfrastructureError`, `OSError`, `MemoryError`) forfeits nothing. If an agent with memory
fails in a method other than `act`, this counts as a failure in the games that the call was about.
"""

from __future__ import annotations

import signal
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np

from pbm_envs import Game
from pbm_envs.authoring import Mask
from pbm_envs.envs.memory import AgentWithMemory, Ids, new_ids, watches
from pbm_envs.records import MOST
from pbm_envs.toolbox import describe_error

from ..common.faults import InfrastructureError
from ..players.agent import AnyAgent, Views

MOST_FAULTS = 3
"""Consecutive faults after which an agent is not asked about the other games of a question."""

Failure: TypeAlias = str | InfrastructureError
"""Why an agent failed: the reason for a forfeit, or a fault."""


@runtime_checkable
class UsesResources(Protocol):
    """An agent that reports the cost of its answers, such as a language model's tokens (see `GameRecord.usage`)."""

    def take_usage(self, ids: Ids) -> Sequence[Mapping[str, float]]:
        """Return, for each of the games `ids` (B,), the resources used since the last call, by name."""
        ...


@runtime_checkable
class KeepsLog(Protocol):
    """An agent whose log says which game each line belongs to."""

    def number_games(self, ids: Ids, numbers: Ids) -> None:
        """Receive the record numbers of the games `ids` (B,); called before `begin_games`."""
        ...


class FaultError(InfrastructureError):
    """A fault that ended games while `agent` was being asked or created."""

    def __init__(self, agent: str, reason: str) -> None:
        super().__init__(f"{agent}: {reason}")
        self.agent, self.reason = agent, reason


def ask(
    agent: AnyAgent, game: Game, views: Views, rng: np.random.Generator, past: Sequence[Views] = ()
) -> list[int | str]:
    """Return for each view (B,) the agent's action, or a short reason why it gave no legal one.

    Args:
        agent: The agent. If it has a memory, its games begin before the question and end after it.
        game: The rules.
        views: Positions in which it is to move.
        rng: Random numbers for the agent.
        past: Views (B,) of the same seats after each earlier ply, the oldest first. An agent with memory observes them,
            or is asked about those in which it was to move.

    Raises:
        InfrastructureError: A fault kept the agent from answering.
    """
    if isinstance(agent, AgentWithMemory):
        ids = new_ids(len(views))
        try:
            failure = _recall(agent, game, past, ids)
            found = ask_or_fault(agent, game, views, rng, ids=ids) if failure is None else [failure] * len(views)
        finally:
            if (failure := tell(agent.end_games, ids)) is not None:
                warn(type(agent).__name__, failure)
    else:
        found = ask_or_fault(agent, game, views, rng)
    for answer in found:
        if isinstance(answer, InfrastructureError):
            raise answer
    return [answer for answer in found if not isinstance(answer, InfrastructureError)]


def ask_or_fault(
    agent: AnyAgent,
    game: Game,
    views: Views,
    rng: np.random.Generator,
    asks: Callable[[list[int]], None] = lambda rows: None,
    ids: Ids | None = None,
) -> list[int | Failure]:
    """Ask as `ask` does, for games that have begun, and return faults among the answers.

    Args:
        agent: The agent.
        game: The rules.
        views: Positions (B,) in which it is to move.
        rng: Random numbers for the agent.
        asks: Called before each question with the rows of `views` that it is about.
        ids: (B,) the identifiers of the games for an agent with memory.

    Raises:
        ValueError: A position has no legal action, or the game is too long: the game's fault, and not the agent's.
    """
    in_time = views["ply"] < game.max_plies + game.num_players  # players who have been removed counted a ply each
    masks = game.legal_action_mask(views)
    playable = masks.any(axis=1) & in_time
    if not playable.all():
        row = int(playable.argmin())
        raise ValueError(game._why_endless(views[row : row + 1]))
    asks(list(range(len(views))))
    answers = answers_of(agent, game, views, rng, ids, masks)
    if isinstance(answers, list):
        return [*answers]
    if len(views) == 1:
        return [answers]
    each: list[int | Failure] = []
    for row in range(len(views)):
        last = each[-MOST_FAULTS:]
        if len(last) == MOST_FAULTS and all(isinstance(answer, InfrastructureError) for answer in last):
            each.append(last[-1])
            continue
        asks([row])
        one = slice(row, row + 1)
        answers = answers_of(agent, game, views[one], rng, None if ids is None else ids[one], masks[one])
        each.append(answers[0] if isinstance(answers, list) else answers)
    return each


def answers_of(
    agent: AnyAgent,
    game: Game,
    views: Views,
    rng: np.random.Generator,
    ids: Ids | None,
    masks: Mask | None = None,
) -> list[int | str] | Failure:
    """Return the answers to one question, or the reason why there are none. Only Ctrl-C is ever raised.

    `masks` (B, A) are the legal actions, if the caller knows them.
    """
    try:
        if isinstance(agent, AgentWithMemory):
            actions = np.asarray(agent.act(game, views.copy(), rng, new_ids(len(views)) if ids is None else ids))
        else:
            actions = np.asarray(agent.act(game, views.copy(), rng))
        if actions.shape != views.shape or actions.dtype.kind not in "iu":
            given = f"{actions.dtype} of shape {actions.shape} for {len(views)} games"
            raise ValueError(f"gave {given}: expected integer actions of shape {views.shape}")
    except BaseException as error:  # sys.exit() and GeneratorExit, too, end only the agent's own game
        return _failure(error)
    masks = game.legal_action_mask(views) if masks is None else masks
    return [
        action if 0 <= action < game.num_actions and mask[action] else f"illegal: {_name(game, action)}"
        for action, mask in zip(actions.tolist(), masks, strict=True)
    ]


def fault_of(error: BaseException) -> InfrastructureError | None:
    """Return the fault that an error represents, or None if the error is the agent's own.

    >>> fault_of(ConnectionRefusedError("no server"))
    InfrastructureError('ConnectionRefusedError: no server')
    >>> fault_of(ZeroDivisionError("by zero"))
    """
    kind, text = type(error), describe_error(error)
    if issubclass(kind, InfrastructureError):
        return InfrastructureError(text.removeprefix("InfrastructureError: "))
    out_of_memory = issubclass(kind, MemoryError) or kind.__name__ == "OutOfMemoryError"  # PyTorch's
    return InfrastructureError(text) if out_of_memory or issubclass(kind, OSError) else None


def tell(method: Callable[..., None], *arguments: Any) -> Failure | None:
    """Call a method of an agent with memory other than `act`; return the reason if it fails."""
    try:
        method(*arguments)
    except BaseException as error:
        return _failure(error)
    return None


def begin_games(agent: AgentWithMemory, game: Game, ids: Ids, numbers: Ids) -> Failure | None:
    """Notify the agent that games begin, with their numbers if it keeps a log; return the reason if it fails."""
    failure = tell(agent.number_games, ids, numbers) if isinstance(agent, KeepsLog) else None
    return failure or tell(agent.begin_games, game, ids)


def warn(name: str, failure: Failure) -> None:
    """Warn of a failure that no game depends on any more."""
    warnings.warn(f"{name} failed after its games: {failure}", stacklevel=2)


def usage_of(agent: AnyAgent, ids: Ids) -> Sequence[Mapping[str, float]]:
    """Return the cost that the agent reports for these games; nothing, with a warning, if a record cannot hold it."""
    if isinstance(agent, UsesResources):
        try:
            said = [dict(one) for one in agent.take_usage(ids)]
            amounts = [item for one in said for item in one.items()]
            if len(said) == len(ids) and all(isinstance(name, str) and 0 <= number <= MOST for name, number in amounts):
                return said
            raise ValueError(f"gave {said} for {len(ids)} games")
        except BaseException as error:
            reason = _failure(error)
            warnings.warn(f"the usage of {type(agent).__name__} is unknown, and not counted: {reason}", stacklevel=2)
    return [{}] * len(ids)


def _failure(error: BaseException) -> Failure:
    """Return what an agent's error means; raise it if it is Ctrl-C, which ends a worker without an exception."""
    if isinstance(error, KeyboardInterrupt) and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        raise error
    return fault_of(error) or describe_error(error)


def _recall(agent: AgentWithMemory, game: Game, past: Sequence[Views], ids: Ids) -> Failure | None:
    """Begin games, and restore the agent's memory of them from the views after each ply; return a failure."""
    failure = tell(agent.begin_games, game, ids)
    for earlier in past:
        if failure is not None:
            break
        if watches(agent):
            failure = tell(agent.watch, game, earlier, ids, None)
        elif len(own := np.flatnonzero(earlier["to_move"] == earlier["viewer"])):
            answers = answers_of(agent, game, earlier[own], np.random.default_rng(0), ids[own])
            failure = None if isinstance(answers, list) else answers
    return failure


def _name(game: Game, action: int) -> str:
    return game.action_to_string(action) if 0 <= action < game.num_actions else f"action {action}"
