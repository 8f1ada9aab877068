"""Curio by one set of options."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from itertools import combinations_with_replacement
from typing import final

import numpy as np
from numpy.typing import NDArray

from ..boards import NO_CELL, Board, square
from ..checks import check_flag, check_range
from ..game import Game
from ..randomness import Seeds, branch
from ..render.parts import Heat
from ..render.scene import Scene
from ..state import EMPTY, NO_ACTION, NOBODY, Ints, Mask, Planes, Record, States, copied
from ..symmetry import Symmetry, permutation
from .rules import (
    ANY,
    BASE,
    COMPARE,
    DIRECTIONS,
    FACE,
    GREATER,
    GREATER_EQUAL,
    LARGE,
    LESS,
    LESS_EQUAL,
    LIMIT,
    MOVES,
    NO_PIECE,
    QUIET_LIMIT,
    RANDOM,
    RESIGN,
    REVEAL,
    SMALL,
    TOTAL,
    TURN,
    curio_dtype,
    mask_batch,
    playout_batch,
    set_up_batch,
    start_batch,
    step_batch,
)
from .scene import draw
from .text import board_text, read_board
from .view import hide_batch, observe_batch, planes
from .worlds import deal_batch, draw_turnings, split_batch

FACES = {"large": LARGE, "small": SMALL, "random": RANDOM}
COMPARES = {"lt": LESS, "le": LESS_EQUAL, "gt": GREATER, "ge": GREATER_EQUAL}
CAPTURES = (*COMPARES, *(f"{name}_total" for name in COMPARES), "any")
NO_END = 2**31 - 1
"""`max_plies` without a limit: what `ply` can count."""
MOST_TRIES = 1 << 20
"""Draws for one view before `determinize` gives up."""


@final
class Curio(Game):
    """Pieces with two faces, of which each player sees one (C1 to C15).

    Actions: every pair of cells on a common line within reach, by cell of origin (a1, b1, ...), direction and distance;
    then `pass`; then `resign` where allowed.
    """

    name = "curio"
    num_players = 2
    perfect_information = False
    configurations = (
        {"base": 2, "rows": 4, "cols": 3, "limit": False, "capture": "any", "no_capture_limit": None},
        {},
        {"face": "random", "capture": "lt", "turn": False, "allow_resign": True},
        {"face": "small", "capture": "ge", "reveal_captured": False},
        {"face": "random", "turn": False, "reveal_captured": False, "no_capture_limit": 30},
        {"base": 3, "rows": 6, "cols": 4, "num_pieces": 12, "capture": "gt", "turn": False, "no_capture_limit": 7},
        {"base": 3, "rows": 4, "cols": 4, "capture": "le_total", "allow_resign": True},
        {"base": 3, "rows": 4, "cols": 4, "capture": "gt_total", "turn": False, "face": "small"},
    )

    def __init__(
        self,
        *,
        base: int = 4,
        rows: int = 5,
        cols: int = 5,
        num_pieces: int | None = None,
        turn: bool = True,
        limit: bool = True,
        face: str = "large",
        capture: str = "le",
        reveal_captured: bool = True,
        no_capture_limit: int | None = 100,
        allow_resign: bool = False,
    ) -> None:
        """As in C1, C9 and C13. `base` 2 to 9; `rows`, `cols` 2 to 26; `num_pieces` a multiple of base(base+1)/2."""
        for name, value, low, high in (("base", base, 2, 9), ("rows", rows, 2, 26), ("cols", cols, 2, 26)):
            check_range(name, value, low, high)
        for name, flag in (("turn", turn), ("limit", limit), ("reveal_captured", reveal_captured)):
            check_flag(name, flag)
        check_flag("allow_resign", allow_resign)
        if face not in FACES:
            raise ValueError(f"face is {face!r}: expected one of {', '.join(FACES)}")
        if capture not in CAPTURES:
            raise ValueError(f"capture is {capture!r}: expected one of {', '.join(CAPTURES)}")
        if no_capture_limit is not None:
            check_range("no_capture_limit", no_capture_limit, 1, 1_000_000)
        kinds = list(combinations_with_replacement(range(1, int(base) + 1), 2))
        pieces = len(kinds) if num_pieces is None else num_pieces
        check_range("num_pieces", pieces, 1, rows * cols)
        if pieces % len(kinds):  # C2
            raise ValueError(f"num_pieces is {pieces}: expected a multiple of {len(kinds)}, one set of base {base}")
        depth = -(-pieces // cols)
        if 2 * depth > rows:  # C3
            raise ValueError(
                f"two armies of {pieces} pieces need {2 * depth} rows of {cols} cells: there are {rows} rows"
            )
        self._deck = np.zeros((depth * cols, 2), np.int8)
        self._deck[:pieces] = kinds * (pieces // len(kinds))
        board = square(int(rows), int(cols))
        self._steps, self._moves, texts = _moves(board, int(base) if limit else max(int(rows), int(cols)))
        self._base, self._face, self._total = int(base), FACES[face], capture.endswith("_total")
        self._settings = np.zeros(10, np.int64)
        self._settings[BASE] = base
        self._settings[TURN] = turn
        self._settings[LIMIT] = limit
        self._settings[FACE] = self._face
        self._settings[COMPARE] = COMPARES.get(capture.removesuffix("_total"), ANY)
        self._settings[TOTAL] = self._total
        self._settings[REVEAL] = reveal_captured
        self._settings[QUIET_LIMIT] = no_capture_limit or 0
        self._settings[MOVES] = len(texts)
        self._settings[RESIGN] = len(texts) + 1 if allow_resign else NO_ACTION
        self.planes = planes(int(base))
        super().__init__(
            options={
                "base": int(base),
                "rows": int(rows),
                "cols": int(cols),
                "num_pieces": int(pieces),
                "turn": bool(turn),
                "limit": bool(limit),
                "face": face,
                "capture": capture,
                "reveal_captured": bool(reveal_captured),
                "no_capture_limit": None if no_capture_limit is None else int(no_capture_limit),
                "allow_resign": bool(allow_resign),
            },
            board=board,
            dtype=curio_dtype(board.size, self._base, len(texts), self._total),
            moves=[*texts, "pass"],
            form=f"two cells on a line such as {texts[0]!r}, or 'pass'",
            # at most all pieces but two are captured, each after as long as may be; boards can be full
            max_plies=NO_END if no_capture_limit is None else (board.size - 1) * int(no_capture_limit),
        )

    def _init(self, states: States, seeds: Seeds, board: str | None) -> None:
        if board is None:
            set_up_batch(states, seeds, self._deck, self._settings)
        else:
            owner, faces = read_board(board, self.board, self._base)
            states["owner"], states["faces"] = owner, faces
        start_batch(states, self._settings)

    def _step(self, states: States, actions: Ints) -> int:
        return step_batch(states, actions, self._moves, self.board.neighbours, self._settings)

    def _legal_action_mask(self, states: States, out: Mask) -> None:
        mask_batch(states, out, self._steps, self._settings)
        if self._total:  # what a view's faces allow is not known there: it carries its legal actions (C7)
            views = states["viewer"] != NOBODY
            out[views] = states["legal"][views, : self.num_actions]

    def _view(self, states: States, views: States) -> None:
        hide_batch(states, views, self._base)
        if self._total:
            movers = np.flatnonzero(views["viewer"] == views["to_move"])
            views["legal"][movers, : self.num_actions] = self.legal_action_mask(states[movers])

    def _observe(self, views: States, out: Planes) -> None:
        observe_batch(views, out, self._settings)

    def _determinize(self, views: States, seeds: Seeds) -> States:
        own = self._branches(seeds, np.arange(len(views)))  # so that `seeds` does not tell how many tries it took
        states, good = self._deal(views, self._branches(own, np.arange(len(views))))
        pending, copies, tries = np.flatnonzero(~good), 1, 1
        while len(pending):
            if tries > MOST_TRIES:
                raise RuntimeError(f"{self!r}: found no position that fits what a player knows in {tries} draws")
            rows = np.repeat(pending, copies)
            worlds, good = self._deal(views[rows], self._branches(own, rows))
            found, first = np.unique(rows[good], return_index=True)
            states[found] = worlds[good][first]
            pending, tries = np.setdiff1d(pending, found), tries + copies
            copies = min(2 * copies, 1 + 4096 // (1 + len(pending)))
        if self._total:
            states["legal"] = 0
        return states

    @staticmethod
    def _branches(seeds: Seeds, rows: NDArray[np.int64]) -> Seeds:
        streams = np.empty(len(rows), np.uint64)
        branch(seeds, rows, streams)
        return streams

    def _deal(self, views: States, seeds: Seeds) -> tuple[States, Mask]:
        """Faces for the hidden pieces of copies of `views`, and which of these are consistent."""
        worlds, good = copied(views), np.empty(len(views), np.bool_)
        hidden = np.zeros((len(views), 2, self._base + 1, self._base + 1), np.int64)
        if self._face == RANDOM:
            draw_turnings(worlds, self._settings, seeds, hidden)
        else:
            split_batch(worlds, self._settings, hidden)
        deal_batch(worlds, hidden, self._settings, seeds, good)
        if self._total:  # a mover knows their legal actions (C7)
            movers = views["viewer"] == views["to_move"]
            open_worlds = worlds[movers]
            open_worlds["viewer"] = NOBODY
            masks = self.legal_action_mask(open_worlds)
            good[movers] &= (masks == views["legal"][movers, : self.num_actions]).all(axis=1)
        return worlds, good

    def _playout(self, states: States, seeds: Seeds, careful: bool, trace: Ints) -> None:
        playout_batch(states, seeds, self._moves, self._steps, self.board.neighbours, self._settings, trace)

    def _transform(self, states: States, symmetry: Symmetry) -> None:
        cells, players = symmetry.cells, list(symmetry.players)
        old = copied(states)
        for name in ("owner", "known", "faces", "bounds"):
            states[name][:, cells] = old[name]
        for name in ("cell", "taker"):
            states[name][:, cells] = np.where(old[name] < 0, old[name], cells[old[name]])
        states["fallen"] = np.where(old["fallen"] < 0, old["fallen"], cells[old["fallen"]])
        states["board"][:, cells] = np.where(old["board"] == NO_PIECE, NO_PIECE, cells[old["board"]])
        states["owner"] = np.where(states["owner"] == NOBODY, NOBODY, np.asarray(players)[states["owner"]])
        states["faces"] = states["faces"][:, :, players]
        states["bounds"] = states["bounds"][:, :, players]
        states["sets"] = old["sets"][:, players]
        if self._total:
            states["legal"][:, symmetry.actions] = old["legal"][:, : self.num_actions]

    def _symmetries(self) -> Iterator[Symmetry]:
        """Left for right; and Light for Dark, who sits opposite."""
        places, last = self.board.places, self.board.shape[0] - 1
        status = 2 + 2 * self._base
        words = np.arange(len(self._moves), self.num_actions)
        ends = {pair: k for k, pair in enumerate(_ends(self._moves, self.board))}
        for mirrored in (False, True):
            for exchanged in (False, True):
                move = {
                    (row, col): (last - row if exchanged else row, self.board.shape[1] - 1 - col if mirrored else col)
                    for row, col in places
                }
                cells = permutation(move, places)
                seen = np.arange(len(self.planes))
                if exchanged:
                    seen[[status + 1, status + 2]] = [status + 2, status + 1]
                yield Symmetry(
                    name=" and ".join(["mirror"] * mirrored + ["Light for Dark"] * exchanged) or "identity",
                    cells=cells,
                    actions=np.array([ends[int(cells[a]), int(cells[b])] for a, b in ends] + words.tolist(), np.int64),
                    planes=seen,
                    marks=(EMPTY,),
                    players=(1, 0) if exchanged else (0, 1),
                )

    def role(self, view: Record, player: int) -> str:
        return ("Light", "Dark")[player]

    def _board_to_string(self, state: Record) -> str:
        return board_text(state, self.board)

    def _cells(self, action: int) -> tuple[int, ...]:
        return self._named[action] if action < len(self._named) else ()

    @cached_property
    def _named(self) -> list[tuple[int, int]]:
        return list(_ends(self._moves, self.board))

    def _scene(self, view: Record, heat: Heat) -> Scene:
        return draw(self, view, heat)

    def _public(self, state: Record) -> Record:
        """Only pieces known to both show their faces."""
        shown = state.copy()
        shown["viewer"] = NOBODY
        shown["faces"][shown["known"] == 0] = 0
        return shown


def _moves(board: Board, farthest: int) -> tuple[Ints, Ints, list[str]]:
    """The moves (C6): `steps` as `list_legal` has it, (origin, direction, distance) of each, and its text."""
    steps = np.empty((board.size, DIRECTIONS, 2), np.int32)
    moves: list[tuple[int, int, int]] = []
    texts: list[str] = []
    for origin in range(board.size):
        for d in range(DIRECTIONS):
            cell = board.neighbours[origin, d]
            steps[origin, d] = len(moves), cell
            for distance in range(1, farthest + 1):
                if cell == NO_CELL:
                    break
                moves.append((origin, d, distance))
                texts.append(f"{board.names[origin]}-{board.names[cell]}")
                cell = board.neighbours[cell, d]
    return steps, np.array(moves, np.int16), texts


def _ends(moves: Ints, board: Board) -> Iterator[tuple[int, int]]:
    """(from, to) of each move."""
    for origin, d, distance in moves.tolist():
        cell = origin
        for _ in range(distance):
            cell = int(board.neighbours[cell, d])
        yield origin, cell
