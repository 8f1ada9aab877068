"""Checks of a game's inputs and their errors: arguments, actions, texts of moves and boards."""

from __future__ import annotations

import string
from functools import partial
from typing import cast

import numpy as np

from ..core.game import Game
from ..core.state import copy_states
from ..core.types import Rng
from .random_games import equal, expect_error, random_actions, sample


def check_texts(game: Game, rng: Rng) -> None:
    """Check that move texts are read back as the same action (A3), in any case and with blanks; others raise."""
    texts = [game.action_to_string(action) for action in range(game.num_actions)]
    assert len(set(texts)) == game.num_actions
    for action, text in enumerate(texts):
        assert game.string_to_action(text) == action
        assert game.string_to_action(f"  {text.upper()}\n") == action
        assert game.string_to_action(text.lower()) == action
    known = {text.lower() for text in texts}
    unknown = ["", " ", "-", "a", "resign!", "a1 b2", "é4", "0", "a0", "zz99", "\0", "a1-a1"]
    for thing in (*unknown, None, 3, b"a1"):
        if not (isinstance(thing, str) and thing.strip().lower() in known):
            expect_error(partial(game.string_to_action, cast(str, thing)), repr(thing), "expected")
    for _ in range(200):
        text = "".join(rng.choice(list(string.ascii_letters + string.digits + "- "), size=rng.integers(1, 7)))
        if text.strip().lower() not in known and _turned(text) not in known:
            expect_error(partial(game.string_to_action, text), repr(text), "expected")
    for action in (-1, game.num_actions):
        expect_error(partial(game.action_to_string, action), str(action), "expected")


def _turned(text: str) -> str:
    """Return a move text with its two ends exchanged (T4)."""
    return "-".join(reversed(text.strip().lower().split("-")))


def check_boards(game: Game, rng: Rng) -> None:
    """Check that the text of an initial position is read back as the same position.

    An invalid board text raises ValueError, and an altered text that is still valid is written as it was read.
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


def check_illegal_actions(game: Game, rng: Rng) -> None:
    """Check that an illegal action raises a ValueError that names row and move, and changes no row."""
    states = sample(game, rng)
    open_rows = np.flatnonzero(~states["done"])
    actions = random_actions(game, states, rng)
    for row in open_rows[:: max(1, len(open_rows) // 6)]:
        illegal = np.flatnonzero(~game.legal_action_mask(states)[row])
        for wrong in [*illegal[:: max(1, len(illegal) // 5)], -1, game.num_actions, 1 << 40]:
            before = copy_states(states)
            tried = actions.copy()
            tried[row] = wrong
            text = repr(game.action_to_string(int(wrong))) if 0 <= wrong < game.num_actions else str(wrong)
            expect_error(partial(game.step, states, tried), f"row {row}", text)
            assert equal(states, before)


def check_arguments(game: Game, rng: Rng) -> None:
    """Check that wrong arguments raise clear errors."""
    states = game.init(2, rng)
    expect_error(lambda: game.init(-1, rng), "-1", "expected")
    expect_error(lambda: game.init(1, 7), "7", "expected")  # type: ignore[arg-type]  # that is the point
    expect_error(lambda: game.step(states, [0]), "(1,)", "expected")
    expect_error(lambda: game.step(states, [0.5, 0.5]), "float64", "expected")
    expect_error(lambda: game.step(states["ply"], [0, 0]), "int32", "expected")
    expect_error(lambda: game.view(states, game.num_players), str(game.num_players), "expected")
    expect_error(lambda: game.view(states, [-1, 0]), "-1", "expected")
    expect_error(lambda: game.view(states, [0.0, 1.0]), "0.0", "expected")
    expect_error(lambda: game.observe(states, out=np.zeros((2, 1), np.int8)), "(2, 1)", "expected")
    expect_error(lambda: game.view(states, 0, out=states[:1]), "(1,)", "expected")
    expect_error(lambda: game.playout(game.view(states, 0), rng), "determinize")
    expect_error(lambda: game.board_to_string(states), "(2,)", "expected")
