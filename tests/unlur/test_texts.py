"""Unlur: options, move texts and their errors (A3, U1 to U4, U7), and the rules page."""

from __future__ import annotations

import pytest

from pbm_envs import Unlur
from tests.play import play, rules_page


def test_radius():
    """U1"""
    assert Unlur() == Unlur(radius=6, allow_resign=False)
    for radius in (2, 14, -3, 6.0, "6", None, True):
        with pytest.raises(ValueError, match=r"radius is .*: expected an integer from 3 to 13"):
            Unlur(radius=radius)
    with pytest.raises(ValueError, match="allow_resign is 0: expected True or False"):
        Unlur(allow_resign=0)


def test_starts_empty():
    """U3"""
    game = Unlur(radius=3)
    assert not play(game, board=".../..../...../..../... ")["stones"].any()
    with pytest.raises(ValueError, match=r"board is '.*': expected the empty board"):
        play(game, board=".../.X../...../..../...")


def test_no_stone_on_a_stone():
    """U4"""
    with pytest.raises(ValueError, match="row 0: 'c3' is illegal here: expected one of 17"):
        play(Unlur(radius=3), "black c3 b2 c3")


def test_every_text_is_read_as_its_action():
    """A3, U7"""
    game = Unlur(allow_resign=True)
    texts = [game.action_to_string(action) for action in range(game.num_actions)]
    assert (texts[0], texts[18], texts[-3:]) == ("a1", "c6", ["k11", "black", "resign"])
    for reading in (str, str.upper, str.title, " {}\t".format):
        assert [game.string_to_action(reading(text)) for text in texts] == list(range(93))


@pytest.mark.parametrize("text", ["", "c", "4c", "c9", "g1", "l6", "a0", "c 4", "c04", "blacks", "white", "resign", 3])
def test_other_texts(text):
    """A3, U7"""
    form = r"is no Unlur move: expected a row letter and a column number such as 'c4', or 'black'$"
    with pytest.raises(ValueError, match=form):
        Unlur().string_to_action(text)


def test_the_rules_page():
    """U1 to U7: all there, and the example is what the game draws"""
    game, page = Unlur(radius=3), rules_page("unlur")
    assert all(f"(U{k})" in page or f" U{k} " in page for k in range(1, 8))
    assert f"```\n{game.to_text(play(game, 'b2 c3 d3 black c5 a2 b1 e4'))}\n```" in page
