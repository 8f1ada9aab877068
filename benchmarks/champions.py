"""Champions against the playout search at equal time, the effect of each of their parts, and solved positions.

    python benchmarks/champions.py [--seconds 0.05] [--games 400] [--only TEXT]     # matches
    python benchmarks/champions.py solved                                           # the sets in solved/
    python benchmarks/champions.py openspiel [--seconds 0.05] [--games 400]         # against OpenSpiel's bots
    python benchmarks/champions.py revisions 6b0dfac [--clock processor]            # against an older champion

In a match, each agent gets the number of simulations that take `--seconds` of processor time per move. This number is
measured on the game's positions before each match, so the result does not depend on the machine's load. If a solver
checks the moves of the search, both agents play by the clock instead. Each opening (two random moves) is played from
every seat.

`revisions` plays the champion (or `--agent`) of a checkout, this one if `--of` names no other, against the champion of
an older revision or folder. Each side is a process with the code of its checkout, which gets positions as text and has
`--seconds` per move, by the clock or, with `--clock processor`, of its own processor time, for a busy machine. While
one side thinks, the other waits. Finished games are kept, with their moves, in `results/champions.jsonl`, and are not
played again.

Results are appended to `results/champions.txt` line by line. Results that are already there, with the same seconds and
games, are not played again, so a stopped run resumes.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import time
from contextlib import ExitStack
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from checkouts import ROOT, checkout_of, start_process
from machine import machine
from matches import chooser, play_out
from pbm_agents import Search, Workspace, make_agent
from pbm_agents.arena.evaluation import wilson
from pbm_agents.champions.agent import (
    SECONDS_OF_THREE,
    SECONDS_OF_TWO,
    ChampionAgent,
    pattern_selection,
    playouts_of,
)
from pbm_agents.champions.curio import LinesAgent
from pbm_agents.exact import ConnectionSolver, ExactAgent
from pbm_agents.players.agent import Agent
from pbm_agents.players.search_agents import SearchAgent
from pbm_agents.search import make_search

from pbm_envs import Chameleon, Curio, Game, Trinim, Unlur, make_game
from pbm_envs.testing import random_actions

RESULTS = Path(__file__).parent / "results" / "champions.txt"
JOURNAL = RESULTS.with_suffix(".jsonl")
SOLVED = Path(__file__).parent / "solved"
SEED, MEASURED, TURNS = 2018, 8, 5
CHAMPION = "champion"
WIDTH = 8
"""Simulations in parallel of the playout search in Curio, as by the clock."""
NODES = 10_000
"""Node budget of Curio's champion when its speed is measured."""


class Match(NamedTuple):
    game: Game
    name: str
    patterns: bool = True
    bridges: bool = True

    def search(self, simulations: int) -> Search:
        plain = make_search(simulations=simulations, save_bridges=self.bridges)
        if not self.patterns:
            return plain
        evaluator = playouts_of(self.game) if self.bridges else plain.evaluator
        return replace(plain, selection=pattern_selection(self.game), evaluator=evaluator)


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
    *(Match(game, "champion") for game in (Chameleon(size=5), Chameleon(size=7), Unlur(radius=4))),
    *(
        Match(Unlur(radius=4), name, patterns, bridges)
        for name, patterns, bridges in (
            ("without solver", True, True),
            ("patterns only", True, False),
            ("bridges only", False, True),
        )
    ),
    Match(Chameleon(size=7), "bridges only", patterns=False),
    Match(Curio(), "champion"),
    Match(Curio(base=3, rows=4, cols=4), "champion"),
)
REVISIONS = [match for match in MATCHES if match.name == "champion" and match.game.num_players == 2]


def positions_of(game: Game) -> np.ndarray:
    """Return the views of the players to move after half of a random game."""
    rng = np.random.default_rng(SEED)
    states = game.init(4 * MEASURED, rng)
    for _ in range(min(game.max_plies // 4, 30)):
        game.step(states, random_actions(game, states, rng))
    states = states[~states["done"]][:MEASURED]
    return game.view(states, states["to_move"])


def seconds_each(searches: list[Search], game: Game) -> list[float]:
    """Return each search's processor time per simulation on some positions: the minimum over several turns."""
    rng, views = np.random.default_rng(SEED), positions_of(game)
    workspaces, least = [Workspace() for _ in searches], [np.inf] * len(searches)
    for _ in range(1 + TURNS):  # the first compiles
        for k, search in enumerate(searches):
            start = time.process_time()
            results = search.run(game, views, rng, workspace=workspaces[k])
            least[k] = min(least[k], (time.process_time() - start) / sum(result.simulations for result in results))
    return least


def nodes_in(seconds: float, game: Game) -> int:
    """Return how many nodes Curio's champion searches in this processor time, measured as in `seconds_each`."""
    rng, views, least = np.random.default_rng(SEED), positions_of(game), np.inf
    agent = champion_of_curio(game, NODES)
    for _ in range(1 + TURNS):
        start = time.process_time()
        agent.act(game, views, rng)
        least = min(least, (time.process_time() - start) / len(views))
    return max(1, round(NODES * seconds / least))


def champion_of_curio(game: Game, nodes: int) -> LinesAgent:
    player = ChampionAgent().player(game)
    assert isinstance(player, LinesAgent)
    return LinesAgent(player.values, nodes=nodes)


def score_of(game: Game, agents: tuple[Agent, Agent], games: int) -> tuple[list[float], list[float]]:
    """Play each opening from every seat; return the first agent's scores and the processor time per move in seconds."""
    rng, seats = np.random.default_rng(SEED), game.num_players
    count = max(1, games // seats)
    openings = game.init(count, rng)
    for _ in range(0 if game.random_setup else 2):
        game.step(openings, random_actions(game, openings, rng))
    states, seat = np.concatenate([openings] * seats), np.repeat(np.arange(seats), count)
    first, second = agents
    spent, moves = play_out(game, states, seat, (chooser(first, game, rng), chooser(second, game, rng)))
    own = states["returns"][np.arange(len(states)), seat]
    draw = 1 / seats
    shares = [1.0 if value == 1 else draw if value == 0 else 0.0 for value in own.tolist()]
    return shares, [total / count for total, count in zip(spent, moves, strict=True)]


def play(match: Match, seconds: float, games: int) -> str:
    game, plain = (
        match.game,
        Search(simulations=200, parallel_simulations=WIDTH if match.game.name == "curio" else None),
    )
    if match.name == "champion" and ConnectionSolver.fits(game):
        agents: tuple[Agent, Agent] = ChampionAgent(seconds=seconds), SearchAgent(seconds=seconds)
        return f"{line_of(match, *score_of(game, agents, games))}, by the clock"
    searches = [plain if game.name in ("trinim", "curio") else match.search(200), plain]
    own_each, each = seconds_each(searches, game)
    own, budget = max(1, round(seconds / own_each)), max(1, round(seconds / each))
    opponent, unit = SearchAgent(replace(plain, simulations=budget)), ""
    if game.name == "trinim":
        own = budget
        pieces, of_three = int(np.log2(seconds / SECONDS_OF_TWO)), int(np.log2(seconds / SECONDS_OF_THREE))
        agent: Agent = ExactAgent(pieces=pieces, pieces_of_three=of_three, simulations=budget)
    elif game.name == "curio":
        own, unit = nodes_in(seconds, game), " positions"
        agent = champion_of_curio(game, own)
    else:
        agent = SearchAgent(match.search(own))
    line = line_of(match, *score_of(game, (agent, opponent), games))
    return f"{line}, {own}{unit} against {budget} simulations"


def name_of(match: Match) -> str:
    size = match.game.options.get("size", match.game.options.get("radius"))
    if match.game.name == "curio":
        size = "{rows}x{cols}".format(**match.game.options)
    return f"{type(match.game).__name__} {size}{' of three' * (match.game.num_players == 3)}, {match.name:17}"


def line_of(match: Match, shares: list[float], times: list[float]) -> str:
    score = wilson(float(np.mean(shares)), len(shares))
    return (
        f"{name_of(match)} {score.value:.3f} ({score.low:.3f} to {score.high:.3f}) {len(shares):4} games,"
        f" {1000 * times[0]:6.1f} and {1000 * times[1]:6.1f} ms a move"
    )


OPENSPIEL = (
    *(Match(game, "openspiel-mcts") for game in (Chameleon(), Chameleon(size=5), Unlur(), Unlur(radius=4))),
    *(Match(game, "openspiel-mcts") for game in (Trinim(), Trinim(num_players=3))),
    *(Match(game, "openspiel-ismcts") for game in (Curio(base=3, rows=4, cols=4), Curio())),
)
OPENSPIEL_SIMULATIONS = 300


def against_openspiel(match: Match, seconds: float, games: int) -> str:
    """Play a match of the champion, by the clock, against a bot with a fixed number of simulations; return its line."""
    bot = make_agent(f"{match.name}:simulations={OPENSPIEL_SIMULATIONS}")
    return line_of(match, *score_of(match.game, (ChampionAgent(seconds=seconds), bot), games))


class Side(NamedTuple):
    """An agent of a checkout, in a process of its own."""

    name: str
    agent: str
    process: subprocess.Popen[str]

    def move(self, position: dict[str, Any]) -> tuple[str, float]:
        """Return the agent's move in a position (see `champion_process`), and the seconds that it took."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        print(json.dumps(position | {"agent": self.agent}), file=self.process.stdin, flush=True)
        line = self.process.stdout.readline()
        if not line:
            raise ChildProcessError(f"the agent of {self.name} died in {position}")
        answer = json.loads(line)
        return answer["move"], answer["seconds"]


def start_side(checkout: Path, agent: str, clock: str) -> Side:
    """Start an agent of a checkout; name the side by its commit, the changes since then, and what is no champion."""

    def git(*words: str) -> bytes:
        return subprocess.run(["git", "-C", str(checkout), *words], capture_output=True, check=True).stdout

    name, changes = git("rev-parse", "--short=8", "HEAD").decode().strip(), git("diff", "HEAD", "--", "src", "agents")
    name += f"+{sha256(changes).hexdigest()[:8]}" * bool(changes)
    name += f" ({agent})" * (agent != CHAMPION)
    return Side(name, agent, start_process(checkout, str(Path(__file__).parent / "champion_process.py"), clock))


def opening(game: Game, number: int) -> tuple[str, list[str]]:
    """Return the board of an opening, and two random moves unless the board is random."""
    rng = np.random.default_rng((SEED, number))
    state = game.init(1, rng)
    board, moves = game.board_to_string(state), []
    for _ in range(0 if game.random_setup else 2):
        [action] = random_actions(game, state, rng)
        game.step(state, [action])
        moves.append(game.action_to_string(int(action)))
    return board, moves


def play_revisions(match: Match, sides: tuple[Side, Side], seconds: float, games: int, clock: str) -> str:
    """Play the games of a match between two checkouts that are not in the journal; return the line of all of them."""
    key = [name_of(match).strip(), repr(match.game), *(side.name for side in sides), seconds, clock]
    lines = JOURNAL.read_text(encoding="utf-8").splitlines() if JOURNAL.exists() else []
    known = {line["number"]: line for line in map(json.loads, lines) if line["match"] == key}
    for number in range(games):
        if number not in known:
            known[number] = {"match": key, "number": number, **play_pair_game(match.game, sides, number, seconds)}
            with open(JOURNAL, "a", encoding="utf-8") as file:
                print(json.dumps(known[number]), file=file)
            done = [known[k]["share"] for k in range(number + 1) if k in known]
            print(f"{name_of(match)} game {number + 1} of {games}: {np.mean(done):.3f} so far", flush=True)
    played = [known[number] for number in range(games)]
    times = [sum(game["seconds"][k] for game in played) / sum(game["plies"][k] for game in played) for k in (0, 1)]
    return f"{line_of(match, [game['share'] for game in played], times)}, {sides[0].name} against {sides[1].name}"


def play_pair_game(game: Game, sides: tuple[Side, Side], number: int, seconds: float) -> dict[str, Any]:
    """Play a game of two checkouts; games 2k and 2k + 1 have the same opening, with exchanged seats."""
    board, moves = opening(game, number // 2)
    state, first = game.init(1, np.random.default_rng(0), board=board), number % 2
    for move in moves:
        game.step(state, [game.string_to_action(move)])
    spent, plies = [0.0, 0.0], [0, 0]
    while not state["done"][0]:
        k = int(state["to_move"][0] != first)
        position = {"game": game.name, "options": dict(game.options), "board": board, "moves": moves}
        move, took = sides[k].move(position | {"seed": [SEED, number, len(moves)], "seconds": seconds})
        spent[k], plies[k] = spent[k] + took, plies[k] + 1
        moves.append(move)
        game.step(state, [game.string_to_action(move)])
    share = (1 + float(state["returns"][0, first])) / 2
    return {"share": share, "moves": " ".join(moves), "seconds": [round(each, 3) for each in spent], "plies": plies}


def solved(name: str, seconds: float) -> str:
    """Return how often the champion and the playout search find a winning move, by the clock, position by position."""
    lines = [json.loads(line) for line in (SOLVED / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]
    game, rng = make_game(lines[0]["game"], **lines[0]["options"]), np.random.default_rng(SEED)
    agents = [make_agent(f"{agent}:seconds={seconds}") for agent in ("champion", "mcts")]
    right = np.zeros((len(lines), 2), np.bool_)
    for row, line in enumerate(lines):
        state = game.init(1, rng, board=line.get("board"))
        for move in line["moves"]:
            game.step(state, [game.string_to_action(move)])
        for k, agent in enumerate(agents):
            [action] = agent.act(game, game.view(state, state["to_move"]), rng)
            right[row, k] = game.action_to_string(int(action)) in line["winning"]
    champion, mcts = (wilson(float(share), len(lines)) for share in right.mean(axis=0))
    return (
        f"{solved_name(name, seconds)} champion {champion.value:.3f} ({champion.low:.3f} to {champion.high:.3f}),"
        f" mcts {mcts.value:.3f} ({mcts.low:.3f} to {mcts.high:.3f}) {len(lines):4} positions"
    )


def solved_name(name: str, seconds: float) -> str:
    return f"solved {name}, {seconds} s:"


def recorded(header: str) -> list[str]:
    """Return the recorded results below headers of this kind."""
    found, inside = list[str](), False
    lines = RESULTS.read_text(encoding="utf-8").splitlines() if RESULTS.exists() else []
    for line in lines:
        if line.startswith("pbm-envs "):
            inside = line.endswith(header)
        elif inside:
            found.append(" ".join(line.split()))
    return found


def is_recorded(name: str, games: int | None, lines: list[str]) -> bool:
    beginning = " ".join(name.split())
    return any(line.startswith(f"{beginning} ") and (games is None or f" {games} games" in line) for line in lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="?", default="matches", choices=["matches", "solved", "openspiel", "revisions"])
    parser.add_argument("before", nargs="?", help="revision or folder, for `revisions`")
    parser.add_argument("--of", default=str(ROOT), help="revision or folder whose champion plays against it")
    parser.add_argument("--agent", default=CHAMPION, help="of the checkout `--of`, without a budget")
    parser.add_argument("--clock", default="wall", choices=["wall", "processor"])
    parser.add_argument("--seconds", type=float, default=0.05)
    parser.add_argument("--games", type=int, default=400)
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    clock = "the clock" if arguments.clock == "wall" else "processor time"
    header = {
        "revisions": f"; champions of two revisions, {arguments.seconds} s of {clock} a move",
        "matches": f"; {arguments.seconds} s of processor time a move, about",
        "solved": "; winning moves in solved positions, by the clock",
        "openspiel": f"; champion:seconds={arguments.seconds} against {OPENSPIEL_SIMULATIONS} simulations of OpenSpiel",
    }[arguments.what]
    known, started = recorded(header), False
    with open(RESULTS, "a", encoding="utf-8") as file:

        def write(line: str) -> None:
            nonlocal started
            if not started:
                print(f"{machine()}{header}", file=file)
            started = True
            print(line, flush=True)
            print(line, file=file, flush=True)

        if arguments.what == "solved":
            for path in sorted(SOLVED.glob("*.jsonl")):
                for seconds in (0.01, 0.05):
                    if arguments.only in path.stem and not is_recorded(solved_name(path.stem, seconds), None, known):
                        write(solved(path.stem, seconds))
            return
        if arguments.what == "revisions":
            with ExitStack() as stack:
                of, before = (stack.enter_context(checkout_of(name)) for name in (arguments.of, arguments.before))
                sides = start_side(of, arguments.agent, arguments.clock), start_side(before, CHAMPION, arguments.clock)
                names = f"{arguments.games} games, .* {re.escape(f'{sides[0].name} against {sides[1].name}')}$"
                for match in REVISIONS:
                    name = re.escape(" ".join(name_of(match).split()))
                    recorded_before = any(re.match(f"{name} .* {names}", line) for line in known)
                    if arguments.only in name_of(match) and not recorded_before:
                        write(play_revisions(match, sides, arguments.seconds, arguments.games, arguments.clock))
            return
        for match in OPENSPIEL if arguments.what == "openspiel" else MATCHES:
            games = max(1, arguments.games // match.game.num_players) * match.game.num_players
            if arguments.only in f"{match.game!r} {match.name}" and not is_recorded(name_of(match), games, known):
                run = against_openspiel if arguments.what == "openspiel" else play
                write(run(match, arguments.seconds, games))


if __name__ == "__main__":
    main()
