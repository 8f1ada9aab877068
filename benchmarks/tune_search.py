"""Which settings of the search are best? Each against the present defaults, from both seats of the same openings.

    python benchmarks/tune_search.py [game ...] [--openings N]

What changes the strength of a simulation (c, rave) is compared at equal simulations; what changes how many there are in
a second (parallel_simulations, playouts, avoid_losing_moves, rave or none) at equal seconds. A score above 1/2 is
better than the default.
"""

from __future__ import annotations

import argparse

from machine import machine
from pbm_agents.arena import Tournament
from pbm_agents.arena.evaluation import wilson

from pbm_envs import make_game

GAMES = {"chameleon": {}, "unlur": {}, "trinim": {"size": 6}, "curio": {}}
BUDGETS = ("simulations=400", "seconds=0.02")
BY_THE_CLOCK = ("parallel_simulations=1", "parallel_simulations=32", "playouts=4")
CANDIDATES = {
    "chameleon": (
        ("c=0", "c=0.1", "c=0.3", "rave=300", "rave=3000"),
        ("rave=0", "rave=0,c=0.4", *BY_THE_CLOCK),
    ),
    "unlur": (
        ("c=0", "c=0.05", "c=0.3", "rave=300", "rave=3000"),
        ("rave=0", "rave=0,c=0.4", "avoid_losing_moves=false", *BY_THE_CLOCK),
    ),
    "trinim": (("c=0.3", "c=0.7", "c=1", "rave=300,c=0.1"), BY_THE_CLOCK),
    "curio": (("c=0.3", "c=0.9", "c=1.4"), BY_THE_CLOCK),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("games", nargs="*", metavar="game", help="all, if none is named")
    parser.add_argument("--openings", type=int, default=40, help="each is played from both seats")
    arguments = parser.parse_args()
    print(machine())
    for name in arguments.games or GAMES:
        game = make_game(name, **GAMES[name])
        print(f"\n{game!r}: score against the default, {2 * arguments.openings} games each, 95% interval", flush=True)
        for budget, options in zip(BUDGETS, CANDIDATES[name], strict=True):
            default = f"mcts:{budget}"
            for option in options:
                match = Tournament((game,), (f"{default},{option}", default), openings=arguments.openings, seed=2008)
                records = [record for batch in match.batches() for record in batch.play()]
                scores = [record.returns[record.agents.index(match.agents[0])] / 2 + 0.5 for record in records]
                rate = wilson(sum(scores) / len(scores), len(scores))
                print(f"  {match.agents[0]:40} {rate.value:.3f} ({rate.low:.3f} to {rate.high:.3f})", flush=True)


if __name__ == "__main__":
    main()
