"""`pbm warm-up`: compile ahead what the first use would compile."""

from __future__ import annotations

import logging
import multiprocessing
from collections.abc import Callable
from time import perf_counter
from typing import Annotated, Any

import numpy as np
import typer

from pbm_envs import Curio, Game, registered_games, sample_actions
from pbm_envs.core.kernel_files import cache_directory
from pbm_envs.envs.factories import make_raw_env, make_vector_env
from pbm_envs.registry import parse_game

from ..arena.processes import usable_cores
from ..champions import ChampionAgent
from ..exact import CurioSolver
from ..learning.work import ProcessCrew
from ..search import Search
from .terminal import table

EXAMPLES = """
  pbm warm-up                          # every game at its usual size
  pbm warm-up chameleon:size=7 curio   # these
  pbm warm-up --processes 1            # one step after the other
"""


MOST_PROCESSES = 8
"""Unless more are asked for: the longest step takes as long as a fourth of all together, and processes need memory."""


def warm_up(
    games: Annotated[list[str] | None, typer.Argument(metavar="[GAME[:OPTION=VALUE,...]]...")] = None,
    processes: Annotated[
        int | None,
        typer.Option(min=1, help=f"Processes that compile; one a core, up to {MOST_PROCESSES}, if left out."),
    ] = None,
) -> None:
    """Compile the rules, the search and the champions of games ahead.

    The first use of a game compiles its rules, for boards of all sizes, the first search the search, once for all
    games, and a champion's first move what only it uses. What is compiled is kept on this machine, so that later first
    uses take a second. Several processes do these steps side by side; a step that waits for what another one compiles
    takes as long.
    """
    rules = [parse_game(text) for text in games or registered_games()]
    try:
        from tqdm.auto import tqdm
    except ImportError:
        raise ImportError("the bar needs tqdm: pip install 'pbm-envs[cli]'") from None
    jobs = {(number, step): (game, step) for step in STEPS for number, game in enumerate(rules)}
    if cache_directory() is None:
        processes = 1  # they could not share what they compile
    seconds = {}
    workers = min(len(jobs), processes or min(usable_cores(), MOST_PROCESSES))
    try:
        with ProcessCrew(workers) as crew, tqdm(total=len(jobs), unit="step") as bar:
            done = crew.run(_timed, dict(jobs))
            while jobs:
                game, step = next(iter(jobs.values()))
                bar.set_description(f"{game.name}: {step}")  # of those that are being done
                key, taken = next(done)
                seconds[key] = f"{taken:.1f} s"
                del jobs[key]
                bar.update()
    except BaseException:
        for process in multiprocessing.active_children():
            process.terminate()  # else they would end their steps first
        raise
    rows = [[repr(game), *(seconds[number, step] for step in STEPS)] for number, game in enumerate(rules)]
    table(["", *STEPS], rows, numbers=list(STEPS))
    print(f"kept in {cache_directory() or 'memory only: no cache folder can be written'}")


def _timed(job: tuple[Game, str]) -> float:
    """Do a step; the seconds that it took by the clock."""
    if multiprocessing.parent_process() is not None:
        logging.getLogger("pbm_envs").setLevel(logging.ERROR)  # the bar says what is compiled
    game, step = job
    began = perf_counter()
    STEPS[step](game)
    return perf_counter() - began


def _rules(game: Game) -> None:
    """Everything that the environments call, and playouts and determinization."""
    rng = np.random.default_rng(0)
    env = make_raw_env(game)
    env.reset(seed=0)
    env.step(int(env.observe(env.agent_selection)["action_mask"].argmax()))
    envs = make_vector_env(game, 2, opponent="random")
    _, info = envs.reset(seed=0)
    envs.step(info["action_mask"].argmax(axis=1))
    states = game.init(2, rng)
    game.playout(game.determinize(game.view(states, states["to_move"]), rng), rng)


def _search(game: Game) -> None:
    _run(game, Search(simulations=8))


def _network_search(game: Game) -> None:
    """With priors, and noise in them; and with Gumbel numbers."""

    def uniform(observations: Any, masks: Any) -> tuple[Any, Any]:
        return masks / masks.sum(axis=1, keepdims=True), np.zeros((len(masks), game.num_players))

    _run(game, Search(simulations=8, evaluator=uniform, noise=0.25))
    _run(game, Search(simulations=8, evaluator=uniform, gumbel=4))


def _champion(game: Game) -> None:
    """Its first move, and the last of a random game, where solvers help it."""
    agent, rng = ChampionAgent(simulations=8), np.random.default_rng(0)
    states = game.init(1, rng)
    agent.act(game, game.view(states, states["to_move"]), rng)
    last = states
    while not states["done"][0]:
        last = states.copy()
        game.step(states, sample_actions(game.legal_action_mask(states), rng))
    agent.act(game, game.view(last, last["to_move"]), rng)
    if isinstance(game, Curio):  # there not everything may be known
        CurioSolver(game).winning_action(last, nodes=1)


def _run(game: Game, search: Search) -> None:
    rng = np.random.default_rng(0)
    states = game.init(2, rng)
    search.run(game, game.view(states, states["to_move"]), rng)


STEPS: dict[str, Callable[[Game], Any]] = {
    "rules": _rules,
    "search": _search,
    "network search": _network_search,
    "champion": _champion,
}
"""What is compiled, for all games one step after the other: each finds what those before it have compiled."""
