"""Phantom tic-tac-toe as a game of pbm_envs: players do not see the opponent's marks or the moves that place them.

A move onto a cell that the opponent holds reveals the mark there, and the same player moves again. Three in a row win;
a full board is a draw. Both players see that a move was made, and by whom. Related games (`dark_hex.py`) differ only in
`figures`, the sets of cells with which each player wins, as bits.
"""

import numpy as np

from pbm_envs.authoring import (
    EMPTY,
    NOBODY,
    Game,
    Mask,
    Planes,
    Record,
    RecordRules,
    Seeds,
    States,
    Tables,
    end_in_draw,
    kernel,
    register_game,
    shuffle,
    square,
    state_dtype,
    win,
)

LINES = (0b111, 0b111000, 0b111000000, 0b1001001, 0b10010010, 0b100100100, 0b100010001, 0b1010100)


@kernel
def has_won(marks: np.ndarray, player: int, figures: np.ndarray) -> bool:
    cells = 0
    for cell in range(9):
        cells |= int(marks[cell] == 1 + player) << cell
    for figure in figures[player]:  # noqa: SIM110  Numba knows no any()
        if cells & figure == figure:
            return True
    return False


@kernel
def play(state: Record, mover: int, action: int, tables: Tables) -> None:
    state["known"][mover, action] = True
    if state["marks"][action] != EMPTY:  # the mover has found an opponent's mark and moves again
        state["to_move"] = mover
        return
    state["marks"][action] = 1 + mover
    placed = 0
    for mark in state["marks"]:
        placed += mark != EMPTY
    if has_won(state["marks"], mover, tables[0]):
        win(state, mover)
    elif placed == 9:
        end_in_draw(state)


@kernel
def mark_legal(state: Record, mask: Mask, tables: Tables) -> None:
    for cell in range(9):
        mask[cell] = not state["known"][state["to_move"], cell]


@kernel
def observe(view: Record, viewer: int, planes: Planes, tables: Tables) -> None:
    for cell in range(9):
        planes[cell // 3, cell % 3, 0] = view["marks"][cell] == 1 + viewer
        planes[cell // 3, cell % 3, 1] = view["marks"][cell] == 2 - viewer


@kernel
def hide_batch(states: States, views: States) -> None:
    """Blank the opponent's marks that the viewers have not found, and the marks that the opponent has found."""
    for i in range(len(states)):
        viewer = views[i]["viewer"]
        views[i] = states[i]
        views[i]["viewer"] = viewer
        if not states[i]["done"]:
            for cell in range(9):
                if not states[i]["known"][viewer, cell]:
                    views[i]["marks"][cell] = EMPTY
                views[i]["known"][1 - viewer, cell] = False


@kernel
def fill_in_batch(views: States, states: States, seeds: Seeds, figures: np.ndarray) -> None:
    """Draw the opponent's marks, and the marks that the opponent has found, uniformly given the view.

    Marks are placed in turns, so the viewer knows the number of the opponent's marks. Plies that placed no mark found
    one, so the viewer also knows the number of marks that the opponent has found.
    """
    hidden, own = np.empty(9, np.int64), np.empty(9, np.int64)
    for i in range(len(views)):
        states[i] = views[i]
        viewer, state = views[i]["viewer"], states[i]
        if viewer == NOBODY or state["done"]:
            continue
        hidden_count = own_count = found = 0
        for cell in range(9):
            if not state["known"][viewer, cell]:
                hidden[hidden_count] = cell
                hidden_count += 1
            elif state["marks"][cell] == 1 + viewer:
                own[own_count] = cell
                own_count += 1
            else:
                found += 1
        other = 1 - viewer
        theirs = own_count  # player_0 has one mark more when player_1 is to move
        if state["to_move"] == 1:
            theirs += 1 if viewer == 1 else -1
        while True:
            for cell in hidden[:hidden_count]:
                state["marks"][cell] = EMPTY
            shuffle(seeds, i, hidden[:hidden_count])
            for cell in hidden[: theirs - found]:
                state["marks"][cell] = 1 + other
            if not has_won(state["marks"], other, figures):
                break
        for cell in range(9):
            state["known"][other, cell] = state["marks"][cell] == 1 + other
        shuffle(seeds, i, own[:own_count])
        for cell in own[: state["ply"] - own_count - theirs - found]:
            state["known"][other, cell] = True


@register_game
class Phantom(Game):
    """Tic-tac-toe in which players do not see each other's moves. Actions: the cells, row by row from a1."""

    name = "phantom"
    perfect_information = False
    public_moves = False
    rules = RecordRules(play, mark_legal, observe)
    board = square(3, 3)
    figures = np.array([LINES, LINES])
    """The sets of cells with which each player wins, (2, number of figures)."""

    def __init__(self) -> None:
        board, self.tables = self.board, (self.figures,)
        planes = {"mine": "the viewer's mark", "theirs": "a mark of the opponent that the viewer has found"}
        super().__init__(
            options={},
            board=board,
            dtype=state_dtype(2, [("marks", "i1", (9,)), ("known", "?", (2, 9))]),
            planes=planes,
            moves=board.names,
            form="a cell such as 'b2'",
            max_plies=17,
        )

    def _init(self, states: States, seeds: Seeds, board: str | None) -> None:
        if board not in (None, ".../.../..."):
            raise ValueError(f"board is {board!r}: expected '.../.../...', since positions are given as moves")

    def _board_to_string(self, state: Record) -> str:
        text = "".join(".xo"[mark] for mark in state["marks"])
        return "/".join(text[k : k + 3] for k in (0, 3, 6))

    def _view(self, states: States, views: States) -> None:
        hide_batch(states, views)

    def _determinize(self, views: States, seeds: Seeds) -> States:
        states = np.empty_like(views)
        fill_in_batch(views, states, seeds, self.figures)
        return states
