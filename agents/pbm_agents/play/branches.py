"""Games that start from another game: at one of its positions, as a rematch, from a record, or after a restart."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pbm_envs.authoring import NOBODY
from pbm_envs.records import UNFINISHED, GameRecord, board_text, play_moves

from ..players.agent import Views
from .clock import TimeControl
from .session import DEFAULT_AGENT, PERSON, Session
from .start import Message, Start

TRIES = 1000
"""Worlds to draw at most for a position from which play can continue."""


def branch(session: Session, start: Start, seat: int, ply: int) -> Start:
    """Return the start of a new game from a position of another.

    Information hidden from `seat` at that position is drawn anew, so that the new game reveals nothing about the old
    one, and nothing that was revealed later is carried over.

    Args:
        session: The other game.
        start: How it was started.
        seat: The person's seat; NOBODY for a spectator of a game that is over, who gets the view of the player to move.
        ply: The number of its moves to keep.

    Raises:
        ValueError: If the game was over at that ply, or play cannot continue from there.
    """
    game, first, then = session.game, session.start, session.position(ply)
    if not game.public_moves:
        raise ValueError(f"{game!r} cannot be played on from a position: it has moves that you have not seen")
    if then["done"][0]:
        raise ValueError("the game is over in this position: expected an earlier one to play on from")
    if not game.perfect_information:
        first = _another_start(session, int(then["to_move"][0]) if seat == NOBODY else seat, ply)
    players = start.players
    if PERSON not in players:
        players = tuple(PERSON if k == then["to_move"][0] else DEFAULT_AGENT for k in range(game.num_players))
    moves = tuple(move for move, _ in session.moves[:ply])
    return replace(start, players=players, seed=None, board=board_text(game, first), moves=moves, continued=True)


def _another_start(session: Session, seat: int, ply: int) -> Views:
    """Draw a start that `seat` could not distinguish from the true one, and from which the moves give the same view."""
    game, rng = session.game, np.random.default_rng()
    before, then = game.view(session.start, seat), game.view(session.position(ply), seat)
    moves = [move for move, _ in session.moves[:ply]]
    for _ in range(TRIES):
        start = game.resample_start(before, then, rng)
        state = start.copy()
        try:
            for _ in play_moves(game, state, moves):
                pass
        except ValueError:
            continue
        if (game.view(state, seat) == then).all():
            return start
    raise ValueError("no other game leads to what you saw here: expected another position to play on from")


def rematch(start: Start, *, exchange: bool) -> Start:
    """Return the start of another game with the same settings; `exchange` moves each player to the next seat."""
    players = start.players[-1:] + start.players[:-1] if exchange else start.players
    again = replace(start, players=players, seed=None, continued=False)
    return replace(again, board=None, moves=()) if start.continued else again


def keep(session: Session, start: Start) -> Message:
    """Return the data needed to resume a game. It contains hidden information, so players must not see it."""
    settings = {"board": start.board, "hint": start.hint, "continued": start.continued}
    settings["clock"] = None if start.clock is None else str(start.clock)
    return {"record": session.record().to_json(), **settings}


def resume(kept: Message) -> tuple[Start, Session]:
    """Return a kept game after all its moves; ValueError if it cannot be replayed."""
    record = GameRecord.from_json(kept["record"])
    start = _start_of(record)
    clock = kept.get("clock")
    start = replace(start, hint=kept["hint"], continued=kept["continued"], clock=clock and TimeControl.parse(clock))
    session = start.session()
    session.replay(record)
    return replace(start, board=kept["board"]), session  # a rematch draws a new board if none was given


def _start_of(record: GameRecord) -> Start:
    return Start(record.rules(), record.agents, record.seed, record.board, record.moves[: record.opening])


def opened(record: GameRecord) -> Session:
    """Return the finished game of a record, for viewing; ValueError if it is not over or contradicts the rules."""
    if record.ending == UNFINISHED:
        raise ValueError("the game of this record is not over: expected one that is, since a record shows everything")
    start = _start_of(record)
    session = Session(start.game, start.players, start.opening(), agents=False)
    session.persons = []
    session.replay(record)
    if not session.done:
        raise ValueError("the game of this record is not over after its moves: expected one that is")
    return session
