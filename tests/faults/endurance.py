"""Long runs: random plies against the rulings, and resets whose memory must not grow."""

from __future__ import annotations

import gc
import importlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from pbm_envs import Game
from pbm_envs.core.types import Rng, States
from pbm_envs.testing import random_actions
from tests.faults.invariants import check_ply, ply_of
from tests.reference.chameleon import Chameleon
from tests.reference.curio import Curio
from tests.reference.trinim import Trinim
from tests.reference.unlur import Unlur

BATCH = 1024
THOROUGH = 8
"""Every so many plies everything is checked, and not only what has changed."""
REPLAYED = 2
"""Rows whose games are all played again by the slow reference."""
VECTOR = 64
MEBIBYTE = 1 << 20
STATM = Path("/proc/self/statm")


class Endured(NamedTuple):
    plies: int
    games: int
    replayed: int
    longest: int
    truncated: int
    drawn: int


def random_plies(game: Game, plies: int, rng: Rng, batch: int = BATCH) -> Endured:
    """So many random plies in batches, all checked; AssertionError, naming the ruling, where one does not hold."""
    states = game.init(batch, rng)
    starts = states[:REPLAYED].copy()
    moves: list[list[str]] = [[] for _ in starts]
    played = games = replayed = longest = truncated = drawn = rounds = 0
    while played < plies:
        masks = game.legal_action_mask(states)
        assert (masks.any(axis=1) != states["done"]).all()
        actions = random_actions(game, states, rng)
        before = states.copy()
        game.step(states, actions)
        ply = ply_of(game, before, masks, actions, states)
        check_ply(ply, thorough=rounds % THOROUGH == 0)
        played, rounds = played + len(ply.actions), rounds + 1
        over = np.flatnonzero(states["done"])
        longest = max(longest, int(states["ply"].max()))
        truncated += int(states["truncated"].sum())
        drawn += int((states["returns"][over].max(axis=1) < 1).sum())
        games += len(over)
        for row, texts in enumerate(moves):
            texts.append(game.action_to_string(int(actions[row])))
        following = game.init(len(over), rng)
        for row in over[over < REPLAYED].tolist():
            replay(game, starts[row], moves[row], states[row])
            replayed, moves[row] = replayed + 1, []
            starts[row] = following[over == row][0]
        states[over] = following
        assert not following["done"].any()
    return Endured(played, games, replayed, longest, truncated, drawn)


def replay(game: Game, start: Any, moves: list[str], end: Any) -> None:
    """The slow reference plays the same game and comes to the same end."""
    if game.name in ("chameleon", "unlur"):
        slow: Any = {"chameleon": Chameleon, "unlur": Unlur}[game.name](**game.options)
    else:
        slow = {"curio": Curio, "trinim": Trinim}[game.name](game.board_to_string(start), **game.options)
    for text in moves:
        slow.play(text)
    ours = tuple(end[name].item() for name in ("to_move", "ply", "done", "truncated"))
    assert (slow.to_move, slow.ply, slow.done, slow.truncated) == ours, f"{game!r}: {' '.join(moves)}"
    assert list(slow.returns) == end["returns"].tolist(), f"{game!r}: {' '.join(moves)}"


def resets(kind: str, game: Game) -> Callable[[int], None]:
    """What starts so many games (a multiple of VECTOR), with a ply in each, over and over on the same object."""
    module = importlib.import_module(f"pbm_envs.{game.name}_v0")
    if kind == "rules":
        rng = np.random.default_rng(0)

        def start(count: int) -> None:
            for _ in range(count):
                states: States = game.init(1, rng)
                game.step(states, game.legal_action_mask(states).argmax(axis=1))

    elif kind == "aec":
        env = module.raw_env(**game.options)

        def start(count: int) -> None:
            for k in range(count):
                env.reset(seed=k if k % 2 else None)
                env.step(int(env.observe(env.agent_selection)["action_mask"].argmax()))

    elif kind == "vector":
        envs = module.vector_env(VECTOR, **game.options)

        def start(count: int) -> None:
            for k in range(count // VECTOR):
                _, info = envs.reset(seed=k if k % 2 else None)
                envs.step(info["action_mask"].argmax(axis=1))

    else:
        one = module.single_env(**game.options)

        def start(count: int) -> None:
            for k in range(count):
                _, info = one.reset(seed=k if k % 2 else None)
                one.step(int(info["action_mask"].argmax()))

    return start


def memory(kind: str, game: Game, count: int, parts: int = 10) -> Iterator[float]:
    """MiB that the process holds after each of `parts` of `count` resets."""
    start = resets(kind, game)
    for _ in range(parts):
        start(count // parts)
        gc.collect()
        yield resident()


def resident() -> float:
    """MiB of memory that this process holds now (Linux)."""
    return int(STATM.read_text().split()[1]) * 4096 / MEBIBYTE
