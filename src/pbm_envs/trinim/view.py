"""What a player of Trinim sees: everything. Observation planes."""

from __future__ import annotations

import numpy as np

from ..kernels import kernel
from ..state import EMPTY, NOBODY, Ints, Planes, States
from .rules import COLOURS

NAMES = ("red", "green", "blue")
OWNERS = ("me", "the next player", "the player after that")


def planes(players: int) -> dict[str, str]:
    """The seats are counted from the viewer."""
    table = {"cell": "a cell of the triangle"}
    table |= {name: f"a {name} piece lies here" for name in NAMES}
    for owner in OWNERS[:players]:
        table |= {f"{name} held by {owner}": f"how many {name} pieces" for name in NAMES}
        table |= {f"odd {name} held by {owner}": f"1 if that is odd: {name} does not score" for name in NAMES}
        table |= {f"turn of {owner}": "1 if to move", f"out: {owner}": "1 if resigned"}
    return table


@kernel
def observe_batch(views: States, out: Planes, rows: Ints, cols: Ints) -> None:
    same = np.empty(out.shape[3], np.int8)  # the planes that are the same on every cell
    for i in range(len(views)):
        view = views[i]
        viewer = 0 if view["viewer"] == NOBODY else int(view["viewer"])
        pieces, players = view["pieces"], len(view["out"])
        same[0] = 1
        same[1 : 1 + COLOURS] = 0
        plane = 1 + COLOURS
        for seat in range(players):
            agent = (viewer + seat) % players
            for colour in range(COLOURS):
                held = view["held"][agent, colour]
                same[plane + colour] = held
                same[plane + COLOURS + colour] = held & 1
            plane += 2 * COLOURS
            same[plane] = agent == view["to_move"] and not view["done"]
            same[plane + 1] = view["out"][agent]
            plane += 2
        out[i] = 0
        for cell in range(len(pieces)):
            here = out[i, rows[cell], cols[cell]]
            for k in range(len(same)):
                here[k] = same[k]
            if pieces[cell] != EMPTY:
                here[pieces[cell]] = 1
