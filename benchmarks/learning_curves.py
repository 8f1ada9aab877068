"""Measure how fast self-play PPO learns, and what other libraries learn in the same processor time.

    python benchmarks/learning_curves.py ppo [--runs FOLDER] [--seed 1 --seed 2] [--workers 2]
    python benchmarks/learning_curves.py library NAME [--seed 1 --seed 2] [--minutes 1] [--hex]
    python benchmarks/learning_curves.py draw

`ppo` trains with `notebooks/training/ppo.py` on all four games, plays with the networks of the first seed, and writes
the first part of `results/learning_curves.txt` and a picture for the documentation. A stopped training or match
resumes. Each training uses one thread, and `--workers` of them run at once. Needs the extras `torch`, `cli`, `plot` and
`bench`.

`library` trains on Chameleon 5x5, or with `--hex` on Hex 5x5 (`docs/guides/hex.py`), for some minutes of processor time
on one thread, and appends a line to `learning_curves.jsonl` beside this script; finished lines are not repeated. `draw`
writes the second part of `results/learning_curves.txt` from these lines. The programs of `notebooks/training` run
unchanged, with their own settings: this script takes the place of their log and stops them. Environments:

* `ppo`, `sb3`, `sb3-random`, `torchrl`, `tianshou`: `notebooks/training/requirements.txt`, and the extras `cli` and
  `bench`;
* `rllib`: `notebooks/training/requirements-rllib.txt`, and the extras `cli` and `bench`;
* `train`, the trainer of `pbm train`: the extras `torch`, `cli` and `bench`;
* `pgx` with `--hex`, the program `examples/alphazero/train.py` of the checkout of Pgx that PGX names: the extra `cli`,
  and `pip install pgx==2.6.0 jax==0.10.2 dm-haiku==0.0.17 mctx==0.0.71 optax==0.2.8 omegaconf pydantic tqdm
  py-cpuinfo`.
"""

from __future__ import annotations

import importlib
import json
import os
import platform
import statistics
import subprocess
import sys
import time
import types
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, NamedTuple

import numpy as np
import typer
from pbm_agents import evaluate
from pbm_agents.arena import Tournament, play_tournament
from pbm_agents.arena.evaluation import wilson
from pbm_agents.arena.results import shares

from pbm_envs import Game
from pbm_envs.registry import parse_game

ROOT = Path(__file__).parent.parent
RESULTS = Path(__file__).parent / "results"
PICTURES = Path(__file__).parents[1] / "docs" / "pictures"
GAMES, TEST_SEED = 2000, 10_000
"""Games and seed of the final evaluation, whose openings no training has been evaluated on."""
OPENINGS = 50
SIMULATIONS, SECONDS = 100, 0.05
STEPS_OF_SB3, STAGES_OF_PPO = 240_000, 20
"""What a minute of processor time is enough for, about: some schedules depend on the length of the run."""
LINES = Path(__file__).with_suffix(".jsonl")
HEADING = "Libraries side by side"
"""The line of the results with which the second part begins."""
CHECK_GAMES, MATCH_GAMES, BAR = 200, 200, 0.95
"""Games against random play in each check of a library, games against the search at its end, and the bar of a check."""
FIRST_CHECK, NEXT_CHECK, OPENING_MOVES = 1.0, 1.25, 2
"""Seconds before the first check and between checks at least, and the ratio of their times."""
HEX = "hex"
TITLES = {"Chameleon 5x5": "chameleon", "Hex 5x5": HEX}
app = typer.Typer(add_completion=False)


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
    from matplotlib.figure import Figure

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
    from pbm_agents.learning.network import PolicyValueNetwork

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


@app.command()
def ppo(runs: Path = Path("runs"), seed: Annotated[list[int] | None, typer.Option()] = None, workers: int = 2) -> None:
    """Train PPO on all games, and write the first part of the results."""
    from machine import machine

    runs, seeds, lines = runs.absolute(), seed or [1, 2], []
    curves = train(runs, seeds, workers)
    plot(curves)

    def say(text: str) -> None:
        print(text, flush=True)
        lines.append(text)

    say(f"{machine()}, torch {version('torch')}\n")
    for task in TASKS:
        say("python " + " ".join(task.command(Path("runs"), seeds[0])))
    say("\nEach training in one thread. Seconds by the clock depend on what else the machine does.")
    say(f"The score is that at the end, in {GAMES} games against random play.\n")
    say(
        f"{'':18} {'seed':>4} {'plies':>10} {'processor s':>11} {'clock s':>7} {'bar':>5} {'after s':>8} "
        f"{'score':>8} {'':18} won-drawn-lost"
    )
    for (task, seed), curve in curves.items():
        say(summary(task, seed, curve, runs))
    say(f"\nThe network of seed {seeds[0]}, alone and in the search: {2 * OPENINGS} games each, from")
    say("openings of two random moves. Milliseconds a move.\n")
    say(f"{'':16} {'':40} {'against':26} {'score':24} {'':10} {'ms':>6} {'ms':>6}")
    for task in TASKS:
        network = task.folder(runs, seeds[0]) / "network.pt"
        for number, pair in enumerate(matches(task, network)):
            say(match(task, pair, network.parent / f"match{number}", network))
    write_results(ppo="\n".join(lines))


def write_results(ppo: str | None = None, libraries: str | None = None) -> None:
    """Write one of the two parts of the results; the other stays."""
    file = RESULTS / "learning_curves.txt"
    first, _, second = file.read_text(encoding="utf-8").partition(f"{HEADING}\n")
    first, second = (old.strip() if new is None else new for old, new in ((first, ppo), (second, libraries)))
    file.write_text(f"{first}\n\n{HEADING}\n\n{second}\n", encoding="utf-8")


class TimeIsUpError(Exception):
    """The processor time of a training is used up."""


class Run:
    """A training run that is checked against random play, outside its processor time, and stopped when that is used up.

    It takes the place of a program's `TrainingLog` and of its `evaluate`, which is given the policy.
    """

    def __init__(self, game: Game, seconds: float) -> None:
        self.game, self.seconds, self.plies = game, seconds, 0
        self.policy: Any = None
        self.curve: list[tuple[float, int, float]] = []
        """Processor seconds, plies, and the score against random play."""
        self.began = self.setup = time.process_time()

    @property
    def spent(self) -> float:
        return time.process_time() - self.began

    def start(self, *arguments: Any, **settings: Any) -> Run:
        """Start the clock. What was before is the set-up: imports, compilation, processes."""
        self.setup = self.began = time.process_time()
        return self

    def evaluate(self, policy: Any, *arguments: Any, **settings: Any) -> Any:
        """Evaluate the policy for the program, outside the processor time, and keep it."""
        self.policy, before = policy, time.process_time()
        results = evaluate(policy, *arguments, **settings)
        self.began += time.process_time() - before
        return results

    def advance(self, plies: int, **figures: float) -> None:
        """Count plies; check the policy if it is time, and stop the program if its time is up."""
        self.plies += plies
        last = self.curve[-1][0] if self.curve else 0.0
        over = self.spent >= self.seconds
        if over or (self.policy is not None and self.spent >= max(last + FIRST_CHECK, last * NEXT_CHECK)):
            self.check()
        if over:
            raise TimeIsUpError

    def check(self) -> None:
        """Add to the curve: play against random play."""
        spent, settings = self.spent, {"games": CHECK_GAMES, "seed": TEST_SEED, "opening_moves": OPENING_MOVES}
        score = self.evaluate(self.policy, self.game, **settings)["random"].score.value
        self.curve.append((round(spent, 2), self.plies, score))

    def record(self, *arguments: Any, **settings: Any) -> None: ...

    def say(self, text: str) -> None: ...

    def close(self) -> None: ...

    def __enter__(self) -> Run:
        return self

    def __exit__(self, *error: object) -> None: ...


def program(run: Run, name: str) -> Any:
    """Return a program of `notebooks/training` whose log and evaluations are those of the run."""
    sys.path.insert(0, str(ROOT))
    found: Any = importlib.import_module(f"notebooks.training.{name}")
    found.TrainingLog, found.evaluate = run.start, run.evaluate
    return found


def own_ppo(run: Run, folder: Path, seed: int, minutes: float) -> None:
    options = [f"{option}={value}" for option, value in run.game.options.items()]
    stages = max(2, round(STAGES_OF_PPO * minutes))  # at their end the learning rate is 0
    settings = {"stages": stages, "updates": 3, "seed": seed, "threads": 1, "games": 20}
    program(run, "ppo").main(folder, run.game.name, options, **settings)


def sb3(run: Run, folder: Path, seed: int, minutes: float) -> None:
    steps = round(STEPS_OF_SB3 * minutes)  # in the course of which ten past selves become opponents
    program(run, "sb3_maskable_ppo").train(folder, run.game, "random", 64, steps, seed, 20, "hard", False)


def sb3_random(run: Run, folder: Path, seed: int, minutes: float) -> None:
    program(run, "sb3_maskable_ppo").train(folder, run.game, "random", 64, 10**9, seed, 20, "", False)


def torchrl(run: Run, folder: Path, seed: int, minutes: float) -> None:
    program(run, "torchrl_ppo").train(folder, run.game, 10**9, seed, 20)


def tianshou(run: Run, folder: Path, seed: int, minutes: float) -> None:
    program(run, "tianshou_dqn").train(folder, run.game, 10**9, seed, 20)


def rllib(run: Run, folder: Path, seed: int, minutes: float) -> None:
    import torch

    torch.set_num_threads(1)
    program(run, "rllib_ppo").train(folder, run.game, 0, 10**9, seed, 20)


def own_trainer(run: Run, folder: Path, seed: int, minutes: float) -> None:
    """Run the trainer of `pbm train` with its defaults, in this process."""
    from pbm_agents.learning import trainer
    from pbm_agents.learning.small_network import SmallNetwork

    def policy(game: Game, views: Any, rng: np.random.Generator) -> Any:
        """Return the most probable moves of the best network so far, without a search."""
        network, masks = SmallNetwork.load(folder / "network.npz"), game.legal_action_mask(views)
        priors, _ = network(game, views, masks, np.zeros(len(views), np.uint64), None)
        return np.where(masks, priors, -1).argmax(axis=1)

    run.policy = policy
    trainer.TrainingLog = run.start  # type: ignore[misc,assignment]
    trainer.train(run.game, folder, replace(trainer.default_training(run.game), seed=seed, rounds=1000))


class RunInRounds(Run):
    """A run whose log counts games, and is told after each round how many positions they had."""

    games = 0

    def advance(self, plies: int, **figures: float) -> None:
        self.games += plies

    def record(self, line: Any, step: int | None = None) -> None:
        self.plies = round(self.games * line["positions"] / line["games"])
        super().advance(0)


def pgx_alphazero(run: Run, folder: Path, seed: int, minutes: float) -> None:
    """Run the example of Pgx in the checkout `PGX`; its first iteration, which compiles, is before the clock.

    Its defaults are made for accelerators: network, batches and plies per iteration are smaller here.
    """
    os.environ |= {
        "JAX_PLATFORMS": "cpu",
        "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1",
    }
    import jax
    import jax.numpy as jnp
    import pgx
    from pgx.hex import Hex

    env, games, plies = Hex(size=run.game.options["size"]), 64, 32
    # In Pgx 2.6 the first position has 121 cells on boards of all sizes.
    first = env._game.init()._replace(board=jnp.zeros(env.size**2, jnp.int32))
    init, mask, env._game.init = env._init, env._game.legal_action_mask(first), lambda: first
    env._init = lambda key: init(key).replace(legal_action_mask=mask)
    pgx.make = lambda _: env
    pgx.make_baseline_model = lambda _: lambda observed: (jnp.zeros((len(observed), env.num_actions)), None)
    # JAX 0.10 has dropped it.
    jax.device_put_replicated = lambda tree, devices: jax.tree.map(lambda leaf: jnp.stack([leaf] * len(devices)), tree)

    def log(line: Any) -> None:
        if line["iteration"] == 1:
            run.start()
        elif line["iteration"] > 1:
            run.advance(games * plies)

    sys.modules["wandb"] = found = types.ModuleType("wandb")
    found.init, found.log = lambda **settings: None, log  # type: ignore[attr-defined]
    source = Path(os.environ["PGX"]).absolute() / "examples" / "alphazero" / "train.py"
    example = types.ModuleType("__main__")

    def policy(observations: Any, masks: Any) -> Any:
        """Return logits of cells; in Pgx the first player joins left and right, so that rows become columns."""
        count, size = len(observations), env.size
        planes = np.zeros((CHECK_GAMES, size, size, 4), bool)  # one shape, so that it is compiled once
        planes[:count, :, :, :3] = observations.swapaxes(1, 2)
        logits = apply(jax.tree.map(lambda leaf: leaf[0], example.model), planes)
        return np.asarray(logits)[:count, : size**2].reshape(count, size, size).swapaxes(1, 2).reshape(count, -1)

    apply = jax.jit(lambda model, planes: example.forward.apply(*model, planes, is_eval=True)[0][0])
    run.policy = policy
    settings = {"seed": seed, "num_channels": 32, "num_layers": 2, "selfplay_batch_size": games}
    settings |= {"max_num_steps": plies, "training_batch_size": 256, "eval_interval": 10**9, "max_num_iters": 10**9}
    sys.argv = ["train.py", "env_id=hex", *(f"{name}={value}" for name, value in settings.items())]
    sys.path.insert(0, str(source.parent))
    os.chdir(folder)
    sys.modules["__main__"] = example  # where it pickles its settings from
    exec(compile(source.read_text(encoding="utf-8"), str(source), "exec"), example.__dict__)


class Row(NamedTuple):
    """A library's row of the second part."""

    title: str
    learns: str
    train: Callable[..., None]
    """Called with a run, the folder, the seed and the minutes; the clock of the run stops it."""
    packages: tuple[str, ...]
    run: type[Run] = Run
    games: tuple[str, ...] = ("chameleon", HEX)
    """Names of the games that it can learn here."""


TORCH = ("torch",)
ROWS = {
    "ppo": Row("ppo.py (here)", "self-play", own_ppo, TORCH),
    "sb3": Row("MaskablePPO", "past selves", sb3, (*TORCH, "sb3-contrib")),
    "sb3-random": Row("MaskablePPO", "random play", sb3_random, (*TORCH, "sb3-contrib")),
    "torchrl": Row("TorchRL PPO", "self-play", torchrl, (*TORCH, "torchrl")),
    "tianshou": Row("Tianshou DQN", "self-play", tianshou, (*TORCH, "tianshou")),
    "rllib": Row("RLlib PPO", "self-play", rllib, (*TORCH, "ray")),
    "train": Row("pbm train (here)", "search", own_trainer, TORCH, RunInRounds, ("chameleon",)),
    "pgx": Row("Pgx AlphaZero", "search", pgx_alphazero, ("pgx", "jax", "mctx"), games=(HEX,)),
}


@app.command()
def library(
    name: Annotated[str, typer.Argument(help=", ".join(ROWS))],
    seed: Annotated[list[int] | None, typer.Option()] = None,
    minutes: float = 1.0,
    on_hex: Annotated[bool, typer.Option("--hex", help="Train on Hex 5x5.")] = False,
    out: Path = LINES,
) -> None:
    """Train with a library for each seed (1 to 5 by default) that has no line yet, each in a process of its own."""
    if name not in ROWS:
        raise typer.BadParameter(f"{name!r}: expected one of {', '.join(ROWS)}")
    game, known = HEX if on_hex else "chameleon", ROWS[name].games
    if game not in known:
        raise typer.BadParameter(f"{name} on {game}: expected {name} on {' or '.join(known)}")
    seeds = seed or [1, 2, 3, 4, 5]
    for one in seeds:
        if not any(done(line, name, one, minutes, on_hex) for line in read_lines(out)):
            if len(seeds) == 1:
                learn(name, one, minutes, on_hex, out)
            else:
                options = ["--seed", str(one), "--minutes", str(minutes), *["--hex"] * on_hex, "--out", str(out)]
                subprocess.run([sys.executable, __file__, "library", name, *options], check=True)


def done(line: dict[str, Any], name: str, seed: int, minutes: float, on_hex: bool) -> bool:
    """Return whether the line is that of a run."""
    return (line["library"], line["seed"], line["minutes"], line["game"] == HEX) == (name, seed, minutes, on_hex)


def learn(name: str, seed: int, minutes: float, on_hex: bool, out: Path) -> None:
    """Train once, play the match, and append the line."""
    from machine import machine

    sys.path.insert(0, str(ROOT / "docs" / "guides"))
    game = parse_game("hex:Hex" if on_hex else "chameleon", ["size=5"])
    row, opponent = ROWS[name], f"mcts:simulations={SIMULATIONS}"
    evaluate("random", game, ["random", opponent], games=2)  # compiles
    run = row.run(game, 60 * minutes)
    with TemporaryDirectory() as folder:
        try:
            row.train(run, Path(folder), seed, minutes)
            run.check()  # it ended by itself
        except TimeIsUpError:
            pass
        spent, match = run.curve[-1][0], {"games": MATCH_GAMES, "seed": TEST_SEED, "opening_moves": OPENING_MOVES}
        scores = {"alone": evaluate(run.policy, game, [opponent], **match)[opponent].score.value}
        if (network := Path(folder) / "network.npz").exists():
            agent = f"{opponent},network={network}"
            scores["in search"] = evaluate(agent, game, [opponent], **match)[opponent].score.value
    line = {"library": name, "game": game.name, "seed": seed, "minutes": minutes, "seconds": spent}
    line |= {"set-up": round(run.setup, 2), "plies": run.plies} | scores | {"curve": run.curve}
    line["machine"] = machine().splitlines()[0]
    line["versions"] = {"python": platform.python_version()} | {each: version(each) for each in row.packages}
    with open(out, "a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")
    print(name, seed, run.curve[-1], scores, flush=True)


def read_lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()] if file.exists() else []


@app.command()
def draw() -> None:
    """Write the second part of the results: a table of all finished lines."""
    lines = read_lines(LINES)
    versions = sorted({f"{name} {text}" for line in lines for name, text in line["versions"].items()})
    found = [
        *sorted({line["machine"] for line in lines}),
        ", ".join(versions),
        "",
        "Minutes, seconds and plies per second are of processor time, on one thread beside other work, without set-up,",
        "checks and matches. Set-up: processor seconds of imports and compilation (medians, as plies per second).",
        "Plies: those learned from; where opponents are past selves or random play, the learner's own.",
        f"Random: the score of the last check, {CHECK_GAMES} games against random play. To {BAR}: seconds and plies",
        "to the first check with this score in the median seed. All games from openings of two random moves.",
        f"Alone: the most probable move against mcts:simulations={SIMULATIONS}, {MATCH_GAMES} games per seed: mean,",
        "and the range of several seeds. In search: the network in a search of as many simulations, likewise.",
    ]
    head = (
        f"{'':18}{'learns from':13}{'minutes':>8}{'seeds':>6}{'set-up':>8}{'plies/s':>9}{'plies':>9}{'random':>8}"
        f"{'alone':>8}{f'to {BAR}, s':>12}{'plies':>9}  {'range of alone':16}in search"
    )
    for title, of_game in TITLES.items():
        found += ["", title, head]
        for minutes in sorted({line["minutes"] for line in lines}):
            for name, row in ROWS.items():
                row_of = name, minutes, of_game
                if of := [line for line in lines if (line["library"], line["minutes"], line["game"]) == row_of]:
                    found.append(f"{row.title:18}{row.learns:13}{minutes:8g}{figures(of)}")
    write_results(libraries="\n".join(found))
    print("\n".join(found))


def figures(lines: list[dict[str, Any]]) -> str:
    """Return the figures of a row: medians over its seeds, and means of scores."""
    setup, plies = (statistics.median(line[name] for line in lines) for name in ("set-up", "plies"))
    speed = statistics.median(line["plies"] / line["seconds"] for line in lines)
    random = statistics.mean(line["curve"][-1][2] for line in lines)
    alone, search = ([line[name] for line in lines if name in line] for name in ("alone", "in search"))
    never = [float("inf"), 0, 0]
    reached = sorted(next((check for check in line["curve"] if check[2] >= BAR), never) for line in lines)
    second, after, _ = reached[len(lines) // 2]
    bar = f"{'never':>12}{'never':>9}" if second == never[0] else f"{second:12.0f}{after:9}"
    text = f"{len(lines):6}{setup:8.0f}{speed:9.0f}{plies:9.0f}{random:8.3f}{statistics.mean(alone):8.3f}{bar}"
    text += f"  {spread(alone):16}"
    return (text + (f"{statistics.mean(search):.3f} {spread(search)}" if search else "")).rstrip()


def spread(scores: list[float]) -> str:
    return f"{min(scores):.3f} to {max(scores):.3f}" if len(scores) > 1 else ""


if __name__ == "__main__":
    app()
