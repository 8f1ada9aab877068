"""Frozen ladders (`pbm_agents.arena.ladder`): play their tournaments and compute the ratings.

    python benchmarks/ladders.py play chameleon-11 --workers 2     # resumes if it was stopped
    python benchmarks/ladders.py write chameleon-11                # the ladder, from the games
    python benchmarks/ladders.py show                              # the ladders in the package
    python benchmarks/ladders.py levels                            # agents/pbm_agents/play/levels.json

`play` takes hours for all ladders: run it under `nice`. The games are kept in
`benchmarks/results/ladders/<name>.jsonl.gz`. `write` rates them, looks for results that no single scale explains, plays
the games that the tests pin, and writes the ladder into the package. A published ladder is never rewritten: a change
gets a new version. A version that `extends` an earlier one adds opponents and games, and is rated from the games of
both. `levels` rates the champion's levels on the board page, some hours of one processor; with fewer `--openings` the
ratings are less certain. The levels have a fixed number of simulations, so that the speed of the machine does not
matter.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pbm_agents.arena
import pbm_agents.play
from pbm_agents.arena import (
    HeadToHead,
    Ladder,
    Run,
    Rung,
    Tournament,
    head_to_head,
    ladders,
    load_ladder,
    play_tournament,
    rate,
    rate_on_ladder,
    tournament_records,
)
from pbm_agents.arena.ladder import Pin, play_pin
from pbm_agents.arena.openings import draw_opening
from pbm_agents.arena.ratings import bootstrap
from pbm_agents.play.start import LEVELS

from pbm_envs import Chameleon, Curio, Game, Trinim, Unlur
from pbm_envs.records import GameRecord

SEED = 1500
LADDERS = Path(pbm_agents.arena.__file__).parent / "ladders"
PINNED_GAMES, MOST_IN_WHOLE, FEW_MOVES = 2, 300, 4
"""Pinned games per opponent; the largest budget whose games are pinned in full; the pinned moves of other games."""
RESULTS = Path(__file__).parent / "results" / "ladders"
BUDGETS = (10, 30, 100, 300, 1000, 3000, 10_000)
HIGH = (3000, 10_000, 30_000)
"""Budgets that link rungs above 10,000 simulations to an earlier version."""
PINNED = "parallel_simulations=1,playouts=1,avoid_losing_moves=true,solver=true,early_stop=false,reuse=false"
WEIGHTS = {
    "chameleon": "c=0.05,rave=1000",
    "curio": "c=0.6,rave=0",
    "trinim": "c=0.5,rave=0",
    "unlur": "c=0.1,rave=1000",
}
"""The defaults of version 0.1.0, which the ladders keep even if the defaults change."""


class Set(NamedTuple):
    """A game with its options, and the size of its tournament."""

    game: Game
    openings: int
    opening_moves: int
    budgets: tuple[int, ...] = BUDGETS
    others: tuple[str, ...] = ("random", "greedy:worlds=8")
    """Opponents that do not search."""
    strongest: tuple[str, ...] = ()
    """Opponents above the searches."""
    extends: str | None = None
    """An earlier version whose games also count."""
    seed: int = SEED


SETS = {
    "chameleon-11": Set(Chameleon(), 40, 1),
    "unlur-6": Set(Unlur(), 40, 1),
    "trinim-5": Set(Trinim(), 150, 0),
    "curio-5x5": Set(Curio(), 20, 0, BUDGETS[:6]),
    "chameleon-5": Set(Chameleon(size=5), 60, 1, BUDGETS[:6]),
    "chameleon-7": Set(Chameleon(size=7), 60, 1, BUDGETS[:6]),
    "unlur-4": Set(Unlur(radius=4), 60, 1, BUDGETS[:6]),
    "curio-4x4": Set(Curio(base=3, rows=4, cols=4), 40, 0, BUDGETS[:6]),
    "trinim-5-three": Set(Trinim(num_players=3), 40, 0, BUDGETS[:6]),
    # adds rungs where those of version 1 are 360 to 630 points apart, and more games between these
    "chameleon-11-v2": Set(
        Chameleon(),
        40,
        1,
        (4, 10, 30, 55, 100, 175, 300, 550),
        ("greedy:worlds=8",),
        extends="chameleon-11",
        seed=SEED + 1000,
    ),
    # add rungs above 10,000 simulations, up to the champions
    "chameleon-11-v3": Set(Chameleon(), 20, 1, HIGH, (), extends="chameleon-11-v2", seed=SEED + 2000),
    "chameleon-7-v2": Set(Chameleon(size=7), 60, 1, HIGH, (), extends="chameleon-7", seed=SEED + 1000),
    "unlur-6-v2": Set(Unlur(), 20, 1, (*HIGH, 100_000), (), extends="unlur-6", seed=SEED + 1000),
    "curio-5x5-v2": Set(Curio(), 10, 0, HIGH, (), extends="curio-5x5", seed=SEED + 1000),
    # adds the exact solution
    "trinim-5-v2": Set(Trinim(), 100, 0, BUDGETS[4:], (), ("exact:pieces=22",), extends="trinim-5", seed=SEED + 1000),
}


def search_agent(game: Game, simulations: int) -> str:
    """Name the tree search with all its settings, so that a changed default does not change the opponent."""
    return f"mcts:simulations={simulations},{WEIGHTS[game.name]},{PINNED}"


def tournament(name: str) -> Tournament:
    """Return the tournament of a ladder: every opponent plays those up to three places away, from the same openings."""
    spec = SETS[name]
    return Tournament(
        (spec.game,),
        (*spec.others, *(search_agent(spec.game, budget) for budget in spec.budgets), *spec.strongest),
        form="neighbours",
        openings=spec.openings,
        opening_moves=spec.opening_moves,
        seed=spec.seed,
        batch=spec.openings,
    )


def write(name: str, folder: Path) -> None:
    """Rate the games, pin some moves, and put the ladder into the package."""
    spec, path = SETS[name], RESULTS / f"{name}.jsonl.gz"
    expected = sum(map(len, tournament(name).batches()))
    if folder.exists():
        RESULTS.mkdir(parents=True, exist_ok=True)
        records = tournament_records(folder)[:expected]  # the folder may hold games of a longer ladder
        lines = "".join(replace(record, seconds=()).to_json() + "\n" for record in records)  # not reproducible
        path.write_bytes(gzip.compress(lines.encode(), mtime=0))
    records = committed_records(path.name)
    if len(records) != expected:
        raise SystemExit(f"{path} holds {len(records)} games: expected the {expected} of the tournament")
    if forfeits := [record for record in records if record.forfeits]:
        raise SystemExit(f"{path}: game {forfeits[0].number} was forfeited: {forfeits[0].forfeits[0].reason}")
    ladder = rated(name)
    ladder = replace(ladder, pins=tuple(pin for rung in ladder.rungs for pin in _pins(spec, rung.agent)))
    (LADDERS / f"{ladder.name}-v{ladder.version}.json").write_text(ladder.to_json(), encoding="utf-8")


def files(name: str) -> list[str]:
    """Return the names of the files with the games of a ladder, the oldest first."""
    earlier = SETS[name].extends
    return [*(files(earlier) if earlier else ()), f"{name}.jsonl.gz"]


def committed_records(*names: str) -> list[GameRecord]:
    """Return the games of these files."""
    texts = [gzip.decompress((RESULTS / name).read_bytes()).decode() for name in names]
    return [GameRecord.from_json(line) for text in texts for line in text.splitlines()]


def covariance(records: Sequence[GameRecord], agents: Sequence[str]) -> list[list[float]]:
    """Return the covariance of the rating errors, from the bootstrap that gives the intervals."""
    known, _, drawn = bootstrap(records, anchor="random")
    order = [known.index(agent) for agent in agents]
    return [[round(float(each), 1) for each in row] for row in np.cov(drawn.T)[np.ix_(order, order)]]


def rated(name: str) -> Ladder:
    """Compute the ladder from its games, without pins."""
    spec = SETS[name]
    records = committed_records(*files(name))
    ratings = rate(records, anchor="random")
    played = Counter(agent for record in records for agent in set(record.agents))
    rungs = sorted(
        (
            Rung(title(agent), agent, *(round(value, 1) for value in rating), games=played[agent])
            for agent, rating in ratings.items()
        ),
        key=lambda rung: rung.elo,
    )
    meetings, expected = head_to_head(records, [rung.agent for rung in rungs]), luce(records, rungs)
    pairs = []
    for i, j in combinations(range(len(rungs)), 2):
        if games := int(meetings.games[j, i]):
            score, chance = float(meetings.scores[j, i]), expected[j, i] / games
            off = (score - chance) / (chance * (1 - chance) / games) ** 0.5
            pairs.append([rungs[j].name, rungs[i].name, games, round(score, 4), round(chance, 4), round(off, 2)])
    own_name, _, version = name.partition("-v")
    return Ladder(
        own_name,
        int(version or 1),
        spec.game,
        spec.opening_moves,
        tuple(rungs),
        tournament={
            "form": "neighbours",
            "openings": spec.openings,
            "seed": spec.seed,
            "files": files(name),
            "games": len(records),
            "pairs": pairs,
            "circles": intransitive(meetings),
            "covariance": covariance(records, [rung.agent for rung in rungs]),
        },
    )


def luce(records: Sequence[GameRecord], rungs: Sequence[Rung]) -> dict[tuple[int, int], float]:
    """Return the expected score of the first of each pair of rungs against the second in these games (Luce's model).

    A winner scores 1 against each other player, and the others score 1/2 against one another, as in `head_to_head`.
    """
    place = {rung.agent: k for k, rung in enumerate(rungs)}
    total: dict[tuple[int, int], float] = defaultdict(float)
    for record in records:
        strengths = [10 ** (rungs[place[agent]].elo / 400) for agent in record.agents]
        for agent, mine in zip(record.agents, strengths, strict=True):
            for other, theirs in zip(record.agents, strengths, strict=True):
                if agent != other:
                    total[place[agent], place[other]] += (1 + (mine - theirs) / sum(strengths)) / 2
    return total


def intransitive(meetings: HeadToHead) -> list[list[str]]:
    """Return the cycles of three agents, each of which has beaten the next more often than not."""
    won, names = meetings.scores > 0.5, [title(agent) for agent in meetings.agents]
    return [
        [names[i] for i in some]
        for three in combinations(range(len(names)), 3)
        for some in (three, three[::-1])
        if won[some[0], some[1]] and won[some[1], some[2]] and won[some[2], some[0]]
    ]


def title(agent: str) -> str:
    """Return "1,000 simulations" for the search, and otherwise the agent's name without settings."""
    kind, _, settings = agent.partition(":")
    return f"{int(settings.partition(',')[0].partition('=')[2]):,} simulations" if kind == "mcts" else kind


def _pins(spec: Set, agent: str) -> Iterator[Pin]:
    """Yield the first moves of PINNED_GAMES games of an agent against itself."""
    budget = int(agent.partition("simulations=")[2].partition(",")[0] or 0)
    most = FEW_MOVES if budget > MOST_IN_WHOLE else spec.game.max_plies
    for k in range(PINNED_GAMES):
        opening = draw_opening(spec.game, SEED + k, None, spec.opening_moves)
        start, _ = opening.position(spec.game)
        board = spec.game.board_to_string(start) if spec.opening_moves == 0 else None
        pin = Pin(agent, board, opening.moves, SEED + k, ())
        yield replace(pin, moves=play_pin(spec.game, pin, most))


def report(ladder: Ladder) -> str:
    """Return the ladder as a table, with the results that do not fit its scale."""
    lines = [f"{ladder.id}: {ladder.game!r}, {ladder.tournament['games']:,} games"]
    lines += [f"  {rung.name:20} {rung.elo:7,.0f} ({rung.low:,.0f} to {rung.high:,.0f})" for rung in ladder.rungs]
    worst = max(ladder.tournament["pairs"], key=lambda pair: abs(pair[-1]))
    beyond = sum(abs(pair[-1]) > 3 for pair in ladder.tournament["pairs"])
    lines.append(
        f"  farthest from its ratings: {worst[0]} against {worst[1]}, {worst[3]:.1%} in {worst[2]} games, expected "
        f"{worst[4]:.1%} ({worst[5]:+.1f} standard errors); {beyond} of {len(ladder.tournament['pairs'])} pairs are "
        "more than 3 off"
    )
    circles = ladder.tournament["circles"]
    said = "; ".join(" beats ".join([*circle, circle[0]]) for circle in circles) or "none"
    return "\n".join([*lines, f"  circles, by scores over 50%: {said}"])


def rate_levels(names: Sequence[str], folder: Path, openings: int) -> None:
    """Rate the levels on these ladders, until half the 95% interval is 60 points or after `openings`; write them.

    The ratings on other ladders are kept.
    """
    file = Path(pbm_agents.play.__file__).parent / "levels.json"
    replaced = {load_ladder(name).name for name in names}
    ratings: dict[str, dict[str, dict[str, int]]] = {
        name: levels for name, levels in json.loads(file.read_text()).items() if load_ladder(name).name not in replaced
    }
    for agent in (agent for agent in LEVELS.values() if agent.startswith("champion")):
        for name in names:
            place = folder / f"{agent.replace(':', '-').replace('=', '-')}-{name}"
            run = Run(accept_changes=True)  # the games of a finished rating count, even if the program has changed
            card = rate_on_ladder(agent, name, place, half_width=60, openings=openings, run=run)
            print(agent, card.headline(), flush=True)
            found = {"games": card.games, **{part: round(value) for part, value in card.rating._asdict().items()}}
            ratings.setdefault(load_ladder(name).id, {})[agent] = found
    file.write_text(json.dumps(ratings, indent=1) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("verb", choices=("play", "write", "show", "levels"))
    parser.add_argument("ladders", nargs="*", metavar="ladder", help=f"of {', '.join(SETS)}; all, if none is named")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--folder", type=Path, default=Path("ladder-games"), help="of the tournaments being played")
    parser.add_argument("--openings", type=int, default=80, help="at most, for each of the levels")
    arguments = parser.parse_args()
    if unknown := set(arguments.ladders) - SETS.keys():
        parser.error(f"there is no ladder {', '.join(sorted(unknown))}: expected some of {', '.join(SETS)}")
    if arguments.verb == "levels":
        names = arguments.ladders or ("trinim-5", "unlur-6", "chameleon-11", "curio-5x5")
        rate_levels(names, arguments.folder, arguments.openings)
        return
    there = list(ladders()) if arguments.verb == "show" else list(SETS)
    for name in arguments.ladders or there:
        if arguments.verb == "play":
            play_tournament(tournament(name), arguments.folder / name, Run(arguments.workers, progress=True))
        elif arguments.verb == "write":
            write(name, arguments.folder / name)
        else:
            print(report(load_ladder(name)) + "\n")


if __name__ == "__main__":
    main()
