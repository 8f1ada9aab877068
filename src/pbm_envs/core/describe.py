"""Descriptions in words: the player to move, the result of a game, the reason why an action is illegal."""

from __future__ import annotations

import numpy as np

from .hooks import GameHooks
from .scene import Seat
from .state import NO_ACTION, NOBODY
from .types import Record, States

LISTED = 8
"""The maximum number of legal moves that an error lists."""


def seat(game: GameHooks, view: Record, player: int) -> Seat:
    """Return the description of a player in a picture."""
    return Seat(
        title=game.role(view, player),
        name=f"player_{player}",
        active=not view["done"] and int(view["to_move"]) == player,
        won=bool(view["done"]) and winner_of(view) == player,
    )


def winner_of(view: Record) -> int:
    """Return the only player with the greatest return in a finished game; NOBODY if there is a tie."""
    best = np.flatnonzero(view["returns"] == view["returns"].max())
    return int(best[0]) if len(best) == 1 else NOBODY


def status(game: GameHooks, view: Record) -> str:
    """Return the last move, and the player to move or the result of the game."""
    named = [
        f"player_{player}" + f" ({role})" * bool(role)
        for player in range(game.num_players)
        for role in [game.role(view, player)]
    ]
    if view["truncated"]:
        ending = "drawn by the ply limit"
    elif not view["done"]:
        ending = f"{named[view['to_move']]} to move"
    else:
        winner = winner_of(view)
        ending = "drawn" if winner == NOBODY else f"{named[winner]} has won"
    last = "" if view["last_action"] == NO_ACTION else f", last move {game.notation.write(view['last_action'])}"
    return f"ply {view['ply']}{last} - {ending}"


def why_illegal(game: GameHooks, state: States, row: int, action: int) -> str:
    """Return the error text for an illegal action in `state`, a batch of one that was row `row` of the caller's."""
    if state["viewer"][0] != NOBODY:
        return f"row {row} is a view: determinize it first, or step the state it was taken from"
    if not 0 <= action < game.num_actions:
        return f"row {row}: action {action} does not exist: expected 0..{game.num_actions - 1}"
    mask = np.empty((1, game.num_actions), np.bool_)
    game._legal_action_mask(state, mask)
    legal = [game.notation.write(int(a)) for a in np.flatnonzero(mask)]
    some = ", ".join(legal[:LISTED]) + (", ..." if len(legal) > LISTED else "")
    return f"row {row}: {game.notation.write(action)!r} is illegal here: expected one of {len(legal)} ({some})"
