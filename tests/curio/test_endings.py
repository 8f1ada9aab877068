"""How a game of Curio ends (A1, A2, A4, C10 to C13), each ruling on a position drawn as board text.

Light is below; `L41` shows 4 to Light and 1 to Dark. The boards of 3x3 have base 2, so that pieces with a 2 are royal.
"""

import numpy as np
import pytest

from pbm_envs import Curio
from tests.curio.positions import at
from tests.play import legal, play

STUCK = "D22 D22 D22/L22 L22 L22/L11 L11 L11"
"""Under "gt" nobody can move: neighbours show the same. L11 could take D22 if they met, so C11 does not hold."""
GOING, LIGHT_WINS, DARK_WINS = (False, False, 0, 0), (True, False, 1, -1), (True, False, -1, 1)
DRAWN, TRUNCATED = (True, False, 0, 0), (True, True, 0, 0)


def small(**options):
    return Curio(rows=3, cols=3, base=2, **options)


def end(game, board, moves=""):
    """Done, truncated and the returns after these moves."""
    state = play(game, moves, board)
    return bool(state["done"][0]), bool(state["truncated"][0]), *state["returns"][0].tolist()


def test_the_winner_gets_what_the_loser_loses_at_the_end():
    """A1, C10"""
    board = "D12 . D11/. . ./L22 . L11"
    assert end(small(), board) == GOING
    assert end(small(), board, "a1-a3") == LIGHT_WINS
    assert end(small(), board, "c1-b1 a3-a1") == DARK_WINS
    assert end(small(), board, "c1-b1 a3-a2 b1-c1") == GOING


def test_who_resigns_loses():
    """A2"""
    game = small(allow_resign=True)
    assert game.action_to_string(game.num_actions - 1) == "resign"
    board = "D12 . D11/. . ./L22 . L11"
    assert end(game, board, "resign") == DARK_WINS
    assert end(game, board, "c1-b1 resign") == LIGHT_WINS
    assert end(game, board, "a1-a2 a3-b3 a2-a3 resign") == LIGHT_WINS


def test_resign_is_legal_until_the_end():
    """A2"""
    game = small(allow_resign=True, capture="gt")
    states = play(game, "", STUCK)
    assert legal(game, states) == [{"pass", "resign"}]
    game.step(states, [game.string_to_action("resign")])
    assert legal(game, states) == [set()]
    assert "resign" in legal(game, play(game, "", "D12 . D11/. . ./L22 . L11"))[0]


def test_only_the_ply_limit_truncates():
    """A4, C13"""
    game, board = small(no_capture_limit=3, allow_resign=True), "D11 . D22/. . ./L22 . L11"
    assert end(game, board, "a1-a2 c3-b3 c1-b1") == TRUNCATED
    assert end(game, board, "a1-a2 c3-b3 a2-b3") == LIGHT_WINS
    assert end(game, board, "a1-a2 c3-b3 resign") == DARK_WINS
    assert end(game, "D11 . D11/. . ./L22 . .", "a1-a3") == DRAWN
    assert end(small(no_capture_limit=2, capture="gt"), STUCK, "pass pass") == DRAWN


def test_only_the_last_royal_piece_decides():
    """C10: 22 and 12 are royal, whichever number the mover sees"""
    board = "D12 D22 D11/. . ./L22 L22 L11"
    assert end(small(), board, "b1-b3") == GOING
    assert end(small(), board, "b1-b3 c3-c2 a1-a3") == LIGHT_WINS
    assert end(small(), board, "a1-a3 c3-c2 b1-b3") == LIGHT_WINS
    assert end(small(), "D12 . D11/. . ./L21 . L11", "c1-b1 a3-a1") == DARK_WINS


def test_a_win_comes_before_the_draw_of_one_piece_each():
    """C10 before C11"""
    assert end(small(), "D22 . D11/. . ./L22 . .", "a1-a2 c3-c2 a2-a3") == LIGHT_WINS
    assert end(small(), "D12 . D11/. . ./L22 . .", "a1-a3") == LIGHT_WINS


def test_a_win_comes_before_the_draw_without_captures():
    """C10 before C11: under "lt" L21 turns to L12, which takes no D11 (1), nor they it (2)"""
    assert end(small(capture="lt"), "D12 D11 D11/. . ./L21 . L11", "a1-a3") == LIGHT_WINS
    assert end(small(capture="lt"), "D11 D11 D11/. . ./L21 . L11", "a1-a3") == DRAWN


def test_the_last_piece_is_taken_where_anything_may_be_taken():
    """C11: neither army has a royal piece to lose, and nothing is left to capture."""
    game = Curio(base=2, rows=3, cols=3, capture="any", turn=False)
    record = play(game, "a2-a3", "D11 . ./L11 . L11/. . .")
    assert record["done"][0]
    assert record["returns"][0].tolist() == [0, 0]


def test_an_army_that_has_had_no_royal_piece_cannot_lose_the_last():
    """C10: Light takes all there is; then C11"""
    assert end(small(), "D11 . D11/. . ./L22 . L11", "a1-a3 c3-c2 c1-c2") == DRAWN


def test_one_piece_each_is_a_draw():
    """C11: although either could take the other"""
    assert end(small(), "D11 . D22/. . ./L22 . .", "a1-a3") == DRAWN
    assert end(small(capture="any"), "D22 . ./. . ./L22 . .") == DRAWN
    assert end(small(capture="any"), "D22 . ./. . ./L22 . L11") == GOING


@pytest.mark.parametrize(
    ("capture", "ended"),
    [("lt", True), ("le", False), ("gt", True), ("ge", False), ("any", False), ("lt_total", True), ("le_total", False)],
)
def test_equal_pieces_only_can_never_capture_unless_equals_may(capture, ended):
    """C11, at the start: nothing is legal then"""
    game = small(capture=capture)
    states = play(game, "", "D11 . D11/. . ./L11 . L11")
    assert states["done"] == [ended]
    assert states["returns"].tolist() == [[0, 0]]
    assert legal(small(capture=capture), states)[0] == (
        set() if ended else {"a1-a2", "a1-b2", "a1-b1", "c1-c2", "c1-b2", "c1-b1"}
    )


def test_what_either_player_could_capture_anywhere_keeps_the_game_going():
    """C11: Light sees own 1 and enemy 2; Dark sees own 2 and enemy 1, wherever they are; turned, Dark could not"""
    assert end(small(capture="lt"), "D22 D22 ./. . ./. . L11") == GOING
    assert end(small(capture="lt"), "D22 D22 ./. . ./. . L12") == DRAWN


def test_pass_is_legal_just_when_nothing_else_is():
    """C12: L11 on a1 sees three 2s around it; then one of them leaves"""
    game, board = small(), "D11 . ./D22 D22 ./L11 D22 ."
    assert legal(game, play(game, "", board)) == [{"pass"}]
    assert "pass" not in legal(game, play(game, "pass", board))[0]
    assert legal(game, play(game, "pass a2-b3", board)) == [{"a1-a2"}]
    assert legal(game, play(game, "pass a3-b3", board)) == [{"pass"}]
    assert "pass" not in legal(game, play(game, "", "D11 . D22/. . ./L22 . L11"))[0]


def test_two_passes_in_a_row_draw():
    """C12, also on the ply that reaches C13's limit"""
    assert end(small(capture="gt"), STUCK, "pass") == GOING
    assert end(small(capture="gt"), STUCK, "pass pass") == DRAWN
    assert end(small(capture="gt", no_capture_limit=2), STUCK, "pass pass") == DRAWN
    assert end(small(capture="gt", no_capture_limit=None), STUCK, "pass pass") == DRAWN


def test_passes_of_one_player_with_moves_between_do_not_draw():
    """C12"""
    assert end(small(), "D11 . ./D22 D22 ./L11 D22 .", "pass a3-b3 pass b3-a3 pass") == GOING


def test_a_pass_is_a_ply_without_a_capture():
    """C13"""
    assert end(small(capture="gt", no_capture_limit=1), STUCK, "pass") == TRUNCATED
    assert end(small(no_capture_limit=3), "D11 . ./D22 D22 ./L11 D22 .", "pass a3-b3 pass") == TRUNCATED


def test_a_capture_starts_the_count_anew():
    """C13"""
    game, board = small(no_capture_limit=3), "D11 D11 D22/. . ./L22 . L11"
    assert end(game, board, "c1-b1 c3-c2 b1-a2") == TRUNCATED
    assert end(game, board, "c1-b1 c3-c2 a1-a3") == GOING
    assert end(game, board, "c1-b1 c3-c2 a1-a3 c2-c3 b1-c1") == GOING
    assert end(game, board, "c1-b1 c3-c2 a1-a3 c2-c3 b1-c1 c3-c2") == TRUNCATED


@pytest.mark.parametrize(("limit", "plies"), [(None, 1000), (100, 100), (1, 1)])
def test_the_limit_can_be_lifted(limit, plies):
    """C13: to and fro; the default is 100"""
    game = small(no_capture_limit=limit)
    states = play(game, "", "D11 . D22/. . ./L22 . L11")
    shuffle = [game.string_to_action(text) for text in ("c1-c2", "a3-a2", "c2-c1", "a2-a3")]
    for ply in range(plies):
        assert not states["done"][0]
        game.step(states, [shuffle[ply % 4]])
    assert states["truncated"] == [limit is not None]
    assert states["returns"].tolist() == [[0, 0]]
    assert plies <= game.max_plies


def test_a_capture_that_wins_stays_on_the_board():
    """C10, C8: the capturing piece has turned"""
    assert at(small(), play(small(), "a1-a3", "D12 . D11/. . ./L21 . L11"), "a3") == "L12"


def test_steps_after_the_end_change_nothing():
    """C10: whatever the action"""
    game = small()
    states = play(game, "a1-a3", "D12 . D11/. . ./L22 . L11")
    before = states.tobytes()
    game.step(states, np.array([-5]))
    assert states.tobytes() == before


def test_worlds_of_a_game_that_was_over_before_the_first_move():
    """C11, C15: nobody can capture, so nothing was played; for either player, who need not see why"""
    game, rng = small(capture="lt"), np.random.default_rng(3)
    states = play(game, "", "D22 D22 ./. . ./. . L12")
    assert states["done"][0]
    assert states["last_action"][0] < 0
    for player in range(2):
        view = game.view(states, player)
        for world in (game.determinize(view, rng) for _ in range(5)):
            assert world["done"][0]
            assert game.view(world, player) == view


def test_worlds_where_an_army_never_had_a_royal_piece():
    """C10, C15: such a position can be set up; its owner has not lost"""
    game, rng = small(), np.random.default_rng(3)
    states = play(game, "", "D11 . D11/. . ./L22 . L12")
    assert not states["done"][0]
    for player in range(2):
        view = game.view(states, player)
        for world in (game.determinize(view, rng) for _ in range(5)):
            assert game.view(world, player) == view
