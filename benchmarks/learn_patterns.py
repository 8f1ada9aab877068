"""Learn the patterns of a champion from the games of the ladder, then from games of its own.

    python benchmarks/learn_patterns.py chameleon-11 agents/pbm_agents/champions/weights/chameleon.npz --games 200
    python benchmarks/learn_patterns.py unlur-6 agents/pbm_agents/champions/weights/unlur.npz --seconds 30

First it learns which moves searches of many simulations played in the games of `results/ladders` (see ladders.py); a
move counts the more, the more simulations its player had. With `--games` the search with these patterns plays so many
games against itself, and the patterns are learned anew from both, of its own games from the visits of all actions:
priors that foresee a search with priors (expert iteration: Anthony, Tian & Barber 2017).

One position of twelve is held out; its cross-entropy (in nats) is printed after each pass, beside that of guessing.
Needs the extra `torch`; one thread.
"""

from __future__ import annotations

import argparse
import gzip
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from pbm_agents import Search
from pbm_agents.champions.agent import pattern_weight
from pbm_agents.champions.patterns import NONE, Geometry, PatternPriors
from torch.nn.functional import cross_entropy

from pbm_envs import Game
from pbm_envs.core.types import Array, Ints, States
from pbm_envs.records import read_records, replay
from pbm_envs.testing import random_actions

LADDERS = Path(__file__).parent / "results" / "ladders"
WEIGHTS = {300: 0.4, 1000: 0.7, 3000: 1.0, 10000: 1.3}
"""Of a move, by the simulations that chose it; moves of weaker players are left out."""
BATCH, LEARNING_RATE, DECAY = 128, 0.05, 2e-6
TOGETHER, RANDOM_PLIES, SAMPLED = 50, 2, 10
"""Games of its own that are played at once, and how they begin."""


def simulations_of(agent: str) -> int:
    return int(agent.partition("simulations=")[2].partition(",")[0] or 0)


def moves(ladder: str) -> tuple[Game, States, Ints, Array]:
    """The game, positions, the actions played there, and how much each counts."""
    states: list[Any] = []
    actions: list[int] = []
    weights: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "games.jsonl")
        path.write_bytes(gzip.decompress((LADDERS / f"{ladder}.jsonl.gz").read_bytes()))
        game = None
        for record in read_records(path):
            game = game or record.rules()
            budgets = [simulations_of(agent) for agent in record.agents]
            if max(budgets) not in WEIGHTS:
                continue
            played = np.concatenate(list(replay(record)))
            for ply in range(record.opening, len(record.moves)):
                budget = budgets[int(played["to_move"][ply])]
                action = game.string_to_action(record.moves[ply])
                if budget in WEIGHTS and record.moves[ply] not in ("swap", "black"):
                    states.append(played[ply])
                    actions.append(action)
                    weights.append(WEIGHTS[budget])
    assert game is not None
    return game, np.array(states, game.dtype), np.array(actions), np.array(weights, np.float32)


def own_games(game: Game, patterns: PatternPriors, games: int, simulations: int, seed: int) -> tuple[States, Array]:
    """Positions of games that the champion's search plays against itself, and (N, A) the shares of its visits there.

    Each game begins with RANDOM_PLIES random moves; in the SAMPLED next ones an action is drawn by its visits.
    """
    rng = np.random.default_rng(seed)
    search = Search(
        simulations=simulations, priors=patterns, prior_weight=pattern_weight(game), save_bridges=True, early_stop=False
    )
    positions: list[States] = []
    shares: list[Array] = []
    for first in range(0, games, TOGETHER):
        states = game.init(min(TOGETHER, games - first), rng)
        for ply in range(game.max_plies):
            states = states[~states["done"]]
            if not len(states):
                break
            if ply < RANDOM_PLIES:
                actions = random_actions(game, states, rng)
            else:
                results = search.run(game, game.view(states, states["to_move"]), rng)
                visits = np.array([result.policy(1.0) for result in results], np.float32)
                drawn = [result.sample(rng) if ply < RANDOM_PLIES + SAMPLED else result.best for result in results]
                actions = np.array(drawn)
                positions.append(states.copy())
                shares.append(visits)
            game.step(states, actions)
        print(f"{first + TOGETHER:5} games, {sum(map(len, positions))} positions", flush=True)
    return np.concatenate(positions), np.concatenate(shares)


class Learner:
    """Sums of weights, one for each feature, and their gradients."""

    def __init__(self, game: Game) -> None:
        self.geometry = Geometry(game)
        self.patterns = PatternPriors(game, np.zeros(self.geometry.size, np.float32))
        self.table = torch.nn.EmbeddingBag(self.geometry.size + 1, 1, mode="sum", padding_idx=self.geometry.size)
        torch.nn.init.zeros_(self.table.weight)

    def logits(self, states: States) -> tuple[torch.Tensor, torch.Tensor]:
        """(B, placing actions), and the patterns that occur."""
        features = self.patterns.features(states)
        legal = self.patterns.game.legal_action_mask(states)[:, : features.shape[1]]
        features = torch.from_numpy(np.where(features == NONE, self.geometry.size, features).astype(np.int64))
        sums = self.table(features.flatten(0, 1)).view(len(states), -1)
        return sums.masked_fill(~torch.from_numpy(legal), -1e9), features[:, :, 0].unique()


def fit(
    game: Game, states: States, shares: Array, weights: Array, seconds: float, rng: np.random.Generator
) -> PatternPriors:
    """Patterns whose priors foresee these shares (N, A) of the actions in these positions, by their weights (N,)."""
    learner = Learner(game)
    held, trained = np.split(rng.permutation(len(states)), [len(states) // 12])
    optimizer = torch.optim.Adam(learner.table.parameters(), lr=LEARNING_RATE)
    print(f"{game!r}: {len(states)} moves")
    start, spent = time.process_time(), 0.0
    while spent < seconds:
        for rows in np.array_split(rng.permutation(trained), len(trained) // BATCH):
            logits, patterns = learner.logits(states[rows])
            losses = cross_entropy(logits, torch.from_numpy(shares[rows, : logits.shape[1]]), reduction="none")
            loss = (losses * torch.from_numpy(weights[rows])).mean()
            loss = loss + DECAY * (learner.table.weight[patterns] ** 2).sum()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            spent = time.process_time() - start
            for group in optimizer.param_groups:
                group["lr"] = LEARNING_RATE * max(0.02, 1 - spent / seconds)
            if spent > seconds:
                break
        with torch.no_grad():
            logits, _ = learner.logits(states[held])
            found = cross_entropy(logits, torch.from_numpy(shares[held, : logits.shape[1]])).item()
            guess = (logits > -1e8).sum(dim=1).float().log().mean().item()
        print(f"{spent:6.1f} s: {found:.3f} nats, guessing {guess:.3f}", flush=True)
    return PatternPriors(game, np.ascontiguousarray(learner.table.weight.detach().numpy()[:-1, 0]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ladder")
    parser.add_argument("out", type=Path)
    parser.add_argument("--seconds", type=float, default=40.0, help="of processor time, each time that it learns")
    parser.add_argument("--games", type=int, default=0, help="against itself")
    parser.add_argument("--simulations", type=int, default=2000, help="of each move of these")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    game, states, actions, weights = moves(arguments.ladder)
    shares = np.eye(game.num_actions, dtype=np.float32)[actions]
    rng = np.random.default_rng(arguments.seed)
    patterns = fit(game, states, shares, weights, arguments.seconds, rng)
    if arguments.games:
        own, visits = own_games(game, patterns, arguments.games, arguments.simulations, arguments.seed)
        patterns = fit(
            game,
            np.concatenate([states, own]),
            np.concatenate([shares, visits]),
            np.concatenate([weights, np.ones(len(own), np.float32)]),
            arguments.seconds,
            rng,
        )
    patterns.save(arguments.out)


if __name__ == "__main__":
    main()
