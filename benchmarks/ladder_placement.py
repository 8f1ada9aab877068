"""Does `pbm ladder` find the place that an agent has? The search with 300 simulations, again and again, as a stranger.

    python benchmarks/ladder_placement.py [ladder ...] [--runs 20] [--interval 60] [--workers 1]

Each run rates `mcts:simulations=300` with a seed of its own; the rung with the same search is left out, so that it
never plays itself. `between` says whether the rating lies between those of the neighbours, 100 and 1,000 simulations,
`clear` whether its whole interval does, `own` whether the interval of its distance to the rung with the same search
holds 0 (`LadderRating.ahead_of`: what is not known of the rungs' ratings counts). Games that a folder holds are not
played again.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace
from pathlib import Path

from machine import machine
from pbm_agents.arena import Ladder, LadderRating, Rating, load_ladder, rate_on_ladder

AGENT, OWN, BELOW, ABOVE = "mcts:simulations=300", "300 simulations", "100 simulations", "1,000 simulations"


def own_distance(ladder: Ladder, rating: LadderRating) -> Rating:
    """How far from the rung with the same search it was found, on the whole ladder."""
    places = [ladder.rungs.index(rung) for rung in rating.ladder.rungs]
    scores = [(places[k], score) for k, score in rating.scores]
    whole = LadderRating(rating.agent, ladder, rating.half_width, scores)
    return whole.ahead_of(next(rung for rung in ladder.rungs if rung.name == OWN))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ladders", nargs="*", default=["trinim-5"], metavar="ladder")
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--interval", type=float, default=60.0, help="half width asked for, in Elo points")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--folder", type=Path, default=Path("ladder-placements"))
    arguments = parser.parse_args()
    print(machine())
    for name in arguments.ladders:
        ladder = load_ladder(name)
        elo = {rung.name: rung.elo for rung in ladder.rungs}
        others = replace(ladder, rungs=tuple(rung for rung in ladder.rungs if rung.name != OWN), tournament={})
        neighbours = f"{BELOW} {elo[BELOW]:,.0f}, {OWN} {elo[OWN]:,.0f}, {ABOVE} {elo[ABOVE]:,.0f}"
        print(f"\n{AGENT} on {ladder.id}, which has {neighbours}\n")
        print(f"{'run':>3} {'rating':>7} {'95% interval':16} {'games':>6} {'seconds':>8}  between clear own")
        found: list[LadderRating] = []
        equal: list[bool] = []
        for run in range(arguments.runs):
            started = time.perf_counter()
            rating = rate_on_ladder(
                AGENT,
                others,
                arguments.folder / f"{name}-{run}",
                arguments.interval,
                seed=10_000 * (1 + run),
                workers=arguments.workers,
            )
            found.append(rating)
            value, low, high = rating.rating
            same = own_distance(ladder, rating)
            equal.append(same.low <= 0 <= same.high)
            marks = [elo[BELOW] < value < elo[ABOVE], elo[BELOW] < low < high < elo[ABOVE], equal[-1]]
            said = ["yes" if mark else "no" for mark in marks]
            print(
                f"{run:3} {value:7,.0f} {f'{low:,.0f} to {high:,.0f}':16} {rating.games:6,} "
                f"{time.perf_counter() - started:8.0f}  {said[0]:7} {said[1]:5} {said[2]}",
                flush=True,
            )
        between = sum(elo[BELOW] < rating.rating.value < elo[ABOVE] for rating in found)
        clear = sum(elo[BELOW] < rating.rating.low and rating.rating.high < elo[ABOVE] for rating in found)
        print(f"\nof {len(found)} runs: between {between}, clear {clear}, own {sum(equal)}")


if __name__ == "__main__":
    main()
