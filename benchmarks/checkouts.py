"""Compare the speed of two checkouts in random play and searches, in turns.

    python benchmarks/checkouts.py main .                # folders, or revisions of this repository
    python benchmarks/checkouts.py ../before . --only Curio

Each checkout runs in its own process, on one core. They take turns, so that changes in the machine's speed affect both.
The table has the medians over the rounds, by processor time, and the median of the rounds' ratios.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import typer
from machine import machine

ROOT = Path(__file__).parents[1]
SIMULATIONS, SEED, MANY = 2000, 2008, 16
"""The total simulations over all positions of a case, the seed, and the games of a case with many."""
BATCH, PLIES = 1024, 20
SECONDS = 0.2
"""Minimum processor time of one turn of a case."""


class Case(NamedTuple):
    """A measurement: random `games`, `plies`, or a search with these settings."""

    game: str
    options: dict[str, Any]
    batch: int
    work: str | dict[str, Any]


def evaluate(observations: Any, masks: Any) -> tuple[Any, Any]:
    """Return equal priors for all legal actions, and values of 0."""
    return masks, np.zeros(len(masks))


GAMES = {
    "Chameleon 11x11": ("chameleon", {"size": 11}),
    "Curio": ("curio", {}),
    "Trinim 5": ("trinim", {"size": 5}),
    "Unlur 6": ("unlur", {"radius": 6}),
}
CASES = {
    **{f"{name}, random games": Case(*game, BATCH, "games") for name, game in GAMES.items()},
    **{f"{name}, plies, {BATCH} games": Case(*game, BATCH, "plies") for name, game in GAMES.items()},
    **{f"{name}, plies, one game": Case(*game, 1, "plies") for name, game in GAMES.items()},
    **{f"{name}, search": Case(*game, 1, {}) for name, game in GAMES.items()},
    **{f"{name}, search, {MANY} games": Case(*game, MANY, {}) for name, game in GAMES.items()},
    "Chameleon 11x11, search, plain": Case("chameleon", {"size": 11}, 1, {"rave": 0, "solver": False}),
    "Chameleon 5x5, search, PUCT": Case(
        "chameleon", {"size": 5}, 1, {"evaluator": evaluate, "parallel_simulations": 8}
    ),
    "Unlur 6, search, 16 at once": Case("unlur", {"radius": 6}, 1, {"parallel_simulations": 16}),
}


def prepared(case: Case) -> Callable[[], int]:
    """Return a function that does the work of a case and returns the amount of work."""
    from pbm_envs import make_game, sample_actions

    game, rng = make_game(case.game, **case.options), np.random.default_rng(SEED)
    if case.work == "games":

        def play_games() -> int:
            game.playout(game.init(case.batch, rng), rng)
            return case.batch

        return play_games
    states = game.init(case.batch, np.random.default_rng(SEED))
    if case.work == "plies":

        def play_plies() -> int:
            for _ in range(PLIES):
                views = game.view(states, states["to_move"])
                game.observe(views)
                game.step(states, sample_actions(game.legal_action_mask(views), rng))
                if len(over := np.flatnonzero(states["done"])):
                    states[over] = game.init(len(over), rng)
            return PLIES * case.batch

        return play_plies
    from pbm_agents.search import Workspace, make_search

    search, workspace = make_search(simulations=SIMULATIONS // case.batch, **case.work), Workspace()
    views = game.view(states, states["to_move"])

    def run_search() -> int:
        search.run(game, views, np.random.default_rng(SEED), workspace=workspace)
        return SIMULATIONS

    return run_search


def serve() -> None:
    """Run the case named on each input line and print its work per second; runs in the process of a checkout."""
    warnings.simplefilter("ignore")
    works: dict[str, Callable[[], int]] = {}
    for line in sys.stdin:
        name = line.strip()
        if name not in works:
            works[name] = prepared(CASES[name])
            works[name]()  # compiles
        amount, start = 0, time.process_time()
        while not amount or time.process_time() - start < SECONDS:
            amount += works[name]()
        print(amount / (time.process_time() - start), flush=True)


@contextmanager
def checkout_of(name: str) -> Iterator[Path]:
    """Yield a folder with a checkout: `name` itself, or a worktree of that revision of this repository."""
    if (Path(name) / "src" / "pbm_envs").is_dir():
        yield Path(name).resolve()
        return
    git = ["git", "-C", str(ROOT), "worktree"]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "checkout"
        if subprocess.run([*git, "add", "--detach", str(path), name], capture_output=True, check=False).returncode:
            typer.echo(f"{name!r} is neither a checkout of pbm_envs nor one of its git revisions", err=True)
            raise typer.Exit(2)
        try:
            yield path
        finally:
            subprocess.run([*git, "remove", "--force", str(path)], capture_output=True, check=False)


def start_process(checkout: Path, script: str = __file__, *more: str) -> subprocess.Popen[str]:
    """Start `script --serve MORE` with the packages of a checkout; it answers each input line with one line."""
    paths = [*(str(checkout / folder) for folder in ("src", "agents")), str(Path(__file__).parent)]
    return subprocess.Popen(
        [sys.executable, "-W", "ignore", script, "--serve", *more],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(paths)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )


def ask(process: subprocess.Popen[str], line: str) -> float:
    """Send a line to the process and return the number that it answers."""
    assert process.stdin is not None
    assert process.stdout is not None
    print(line, file=process.stdin, flush=True)
    return float(process.stdout.readline())


def main(
    before: Annotated[str, typer.Argument(help="A checkout's folder, or a git revision.")],
    after: Annotated[str, typer.Argument(help="A checkout's folder, or a git revision.")] = ".",
    only: Annotated[str, typer.Option(help="Only cases whose names begin so.")] = "",
    rounds: Annotated[int, typer.Option(min=3)] = 15,
) -> None:
    """Measure all cases, and print a table."""
    with ExitStack() as stack:
        processes = [start_process(stack.enter_context(checkout_of(name))) for name in (before, after)]
        print(f"{machine()}; {rounds} rounds; before: {before}, after: {after}")
        print(f"\n{'':40} {'before':>12} {'after':>12} {'after / before':>15} {'quartiles':>15}")
        for name in filter(lambda name: name.startswith(only), CASES):
            speeds = []
            for turn in range(rounds):
                pair = [ask(process, name) for process in (processes if turn % 2 else processes[::-1])]
                speeds.append(pair if turn % 2 else pair[::-1])
            low, middle, high = statistics.quantiles([b / a for a, b in speeds], n=4)
            a, b = (statistics.median(column) for column in zip(*speeds, strict=True))
            print(f"{name:40} {a:12,.0f} {b:12,.0f} {middle:15.3f} {f'{low:.3f} .. {high:.3f}':>15}", flush=True)
        for process in processes:
            process.communicate()


if __name__ == "__main__":
    if sys.argv[1:] == ["--serve"]:
        serve()
    else:
        typer.run(main)
