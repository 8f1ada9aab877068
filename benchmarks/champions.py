"""Champions against the playout search with as much processor time, and what each of their tricks is worth.

    python benchmarks/champions.py [--seconds 0.05] [--games 400] [--only TEXT]

Both search with so many simulations as take so many seconds of processor time a move on the game's positions, measured
before each match: so the result does not depend on what else the machine does. Every opening (two random moves) is
played from each seat. Results are appended to `results/champions.txt` match by match.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from machine import machine
from pbm_agents import Search, Workspace
from pbm_agents.arena.evaluation import wilson
from pbm_agents.champions.agent import PATTERNS, SECONDS_OF_THREE, SECONDS_OF_TWO, load_patterns
from pbm_agents.exact import ExactAgent
from pbm_agents.players.agent import Agent
from pbm_agents.players.search_agents import SearchAgent

from pbm_envs import Chameleon, Game, Trinim, Unlur
from pbm_envs.testing import random_actions

RESULTS = Path(__file__).parent / "results" / "champions.txt"
SEED, MEASURED, TURNS = 2018, 8, 5


class Match(NamedTuple):
    game: Game
    name: str
    patterns: bool = True
    bridges: bool = True

    def search(self, simulations: int) -> Search:
        plain = Search(simulations=simulations, save_bridges=self.bridges)
        if not self.patterns:
            return plain
        return replace(plain, priors=load_patterns(self.game), prior_weight=PATTERNS[self.game.name])


MATCHES = (
    *(
        Match(game, name, patterns, bridges)
        for game in (Chameleon(), Unlur())
        for name, patterns, bridges in (
            ("champion", True, True),
            ("patterns only", True, False),
            ("bridges only", False, True),
        )
    ),
    Match(Trinim(), "champion"),
    Match(Trinim(size=6), "champion"),
    Match(Trinim(num_players=3), "champion"),
    *(Match(game, "champion's tricks") for game in (Chameleon(size=5), Chameleon(size=7), Unlur(radius=4))),
)


def seconds_each(searches: list[Search], game: Game) -> list[float]:
    """Processor time of a simulation of each, on positions of half a random game: the least of some turns."""
    rng = np.random.default_rng(SEED)
    states = game.init(4 * MEASURED, rng)
    for _ in range(game.max_plies // 4):
        game.step(states, random_actions(game, states, rng))
    states = states[~states["done"]][:MEASURED]
    views = game.view(states, states["to_move"])
    workspaces, least = [Workspace() for _ in searches], [np.inf] * len(searches)
    for _ in range(1 + TURNS):  # the first compiles
        for k, search in enumerate(searches):
            start = time.process_time()
            results = search.run(game, views, rng, workspace=workspaces[k])
            least[k] = min(least[k], (time.process_time() - start) / sum(result.simulations for result in results))
    return least


def score_of(game: Game, agents: tuple[Agent, Agent], games: int) -> tuple[list[float], list[float]]:
    """The shares of the first agent, which plays each opening from every seat; seconds of processor time a move."""
    rng, seats = np.random.default_rng(SEED), game.num_players
    count = max(1, games // seats)
    openings = game.init(count, rng)
    for _ in range(0 if game.random_setup else 2):
        game.step(openings, random_actions(game, openings, rng))
    states, seat = np.concatenate([openings] * seats), np.repeat(np.arange(seats), count)
    spent, moves = [0.0, 0.0], [0, 0]
    while not states["done"].all():
        for k, agent in enumerate(agents):
            rows = np.flatnonzero(~states["done"] & ((states["to_move"] == seat) == (k == 0)))
            if len(rows):
                some = states[rows]
                start = time.process_time()
                actions = agent.act(game, game.view(some, some["to_move"]), rng)
                spent[k], moves[k] = spent[k] + time.process_time() - start, moves[k] + len(rows)
                game.step(some, actions)
                states[rows] = some
    own = states["returns"][np.arange(len(states)), seat]
    draw = 1 / seats
    shares = [1.0 if value == 1 else draw if value == 0 else 0.0 for value in own.tolist()]
    return shares, [total / count for total, count in zip(spent, moves, strict=True)]


def play(match: Match, seconds: float, games: int) -> str:
    game, plain = match.game, Search(simulations=200)
    own_each, each = seconds_each([match.search(200) if game.name in PATTERNS else plain, plain], game)
    own, budget = max(1, round(seconds / own_each)), max(1, round(seconds / each))
    opponent = SearchAgent(Search(simulations=budget))
    if game.name == "trinim":
        own = budget
        pieces, of_three = int(np.log2(seconds / SECONDS_OF_TWO)), int(np.log2(seconds / SECONDS_OF_THREE))
        agent: Agent = ExactAgent(pieces=pieces, pieces_of_three=of_three, simulations=budget)
    else:
        agent = SearchAgent(match.search(own))
    shares, times = score_of(game, (agent, opponent), games)
    score = wilson(float(np.mean(shares)), len(shares))
    size = game.options.get("size", game.options.get("radius"))
    return (
        f"{type(game).__name__} {size}{' of three' * (game.num_players == 3)}, {match.name:17}"
        f" {score.value:.3f} ({score.low:.3f} to {score.high:.3f}) {len(shares):4} games, {own:6} against {budget:6}"
        f" simulations, {1000 * times[0]:6.1f} and {1000 * times[1]:6.1f} ms a move"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=0.05)
    parser.add_argument("--games", type=int, default=400)
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    with open(RESULTS, "a", encoding="utf-8") as file:
        print(f"{machine()}; {arguments.seconds} s of processor time a move, about", file=file)
        for match in MATCHES:
            if arguments.only in f"{match.game!r} {match.name}":
                line = play(match, arguments.seconds, arguments.games)
                print(line, flush=True)
                print(line, file=file, flush=True)


if __name__ == "__main__":
    main()
