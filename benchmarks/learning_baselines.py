"""How exploitable do learners become by self-play? PPO, MMD and R-NaD on Curio's ladder, exactly, over their moves.

    python benchmarks/learning_baselines.py                      # what is missing
    python benchmarks/learning_baselines.py --seeds 2 --rungs 1

Protocol as in IIG-RL-Benchmark (Rudolph et al. 2026), cut to two cores: one setting of each learner is tuned, on seeds
and a rung of their own, by the exploitability of the last policy; then new seeds. One line of JSON a training in
`results/learning_baselines.jsonl`; the table in `.txt`, exploitability over moves in `.png`. A training that was
stopped begins anew. Needs the extra `torch`.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import torch
import typer
from machine import machine
from matplotlib.figure import Figure
from panels import draw_level, save, set_axes
from pbm_agents.equilibrium import Policy, PublicTree, exploitability
from pbm_agents.equilibrium.policy import scaled
from self_play_learners import LEARNERS

from pbm_envs import make_game

RESULTS = Path(__file__).parent / "results"
SETTINGS = {"PPO": (0.02, 0.05, 0.1, 0.2), "MMD": (0.1, 0.2, 0.5, 1.0), "R-NaD": (0.05, 0.1, 0.2, 0.5)}
"""That are tried: weight of the entropy, first temperature, weight of the regularization."""
TUNING_RUNG, TUNING_SEEDS, FIRST_SEED = 2, (100,), 0
LOOKS = 16
"""How often a training is measured."""
STUDENT = {2: 12.706, 3: 4.303, 4: 3.182, 5: 2.776, 6: 2.571, 8: 2.365, 10: 2.262}
"""97.5% quantiles of the t distribution, by the number of seeds."""


class Job(NamedTuple):
    """One training."""

    learner: str
    rung: int
    setting: float
    seed: int
    moves: int


class Yardstick:
    """The exploitability of networks on one rung."""

    def __init__(self, rung: int) -> None:
        self.tree = PublicTree.build(make_game(f"curio-ladder-{rung}"))
        views = [some for _, some in self.tree.views_by_batch(1 << 14)]
        game = self.tree.game
        self._seen = [(game.observe(some), game.legal_action_mask(some)) for some in views]

    def measure(self, policies: Any) -> float:
        """Of a function of observations and masks."""
        weights = [policies(seen, masks)[masks] for seen, masks in self._seen]
        return exploitability(self.tree, Policy(self.tree, scaled(self.tree, np.concatenate(weights))))


def train(job: Job, yardstick: Yardstick) -> dict[str, Any]:
    """A training and its curve: moves so far, exploitability."""
    torch.set_num_threads(1)
    spent = time.process_time()
    learner = LEARNERS[job.learner](yardstick.tree.game, job.setting, job.moves, job.seed)
    curve = [(0, yardstick.measure(learner.policies))]
    while learner.moves < job.moves:
        learner.update()
        if learner.moves >= min(len(curve) * job.moves / LOOKS, job.moves):
            curve.append((learner.moves, yardstick.measure(learner.policies)))
    return job._asdict() | {"curve": curve, "seconds": time.process_time() - spent}


def tuned(known: dict[Job, dict[str, Any]], learner: str, moves: int) -> float | None:
    """The setting with the least exploitability at the end, if all have been tried."""
    found = {}
    for setting in SETTINGS[learner]:
        jobs = [Job(learner, TUNING_RUNG, setting, seed, moves) for seed in TUNING_SEEDS]
        if any(job not in known for job in jobs):
            return None
        found[setting] = float(np.mean([known[job]["curve"][-1][1] for job in jobs]))
    return min(found, key=lambda setting: found[setting])


def jobs(
    known: dict[Job, dict[str, Any]], rungs: list[int], seeds: int, moves: int, tuning_moves: int
) -> Iterator[Job]:
    """All trainings, in the order in which they are best done."""
    for learner, settings in SETTINGS.items():
        for setting in settings:
            for seed in TUNING_SEEDS:
                yield Job(learner, TUNING_RUNG, setting, seed, tuning_moves)
    for seed in range(FIRST_SEED, FIRST_SEED + seeds):
        for rung in rungs:
            for learner in SETTINGS:
                setting = tuned(known, learner, tuning_moves)
                assert setting is not None
                yield Job(learner, rung, setting, seed, moves)


def finals(known: dict[Job, dict[str, Any]], learner: str, rung: int) -> list[dict[str, Any]]:
    """The trainings with new seeds."""
    rows = [row for job, row in known.items() if (job.learner, job.rung) == (learner, rung)]
    return sorted((row for row in rows if row["seed"] not in TUNING_SEEDS), key=lambda row: row["seed"])


def half_width(values: list[float]) -> float:
    """Of the 95% interval of a mean."""
    if len(values) not in STUDENT:
        return float("nan")
    return STUDENT[len(values)] * float(np.std(values, ddof=1)) / len(values) ** 0.5


def table(known: dict[Job, dict[str, Any]], random: dict[int, float]) -> str:
    """For people."""
    lines = [machine(), "", "tuning: exploitability at the end", ""]
    tried: dict[tuple[str, float], list[float]] = {}
    for job, row in known.items():
        if job.seed in TUNING_SEEDS:
            tried.setdefault((job.learner, job.setting), []).append(row["curve"][-1][1])
    for (learner, setting), found in sorted(tried.items()):
        lines.append(f"{learner:<6} curio-ladder-{TUNING_RUNG}  setting {setting:<5} {np.mean(found):.4f}")
    lines += ["", "exploitability of the last policy, over new seeds: mean, 95% interval (t), least, most", ""]
    lines.append(
        f"{'rung':<4} {'learner':<7} {'setting':>7} {'moves':>9} {'mean':>7} {'+-':>7} {'least':>7} {'most':>7} "
        f"{'seeds':>5} {'random':>7} {'seconds':>8}"
    )
    for rung in sorted(random):
        for learner in SETTINGS:
            rows = finals(known, learner, rung)
            if rows:
                found = [row["curve"][-1][1] for row in rows]
                lines.append(
                    f"{rung:<4} {learner:<7} {rows[0]['setting']:7} {rows[0]['moves']:9,} {np.mean(found):7.4f} "
                    f"{half_width(found):7.4f} {min(found):7.4f} {max(found):7.4f} {len(rows):5} {random[rung]:7.4f} "
                    f"{np.mean([row['seconds'] for row in rows]):8.1f}"
                )
    return "\n".join(lines) + "\n"


def draw(known: dict[Job, dict[str, Any]], random: dict[int, float], path: Path) -> None:
    """Exploitability over moves, a panel for each rung."""
    figure = Figure(figsize=(4.2 * len(random), 3.8), layout="constrained")
    panels = figure.subplots(1, len(random), sharey=True, squeeze=False)[0]
    for panel, (rung, level) in zip(panels, sorted(random.items()), strict=True):
        for learner in SETTINGS:
            rows = finals(known, learner, rung)
            if not rows:
                continue
            curves = np.array([[look[1] for look in row["curve"]] for row in rows])
            moves = np.mean([[look[0] for look in row["curve"]] for row in rows], axis=0)
            means = curves.mean(axis=0)
            [line] = panel.plot(moves, means, label=learner)
            if len(rows) in STUDENT:
                half = np.array([half_width(looks.tolist()) for looks in curves.T])
                low = np.maximum(means - half, curves.min() / 2)  # the axis is logarithmic
                panel.fill_between(moves, low, means + half, color=line.get_color(), alpha=0.2, linewidth=0)
        draw_level(panel, level, "random")
        set_axes(panel, rung, "moves")
    save(figure, panels, path)


def main(
    rungs: Annotated[list[int] | None, typer.Option(help="Of the ladder.")] = None,
    seeds: Annotated[int, typer.Option(help="After the tuning.")] = 5,
    moves: Annotated[int, typer.Option(help="Of each training.")] = 60_000,
    tuning_moves: Annotated[int, typer.Option(help="Of each training in the tuning.")] = 20_000,
) -> None:
    """Measure what is missing."""
    path = RESULTS / "learning_baselines.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    known = {Job(**{name: row[name] for name in Job._fields}): row for row in rows}
    yardsticks: dict[int, Yardstick] = {}
    for job in jobs(known, rungs or [1, 2, 3], seeds, moves, tuning_moves):
        if job not in known:
            yardstick = yardsticks.setdefault(job.rung, Yardstick(job.rung))
            known[job] = train(job, yardstick)
            print(job, known[job]["curve"][-1], round(known[job]["seconds"], 1), flush=True)
            path.write_text("".join(json.dumps(row) + "\n" for row in known.values()))
    random = {}
    for rung in sorted({job.rung for job in known if job.seed not in TUNING_SEEDS}):
        tree = PublicTree.build(make_game(f"curio-ladder-{rung}"))
        random[rung] = exploitability(tree, tree.uniform_policy())
    text = table(known, random)
    (RESULTS / "learning_baselines.txt").write_text(text)
    print(text)
    draw(known, random, RESULTS / "learning_baselines.png")


if __name__ == "__main__":
    typer.run(main)
