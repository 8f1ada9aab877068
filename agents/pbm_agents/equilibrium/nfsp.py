"""Neural fictitious self-play (Heinrich & Silver 2016) on a public tree (extra `torch`).

A deep Q-network learns a best response to the average policy, and a second network learns the average of the best
responses, which is the solution. In each game each player follows one of the two.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from pbm_envs.authoring import kernel
from pbm_envs.toolbox import Array

from ..common.pytorch import improve, torch
from ..players.agent import draw
from .inputs import Inputs, Learner, Network, adam, play_games
from .tree import Policy, PublicTree


@final
@dataclass(frozen=True)
class FictitiousMethod:
    """Settings of NFSP."""

    games: int = 512
    """Number of games between updates."""
    updates: int = 4
    """Number of minibatches from which each network then learns."""
    minibatch: int = 512
    anticipation: float = 0.1
    """Probability that a player follows the best response in a game."""
    exploration: float = 0.1
    """Initial probability of a random choice of the best response; it falls to 0 with the square root of time left."""
    memory: int = 200_000
    """Number of latest moves from which the best response learns."""
    learning_rate: float = 3e-3
    """Initial learning rate of Adam; it decays to 0."""
    target: int = 25
    """Number of steps between updates of the target network, a copy of the Q-network that values the next moves."""
    hidden: int = 128
    layers: int = 2


@kernel
def link_moves(players: Array, rewards: Array, following: Array, earned: Array) -> None:
    """Write what follows each move for its player.

    Args:
        players: (plies, games) the player to move, or -1 after the end.
        rewards: (plies, games) the rewards of `player_0`.
        following: (plies, games) the ply of the player's next move, or -1; changed in place.
        earned: (plies, games) the player's rewards until then, changed in place.
    """
    plies, games = players.shape
    for game in range(games):
        sums, last = np.zeros(2), np.full(2, -1)
        for ply in range(plies - 1, -1, -1):
            player = players[ply, game]
            if player >= 0:
                sums[0] += rewards[ply, game]
                sums[1] -= rewards[ply, game]
                following[ply, game], earned[ply, game] = last[player], sums[player]
                last[player], sums[player] = ply, 0.0


@final
class NFSP(Learner):
    """NFSP; its memory of best responses forgets nothing, and keeps a count for each choice."""

    def __init__(
        self,
        tree: PublicTree | Inputs,
        moves: int = 1_000_000,
        seed: int = 0,
        method: FictitiousMethod = FictitiousMethod(),
    ) -> None:
        """Take the tree or its `Inputs`, the number of moves to play, a seed, and the settings."""
        super().__init__(tree, moves, seed)
        self.method, self.steps = method, 0
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self.q_network, self.target, self.average = (
                Network(self.inputs, method.hidden, method.layers) for _ in range(3)
            )
        self._optimizers = [adam(network, method.learning_rate) for network in (self.q_network, self.average)]
        self.counts = np.zeros(self.tree.num_choices)
        """(C,) how often the best response chose."""
        self._sets = np.zeros(self.tree.num_information_sets)
        self._memory: list[Array] = [
            np.zeros(0, np.int64),
            np.zeros(0, np.int64),
            np.zeros(0, np.float32),
            np.zeros(0, np.int64),
        ]

    def policy(self) -> Policy:
        """Return the policy of the network that learns the average."""
        return self.inputs.policy(self.average)

    def response(self) -> Policy:
        """Return the present best response."""
        return self.inputs.greedy(self.q_network)

    def step(self) -> None:
        """Play games, and learn from them."""
        left = 1 - min(self.moves / self.total, 1.0)
        for optimizer in self._optimizers:
            optimizer.param_groups[0]["lr"] = self.method.learning_rate * left
        if self.steps % self.method.target == 0:
            self.target.load_state_dict(self.q_network.state_dict())
        self.steps += 1
        self._play(self.method.exploration * left**0.5)
        for _ in range(self.method.updates):
            self._learn_values()
            self._learn_average()

    def _play(self, exploration: float) -> None:
        tree, legal = self.tree, self.inputs.legal.numpy()
        responding = self.rng.random((2, self.method.games)) < self.method.anticipation

        def choose(pairs: Array, sets: Array, games: Array) -> Array:
            rows, best = torch.from_numpy(sets), responding[tree.set_player[sets], games]
            with torch.no_grad():
                weights = self.average(rows)[0].softmax(dim=1).numpy()
                greedy = self.q_network(rows[best])[0].argmax(dim=1).numpy()
            weights[best] = exploration * legal[sets[best]] / self.inputs.sizes[sets[best], None]
            weights[np.flatnonzero(best), greedy] += 1 - exploration
            return draw(weights, self.rng)

        games = play_games(self.inputs, self.method.games, self.rng, choose)
        self.moves += len(games.sets)
        following, earned = np.full(games.players.shape, -1), np.zeros(games.players.shape)
        link_moves(games.players, games.rewards, following, earned)
        table = np.full(games.players.shape, -1)
        table.flat[games.places] = games.sets
        columns = games.places % self.method.games
        plies = following.flat[games.places]
        nexts = np.where(plies >= 0, table[plies, columns], -1)
        moves = (games.sets, games.chosen, earned.flat[games.places].astype(np.float32), nexts)
        kept = (np.concatenate(part)[-self.method.memory :] for part in zip(self._memory, moves, strict=True))
        self._memory = list(kept)
        best = responding[tree.set_player[games.sets], columns]
        np.add.at(self.counts, tree.set_choices[games.sets[best]] + games.chosen[best], 1.0)
        np.add.at(self._sets, games.sets[best], 1.0)

    def _learn_values(self) -> None:
        rows = self.rng.integers(len(self._memory[0]), size=self.method.minibatch)
        sets, chosen, earned, nexts = (torch.from_numpy(part[rows]) for part in self._memory)
        with torch.no_grad():
            after = self.target(nexts.clamp(min=0))[0].amax(dim=1).masked_fill(nexts < 0, 0.0)
        found = self.q_network(sets)[0].gather(1, chosen[:, None])[:, 0]
        improve(self._optimizers[0], (found - earned - after).square().mean())

    def _learn_average(self) -> None:
        ends = self._sets.cumsum()
        if not ends[-1]:
            return
        drawn = np.searchsorted(ends, self.rng.random(self.method.minibatch) * ends[-1], side="right")
        choices = self.tree.set_choices[drawn][:, None] + np.arange(self.inputs.legal.shape[1])
        legal = self.inputs.legal[drawn]
        counts = (
            torch.from_numpy(self.counts[np.minimum(choices, self.tree.num_choices - 1)].astype(np.float32)) * legal
        )
        logs = self.average(torch.from_numpy(drawn))[0].log_softmax(dim=1)
        targets = counts / counts.sum(dim=1, keepdim=True)
        improve(self._optimizers[1], -(targets * logs).sum(dim=1).mean())
