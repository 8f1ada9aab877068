"""Random bytes as records: refused by `Game.validate`, or harmless in every call that trusts them.

    NUMBA_BOUNDSCHECK=1 PBM_ENVS_CACHE_DIR=build/fuzz python -m tests.faults.fuzz_states curio --seconds 600

A record is one of a game that was played, with some of its bytes changed, or nothing but random bytes. A call that
lasts longer than LONGEST seconds, an index out of range (checked by Numba) and a crash end the process with an error.
"""

from __future__ import annotations

import argparse
import faulthandler
import os
import time
from collections import Counter
from typing import Any

import numpy as np

from pbm_envs import Chameleon, Curio, Game, Trinim, Unlur
from pbm_envs.core.validation import InvalidStateError
from pbm_envs.testing import sample

GAMES: dict[str, Game] = {
    "chameleon": Chameleon(size=3, allow_resign=True),
    "trinim": Trinim(size=3, num_players=3, allow_resign=True),
    "unlur": Unlur(radius=3),
    "curio": Curio(base=2, rows=4, cols=3, turn=False, reveal_captured=False, face="random"),
}
LONGEST = 60.0


def environment(folder: Any) -> dict[str, str]:
    """Of a process that checks indices in compiled rules; these are kept in `folder`."""
    return {**os.environ, "NUMBA_BOUNDSCHECK": "1", "PBM_ENVS_CACHE_DIR": str(folder)}


def damaged(states: Any, rng: np.random.Generator) -> Any:
    """A copy of one of the states: one to three bytes changed, one value of one field, or all bytes random."""
    record = states[rng.integers(len(states)) :][:1].copy()
    raw = record.view(np.uint8)
    kind = rng.integers(10)
    if kind == 0:
        raw[:] = rng.integers(256, size=raw.shape)
    elif kind < 6:
        for _ in range(rng.integers(1, 4)):
            raw[rng.integers(len(raw))] = rng.choice([0, 1, 2, 3, 127, 128, 254, 255, rng.integers(256)])
    else:
        values = record[rng.choice(record.dtype.names)].reshape(-1)
        values[rng.integers(len(values))] += rng.choice([-1, 1])
    return record


def use(game: Game, states: Any, rng: np.random.Generator) -> None:
    """Everything that trusts its records."""
    with np.errstate(all="ignore"):
        for player in range(game.num_players):
            full = states if states["viewer"][0] < 0 else game.determinize(states, rng)
            views = game.view(full, player)
            game.observe(views)
            game.legal_action_mask(views)
            game.to_text(views)
            game.determinize(views, rng)
        masks = game.legal_action_mask(full)
        actions = np.flatnonzero(masks[0])
        game.step(full.copy(), actions[:1] if len(actions) else [0])
        for symmetry in game.symmetries:
            game.transform(full, symmetry)
        game.playout(full.copy(), rng)


def fuzz(game: Game, most: int, rng: np.random.Generator, until: float = float("inf")) -> Counter[str]:
    """Try up to `most` records; how many were refused and accepted, and, of these, those of no possible position."""
    states, counts = sample(game, rng), Counter[str]()
    while counts.total() < most and time.monotonic() < until:
        record = damaged(states, rng)
        try:
            game.validate(record)
        except InvalidStateError:
            counts["refused"] += 1
            continue
        try:
            use(game, record, rng)
            counts["accepted"] += 1
        except (ValueError, RuntimeError):  # of no game that can be played: said in words
            counts["accepted, but refused later"] += 1
    return counts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("game", choices=GAMES)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=7)
    arguments = parser.parse_args()
    faulthandler.dump_traceback_later(arguments.seconds + LONGEST * 8, exit=True)
    game, rng = GAMES[arguments.game], np.random.default_rng(arguments.seed)
    use(game, sample(game, rng)[:1], rng)  # compile
    counts = fuzz(game, 1 << 62, rng, time.monotonic() + arguments.seconds)
    print(", ".join(f"{count} {word}" for word, count in counts.items()))


if __name__ == "__main__":
    main()
