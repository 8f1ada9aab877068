"""Moves and captures of Curio (C6 to C9, C14), each ruling on a position drawn as board text.

Light is below; `L41` shows 4 to Light and 1 to Dark. The other rulings: `test_setup`, `test_endings` and
`test_inference`.
"""

import pytest

from pbm_envs import Curio
from tests.curio.positions import PICTURED, at
from tests.play import legal, play


def moves_from(game, cell, board, moves=""):
    """Where the piece on `cell` may go."""
    found = legal(game, play(game, moves, board))[0]
    return {text.removeprefix(f"{cell}-") for text in found if text.startswith(f"{cell}-")}


def test_a_piece_goes_at_most_as_far_as_its_owner_s_number():
    """C6: b2 shows Light 2; a4 shows Dark 3, though Light sees 1"""
    board = ". . . . D11/D13 . . . ./. . . . ./. L21 . . ./L11 . . . L44"
    assert moves_from(Curio(), "b2", board) == {"a2", "a3", "b1", "b3", "b4", "c1", "c2", "c3", "d2", "d4"}
    assert moves_from(Curio(limit=False), "b2", board) == moves_from(Curio(), "b2", board) | {"b5", "e2", "e5"}
    assert moves_from(Curio(), "a4", board, "e1-e2") >= set("a1 a2 a3 a5 b3 b4 b5 c2 c4 d1 d4".split())
    assert len(moves_from(Curio(), "a4", board, "e1-e2")) == 11


def test_nobody_may_pass_who_can_only_capture():
    """C12: a capture is a move."""
    game = Curio(base=2, rows=3, cols=3, capture="lt", turn=False)
    record = play(game, "", "D11 D11 D11/D11 L21 D11/D11 D11 D11")
    moves = legal(game, record)[0]
    assert len(moves) == 8
    assert all(game.action_cells(game.string_to_action(move))[0] == game.board.names.index("b2") for move in moves)
    with pytest.raises(ValueError, match="pass"):
        game.step(record, [game.string_to_action("pass")])


def test_a_piece_passes_over_nothing_and_lands_on_no_friend():
    """C6"""
    board = ". D11 D22 . D11/. . . . ./D11 . D44 . ./. . . . ./L33 . L11 D44 D44"
    assert moves_from(Curio(), "a1", board) == moves_from(Curio(limit=False), "a1", board) == {"a2", "a3", "b1", "b2"}


CAPTURED_BY_L32 = {  # Light sees 1, 2, 3, 3, 4 on D12, D24, D33, D34, D44; the sums are 3, 6, 6, 7, 8 to Light's 5
    "lt": {"D12", "D24"},
    "le": {"D12", "D24", "D33", "D34"},
    "gt": {"D44"},
    "ge": {"D33", "D34", "D44"},
    "lt_total": {"D12"},
    "le_total": {"D12"},
    "gt_total": {"D24", "D33", "D34", "D44"},
    "ge_total": {"D24", "D33", "D34", "D44"},
    "any": {"D12", "D24", "D33", "D34", "D44"},
}


@pytest.mark.parametrize("capture", CAPTURED_BY_L32)
def test_a_capture_compares_what_the_mover_sees_or_the_totals(capture):
    """C7"""
    game, board = Curio(capture=capture), "D12 . D24 . D33/. . . . ./. . L32 . ./. . . . ./D34 . D44 . L11"
    states = play(game, "", board)
    assert {at(game, states, cell) for cell in moves_from(game, "c3", board)} - {"."} == CAPTURED_BY_L32[capture]


@pytest.mark.parametrize(("capture", "equal"), [("lt", 0), ("le", 1), ("gt", 0), ("ge", 1), ("any", 1)])
def test_equal_totals(capture, equal):
    """C7: 3 + 1 against 2 + 2; "any" has no total"""
    game = Curio(capture=capture if capture == "any" else f"{capture}_total")
    board = "D22 . . . D44/. . . . ./. . L31 . ./. . . . ./L44 . L11 . ."
    assert ("a5" in moves_from(game, "c3", board)) == equal


def test_dark_compares_what_dark_sees():
    """C7: D13 shows 3 to Dark and 1 to Light, L43 the same 3, L41 only 1, L44 more"""
    board = "D44 . . . L44/. . . . ./. . D13 . ./. . . . ./L43 . L41 . L11"
    for capture, taken in (("lt", {"c1"}), ("le", {"a1", "c1"}), ("gt", {"e5"}), ("ge", {"a1", "e5"})):
        assert moves_from(Curio(capture=capture), "c3", board, "e1-e2") & {"a1", "c1", "e5"} == taken


@pytest.mark.parametrize("capture", ["le", "le_total"])
def test_only_under_totals_does_the_mask_tell_of_hidden_faces(capture):
    """C7: the two positions look alike to Light"""
    game = Curio(capture=capture)
    masks = [
        game.legal_action_mask(play(game, "", board)).tolist()
        for board in (
            "D12 . . . D14/. . . . ./. . L31 . ./. . . . ./L44 . . . .",
            "D14 . . . D12/. . . . ./. . L31 . ./. . . . ./L44 . . . .",
        )
    ]
    assert (masks[0] == masks[1]) == (capture == "le")


def test_a_piece_that_has_captured_turns_and_is_known_to_both_for_good():
    """C8"""
    game = Curio()
    states = play(game, "d2-b4", PICTURED)
    assert at(game, states, "b4") == "L12"  # L21 before
    assert [at(game, game.view(states, player), "b4") for player in range(2)] == ["L12", "L12"]
    for text in ("d4-d3", "b4-b3"):
        game.step(states, [game.string_to_action(text)])
    assert [at(game, game.view(states, player), "b3") for player in range(2)] == ["L12", "L12"]


def test_without_turn_it_stays_as_it_was():
    """C8"""
    game = Curio(turn=False)
    states = play(game, "d2-b4", PICTURED)
    assert at(game, states, "b4") == "L21"
    assert [at(game, game.view(states, player), "b4") for player in range(2)] == ["L2?", "L?1"]


@pytest.mark.parametrize("turn", [True, False])
@pytest.mark.parametrize(("reveal_captured", "lost"), [(True, ["14", "41"]), (False, ["1?", "4?"])])
def test_a_captured_piece_is_shown_to_both_or_to_nobody(turn, reveal_captured, lost):
    """C9: D14 on b4; in the picture a player's own side of it comes first"""
    game = Curio(turn=turn, reveal_captured=reveal_captured)
    states = play(game, "d2-b4", PICTURED)
    for player in range(2):
        assert f"Dark has lost: {lost[player]}\n" in game.to_text(game.view(states, player))


def test_the_pictured_move():
    """C14: the 2 on d2 takes the 1 on b4 and shows 3, which takes `face` other than "large" """
    game = Curio(face="random")
    states = play(game, "d2-b4", PICTURED.replace("L21", "L23"))
    assert at(game, states, "b4") == "L32"
    assert at(game, states, "d2") == "."
    assert states["returns"].tolist() == [[0, 0]]
    assert at(Curio(), play(Curio(), "", PICTURED.replace("L21", "L23")), "d2") == "L23"
