"""Curio, slowly: a reference to check against rules.md line by line (A1-A4, C1-C15).

A board text lists the rows from the top, as Light sees them (C4), and each piece as owner, face towards Light, face
towards Dark: "D12 . D22/. . ./L21 L11 ." is a 3x3 board. Cells are (column, row), both from 0; a1 is (0, 0).
"""

from __future__ import annotations

import copy
import itertools
import random
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

LIGHT, DARK = 0, 1  # C4; also the index of the face towards that player
OWNERS = "LD"
UNKNOWN = 0  # in sees(): a face that the player has not been shown
DIRECTIONS = [(x, y) for x in (-1, 0, 1) for y in (-1, 0, 1) if (x, y) != (0, 0)]
FACES = ("large", "small", "random")
CAPTURES: dict[str, Callable[[int, int], bool]] = {  # C7: the enemy's number, the mover's own number
    "lt": lambda enemy, own: enemy < own,
    "le": lambda enemy, own: enemy <= own,
    "gt": lambda enemy, own: enemy > own,
    "ge": lambda enemy, own: enemy >= own,
    "any": lambda enemy, own: True,
}
Cell = tuple[int, int]


@dataclass
class Piece:
    """One piece: its owner, its faces (towards Light, towards Dark), and whether both players know both (C8)."""

    owner: int
    faces: tuple[int, int]
    known: bool = False


def cell_name(cell: Cell) -> str:
    """(3, 1) is d2 (C4)."""
    return f"{chr(ord('a') + cell[0])}{cell[1] + 1}"


def board_text(board: dict[Cell, Piece], rows: int, cols: int) -> str:
    """The text that Curio(board=...) reads."""
    words = {cell: f"{OWNERS[piece.owner]}{piece.faces[LIGHT]}{piece.faces[DARK]}" for cell, piece in board.items()}
    return "/".join(" ".join(words.get((col, row), ".") for col in range(cols)) for row in reversed(range(rows)))


def stands_by(face: str, owner: int, faces: tuple[int, int]) -> bool:
    """Whether a piece of `owner` obeys the opening orientation (C5)."""
    own, other = faces[owner], faces[1 - owner]
    return {"large": own >= other, "small": own <= other, "random": True}[face]


class Curio:
    """A game of Curio from a given position. Light is 0 and moves first, Dark is 1 (C4)."""

    def __init__(
        self,
        board: str,
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
        if face not in FACES or capture.removesuffix("_total") not in CAPTURES or capture == "any_total":
            raise ValueError(f"face={face!r}, capture={capture!r}: no such option (C1)")
        self.options: dict[str, Any] = dict(
            base=base,
            rows=rows,
            cols=cols,
            num_pieces=num_pieces,
            turn=turn,
            limit=limit,
            face=face,
            capture=capture,
            reveal_captured=reveal_captured,
            no_capture_limit=no_capture_limit,
            allow_resign=allow_resign,
        )
        self.base, self.rows, self.cols = base, rows, cols
        self.turn, self.limit, self.face, self.capture = turn, limit, face, capture
        self.reveal_captured, self.no_capture_limit, self.allow_resign = reveal_captured, no_capture_limit, allow_resign
        self.start: str = board
        self.moves: list[str] = []
        self.board = self._read(board)
        self.captured: list[Piece] = []
        self.to_move, self.ply, self.quiet = LIGHT, 0, 0  # quiet: plies without a capture (C13)
        self.done, self.truncated, self.returns = self._dead(), False, (0.0, 0.0)  # C11 may hold at once

    def _read(self, text: str) -> dict[Cell, Piece]:
        board = {}
        lines = [line.split() for line in text.split("/")]
        if len(lines) != self.rows or any(len(line) != self.cols for line in lines):
            raise ValueError(f"{text!r} is no board of {self.rows} rows by {self.cols} columns")
        numbers = [str(number) for number in range(1, self.base + 1)]
        for row, col in itertools.product(range(self.rows), range(self.cols)):
            word = lines[self.rows - 1 - row][col]
            if word != ".":
                if len(word) != 3 or word[0] not in OWNERS or word[1] not in numbers or word[2] not in numbers:
                    raise ValueError(f"{word!r} is no piece: expected owner and faces such as 'D12', or '.'")
                owner, faces = OWNERS.index(word[0]), (int(word[1]), int(word[2]))
                known = not stands_by(self.face, owner, faces)  # C15: against `face`, as if it had captured
                board[col, row] = Piece(owner, faces, known)
        return board

    def copy(self) -> Curio:
        """An independent copy."""
        return copy.deepcopy(self)

    # Moves

    def _may_capture(self, piece: Piece, enemy: Piece) -> bool:
        """C7, wherever the two stand."""
        if self.capture.endswith("_total"):
            return CAPTURES[self.capture.removesuffix("_total")](sum(enemy.faces), sum(piece.faces))
        return CAPTURES[self.capture](enemy.faces[piece.owner], piece.faces[piece.owner])  # both as the mover sees them

    def _targets(self, source: Cell) -> list[Cell]:
        """Where the piece on `source` may go (C6, C7)."""
        piece, targets = self.board[source], []
        for x, y in DIRECTIONS:
            for distance in range(1, max(self.rows, self.cols)):
                cell = (source[0] + x * distance, source[1] + y * distance)
                if self.limit and distance > piece.faces[piece.owner]:
                    break
                if not (0 <= cell[0] < self.cols and 0 <= cell[1] < self.rows):
                    break
                if cell in self.board:
                    if self.board[cell].owner != piece.owner and self._may_capture(piece, self.board[cell]):
                        targets.append(cell)
                    break
                targets.append(cell)
        return targets

    def _piece_moves(self) -> dict[str, tuple[Cell, Cell]]:
        """Every move of a piece of the player to move, by its text (A3)."""
        moves = {}
        for source, piece in self.board.items():
            if piece.owner == self.to_move:
                for target in self._targets(source):
                    moves[f"{cell_name(source)}-{cell_name(target)}"] = (source, target)
        return moves

    def legal(self) -> set[str]:
        """The legal moves; none when the game is over."""
        if self.done:
            return set()
        texts = set(self._piece_moves()) or {"pass"}  # C12
        if self.allow_resign:
            texts.add("resign")  # A2
        return texts

    def play(self, text: str) -> None:
        """Play one ply."""
        word = text.strip().lower()  # A3
        if word not in self.legal():
            raise ValueError(f"{text!r} is not legal here: expected a move such as 'd2-b4', or 'pass' when none is")
        self._apply(word)

    def _apply(self, text: str) -> None:
        """Play `text`, a legal move, or `pass` whether legal or not."""
        mover, opponent, victim = self.to_move, 1 - self.to_move, None
        if text not in ("pass", "resign"):
            source, target = self._piece_moves()[text]
            victim = self.board.get(target)
            piece = self.board[target] = self.board.pop(source)
            if victim is not None and self.turn:
                piece.faces, piece.known = (piece.faces[DARK], piece.faces[LIGHT]), True  # C8
        if victim is not None:
            victim.known = victim.known or self.reveal_captured  # C9
            self.captured.append(victim)
        self.moves.append(text)
        self.quiet = self.quiet + 1 if victim is None else 0
        self.ply += 1
        self.to_move = opponent
        wins = (1.0, -1.0), (-1.0, 1.0)  # A1
        royals_left = [p for p in self.board.values() if p.owner == opponent and self.base in p.faces]
        if text == "resign":
            self.done, self.returns = True, wins[opponent]  # A2
        elif victim is not None and self.base in victim.faces and not royals_left:
            self.done, self.returns = True, wins[mover]  # C10, whatever else the capture leaves (C11)
        elif self._dead() or self.moves[-2:] == ["pass", "pass"]:
            self.done = True  # C11; C12, before C13
        elif self.no_capture_limit is not None and self.quiet >= self.no_capture_limit:
            self.done = self.truncated = True  # C13

    def _dead(self) -> bool:
        """C11: one piece each, or no pair that could ever capture."""
        light, dark = ([piece for piece in self.board.values() if piece.owner == owner] for owner in (LIGHT, DARK))
        pairs = list(itertools.product(light, dark))
        one_each = len(light) == len(dark) == 1
        return one_each or not any(self._may_capture(a, b) or self._may_capture(b, a) for a, b in pairs)

    # Knowledge

    def sees(self, player: int) -> tuple[Any, ...]:
        """What `player` has in front of them and has been told by now (C5, C8, C9, C15).

        A piece is (owner, face towards `player`, other face or UNKNOWN); one on the board has its cell before that.
        """

        def shown(piece: Piece) -> tuple[int, int, int]:
            return piece.owner, piece.faces[player], piece.faces[1 - player] if piece.known else UNKNOWN

        board = tuple(sorted((cell_name(cell), *shown(piece)) for cell, piece in self.board.items()))
        captured = tuple(shown(piece) for piece in self.captured)
        passed = self.moves[-1:] == ["pass"]
        return (board, captured, self.to_move, self.ply, self.done, self.truncated, self.returns, self.quiet, passed)

    def worlds(self, player: int) -> list[Curio]:
        """Every game that `player` cannot tell from this one, replayed to now (C15)."""
        truth = Curio(self.start, **self.options)
        seen = [truth.sees(player)]  # after every ply
        for text in self.moves:
            truth._apply(text)
            seen.append(truth.sees(player))
        found = []
        light, dark = (list(self._starts(owner, player)) for owner in (LIGHT, DARK))
        for one, other in itertools.product(light, dark):
            world = Curio(board_text({**one, **other}, self.rows, self.cols), **self.options)
            same = world._follows(self.moves, seen, player)
            if same and self.capture.endswith("_total") and self.to_move == player:
                same = world.legal() == self.legal()  # C7: the mask reveals something
            if same:
                found.append(world)
        return found

    def _follows(self, moves: list[str], seen: list[tuple[Any, ...]], player: int) -> bool:
        """Play `moves`; whether each could be played and showed `player` the same as in truth."""
        if self.sees(player) != seen[0]:
            return False
        for text, after in zip(moves, seen[1:], strict=True):
            if text not in ("pass", "resign") and text not in self._piece_moves():
                return False
            self._apply(text)  # a pass unchecked: a ruling, nothing is inferred from a pass
            if self.sees(player) != after:  # includes done, truncated and returns
                return False
        return True

    def _starts(self, owner: int, player: int) -> Iterator[dict[Cell, Piece]]:
        """The armies of `owner` that may have stood at the start, as far as the opening position shows `player`."""
        army = {cell: piece for cell, piece in self._read(self.start).items() if piece.owner == owner}
        hidden = {cell: piece for cell, piece in army.items() if not piece.known}
        sets = Counter(tuple(sorted(piece.faces)) for piece in hidden.values())  # the sets in play (C2, C15)
        options = {}  # for every hidden piece: the faces that it may have
        for cell, piece in hidden.items():
            pairs = [(a, b) for a in range(1, self.base + 1) for b in range(1, self.base + 1)]
            pairs = [faces for faces in pairs if faces[player] == piece.faces[player]]
            options[cell] = [faces for faces in pairs if stands_by(self.face, owner, faces)]

        def fill(
            cells: list[Cell], left: Counter[tuple[int, ...]], placed: dict[Cell, Piece]
        ) -> Iterator[dict[Cell, Piece]]:
            if not cells:
                yield placed
            for faces in options[cells[0]] if cells else []:
                used = Counter([tuple(sorted(faces))])
                if used <= left:
                    yield from fill(cells[1:], left - used, {**placed, cells[0]: Piece(owner, faces)})

        yield from fill(list(hidden), sets, army)


def random_board(rng: random.Random, base: int, rows: int, cols: int, num_pieces: int | None, face: str) -> str:
    """A shuffled opening position (C2, C3, C5)."""
    kinds = [(a, b) for a in range(1, base + 1) for b in range(a, base + 1)]  # C2: one set
    count = len(kinds) if num_pieces is None else num_pieces
    depth = -(-count // cols)
    if count < 1 or count % len(kinds) or 2 * depth > rows:
        raise ValueError(f"{count} pieces: expected a multiple of {len(kinds)} that fits {rows} rows by {cols} columns")
    board = {}
    for owner in (LIGHT, DARK):
        home = range(depth) if owner == LIGHT else range(rows - depth, rows)
        cells = [(col, row) for row in home for col in range(cols)]
        rng.shuffle(cells)  # C3: the gaps are the cells left over
        for cell, kind in zip(cells, kinds * (count // len(kinds)), strict=False):
            turned = [faces for faces in (kind, kind[::-1]) if stands_by(face, owner, faces)]  # C5
            board[cell] = Piece(owner, rng.choice(turned))
    return board_text(board, rows, cols)
