"""The tests that mutants meet: those of this repository on small boards, quick ones and independent witnesses first.

Each is a name and a function that raises if it notices something. All make their games anew.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from pbm_envs import Curio, Unlur, make_game
from pbm_envs.testing import CHECKS
from tests import test_planes, test_reference, test_same_games
from tests.curio import test_reference as curio_reference
from tests.curio import test_worlds
from tests.curio.positions import VARIANTS, some_board

Check = Callable[[], object]
SMALL: dict[str, list[dict[str, Any]]] = {
    "chameleon": [{"size": 3, "allow_resign": True}, {"size": 4, "swap_rule": False}],
    "trinim": [{"size": 3, "num_players": 3, "allow_resign": True}, {"size": 5}],
    "unlur": [{"radius": 3, "allow_resign": True}, {"radius": 4}],
}
SAME_GAMES: dict[str, list[dict[str, Any]]] = {
    "chameleon": [{"size": 3}, {"size": 5, "swap_rule": False, "allow_resign": True}],
    "trinim": [{"size": 3, "num_players": 3}, {"size": 6, "num_players": 3, "allow_resign": True}],
    "unlur": [{"radius": 3}, {"radius": 4, "allow_resign": True}],
    "curio": [dict(options) for k, options in enumerate(Curio.configurations) if k != 1],
}
FILES = {
    "chameleon": ["tests/chameleon"],
    "trinim": ["tests/trinim/test_rulings.py", "tests/trinim/test_resign.py"],
    "unlur": ["tests/unlur/test_rulings.py", "tests/unlur/test_texts.py"],
    "curio": ["tests/curio/test_rulings.py", "tests/curio/test_endings.py", "tests/curio/test_inference.py"],
}
GAMES = 8
"""Of each configuration, whose moves, observations, playouts and worlds are hashed."""


def checks(name: str) -> list[tuple[str, Check]]:
    """Those of the game of this name; "chains" is for the two that share them."""
    if name == "chains":
        return [*checks("chameleon"), *checks("unlur")]
    if name == "curio":
        found = [("reference", partial(_curio_reference, k)) for k in range(6)]
        found += [("planes", partial(_curio_planes, k)) for k in range(6)]
    else:
        found = []
        for options in SMALL[name]:
            found.append(("reference", partial(_reference, name, options)))
            found.append(("planes", partial(_planes, name, options)))
    found += [("same games", partial(_same_games, name, k)) for k in range(len(SAME_GAMES[name]))]
    if name == "curio":
        found += [("worlds", partial(_worlds, test)) for test in WORLDS]
    found += [("conformance", partial(_conformance, name, check)) for check in CHECKS]
    found += [("rulings", partial(_files, FILES[name]))]
    if name == "unlur":
        found += [("playouts", _avoiding)]
    return found


def _reference(name: str, options: dict[str, Any]) -> None:
    test_reference.compare(make_game(name, **options), 6, seed=5)


def _planes(name: str, options: dict[str, Any]) -> None:
    for k in range(2):
        test_planes.along(make_game(name, **options), None, random.Random(f"mutants {k}"))


def _curio_reference(part: int) -> None:
    case = ("3x3, any cells", "4x3, full", "4x3, any cells")[part % 3]
    for k, (game, slow, rng) in enumerate(curio_reference.positions(case, 12)):
        if k // 6 == part // 3:
            curio_reference.agree(game, slow, rng)


def _curio_planes(part: int) -> None:
    for k in range(3 * part, 3 * part + 3):
        rng = random.Random(f"mutants {k}")
        options = {"rows": 4, "cols": 3, "base": 3, **VARIANTS[k * 35 % len(VARIANTS)]}
        options |= {"no_capture_limit": rng.choice([3, 20, 100, None]), "allow_resign": rng.random() < 0.2}
        size = {name: options[name] for name in ("rows", "cols", "base", "face")}
        test_planes.along(Curio(**options), some_board(rng, **size, pieces=4), rng, most=25)


WORLDS = (
    test_worlds.test_determinize_draws_every_world_and_nothing_else_equally_often,
    test_worlds.test_whatever_is_possible_may_be_hidden,
    test_worlds.test_all_worlds_look_the_same,
    test_worlds.test_a_view_of_a_drawn_state_is_the_view_it_was_drawn_from,
    test_worlds.test_the_mask_of_a_view_is_that_of_the_state_for_the_mover_only,
)


def _worlds(test: Callable[[str, int], object]) -> None:
    for shape in ("3x3", "4x3"):
        test(shape, 6)


def _conformance(name: str, check: Callable[..., object]) -> None:
    check(make_game(name, **SAME_GAMES[name][0]), np.random.default_rng(2008))


EXPECTED: dict[tuple[str, int], object] = {}
"""Hashes of what the unchanged rules do."""


def learn() -> None:
    """Take the hashes, once, before anything is changed."""
    for name, configurations in SAME_GAMES.items():
        for k in range(len(configurations)):
            EXPECTED[name, k] = _hashes(name, k)


def _hashes(name: str, k: int) -> object:
    test_same_games.GAMES = GAMES
    return test_same_games.hashes(make_game(name, **SAME_GAMES[name][k]))


def _same_games(name: str, k: int) -> None:
    assert _hashes(name, k) == EXPECTED[name, k]


def _files(paths: list[str]) -> None:
    assert pytest.main(["-x", "-q", "-p", "no:cacheprovider", "--no-header", *paths]) == 0


def _avoiding() -> None:
    """As tests/unlur/test_playouts.py, from fewer positions."""
    from pbm_envs.testing import positions
    from tests.unlur.test_playouts import outcomes

    game, rng = Unlur(radius=3), np.random.default_rng(5)
    states = positions(game, rng, 13, batch=40)
    states = states[~states["done"] & (states["black"] >= 0)]
    after = outcomes(game, states)
    must_lose = (np.isnan(after) | (after == -1)).all(axis=1)
    for _ in range(3):
        ended = states.copy()
        game.playout(ended, rng, avoid_losing_moves=True)
        at_once = ended["ply"] == states["ply"] + 1
        lost = at_once & (ended["returns"][np.arange(len(states)), states["to_move"]] < 0)
        assert (lost == must_lose).all()
