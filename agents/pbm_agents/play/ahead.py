"""What is compiled ahead: by `pbm warm-up`, and by a second process while somebody looks at the first position.

A step uses a part of a program once, which compiles the kernels that it needs. `pbm_envs.core.compiling` knows all
kernels of this process, so a test sees that the steps leave none out.
"""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import numpy as np

from pbm_envs import Game, make_game, sample_actions
from pbm_envs.envs.factories import make_raw_env, make_vector_env
from pbm_envs.toolbox import COMPILES, COMPILING, SEARCH, SHARED, Progress, rules_of

from ..common.workers import follow_parent, usable_cores
from ..search import PUCT, UCT, Gumbel, Search, Workspace
from .start import Message

SIMULATIONS = 8
"""Of a search that is made to compile it."""
GAMES = 16
"""Random games whose last positions a champion meets: in some, all that is hidden is known."""


def compile_rules(game: Game) -> None:
    """Use everything that environments call, and playouts and determinization."""
    rng = np.random.default_rng(0)
    env = make_raw_env(game)
    env.reset(seed=0)
    env.step(int(env.observe(env.agent_selection)["action_mask"].argmax()))
    envs = make_vector_env(game, 2, opponent="random")
    _, info = envs.reset(seed=0)
    envs.step(info["action_mask"].argmax(axis=1))
    states = game.init(2, rng)
    game.playout(game.determinize(game.view(states, states["to_move"]), rng), rng)


def compile_search(game: Game) -> None:
    """Search as agents do, twice from one workspace; and full states by plain UCT, as `pimc` does in Curio."""
    workspace = Workspace()
    for _ in range(2):
        _search(game, Search(simulations=SIMULATIONS, reuse=game.perfect_information), workspace)
    rng = np.random.default_rng(0)
    Search(simulations=SIMULATIONS, selection=UCT(rave=0)).run(game, game.init(2, rng), rng)


def compile_network_search(game: Game) -> None:
    """Search with priors, and noise in them; and with Gumbel numbers."""

    def uniform(observations: Any, masks: Any) -> tuple[Any, Any]:
        return masks / masks.sum(axis=1, keepdims=True), np.zeros((len(masks), game.num_players))

    _search(game, Search(simulations=SIMULATIONS, evaluator=uniform, selection=PUCT(noise=0.25)))
    _search(game, Search(simulations=SIMULATIONS, evaluator=uniform, selection=Gumbel(4)))


def _search(game: Game, search: Search, workspace: Workspace | None = None) -> None:
    rng = np.random.default_rng(0)
    states = game.init(2, rng)
    search.run(game, game.view(states, states["to_move"]), rng, workspace=workspace)


def compile_champion(game: Game) -> None:
    """Choose a champion's first move, and the last ones of random games, in some of which solvers help it."""
    from ..champions import ChampionAgent  # imported lazily: a page begins without them

    agent, rng = ChampionAgent(simulations=SIMULATIONS), np.random.default_rng(0)
    states = game.init(GAMES, rng)
    agent.act(game, game.view(states[:1], states[:1]["to_move"]), rng)
    last = states.copy()
    while len(rows := np.flatnonzero(~states["done"])):
        last[rows] = some = states[rows]
        game.step(some, sample_actions(game.legal_action_mask(some), rng))
        states[rows] = some
    agent.act(game, game.view(last, last["to_move"]), rng)


def compile_other_options(game: Game) -> None:
    """Take the configurations of the game's class, which between them use every rule."""
    for options in game.configurations:
        other = type(game)(**options)
        compile_rules(other)
        compile_champion(other)


def compile_analysis(game: Game) -> None:
    """Compute what `pbm sprt` and `pbm exploit` do, on the smallest game that they measure."""
    from .. import equilibrium
    from ..arena.likelihood import log_likelihood_ratio, normalized_ratio

    log_likelihood_ratio([1, 2], [0, 1], 0.5, 0.6)
    normalized_ratio([1, 2], [0, 1], 0, 0.1)
    if not game.perfect_information:
        tree = equilibrium.PublicTree.build(make_game("curio-ladder-1"))
        equilibrium.MirrorDescent(tree).run(1)
        equilibrium.exploitability(tree, equilibrium.solve(tree, iterations=1))


STEPS: dict[str, Callable[[Game], Any]] = {
    "rules": compile_rules,
    "search": compile_search,
    "network search": compile_network_search,
    "champion": compile_champion,
    "other options": compile_other_options,
    "analysis": compile_analysis,
}
"""What is compiled, for all games one step after the other: each finds what those before it have compiled."""


@contextmanager
def compiling_ahead(games: Sequence[Game]) -> Iterator[None]:
    """Take the steps for these games in a second process once something is compiled within the `with` block.

    This process finds what that one has compiled; what both need at a time one of them compiles. Where nothing has to
    be compiled, or there is one processor, no process is started. It says nothing, whatever happens in it, and ends
    with the block, or with this process, however that ends.
    """
    processes: list[Any] = []

    def hear(_: Progress) -> None:
        COMPILING.listeners.discard(hear)
        if not processes:
            process = multiprocessing.get_context("spawn").Process(target=_work, args=(games,), daemon=True)
            with suppress(Exception):  # it would only have been faster
                process.start()
                processes.append(process)

    if COMPILES and usable_cores() > 1:
        COMPILING.listeners.add(hear)
    try:
        yield
    finally:
        COMPILING.listeners.discard(hear)
        for process in processes:
            process.kill()
            process.join()


def _work(games: Sequence[Game]) -> None:
    """Take the steps in silence; one that fails is left."""
    follow_parent()
    silence = os.open(os.devnull, os.O_RDWR)
    for descriptor in (1, 2):
        os.dup2(silence, descriptor)
    for step in (compile_search, *STEPS.values()):  # the search first: the first process compiles the rules
        for game in games:
            with suppress(Exception):
                step(game)


def how_far(game: str, progress: Progress) -> Message:
    """Return the message that tells somebody who waits for this game how far compiling is."""
    what = "the search" if progress.part == SEARCH else "the rules"
    compiled, expected = COMPILING.count({rules_of(game), SHARED, SEARCH, progress.part})
    text = f"Preparing {what} on this machine, once: {compiled} of {expected}"
    return {"type": "preparing", "text": text, "compiled": compiled, "expected": expected, "running": progress.running}
