"""Tic-tac-toe as a complete game of pbm_envs: three in a row win. Board texts: "x../.o./...", rows from the top."""

import numpy as np

from pbm_envs.authoring import EMPTY, Game, RecordRules, end_in_draw, kernel, register_game, square, state_dtype, win

LINES = np.array([[0, 1, 2], [3, 4, 5], [6, 7, 8], [0, 3, 6], [1, 4, 7], [2, 5, 8], [0, 4, 8], [2, 4, 6]])


@kernel
def play(state, mover, action, tables):
    marks = state["marks"]
    marks[action] = 1 + mover
    for line in LINES:
        if marks[line[0]] == marks[line[1]] == marks[line[2]] == 1 + mover:
            win(state, mover)
            return
    if state["ply"] >= 9:
        end_in_draw(state)


@kernel
def mark_legal(state, mask, tables):
    for cell in range(9):
        mask[cell] = state["marks"][cell] == EMPTY


@kernel
def observe(view, viewer, planes, tables):
    for cell in range(9):
        planes[cell // 3, cell % 3, 0] = view["marks"][cell] == 1 + viewer
        planes[cell // 3, cell % 3, 1] = view["marks"][cell] == 2 - viewer


@register_game
class TicTacToe(Game):
    """Actions: the cells, row by row from a1."""

    name = "tictactoe"
    rules = RecordRules(play, mark_legal, observe)

    def __init__(self):
        board = square(3, 3)
        planes = {"mine": "the viewer's mark", "theirs": "a mark of the opponent"}
        super().__init__(
            options={}, board=board, dtype=state_dtype(2, [("marks", "i1", (9,))]), planes=planes, moves=board.names,
            form="a cell such as 'b2'", max_plies=9,
        )  # fmt: skip

    def _init(self, states, seeds, board):
        if board not in (None, ".../.../..."):
            raise ValueError(f"board is {board!r}: expected '.../.../...', since positions are given as moves")

    def _board_to_string(self, state):
        text = "".join(".xo"[mark] for mark in state["marks"])
        return "/".join(text[k : k + 3] for k in (0, 3, 6))
