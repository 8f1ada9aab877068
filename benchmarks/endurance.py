"""Does anything give way in the long run? Random plies against the rulings; memory over resets.

    pip install -e ".[bench,test]" && python benchmarks/endurance.py

Ten million random plies of each game, over all its configurations: after every ply, array expressions written from the
rulings (`tests/faults/invariants.py`) say what position, legal moves, turn, end and returns must be; some games are
played again by the slow reference. Then a million games are started in each kind of environment, a ply played in each:
the process must not grow. About an hour; `--plies` and `--resets` for less.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from machine import machine

from pbm_envs import make_game, registered_games

sys.path.append(str(Path(__file__).parents[1]))

from tests.faults.endurance import memory, random_plies

KINDS = ("rules", "aec", "vector", "single")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--plies", type=int, default=10_000_000, help="of each game")
    parser.add_argument("--resets", type=int, default=1_000_000, help="of each game and kind of environment")
    parser.add_argument("--game", choices=registered_games(), action="append", help="only this one; as often as needed")
    asked = parser.parse_args()
    warnings.simplefilter("ignore", UserWarning)  # T7
    names = asked.game or list(registered_games())
    print(machine(), flush=True)
    if asked.plies:
        print("\nrandom plies, every one as the rulings say; `replayed`: games that the reference played again\n")
        heads = ("plies", "games", "replayed", "longest", "ply limit", "drawn", "min")
        print(f"{'':10}{heads[0]:>12}{heads[1]:>10}{heads[2]:>10}{heads[3]:>9}{heads[4]:>11}{heads[5]:>9}{heads[6]:>7}")
        for name in names:
            start, found = time.perf_counter(), []
            rng = np.random.default_rng(2008)
            configurations = registered_games()[name].configurations
            for options in configurations:
                found.append(random_plies(make_game(name, **options), -(-asked.plies // len(configurations)), rng))
            plies, games, replayed, longest, truncated, drawn = np.array(found).T
            print(
                f"{name:10}{plies.sum():12,}{games.sum():10,}{replayed.sum():10,}{longest.max():9,}"
                f"{truncated.sum():11,}{drawn.sum():9,}{(time.perf_counter() - start) / 60:7.1f}",
                flush=True,
            )
    if asked.resets:
        print(f"\nMiB held after tenths of {asked.resets:,} resets, a ply in each game\n")
        for name in names:
            for kind in KINDS:
                held = list(memory(kind, make_game(name), asked.resets))
                print(
                    f"{name:10}{kind:8}{' '.join(f'{mib:7.2f}' for mib in held)}  {held[-1] - held[0]:+.2f}", flush=True
                )


if __name__ == "__main__":
    main()
