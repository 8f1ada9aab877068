"""Hex as a complete game of pbm_envs: player_0 joins the top and bottom edges, player_1 the left and right ones.

There is no swap rule, as in OpenSpiel's `hex`. Board texts are rows from the top, such as "x../.o./...": x is player_0.
"""

from typing import Any

import numpy as np

from pbm_envs.authoring import (
    EMPTY,
    NO_CELL,
    Game,
    Ints,
    Mask,
    Option,
    Planes,
    Record,
    RecordRules,
    Seeds,
    States,
    Tables,
    begin_ply,
    draw,
    kernel,
    register_game,
    rhombus,
    state_dtype,
    win,
)

PLANES = {"mine": "the viewer's stone", "theirs": "a stone of the opponent", "left to right": "the viewer is player_1"}
EDGES = (1 | 2, 4 | 8)  # the edges that each player joins, as bits of `Board.edges`


@kernel
def root_of(chain: Ints, cell: int) -> int:
    """Return the root of a stone's chain; halve the path to it (union-find)."""
    while chain[cell] != cell:
        chain[cell] = chain[chain[cell]]
        cell = chain[cell]
    return cell


@kernel
def play(state: Record, mover: int, action: int, tables: Tables) -> None:
    neighbours, edges = tables
    stones, chain, touches = state["stones"], state["chain"], state["touches"]
    stones[action] = 1 + mover
    chain[action] = action
    reached = edges[action]
    for other in neighbours[action]:
        if other != NO_CELL and stones[other] == 1 + mover:
            root = root_of(chain, other)
            reached |= touches[root]
            chain[root] = action
    touches[action] = reached
    goal = EDGES[mover]
    if reached & goal == goal:
        win(state, mover)


@kernel
def mark_legal(state: Record, mask: Mask, tables: Tables) -> None:
    stones = state["stones"]
    for cell in range(len(stones)):
        mask[cell] = stones[cell] == EMPTY


@kernel
def observe(view: Record, viewer: int, planes: Planes, tables: Tables) -> None:
    stones, size = view["stones"], planes.shape[1]
    for cell in range(len(stones)):
        row, col = cell // size, cell % size
        planes[row, col, 0] = stones[cell] == 1 + viewer
        planes[row, col, 1] = stones[cell] == 2 - viewer
        planes[row, col, 2] = viewer


@kernel
def playout(state: Record, seeds: Seeds, i: int, tables: Tables, last_player: Ints) -> None:
    """Play to the end; keeping a list of the empty cells is faster than marking the legal actions at each ply."""
    stones, count = state["stones"], 0
    free = np.empty(len(stones), np.int16)
    for cell in range(len(stones)):
        if stones[cell] == EMPTY:
            free[count] = cell
            count += 1
    while not state["done"]:
        k = draw(seeds, i, count)
        action = free[k]
        count -= 1
        free[k] = free[count]
        mover = begin_ply(state, action)
        if last_player.size:
            last_player[i, action] = mover
        play(state, mover, action, tables)


@register_game
class Hex(Game):
    """Hex on `size` by `size` cells. Actions: the cells, row by row from a1."""

    name = "hex"
    rules = RecordRules(play, mark_legal, observe, playout)
    declared_options = (Option("size", int, 11, low=2, high=19, help="Cells along a side."),)
    configurations = ({"size": 3}, {"size": 5}, {})

    def __init__(self, **options: Any) -> None:
        options = self.check_options(options)
        board = rhombus(options["size"])
        self.tables = (board.neighbours, board.edges)
        fields = [("stones", "i1", (board.size,)), ("chain", "i2", (board.size,)), ("touches", "u1", (board.size,))]
        super().__init__(
            options=options, board=board, dtype=state_dtype(2, fields), planes=PLANES, moves=board.names,
            form="a cell such as 'b2'", max_plies=board.size,
        )  # fmt: skip

    def _init(self, states: States, seeds: Seeds, board: str | None) -> None:
        if board is None:
            return
        size, rows = self.board.shape[0], board.strip().split("/")
        text = "".join(rows)
        ahead = text.count("x") - text.count("o")
        if [len(row) for row in rows] != [size] * size or set(text) - set(".xo") or ahead not in (0, 1):
            raise ValueError(
                f"board is {board!r}: expected {size} rows of {size} of . x o, x as often as o or once more"
            )
        for cell in range(len(text)):
            if text[cell] != ".":
                play(states[0], "xo".index(text[cell]), cell, self.tables)
        if states[0]["done"]:
            raise ValueError(f"board is {board!r}: expected a game that has not been won")
        states[:] = states[0]
        states["to_move"] = ahead

    def _board_to_string(self, state: Record) -> str:
        text, size = "".join(".xo"[stone] for stone in state["stones"]), self.board.shape[0]
        return "/".join(text[row * size : (row + 1) * size] for row in range(size))
