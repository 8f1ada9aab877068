"""Training of small networks on the games of a teacher (extra `torch`), and their export for the search.

module = fit(game, states, actions, returns)
exported(module).save("chameleon7.npz")
"""

from __future__ import annotations

from typing import final

import numpy as np

from pbm_envs import Game
from pbm_envs.toolbox import Array, Floats

from ..common.pytorch import Tensor, nn, torch
from .small_network import SmallNetwork, Weights, zero_weights
from .training_data import FORBIDDEN, from_mover


@final
class SmallModule(nn.Module):
    """The network of `SmallNetwork` in PyTorch: two hidden layers, policy logits, and logits of the players' shares."""

    sources: Tensor
    """(perspectives, I) the index of each input in the flattened observation."""
    actions: Tensor
    """(perspectives, A) the output for each action."""
    perspectives: Tensor
    """(perspectives,) the index in the flattened observation of a number that is 1 in this perspective only."""

    def __init__(self, game: Game, first: int = 256, second: int = 64) -> None:
        """Make a module with random weights and layers of `first` and `second` units."""
        super().__init__()
        self.game, self.reader = game, input_reader(game)
        size, inputs = len(self.reader.weights.first), game._network_inputs()
        sources = inputs.sources if inputs else np.arange(size)[None]
        actions = inputs.actions if inputs else np.arange(game.num_actions)[None]
        perspectives = inputs.perspective_sources if inputs else np.zeros(1, np.int64)
        for name, table in {"sources": sources, "actions": actions, "perspectives": perspectives}.items():
            self.register_buffer(name, torch.from_numpy(np.asarray(table, np.int64)), persistent=False)
        self.first = nn.Linear(size, first)
        self.second = nn.Linear(first, second)
        self.policy = nn.Linear(second, game.num_actions)
        self.value = nn.Linear(second, game.num_players)

    def heads(self, inputs: Tensor) -> tuple[Tensor, Tensor]:
        """Return policy logits (B, A) by output and logits of the shares (B, P) for inputs (B, I)."""
        hidden = self.second(self.first(inputs).relu()).relu()
        return self.policy(hidden), self.value(hidden)

    def forward(self, observations: Tensor, masks: Tensor) -> tuple[Tensor, Tensor]:
        """Return logits (B, A) by action, FORBIDDEN for illegal ones, and logits of the shares of the result (B, P).

        Args:
            observations: (B, rows, cols, planes) of the players to move.
            masks: (B, A) bool.
        """
        flat = observations.flatten(1)
        seen = flat[:, self.perspectives].argmax(dim=1)
        logits, shares = self.heads(flat.gather(1, self.sources[seen]).float())
        return logits.gather(1, self.actions[seen]).masked_fill(~masks, FORBIDDEN), shares

    def value_loss(self, shares: Tensor, returns: Tensor) -> Tensor:
        """Return the mean cross-entropy of the players' shares of the result, from returns (B, P) in turn order."""
        return nn.functional.cross_entropy(shares, shares_of(returns))


def input_reader(game: Game) -> SmallNetwork:
    """Return a network whose first layer is the identity: its `sums` are the inputs of states."""
    size = len(zero_weights(game, 1, 1).first)
    weights = zero_weights(game, size, 1)
    return SmallNetwork(game, weights._replace(first=np.eye(size, dtype=np.float32)))


def exported(module: SmallModule) -> SmallNetwork:
    """Return the network that the search evaluates."""
    layers = module.first, module.second, module.policy, module.value
    parts = [part.detach().cpu().numpy() for layer in layers for part in (layer.weight.T, layer.bias)]
    return SmallNetwork(module.game, Weights(*parts))


def fit(
    game: Game,
    states: Array,
    actions: Array,
    returns: Floats,
    *,
    first: int = 256,
    second: int = 64,
    epochs: int = 10,
    batch: int = 1024,
    learning_rate: float = 1.5e-3,
    seed: int = 0,
) -> SmallModule:
    """Train a module to predict a teacher's moves and the results of its games.

    Every epoch takes all positions once, each under a random symmetry.

    Args:
        game: A game of perfect information, or states as the teacher saw them.
        states: (N,) states in which the teacher moved.
        actions: (N,) the teacher's moves.
        returns: (N, P) returns of the games, by seat.
        first: Units of the first layer.
        second: Units of the second layer.
        epochs: Number of passes over the positions.
        batch: Positions per update.
        learning_rate: Initial learning rate of Adam; it decays to 0 along a cosine.
        seed: Seed of weights, order and symmetries.
    """
    torch.manual_seed(seed)
    rng, module = np.random.default_rng(seed), SmallModule(game, first, second)
    inputs, outputs = zip(*(_under(module, states, actions, k) for k in range(len(game.symmetries))), strict=True)
    seen, moves = np.stack(inputs), np.stack(outputs)
    own = from_mover(returns.astype(np.float32), states["to_move"].astype(np.int64))
    shares = shares_of(torch.from_numpy(own))
    optimizer = torch.optim.Adam(module.parameters(), learning_rate)
    updates = len(states) // batch
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=max(1, epochs * updates))
    for _ in range(epochs):
        order = rng.permutation(len(states))
        for rows in order[: updates * batch].reshape(updates, batch):
            forms = rng.integers(len(seen), size=batch)
            logits, expected = module.heads(torch.from_numpy(seen[forms, rows]).float())
            loss = nn.functional.cross_entropy(logits, torch.from_numpy(moves[forms, rows]))
            loss = loss + nn.functional.cross_entropy(expected, shares[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
    return module.eval()


def shares_of(returns: Tensor) -> Tensor:
    """Return the players' shares of the result, which sum to 1, from returns (B, P)."""
    players = returns.shape[1]
    return (returns * (players - 1) + 1) / players


def _under(module: SmallModule, states: Array, actions: Array, k: int) -> tuple[Array, Array]:
    """Return inputs (N, I) int8 and outputs (N,) of positions and moves under a symmetry of the game."""
    symmetry = module.game.symmetries[k]
    sums, names = module.reader.sums(module.game.transform(states, symmetry))
    return sums.astype(np.int8), names[np.arange(len(states)), symmetry.actions[actions]]
