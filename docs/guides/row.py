"""Row: players put stones on a row of cells, never next to another stone; a player who cannot move loses.

This is Dawson's chess under normal play, and node Kayles on a path. Board texts are written "x..x.".
"""

from collections.abc import Iterator
from typing import Any, final

import numpy as np

from pbm_envs.authoring import (
    ALLOW_RESIGN,
    EMPTY,
    NOBODY,
    Cell,
    Circle,
    Game,
    Glyph,
    Heat,
    Ints,
    Mask,
    Option,
    Planes,
    Polygon,
    Record,
    Scene,
    Seeds,
    Shape,
    States,
    Symmetry,
    begin_ply,
    draw,
    kernel,
    register_game,
    shows_mask,
    square,
    state_dtype,
    symmetry_of_cells,
    win,
)  # fmt: skip
from pbm_envs.render.parts import rectangle, warm_cells

STONE = 1
PLANES = {"stone": "a stone stands here", "free": "a stone may be put here", "my turn": "the viewer is to move"}


# The rules, as kernels over one record.


@kernel
def is_free(stones: Ints, cell: int) -> bool:
    left = cell == 0 or stones[cell - 1] == EMPTY
    right = cell == len(stones) - 1 or stones[cell + 1] == EMPTY
    return stones[cell] == EMPTY and left and right


@kernel
def put(state: Record, cell: int) -> None:
    """Put a stone on a cell; end the game if no cell is free."""
    stones, mover = state["stones"], begin_ply(state, cell)
    stones[cell] = STONE
    for other in range(len(stones)):
        if is_free(stones, other):
            return
    win(state, mover)


# Batches.


@kernel
def step_batch(states: States, actions: Ints, resign: int) -> int:
    for i in range(len(states)):  # check all actions before changing a state
        state, action = states[i], actions[i]
        if state["done"]:
            continue
        legal = is_free(state["stones"], action) if 0 <= action < len(state["stones"]) else action == resign >= 0
        if not legal or state["viewer"] != NOBODY:
            return i
    for i in range(len(states)):
        state, action = states[i], actions[i]
        if state["done"]:
            continue
        if action == resign:
            win(state, 1 - begin_ply(state, action))
        else:
            put(state, action)
    return -1


@kernel
def mask_batch(states: States, out: Mask, resign: int) -> None:
    for i in range(len(states)):
        state = states[i]
        out[i] = False
        if not shows_mask(state):
            continue
        for cell in range(len(state["stones"])):
            out[i, cell] = is_free(state["stones"], cell)
        if resign >= 0:
            out[i, resign] = True


@kernel
def playout_batch(states: States, seeds: Seeds, last_player: Ints) -> None:
    """Play to the end with uniform moves; the k-th free cell replaces the choice with probability 1/k."""
    for i in range(len(states)):
        state = states[i]
        while not state["done"]:
            seen, chosen = 0, 0
            for cell in range(len(state["stones"])):
                if is_free(state["stones"], cell):
                    seen += 1
                    if draw(seeds, i, seen) == 0:
                        chosen = cell
            if last_player.size:
                last_player[i, chosen] = state["to_move"]
            put(state, chosen)


@register_game
@final
class Row(Game):
    """`size` cells, 3 to 26. Actions: the cells, then `resign` where allowed."""

    name = "row"
    moves_player_independent = True
    configurations = ({"size": 3}, {"size": 9, "allow_resign": True})

    declared_options = (Option("size", int, 9, low=3, high=26, help="Cells of the row."), ALLOW_RESIGN)

    def __init__(self, **options: Any) -> None:
        options = self.check_options(options)
        size = options["size"]
        board = square(1, size)
        super().__init__(
            options=options,
            board=board,
            dtype=state_dtype(2, [("stones", "i1", (size,))]),
            planes=PLANES,
            moves=board.names,
            form="a cell such as 'b1'",
            max_plies=(size + 1) // 2 + options["allow_resign"],
        )

    def _init(self, states: States, seeds: Seeds, board: str | None) -> None:
        text = "." * self.board.size if board is None else board.strip()
        stones = np.array([letter == "x" for letter in text], np.int8)
        if len(text) != self.board.size or set(text) - {".", "x"} or "xx" in text or "..." not in f".{text}.":
            raise ValueError(
                f"board is {board!r}: expected {self.board.size} of . and x, no two x side by side, room for another"
            )
        states["stones"] = stones

    def _step(self, states: States, actions: Ints) -> int:
        return step_batch(states, actions, self.resign_action)

    def _legal_action_mask(self, states: States, out: Mask) -> None:
        mask_batch(states, out, self.resign_action)

    def _playout(self, states: States, seeds: Seeds, last_player_by_action: Ints, avoid_losing_moves: bool) -> None:
        playout_batch(states, seeds, last_player_by_action)

    def _observe(self, views: States, out: Planes) -> None:
        """Write the planes; NumPy can read the fields as well as a kernel."""
        stones = np.pad(views["stones"], ((0, 0), (1, 1)))
        viewers = np.maximum(views["viewer"], 0)  # a full state is observed as player_0
        out[:, 0, :, 0] = views["stones"]
        out[:, 0, :, 1] = stones[:, :-2] + stones[:, 1:-1] + stones[:, 2:] == 0
        out[:, 0, :, 2] = (views["to_move"] == viewers)[:, None]

    def _transform(self, states: States, symmetry: Symmetry) -> None:
        states["stones"][:, symmetry.cells] = states["stones"].copy()

    def _symmetries(self) -> Iterator[Symmetry]:
        """Yield the identity and the mirror image of the row."""
        named = [self.action_cells(action) for action in range(self.num_actions)]
        cells = np.arange(self.board.size)
        for name, order in (("identity", cells), ("mirror", cells[::-1])):
            yield symmetry_of_cells(name, order, named, len(self.planes))

    def _board_to_string(self, state: Record) -> str:
        return "".join(".x"[stone] for stone in state["stones"])

    def _scene(self, view: Record, heat: Heat) -> Scene:
        """Return the scene from which text, SVG and pixels are drawn."""
        stones, size = view["stones"].tolist(), self.board.size
        outlines = [rectangle(cell - 0.5, -0.5, 1, 1) for cell in range(size)]
        shapes: list[Shape] = [Polygon(outline, "cell", "rim", 0.05) for outline in outlines]
        shapes += warm_cells(heat, {action: self.action_cells(action) for action in heat}, outlines)
        shapes += [Circle(cell, 0, 0.35, "ink") for cell in range(size) if stones[cell]]
        return Scene(
            box=(-0.7, -0.7, size + 0.4, 1.4),
            shapes=tuple(shapes),
            cells=tuple(Cell(k, name, outlines[k]) for k, name in enumerate(self.board.names)),
            glyphs=tuple(Glyph(0, 2 * cell, ".x"[stones[cell]]) for cell in range(size)),
            caption=self.status(view),
        )
