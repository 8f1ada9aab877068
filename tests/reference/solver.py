"""Exact outcomes of small positions, by trying everything: what a search should find, from rules.md alone.

A position is a tuple that ends with who is to move; cells are bits. `moves` of a game gives for each move its text, the
position after it, and the returns of all players if the game is over then, else None. Nobody resigns.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Protocol

LETTERS = "abcdefghijklmnopqrstuvwxyz"
Position = tuple[Any, ...]
Returns = tuple[float, ...]
WINS: tuple[Returns, Returns] = (1.0, -1.0), (-1.0, 1.0)


class Rules(Protocol):
    """A game of Chameleon, Unlur or Trinim."""

    def moves(self, position: Position) -> list[tuple[str, Position, Returns | None]]: ...


def solve(rules: Rules, position: Position, known: dict[Position, Returns]) -> Returns:
    """The returns of perfect play between two players. `known` remembers."""
    if position not in known:
        mover = position[-1]
        moves = rules.moves(position)
        if any(over is not None and over[mover] == 1 for _, _, over in moves):
            known[position] = WINS[mover]
        else:
            best: Returns = WINS[1 - mover]
            for _, after, over in moves:
                returns = solve(rules, after, known) if over is None else over
                if returns[mover] > best[mover]:
                    best = returns
                if best[mover] == 1:
                    break
            known[position] = best
    return known[position]


def worths(rules: Rules, position: Position, known: dict[Position, Returns]) -> dict[str, float]:
    """What each move is worth to who makes it, if both play perfectly afterwards."""
    mover = position[-1]
    return {
        text: (solve(rules, after, known) if over is None else over)[mover]
        for text, after, over in rules.moves(position)
    }


def equilibria(rules: Rules, position: Position, known: dict[Position, set[Returns]]) -> set[Returns]:
    """The returns that any number of players may end with if each, at every turn, makes a move that is best for
    themselves: for all ways to choose among equally good moves.
    """
    if position not in known:
        mover = position[-1]
        after_each = [
            equilibria(rules, after, known) if over is None else {over} for _, after, over in rules.moves(position)
        ]
        sure = max(min(returns[mover] for returns in ends) for ends in after_each)
        known[position] = {returns for ends in after_each for returns in ends if returns[mover] >= sure}
    return known[position]


def forces(rules: Rules, position: Position, player: int, known: dict[Position, bool]) -> bool:
    """Whether `player` can win whatever the others do."""
    if position not in known:
        wins = (
            forces(rules, after, player, known) if over is None else over[player] == 1
            for _, after, over in rules.moves(position)
        )
        known[position] = any(wins) if position[-1] == player else all(wins)
    return known[position]


class Chameleon:
    """Position: cells with x, cells with o, the player called Vert, whether a swap is allowed, who is to move."""

    def __init__(self, size: int, swap_rule: bool) -> None:
        self.bit = {(k // size, k % size): 1 << k for k in range(size**2)}  # row, column
        self.last, self.swap_rule = size - 1, swap_rule
        self.joined = cache(self._joined)

    def _joined(self, stones: int) -> tuple[bool, bool]:
        """Do stones of one letter join top and bottom, left and right (H3)?"""
        vertical = horizontal = False
        for chain in chains(stones, self.bit, ((0, -1), (0, 1), (-1, 0), (1, 0), (-1, 1), (1, -1))):  # H1
            rows, cols = {row for row, _ in chain}, {col for _, col in chain}
            vertical |= {0, self.last} <= rows
            horizontal |= {0, self.last} <= cols
        return vertical, horizontal

    def moves(self, position: Position) -> list[tuple[str, Position, Returns | None]]:
        x, o, vert, may_swap, mover = position
        found: list[tuple[str, Position, Returns | None]] = []
        swap_next = self.swap_rule and not x | o  # H4
        for (row, col), bit in self.bit.items():
            if (x | o) & bit:
                continue
            for letter, after, joined in (
                ("x", (x | bit, o), self.joined(x | bit)),
                ("o", (x, o | bit), self.joined(o | bit)),
            ):
                own, other = joined if mover == vert else joined[::-1]
                over = WINS[mover] if own else WINS[1 - mover] if other else None  # H3
                found.append((f"{LETTERS[col]}{row + 1}{letter}", (*after, vert, swap_next, 1 - mover), over))
        if may_swap:
            found.append(("swap", (x, o, 1 - vert, False, 1 - mover), None))  # H4
        return found


class Unlur:
    """Position: cells with black, cells with white, the player who is Black (None in the contract), who is to move."""

    def __init__(self, radius: int) -> None:
        r = radius
        self.sides = {
            (row, number): {
                side
                for side, here in (
                    (1, row == 0),
                    (2, row <= r - 1 and number == r + row),
                    (3, row >= r - 1 and number == 2 * r - 1),
                    (4, row == 2 * r - 2),
                    (5, row >= r - 1 and number == row - r + 2),
                    (6, row <= r - 1 and number == 1),
                )
                if here
            }
            for row in range(2 * r - 1)
            for number in range(max(1, row - r + 2), min(2 * r - 1, r + row) + 1)
        }  # U2
        self.bit = {cell: 1 << k for k, cell in enumerate(self.sides)}
        self.figures = cache(self._figures)

    def _figures(self, stones: int) -> tuple[bool, bool]:
        """Do stones of one colour make a Y, a line (U5)?"""
        y = line = False
        for chain in chains(stones, self.bit, ((0, -1), (0, 1), (1, 0), (1, 1), (-1, 0), (-1, -1))):  # U2
            touched = set().union(*(self.sides[cell] for cell in chain))
            y |= any(figure <= touched for figure in ({1, 3, 5}, {2, 4, 6}))
            line |= any(figure <= touched for figure in ({1, 4}, {2, 5}, {3, 6}))
        return y, line

    def moves(self, position: Position) -> list[tuple[str, Position, Returns | None]]:
        black, white, owner, mover = position
        found: list[tuple[str, Position, Returns | None]] = []
        for (row, number), bit in self.bit.items():
            if (black | white) & bit or (owner is None and self.sides[row, number]):  # U3, U4
                continue
            if owner in (None, mover):
                after, (own, other) = (black | bit, white), self.figures(black | bit)
            else:
                after, (other, own) = (black, white | bit), self.figures(white | bit)
            over = WINS[mover] if own else WINS[1 - mover] if other else None  # U5
            found.append((f"{LETTERS[row]}{number}", (*after, owner, 1 - mover), over))
        if owner is None:
            found.append(("black", (black, white, mover, 1 - mover), None))  # U3
        return found


class Trinim:
    """Position: cells with pieces, for each player the colours of which they hold an odd number, who is to move."""

    def __init__(self, size: int, board: str) -> None:
        """`board` as in `init(board=...)`; it may be any earlier position of the game."""
        colours = {
            (row, size - row + place): colour  # T2
            for row, text in enumerate(board.split("/"), 1)
            for place, colour in enumerate(text)
        }
        bit = {cell: 1 << k for k, cell in enumerate(colours)}
        self.takes = []  # text, cells, colours of which they hold an odd number
        for start in colours:
            for down, right in ((0, 1), (-1, 0), (-1, 1)):  # T4: from the larger row number, within a row from the left
                end, cells, odd = start, 0, 0
                while end in colours:
                    cells |= bit[end]
                    odd ^= 1 << "rgb.".index(colours[end])
                    if end != start or (down, right) == (0, 1):
                        text = name(start) if end == start else f"{name(start)}-{name(end)}"
                        self.takes.append((text, cells, odd))
                    end = (end[0] + down, end[1] + right)

    def moves(self, position: Position) -> list[tuple[str, Position, Returns | None]]:
        left, held, mover = position
        found: list[tuple[str, Position, Returns | None]] = []
        for text, cells, odd in self.takes:
            if cells & left == cells:
                now = (*held[:mover], held[mover] ^ odd, *held[mover + 1 :])
                after = (left ^ cells, now, (mover + 1) % len(held))
                found.append((text, after, None if left ^ cells else final(now)))
        return found


def final(held: tuple[int, ...]) -> Returns:
    """T5, T6, A1"""
    scores = [3 - odd.bit_count() for odd in held]
    if scores.count(max(scores)) > 1:
        return (0.0,) * len(held)
    return tuple(1.0 if score == max(scores) else -1 / (len(held) - 1) for score in scores)


def name(cell: tuple[int, int]) -> str:
    """(3, 2) is C3 (T2)."""
    return f"{LETTERS[cell[1]].upper()}{cell[0]}"


def chains(stones: int, bit: dict[tuple[int, int], int], steps: Any) -> list[set[tuple[int, int]]]:
    """The connected sets of cells among `stones`."""
    left, found = {cell for cell in bit if stones & bit[cell]}, []
    while left:
        todo, chain = [left.pop()], set()
        while todo:
            row, col = cell = todo.pop()
            chain.add(cell)
            near = {(row + down, col + right) for down, right in steps} & left
            left -= near
            todo += near
        found.append(chain)
    return found
