"""Are records states or views of Curio? See `Game.validate`."""

from __future__ import annotations

import numpy as np

from ...core.state import NOBODY
from ...core.types import Record, States
from ...core.validation import expect, expect_flag, expect_range
from .pieces import CAPTURED, LARGE, NO_PIECE, RANDOM
from .rules import KINDS

MOST_PLIES = 2**31 - 2


def validate_records(states: States, rules: Record) -> None:
    """InvalidStateError for the first row that is neither; `rules` is a record of SETTINGS."""
    base, last = int(rules["base"]), states["owner"].shape[1] - 1
    expect_range(states, "owner", NOBODY, 1)
    for field in ("board", "cell", "taker", "last_captured"):
        expect_range(states, field, -1, last)
    for field in ("known", "legal")[: 1 + bool(rules["total"])]:
        expect_range(states, field, 0, 1)
    expect_range(states, "bounds", 1, base)
    expect_range(states, "faces", 0, base)
    expect_range(states, "quiet", 0, MOST_PLIES)
    expect_flag(states, "passed")
    _validate_places(states)
    _validate_faces(states, rules)
    _validate_unseen(states, base)
    done, returns, limit = states["done"], states["returns"], int(rules["quiet_limit"])
    expect(
        done | (states["quiet"] < limit) | (limit == 0), states, "quiet", f"less than {limit} while the game goes on"
    )
    fair = (np.abs(returns) <= 1).all(axis=1) & (done | (returns == 0).all(axis=1))
    expect(fair, states, "returns", "-1 to 1 at the end, else zeros")


def _validate_places(states: States) -> None:
    """Pieces and the cells they stand on, captured ones and who took them."""
    owner, board, cell, taker = (states[name] for name in ("owner", "board", "cell", "taker"))
    rows, slots = np.arange(len(states))[:, None], np.arange(owner.shape[1])
    pieces, captured = owner != NOBODY, (owner != NOBODY) & (cell == CAPTURED)
    expect((board == NO_PIECE) | (cell[rows, board] == slots), states, "board", "pieces that stand where it says")
    stands = (cell == CAPTURED) | (pieces & (board[rows, cell] == slots))
    expect(stands, states, "cell", "pieces that are on the board where it says, else -1")
    taken = (taker >= 0) & (owner[rows, taker] == 1 - owner)
    expect(np.where(captured, taken, taker == NO_PIECE), states, "taker", "an enemy piece for captured ones, else -1")
    last = states["last_captured"].astype(np.int64)
    fits = (last == NO_PIECE) | captured[rows[:, 0], last]
    expect(fits, states, "last_captured", "a captured piece, or -1")
    expect((states["known"] == 0) | pieces, states, "known", "0 where there is no piece")


def _validate_faces(states: States, rules: Record) -> None:
    """Faces are there unless the viewer cannot know them; those that can be hidden fit the bounds and `face`."""
    owner, faces, viewer = states["owner"], states["faces"], states["viewer"][:, None, None]
    pieces, known = (owner != NOBODY)[:, :, None], (states["known"] == 1)[:, :, None]
    seen = pieces & (known | (viewer == NOBODY) | (viewer == np.arange(2)))
    expect((faces > 0) == seen, states, "faces", "numbers where the viewer sees them, else zeros")
    low, high = states["bounds"][..., 0], states["bounds"][..., 1]
    free = known | ~pieces
    expect(free | (low <= high), states, "bounds", "the least and the greatest number that a face can be")
    expect(free | (faces == 0) | ((low <= faces) & (faces <= high)), states, "faces", "numbers within their bounds")
    if rules["face"] != RANDOM:
        mine = np.take_along_axis(faces, np.maximum(owner, 0)[:, :, None].astype(np.int64), axis=2)[..., 0]
        far = faces.sum(axis=2) - mine
        lies = mine >= far if rules["face"] == LARGE else mine <= far
        open_faces = (faces > 0).all(axis=2) & (states["known"] == 0)
        expect(~open_faces | lies, states, "faces", "the side towards its owner that `face` says")


def _validate_unseen(states: States, base: int) -> None:
    """As many pieces as are not known to both, and none of a kind that there is not."""
    owner, faces, unseen = states["owner"], states["faces"].astype(np.int64), states["unseen"]
    kinds = KINDS[base][faces[..., 0], faces[..., 1]]
    unknown = (owner != NOBODY) & (states["known"] == 0)
    shown = unknown & (faces > 0).all(axis=2)
    for army in range(2):
        total, counts = (unknown & (owner == army)).sum(axis=1), unseen[:, army]
        expect((counts >= 0).all(axis=1) & (counts.sum(axis=1, dtype=np.int64) == total), states, "unseen",
               "the kinds of all pieces that are not known to both, of each army")  # fmt: skip
        for k in range(counts.shape[1]):
            count = (shown & (owner == army) & (kinds == k)).sum(axis=1)
            expect(count <= counts[:, k], states, "unseen", "at least the pieces whose faces are in the record")
