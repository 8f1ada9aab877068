"""Search under hidden information: exploitability against search time, and play on the default board.

    python benchmarks/hidden_play.py curves [--games curio-ladder-1 ...]    # exploitability on small games
    python benchmarks/hidden_play.py matches [--count 400]                  # against the champion on 5x5
    python benchmarks/hidden_play.py bounds [--count 200]                   # lower bounds of the exploitability on 5x5

Each result is a line in `hidden_play.jsonl`, so a stopped command resumes. All commands write
`results/hidden_play.txt`. In a match both agents have the same number of simulations per move, and the processor time
of both is measured. `all-seeing` is the champion's search in the true world instead of sampled ones: it cheats, and
shows how much knowing what is hidden can be worth at most. What any opponent wins in both seats is a lower bound of the
exploitability; the opponent is the champion with twenty times as many simulations.
"""

from __future__ import annotations

import json
import time
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from machine import machine
from matches import chooser, play_out
from pbm_agents import make_agent
from pbm_agents.champions import ChampionAgent
from pbm_agents.equilibrium import PublicTree, Resolving, exploitability, exploitability_bounds, resolving_policy

from pbm_envs import Curio, Game, make_game

RESULTS = Path(__file__).parent / "results"
GAMES = (*(f"curio-ladder-{rung}" for rung in range(1, 8)), "curio-bench-1", "curio-bench-2")
MIRROR = tuple(f"mirror:simulations={count},temperature=0.1" for count in (5, 20, 80, 320, 1280))
RESOLVE = tuple(f"resolve:size={size},iterations=60" for size in (1, 1000, 3000, 30_000))
SAMPLED = (*(f"ismcts:simulations={count}" for count in (10, 100)), "champion:simulations=100")
SOLVED = {"curio-ladder-1", "curio-ladder-2", "curio-ladder-3"}
"""Games that the champion plays as the agent `equilibrium` does."""
LEVELS = {**{f"curio-ladder-{rung}": 3 for rung in range(4, 8)}, "curio-bench-2": 4}
"""How many budgets of `mirror` are measured on a game with many information sets or a slow search. On others: all."""
FITTING = {"curio-ladder-1": RESOLVE + SAMPLED, "curio-ladder-3": RESOLVE}
"""Agents measured on a game only: their processor time grows with its information sets."""
SAMPLES, SEED = 8, 2018
SIMULATIONS = 50
"""Simulations per move in matches."""
CHAMPION = f"champion:simulations={SIMULATIONS}"
MIRRORS = tuple(f"mirror:simulations={SIMULATIONS},temperature={temperature}" for temperature in (0.01, 0.03))
ALL_SEEING = "all-seeing"
STRONGER = 20
"""How many times as many simulations the opponent has whose winnings are a lower bound of the exploitability."""

app = typer.Typer(help=__doc__, add_completion=False)


def path() -> Path:
    """Return the file of all results so far."""
    return Path(__file__).with_suffix(".jsonl")


def known() -> list[dict[str, Any]]:
    """Return all results so far."""
    return [json.loads(line) for line in path().read_text("utf-8").splitlines()] if path().exists() else []


def add(row: dict[str, Any]) -> None:
    """Append a result."""
    print(row, flush=True)
    with path().open("a", encoding="utf-8") as file:
        file.write(json.dumps(row) + "\n")


def is_known(**facts: Any) -> bool:
    """Return whether there is a result with these entries."""
    return any(facts.items() <= row.items() for row in known())


def exploit(tree: PublicTree, name: str) -> dict[str, float]:
    """Return bounds of an agent's exploitability and its processor time per information set."""
    start = time.process_time()
    if name.startswith("resolve"):
        settings = dict(part.split("=") for part in name.partition(":")[2].split(","))
        policy, _ = resolving_policy(tree, Resolving(**{key: int(value) for key, value in settings.items()}))
        spent = time.process_time() - start
        low = high = exploitability(tree, policy)
    else:
        bounds = exploitability_bounds(tree, make_agent(name), samples=SAMPLES, seed=SEED)
        spent = (time.process_time() - start) / (1 if bounds.low == bounds.high else SAMPLES)
        low, high = sum(bounds.low) / 2, sum(bounds.high) / 2
    return {"low": low, "high": high, "milliseconds": 1000 * spent / tree.num_information_sets}


def best_in_world(game: Game, states: Any) -> list[int]:
    """Return the champion's moves (B,) in full states."""
    lines: Any = ChampionAgent(simulations=SIMULATIONS).player(game)
    chosen = []
    for row, mask in enumerate(game.legal_action_mask(states)):
        legal = np.flatnonzero(mask)
        ranked = lines._rank(game, legal, states[row : row + 1], 0.0, 0.0) if len(legal) > 1 else [(legal[0], 0.0)]
        chosen.append(int(ranked[0][0]))
    return chosen


def match(game: Game, name: str, opponent: str, count: int) -> dict[str, Any]:
    """Play games, half of them in each seat; return results and the processor time per move of both agents."""
    rng = np.random.default_rng(SEED)
    states, seat = game.init(count, rng), np.arange(count) % 2
    pair = (
        partial(best_in_world, game) if name == ALL_SEEING else chooser(make_agent(name), game, rng),
        chooser(make_agent(opponent), game, rng),
    )
    for choose in pair:
        choose(states[:1])  # compiles before timing
    spent, moves = play_out(game, states, seat, pair)
    own = states["returns"][np.arange(count), seat]
    return {
        "games": count,
        "score": float((1 + own).mean() / 2),
        "error": float(own.std(ddof=1) / 2 / np.sqrt(count)),
        "drawn": float((own == 0).mean()),
        "milliseconds": [1000 * used / made for used, made in zip(spent, moves, strict=True)],
    }


def table(rows: list[dict[str, Any]]) -> str:
    """Return the results as readable tables."""
    lines = [
        machine(),
        "",
        f"Exploitability. low, high: bounds by {SAMPLES} samples per information set. `mirror` reports probabilities,",
        "from worlds drawn once per information set: its exploitability is that of these, an upper bound in",
        "expectation. That of `resolve` is exact for its seed. ms: processor time per information set and sample",
        "",
        f"{'game':<16} {'agent':<40} {'low':>8} {'high':>8} {'ms':>8}",
    ]
    order = {name: k for k, name in enumerate(("equilibrium", *MIRROR, *RESOLVE, *SAMPLED))}
    curves = [row for row in rows if row["kind"] == "curve"]
    for row in sorted(curves, key=lambda row: (GAMES.index(row["game"]), order[row["agent"]])):
        lines.append(
            f"{row['game']:<16} {row['agent']:<40} {row['low']:8.4f} {row['high']:8.4f} {row['milliseconds']:8.3f}"
        )
    lines += [
        "",
        "Matches on 5x5, half of the games in each seat. +-: 95%; ms: processor milliseconds per move",
        "",
        f"{'agent':<40} {'opponent':<26} {'games':>5} {'score':>6} {'+-':>6} {'drawn':>6} {'ms':>7} {'ms':>7}",
    ]
    for row in (row for row in rows if row["kind"] == "match"):
        lines.append(
            f"{row['agent']:<40} {row['opponent']:<26} {row['games']:5} {row['score']:6.3f} {1.96 * row['error']:6.3f} "
            f"{row['drawn']:6.1%} {row['milliseconds'][0]:7.2f} {row['milliseconds'][1]:7.2f}"
        )
    lines += [
        "",
        f"Lower bounds of the exploitability on 5x5: what the champion with {STRONGER} times as many simulations wins,",
        "with 95% intervals",
        "",
    ]
    for row in (row for row in rows if row["kind"] == "bound"):
        found, error = 2 * row["score"] - 1, 2 * 1.96 * row["error"]
        lines.append(
            f"{row['agent']:<40} {row['games']:5} games  {found:+.3f} ({found - error:+.3f} to {found + error:+.3f})"
        )
    return "\n".join(lines) + "\n"


def write() -> None:
    """Write the tables of all results so far."""
    text = table(known())
    (RESULTS / "hidden_play.txt").write_text(text, "utf-8")
    print(text)


@app.command()
def curves(games: Annotated[list[str] | None, typer.Option(help="Only these.")] = None) -> None:
    """Measure exploitability on small games."""
    for game in games or GAMES:
        names = (*(("equilibrium",) if game in SOLVED else ()), *MIRROR[: LEVELS.get(game)], *FITTING.get(game, ()))
        missing = [name for name in names if not is_known(kind="curve", game=game, agent=name)]
        tree = PublicTree.build(make_game(game), threads=1) if missing else None
        for name in missing:
            assert tree is not None
            add({"kind": "curve", "game": game, "agent": name} | exploit(tree, name))
    write()


@app.command()
def matches(count: Annotated[int, typer.Option(help="Games of each match.")] = 400) -> None:
    """Play matches on the default board."""
    pairs = [(name, CHAMPION) for name in (*MIRRORS, ALL_SEEING)] + [(MIRRORS[-1], "ismcts:simulations=300")]
    for name, opponent in pairs:
        if not is_known(kind="match", agent=name, opponent=opponent):
            add({"kind": "match", "agent": name, "opponent": opponent} | match(Curio(), name, opponent, count))
    write()


@app.command()
def bounds(count: Annotated[int, typer.Option(help="Games against each agent.")] = 200) -> None:
    """Measure lower bounds of the exploitability on the default board."""
    opponent = f"champion:simulations={STRONGER * SIMULATIONS}"
    for name in (CHAMPION, *MIRRORS):
        if not is_known(kind="bound", agent=name):
            add({"kind": "bound", "agent": name} | match(Curio(), opponent, name, count))
    write()


if __name__ == "__main__":
    app()
