"""`pbm warm-up`: compile ahead the kernels that the first use would compile."""

from __future__ import annotations

import logging
import multiprocessing
from time import perf_counter
from typing import Annotated

import typer

from pbm_envs import Game, registered_games
from pbm_envs.registry import parse_game
from pbm_envs.toolbox import COMPILING, cache_directory

from .. import arena, champions, equilibrium, exact  # noqa: F401  (so that their kernels are known and counted)
from ..common.progress import progress_bar
from ..common.workers import ProcessPool, usable_cores
from ..learning import small_network  # noqa: F401
from ..play.ahead import STEPS
from .terminal import table

EXAMPLES = """
  pbm warm-up                          # every game at its usual size
  pbm warm-up chameleon:size=7 curio   # only these
  pbm warm-up --processes 1            # one step after the other
"""


MOST_PROCESSES = 8
"""The default limit on processes: the longest step takes a quarter of the total time, and processes need memory."""


def warm_up(
    games: Annotated[
        list[str] | None, typer.Argument(metavar="[GAME[:OPTION=VALUE,...]]...", help="Default: all.")
    ] = None,
    processes: Annotated[
        int | None,
        typer.Option(min=1, help=f"Processes that compile (default: one per core, at most {MOST_PROCESSES})."),
    ] = None,
) -> None:
    """Compile rules, search and champions in advance.

    Without this command, the first use of a game compiles its rules for boards of all sizes, the first search compiles
    the search for all games, and the first move of a champion compiles the champion. Compiled code is kept on this
    machine, so later processes start within a second. Several processes compile side by side. The time of a step
    includes the time that it waits for another process.
    """
    rules = [parse_game(text) for text in games or registered_games()]
    jobs = {(number, step): (game, step) for step in STEPS for number, game in enumerate(rules)}
    if cache_directory() is None:
        processes = 1  # they could not share what they compile
    seconds, missing = {}, len(COMPILING.missing())
    workers = min(len(jobs), processes or min(usable_cores(), MOST_PROCESSES))
    try:
        with ProcessPool(workers) as crew, progress_bar(total=len(jobs), unit="step") as bar:
            for key, taken in crew.run(_timed, jobs):
                seconds[key] = f"{taken:.1f} s"
                bar.set_description(f"{missing - len(COMPILING.missing())} of {missing} kernels")
                bar.update()
    except BaseException:
        for process in multiprocessing.active_children():
            process.terminate()  # otherwise they would finish their steps first
        raise
    rows = [[repr(game), *(seconds[number, step] for step in STEPS)] for number, game in enumerate(rules)]
    table(["", *STEPS], rows, numbers=list(STEPS))
    print(f"kept in {cache_directory() or 'memory only: no cache folder can be written'}")


def _timed(job: tuple[Game, str]) -> float:
    """Run a step and return its wall-clock seconds."""
    if multiprocessing.parent_process() is not None:
        logging.getLogger("pbm_envs").setLevel(logging.ERROR)  # the bar says what is compiled
    game, step = job
    began = perf_counter()
    STEPS[step](game)
    return perf_counter() - began
