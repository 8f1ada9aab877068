"""Options, move texts, boards and rules pages of the four games: an error names what was given and shows the form."""

import re

import pytest

from pbm_envs import Chameleon, Curio, Trinim, Unlur
from tests.curio.positions import PICTURED
from tests.play import play, rules_page

TRINIM_PICTURED = "b/bb/bgr/grgg/rbgrr"
SIZES = "expected one of 3, 5, 6, 8, 9, .* 18, 20$"
DEFAULTS = {
    Chameleon: {"size": 11, "swap_rule": True, "allow_resign": False},
    Curio: {
        "base": 4, "rows": 5, "cols": 5, "num_pieces": 10, "turn": True, "limit": True, "face": "large",
        "capture": "le", "reveal_captured": True, "no_capture_limit": 100, "allow_resign": False,
    },
    Trinim: {"size": 5, "num_players": 2, "allow_resign": False},
    Unlur: {"radius": 6, "allow_resign": False},
}  # fmt: skip
WRONG_OPTIONS = [
    (Chameleon, "size", [2, 27, 0, 11.0, "11", None, True], "expected an integer from 3 to 26"),
    (Chameleon, "swap_rule", [1], "expected True or False"),
    (Unlur, "radius", [2, 14, -3, 6.0, "6", None, True], "expected an integer from 3 to 13"),
    (Trinim, "size", [4, 7, 10, 13, 16, 19, 2, 21, 0, -3, 5.0, "5", True, None], SIZES),
    (Trinim, "num_players", [1, 4, "2"], "expected one of 2, 3"),
    (Curio, "base", [1, 10, 0, -4, 4.0, "4", None, True], "expected"),
    (Curio, "rows", [1, 27, 5.0, None], "expected"),
    (Curio, "cols", [1, 27, "5", None], "expected"),
    (Curio, "num_pieces", [0, -10, 5, 11, 10.0], "expected"),
    (Curio, "turn", [None, 1, "yes"], "expected"),
    (Curio, "limit", [None, 0], "expected"),
    (Curio, "face", ["big", "", "LARGE", None, 1], "expected"),
    (Curio, "capture", ["eq", "any_total", "total", "", None], "expected"),
    (Curio, "reveal_captured", [None, 1], "expected"),
    (Curio, "no_capture_limit", [0, -1, 2.5, True], "expected"),
    *((game, "allow_resign", [None, 1, "no"], "expected True or False") for game in (Chameleon, Curio, Trinim, Unlur)),
]
OTHER_TEXTS = [
    (Chameleon, "", "f4 4fx f12x l1x f0o f4z f4|x f04x swap! resign", "a cell and a letter such as 'c2x' or 'swap'$"),
    (Curio, "", "d2 d2b4 d2|-|b4 d2-d2 d2-e5 d2-d7 f1-f2 resign", "two cells on a line such as 'a1-a2', or 'pass'$"),
    (Trinim, "", "F5 A1 D4D2 D4|-|D2 B4-C3-D2 A5-E4 C3-C3 resign D0", "a cell such as 'D2' or the two ends of a line"),
    (
        Unlur,
        "",
        "c 4c c9 g1 l6 a0 c|4 c04 blacks white resign",
        "a row letter and a column number .* 'c4', or 'black'$",
    ),
    (Trinim, "allow_resign", "give|up", "or the two ends of a line such as '.*' or 'resign'$"),
]
EXAMPLES = [
    (Curio(base=2, rows=4, cols=3), "D12 D11 D22/. . ./. . ./L21 L22 L11", "a1-a3 a4-a3"),
    (Chameleon(size=3), None, "b1x b3x a2x c2x b2x"),
    (Trinim(), TRINIM_PICTURED, "D4-D2 A5"),
    (Unlur(radius=3), None, "b2 c3 d3 black c5 a2 b1 e4"),
]


@pytest.mark.parametrize("game", DEFAULTS, ids=lambda game: game.name)
def test_defaults(game):
    """C1, H1, T1, U1"""
    assert dict(game().options) == DEFAULTS[game]


@pytest.mark.parametrize(("game", "option", "values", "form"), WRONG_OPTIONS)
def test_a_wrong_option_is_an_error_that_names_it(game, option, values, form):
    """C1, C2, H1, H4, T1, U1"""
    for value in values:
        with pytest.raises(ValueError, match=rf"{option} is .*: {form}"):
            game(**{option: value})


@pytest.mark.parametrize(("game", "option", "texts", "form"), OTHER_TEXTS)
def test_another_text_is_an_error_that_shows_the_form(game, option, texts, form):
    """A3, U7; `check_texts` reads every text that is written."""
    for text in ["", None, 7, *(text.replace("|", " ") for text in texts.split())]:
        with pytest.raises(ValueError, match=f"is not a move of {game.__name__}: expected .*{form}"):
            game(**{option: True} if option else {}).string_to_action(text)


@pytest.mark.parametrize(
    ("game", "moves", "board", "text", "count"),
    [
        (Chameleon(size=3), "b2x", None, "b2o", 17),
        (Unlur(radius=3), "black c3 b2", None, "c3", 17),
        (Unlur(radius=3), "b2 c3", None, "a1", 6),
        (Trinim(), "D3", TRINIM_PICTURED, "D4-D2", 61),
        *((Curio(), "", PICTURED, text, 22) for text in ("d2-d4", "b4-b3", "c3-c4", "c1-b1", "a2-a1", "d2-a5", "pass")),
    ],
)
def test_an_illegal_move_is_an_error_that_names_it_and_changes_nothing(game, moves, board, text, count):
    """A3, C6, H3, T4, U3, U4"""
    states = play(game, moves, board)
    before = states.tobytes()
    with pytest.raises(ValueError, match=f"row 0: '{text}' is illegal here: expected one of {count} "):
        game.step(states, [game.string_to_action(text)])
    assert states.tobytes() == before


@pytest.mark.parametrize(
    ("game", "empty", "wrong"),
    [
        (Chameleon(size=3), " .../.../... ", "x../.../..."),
        (Unlur(radius=3), ".../..../...../..../... ", ".../.X../...../..../..."),
    ],
)
def test_games_of_connection_start_empty(game, empty, wrong):
    """H3, U3"""
    assert not play(game, board=empty)["stones"].any()
    with pytest.raises(ValueError, match=f"board is '{re.escape(wrong)}': expected the empty board"):
        play(game, board=wrong)


@pytest.mark.parametrize(("game", "board", "moves"), EXAMPLES)
def test_the_example_of_the_rules_page_is_what_the_game_draws(game, board, moves):
    assert f"```\n{game.to_text(game.view(play(game, moves, board), 0))}\n```" in rules_page(game.name)
