"""Checks of texts: moves and boards are read as they are written."""

from __future__ import annotations

import string
from functools import partial
from typing import cast

from ..core.game import Game
from ..core.types import Rng
from .errors import expect_error
from .random_games import equal


def check_texts(game: Game, rng: Rng) -> None:
    """Text -> action -> text is the identity (A3), in capitals and between blanks too; other texts are ValueErrors."""
    texts = [game.action_to_string(action) for action in range(game.num_actions)]
    assert len(set(texts)) == game.num_actions
    for action, text in enumerate(texts):
        assert game.string_to_action(text) == action
        assert game.string_to_action(f"  {text.upper()}\n") == action
        assert game.string_to_action(text.lower()) == action
    known = {text.lower() for text in texts}
    unknown: list[object] = [
        "",
        " ",
        "-",
        "a",
        "resign!",
        "a1 b2",
        "é4",
        "0",
        "a0",
        "zz99",
        "\0",
        "a1-a1",
        None,
        3,
        b"a1",
    ]
    for thing in unknown:
        if not (isinstance(thing, str) and thing.strip().lower() in known):
            expect_error(partial(game.string_to_action, cast(str, thing)), repr(thing), "expected")
    for _ in range(200):
        text = "".join(rng.choice(list(string.ascii_letters + string.digits + "- "), size=rng.integers(1, 7)))
        if text.strip().lower() not in known and _turned(text) not in known:
            expect_error(partial(game.string_to_action, text), repr(text), "expected")
    for action in (-1, game.num_actions):
        expect_error(partial(game.action_to_string, action), str(action), "expected")


def _turned(text: str) -> str:
    """A move text with its two ends exchanged (T4)."""
    return "-".join(reversed(text.strip().lower().split("-")))


def check_boards(game: Game, rng: Rng) -> None:
    """The text of a start position is read back as the same position.

    What is no text of a board is a ValueError, and what is one although somebody has changed it is written as it was
    read.
    """
    states = game.init(4, rng)
    for row in range(len(states)):
        text = game.board_to_string(states[row])
        again = game.init(1, rng, board=text)
        assert equal(again, states[row : row + 1])
        assert game.board_to_string(again) == text
    unknown: list[object] = ["", "/", "no board", "....", text + "/x", 5, b"", [text], {}]
    for wrong in unknown:
        expect_error(partial(game.init, 1, rng, board=cast(str, wrong)), repr(wrong)[:60], "expected")
    letters = [*text, *"/. \n", *string.printable[:70], "\0", "é"]
    for _ in range(100):
        k = rng.integers(len(text) + 1)
        changed = text[:k] + str(rng.choice(letters)) + text[k + rng.integers(3) :]
        try:
            again = game.init(1, rng, board=changed)
        except ValueError:
            continue
        written = game.board_to_string(again)
        assert "".join(written.split()).lower() == "".join(changed.split()).lower()
        assert equal(game.init(1, rng, board=written), again)
