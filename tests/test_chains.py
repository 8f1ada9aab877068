"""What `join` takes for granted of a board of hexagons. (That it joins what it must: tests/test_reference.py)"""

import pytest

from pbm_envs.core.boards import NO_CELL, hexagon, rhombus
from pbm_envs.games.chains import RUNS, around

BOARDS = [rhombus(3), rhombus(11), rhombus(26), hexagon(3), hexagon(6), hexagon(13)]


@pytest.mark.parametrize("board", BOARDS, ids=lambda board: f"{board.size} cells")
def test_neighbours_stand_in_a_ring(board):
    ring, neighbours = around(board).tolist(), board.neighbours.tolist()
    for cell, (*beside, inside) in enumerate(ring):
        assert [other != NO_CELL for other in neighbours[cell]] == [bool(inside >> k & 1) for k in range(6)]
        assert [cell if other == NO_CELL else other for other in neighbours[cell]] == beside
        for one, following in zip(beside, beside[1:] + beside[:1], strict=True):
            assert cell in (one, following) or following in neighbours[one]


def test_runs_of_a_ring():
    for bits in range(64):
        places = [k for k in range(6) if bits >> k & 1]
        firsts = [k for k in places if (k - 1) % 6 not in places]
        assert RUNS[bits] == sum(1 << k for k in firsts or places[:1])
