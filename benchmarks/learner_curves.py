"""Draw the exploitability of deep learners against moves and processor time.

    python benchmarks/learner_curves.py [--moves 1000000] [--seeds 10] [--game leduc ...] [--learner MMD ...]

Learners: PPO, MMD and R-NaD (`pbm_agents.equilibrium.learners`), NFSP (`nfsp`), PSRO with PPO as its oracle (`psro`),
Deep CFR and ESCHER (`regret_learners`). Each has a tuning budget of six settings, one run of `TUNING_MOVES` moves
each on Leduc poker with a seed of its own; the setting with the lowest final exploitability is used on all games,
with new seeds. The policy measured is the last one of PPO, MMD and R-NaD, and what the others call their solution at
that moment: the average policy, or the mixture of the population. Moves of Deep CFR are the decisions that its
traversals visit. Each finished run is a line of `curio_bench/learners.jsonl`, so a stopped command resumes. Writes
`results/learner_curves.txt` and a picture for the documentation. `--game` and `--learner` limit the runs of this
call, so that several calls can share the work; `--draw` starts none.
`openspiel_learners.py` adds runs of OpenSpiel's implementations, which are in the table and, dashed, in the picture.
Needs the extras `cli`, `plot`, `bench` and `torch`.
"""

from __future__ import annotations

import json
import time
from dataclasses import replace
from importlib.metadata import version
from itertools import product
from statistics import median
from typing import Annotated, Any

import torch
import typer
from equilibrium_curves import RESULTS, ROOT, game_of
from machine import machine
from matplotlib.figure import Figure
from pbm_agents.equilibrium import PublicTree, exploitability
from pbm_agents.equilibrium.inputs import Inputs, Learner
from pbm_agents.equilibrium.learners import MMD, PPO, RNAD, SelfPlay
from pbm_agents.equilibrium.nfsp import NFSP, FictitiousMethod
from pbm_agents.equilibrium.psro import PSRO, RESPONSE
from pbm_agents.equilibrium.regret_learners import ESCHER, DeepCFR, RegretMethod

GAMES = ("kuhn", "leduc", "curio-ladder-1", "curio-ladder-2", "curio-ladder-3", "curio-bench-1", "curio-bench-2")
PATH = ROOT / "benchmarks" / "curio_bench" / "learners.jsonl"
TUNED_ON, TUNING_SEED, TUNING_MOVES = "leduc", 1000, 250_000
SETTINGS: dict[str, list[dict[str, float]]] = {
    name: [dict(zip(grid, values, strict=True)) for values in product(*grid.values())]
    for name, grid in {
        "PPO": {"temperature": (0.05, 0.1, 0.2), "clip": (0.05, 0.2)},
        "MMD": {"temperature": (0.1, 0.3), "divergence": (0.5, 1.0, 2.0)},
        "R-NaD": {"temperature": (0.2, 0.5, 1.0), "learning_rate": (1e-3, 3e-3)},
        "NFSP": {"anticipation": (0.1, 0.2), "learning_rate": (1e-3, 3e-3, 1e-2)},
        "PSRO": {"responses": (10, 20, 40), "learning_rate": (3e-3, 1e-2)},
        "Deep CFR": {"iterations": (25, 50, 100), "learning_rate": (1e-3, 3e-3)},
        "ESCHER": {"iterations": (25, 50, 100), "learning_rate": (1e-3, 3e-3)},
    }.items()
}
SELF_PLAY = {"PPO": PPO, "MMD": MMD, "R-NaD": RNAD}
REGRET = {"Deep CFR": DeepCFR, "ESCHER": ESCHER}
PEERS = "OpenSpiel: "
"""What the names of OpenSpiel's learners begin with."""
CHIPS, MOVES_OF_A_GAME = 16, 4
"""Chips of a return of 1 in Leduc poker here, and decisions of a game, about (4.05 in random play)."""
PUBLISHED = (
    (212_287, 1.641),
    (476_304, 1.301),
    (956_686, 0.991),
    (3_093_033, 0.699),
    (9_152_473, 0.506),
    (24_787_388, 0.334),
)
"""Games and NashConv in chips of NFSP on Leduc poker: figure 3 of "OpenSpiel: a framework for reinforcement learning in
games" (Lanctot et al. 2019, arXiv 1908.09453), as read off by github.com/aicenter/openspiel_reproductions."""
VERSION = 2
"""Version of the learners and their grids, in each row. Runs of other versions are not mixed with these."""
Row = dict[str, Any]


def rows() -> list[Row]:
    """Return the finished runs of this version."""
    found = [json.loads(line) for line in PATH.read_text("utf-8").splitlines()] if PATH.exists() else []
    return [row for row in found if row.get("version", 1) == VERSION]


def make(inputs: Inputs, name: str, values: dict[str, Any], moves: int, seed: int) -> Learner:
    """Return a new learner by its name and the settings that differ from its defaults."""
    if name in SELF_PLAY:
        return SelfPlay(inputs, replace(SELF_PLAY[name], **values), moves, seed)
    if name in REGRET:
        return REGRET[name](inputs, moves, seed, replace(RegretMethod(), **values))
    if name == "NFSP":
        return NFSP(inputs, moves, seed, replace(FictitiousMethod(), **values))
    oracle = replace(RESPONSE, learning_rate=values["learning_rate"])
    return PSRO(inputs, moves, seed, values["responses"], oracle)


def run(inputs: Inputs, game: str, name: str, setting: int, seed: int, moves: int) -> None:
    """Run a learner and write its measurements at 1/64, 1/32, ... of its moves."""
    learner = make(inputs, name, SETTINGS[name][setting], moves, seed)
    began, spent, at, curve = time.process_time(), 0.0, moves // 64, []
    while not learner.finished:
        start = time.process_time()
        learner.step()
        spent += time.process_time() - start
        if learner.moves >= at or learner.finished:
            found = exploitability(inputs.tree, learner.policy())
            curve.append({"moves": learner.moves, "seconds": round(spent, 3), "exploitability": found})
            while at <= learner.moves:
                at *= 2
    row = {"version": VERSION, "game": game, "learner": name, "setting": setting, "seed": seed, "curve": curve}
    row["whole"] = round(time.process_time() - began, 3)
    with PATH.open("a", encoding="utf-8") as file:
        file.write(json.dumps(row) + "\n")
    print(game, name, setting, seed, curve[-1], flush=True)


def best(found: list[Row], name: str) -> int:
    """Return the setting with the lowest exploitability in the tuning runs."""
    runs = [row for row in found if row["learner"] == name and row["seed"] == TUNING_SEED]
    return int(min(runs, key=lambda row: row["curve"][-1]["exploitability"])["setting"])


def published() -> list[tuple[int, float]]:
    """Return moves and exploitability at the points of the published curve, in the units of the curves here."""
    return [(games * MOVES_OF_A_GAME, nash_conv / 2 / CHIPS) for games, nash_conv in PUBLISHED]


def table(found: list[Row]) -> str:
    """Return the final exploitabilities as a readable table."""
    lines = [
        machine(),
        f"torch {torch.__version__}, one thread per run, beside other programs: seconds are of the processor",
        "",
        f"tuning: exploitability on {TUNED_ON} after {TUNING_MOVES:,} moves, seed {TUNING_SEED}",
    ]
    for name, settings in SETTINGS.items():
        tuning = [row for row in found if row["learner"] == name and row["seed"] == TUNING_SEED]
        for row in sorted(tuning, key=lambda row: int(row["setting"])):
            chosen = "  <- used" if row["setting"] == best(found, name) else ""
            text = ", ".join(f"{key} {value:g}" for key, value in settings[row["setting"]].items())
            lines.append(f"{name:<8} {row['curve'][-1]['exploitability']:9.6f}  {text}{chosen}")
    lines += [
        "",
        "policies at the end, new seeds, medians with the lowest and the highest; seconds: without measurements",
        "",
        f"{'game':<15} {'learner':<8} {'seeds':>5} {'moves':>10} {'seconds':>8} {'exploitability':>14} {'lowest':>9} "
        f"{'highest':>9}",
    ]
    for game in GAMES:
        for name in SETTINGS:
            ends = [row["curve"][-1] for row in found if _is(row, game, name)]
            if ends:
                values = [end["exploitability"] for end in ends]
                lines.append(
                    f"{game:<15} {name:<8} {len(ends):>5} {median(end['moves'] for end in ends):>10,.0f} "
                    f"{median(end['seconds'] for end in ends):8.1f} {median(values):14.6f} {min(values):9.6f} "
                    f"{max(values):9.6f}"
                )
    if peers := [row for row in found if row["learner"].startswith(PEERS)]:
        lines += ["", f"OpenSpiel {version('open_spiel')}, PyTorch, on leduc", ""]
        lines.append(f"{'learner':<28} {'seed':>4} {'moves':>10} {'seconds':>8} {'exploitability':>14}")
        for row in peers:
            for point in row["curve"]:
                lines.append(
                    f"{row['learner'].removeprefix(PEERS):<28} {row['seed']:>4} {point['moves']:>10,} "
                    f"{point['seconds']:8.1f} {point['exploitability']:14.6f}"
                )
    lines += ["", "published: NFSP on leduc (Lanctot et al. 2019, figure 3), NashConv / 2 in units of 16 chips", ""]
    lines.append(f"{'games':>10} {'moves, about':>12} {'exploitability':>14}")
    for (games, _), (moves, found_there) in zip(PUBLISHED, published(), strict=True):
        lines.append(f"{games:10,} {moves:12,} {found_there:14.6f}")
    lines += [
        "",
        f"all runs, measurements included: {sum(row['whole'] for row in found):.0f} seconds of processor time",
    ]
    return "\n".join(lines) + "\n"


def draw(found: list[Row]) -> None:
    """Draw the curves against moves (above) and processor time (below), one line per seed."""
    games = [game for game in GAMES if any(_is(row, game, name) for row in found for name in SETTINGS)]
    figure = Figure(figsize=(2.6 * len(games), 6), layout="constrained")
    for column, game in enumerate(games):
        for below, unit in enumerate(("moves", "seconds")):
            axes = figure.add_subplot(2, len(games), 1 + column + below * len(games))
            for color, name in enumerate(SETTINGS):
                own = [row for row in found if _is(row, game, name)]
                peers = [row for row in found if row["game"] == game and row["learner"].startswith(PEERS + name)]
                for k, row in enumerate(own + peers):
                    points = [[point[key] for point in row["curve"]] for key in (unit, "exploitability")]
                    style = {"linestyle": "--" if row in peers else "-", "label": None if k else name}
                    axes.loglog(*points, color=f"C{color}", linewidth=1, **style)
            if game == TUNED_ON and not below:
                axes.loglog(*zip(*published(), strict=True), color=f"C{list(SETTINGS).index('NFSP')}", linestyle=":")
            axes.set(title="" if below else game, xlabel="seconds of processor time" if below else unit)
            axes.grid(alpha=0.3)
            if not column:
                axes.set_ylabel("exploitability")
                axes.legend(fontsize=7)
    figure.savefig(ROOT / "docs" / "pictures" / "learner_curves.png", dpi=100)


def _is(row: Row, game: str, name: str) -> bool:
    return (row["game"], row["learner"]) == (game, name) and row["seed"] != TUNING_SEED


def main(
    moves: Annotated[int, typer.Option(help="Moves of a run.")] = 1_000_000,
    seeds: Annotated[int, typer.Option(help="Runs per learner and game.")] = 10,
    game: Annotated[list[str] | None, typer.Option(help="Only runs on this game. Repeatable.")] = None,
    learner: Annotated[list[str] | None, typer.Option(help="Only runs of this learner. Repeatable.")] = None,
    only_draw: Annotated[bool, typer.Option("--draw", help="Only write the table and the picture.")] = False,
) -> None:
    """Measure the runs that are missing, and draw all."""
    torch.set_num_threads(1)
    inputs: dict[str, Inputs] = {}

    def measure(name: str, method: str, setting: int, seed: int, moves: int) -> None:
        known = {(row["game"], row["learner"], row.get("setting"), row["seed"]) for row in rows()}
        if (name, method, setting, seed) not in known:
            if name not in inputs:
                inputs[name] = Inputs(PublicTree.build(game_of(name), threads=1))
            run(inputs[name], name, method, setting, seed, moves)

    learners = [] if only_draw else learner or list(SETTINGS)
    for method in learners:
        for setting in range(len(SETTINGS[method])):
            measure(TUNED_ON, method, setting, TUNING_SEED, TUNING_MOVES)
    for seed, name, method in product(range(seeds), game or GAMES, learners):
        measure(name, method, best(rows(), method), seed, moves)
    found = rows()
    text = table(found)
    (RESULTS / "learner_curves.txt").write_text(text, "utf-8")
    draw(found)
    print(text)


if __name__ == "__main__":
    typer.run(main)
