"""Observations a second time: every plane by its name, from a reference's state and history alone.

A plane is a function of a cell's place in the grid, (row, column). `grid` puts a game's planes together in the order in
which the game names them; a name that is not known here is a KeyError, so no plane goes unchecked. A viewer of None is
the full state, which is shown as to player 0.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from functools import cache
from itertools import combinations_with_replacement

import numpy as np

from tests.reference.chameleon import Chameleon
from tests.reference.curio import CAPTURES, Curio, Piece, stands_by
from tests.reference.trinim import Trinim
from tests.reference.unlur import Unlur

Place = tuple[int, int]
Plane = Callable[[Place], int]
MOST = 127
"""What an int8 holds."""


def grid(names: Iterable[str], shape: tuple[int, int], planes: dict[str, Plane]) -> np.ndarray:
    """(rows, cols, planes) int8."""
    rows, cols = shape
    names = list(names)
    out = np.zeros((rows, cols, len(names)), np.int8)
    for k, name in enumerate(names):
        for row in range(rows):
            for col in range(cols):
                out[row, col, k] = planes[name]((row, col))
    return out


def everywhere(value: object) -> Plane:
    return lambda place: int(value)  # type: ignore[call-overload,no-any-return]


def chameleon(game: Chameleon, viewer: int | None) -> dict[str, Plane]:
    me = viewer or 0
    return {
        "x": lambda place: game.stones.get(place) == "x",
        "o": lambda place: game.stones.get(place) == "o",
        "I join top and bottom": everywhere(game.vert == me),  # H3, H4
        "I join left and right": everywhere(game.vert != me),
        "swap is open": everywhere("swap" in game.legal()),  # H4
    }


def unlur(game: Unlur, viewer: int | None) -> dict[str, Plane]:
    me = viewer or 0
    cells = {(row, number - 1): (row, number) for row, number in game.cells()}

    def on_board(test: Callable[[Place], object]) -> Plane:
        return lambda place: place in cells and bool(test(cells[place]))

    return {
        "cell": on_board(lambda cell: True),
        "black": on_board(lambda cell: game.stones.get(cell) == "black"),
        "white": on_board(lambda cell: game.stones.get(cell) == "white"),
        "edge": on_board(lambda cell: game.sides(cell)),
        "contract": on_board(lambda cell: game.black is None),  # U3
        "I am Black": on_board(lambda cell: game.black == me),
        "I am White": on_board(lambda cell: game.black is not None and game.black != me),
    }


class Holdings:
    """What each player of Trinim has grabbed: also those who have resigned, whose pieces count no longer (A2)."""

    def __init__(self, game: Trinim) -> None:
        self.held = [dict.fromkeys("rgb", 0) for _ in range(game.num_players)]

    def play(self, game: Trinim, text: str) -> None:
        before, mover = dict(game.board), game.to_move
        game.play(text)
        for cell in before.keys() - game.board.keys():
            self.held[mover][before[cell]] += 1


def trinim(game: Trinim, viewer: int | None, holdings: Holdings) -> dict[str, Plane]:
    me, players = viewer or 0, game.num_players
    cells = {
        (row - 1, letter): (row, letter)
        for row in range(1, game.size + 1)
        for letter in range(game.size - row, game.size)
    }

    def on_board(test: Callable[[Place], object]) -> Plane:
        return lambda place: int(test(cells[place])) if place in cells else 0  # type: ignore[call-overload,no-any-return]

    planes = {"cell": on_board(lambda cell: True)}
    names = {"r": "red", "g": "green", "b": "blue"}
    for letter, colour in names.items():
        planes[colour] = on_board(lambda cell, letter=letter: game.board.get(cell) == letter)
    for seat, owner in enumerate(("me", "the next player", "the player after that")[:players]):
        player = (me + seat) % players
        for letter, colour in names.items():
            held = holdings.held[player][letter]
            planes[f"{colour} held by {owner}"] = on_board(lambda cell, held=held: held)
            planes[f"odd {colour} held by {owner}"] = on_board(lambda cell, held=held: held % 2)  # T5
        turn, out = not game.done and game.to_move == player, player in game.resigned
        planes[f"turn of {owner}"] = on_board(lambda cell, turn=turn: turn)
        planes[f"out: {owner}"] = on_board(lambda cell, out=out: out)
    return planes


class Inference:
    """What each player can infer of hidden faces in a game of Curio from the public moves (C15).

    `allowed[piece][side]` are the numbers that the face towards `side` can have for the other player, who does not see
    it. Pieces keep their identity in the reference, wherever they move.
    """

    def __init__(self, game: Curio) -> None:
        self.pieces = list(game.board.values())
        everything = set(range(1, game.base + 1))
        self.allowed = {id(piece): [set(everything), set(everything)] for piece in self.pieces}

    def play(self, game: Curio, text: str) -> None:
        """Play `text` in the game, and infer."""
        moves = game._piece_moves()
        if text not in moves:
            game.play(text)
            return
        source, target = moves[text]
        piece, victim, mover = game.board[source], game.board.get(target), game.to_move
        distance = max(abs(source[0] - target[0]), abs(source[1] - target[1]))
        faces, victims_faces = piece.faces, victim.faces if victim is not None else (0, 0)
        game.play(text)
        if game.limit:  # C6
            self.allowed[id(piece)][mover] -= set(range(1, distance))
        if victim is not None and piece.known != victim.known:
            self._compare(game, mover, (piece, faces), (victim, victims_faces))

    def _compare(
        self, game: Curio, mover: int, taker: tuple[Piece, tuple[int, int]], taken: tuple[Piece, tuple[int, int]]
    ) -> None:
        """One piece is known to both, the other is not: which of its faces would have allowed the capture (C7)?"""
        total, compare = game.capture.endswith("_total"), CAPTURES[game.capture.removesuffix("_total")]
        about, _ = taken if taker[0].known else taker
        for side in range(2):  # the face towards `side`, as the other player, who sees the second face, infers it
            possible = set()
            for number in self.allowed[id(about)][side]:
                values = []
                for piece, faces in (taken, taker):
                    guess = list(faces)
                    if piece is about:
                        guess[side] = number
                    values.append(sum(guess) if total else guess[mover])
                if compare(values[0], values[1]):
                    possible.add(number)
            self.allowed[id(about)][side] = possible

    def hides(self, game: Curio, viewer: int | None) -> dict[int, set[int]]:
        """For each piece the numbers that its face away from the viewer can have, by `id`."""
        me = viewer or 0
        found = {}
        for army in range(2):
            own = [piece for piece in self.pieces if piece.owner == army]
            hidden = [piece for piece in own if not (piece.known or viewer is None)]
            for piece in own:
                found[id(piece)] = {piece.faces[1 - me]}
            options = []
            for piece in hidden:
                numbers = self.allowed[id(piece)][1 - me]
                options.append(frozenset(h for h in numbers if stands_by(game.face, army, _faces(piece, me, h))))
            pool = Counter(tuple(sorted(piece.faces)) for piece in hidden)
            shown = tuple(piece.faces[me] for piece in hidden)
            for k, piece in enumerate(hidden):
                found[id(piece)] = {
                    h for h in options[k] if _fits(tuple(options), shown, tuple(sorted(pool.items())), k, h)
                }
        return found


def _faces(piece: Piece, viewer: int, number: int) -> tuple[int, int]:
    """The piece's faces if the one away from the viewer is `number`."""
    return (piece.faces[0], number) if viewer == 0 else (number, piece.faces[1])


@cache
def _fits(
    options: tuple[frozenset[int], ...],
    shown: tuple[int, ...],
    pool: tuple[tuple[tuple[int, int], int], ...],
    fixed: int = -1,
    number: int = 0,
    first: int = 0,
) -> bool:
    """Can every piece from the first on get a kind that is left in the pool, piece `fixed` the one with `number`?"""
    if first == len(options):
        return True
    left = dict(pool)
    for h in {number} if first == fixed else options[first]:
        kind = (min(shown[first], h), max(shown[first], h))
        if left.get(kind, 0):
            rest = tuple(sorted((other, count - (other == kind)) for other, count in left.items()))
            if _fits(options, shown, rest, fixed if first < fixed else -1, number if first < fixed else 0, first + 1):
                return True
    return False


def curio(game: Curio, viewer: int | None, inference: Inference) -> dict[str, Plane]:
    me = viewer or 0
    board = {(row, col): piece for (col, row), piece in game.board.items()}
    hides = inference.hides(game, viewer)

    def of(test: Callable[[Piece], object]) -> Plane:
        return lambda place: place in board and bool(test(board[place]))

    planes = {
        "mine": of(lambda piece: piece.owner == me),
        "enemy": of(lambda piece: piece.owner != me),
        "known": of(lambda piece: piece.known),  # C8
        "I am Light": everywhere(me == 0),
        "I am Dark": everywhere(me == 1),
        "my turn": everywhere(not game.done and game.to_move == me),
        "quiet": everywhere(min(game.quiet - (game.moves[-1:] == ["resign"]), MOST)),  # C13: plies that were played
        "passed": everywhere([text for text in game.moves if text != "resign"][-1:] == ["pass"]),
    }
    for v in range(1, game.base + 1):
        planes[f"shows {v}"] = of(lambda piece, v=v: piece.faces[me] == v)
        planes[f"may hide {v}"] = of(lambda piece, v=v: v in hides[id(piece)])
    for whose, army in (("my", me), ("enemy", 1 - me)):
        unseen = Counter(
            tuple(sorted(piece.faces)) for piece in inference.pieces if piece.owner == army and not piece.known
        )
        for a, b in combinations_with_replacement(range(1, game.base + 1), 2):
            planes[f"{whose} {a}{b} unseen"] = everywhere(min(unseen[a, b], MOST))
    return planes
