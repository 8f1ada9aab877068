"""Curio, and its rules for programs that search lines of play: see `pieces`."""

from .game import Curio
from .pieces import (
    CAPTURED,
    DRAWN,
    GOES_ON,
    NO_PIECE,
    WON,
    action_of,
    capture_piece,
    end_of,
    is_royal,
    list_moves,
    move_piece,
    move_to,
    put_back,
    result_of_capture,
    slot_of,
)

__all__ = [
    "CAPTURED",
    "DRAWN",
    "GOES_ON",
    "NO_PIECE",
    "WON",
    "Curio",
    "action_of",
    "capture_piece",
    "end_of",
    "is_royal",
    "list_moves",
    "move_piece",
    "move_to",
    "put_back",
    "result_of_capture",
    "slot_of",
]
