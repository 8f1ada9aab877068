"""Answers that are read, refused or sent back; nothing is ever guessed between two legal moves."""

import json
import string

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pbm_envs import Chameleon, Curio, Trinim, Unlur, registered_games
from pbm_envs.text import Disguise, Kind, Vocabulary

GAMES_AND_OPTIONS = [kind(**options) for kind in registered_games().values() for options in kind.configurations[:4]]
CURIO, CHAMELEON, TRINIM, UNLUR = Curio(), Chameleon(), Trinim(), Unlur()


def read(game, answer, legal=None):
    """With everything legal, or the moves of these texts."""
    mask = np.ones(game.num_actions, bool)
    if legal is not None:
        mask[:] = False
        mask[[game.string_to_action(text) for text in legal]] = True
    return Vocabulary(game).reader.answer(answer, mask)


def move_of(game, answer, legal=None):
    reading = read(game, answer, legal)
    return game.action_to_string(reading.action) if reading.kind is Kind.MOVE else reading.kind


WAYS = [
    (
        CURIO,
        "a2-b3",
        ["a2-b3", "A2-B3", "a2 b3", "a2b3", "a2 to b3", "a2->b3", "a2→b3", "a2\u2013b3", "a2xb3", "(a2, b3)"],
    ),
    (CURIO, "a2-b3", ["Move a2 to b3.", "from a2 to b3", "**a2-b3**", "`a2-b3`", "a2 x b3", "(a2, b3)"]),
    (CHAMELEON, "c2x", ["c2x", "C2X", "c2 x", "x c2", "x on c2", "c2=x", "c2: x", "place x on c2", "x@c2", "(c2, x)"]),
    (CHAMELEON, "swap", ["swap", "SWAP!", " Swap. "]),
    (TRINIM, "D4-D2", ["D4-D2", "d4-d2", "D2-D4", "d2 to d4", "D2 - D4", "d4 d2", "D4\u2013D2"]),
    (TRINIM, "C3", ["C3", "c3", "take C3", "C 3"]),
    (UNLUR, "c4", ["c4", "C4", "C-4", "c 4", "place c4"]),
    (UNLUR, "black", ["black", "Black", '"black"']),
]


@pytest.mark.parametrize(
    ("game", "text", "way"), [(game, text, way) for game, text, ways in WAYS for way in ways], ids=str
)
def test_ways_of_writing_a_move(game, text, way):
    for answer in (
        json.dumps({"move": way}),
        f"I considered it.\n```json\n{json.dumps({'move': way})}\n```\nDone.",
        f"Final answer: {way}",
        f"Some thoughts.\nMove: {way}",
    ):
        assert move_of(game, answer) == text, answer
    assert move_of(game, way) == text
    assert move_of(game, f"I thought about it.\n{way}") == text
    if not set("[]\n") & set(way):
        assert move_of(game, f"So [{way}]") == text


@pytest.mark.parametrize("game", GAMES_AND_OPTIONS, ids=str)
def test_every_move_of_every_game_under_its_own_name(game):
    words, everything = Vocabulary(game), np.ones(game.num_actions, bool)
    for action, text in enumerate(words.moves):
        for answer in (f'{{"move": "{text}"}}', f"[{text}]", text.upper()):
            assert words.reader.answer(answer, everything).action == action, answer


@pytest.mark.parametrize("game", GAMES_AND_OPTIONS, ids=str)
@pytest.mark.parametrize("seed", [0, 3])
def test_every_move_in_disguise(game, seed):
    words, everything = Disguise(game, seed), np.ones(game.num_actions, bool)
    assert len(set(words.moves)) == game.num_actions
    for action, text in enumerate(words.moves):
        for answer in (f'{{"move": "{text}"}}', f"[{text}]", text.upper(), text.replace("=", " ")):
            assert words.reader.answer(answer, everything).action == action, answer


def test_the_last_json_counts():
    answer = 'First {"move": "c4"}, no: {"move": "d5", "why": {"x": [1, 2]}} and {"note": "e6"} [f7]'
    assert move_of(UNLUR, answer) == "d5"
    assert move_of(UNLUR, '{"answer": {"move": "c4"}}') == "c4"
    assert move_of(UNLUR, '{"move": "c4"} {"move": 7}') is Kind.UNREADABLE
    assert move_of(UNLUR, '{"move": ["c4"]}') is Kind.UNREADABLE
    assert move_of(UNLUR, '{broken {"move": "c4"}') == "c4"
    assert move_of(UNLUR, '{"move": "c4"') == "c4"  # cut short


def test_prose_is_not_searched():
    """A move that is thought about is no answer."""
    for answer in (
        "I would rather not play c4 here",
        "c4 or d5",
        "",
        "   ",
        "Final answer: c4 or d5",
        "[12]",
        "no idea",
    ):
        assert move_of(UNLUR, answer) is Kind.UNREADABLE, answer
    assert move_of(UNLUR, "[1] says c4 is bad. [d5]") == "d5"


def test_brackets_that_disagree_are_not_read():
    assert move_of(UNLUR, "[c4] is good, but [d5] is better") is Kind.UNREADABLE
    assert move_of(UNLUR, "[c4], yes, [C4]") == "c4"


def test_two_legal_readings_are_not_guessed():
    """On a wide board "a11" in a loose form can be cell a11, or the line of a1 and 1: only what is legal decides."""

    class Twins(Vocabulary):
        @property
        def moves(self):
            return ("a-b", "a/b", "ab c", *super().moves[3:])

    reader, legal = Twins(UNLUR).reader, np.zeros(UNLUR.num_actions, bool)
    legal[:2] = True
    both = reader.move("a b", legal)
    assert both.kind is Kind.UNREADABLE
    assert "2 different legal moves" in both.reason
    legal[1] = False
    assert reader.move("a b", legal).action == 0
    legal[0] = False
    assert reader.move("a b", legal).kind is Kind.ILLEGAL
    assert reader.move("a/b", np.ones(UNLUR.num_actions, bool)).action == 1  # its exact name


def test_illegal_is_told_from_unreadable():
    assert read(UNLUR, '{"move": "c4"}', legal=["d5"]).kind is Kind.ILLEGAL
    assert read(UNLUR, '{"move": "c4"}', legal=["d5"]).text == "c4"
    assert read(UNLUR, '{"move": "z99"}', legal=["d5"]).kind is Kind.UNREADABLE


@settings(max_examples=300, deadline=None)
@given(
    st.one_of(
        st.text(max_size=80),
        st.text(alphabet=string.ascii_lowercase[:6] + '123 -[]{}":movex,', max_size=60),
        st.builds(lambda text: json.dumps({"move": text}), st.text(max_size=20)),
        st.builds(lambda value: json.dumps({"move": value}), st.recursive(st.integers() | st.none(), st.lists)),
    ),
    st.sampled_from([CHAMELEON, CURIO, TRINIM, UNLUR]),
    st.integers(0, 100),
)
def test_whatever_is_said(answer, game, seed):
    """Never an exception, never an illegal move; and the same answer is read in the same way."""
    legal = np.random.default_rng(seed).random(game.num_actions) < 0.5
    reading = Vocabulary(game).reader.answer(answer, legal)
    assert (reading.kind is Kind.MOVE) == (reading.action >= 0 and bool(legal[reading.action]))
    assert (reading.kind is Kind.UNREADABLE) == bool(reading.reason)


def test_a_label_may_stand_on_the_line_before_its_move():
    assert move_of(CURIO, "I have thought.\nFinal answer:\n\n  a2-b3\n") == "a2-b3"


@pytest.mark.parametrize(
    "filler", ["\n", " ", "!", "{", '{"a":', '{"a":[', "[", "move ", "move:\n", "[move]", '"{', "-"]
)
def test_a_long_answer_is_read_in_linear_time(filler):
    """Only the end is read. (Before, 32,000 newlines took two minutes; a return of that never ends this test.)"""
    assert read(CURIO, filler * 500_000).kind is not Kind.MOVE
    assert read(CURIO, filler * 500_000 + "\nMove: a2-b3") == read(CURIO, filler * 20_000 + "\nMove: a2-b3")
    assert move_of(CURIO, "a2-b3 " + "\n" * 500_000 + "Move: b2-b3") == "b2-b3"
