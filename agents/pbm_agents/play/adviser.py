"""The adviser of a board: the moves of a position with their values, computed by the champion or another agent."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from pbm_envs import Game
from pbm_envs.toolbox import stream

from ..champions import ChampionAgent, LinesAgent
from ..exact import ExactAgent
from ..players.agent import Views
from ..players.search_agents import SearchAgent
from ..search import Search, SearchResult
from ..search.ending import ending
from .processes import known_agent, worker_process

LEAST_SHARE = 0.05
"""Moves with fewer visits than this share of the best move's are shown without a value."""
CLOSE = 0.06
"""Largest difference of values (-1 to 1) between moves that are called equally good."""
FAR = 0.3
"""Smallest lead in value of a move that is called clearly best."""


class MoveValue(NamedTuple):
    """A move and its value."""

    action: int
    value: float
    """The expected return of the player to move, -1 to 1."""
    proven: bool = False


def can_analyse(adviser: Any) -> bool:
    """Return whether this agent reports values of moves, as the champion and agents that search do."""
    return isinstance(adviser, ChampionAgent) or isinstance(getattr(adviser, "search", None), Search)


def analyse(adviser: Any, game: Game, view: Views) -> list[MoveValue]:
    """Return the moves of a position with their values, the best first.

    The random stream is derived from the view, so the same adviser gives the same advice for the same view.

    Args:
        adviser: An agent that `can_analyse`.
        game: The game.
        view: (1,) the view of the player to move.
    """
    player: Any = adviser.player(game) if isinstance(adviser, ChampionAgent) else adviser
    rng = advice_stream(view)
    if isinstance(player, LinesAgent):
        return [MoveValue(action, max(-1.0, min(1.0, value)), abs(value) > 1)
                for action, value in player.rank(game, view, rng)[0]]  # fmt: skip
    if isinstance(player, ExactAgent) and player.solves(game, view[0]):
        worth = player.solver.action_values(game, view)[0]
        best = int(player.act(game, view, rng)[0])
        order = sorted(np.flatnonzero(~np.isnan(worth)).tolist(), key=lambda action: (action != best, -worth[action]))
        return [MoveValue(action, float(worth[action]), True) for action in order]
    if isinstance(player, SearchAgent):
        return _searched(player.analyse(game, view, rng)[0])
    best = int(player.act(game, view, rng)[0])  # the solver's move, with the values of the search
    moves = _searched(SearchAgent(player.search).analyse(game, view, advice_stream(view))[0])
    chosen = next((move for move in moves if move.action == best), MoveValue(best, moves[0].value))
    return [chosen._replace(value=max(chosen.value, moves[0].value)), *(move for move in moves if move.action != best)]


def _searched(result: SearchResult) -> list[MoveValue]:
    """Return the moves with enough visits; no value exceeds that of the move that is played."""
    least = LEAST_SHARE * result.visits[result.best]
    enough = np.flatnonzero(result.visits >= max(1, least)).tolist()
    best = float(result.values[result.best])
    return [
        MoveValue(action, min(best, float(result.values[action])), bool(result.proven_actions[action]))
        for action in sorted(enough, key=lambda action: (action != result.best, -result.values[action]))
    ]


def advice_stream(view: Views) -> np.random.Generator:
    """Return a random generator whose seed depends only on the view."""
    seen = b"".join(np.ascontiguousarray(view[name]).tobytes() for name in view.dtype.names or ())
    return stream("", "advice", int.from_bytes(blake2b(seen, digest_size=8).digest(), "big"))


def how_sure(moves: Sequence[MoveValue]) -> str:
    """Return in words how clearly the adviser prefers the first move.

    >>> how_sure([MoveValue(3, 0.1), MoveValue(5, 0.08), MoveValue(6, -0.2)])
    'one of two good moves'
    """
    best = moves[0]
    if best.proven and abs(best.value) == 1:
        return "it wins, which is proven" if best.value > 0 else "every move loses against perfect play"
    if len(moves) == 1:
        return "the only move that was found worth a look"
    close = sum(best.value - move.value <= CLOSE for move in moves)
    if close > 1:
        return "one of two good moves" if close == 2 else "one of several good moves"
    return "clearly the best move" if best.value - moves[1].value >= FAR else "a little better than the others"


def advise(adviser: Any, name: str, game: Game, view: Views) -> list[MoveValue]:
    """Return the moves of a position with their values as `analyse` does, from a worker process if there is one."""
    if (run := worker_process()) is not None:
        found: list[MoveValue] = run(_advise, name, game, view)
        return found
    return analyse(adviser, game, view)


def _advise(name: str, *rest: Any) -> Any:
    return advise(known_agent(name), name, *rest)


def curve(adviser: Any, name: str, game: Game, positions: Sequence[Views], seat: int) -> dict[int, tuple[float, int]]:
    """Return, by ply, the expected return of `seat` and the action that the adviser would have played.

    In two-player games of perfect information every position before the end is included, in other games those in which
    `seat` was to move, from its view.

    Args:
        adviser: The agent.
        name: Its name.
        game: The game.
        positions: Batches of one, from the start.
        seat: The player.
    """
    found: dict[int, tuple[float, int]] = {}
    is_left, every = ending(), game.perfect_information and game.num_players == 2
    for ply, state in enumerate(positions):
        mover = int(state["to_move"][0])
        if not state["done"][0] and (every or mover == seat) and not (is_left is not None and is_left()):
            best = advise(adviser, name, game, game.view(state, mover))[0]
            found[ply] = (best.value if mover == seat else -best.value), best.action
    return found


def turning_ply(values: dict[int, float], result: float) -> int | None:
    """Return the ply after which the value moved most towards the result (a draw is 0); None if by CLOSE or less.

    >>> turning_ply({0: 0.1, 1: 0.0, 2: -0.7, 3: -0.8}, -1.0)
    1
    """
    plies = sorted(values)
    moved = {a: abs(values[a] - result) - abs(values[b] - result) for a, b in pairwise(plies)}
    best = max(moved, key=lambda ply: moved[ply], default=None)
    return best if best is not None and moved[best] > CLOSE else None
