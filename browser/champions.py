"""What `game.mjs` and `champion.mjs` have to know about the search and the champion of a board."""

from __future__ import annotations

from typing import Any

import numpy as np
from boards import PATTERNS
from kernels import Input, Module  # sets what Numba compiles for, before Numba is imported
from pbm_agents.champions import ChampionAgent, LinesAgent, agent, lines
from pbm_agents.champions import curio as curio_champion
from pbm_agents.champions.position import ALLOWED, LOOKED_AT, MOST_DEPTH
from pbm_agents.exact import (
    ConnectionSolver,
    CurioSolver,
    ExactAgent,
    KnownWorldAgent,
    VerifiedSearchAgent,
    connection,
    connection_kernels,
    trinim_kernels,
)
from pbm_agents.exact import agent as exact_agent
from pbm_agents.exact import curio as curio_solver
from pbm_agents.search import Search, Workspace, waves
from pbm_agents.search.search import Run, first_tree
from pbm_agents.search.tree import EDGE, NODE, add_roots

from pbm_envs import Game

SIMULATIONS = (100, 200)
"""Two budgets, from which the lengths of a search's arrays for any budget follow."""


def search_of(module: Module, game: Game, search: Search, *, known: bool = False) -> dict[str, Any]:
    """Return the arrays of a search of one position, and the calls of kernels that make its simulations.

    Args:
        module: The module of the kernels.
        game: The game.
        search: The settings of the search.
        known: Whether full states are searched, as if everything in them were known.
    """
    rng = np.random.default_rng(0)
    states = game.init(1, rng)
    views = states.copy() if known else game.view(states, states["to_move"])
    hidden = not known and not game.perfect_information
    tables: list[Any] = []
    real, waves.table_of_calls = waves.table_of_calls, lambda *given: tables.append(given) or real(*given)
    try:
        simulators = [
            Run(Search(**{**vars(search), "simulations": simulations}), game, hidden, Workspace()).simulator(
                first_tree(views)
            )
            for simulations in SIMULATIONS
        ]
    finally:
        waves.table_of_calls = real
    simulator, memory = simulators[0], simulators[0].memory
    small, large = ([*each.memory.buffers, *each.memory.tree] for each in simulators)
    names = [*memory.buffers._fields, *(f"tree.{name}" for name in memory.tree._fields)]
    names = [name.removeprefix("tree.") if name != "tree.states" else "node_states" for name in names]
    names[names.index("seeds")] = "world_seeds"
    names[names.index("priors")] = "leaf_priors"
    arrays = dict(zip(names, small, strict=True))
    trees, root_masks = np.zeros(1, np.int64), simulator.root_masks
    roots = simulator.roots.view(np.uint8).reshape(1, -1)
    simulator.simulate(trees, 1)  # compiles
    inputs = arrays | {"calls": simulator.stages, "trees": trees, "views": simulator.views, "root_masks": root_masks}
    drawn = Input("waves", 1), trees, False, simulator.views, root_masks, simulator.arguments
    described: dict[str, Any] = {
        "arrays": {
            name: [
                one.itemsize,
                [(2 * b - a, (a - b) // SIMULATIONS[0]) for a, b in zip(two.shape, one.shape, strict=True)],
            ]
            for (name, one), two in zip(arrays.items(), large, strict=True)
        },
        "settings": module.constant(memory.tree.settings.view(np.uint8)),
        "table": [
            [module.function(*kernel), str(row[1])] for kernel, row in zip(tables[0], simulator.stages, strict=True)
        ],
        "roots": module.call(add_roots, (memory.tree, roots, root_masks), inputs | {"roots": roots}),
        "waves": module.call(waves.make_waves, (simulator.stages, *drawn, *small), inputs),
        "node": {name: NODE.fields[name][1] for name in NODE.names},
        "edge": [EDGE.itemsize, *(EDGE.fields[name][1] for name in EDGE.names)],
    }
    rule: Any = simulator.rule
    if getattr(rule, "priors", None) is not None:
        fill, arguments = rule.priors.kernel(game)
        out = np.zeros((1, game.num_actions), np.float32)
        given = {"states": simulator.roots, "out": out}
        described["priors"] = [module.call(fill, (simulator.roots, *arguments, out), given)]
    return described


def champion_of(module: Module, game: Game) -> dict[str, Any]:
    """Return the kind of player that the champion of a game is, with its constants, memory and calls of kernels."""
    player: Any = ChampionAgent(simulations=1).player(game)
    search = "champion" if game.name in PATTERNS else "plain"
    if isinstance(player, LinesAgent):
        return {"kind": "lines", **_lines(module, player)}
    if isinstance(player, ExactAgent):
        return {"kind": "exact", "search": search, **_exact(module, game, player)}
    if isinstance(player, VerifiedSearchAgent):
        return {"kind": "verified", "search": search, **_verified(module, game)}
    if isinstance(player, KnownWorldAgent):
        return {"kind": "known", "search": search, "known": "known", **_known(module, game, player)}
    return {"kind": "search", "search": search}


def _memory(**arrays: Any) -> dict[str, Any]:
    """Return the lengths of arrays that JavaScript reserves: `{name: [itemsize, shape]}`."""
    return {name: [array.itemsize, array.shape] for name, array in arrays.items()}


def _lines(module: Module, player: LinesAgent) -> dict[str, Any]:
    position, values = curio_champion.empty_position(player.values.game), player.values.values
    states, moves, found = position.world.copy(), np.zeros((1, 2), np.int64), np.zeros(1)
    memory = position._asdict()
    memory["line_moves"] = memory.pop("moves")  # apart from the moves to value
    inputs = {**memory, "states": states, "moves": moves, "found": found}
    arguments = (states, position, values, moves, Input("depth", 1), Input("margin", 1.0), found)
    outcomes = np.zeros(1)
    return {
        "value_moves": module.call(lines.value_moves, arguments, inputs),
        "expected_outcomes": module.call(
            lines.expected_outcomes, (found, outcomes), {"values": found, "outcomes": outcomes}
        ),
        "memory": _memory(**memory),
        "worlds": player.worlds,
        "nodes_of_a_simulation": agent.NODES_OF_A_SIMULATION,
        "depths": [curio_champion.STANDING, *range(1, MOST_DEPTH)],
        "margin": curio_champion.MARGIN,
        "narrow_margin": curio_champion.NARROW_MARGIN,
        "drop": curio_champion.DROP,
        "unlimited": curio_champion.UNLIMITED,
        "allowed": ALLOWED,
        "looked_at": LOOKED_AT,
    }


def _exact(module: Module, game: Game, player: ExactAgent) -> dict[str, Any]:
    colours, following, left = np.ones(2, np.int64), np.full((2, 3), -1, np.int64), np.empty(4, np.uint8)
    two, three = np.empty((4, 2), np.uint8), np.empty((4, 3, 64), np.float32)
    inputs = {"colours": colours, "following": following, "left": left, "table": two}
    given, total = (colours, following), Input("total", 0)
    described = {
        "solve_two": module.call(
            trinim_kernels.solve_two, (*given, total, trinim_kernels.EXCHANGED, left, two), inputs
        ),
        "neighbours": game.board.neighbours[:, :3].tolist(),
        "most_pieces": player.most_pieces,
        "equal": exact_agent.EQUAL,
    }
    if game.num_players > 2:
        arguments = (*given, total, float(player.solver.temperature), left, three)
        described["solve_three"] = module.call(trinim_kernels.solve_three, arguments, inputs | {"table": three})
    return described


def _verified(module: Module, game: Game) -> dict[str, Any]:
    solver = ConnectionSolver(game)
    problem = solver._problem
    memory = {"table": problem.table, "history": problem.history, "counters": problem.counters}
    sets = Input("first", 0), Input("second", 0), Input("role", 0)
    unlur = problem.rules == connection_kernels.UNLUR
    return {
        "solve": module.call(connection_kernels.solve, (*sets, *problem), memory),
        "memory": _memory(**memory),
        "bits": list(map(str, solver._bits.tolist())),
        "owner": "black" if unlur else "vert",
        "empty": connection.EMPTY[unlur],
        "nodes_for_empty": connection.NODES_FOR_EMPTY,
        "growth": connection.GROWTH,
        "nodes_of_a_simulation": connection.NODES_OF_A_SIMULATION,
        "shares": connection.SHARES_OF_AN_ACTION,
        "most_unknown": connection.MOST_UNKNOWN,
        "nodes": connection_kernels.NODES,
        "spent": connection_kernels.SPENT,
    }


def _known(module: Module, game: Game, player: KnownWorldAgent) -> dict[str, Any]:
    solver, states = CurioSolver(game), game.init(1, np.random.default_rng(0))
    duel = solver._duel(curio_solver.MOST_OWN_MOVES)
    memory = {name: array for name, array in duel._asdict().items() if name not in ("steps", "keys")}
    numbers = [Input(name, 0) for name in ("mover", "own_moves", "passed", "quiet")]
    return {
        "force_win": module.call(
            curio_solver.force_win, (states, duel, game.settings, *numbers), {**memory, "states": states}
        ),
        "memory": _memory(**memory),
        "worlds": curio_solver.WORLDS,
        "most_own_moves": curio_solver.MOST_OWN_MOVES,
        "nodes_of_a_simulation": curio_solver.NODES_OF_A_SIMULATION,
        "won": curio_solver.WON,
        "unknown": curio_solver.UNKNOWN,
        "nodes": curio_solver.NODES,
        "spent": curio_solver.SPENT,
    }
