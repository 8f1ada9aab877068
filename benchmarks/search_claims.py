"""What the search owes to its parts, each as a sequential test (`pbm sprt`): H1 says that the part is worth 50 Elo.

    python benchmarks/search_claims.py [--workers 1] [--folder search-claims]

Each line is one test with alpha = beta = 5%: the new agent has the part, the old one does not. `Elo` is the estimate
where the test stopped, which is not without bias. Games that the folder holds are not played again.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import NamedTuple

from machine import machine
from pbm_agents.arena import SequentialTest, play_sprt

from pbm_envs import Chameleon, Curio, Game, Trinim, Unlur


class Claim(NamedTuple):
    """The agent `new` has something that `old` lacks."""

    part: str
    game: Game
    new: str
    old: str
    opening_moves: int = 0


CLAIMS = (
    Claim("RAVE", Chameleon(size=7), "mcts:simulations=200", "mcts:simulations=200,rave=0", 1),
    Claim("RAVE", Unlur(radius=4), "mcts:simulations=200", "mcts:simulations=200,rave=0", 1),
    Claim(
        "avoid_losing_moves",
        Unlur(radius=4),
        "mcts:simulations=200",
        "mcts:simulations=200,avoid_losing_moves=false",
        1,
    ),
    Claim("solver", Trinim(), "mcts:simulations=200", "mcts:simulations=200,solver=false"),
    Claim("solver, three seats", Trinim(num_players=3), "mcts:simulations=200", "mcts:simulations=200,solver=false"),
    Claim("twice the simulations", Trinim(), "mcts:simulations=400", "mcts:simulations=200"),
    Claim("information sets", Curio(base=3, rows=4, cols=4), "ismcts:simulations=100", "pimc:simulations=100"),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--folder", type=Path, default=Path("search-claims"))
    arguments = parser.parse_args()
    print(machine())
    columns = f"{'accepted':>8} {'LLR':>6} {'Elo':>5} {'95% interval':14} {'games':>6} {'seconds':>8}"
    print(f"\n{'part':22} {'game':12} {columns}")
    for number, claim in enumerate(CLAIMS):
        started = time.perf_counter()
        test = SequentialTest(claim.game, claim.new, claim.old, elo1=50, opening_moves=claim.opening_moves)
        result = play_sprt(test, arguments.folder / str(number), arguments.workers)
        elo, low, high = result.elo
        games = result.openings * (2**claim.game.num_players - 2)
        print(
            f"{claim.part:22} {type(claim.game).__name__:12} {result.accepted or '-':>8} {result.llr:6.2f} {elo:5.0f} "
            f"{f'{low:.0f} to {high:.0f}':14} {games:6,} {time.perf_counter() - started:8.0f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
