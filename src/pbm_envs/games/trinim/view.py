"""The observation planes of Trinim, in which players see everything."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ...core.kernels import stack_kernel
from ...core.state import NOBODY, Ints, Planes, States
from ...core.words import WORD, flat, load_word, records_of_words, store_word
from .rules import COLOURS, NAMES, RED

OWNERS = ("me", "the next player", "the player after that")
HELD, ODD, TURN, OUT = "{colour} held by {owner}", "odd {colour} held by {owner}", "turn of {owner}", "out: {owner}"
"""The names of planes; seats are counted from the viewer."""
SEAT_PLANES = (HELD, ODD, TURN, OUT)


def planes(players: int) -> dict[str, str]:
    """Return the names and meanings of the planes of an observation."""
    table = {"cell": "a cell of the triangle"}
    table |= {colour: f"a {colour} piece lies here" for colour in NAMES.values()}
    for owner in OWNERS[:players]:
        for colour in NAMES.values():
            table[HELD.format(colour=colour, owner=owner)] = f"how many {colour} pieces"
        for colour in NAMES.values():
            table[ODD.format(colour=colour, owner=owner)] = f"1 if that is odd: {colour} does not score"
        table |= {TURN.format(owner=owner): "1 if to move", OUT.format(owner=owner): "1 if resigned"}
    return table


CELL_PLANE = list(planes(2)).index("cell")


def seat_planes(players: int) -> Ints:
    """Return (players, 4): for each seat, counted from the viewer, the first plane of each kind of `SEAT_PLANES`."""
    index, first = list(planes(players)).index, NAMES[RED]
    return np.array(
        [[index(name.format(colour=first, owner=owner)) for name in SEAT_PLANES] for owner in OWNERS[:players]]
    )


def recoloured_planes(players: int, colours: Mapping[int, int]) -> Mapping[str, str]:
    """Return the image of each plane under an exchange of colours."""
    becomes = {NAMES[old]: NAMES[new] for old, new in colours.items()}
    return becomes | {
        name.format(colour=old, owner=owner): name.format(colour=new, owner=owner)
        for name in (HELD, ODD)
        for owner in OWNERS[:players]
        for old, new in becomes.items()
    }


def colour_words(players: int) -> States:
    """Return (1 + COLOURS,) records: the planes of an empty cell and of a piece of each colour, in words."""
    looks = np.zeros((1 + COLOURS, len(planes(players)) // WORD * WORD), np.int8)
    for colour, name in NAMES.items():
        looks[colour, list(planes(players)).index(name)] = 1
    return records_of_words(looks)


@stack_kernel
def observe_batch(views: States, out: Planes, looks: States, places: Ints, seat_planes: Ints) -> None:
    """Write the observations of `views`; `places` (n,) is the index of each cell in the grid, counted row by row."""
    row, width = flat(out), out.shape[3]
    size = out.shape[1] * out.shape[2] * width
    same = np.zeros(-(-width // WORD) * WORD, np.int8)  # the planes that are the same on every cell
    same[CELL_PLANE] = 1
    for i in range(len(views)):
        view, first = views[i], i * size
        pieces, held, resigned, players = view["pieces"], view["held"], view["out"], len(view["out"])
        agent = 0 if view["viewer"] == NOBODY else int(view["viewer"])
        to_move = NOBODY if view["done"] else int(view["to_move"])
        for seat in range(players):
            held_planes, odd_planes = seat_planes[seat, 0], seat_planes[seat, 1]
            for colour in range(COLOURS):
                count = held[np.uint64(agent), colour]
                same[np.uint64(held_planes + colour)] = count
                same[np.uint64(odd_planes + colour)] = count & 1
            same[np.uint64(seat_planes[seat, 2])] = agent == to_move
            same[np.uint64(seat_planes[seat, 3])] = resigned[np.uint64(agent)]
            agent = agent + 1 if agent + 1 < players else 0
        for k in range(size):  # here, since reading just-written bytes as words stalls
            row[first + k] = 0
        tail = load_word(same, width - WORD)
        for cell in range(len(pieces)):
            at = first + int(places[np.uint64(cell)]) * width
            look = looks[np.uint8(pieces[np.uint64(cell)])]["words"]
            for k in range(len(look)):
                store_word(row, at + k * WORD, load_word(same, k * WORD) | look[k])
            store_word(row, at + width - WORD, tail)
