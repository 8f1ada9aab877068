"""Measure how fast self-play PPO learns, and how strong its network is alone and inside the search.

    python benchmarks/learning_curves.py [--runs FOLDER] [--seeds 1 2] [--workers 2]

Trains with `notebooks/training/ppo.py`, plays with the networks of the first seed, and writes
`results/learning_curves.txt` and a picture for the documentation. A stopped training or match resumes. Each training
uses one thread, and `--workers` of them run at once. Needs the extras `torch`, `cli`, `plot` and `bench`.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

from machine import machine
from matplotlib.figure import Figure
from pbm_agents import evaluate
from pbm_agents.arena import Tournament, play_tournament
from pbm_agents.arena.evaluation import wilson
from pbm_agents.arena.results import shares
from pbm_agents.learning.network import PolicyValueNetwork

from pbm_envs.registry import parse_game

ROOT = Path(__file__).parent.parent
RESULTS = Path(__file__).parent / "results"
PICTURES = Path(__file__).parents[1] / "docs" / "pictures"
GAMES, TEST_SEED = 2000, 10_000
"""Games and seed of the final evaluation, whose openings no training has been evaluated on."""
OPENINGS = 50
SIMULATIONS, SECONDS = 100, 0.05


class Task(NamedTuple):
    game: str
    options: tuple[str, ...]
    bar: float
    """Score against random play that ten minutes should reach; in Curio, a score clearly above random play."""
    settings: str

    @property
    def title(self) -> str:
        return " ".join((self.game, *self.options))

    def folder(self, runs: Path, seed: int) -> Path:
        return runs / f"{'-'.join((self.game, *self.options)).replace('=', '')}-seed{seed}"

    def command(self, runs: Path, seed: int) -> list[str]:
        options = [word for option in self.options for word in ("-o", option)]
        program = ["notebooks/training/ppo.py", str(self.folder(runs, seed)), self.game, *options]
        return [*program, *self.settings.split(), "--threads", "1", "--seed", str(seed)]


TASKS = (
    Task("chameleon", ("size=5",), 0.95, "--stages 10 --updates 6"),
    Task("unlur", ("radius=4",), 0.95, "--stages 10 --updates 10"),
    Task("curio", (), 0.5, "--stages 10 --updates 12 --lam 0.97"),
    Task(
        "trinim",
        ("size=5",),
        0.9,
        "--stages 24 --updates 20 --envs 512 --plies 16 --lam 0.8 --entropy 0.02 --learning-rate 0.002",
    ),
)


def train(runs: Path, seeds: list[int], workers: int) -> dict[tuple[Task, int], list[dict[str, Any]]]:
    """Return the learning curve of each task and seed."""
    jobs = [(task, seed) for task in TASKS for seed in seeds]
    with ThreadPoolExecutor(workers) as pool:
        run = lambda job: subprocess.run([sys.executable, *job[0].command(runs, job[1])], cwd=ROOT, check=True)  # noqa: E731
        list(pool.map(run, jobs))
    curves = {}
    for task, seed in jobs:
        lines = (task.folder(runs, seed) / "curve.jsonl").read_text(encoding="utf-8").splitlines()
        curves[task, seed] = [json.loads(line) for line in lines]
    return curves


def plot(curves: dict[tuple[Task, int], list[dict[str, Any]]]) -> None:
    figure = Figure(figsize=(14, 3.8), layout="constrained")
    for axes, task in zip(figure.subplots(1, len(TASKS), sharey=True), TASKS, strict=True):
        for (other, seed), curve in curves.items():
            if other == task:
                minutes = [line["processor_seconds"] / 60 for line in curve]
                [line] = axes.plot(minutes, [point["score"] for point in curve], label=f"seed {seed}")
                lows, highs = [point["low"] for point in curve], [point["high"] for point in curve]
                axes.fill_between(minutes, lows, highs, color=line.get_color(), alpha=0.15, linewidth=0)
        axes.axhline(task.bar, color="black", linestyle=":", linewidth=1)
        axes.set_title(task.title)
        axes.set_xlabel("minutes of processor time")
        axes.set_xlim(left=0)
        axes.grid(alpha=0.3)
        axes.legend(loc="lower right")
    figure.axes[0].set_ylabel("score against random play")
    figure.savefig(PICTURES / "learning_curves.png", dpi=110)


def summary(task: Task, seed: int, curve: list[dict[str, Any]], runs: Path) -> str:
    network = PolicyValueNetwork.load(task.folder(runs, seed) / "network.pt")
    policy = lambda observations, masks: network.priors_and_values(observations, masks)[0]  # noqa: E731
    result = evaluate(policy, network.game, games=GAMES, seed=TEST_SEED)["random"]
    above = [line for line in curve if line["score"] >= task.bar]
    reached = f"{above[0]['processor_seconds']:.0f}" if above else "never"
    interval = f"({result.score.low:.3f} to {result.score.high:.3f})"
    return (
        f"{task.title:18} {seed:4} {curve[-1]['plies']:>10,} {curve[-1]['processor_seconds']:>11.0f} "
        f"{curve[-1]['seconds']:>7.0f} {task.bar:>5} {reached:>8} {result.score.value:>8.3f} {interval:18} "
        f"{result.wins}-{result.draws}-{result.losses}"
    )


def matches(task: Task, file: Path) -> list[tuple[str, str]]:
    """Return the pairs of agents: the network alone and as evaluator, and the plain search, at equal budgets."""
    plain = f"mcts:simulations={SIMULATIONS}"
    return [
        (f"network:file={file}", plain),
        (f"{plain},network={file}", "random"),
        (f"{plain},network={file}", f"network:file={file}"),
        (f"{plain},network={file}", plain),
        (f"mcts:seconds={SECONDS},network={file}", f"mcts:seconds={SECONDS}"),
    ]


def match(task: Task, pair: tuple[str, str], folder: Path, file: Path) -> str:
    """Play each opening of two random moves from both seats, and return the line of the table."""
    game = parse_game(task.game, task.options)
    tournament = Tournament((game,), pair, openings=OPENINGS, opening_moves=2, seed=TEST_SEED, batch=20)
    records = play_tournament(tournament, folder)
    seats = [record.agents.index(pair[0]) for record in records]
    scores = [shares(record)[seat] for record, seat in zip(records, seats, strict=True)]
    score = wilson(sum(scores) / len(scores), len(scores))
    thought = [
        1000
        * sum(record.seconds[record.agents.index(name)] for record in records)
        / sum(record.turns[record.agents.index(name)] for record in records)
        for name in pair
    ]
    names = [name.replace(str(file), "network.pt") for name in pair]
    counts = f"{scores.count(1)}-{scores.count(0.5)}-{scores.count(0)}"
    return (
        f"{task.title:16} {names[0]:40} {names[1]:26} {score.value:5.3f} ({score.low:.3f} to {score.high:.3f}) "
        f"{counts:10} {thought[0]:6.1f} {thought[1]:6.1f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=Path, default=Path("runs"), metavar="FOLDER")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--workers", type=int, default=2)
    arguments = parser.parse_args()
    runs = arguments.runs.absolute()
    curves = train(runs, arguments.seeds, arguments.workers)
    plot(curves)
    with open(RESULTS / "learning_curves.txt", "w", encoding="utf-8") as file:

        def say(text: str) -> None:
            print(text, flush=True)
            print(text, file=file)

        say(f"{machine()}, torch {version('torch')}\n")
        for task in TASKS:
            say("python " + " ".join(task.command(Path("runs"), arguments.seeds[0])))
        say("\nEach training in one thread. Seconds by the clock depend on what else the machine does.")
        say(f"The score is that at the end, in {GAMES} games against random play.\n")
        say(
            f"{'':18} {'seed':>4} {'plies':>10} {'processor s':>11} {'clock s':>7} {'bar':>5} {'after s':>8} "
            f"{'score':>8} {'':18} won-drawn-lost"
        )
        for (task, seed), curve in curves.items():
            say(summary(task, seed, curve, runs))
        say(f"\nThe network of seed {arguments.seeds[0]}, alone and in the search: {2 * OPENINGS} games each, from")
        say("openings of two random moves. Milliseconds a move.\n")
        say(f"{'':16} {'':40} {'against':26} {'score':24} {'':10} {'ms':>6} {'ms':>6}")
        for task in TASKS:
            network = task.folder(runs, arguments.seeds[0]) / "network.pt"
            for number, pair in enumerate(matches(task, network)):
                say(match(task, pair, network.parent / f"match{number}", network))


if __name__ == "__main__":
    main()
