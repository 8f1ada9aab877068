"""How strong is the search? Matches between agents by name, section by section.

    python benchmarks/search_strength.py [section ...] [--games FACTOR]

The first agent of a row has each seat of an opening once, the second the others. A win scores 1, a draw 1/2 (among
three 1/3); Wilson's 95% interval. Milliseconds are those of a move of the first and of the second, whose games run at
once. Section openspiel needs the extra of that name.
"""

from __future__ import annotations

import argparse
import time
from typing import NamedTuple

import numpy as np
from machine import machine
from pbm_agents import make_agent
from pbm_agents.arena import play_games
from pbm_agents.arena.evaluation import wilson
from pbm_agents.arena.ratings import shares
from pbm_agents.arena.schedule import draw_opening

from pbm_envs import Chameleon, Curio, Game, Trinim, Unlur
from pbm_envs.records import PLY_LIMIT, GameRecord

BATCH, SEED = 60, 2008


class Match(NamedTuple):
    game: Game
    first: str
    second: str
    games: int


CHAMELEON, UNLUR, TRINIM_5, TRINIM_6, CURIO = Chameleon(), Unlur(), Trinim(size=5), Trinim(size=6), Curio()
TRINIM_OF_THREE, RANDOM_FACES, TOTALS = Trinim(num_players=3), Curio(face="random"), Curio(capture="le_total")
THOUSAND, SHORT = "mcts:simulations=1000", "mcts:seconds=0.02"

SECTIONS = {
    "random": (
        Match(CHAMELEON, THOUSAND, "random", 200),
        Match(UNLUR, THOUSAND, "random", 200),
        Match(TRINIM_5, THOUSAND, "random", 1000),
        Match(TRINIM_6, THOUSAND, "random", 1000),
        Match(CURIO, THOUSAND, "random", 100),
    ),
    "budgets": tuple(
        Match(game, f"mcts:simulations={more}", f"mcts:simulations={fewer}", games)
        for game, counts in ((CHAMELEON, (100, 60)), (UNLUR, (100, 60)), (TRINIM_6, (600, 600)), (CURIO, (80, 40)))
        for fewer, more, games in zip((100, 400), (400, 1600), counts, strict=True)
    ),
    "three": (
        Match(TRINIM_OF_THREE, THOUSAND, "random", 600),
        Match(TRINIM_OF_THREE, THOUSAND, "mcts:simulations=100", 600),
    ),
    "ismcts": tuple(
        Match(game, f"ismcts:{budget}", f"pimc:{budget}", games)
        for game, budget, games in (
            (CURIO, "simulations=100", 100),
            (CURIO, "simulations=400", 60),
            (CURIO, "simulations=1000", 30),
            (CURIO, "seconds=0.02", 60),
            (Curio(capture="any"), "simulations=400", 40),
            (Curio(reveal_captured=False), "simulations=400", 40),
            (RANDOM_FACES, "simulations=100", 40),
            (RANDOM_FACES, "seconds=0.02", 40),
            (TOTALS, "simulations=100", 20),
            (TOTALS, "seconds=0.02", 20),
        )
    ),
    "rave": tuple(Match(game, SHORT, f"{SHORT},rave=0", 60) for game in (CHAMELEON, UNLUR)),
    "avoid_losing_moves": (Match(UNLUR, SHORT, f"{SHORT},avoid_losing_moves=false", 60),),
    "reuse": tuple(
        Match(game, f"{budget},reuse=true", budget, 60)
        for game in (CHAMELEON, UNLUR, TRINIM_6)
        for budget in ("mcts:simulations=400", SHORT)
    ),
    "openspiel": tuple(
        Match(game, f"{kind}:simulations=200", f"openspiel-{kind}:simulations=200", games)
        for game, kind, games in (
            (Chameleon(size=7), "mcts", 40),
            (Unlur(radius=4), "mcts", 40),
            (TRINIM_5, "mcts", 100),
            (CURIO, "ismcts", 20),
        )
    ),
}


def play(match: Match, factor: float) -> list[GameRecord]:
    """Every opening once with each seat for the first agent, BATCH games or so at once."""
    players = match.game.num_players
    seats = [[match.first if k == seat else match.second for k in range(players)] for seat in range(players)]
    agents = {name: make_agent(name) for name in (match.first, match.second)}
    count, at_once = max(1, round(match.games * factor / players)), BATCH // players
    records: list[GameRecord] = []
    for start in range(0, count, at_once):
        openings = [draw_opening(match.game, SEED + k, None, 0) for k in range(start, min(start + at_once, count))]
        records += play_games(
            match.game,
            agents,
            seats=seats * len(openings),
            openings=[opening for opening in openings for _ in seats],
            seed=(SEED, start),
        )
    if failed := [record for record in records if record.forfeits]:
        raise RuntimeError(f"{match} failed: {failed[0].forfeits[0].reason}")
    return records


def row(match: Match, records: list[GameRecord], spent: float) -> str:
    seats = [record.agents.index(match.first) for record in records]
    score = wilson(float(np.mean([shares(record)[k] for record, k in zip(records, seats, strict=True)])), len(records))
    returns = [record.returns[k] for record, k in zip(records, seats, strict=True)]
    won, lost = sum(value == 1 for value in returns), sum(value < 0 for value in returns)
    plies = np.mean([record.plies for record in records])
    limit = sum(record.ending == PLY_LIMIT for record in records)
    thought = [
        1000
        * sum(seconds for record in records for k, seconds in enumerate(record.seconds) if record.agents[k] == name)
        / sum(turns for record in records for k, turns in enumerate(record.turns) if record.agents[k] == name)
        for name in (match.first, match.second)
    ]
    result = f"{won}-{len(records) - won - lost}-{lost}" + f" ({limit} cut)" * (limit > 0)
    interval = f"({score.low:.3f} to {score.high:.3f})"
    return (
        f"{match.first:32} {match.second:32} {score.value:5.3f} {interval:18} {result:18} "
        f"{plies:5.1f} {thought[0]:7.1f} {thought[1]:7.1f} {spent:7.0f}"
    )


def title(game: Game) -> str:
    """With the options that are not the usual ones."""
    usual = type(game)().options
    changed = ", ".join(f"{name}={value!r}" for name, value in game.options.items() if value != usual[name])
    return f"{type(game).__name__}({changed})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "sections", nargs="*", metavar="section", help=f"of {', '.join(SECTIONS)}; all, if none is named"
    )
    parser.add_argument("--games", type=float, default=1.0, metavar="FACTOR", help="of the numbers of games")
    arguments = parser.parse_args()
    if unknown := set(arguments.sections) - SECTIONS.keys():
        parser.error(f"there is no section {', '.join(sorted(unknown))}: expected some of {', '.join(SECTIONS)}")
    print(machine())
    for name in arguments.sections or SECTIONS:
        print(
            f"\n{name:32} {'':32} {'score':5} {'':18} {'won-drawn-lost':18} "
            f"{'plies':>5} {'ms':>7} {'ms':>7} {'seconds':>7}"
        )
        game = None
        for match in SECTIONS[name]:
            if match.game != game:
                game = match.game
                print(title(game))
            start = time.perf_counter()
            records = play(match, arguments.games)
            print(row(match, records, time.perf_counter() - start), flush=True)


if __name__ == "__main__":
    main()
