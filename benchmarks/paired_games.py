"""Measure the variance of paired scores with one set-up per pair and with one per game, in games of hidden information.

    python benchmarks/paired_games.py [--pairs N]

A pair is two games with exchanged seats. With one set-up for both games, part of its advantage cancels; with two
set-ups, only the advantage of the seat does. The number of games that a result needs is proportional to the variance of
a pair's score.
"""

from __future__ import annotations

import argparse

import numpy as np
from machine import machine
from numpy.typing import NDArray
from pbm_agents import make_agent
from pbm_agents.arena import Opening, play_games
from pbm_agents.arena.sprt import opening_score

from pbm_envs import Curio, Game

GAMES = (Curio(base=3, rows=4, cols=4),)
NEW, OLD = "mcts:simulations=100", "mcts:simulations=50"
AT_ONCE, DRAWS = 50, 2000


def scores(game: Game, pairs: int, set_ups: int) -> NDArray[np.float64]:
    """Return the score of the new agent in each pair, (pairs,), with one set-up or two."""
    found = []
    for first in range(0, pairs, AT_ONCE):
        numbers = [k // (3 - set_ups) for k in range(2 * first, 2 * min(first + AT_ONCE, pairs))]
        starts = [game.init(1, np.random.default_rng((set_ups, number))) for number in numbers]
        records = play_games(
            game,
            {NEW: make_agent(NEW), OLD: make_agent(OLD)},
            seats=[(NEW, OLD), (OLD, NEW)] * (len(numbers) // 2),
            openings=[Opening(0, game.board_to_string(start)) for start in starts],  # a board may be played twice
            seed=(set_ups, first),
        )
        found += [opening_score(records[k : k + 2], NEW) for k in range(0, len(records), 2)]
    return np.array(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=1000, help="of each kind and game")
    pairs = parser.parse_args().pairs
    print(machine())
    for game in GAMES:
        print(f"\n{game!r}: {NEW} against {OLD}, {pairs} pairs of each kind")
        one, two = (scores(game, pairs, set_ups) for set_ups in (1, 2))
        rng = np.random.default_rng(0)
        drawn = [np.var(rng.choice(two, pairs)) / np.var(rng.choice(one, pairs)) for _ in range(DRAWS)]
        low, high = np.percentile(drawn, [2.5, 97.5])
        for words, some in (("one set-up for both games", one), ("a set-up for each", two)):
            print(f"  {words:28} score {some.mean():.3f}, variance of a pair's score {some.var():.4f}")
        print(f"  games needed, times            {two.var() / one.var():.2f} ({low:.2f} to {high:.2f})", flush=True)


if __name__ == "__main__":
    main()
