"""What the rulings say about every ply of every game, as array expressions over whole batches.

A third reading of the rules: it looks at actions by their texts, at positions by the named planes of the full state and
at the fields that all games share, so it knows nothing of how `src/` plays. `Ply` is one ply of a batch; `check_ply`
raises AssertionError, naming the first row that breaks a ruling.

    Shapes: B games, A actions, P players, h rows and w columns of an observation.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np

from pbm_envs import Game
from pbm_envs.core.types import States

Array = np.ndarray[Any, Any]
COLOURS = ("red", "green", "blue")


class Ply(NamedTuple):
    """One ply of a batch: the games that were not over before it."""

    game: Game
    before: States
    masks: Array
    """(B, A) legal before it"""
    actions: Array
    after: States
    seen: dict[str, Array]
    """The planes of `before`, each (B, h, w)."""
    sees: dict[str, Array]
    """The planes of `after`."""

    @property
    def rows(self) -> Array:
        return np.arange(len(self.actions))

    @property
    def mover(self) -> Array:
        return self.before["to_move"].astype(int)

    def chose(self, text: str) -> Array:
        """(B,) who played this."""
        known = [k for k in range(self.game.num_actions) if self.game.action_to_string(k) == text]
        return np.isin(self.actions, known)


def ply_of(game: Game, before: States, masks: Array, actions: Array, after: States) -> Ply:
    live = ~before["done"]
    before, after = before[live], after[live]
    return Ply(game, before, masks[live], actions[live], after, planes(game, before), planes(game, after))


def planes(game: Game, states: States) -> dict[str, Array]:
    """Of full states, or of views."""
    seen = game.observe(states)
    return {name: seen[..., k] for k, name in enumerate(game.planes)}


def holds(truth: Any, ruling: str, ply: Ply) -> None:
    """AssertionError naming the first row (B,) for which a ruling does not hold."""
    wrong = np.flatnonzero(~np.broadcast_to(truth, ply.actions.shape))
    if wrong.size:
        row = int(wrong[0])
        text = ply.game.action_to_string(int(ply.actions[row]))
        raise AssertionError(
            f"{ruling}: {ply.game!r}, ply {ply.before['ply'][row] + 1}, {text!r} in\n"
            f"{ply.game.to_text(ply.before[row])}\nto\n{ply.game.to_text(ply.after[row])}"
        )


def check_ply(ply: Ply, thorough: bool) -> None:
    """All rulings; `thorough` includes what takes long: every legal action, chains on boards where play goes on."""
    common(ply)
    check_rulings = {"chameleon": chameleon, "curio": curio, "trinim": trinim, "unlur": unlur}[ply.game.name]
    check_rulings(ply, thorough)


def common(ply: Ply) -> None:
    """A1, A2, A4 and what the common fields mean."""
    game, before, after = ply.game, ply.before, ply.after
    holds(ply.masks.any(axis=1), "somebody not done has a move", ply)
    holds(after["ply"] == before["ply"] + 1, "plies are counted", ply)
    holds(after["ply"] <= game.max_plies, "max_plies", ply)
    holds(after["last_action"] == ply.actions, "the last action is kept", ply)
    holds(after["done"] | ~after["truncated"], "what is truncated is over", ply)
    returns, done = after["returns"], after["done"]
    holds(~done | (returns.sum(axis=1) == 0), "A1: returns sum to zero", ply)
    best = (returns == 1).sum(axis=1)
    holds(best <= 1, "A1: one winner at most", ply)
    if game.num_players == 2:
        holds((np.abs(returns) == best[:, None]).all(axis=1), "A1: +1 and -1, or a draw", ply)
        holds(best <= done, "A1: nothing before the end", ply)
        holds(after["to_move"] == after["ply"] % 2, "two players take turns", ply)
        resigned = ply.chose("resign")
        holds(~resigned | (done & (returns[ply.rows, ply.mover] == -1)), "A2: who resigns has lost", ply)


# Connection games: chains by their neighbours and the sides that they touch (H1, H3, U2, U5)


def shifted(array: Array, down: int, right: int) -> Array:
    """(B, h, w): of each cell, what stands so far up and left of it; 0 outside."""
    h, w = array.shape[1:]
    padded = np.pad(array, ((0, 0), (1, 1), (1, 1)))
    return padded[:, 1 - down : 1 - down + h, 1 - right : 1 - right + w]


def touched(stones: Array, sides: Array, neighbours: tuple[tuple[int, int], ...]) -> Array:
    """(B, h, w) bits of the sides that each stone's chain touches; `stones` bool, `sides` (h, w)."""
    bits = np.where(stones, sides, 0).astype(np.uint8)
    while True:
        spread = bits.copy()
        for down, right in neighbours:
            spread |= shifted(bits, down, right)
        spread *= stones
        if (spread == bits).all():
            return bits
        bits = spread


def any_has(bits: Array, wanted: int) -> Array:
    """(B,) is there a chain that touches all these sides?"""
    return ((bits & wanted) == wanted).any(axis=(1, 2))


HEX = ((0, 1), (0, -1), (1, 0), (-1, 0), (-1, 1), (1, -1))  # H1
TOP, BOTTOM, LEFT, RIGHT = 1, 2, 4, 8


def chameleon(ply: Ply, thorough: bool) -> None:
    """H1 to H5"""
    game, seen, sees, after = ply.game, ply.seen, ply.sees, ply.after
    size = game.options["size"]
    stones, later = ({mark: planes[mark] == 1 for mark in "xo"} for planes in (seen, sees))
    swapped, resigned = ply.chose("swap"), ply.chose("resign")
    placed = ~swapped & ~resigned
    for mark in "xo":
        added = later[mark] ^ stones[mark]
        holds((stones[mark] <= later[mark]).all(axis=(1, 2)), "H3: stones stay", ply)
        cells = np.array(
            [game.string_to_action(f"{chr(97 + col)}{row + 1}{mark}") for row in range(size) for col in range(size)]
        )
        chosen = (cells == ply.actions[:, None]).reshape(-1, size, size)
        holds((added == chosen).all(axis=(1, 2)), "H3: the stone of the move, nothing else", ply)
    holds(~(later["x"] & later["o"]).any(axis=(1, 2)), "H3: one letter a cell", ply)
    vert_is_0, was_0 = sees["I join top and bottom"][:, 0, 0] == 1, seen["I join top and bottom"][:, 0, 0] == 1
    holds((vert_is_0 != was_0) == swapped, "H4: sides change by swapping alone", ply)
    open_to_swap = game.options["swap_rule"] & (after["ply"] == 1) & ~after["done"]
    holds(sees["swap is open"][:, 0, 0] == open_to_swap, "H4: swap at the second ply only", ply)
    holds(~after["truncated"], "A4", ply)
    if thorough:
        empty = ~(stones["x"] | stones["o"])
        for mark in "xo":
            texts = [f"{chr(97 + col)}{row + 1}{mark}" for row in range(size) for col in range(size)]
            mask = ply.masks[:, [game.string_to_action(text) for text in texts]].reshape(-1, size, size)
            holds((mask == empty).all(axis=(1, 2)), "H3: every empty cell", ply)
    rows = ply.rows if thorough else np.flatnonzero(after["done"])
    sides = np.zeros((size, size), np.uint8)
    sides[0] |= TOP
    sides[-1] |= BOTTOM
    sides[:, 0] |= LEFT
    sides[:, -1] |= RIGHT
    bits = [touched(later[mark][rows], sides, HEX) for mark in "xo"]
    down = any_has(bits[0], TOP | BOTTOM) | any_has(bits[1], TOP | BOTTOM)
    across = any_has(bits[0], LEFT | RIGHT) | any_has(bits[1], LEFT | RIGHT)
    verts = np.where(vert_is_0, 0, 1)[rows]
    winner = np.where(down & across, ply.mover[rows], np.where(down, verts, 1 - verts))
    ended = after["done"][rows]
    truth = np.ones(len(ply.actions), bool)
    truth[rows] = (ended == (down | across)) & (~ended | (after["returns"][rows, winner] == 1)) | resigned[rows]
    holds(truth, "H3: over when edges are joined, for whom they are joined; the mover before the other", ply)
    holds(
        after["done"] | (placed & (later["x"] | later["o"]).all(axis=(1, 2)) <= after["done"]), "H5: no full board", ply
    )
    holds(~after["done"] | (after["returns"].max(axis=1) == 1), "H5: no draw", ply)


SLANTED = ((0, 1), (0, -1), (1, 0), (1, 1), (-1, 0), (-1, -1))  # U2
YS, LINES = (0b010101, 0b101010), (0b001001, 0b010010, 0b100100)  # U5; bit k: side k + 1


@cache
def hexagon(radius: int) -> tuple[Array, Array]:
    """(h, w) the bits of the sides of each cell (U2), and whether there is a cell."""
    h = 2 * radius - 1
    sides, cells = np.zeros((h, h), np.uint8), np.zeros((h, h), bool)
    for i in range(h):
        first, last = max(1, i - radius + 2), min(h, radius + i)
        for col in range(first, last + 1):
            cells[i, col - 1] = True
            touches = [i == 0, i < radius and col == last, i >= radius - 1 and col == last]
            touches += [i == h - 1, i >= radius - 1 and col == first, i < radius and col == first]
            sides[i, col - 1] = sum(1 << k for k, here in enumerate(touches) if here)
    return sides, cells


def unlur(ply: Ply, thorough: bool) -> None:
    """U1 to U7"""
    game, seen, sees, after = ply.game, ply.seen, ply.sees, ply.after
    sides, cells = hexagon(game.options["radius"])
    number = np.full(cells.shape, -1)
    for row, col in np.argwhere(cells):
        number[row, col] = game.string_to_action(f"{chr(97 + row)}{col + 1}")  # U7
    contract, later = seen["contract"].any(axis=(1, 2)), sees["contract"].any(axis=(1, 2))
    said_black, resigned = ply.chose("black"), ply.chose("resign")
    holds(contract & ~said_black == later, "U3: until somebody says black", ply)
    holds(~said_black | contract, "U3: black is said once", ply)
    was_black, is_black = (one["I am Black"].any(axis=(1, 2)) for one in (seen, sees))
    holds(np.where(said_black, is_black == (ply.mover == 0), is_black == was_black), "U3: Black for the rest", ply)
    holds(is_black + sees["I am White"].any(axis=(1, 2)) == ~later, "U3: one is Black, the other White", ply)
    mover_is_black = contract | (was_black == (ply.mover == 0))
    stones, now = ({c: one[c] == 1 for c in ("black", "white")} for one in (seen, sees))
    chosen = number == ply.actions[:, None, None]
    for colour, here in (("black", mover_is_black), ("white", ~mover_is_black)):
        expected = stones[colour] | (chosen & here[:, None, None])
        holds((now[colour] == expected).all(axis=(1, 2)), "U3, U4: a stone of one's own colour, others stay", ply)
    holds(~(now["black"] & now["white"]).any(axis=(1, 2)), "U4: one stone a cell", ply)
    holds(~after["truncated"], "A4", ply)
    empty = cells & ~(stones["black"] | stones["white"])
    free = np.where(contract[:, None, None], empty & (sides == 0), empty)
    if thorough:
        mask = ply.masks[:, number[cells]]
        holds(
            (mask == free[:, cells]).all(axis=1), "U3, U4: every empty cell, before the contract none on an edge", ply
        )
        holds(ply.masks[:, game.string_to_action("black")] == contract, "U3: black at any ply of the contract", ply)
    rows = ply.rows if thorough else np.flatnonzero(after["done"])
    bits = [touched(now[colour][rows], sides, SLANTED) for colour in ("black", "white")]
    y, line = (
        np.array([np.any([any_has(b, wanted) for wanted in figures], axis=0) for b in bits]) for figures in (YS, LINES)
    )
    mine = np.where(mover_is_black[rows], 0, 1)
    at = np.arange(len(rows))
    own, other = np.where(mine == 0, y[mine, at], line[mine, at]), np.where(mine == 0, line[mine, at], y[mine, at])
    ended = after["done"][rows]
    truth = np.ones(len(ply.actions), bool)
    won = after["returns"][rows, ply.mover[rows]] == 1
    truth[rows] = (ended == (own | other)) & (~ended | (won == own)) | resigned[rows]
    holds(truth, "U5: over by a figure of the mover's colour, lost by the opponent's alone", ply)
    holds(~after["done"] | (after["returns"].max(axis=1) == 1), "U6: no draw", ply)


# Trinim


@cache
def grabs(game: Game) -> Array:
    """(A, h, w) the cells of each action by its text (T2, T4)."""
    size = game.options["size"]
    taken = np.zeros((game.num_actions, size, size), bool)
    for action in range(game.num_actions):
        text = game.action_to_string(action)
        if text != "resign":
            ends = [(int(end[1:]) - 1, ord(end[0]) - 65) for end in text.split("-")]
            (row, col), (last_row, last_col) = ends[0], ends[-1]
            steps = max(abs(last_row - row), abs(last_col - col))
            for k in range(steps + 1):
                taken[action, row + np.sign(last_row - row) * k, col + np.sign(last_col - col) * k] = True
    return taken


def trinim(ply: Ply, thorough: bool) -> None:
    """T1 to T6, A2 for two and three"""
    game, seen, sees, after = ply.game, ply.seen, ply.sees, ply.after
    players, size = game.num_players, game.options["size"]
    seats = ["me", "the next player", "the player after that"][:players]
    resigned = ply.chose("resign")
    taken = grabs(game)[ply.actions]
    was, now = (np.stack([one[c] == 1 for c in COLOURS], axis=1) for one in (seen, sees))  # (B, 3, h, w)
    held, holding = (
        np.stack([[one[f"{c} held by {seat}"][:, size - 1, 0] for c in COLOURS] for seat in seats]).transpose(2, 0, 1)
        for one in (seen, sees)
    )  # (B, P, 3) int8
    out, left_out = (
        np.stack([one[f"out: {seat}"][:, size - 1, 0] == 1 for seat in seats], axis=1) for one in (seen, sees)
    )
    occupied = was.any(axis=1)
    holds((was.sum(axis=1) <= 1).all(axis=(1, 2)), "T3: one colour a piece", ply)
    holds((taken <= occupied).all(axis=(1, 2)), "T4: no gap in what is grabbed", ply)
    taken[resigned] = False
    holds((now == (was & ~taken[:, None])).all(axis=(1, 2, 3)), "T4: the pieces of the move, no others", ply)
    mine = np.arange(players) == ply.mover[:, None]  # (B, P)
    gained = (was & taken[:, None]).sum(axis=(2, 3))
    expected = held + mine[..., None] * np.where(resigned[:, None], 0, gained)[:, None]
    holds((holding == expected).all(axis=(1, 2)), "T4: grabbed by the mover", ply)
    holds((left_out == (out | (mine & resigned[:, None]))).all(axis=1), "A2: out by resigning", ply)
    if thorough:
        flat = grabs(game).reshape(game.num_actions, -1).astype(np.float32)
        legal = occupied.reshape(len(occupied), -1) @ flat.T == flat.sum(axis=1)
        if game.resign_action >= 0:
            legal[:, game.resign_action] = True
        holds((ply.masks == legal).all(axis=1), "T4: every line without a gap", ply)
    scores = np.where(left_out, -1, (holding % 2 == 0).sum(axis=2))
    best = scores == scores.max(axis=1, keepdims=True)
    remaining = (~left_out).sum(axis=1)
    over = (remaining == 1) | ~now.any(axis=(1, 2, 3))
    holds(after["done"] == over, "T5, A2: over when the board is empty, or one is left", ply)
    loss = {2: -1.0, 3: -0.5}[players]
    share = -loss * (players - remaining) / remaining
    alone = best.sum(axis=1) == 1
    ended = np.where(alone[:, None], np.where(best, 1.0, loss), np.where(left_out, loss, share[:, None]))
    paid = np.where(left_out, loss, 0.0) if players == 3 else np.zeros_like(ended)
    holds((after["returns"] == np.where(over[:, None], ended, paid)).all(axis=1), "T6, A1, A2: who has won", ply)
    holds(~after["truncated"], "A4", ply)
    following = ply.mover.copy()
    for _ in range(players):
        following = np.where(
            (following == ply.mover) | left_out[ply.rows, following], (following + 1) % players, following
        )
    holds(after["done"] | (after["to_move"] == following), "A2: the next player still in the game is to move", ply)


# Curio


class Moves(NamedTuple):
    """The moves by their texts, all (A', ...) for the A' actions that are no words."""

    origin: Array
    target: Array
    """Numbers of cells, row by row from row 1."""
    between: Array
    """(A', h * w) bool"""
    length: Array


@cache
def moves_of(game: Game) -> Moves:
    rows, cols = game.options["rows"], game.options["cols"]
    words = [game.action_to_string(action).split("-") for action in range(game.num_actions)]
    ends = [[(int(end[1:]) - 1, ord(end[0]) - 97) for end in word] for word in words if len(word) == 2]
    between, length = np.zeros((len(ends), rows * cols), bool), np.zeros(len(ends), int)
    for k, ((row, col), (last_row, last_col)) in enumerate(ends):
        length[k] = max(abs(last_row - row), abs(last_col - col))
        for step in range(1, length[k]):
            here = (row + (last_row - row) * step // length[k]) * cols + col + (last_col - col) * step // length[k]
            between[k, here] = True
    origin, target = (np.array([end[k][0] * cols + end[k][1] for end in ends]) for k in (0, 1))
    return Moves(origin, target, between, length)


class Army(NamedTuple):
    """A Curio board (B, cells), from the planes of the full state."""

    owner: Array
    """0 Light, 1 Dark, -1 nobody"""
    faces: Array
    """(B, cells, 2) towards Light, towards Dark; 0 on empty cells"""
    known: Array


def army(game: Game, seen: dict[str, Array]) -> Army:
    flat = {name: plane.reshape(len(plane), -1).astype(int) for name, plane in seen.items()}
    base = range(1, game.options["base"] + 1)
    near, far = (sum(v * flat[f"{word} {v}"] for v in base) for word in ("shows", "may hide"))
    owner = np.where(flat["mine"], 0, np.where(flat["enemy"], 1, -1))
    return Army(owner, np.stack([near, far], axis=2), flat["known"] == 1)


def captures(game: Game, enemy: Array, own: Array) -> Array:
    """C7, of the numbers that are compared"""
    name = game.options["capture"].removesuffix("_total")
    if name == "any":
        return np.ones(np.broadcast_shapes(enemy.shape, own.shape), bool)
    return {"lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal}[name](enemy, own)


def numbers(game: Game, faces: Array, mover: Array) -> Array:
    """(B, cells) what C7 compares, for these movers"""
    if game.options["capture"].endswith("_total"):
        return faces.sum(axis=2)
    return np.take_along_axis(faces, mover[:, None, None], axis=2)[..., 0]


def curio(ply: Ply, thorough: bool) -> None:
    """C4 to C13, C15"""
    game, options, after, rows, mover = ply.game, ply.game.options, ply.after, ply.rows, ply.mover
    was, now, moves = army(game, ply.seen), army(game, ply.sees), moves_of(game)
    passed, resigned = ply.chose("pass"), ply.chose("resign")
    moved = ~passed & ~resigned
    k = np.where(moved, ply.actions, 0)
    origin, target = moves.origin[k], moves.target[k]
    compared = numbers(game, was.faces, mover)
    may_take = captures(game, compared[rows, target], compared[rows, origin])
    took = moved & (was.owner[rows, target] == 1 - mover)
    holds(~moved | (was.owner[rows, origin] == mover), "C6: an own piece", ply)
    holds(
        ~moved | (was.owner[rows, target] == -1) | (took & may_take), "C6, C7: to an empty cell or a lawful prey", ply
    )
    holds(~(moves.between[k] & (was.owner >= 0)).any(axis=1) | ~moved, "C6: over empty cells", ply)
    reach = was.faces[rows, origin, mover]
    holds(~moved | (moves.length[k] <= reach) | (not options["limit"]), "C6: no farther than its number", ply)
    owner, faces, known = was.owner.copy(), was.faces.copy(), was.known.copy()
    turned = took & options["turn"]
    piece = faces[rows, origin]
    at = rows[moved]
    owner[at, origin[moved]], owner[at, target[moved]] = -1, mover[moved]
    faces[at, target[moved]] = np.where(turned[:, None], piece[:, ::-1], piece)[moved]
    known[at, target[moved]] = (was.known[rows, origin] | turned)[moved]
    faces[at, origin[moved]], known[at, origin[moved]] = 0, False
    holds((now.owner == owner).all(axis=1), "C6: the board after the move", ply)
    holds((now.faces == faces).all(axis=(1, 2)), "C8: a piece that has captured turns, no other does", ply)
    holds((now.known == known).all(axis=1), "C8: what has turned is known, nothing else on the board", ply)
    quiet = np.where(took, 0, np.minimum(127, ply.seen["quiet"][:, 0, 0].astype(int) + 1))
    holds(resigned | (ply.sees["quiet"][:, 0, 0] == quiet), "C13: plies without a capture", ply)
    holds(resigned | ((ply.sees["passed"][:, 0, 0] == 1) == passed), "C12: a pass is remembered for a ply", ply)
    if thorough:
        clear = ~((was.owner >= 0).astype(np.float32) @ moves.between.T.astype(np.float32)).astype(bool)
        prey = captures(game, compared[:, moves.target], compared[:, moves.origin])
        prey &= was.owner[:, moves.target] == 1 - mover[:, None]
        legal = clear & (was.owner[:, moves.origin] == mover[:, None]) & ((was.owner[:, moves.target] == -1) | prey)
        if options["limit"]:
            legal &= (
                moves.length <= np.take_along_axis(was.faces, mover[:, None, None], axis=2)[..., 0][:, moves.origin]
            )
        holds((ply.masks[:, : len(moves.length)] == legal).all(axis=1), "C6, C7: every legal move", ply)
        holds(ply.masks[:, len(moves.length)] == ~legal.any(axis=1), "C12: pass if there is no other, only then", ply)
        check_views(ply, now)
    royal = (now.faces == options["base"]).any(axis=2)
    prey_royal = took & (was.faces[rows, target] == options["base"]).any(axis=1)
    won = prey_royal & ~(royal & (now.owner == 1 - mover[:, None])).any(axis=1)
    dead = no_capture_left(game, now)
    both_passed = passed & (ply.seen["passed"][:, 0, 0] == 1)
    limit = options["no_capture_limit"]
    quiet_now = after["quiet"]
    too_quiet = ~(won | dead | both_passed | resigned) & (limit is not None and (quiet_now >= limit))
    holds(after["done"] == (won | dead | both_passed | resigned | too_quiet), "C10 to C13: over when it is over", ply)
    holds(after["truncated"] == too_quiet, "C13, A4: truncated by the limit alone", ply)
    holds((after["returns"][rows, mover] == 1) == won, "C10: by the capture of the last royal piece", ply)
    holds((after["returns"][rows, 1 - mover] == 1) == resigned, "C11, C12, A2: all else is drawn", ply)


def no_capture_left(game: Game, now: Army) -> Array:
    """(B,) C11: one piece each, or no pair that could ever capture"""
    light, dark = now.owner == 0, now.owner == 1
    one_each = (light.sum(axis=1) == 1) & (dark.sum(axis=1) == 1)
    possible = np.zeros(len(light), bool)
    for player, (mine, theirs) in enumerate(((light, dark), (dark, light))):
        compared = numbers(game, now.faces, np.full(len(light), player))
        least, most = (
            np.where(mine, compared, far).min(axis=1) if far else np.where(mine, compared, 0).max(axis=1)
            for far in (99, 0)
        )
        least_enemy = np.where(theirs, compared, 99).min(axis=1)
        most_enemy = np.where(theirs, compared, 0).max(axis=1)
        low = captures(game, least_enemy, most) | captures(game, most_enemy, least)
        possible |= low & mine.any(axis=1) & theirs.any(axis=1)
    return one_each | ~possible


def check_views(ply: Ply, now: Army) -> None:
    """C5, C8, C15: each player sees the faces towards them, of known pieces both, and may not rule out what is true."""
    game, after = ply.game, ply.after
    for player in range(2):
        seen = planes(game, game.view(after, player))
        flat = {name: plane.reshape(len(plane), -1) for name, plane in seen.items()}
        there = now.owner >= 0
        holds((flat["mine"] == (now.owner == player)).all(axis=1), "C5: my pieces", ply)
        holds((flat["enemy"] == (now.owner == 1 - player)).all(axis=1), "C5: the enemy's pieces", ply)
        possible = np.stack([flat[f"may hide {v}"] for v in range(1, game.options["base"] + 1)], axis=2)
        for v in range(1, game.options["base"] + 1):
            shown = there & (now.faces[..., player] == v)
            holds((flat[f"shows {v}"] == shown).all(axis=1), "C5: the face towards me", ply)
            true = there & (now.faces[..., 1 - player] == v)
            holds((true <= possible[..., v - 1]).all(axis=1), "C15: what is true is possible", ply)
        holds((~now.known | (possible.sum(axis=2) == 1)).all(axis=1), "C8: what both know is certain", ply)
