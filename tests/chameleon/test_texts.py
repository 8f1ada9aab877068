"""Chameleon: options, move texts and their errors (A3, H1 to H4), and the rules page."""

from __future__ import annotations

import pytest

from pbm_envs import Chameleon
from tests.play import play, rules_page


def test_sizes():
    """H1"""
    assert Chameleon() == Chameleon(size=11, swap_rule=True, allow_resign=False)
    for size in (2, 27, 0, 11.0, "11", None, True):
        with pytest.raises(ValueError, match=r"size is .*: expected an integer from 3 to 26"):
            Chameleon(size=size)
    for options in ({"swap_rule": 1}, {"allow_resign": "yes"}):
        with pytest.raises(ValueError, match=r"is .*: expected True or False"):
            Chameleon(**options)


def test_starts_empty():
    """H3"""
    game = Chameleon(size=3)
    assert not play(game, board=" .../.../... ")["stones"].any()
    with pytest.raises(ValueError, match=r"board is 'x\.\./\.\.\./\.\.\.': expected the empty board"):
        play(game, board="x../.../...")


def test_no_letter_on_a_letter():
    """H3"""
    with pytest.raises(ValueError, match=r"row 0: 'b2o' is illegal here: expected one of 17 .*a1x, a1o"):
        play(Chameleon(size=3), "b2x b2o")


def test_every_text_is_read_as_its_action():
    """A3"""
    game = Chameleon(allow_resign=True)
    texts = [game.action_to_string(action) for action in range(game.num_actions)]
    assert (texts[:2], texts[-2:]) == (["a1x", "a1o"], ["swap", "resign"])
    for reading in (str, str.upper, str.title, "\n {} ".format):
        assert [game.string_to_action(reading(text)) for text in texts] == list(range(244))


@pytest.mark.parametrize("text", ["", "f4", "4fx", "f12x", "l1x", "f0o", "f4z", "f4 x", "f04x", "swap!", "resign", 5])
def test_other_texts(text):
    """A3"""
    form = r"is no Chameleon move: expected a cell and a letter such as 'c2x' or 'swap'$"
    with pytest.raises(ValueError, match=form):
        Chameleon().string_to_action(text)


def test_the_rules_page():
    """H1 to H5: all there, and the example is what the game draws"""
    game, page = Chameleon(size=3), rules_page("chameleon")
    assert all(f"(H{k})" in page or f" H{k} " in page for k in range(1, 6))
    assert f"```\n{game.to_text(play(game, 'b1x b3x a2x c2x b2x'))}\n```" in page
