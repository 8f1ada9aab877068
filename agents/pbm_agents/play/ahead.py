"""Compile kernels ahead, by `pbm warm-up` or by a second process while a person looks at the first position.

A step uses a part of a program once, which compiles the kernels that it needs. `pbm_envs.core.compiling` lists all
kernels of this process, so a test can check that the steps miss none.
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

SIMULATIONS = 8
"""Simulations of a search that is run only to compile it."""
GAMES = 16
"""Games whose worlds are drawn, in some by Curio's Markov chain; random games whose last positions a champion plays, in
some of which nothing hidden is left."""


def compile_rules(game: Game) -> None:
    """Call everything that environments use, and playouts and determinization."""
    rng = np.random.default_rng(0)
    env = make_raw_env(game)
    env.reset(seed=0)
    env.step(int(env.observe(env.agent_selection)["action_mask"].argmax()))
    envs = make_vector_env(game, 2, opponent="random")
    _, info = envs.reset(seed=0)
    envs.step(info["action_mask"].argmax(axis=1))
    states = game.init(GAMES, rng)
    game.playout(game.determinize(game.view(states, states["to_move"]), rng), rng)


def compile_search(game: Game) -> None:
    """Search as agents do, twice with one workspace, and search full states by plain UCT, as `pimc` does in Curio."""
    workspace = Workspace()
    for _ in range(2):
        _search(game, Search(simulations=SIMULATIONS, reuse=game.perfect_information), workspace)
    rng = np.random.default_rng(0)
    Search(simulations=SIMULATIONS, selection=UCT(rave=0)).run(game, game.init(2, rng), rng)


def compile_network_search(game: Game) -> None:
    """Search with priors and root noise, and with Gumbel noise."""

    def uniform(observations: Any, masks: Any) -> tuple[Any, Any]:
        return masks / masks.sum(axis=1, keepdims=True), np.zeros((len(masks), game.num_players))

    _search(game, Search(simulations=SIMULATIONS, evaluator=uniform, selection=PUCT(noise=0.25)))
    _search(game, Search(simulations=SIMULATIONS, evaluator=uniform, selection=Gumbel(4)))


def compile_small_network(game: Game) -> None:
    """Search with a small network, and with Gumbel noise."""
    from ..learning.small_network import SmallNetwork, zero_weights  # imported lazily: a page starts without it

    network = SmallNetwork(game, zero_weights(game, 8, 8))
    for selection in (PUCT(), Gumbel(4)):
        _search(game, Search(simulations=SIMULATIONS, evaluator=network, selection=selection))


def _search(game: Game, search: Search, workspace: Workspace | None = None) -> None:
    rng = np.random.default_rng(0)
    states = game.init(2, rng)
    search.run(game, game.view(states, states["to_move"]), rng, workspace=workspace)


def compile_champion(game: Game) -> None:
    """Choose a champion's first move, and the last moves of random games, some of which use its solvers."""
    from ..champions import ChampionAgent  # imported lazily: a page starts without them

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
    """Compile the rules of the configurations of the game's class, which together use every rule."""
    for options in game.configurations:
        other = type(game)(**options)
        compile_rules(other)
        compile_champion(other)


def compile_analysis(game: Game) -> None:
    """Run the computations of `pbm sprt` and `pbm exploit` on the smallest game that they measure."""
    from .. import equilibrium
    from ..arena.likelihood import log_likelihood_ratio, normalized_ratio

    log_likelihood_ratio([1, 2], [0, 1], 0.5, 0.6)
    normalized_ratio([1, 2], [0, 1], 0, 0.1)
    if not game.perfect_information:
        tree = equilibrium.PublicTree.build(make_game("curio-ladder-1"))
        equilibrium.MirrorDescent(tree).run(1)
        policy = equilibrium.solve(tree, iterations=1)
        equilibrium.exploitability(tree, policy)
        equilibrium.expected_value(tree, policy)
        agent, rng = equilibrium.PolicyAgent(policy), np.random.default_rng(0)
        equilibrium.SearchResponder(tree.game, agent, simulations=8, endgame=0).run(2, rng)
        equilibrium.TableResponder(tree.game, agent, steps=8).run(2, rng)


STEPS: dict[str, Callable[[Game], Any]] = {
    "rules": compile_rules,
    "search": compile_search,
    "network search": compile_network_search,
    "champion": compile_champion,
    "small network": compile_small_network,
    "other options": compile_other_options,
    "analysis": compile_analysis,
}
"""The steps by name, each run for all games before the next; a step reuses the kernels compiled before it."""


@contextmanager
def compiling_ahead(games: Sequence[Game]) -> Iterator[None]:
    """Run the steps for these games in a second process once something is compiled within the `with` block.

    This process reuses the kernels compiled there; a kernel that both need at the same time is compiled by one of them.
    No process is started if nothing has to be compiled or there is only one processor. The second process prints
    nothing, even if it fails, and ends with the block or with this process, however that ends.
    """
    processes: list[Any] = []

    def hear(_: Progress) -> None:
        COMPILING.listeners.discard(hear)
        if not processes:
            process = multiprocessing.get_context("spawn").Process(target=_work, args=(games,), daemon=True)
            with suppress(Exception):  # compiling ahead is optional
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
    """Run the steps without output; skip a step that fails."""
    follow_parent()
    silence = os.open(os.devnull, os.O_RDWR)
    for descriptor in (1, 2):
        os.dup2(silence, descriptor)
    for step in (compile_search, *STEPS.values()):  # search first, since the first process compiles the rules
        for game in games:
            with suppress(Exception):
                step(game)


def how_far(game: str, progress: Progress) -> dict[str, Any]:
    """Return the message about the progress of compilation for a person who waits for this game."""
    what = "the search" if progress.part == SEARCH else "the rules"
    compiled, expected = COMPILING.count({rules_of(game), SHARED, SEARCH, progress.part})
    text = f"Preparing {what} on this machine, once" + (f": {compiled} of {expected}" if expected else "")
    return {"type": "preparing", "text": text, "compiled": compiled, "expected": expected, "running": progress.running}
