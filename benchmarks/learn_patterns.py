"""Learn the patterns of a champion from the moves of strong searches in the games of a ladder.

    python benchmarks/learn_patterns.py chameleon-11 agents/pbm_agents/champions/weights/chameleon.npz --seconds 40
    python benchmarks/learn_patterns.py unlur-6 agents/pbm_agents/champions/weights/unlur.npz --seconds 30

The games are those of `results/ladders`, or others from `ladders.py play` with `--games FOLDER`, the folder of the
tournament. Moves of players with more simulations have larger weights.
One position in twelve is held out; the cross-entropy on these (in nats) is printed after each pass, with that of
uniform guessing. Needs the extra `torch` and uses one thread.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from ladders import committed_records
from pbm_agents.arena import tournament_records
from pbm_agents.champions.patterns import NONE, Geometry, PatternPriors
from torch.nn.functional import cross_entropy

from pbm_envs import Game
from pbm_envs.core.state import Array, Ints, States
from pbm_envs.records import GameRecord, replay

WEIGHTS = {300: 0.4, 1000: 0.7, 3000: 1.0, 10000: 1.3}
"""Weight of a move by the simulations that chose it; moves of weaker players are omitted."""
BATCH, LEARNING_RATE, DECAY = 128, 0.05, 2e-6


def simulations_of(agent: str) -> int:
    return int(agent.partition("simulations=")[2].partition(",")[0] or 0)


def moves(records: Iterable[GameRecord]) -> tuple[Game, States, Ints, Array]:
    """Return the game, the positions, the actions played there, and their weights."""
    states: list[Any] = []
    actions: list[int] = []
    weights: list[float] = []
    game = None
    for record in records:
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


class Learner:
    """A linear model with one weight per feature, and its gradients."""

    def __init__(self, game: Game) -> None:
        self.geometry = Geometry(game)
        self.patterns = PatternPriors(game, np.zeros(self.geometry.size, np.float32))
        self.table = torch.nn.EmbeddingBag(self.geometry.size + 1, 1, mode="sum", padding_idx=self.geometry.size)
        torch.nn.init.zeros_(self.table.weight)

    def logits(self, states: States) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the logits, (B, placing actions), and the patterns that occur."""
        features = self.patterns.features(states)
        legal = self.patterns.game.legal_action_mask(states)[:, : features.shape[1]]
        features = torch.from_numpy(np.where(features == NONE, self.geometry.size, features).astype(np.int64))
        sums = self.table(features.flatten(0, 1)).view(len(states), -1)
        return sums.masked_fill(~torch.from_numpy(legal), -1e9), features[:, :, 0].unique()


def learn(records: Iterable[GameRecord], seconds: float, seed: int = 0) -> PatternPriors:
    """Return the patterns that predict the moves of these games, after this processor time."""
    torch.set_num_threads(1)
    game, states, actions, weights = moves(records)
    rng, learner = np.random.default_rng(seed), Learner(game)
    order = rng.permutation(len(states))
    held, trained = np.split(order, [len(states) // 12])
    optimizer = torch.optim.Adam(learner.table.parameters(), lr=LEARNING_RATE)
    print(f"{game!r}: {len(states)} moves")
    start, spent = time.process_time(), 0.0
    while spent < seconds:
        for rows in np.array_split(rng.permutation(trained), max(1, len(trained) // BATCH)):
            logits, patterns = learner.logits(states[rows])
            losses = cross_entropy(logits, torch.from_numpy(actions[rows]), reduction="none")
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
            found = cross_entropy(logits, torch.from_numpy(actions[held])).item()
            guess = (logits > -1e8).sum(dim=1).float().log().mean().item()
        print(f"{spent:6.1f} s: {found:.3f} nats, guessing {guess:.3f}", flush=True)
    return PatternPriors(game, np.ascontiguousarray(learner.table.weight.detach().numpy()[:-1, 0]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ladder")
    parser.add_argument("out", type=Path)
    parser.add_argument("--games", type=Path, help="folder of a tournament; the ladder's games, if none is given")
    parser.add_argument("--seconds", type=float, default=40.0, help="of processor time")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    given = arguments.games
    records = tournament_records(given) if given else committed_records(f"{arguments.ladder}.jsonl.gz")
    learn(records, arguments.seconds, arguments.seed).save(arguments.out)


if __name__ == "__main__":
    main()
