"""Measure `pbm train`: strength by seed and processor time, threads of the learner, and the parts of a round.

    python benchmarks/training.py learn 7 --seed 1 --minutes 10 [--runs FOLDER]
    python benchmarks/training.py threads
    python benchmarks/training.py ray
    python benchmarks/training.py report [--runs FOLDER]

`learn` trains on Chameleon of a size with the defaults of `pbm train` in one process until it has used the given
minutes of processor time, and resumes if it was stopped. Then the network plays against the search with playouts at
equal simulations (64 on 5x5, 400 on 7x7), as the agent that `pbm train` names at its end. Each command leaves a file
in the folder. `report` adds these files to `training.jsonl`, where they replace earlier ones of the same name, and
writes `results/training.txt` and a picture from all. Needs the extras `cli`, `torch`, `plot` and `bench`; `ray` needs
the extra `ray`.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import numpy as np
import typer
from machine import machine
from pbm_agents import evaluate, make_agent
from pbm_agents.arena.plots import plot_training
from pbm_agents.learning.settings import default_training

from pbm_envs import Chameleon

RESULTS = Path(__file__).parent / "results"
KEPT = Path(__file__).with_suffix(".jsonl")
"""What was measured, on whatever machine, one named result per line."""
PICTURE = Path(__file__).parents[1] / "docs" / "pictures" / "training.png"
SIMULATIONS = {5: 64, 7: 400}
"""Simulations of both sides in the matches, by the size of the board."""
GAMES, TEST_SEED, OPENING_MOVES = 400, 10_000, 2
FIRST_ROUNDS = 14
"""Rounds before the first check of the processor time."""
BUSY, THREADS, REPEATS = (0, 2, 8), (1, 2), 5
Runs = Annotated[Path, typer.Option(help="Folder of the runs.")]
app = typer.Typer(add_completion=False)


@app.command()
def learn(size: int, seed: int = 1, minutes: float = 10.0, runs: Runs = Path("runs/training")) -> None:
    """Train with the defaults for `minutes` of processor time, then play the match."""
    from pbm_agents.learning.trainer import train

    game, folder = Chameleon(size=size), runs / f"chameleon{size}-{seed}"
    settings = replace(default_training(game), seed=seed)
    curve = train(game, folder, replace(settings, rounds=FIRST_ROUNDS))
    while (left := 60 * minutes / curve[-1]["processor_seconds"] - 1) > 0 and len(curve) < settings.rounds:
        rounds = len(curve) + max(1, int(left * len(curve)))
        curve = train(game, folder, replace(settings, rounds=min(settings.rounds, rounds)))
    opponent = f"mcts:simulations={SIMULATIONS[size]}"
    agent = make_agent(f"{opponent},network={folder / 'network.npz'}")
    found = evaluate(agent, game, [opponent], games=GAMES, seed=TEST_SEED, opening_moves=OPENING_MOVES)[opponent]
    line = {"size": size, "seed": seed, "opponent": opponent, "games": found.games, "curve": curve}
    write(runs, f"learned-{size}-{seed}", line | {"score": found.score._asdict()})
    print(found)


def write(runs: Path, name: str, found: Any) -> None:
    runs.mkdir(parents=True, exist_ok=True)
    (runs / f"{name}.json").write_text(json.dumps(found), encoding="utf-8")


@app.command()
def threads(runs: Runs = Path("runs/training"), updates: int = 40) -> None:
    """Time an update of the learner with 1 and 2 threads, beside 0, 2 and 8 busy processes."""
    import torch
    from pbm_agents.learning.learner import Learner
    from pbm_agents.learning.replay_buffer import ReplayBuffer
    from pbm_agents.learning.run_folder import fast_evaluator
    from pbm_agents.learning.self_play import self_play

    game, rng, found = Chameleon(size=7), np.random.default_rng(1), []
    settings = default_training(game)
    learner = Learner(game, settings)
    search = settings.self_play_search(fast_evaluator(learner.network))
    with TemporaryDirectory() as folder:
        buffer = ReplayBuffer(Path(folder) / "buffer", game, 10_000)
        buffer.add(self_play(game, search, 64, rng))
        for busy in BUSY:
            processes = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(busy)]
            try:
                for count in THREADS:
                    torch.set_num_threads(count)
                    seconds = [timed(lambda: learner.learn(buffer, updates, rng)) / updates for _ in range(REPEATS)]
                    found.append({"busy": busy, "threads": count, "seconds": statistics.median(seconds)})
                    print(found[-1], flush=True)
            finally:
                for process in processes:
                    process.kill()
    write(runs, "threads", found)


def timed(function: Callable[[], Any]) -> float:
    began = time.perf_counter()
    function()
    return time.perf_counter() - began


@app.command()
def ray(runs: Runs = Path("runs/training"), games: int = 256, rounds: int = 4) -> None:
    """Train on Ray with 1, 2 and 4 workers, and measure the processor time of its parts."""
    import ray as ray_library
    from pbm_agents.learning import learner as learners
    from pbm_agents.learning.trainer import train

    game, learn_updates, learning, found = Chameleon(size=7), learners.Learner.learn, [0.0], []

    def timed_learn(*arguments: Any) -> Any:
        began = time.thread_time()
        losses = learn_updates(*arguments)
        learning[0] += time.thread_time() - began
        return losses

    learners.Learner.learn = timed_learn  # type: ignore[method-assign,assignment]
    settings = replace(default_training(game), imitation_rounds=0, games=games, rounds=rounds)
    for workers in (1, 2, 4):
        ray_library.init(num_cpus=workers, include_dashboard=False, log_to_driver=False)
        with TemporaryDirectory() as folder:
            learning[0], used = 0.0, time.process_time()
            last = train(game, Path(folder) / "run", settings, ray=True)[-1]
            own = time.process_time() - used
        ray_library.shutdown()
        parts = {"learning": learning[0], "rest": own - learning[0], "workers": last["processor_seconds"] - own}
        found.append({"count": workers, "positions": last["positions"], "seconds": last["seconds"]} | parts)
        print(found[-1], flush=True)
    write(runs, "ray", found)


@app.command()
def report(runs: Runs = Path("runs/training")) -> None:
    """Write the tables of all results, those in the folder and those measured earlier."""
    kept = {}
    if KEPT.exists():
        kept = {line["name"]: line["found"] for line in map(json.loads, KEPT.read_text(encoding="utf-8").splitlines())}
    kept |= {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in runs.glob("*.json")}
    rows = [json.dumps({"name": name, "found": found}) + "\n" for name, found in sorted(kept.items())]
    KEPT.write_text("".join(rows), encoding="utf-8")
    lines = [machine()]
    for size in SIMULATIONS:
        found = [kept[name] for name in sorted(kept) if name.startswith(f"learned-{size}-")]
        if found:
            lines += ["", *learned(size, found)]
            figure = plot_training(found[0]["curve"], f"{Chameleon(size=size)!r}, seed {found[0]['seed']}")
            figure.savefig(PICTURE, dpi=110)  # of the largest board
    for name, table in (("threads", updates_beside), ("ray", shares)):
        if name in kept:
            lines += ["", *table(kept[name])]
    (RESULTS / "training.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    print("\n".join(lines))


def learned(size: int, found: list[dict[str, Any]]) -> list[str]:
    """Return the table of runs by seed."""
    lines = [
        f"{Chameleon(size=size)!r}: {found[0]['games']} games against {found[0]['opponent']} at equal simulations",
        "          score   from     to  rounds   games  positions  processor min  clock min",
    ]
    for run in found:
        score, last = run["score"], run["curve"][-1]
        interval = "".join(f"{score[name]:7.3f}" for name in ("value", "low", "high"))
        lines.append(
            f"seed {run['seed']:<3}{interval}{last['round']:8}{last['games']:8}"
            f"{last['positions']:11}{last['processor_seconds'] / 60:15.2f}{last['seconds'] / 60:11.1f}"
        )
    return lines


def updates_beside(found: list[dict[str, Any]]) -> list[str]:
    """Return the table of the learner's seconds per update."""
    lines = ["milliseconds per update of the learner (256 and 64 units, batch 512), medians", "busy processes"]
    lines[-1] += "".join(f"{f'{count} threads':>12}" for count in THREADS) + "".join(
        f"{f'ratio, {count}':>12}" for count in THREADS
    )
    by = {(one["busy"], one["threads"]): 1000 * one["seconds"] for one in found}
    for busy in BUSY:
        own = [by[busy, count] for count in THREADS]
        ratios = [by[busy, count] / by[0, count] for count in THREADS]
        lines.append(f"beside {busy:<7}" + "".join(f"{value:12.2f}" for value in [*own, *ratios]))
    return lines


def shares(found: list[dict[str, Any]]) -> list[str]:
    """Return the table of a round's parts, and positions per second computed from them for more workers."""
    lines = [
        "training on Ray, Chameleon 7x7, microseconds of processor time per position; serial: learning and rest",
        "           positions  learning    rest  workers  serial share",
    ]
    for run in found:
        learning, rest, workers = (1e6 * run[part] / run["positions"] for part in ("learning", "rest", "workers"))
        share = (learning + rest) / (learning + rest + workers)
        lines.append(
            f"{run['count']} workers {run['positions']:11}{learning:10.0f}{rest:8.0f}{workers:9.0f}{share:14.3f}"
        )
    lines.append("computed from medians: positions per second with a processor for each worker and one for the rest")
    serial = statistics.median((run["learning"] + run["rest"]) / run["positions"] for run in found)
    played = statistics.median(run["workers"] / run["positions"] for run in found)
    for count in (1, 2, 4, 8, 64, 1000):
        lines.append(f"computed {count:<6}{1 / max(serial, played / count):10,.0f}")
    return lines


if __name__ == "__main__":
    app()
