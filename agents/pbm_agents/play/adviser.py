"""The adviser of a board: the moves of a position with what each is worth, by the champion or another agent."""

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

LEAST_SHARE = 0.05
"""A move that was searched less than this share of the best move's visits has no value to show."""
CLOSE = 0.06
"""Values from -1 to 1 that differ by no more are called equally good."""
FAR = 0.3
"""A move that is better than all others by so much is called clearly best."""


class MoveValue(NamedTuple):
    """A move, and what it is worth."""

    action: int
    value: float
    """What the player to move can expect, from -1 to 1."""
    proven: bool = False


def can_analyse(adviser: Any) -> bool:
    """Return whether this agent can say what moves are worth: it searches, or is the champion."""
    return isinstance(adviser, ChampionAgent) or isinstance(getattr(adviser, "search", None), Search)


def analyse(adviser: Any, game: Game, view: Views) -> list[MoveValue]:
    """Return the moves of a position, the best first.

    The same adviser says the same of the same view whenever it is asked: its random numbers follow from the view.

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
    best = int(player.act(game, view, rng)[0])  # a solver helps this agent: its move, with the numbers of its search
    moves = _searched(SearchAgent(player.search).analyse(game, view, advice_stream(view))[0])
    chosen = next((move for move in moves if move.action == best), MoveValue(best, moves[0].value))
    return [chosen._replace(value=max(chosen.value, moves[0].value)), *(move for move in moves if move.action != best)]


def _searched(result: SearchResult) -> list[MoveValue]:
    """Return the moves that were searched enough; none is called better than the move that is played."""
    least = LEAST_SHARE * result.visits[result.best]
    enough = np.flatnonzero(result.visits >= max(1, least)).tolist()
    best = float(result.values[result.best])
    return [
        MoveValue(action, min(best, float(result.values[action])), bool(result.proven_actions[action]))
        for action in sorted(enough, key=lambda action: (action != result.best, -result.values[action]))
    ]


def advice_stream(view: Views) -> np.random.Generator:
    """Return random numbers that follow from what a player sees, and from nothing else."""
    seen = b"".join(np.ascontiguousarray(view[name]).tobytes() for name in view.dtype.names or ())
    return stream("", "advice", int.from_bytes(blake2b(seen, digest_size=8).digest(), "big"))


def how_sure(moves: Sequence[MoveValue]) -> str:
    """Say how sure the adviser is of the first move.

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


def curve(adviser: Any, game: Game, positions: Sequence[Views], seat: int) -> dict[int, tuple[float, int]]:
    """Return, by ply, what `seat` could expect, and the move that the adviser would have made.

    With two players and perfect information that is every position before the end, else those in which `seat` was to
    move, from its view.

    Args:
        adviser: The agent.
        game: The game.
        positions: Batches of one, from the start.
        seat: The player.
    """
    found: dict[int, tuple[float, int]] = {}
    is_left, every = ending(), game.perfect_information and game.num_players == 2
    for ply, state in enumerate(positions):
        mover = int(state["to_move"][0])
        if not state["done"][0] and (every or mover == seat) and not (is_left is not None and is_left()):
            best = analyse(adviser, game, game.view(state, mover))[0]
            found[ply] = (best.value if mover == seat else -best.value), best.action
    return found


def turning_ply(values: dict[int, float], result: float) -> int | None:
    """Return the ply after which the value moved most towards the result, a draw towards the middle; None without one.

    >>> turning_ply({0: 0.1, 1: 0.0, 2: -0.7, 3: -0.8}, -1.0)
    1
    """
    plies = sorted(values)
    moved = {a: abs(values[a] - result) - abs(values[b] - result) for a, b in pairwise(plies)}
    best = max(moved, key=lambda ply: moved[ply], default=None)
    return best if best is not None and moved[best] > CLOSE else None
