"""What the person before a board is shown: everything is computed from the view of the seat that they sit in."""

from __future__ import annotations

import numpy as np

from pbm_envs import Game
from pbm_envs.records import DRAWN, FORFEITED, PLY_LIMIT, RESIGNED
from pbm_envs.render import svg

from ..agent import Views
from ..search import SearchResult
from .session import PERSON, Session
from .start import Message, typed

TOLD = 5
"""Moves of which an adviser's thinking is told in numbers."""


def position(
    session: Session,
    seat: int | None,
    *,
    thinking: str = "",
    hint: str | None = None,
    heat: SearchResult | None = None,
    theme: str = "light",
) -> Message:
    """To the person in `seat`; None: to nobody, as persons change seats.

    `thinking`: "answer", "hint" or "heat" while an agent thinks about that; nobody moves then. `hint` and `heat` come
    from the same view.
    """
    if seat is None:
        return {"curtain": f"player_{session.mover}", "game": session.game.name}
    game, view = session.game, seen(session, seat)
    own = not session.done and session.mover == seat and not thinking
    return {
        "curtain": None,
        "game": game.name,
        "options": {name: typed(value) for name, value in game.options.items()},
        "seats": list(session.players),
        "svg": svg(game.scene(view, heat=None if heat is None else heat.visits), None, theme),
        "headline": headline(session, seat, thinking),
        "players": [
            {
                "name": name_of(session, player),
                "role": game.role(view[0], player),
                "to move": not session.done and session.mover == player,
                "return": float(view["returns"][0, player]) if session.done else None,
            }
            for player in range(game.num_players)
        ],
        "moves": [{"move": move, "player": player} for move, player in session.moves],
        "legal": [_move(game, action) for action in session.legal() if action != game.resign] if own else [],
        "hint": None if hint is None else _move(game, game.string_to_action(hint)),
        "heat": None if heat is None else _numbers(heat),
        "thinking": thinking,
        "done": session.done,
        "hand over": hands_over(session, seat),
        "can undo": not thinking and any(player in session.persons for _, player in session.moves),
        "can save": session.done or game.perfect_information,
    }


def seen(session: Session, seat: int) -> Views:
    """What the person in `seat` may see, a batch of one: their view; when the game is over, everything, from there."""
    if not session.done:
        return session.view(seat)
    state = session.state.copy()
    state["viewer"] = seat
    return state


def hands_over(session: Session, seat: int | None) -> bool:
    """Whether another person is to move than the one in `seat`, who must not see what that one sees."""
    return not session.done and seat != session.mover and session.mover in session.persons


def name_of(session: Session, player: int) -> str:
    name = session.players[player]
    if name == PERSON:
        return "you" if len(session.persons) == 1 else f"player_{player}"
    return name if session.players.count(name) == 1 else f"{name}, player_{player}"


def headline(session: Session, seat: int, thinking: str) -> str:
    """Whose turn it is, or how the game has ended."""
    if not session.done:
        mover = name_of(session, session.mover)
        if thinking == "answer":
            return f"{mover} is thinking"
        return "Your move" if session.mover == seat else f"{mover} is to move"
    returns, record = session.state["returns"][0], session.record()
    if record.ending == PLY_LIMIT:
        return "Drawn by the ply limit"
    if record.ending == DRAWN or returns.max() < 1:
        return "Drawn"
    winner = name_of(session, int(returns.argmax()))
    won = "You have won" if winner == "you" else f"{winner} has won"
    if record.ending not in (RESIGNED, FORFEITED):
        return won
    loser = name_of(session, session.moves[-1][1] or 0)
    reason = record.forfeits[-1].reason if record.ending == FORFEITED else RESIGNED
    return f"{won}: {loser} {'' if reason == RESIGNED else 'forfeited by '}{reason}"


def _move(game: Game, action: int) -> Message:
    return {"move": game.action_to_string(action), "cells": list(game.action_cells(action))}


def _numbers(result: SearchResult) -> list[Message]:
    """The best move, then the most visited."""
    order = sorted(np.flatnonzero(result.visits).tolist(), key=lambda a: (a != result.best, -result.visits[a]))
    return [
        {
            **_move(result.game, action),
            "share": float(result.visits[action] / result.visits.sum()),
            "value": float(result.values[action]),
            "proven": bool(result.settled[action]),
        }
        for action in order[:TOLD]
    ]
