"""What a player of Curio may infer (C15), on positions drawn as board text: views, and the planes of an observation.

Light is below; `D13` shows 1 to Light and 3 to Dark. `test_worlds` compares with everything that is possible.
"""

import numpy as np
import pytest

from pbm_envs import Curio
from tests.curio.positions import at, may_hide
from tests.play import play

LIGHT, DARK = 0, 1
LINED_UP = "D11 D12 D13 D14 ./. . . . ./. . . . ./. . . . ./. . L11 L33 L44"
"""Dark's pieces all show 1 to Light."""


def hides(board, moves="", player=LIGHT, **options):
    """By cell, what the pieces can have on the side that `player` does not see."""
    game = Curio(**options)
    return may_hide(game, game.view(play(game, moves, board), player))


@pytest.mark.parametrize(
    ("face", "mine", "enemy"),
    [("large", {1, 2}, {2, 3, 4}), ("small", {2, 3, 4}, {1, 2}), ("random", {1, 2, 3, 4}, {1, 2, 3, 4})],
)
def test_the_opening_orientation(face, mine, enemy):
    """C15, C5: behind the 2s that Light sees in 50 setups"""
    game = Curio(face=face)
    views = game.view(game.init(50, np.random.default_rng(5)), LIGHT)
    found = {"L": set(), "D": set()}
    for k in range(50):
        for cell, numbers in may_hide(game, views[k : k + 1]).items():
            piece = at(game, views[k], cell)
            if piece[1] == "2":
                found[piece[0]] |= numbers
    assert found == {"L": mine, "D": enemy}


def test_an_enemy_3_hides_a_3_or_a_4():
    """C15: the help page's own example"""
    assert hides("D33 D34 D23 . ./. . . . ./. . . . ./. . . . ./L11 . . . L44")["a5"] == {3, 4}


def test_the_pieces_in_play():
    """C15, C2: Dark has nothing with a 4; or two pieces that show 1"""
    possible = hides("D33 . D23 D13 ./. . . . ./. . . . ./. . . . ./L11 . . . L44")
    assert possible == {"a5": {3}, "c5": {3}, "d5": {3}, "a1": {1}, "e1": {4}}
    assert hides("D11 D14 . . ./. . . . ./. . . . ./. . . . ./L11 . . . L44")["a5"] == {1, 4}


def test_a_piece_that_has_gone_k_cells_shows_its_owner_at_least_k():
    """C15: D13 goes three cells, then D14 too; the others are what is left"""
    assert hides(LINED_UP, "e1-e2 c5-c2") == {
        "a5": {1, 2, 3, 4}, "b5": {1, 2, 3, 4}, "d5": {1, 2, 3, 4}, "c2": {3, 4}, "c1": {1}, "d1": {3}, "e2": {4},
    }  # fmt: skip
    possible = hides(LINED_UP, "e1-e2 c5-c2 e2-e3 d5-a2")
    assert [possible[cell] for cell in ("a5", "b5", "c2", "a2")] == [{1, 2}, {1, 2}, {3, 4}, {3, 4}]


def test_without_limit_distances_tell_nothing():
    """C15, C6"""
    assert hides(LINED_UP, "e1-e2 c5-c2", limit=False)["c2"] == {1, 2, 3, 4}


def test_the_owner_learns_nothing_from_how_far_a_piece_goes():
    """C15: L41 goes four cells"""
    board = ". D44 . . D14/. . . . ./. . . . ./. . . . ./L41 L11 L21 L44 ."
    assert hides(board, player=DARK)["a1"] == {1, 2, 4}
    assert hides(board, "a1-a5", DARK)["a5"] == {4}
    assert hides(board)["a1"] == hides(board, "a1-a5")["a5"] == {1, 4}


@pytest.mark.parametrize(
    ("capture", "army", "taken", "left"),
    [
        ("le", "D11 D12 D13 D14", "L33", {3, 4}),
        ("lt", "D11 D12 D14 D13", "L33", {4}),
        ("ge", "D11 D13 D12 D14", "L33", {2, 3}),
        ("gt", "D11 D13 D12 D14", "L33", {2}),
        ("any", "D11 D12 D13 D14", "L33", {2, 3, 4}),
        ("ge_total", "D11 D12 D13 D14", "L22", {2, 3}),
        ("gt_total", "D11 D13 D12 D14", "L22", {2}),
    ],
)
def test_a_piece_that_has_captured_could_capture(capture, army, taken, left):
    """C15, C7: it has not turned, what it took is shown, and to go two cells it has a 2 or more towards Dark"""
    board = f"{army} ./. . . . ./. . {taken} . ./. . . . ./. . L11 . L44"
    assert hides(board, "e1-e2 c5-c3", capture=capture, turn=False)["c3"] == left


def test_a_piece_that_stands_against_face_has_captured():
    """C15, C8: L14 is known from the start, but not where such a piece can just stand so"""
    board = "D14 . D41 . ./. . . . ./. . . . ./. . . . ./L14 . L41 . ."
    for face, light, dark in (
        ("large", ["L14", "L4?", "D1?", "D41"], ["L14", "L?1", "D?4", "D41"]),
        ("small", ["L1?", "L41", "D14", "D4?"], ["L?4", "L41", "D14", "D?1"]),
        ("random", ["L1?", "L4?", "D1?", "D4?"], ["L?4", "L?1", "D?4", "D?1"]),
    ):
        game = Curio(face=face)
        states = play(game, "", board)
        for player, expected in ((LIGHT, light), (DARK, dark)):
            view = game.view(states, player)
            assert [at(game, view, cell) for cell in ("a1", "c1", "a5", "c5")] == expected


@pytest.mark.parametrize(
    ("options", "mine", "enemy"), [({}, 0, 0), ({"reveal_captured": False}, 0, 1), ({"turn": False}, 1, 0)]
)
def test_how_many_pieces_of_a_kind_are_not_known(options, mine, enemy):
    """C15, C8, C9: L21 takes D14"""
    game = Curio(**options)
    board = ". . D44 . ./. . . . ./. . D14 . ./. . . . ./L21 L44 . . ."
    view = game.view(play(game, "a1-c3", board), LIGHT)
    counts = dict(zip(game.planes, game.observe(view)[0, 0, 0].tolist(), strict=True))
    assert (counts["my 12 unseen"], counts["enemy 14 unseen"]) == (mine, enemy)
    assert (counts["my 44 unseen"], counts["enemy 44 unseen"]) == (1, 1)


def test_the_end_tells_which_captured_piece_was_royal():
    """C15, C10: to Light D11 and D12 look alike and stay so; but the game went on when the first was taken"""
    game = Curio(rows=3, cols=3, base=2, reveal_captured=False)
    states = play(game, "a1-a3 c3-c2 c1-c2", "D11 . D12/. . ./L22 . L22")
    assert states["returns"].tolist() == [[1, -1]]
    drawn = game.determinize(np.repeat(game.view(states, LIGHT), 50), np.random.default_rng(9))
    texts = [game.to_text(state).split("\n") for state in drawn]
    assert {line for text in texts for line in text if line.startswith("Dark has lost")} == {"Dark has lost: 11 12"}
