"""Play recorded games again in WebAssembly, in Node, and compare every state, mask, view, observation and search.

    python browser/check.py [--games 10000] [GAME ...]      # after `make wasm`

Python plays random games and keeps the actions and, at each ply, a hash of all that can be read; `replay.mjs` plays
them again and compares. Every few plies both search a position with equal seeds, and the champion plays in both.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import json
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from boards import BOARDS, OUT, searches
from pbm_agents import make_agent

from pbm_envs import Game, make_game
from pbm_envs.toolbox import branch

BATCH, SIMULATIONS, BETWEEN_SEARCHES = 500, 150, 7
"""Games at once; simulations of a search; plies between two searches."""
GAMES_PER_CHAMPION, CHAMPIONS_SIMULATIONS, MOST_CHOICES, LONGEST_OPENING = 60, 80, 40, 12
"""Random games for each of the champion; simulations of a move; moves of a game; plies at random before them."""


def streams(games: int, *places: int) -> Any:
    """Return different seeds for a batch, by where they are used; `replay.mjs` computes the same."""
    first = sum(place * 1000003**k for k, place in enumerate(places, 1))
    return np.arange(first, first + games, dtype=np.uint64)


def digest(*arrays: Any) -> str:
    """Return a hash of the bytes of these arrays, one after the other."""
    found = hashlib.sha256()
    for array in arrays:
        found.update(np.ascontiguousarray(array).tobytes())
    return found.hexdigest()


def record(game: Game, games: int, seed: int) -> dict[str, Any]:
    """Play a batch of random games; return the actions and the hashes of each ply, and the results of searches."""
    rng, plies = np.random.default_rng(seed), []
    states = game.init(games, streams(games, seed))
    while True:
        mask, read = game.legal_action_mask(states), []
        for player in range(game.num_players):
            views, seeds = game.view(states, player, out=np.zeros(games, game.dtype)), streams(games, seed, len(plies))
            read += [views, game.legal_action_mask(views), game.observe(views), game.determinize(views, seeds), seeds]
        ended, seeds = states.view(np.uint8).copy().view(game.dtype), streams(games, seed, len(plies))
        game.playout(ended, seeds)
        ply: dict[str, Any] = {"hash": digest(states, mask, *read, ended, seeds), "searches": {}}
        plies.append(ply)
        if states["done"].all():
            return {"games": games, "seed": seed, "simulations": SIMULATIONS, "plies": plies}
        if len(plies) % BETWEEN_SEARCHES == 1:
            row = int((~states["done"]).argmax())
            view = game.view(states[row : row + 1], states["to_move"][row : row + 1])
            for kind, search in searches(game, SIMULATIONS).items():
                [found] = search.run(game, view, streams(1, seed, len(plies)))
                value = [float(each).hex() for each in found.value]
                ply["searches"][kind] = {"visits": found.visits.tolist(), "best": found.best, "value": value}
            ply["row"] = row
        ply["actions"] = np.where(mask.any(axis=1), (rng.random(mask.shape) * mask).argmax(axis=1), 0).tolist()
        game.step(states, ply["actions"])


class Stream(np.random.Generator):
    """A generator that draws from one of the games' own streams, as `Stream` in `champion.mjs`."""

    def __init__(self, seed: int) -> None:
        super().__init__(np.random.PCG64(0))
        self._state = np.array([seed], np.uint64)

    @property
    def bit_generator(self) -> Any:
        return self

    def random_raw(self, size: int) -> Any:
        found = np.empty(size, np.uint64)
        branch(self._state, np.zeros(size, np.int64), found)
        return found

    def choice(self, items: Any) -> Any:
        [bits] = self.random_raw(1).tolist()
        return items[(bits >> 32) * len(items) >> 32]


def choices(game: Game, seed: int) -> dict[str, Any]:
    """Let the champion play a game from a random position on; return all that it was shown, and its moves."""
    agent, rng = make_agent(f"champion:simulations={CHAMPIONS_SIMULATIONS}"), np.random.default_rng(seed)
    streams_of_agent, states, shown = Stream(seed), game.init(1, rng), []
    for _ in range(seed % LONGEST_OPENING):
        game.step(states, [rng.choice(np.flatnonzero(game.legal_action_mask(states)[0]))])
        if states["done"][0]:
            break
    while not states["done"][0] and len(shown) < MOST_CHOICES:
        view = game.view(states, states["to_move"])
        [action] = agent.act(game, view, streams_of_agent).tolist()
        shown.append({"view": base64.b64encode(view.tobytes()).decode(), "action": action})
        game.step(states, [action])
    return {"seed": seed, "simulations": CHAMPIONS_SIMULATIONS, "choices": shown}


def check(name: str, games: int, *how: str) -> dict[str, int]:
    """Check a game with this many games, over all its boards; return what `replay.mjs` has counted."""
    counts: dict[str, int] = {}
    for board, options in enumerate(BOARDS[name]):
        game, left = make_game(name, **options), (games + len(BOARDS[name]) - 1 - board) // len(BOARDS[name])
        node = subprocess.Popen(
            ["node", Path(__file__).with_name("replay.mjs"), OUT, name, str(board), *how],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert node.stdin is not None
        for seed in range(max(1, games // GAMES_PER_CHAMPION)):
            node.stdin.write(json.dumps(choices(game, seed)) + "\n")
        for seed, first in enumerate(range(0, left, BATCH)):
            node.stdin.write(json.dumps(record(game, min(BATCH, left - first), seed)) + "\n")
        for key, count in json.loads(node.communicate()[0]).items():
            counts[key] = counts.get(key, 0) + count
    return counts


def main() -> None:
    """Check the games that are named, by default all; exit with status 1 if anything differs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--games", type=int, default=10_000)
    parser.add_argument("names", nargs="*", metavar="GAME")
    parser.add_argument("--worker", action="store_true", help="send all through `worker.mjs`")
    given = parser.parse_args()
    warnings.simplefilter("ignore")  # boards of Trinim on which every game is a draw
    different = 0
    for name in given.names or BOARDS:
        counts = check(name, given.games, *["worker"] * given.worker)
        different += counts["different"]
        print(f"{name}: " + ", ".join(f"{count:,} {key}" for key, count in counts.items()), flush=True)
    sys.exit(different > 0)


if __name__ == "__main__":
    main()
