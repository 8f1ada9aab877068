"""What the tests of Curio share: cells of positions, small random positions, options, and a bound for chi-square."""

import itertools
from collections import Counter
from math import sqrt

import numpy as np

PICTURED = "D11 D33 D12 D22 D13/D23 D14 D24 D44 D34/. . . . ./L44 L43 L22 L21 L33/L42 L41 L11 L32 L31"
"""The help page's picture (C14); the faces that it does not show are chosen so that each army is one set."""
FACES = ("large", "small", "random")
CAPTURES = ("lt", "le", "gt", "ge", "lt_total", "le_total", "gt_total", "ge_total", "any")
VARIANTS = [
    {"face": face, "turn": turn, "reveal_captured": reveal, "limit": limit, "capture": capture}
    for face, turn, reveal, limit, capture in itertools.product(FACES, *[(True, False)] * 3, CAPTURES)
]
"""Every combination of the options that decide what is legal and what is known."""


def at(game, record, cell):
    """What stands on a cell, in the form of the board text."""
    rows = game.board_to_string(record).split("/")
    return rows[-int(cell[1:])].split()["abcdefghijklmnopqrstuvwxyz".index(cell[0])]


def may_hide(game, views):
    """The numbers that each piece on the board can have on its other side, by cell, as `observe` has them."""
    planes, seen = list(game.planes), game.observe(views)[0].reshape(game.board.size, -1)
    hides = [planes.index(f"may hide {v}") for v in range(1, game.options["base"] + 1)]
    pieces = seen[:, planes.index("mine")] + seen[:, planes.index("enemy")]
    return {game.board.names[cell]: set(1 + np.flatnonzero(seen[cell, hides])) for cell in np.flatnonzero(pieces)}


def some_board(rng, rows, cols, base, face, pieces, **_):
    """So many pieces a side on any cells, most of them turned as `face` demands."""
    cells = ["."] * (rows * cols)
    for k, cell in enumerate(rng.sample(range(rows * cols), 2 * pieces)):
        own, far = sorted(rng.choices(range(1, base + 1), k=2), reverse=(face == "large") != (rng.random() < 0.1))
        cells[cell] = f"L{own}{far}" if k < pieces else f"D{far}{own}"
    return "/".join(" ".join(cells[row * cols : (row + 1) * cols]) for row in range(rows))


def expect_uniform(cases, draws, missing=False):
    """Draw `draws` worlds for each world of every case: no others, and each equally often. The degrees of freedom.

    A case is a name, a function that draws worlds for views, a view (1,), and the `faces` of all its worlds as bytes.
    With `missing`, some worlds may never be drawn.
    """
    total, freedom = 0.0, 0
    for name, draw, view, worlds in cases:
        assert len(set(worlds)) == len(worlds)
        counts = Counter(state["faces"].tobytes() for state in draw(np.repeat(view, draws * len(worlds))))
        assert counts.keys() <= set(worlds), name
        assert missing or counts.keys() == set(worlds), name
        total += sum((counts[world] - draws) ** 2 / draws for world in worlds)
        freedom += len(worlds) - 1
    assert total < chi_square_bound(freedom)
    return freedom


def chi_square_bound(freedom):
    """What a chi-square exceeds with a probability below exp(-20) = 2e-9 (Laurent & Massart 2000, lemma 1)."""
    return freedom + 2 * sqrt(20 * freedom) + 40
