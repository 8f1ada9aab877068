"""Learn what positions of Curio are worth from the games of the ladders: how the pieces' weights foretell the outcome.

    python benchmarks/learn_material.py curio-5x5 agents/pbm_agents/champions/weights/curio-base-4.npz
    python benchmarks/learn_material.py curio-4x4 agents/pbm_agents/champions/weights/curio-base-3.npz

The games are those of `results/ladders` (see ladders.py) in which both players are at least `mcts:simulations=10`. A
game of twelve is held out; the mean squared error of its positions is printed, beside that of guessing the mean.
"""

from __future__ import annotations

import argparse
import gzip
import tempfile
from pathlib import Path

import numpy as np
from pbm_agents.champions.material import MaterialValues, features_of

from pbm_envs import Game
from pbm_envs.core.types import Array, Floats
from pbm_envs.records import read_records, replay

LADDERS = Path(__file__).parent / "results" / "ladders"
HELD_OUT, PASSES, RATE, DECAY = 12, 600, 0.05, 1e-4


def simulations_of(agent: str) -> int:
    return int(agent.partition("simulations=")[2].partition(",")[0] or 0)


def positions(ladder: str) -> tuple[Game, Array, Floats, Array]:
    """The game, full states, the returns of their players to move, and the number of the game that each is from."""
    states, outcomes, numbers, game = [], [], [], None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "games.jsonl")
        path.write_bytes(gzip.decompress((LADDERS / f"{ladder}.jsonl.gz").read_bytes()))
        for number, record in enumerate(read_records(path)):
            game = game or record.rules()
            if min(simulations_of(agent) for agent in record.agents) < 10:
                continue
            played = np.concatenate(list(replay(record)))
            played = played[~played["done"]]
            states.append(played)
            outcomes.append(np.array(record.returns)[played["to_move"]])
            numbers.append(np.full(len(played), number))
    assert game is not None
    return game, np.concatenate(states), np.concatenate(outcomes).astype(np.float32), np.concatenate(numbers)


def fit(features: Floats, outcomes: Floats) -> Floats:
    """Least squares of tanh by Adam on everything at once."""
    weights, first, second = (np.zeros(features.shape[1], np.float64) for _ in range(3))
    for step in range(1, PASSES + 1):
        values = np.tanh(features @ weights)
        slopes = (values - outcomes) * (1 - values**2)
        gradient = features.T @ slopes / len(outcomes) + DECAY * weights
        first += 0.1 * (gradient - first)
        second += 0.01 * (gradient**2 - second)
        weights -= RATE * (first / (1 - 0.9**step)) / (np.sqrt(second / (1 - 0.99**step)) + 1e-8)
    return weights.astype(np.float32)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ladder")
    parser.add_argument("out")
    arguments = parser.parse_args()
    game, states, outcomes, numbers = positions(arguments.ladder)
    empty = MaterialValues(game, np.zeros(features_of(game.options["base"]), np.float32))
    features, test = empty.features(states), numbers % HELD_OUT == 0
    weights = fit(features[~test], outcomes[~test])
    error = np.mean((np.tanh(features[test] @ weights) - outcomes[test]) ** 2)
    guess = np.mean((outcomes[test] - outcomes[~test].mean()) ** 2)
    print(f"{(~test).sum()} positions; held out {test.sum()}: mean squared error {error:.3f}, guessing {guess:.3f}")
    base = int(game.options["base"])
    print(np.round(weights[: base * base].reshape(base, base), 2))
    MaterialValues(game, fit(features, outcomes)).save(arguments.out)


if __name__ == "__main__":
    main()
