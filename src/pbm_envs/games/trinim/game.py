"""The class `Trinim`: the game with one set of options."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from functools import cached_property
from itertools import permutations
from typing import Any, final

import numpy as np

from ...core.boards import Deal, triangle
from ...core.checks import quoted
from ...core.game import Game
from ...core.options import ALLOW_RESIGN, Option
from ...core.record_rules import BatchKernel, PlayKernels
from ...core.state import EMPTY, Ints, Mask, Planes, Record, Seeds, States
from ...core.symmetry import Symmetry, permutation
from ...core.validation import expect, expect_range
from . import rules, scene, texts, view
from .rules import BLUE, COLOURS, GREEN, LETTERS, RED


@final
class Trinim(Game):
    """Nim on a triangle of coloured pieces, for two or three: score for each even number of a colour (T1 to T7).

    A game of perfect information with a random set-up. The rules in full are the page of `pbm_envs.trinim_v0`.

    >>> Trinim().board_to_string(Trinim().init(1, np.random.default_rng(7)))
    'g/bg/rgr/bggr/rrbbb'

    Actions: every cell, row by row from the top, then every line of two or more cells: by direction (along a row, up a
    column, up along "/"), by first cell, by length; then `resign` where allowed.
    """

    name = "trinim"
    player_counts = (2, 3)
    random_setup = True
    moves_player_independent = True
    configurations = (
        {"size": 3, "num_players": 3},
        {},
        {"size": 6, "num_players": 3, "allow_resign": True},
        {"size": 6, "allow_resign": True},
    )

    declared_options = (
        Option(
            "size",
            int,
            5,
            choices=tuple(size for size in range(3, 21) if size * (size + 1) // 2 % COLOURS == 0),
            help="Rows of the triangle; the number of cells is a multiple of three. With two players, only sizes 5, "
            "6, 9, 14, 17 and 18 can be won; the others give a warning.",
        ),  # T1, T7
        Option("num_players", int, 2, choices=(2, 3), help="Players."),
        ALLOW_RESIGN,
    )

    def __init__(self, **options: Any) -> None:
        """Make the game; raise ValueError for an option or value that is not among `declared_options`."""
        options = self.check_options(options)
        size, num_players = options["size"], options["num_players"]
        board = triangle(size)
        if num_players == 2 and (always_drawn := _always_drawn(size, board.size)):
            warnings.warn(always_drawn, stacklevel=2)
        self._takes, self._lines = rules.lines(board)
        self._broken, self._starts = rules.lines_through(self._takes, board)
        self._seat_planes = view.seat_planes(num_players)
        self._colour_words = view.colour_words(num_players)
        self._places = board.rows * board.shape[1] + board.cols
        first, last = ([board.names[cell] for cell in cells] for cells in self._takes[:, [0, 3]].T)
        moves = [a if a == b else f"{a}-{b}" for a, b in zip(first, last, strict=True)]
        super().__init__(
            options=options,
            board=board,
            num_players=num_players,
            dtype=rules.trinim_dtype(board.size, num_players),
            planes=view.planes(num_players),
            moves=moves,
            form=f"a cell such as {moves[1]!r} or the two ends of a line such as {moves[-1]!r}",
            max_plies=board.size + num_players - 2 if options["allow_resign"] else board.size,
            other_texts={f"{b}-{a}": k for k, (a, b) in enumerate(zip(first, last, strict=True)) if a != b},  # T4
        )

    @property
    def remark(self) -> str:
        """The sentence that every game is a draw, if this is so (T7)."""
        return _always_drawn(self.options["size"], self.board.size) if self.num_players == 2 else ""

    def _init(self, states: States, seeds: Seeds, board: str | None) -> None:
        if board is None:
            rules.set_up_batch(states, seeds)
        else:
            states["pieces"] = pieces = self._read(board)
            states["left"] = np.count_nonzero(pieces)

    def _read(self, board: str) -> list[int]:
        rows = board.strip().lower().split("/")
        if [len(row) for row in rows] != list(range(1, self.board.shape[0] + 1)) or set("".join(rows)) - set(LETTERS):
            raise ValueError(
                f"board is {quoted(board)}: expected {self.board.shape[0]} rows of r, g, b or . from the top, one "
                "longer each, such as 'b/bg/r.r/...'"
            )
        pieces = [LETTERS.index(letter) for letter in "".join(rows)]
        if not any(pieces):
            raise ValueError(f"board is {quoted(board)}: expected at least one piece")
        return pieces

    def _validate(self, states: States) -> None:
        left, held, out, done = (states[name] for name in ("left", "held", "out", "done"))
        expect_range(states, "pieces", EMPTY, COLOURS)
        expect(left == np.count_nonzero(states["pieces"], axis=1), states, "left", "the number of pieces on the board")
        grabbed = held.sum(axis=(1, 2), dtype=np.int64)
        expect((held >= 0).all(axis=(1, 2)) & (left + grabbed <= self.board.size), states, "held", "numbers of pieces")
        expect_range(states, "out", 0, 1)
        going_on = (
            (left > 0) & (out[np.arange(len(states)), states["to_move"]] == 0) & (out.sum(axis=1) < len(out[0]) - 1)
        )
        expect(done | going_on, states, "done", "False just while there are pieces and a player to move, and another")
        expect(np.abs(states["returns"]) <= 1, states, "returns", "numbers from -1 to 1")

    def _deal(self) -> Deal:
        """Return the deal of equally many pieces of each colour (T3)."""
        size = self.board.shape[0]
        return Deal(
            cells=tuple(range(self.board.size)),
            names=self.board.names,
            decks=(tuple((colour,) for colour in LETTERS[1:] for _ in range(self.board.size // COLOURS)),),
            rows=tuple(tuple(range(row * (row + 1) // 2, (row + 1) * (row + 2) // 2)) for row in range(size)),
            blank="",
        )

    def _remove_player(self, state: States) -> None:
        last, resign = state["last_action"].copy(), len(self._takes)  # with three players, the others continue
        rules.step_batch(state, np.array([resign]), self._takes, self.board.neighbours, resign)
        state["last_action"] = last

    def _step(self, states: States, actions: Ints) -> int:
        return rules.step_batch(states, actions, self._takes, self.board.neighbours, self.resign_action)

    def _legal_action_mask(self, states: States, out: Mask) -> None:
        rules.mask_batch(states, out, self._lines, self.resign_action)

    def _observe(self, views: States, out: Planes) -> None:
        view.observe_batch(views, out, self._colour_words, self._places, self._seat_planes)

    def _play_kernels(self, avoid_losing_moves: bool, save_bridges: bool) -> PlayKernels:
        takes, cells, neighbours = self._takes, self._lines, self.board.neighbours
        return PlayKernels(
            step=BatchKernel(rules.step_batch, (takes, neighbours, self.resign_action)),
            mask=BatchKernel(rules.mask_batch, (cells, self.resign_action)),
            playout=BatchKernel(rules.playout_batch, (takes, cells, neighbours, self._broken, self._starts)),
        )

    def _transform(self, states: States, symmetry: Symmetry) -> None:
        marks = np.asarray(symmetry.marks)
        pieces, held = states["pieces"].copy(), states["held"].copy()
        states["pieces"][:, symmetry.cells] = marks[pieces]
        states["held"][:, :, marks[1:] - 1] = held

    def _symmetries(self) -> Iterator[Symmetry]:
        """Yield the six symmetries of the triangle, each with the six permutations of the colours."""
        size, places = self.board.shape[0], self.board.places
        # (row, col) -> distances from the three sides, which sum to size - 1
        distances = {(row, col): (size - 1 - row, size - 1 - col, row + col - size + 1) for row, col in places}
        ends = self._takes[:, [0, 3]].tolist()
        action_of = {frozenset(pair): k for k, pair in enumerate(ends)}
        for turn in permutations(range(3)):
            move = {}
            for place, distance in distances.items():
                a, b, _ = (distance[k] for k in turn)
                move[place] = (size - 1 - a, size - 1 - b)
            cells = permutation(move, places)
            actions = [action_of[frozenset((int(cells[a]), int(cells[b])))] for a, b in ends]
            for colours in permutations((RED, GREEN, BLUE)):
                becomes = dict(zip((RED, GREEN, BLUE), colours, strict=True))
                yield Symmetry(
                    name=f"sides {turn}, colours {colours}",
                    cells=cells,
                    actions=np.array(actions + ([self.resign_action] if self.options["allow_resign"] else [])),
                    planes=permutation(view.recoloured_planes(self.num_players, becomes), self.planes),
                    marks=(EMPTY, *colours),
                    players=tuple(range(self.num_players)),
                )

    def _board_to_string(self, state: Record) -> str:
        letters = iter("".join(LETTERS[piece] for piece in state["pieces"]))
        return "/".join("".join(next(letters) for _ in range(row + 1)) for row in range(self.board.shape[0]))

    _scene = scene.draw
    holdings = scene.holdings
    symbols = scene.symbols
    cell_texts = texts.cell_texts
    facts = texts.facts
    move_note = texts.move_note
    task = texts.task
    ending = texts.ending
    short_rules = property(texts.short_rules)
    lesson = texts.LESSON
    wording = cached_property(texts.wording)


def _always_drawn(size: int, cells: int) -> str:
    """Return the sentence that every game of two players on this board is a draw (T7), or "" if it is not."""
    if cells // COLOURS % 2:
        return ""
    return (
        f"every two-player game of Trinim of size {size} is a draw, since each colour has an even number of pieces: "
        "play 5, 6, 9, 14, 17 or 18, or with three players"
    )
