"""The message that shows a position to the person at a board. It is computed from the view of that person's seat."""

from __future__ import annotations

import numpy as np

from pbm_envs import Game
from pbm_envs.records import DRAWN, FORFEITED, PLY_LIMIT, RESIGNED
from pbm_envs.render import svg

from ..players.agent import Views
from ..search import SearchResult
from .session import PERSON, Session
from .start import Message, option_text

REPORTED_MOVES = 5
"""How many moves of an adviser's search are sent with their numbers."""


def position(
    session: Session,
    seat: int | None,
    *,
    thinking: str = "",
    hint: str | None = None,
    heat: SearchResult | None = None,
    theme: str = "light",
) -> Message:
    """Return the message with the current position.

    Args:
        session: The game.
        seat: The seat of the person at the board; None while persons change places, and nothing may be seen.
        thinking: "answer", "hint" or "heat" while an agent thinks about that, and nobody may move; else empty.
        hint: The adviser's move.
        heat: The adviser's search of this person's view, drawn over the position.
        theme: A name in `THEMES`.
    """
    if seat is None:
        return {"curtain": f"player_{session.mover}", "game": session.game.name}
    game, view = session.game, visible(session, seat)
    own = not session.done and session.mover == seat and not thinking
    return {
        "curtain": None,
        "game": game.name,
        "options": {name: option_text(value) for name, value in game.options.items()},
        "seats": list(session.players),
        "svg": svg(game.scene(view, heat=None if heat is None else heat.visits), None, theme),
        "headline": headline(session, seat, thinking),
        "players": [
            {
                "name": display_name(session, player),
                "role": game.role(view[0], player),
                "to move": not session.done and session.mover == player,
                "return": float(view["returns"][0, player]) if session.done else None,
            }
            for player in range(game.num_players)
        ],
        "moves": [{"move": move, "player": player} for move, player in session.moves],
        "legal": [_move(game, action) for action in session.legal() if action != game.resign_action] if own else [],
        "hint": None if hint is None else _move(game, game.string_to_action(hint)),
        "heat": None if heat is None else _numbers(heat),
        "thinking": thinking,
        "done": session.done,
        "hand over": belongs_to_another_person(session, seat),
        "can undo": not thinking and any(player in session.persons for _, player in session.moves),
        "can save": session.done or game.perfect_information,
    }


def visible(session: Session, seat: int) -> Views:
    """Return what the person in `seat` may see, a batch of one: their view, or the full state when the game is over."""
    if not session.done:
        return session.view(seat)
    state = session.state.copy()
    state["viewer"] = seat
    return state


def belongs_to_another_person(session: Session, seat: int | None) -> bool:
    """Return whether it is the turn of another person than the one in `seat`, with another view."""
    return not session.done and seat != session.mover and session.mover in session.persons


def display_name(session: Session, player: int) -> str:
    """Return how the board calls a player: "you", the agent's name, or `player_1`."""
    name = session.players[player]
    if name == PERSON:
        return "you" if len(session.persons) == 1 else f"player_{player}"
    return name if session.players.count(name) == 1 else f"{name}, player_{player}"


def headline(session: Session, seat: int, thinking: str) -> str:
    """Return a line that says whose turn it is, or how the game has ended."""
    if not session.done:
        mover = display_name(session, session.mover)
        if thinking == "answer":
            return f"{mover} is thinking"
        return "Your move" if session.mover == seat else f"{mover} is to move"
    returns, record = session.state["returns"][0], session.record()
    if record.ending == PLY_LIMIT:
        return "Drawn by the ply limit"
    if record.ending == DRAWN or returns.max() < 1:
        return "Drawn"
    winner = display_name(session, int(returns.argmax()))
    won = "You have won" if winner == "you" else f"{winner} has won"
    if record.ending not in (RESIGNED, FORFEITED):
        return won
    loser = display_name(session, session.moves[-1][1] or 0)
    reason = record.forfeits[-1].reason if record.ending == FORFEITED else RESIGNED
    return f"{won}: {loser} {'' if reason == RESIGNED else 'forfeited by '}{reason}"


def _move(game: Game, action: int) -> Message:
    return {"move": game.action_to_string(action), "cells": list(game.action_cells(action))}


def _numbers(result: SearchResult) -> list[Message]:
    """Return the numbers of a search: the best move first, then the most visited ones."""
    order = sorted(np.flatnonzero(result.visits).tolist(), key=lambda a: (a != result.best, -result.visits[a]))
    return [
        {
            **_move(result.game, action),
            "share": float(result.visits[action] / result.visits.sum()),
            "value": float(result.values[action]),
            "proven": bool(result.proven_actions[action]),
        }
        for action in order[:REPORTED_MOVES]
    ]
