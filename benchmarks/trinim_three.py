"""How much can be won among three in Trinim of size 5 from players who search? The best response to a model of them.

    python benchmarks/trinim_three.py [--games 100] [--simulations 10600] > benchmarks/results/trinim_three.txt

Games of three playout searches are recorded (10,600 simulations take about 0.05 s). A model is fitted to their replies:
the logit of a reply is a weighted sum of what it is worth to its player if all play well (as `TrinimSolver` has it, for
several temperatures) or at random, with weights by the number of pieces left. Then all positions of new games are gone
through from the empty board up: what does a player expect against two players of the model who always has the best
move, and what does one who chooses as the solver says? A share is 1 for a win, 1/3 for a draw.
"""

from __future__ import annotations

import argparse

import numpy as np
from machine import machine
from pbm_agents import Search
from pbm_agents.exact.trinim import TEMPERATURE, TrinimSolution
from pbm_agents.exact.trinim_kernels import moves_from, remaining_parities, solve_three
from pbm_agents.players.search_agents import SearchAgent
from scipy.optimize import minimize

from pbm_envs import Trinim
from pbm_envs.core.kernels import kernel

SEED, BOARDS, MOST = 2018, 8, 13
TEMPERATURES = 0.05, 0.1, 0.2, 1e6
"""The last one: at random."""
GROUPS = (1, 6), (7, 7), (8, 8), (9, 9), (10, 10), (11, 11), (12, 12), (13, 15)
"""Numbers of pieces that share weights."""


@kernel
def shares_against(colours, following, total, tables, weights, own, responds):
    """(2 ** k, 3, 64) expected returns of one player against two of the model, by how soon that player is to move.

    Args:
        colours: As in `solve_three`, like following and total.
        following: See there.
        total: See there.
        tables: (F, 2 ** k, 3, 64) of `solve_three`, for each temperature.
        weights: (pieces + 1, F) of the model.
        own: (2 ** k, 3, 64) what the player goes by, who takes the best move of it (the mean of equally good ones).
        responds: The player takes the best move against the model instead.
    """
    left = remaining_parities(colours)
    expected = np.empty_like(own)
    expected[0] = tables[0, 0]
    afters = np.empty(len(colours) * (1 + 3 * len(colours)), np.int64)
    for mask in range(1, len(left)):
        moves, pieces, key = moves_from(mask, following, afters), 0, total ^ left[mask]
        for cell in range(len(colours)):
            pieces += mask >> cell & 1
        logits = np.zeros((moves, 64), np.float32)
        for k in range(moves):
            for f in range(len(tables)):
                logits[k] += np.float32(weights[pieces, f]) * tables[f, afters[k], 2]
        for state in range(64):
            after = 8 * (state & 7) + (key ^ state >> 3 ^ state & 7)
            highest, best = np.float32(-1e9), np.float32(-1e9)
            for k in range(moves):
                highest = max(highest, logits[k, after])
                best = max(best, expected[afters[k], 2, after] if responds else own[afters[k], 2, after])
            likely, equal, mine, second, third = 0.0, 0, 0.0, 0.0, 0.0
            for k in range(moves):
                at = afters[k]
                if (expected[at, 2, after] if responds else own[at, 2, after]) >= best - np.float32(1e-6):
                    mine += expected[at, 2, after]
                    equal += 1
                weight = (1 + (highest - logits[k, after]) / 8) ** -8
                likely += weight
                second += weight * expected[at, 0, after]
                third += weight * expected[at, 1, after]
            expected[mask, 0, state] = mine / equal
            expected[mask, 1, state], expected[mask, 2, state] = second / likely, third / likely
    return expected


def problem(game, state):
    """What the kernels need of a position."""
    solution = TrinimSolution(game, state)
    place = np.full(game.board.size, -1)
    place[solution.cells] = np.arange(len(solution.cells))
    neighbours = game.board.neighbours[solution.cells, :3].astype(np.int64)
    following = np.where(neighbours < 0, -1, place[neighbours])
    return solution, (state["pieces"][solution.cells].astype(np.int64), following, solution.total)


def record(game, simulations, games, rng):
    """(positions, actions, games) of searches that play each other."""
    agent, states = SearchAgent(Search(simulations=simulations)), game.init(games, rng)
    found = []
    while not states["done"].all():
        rows = np.flatnonzero(~states["done"])
        some = states[rows]
        actions = agent.act(game, game.view(some, some["to_move"]), rng)
        found.append((some.copy(), actions, rows))
        game.step(some, actions)
        states[rows] = some
    decisive = int((states["returns"].max(axis=1) > 0).sum())
    return [np.concatenate(parts) for parts in zip(*found, strict=True)], decisive


def decisions(game, states, actions, games):
    """(pieces, chosen, (moves, F) values) of each recorded reply to a position of at most MOST pieces."""
    found = []
    for number in np.unique(games):
        rows = np.flatnonzero((games == number) & (states["left"] <= MOST) & (states["left"] > 1))
        if not len(rows):
            continue
        solution, arrays = problem(game, states[rows[0]])
        tables = [solve_three(*arrays, temperature) for temperature in TEMPERATURES]
        for row in rows:
            mover, legal = int(states["to_move"][row]), np.flatnonzero(game.legal_action_mask(states[row : row + 1])[0])
            after = np.repeat(states[row : row + 1], len(legal))
            game.step(after, legal)
            worth = np.empty((len(legal), len(tables)))
            for f, table in enumerate(tables):
                solution._table = table
                worth[:, f] = [s["returns"][mover] if s["done"] else solution.values(s)[mover] for s in after]
            found.append((int(states["left"][row]), int(np.flatnonzero(legal == actions[row])[0]), worth))
    return found


def fit(replies):
    """(16, F) weights, and the mean logarithm of the probabilities of the replies."""
    weights, total = np.zeros((16, len(TEMPERATURES))), 0.0
    for low, high in GROUPS:
        some = [(chosen, worth) for pieces, chosen, worth in replies if low <= pieces <= high]

        def loss(w, some=some):
            total = 0.0
            for chosen, worth in some:
                logits = worth @ w
                likely = (1 + (logits.max() - logits) / 8) ** -8
                total -= np.log(likely[chosen] / likely.sum())
            return total / len(some) + 1e-6 * (w @ w)

        found = minimize(loss, np.full(len(TEMPERATURES), 10.0), method="Powell", options={"maxiter": 3, "ftol": 1e-3})
        weights[low : high + 1], total = found.x, total - found.fun * len(some)
    return weights, total / len(replies)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", type=int, default=100)
    parser.add_argument("--simulations", type=int, default=10_600)
    arguments = parser.parse_args()
    game, rng = Trinim(num_players=3), np.random.default_rng(SEED)
    print(f"{machine()}; Trinim of size 5 with three players")
    played, decisive = record(game, arguments.simulations, arguments.games, rng)
    print(f"decisive games of three searches: {decisive} of {arguments.games}, {arguments.simulations} simulations")
    replies = decisions(game, *played)
    weights, likelihood = fit(replies)
    print(f"model: {len(replies)} replies, mean logarithm of their probabilities {likelihood:.3f}")
    shares = np.zeros((2, 3))
    for state in game.init(BOARDS, rng):
        _, arrays = problem(game, state)
        tables = np.stack([solve_three(*arrays, temperature) for temperature in TEMPERATURES])
        own = solve_three(*arrays, TEMPERATURE)
        for k in range(2):
            shares[k] += (1 + 2 * shares_against(*arrays, tables, weights, own, k == 0)[-1, :, 0]) / 3 / BOARDS
    for name, row in zip(("best response", "solver's moves"), shares, strict=True):
        seats = ", ".join(f"{share:.3f}" for share in row)
        print(f"expected share, {name}: {row.mean():.3f}; to move first, second, third {seats}")


if __name__ == "__main__":
    main()
