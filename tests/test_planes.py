"""Observations have a second witness: every plane of every game, by its name, recomputed from the reference's state.

Along random games, for every viewer and the full state. That environments show them: tests/faults/test_environments.py
and tests/openspiel.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from pbm_envs import Curio, Game, Trinim, make_game
from pbm_envs.core.state import NOBODY
from tests.curio.positions import VARIANTS, some_board
from tests.reference import planes as witness
from tests.reference import start
from tests.reference.curio import random_board

pytestmark = pytest.mark.filterwarnings("ignore:every two-player game of Trinim")  # T7
PERFECT = [  # game, options, games, games in the slow test
    ("chameleon", {"size": 3, "allow_resign": True}, 20, 200),
    ("chameleon", {"size": 4, "swap_rule": False}, 10, 100),
    ("chameleon", {"size": 6}, 4, 33),
    ("trinim", {"size": 3, "num_players": 3, "allow_resign": True}, 20, 166),
    ("trinim", {"size": 5}, 10, 100),
    ("trinim", {"size": 5, "num_players": 3, "allow_resign": True}, 6, 100),
    ("unlur", {"radius": 3, "allow_resign": True}, 10, 200),
    ("unlur", {"radius": 4}, 3, 66),
]
CURIO = [  # shape, pieces a side on any cells (None: the set-up of C3), games, games in the slow test
    ({"rows": 4, "cols": 3, "base": 2}, None, 54, 360),
    ({"rows": 4, "cols": 3, "base": 3}, 4, 54, 360),
    ({"rows": 5, "cols": 4, "base": 3}, None, 10, 72),
    ({"rows": 5, "cols": 4, "base": 2, "num_pieces": 6}, None, 10, 72),
    ({"rows": 5, "cols": 5, "base": 4}, None, 2, 18),
]


class Follower:
    """A game by its reference, and its observations."""

    def __init__(self, game: Game, board: str | None) -> None:
        self.game = game
        self.followed: Any = None
        """What the reference does not keep."""
        self.slow = start(game.name, game.options, board)
        if isinstance(game, Curio):
            self.followed = witness.Inference(self.slow)
        elif isinstance(game, Trinim):
            self.followed = witness.Holdings(self.slow)

    def play(self, text: str) -> None:
        if self.followed is None:
            self.slow.play(text)
        else:
            self.followed.play(self.slow, text)

    def observation(self, viewer: int | None) -> np.ndarray:
        """(rows, cols, planes), as the player or nobody in particular sees it."""
        planes = getattr(witness, self.game.name)(self.slow, viewer, *[self.followed] * (self.followed is not None))
        return witness.grid(self.game.planes, self.game.observation_shape[:2], planes)


def same(game: Game, found: np.ndarray, expected: np.ndarray, where: str) -> None:
    if not (found == expected).all():
        wrong = sorted({list(game.planes)[k] for k in np.argwhere(found != expected)[:, -1]})
        raise AssertionError(f"{where}: the planes {wrong} are {found[..., 0].shape} and differ")


def along(game: Game, board: str | None, rng: random.Random, most: int = 60) -> None:
    """Compare after every ply of a random game, for every viewer, with the mask."""
    states = game.init(1, np.random.default_rng(rng.randrange(2**32)), board)
    follower = Follower(game, game.board_to_string(states))
    viewers = [None, *range(game.num_players)]
    for _ in range(most):
        where = f"{game!r}, {game.board_to_string(states)}, {getattr(follower.slow, 'moves', '')}"
        for viewer in viewers:
            seen = states if viewer is None else game.view(states, viewer)
            same(game, game.observe(seen)[0], follower.observation(viewer), f"{where}, viewer {viewer}")
            assert seen["viewer"][0] == (NOBODY if viewer is None else viewer)
            if viewer is not None:
                observed, mask = game.observe_with_mask(states, viewer)
                same(game, observed[0], game.observe(seen)[0], where)
                own_turn = not follower.slow.done and follower.slow.to_move == viewer
                texts = {game.action_to_string(int(a)) for a in np.flatnonzero(mask[0])}
                assert texts == (follower.slow.legal() if own_turn else set()), where
        if follower.slow.done:
            return
        text = rng.choice(sorted(follower.slow.legal()))
        if text == "resign" and rng.random() < 0.8:
            continue
        follower.play(text)
        game.step(states, [game.string_to_action(text)])


def perfect_games(name: str, options: dict[str, Any], count: int, seed: str) -> None:
    for k in range(count):
        along(make_game(name, **options), None, random.Random(f"{seed} {k}"))


def curio_games(shape: dict[str, Any], pieces: int | None, count: int, seed: str) -> None:
    """Each with another combination of options."""
    for k in range(count):
        rng = random.Random(f"{seed} {k}")
        options = {"rows": 5, "cols": 5, "base": 4, "num_pieces": None, **shape, **VARIANTS[k * 7 % len(VARIANTS)]}
        options |= {"no_capture_limit": rng.choice([3, 20, 100, None]), "allow_resign": rng.random() < 0.2}
        size = {name: options[name] for name in ("rows", "cols", "base", "face")}
        board = (
            random_board(rng, **size, num_pieces=options["num_pieces"])
            if pieces is None
            else some_board(rng, **size, pieces=pieces)
        )
        along(Curio(**options), board, rng, most=40)


@pytest.mark.parametrize(("name", "options", "count"), [row[:3] for row in PERFECT], ids=str)
def test_every_plane_of_games_without_secrets(name: str, options: dict[str, Any], count: int) -> None:
    perfect_games(name, options, count, "quick")


@pytest.mark.parametrize(("shape", "pieces", "count"), [row[:3] for row in CURIO], ids=str)
def test_every_plane_of_curio(shape: dict[str, Any], pieces: int | None, count: int) -> None:
    curio_games(shape, pieces, count, "quick")


@pytest.mark.smallest
@pytest.mark.parametrize(("face", "plies"), [("large", 30), ("random", 4)])
def test_ten_kinds_of_pieces(face: str, plies: int) -> None:
    """Also in plain Python, where NumPy's small integers overflow."""
    along(Curio(face=face), None, random.Random(f"ten kinds {face}"), plies)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "options", "_", "count"), PERFECT, ids=str)
def test_thousands_of_games_without_secrets(name: str, options: dict[str, Any], _: int, count: int) -> None:
    perfect_games(name, options, count, "slow")


@pytest.mark.slow
@pytest.mark.parametrize(("shape", "pieces", "_", "count"), CURIO, ids=str)
def test_thousands_of_games_of_curio(shape: dict[str, Any], pieces: int | None, _: int, count: int) -> None:
    curio_games(shape, pieces, count, "slow")
