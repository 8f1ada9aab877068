"""Games that begin in another game: from one of its positions, as a rematch, from a record, or after a restart."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import numpy as np

from pbm_envs import Game
from pbm_envs.records import UNFINISHED, Forfeit, GameRecord, board_text, play_moves
from pbm_envs.registry import make_registered_game

from ..arena import Opening
from ..players.agent import Views
from .limits import Limits
from .session import DEFAULT_AGENT, PERSON, Session
from .start import Message, Start, check_agents

TRIES = 1000
"""Worlds that are drawn for a position to play on from, before it is given up."""


def branch(session: Session, start: Start, seat: int, ply: int) -> Start:
    """Return the start of a new game from a position of another.

    What `seat` could not know there is drawn anew, so that nothing is learned about the old game, nor carried over from
    what it has shown since.

    Args:
        session: The other game.
        start: How it was started.
        seat: The person's seat.
        ply: How many of its moves to keep.

    Raises:
        ValueError: If the game was over then, or cannot be played on from there.
    """
    if not session.game.public_moves:
        raise ValueError(f"{session.game!r} cannot be played on from a position: it has moves that you have not seen")
    moves = tuple(move for move, _ in session.moves[:ply])
    if session.position(ply)["done"][0]:
        raise ValueError("the game is over in this position: expected an earlier one to play on from")
    game, first = session.game, session.start
    if not game.perfect_information:
        first = _another_start(session, seat, ply, np.random.default_rng())
    players = start.players
    if PERSON not in players:
        mover = int(session.position(ply)["to_move"][0])
        players = tuple(PERSON if k == mover else DEFAULT_AGENT for k in range(game.num_players))
    return replace(start, players=players, seed=None, board=board_text(game, first), moves=moves, continued=True)


def _another_start(session: Session, seat: int, ply: int, rng: np.random.Generator) -> Views:
    """Draw a start that `seat` could not tell from the true one, of which the moves lead to what `seat` saw then."""
    game = session.game
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
    """Return the start of another game with the same settings, with the seats moved on by one if asked for."""
    players = start.players[-1:] + start.players[:-1] if exchange else start.players
    again = replace(start, players=players, seed=None, continued=False)
    return replace(again, board=None, moves=()) if start.continued else again


def keep(session: Session, start: Start) -> Message:
    """Return all that is needed to go on with a game, which is not for players: it holds what is hidden."""
    record = session.record()
    return {
        "game": record.game,
        "options": dict(record.options),
        "board": record.board,
        "seed": record.seed,
        "players": list(session.players),
        "given": session.given,
        "moves": list(record.moves),
        "forfeits": [[forfeit.ply, forfeit.player, forfeit.reason] for forfeit in record.forfeits],
        "hint": start.hint,
        "continued": start.continued or start.board is not None,
    }


def go_on(kept: Message, own_agents: Collection[str] | None, limits: Limits | None = None) -> tuple[Start, Session]:
    """Return a game that was kept, after all its moves.

    Raises:
        ValueError: If it cannot be replayed, or if one of its agents may not play here.
    """
    game = make_registered_game(kept["game"], kept["options"])
    check_agents(kept["players"], own_agents, game, limits)
    given = tuple(kept["moves"][: kept["given"]])
    start = Start(
        game, tuple(kept["players"]), kept["seed"], kept["board"], given, kept["hint"], continued=kept["continued"]
    )
    session = start.session()
    session.replay(kept["moves"][kept["given"] :], [Forfeit(*forfeit) for forfeit in kept["forfeits"]])
    return start, session


def opened(record: GameRecord) -> Session:
    """Return the game of a record, which nobody plays; ValueError if it is not over or contradicts the rules."""
    if record.ending == UNFINISHED:
        raise ValueError("the game of this record is not over: expected one that is, since a record shows everything")
    game: Game = record.rules()
    session = Session(
        game, record.agents, Opening(record.seed or 0, record.board, record.moves[: record.opening]), agents=False
    )
    session.persons = []
    session.replay(record.moves[record.opening :], record.forfeits)
    if not session.done:
        raise ValueError("the game of this record is not over after its moves: expected one that is")
    return session
