"""The two torsos of `PolicyValueNetwork` (extra `torch`): modules from observations to logits and values.

    PolicyValueNetwork(game, module=ResidualConvolution(game, channels=64, blocks=4))

A custom module has the same interface: it maps float observations (B, planes, rows, cols) to logits (B, A) and values
(B, P), in turn order from the player to move.
"""

from __future__ import annotations

from typing import final

import numpy as np

from pbm_envs import Game
from pbm_envs.authoring import check_range

from ..common.pytorch import Tensor, nn, torch


@final
class FullyConnected(nn.Module):
    """Gated hidden layers over the whole board, then a logit for each action and a value for each player.

    A gated layer computes products of its inputs, which games that depend on parity need. Each layer except the first
    is residual.

    Each plane is given as its mean and each cell's difference from the mean, because most planes are constant and
    would dominate the others.
    """

    rows: Tensor
    cols: Tensor

    def __init__(self, game: Game, hidden: int = 192, layers: int = 3) -> None:
        """Make `layers` layers of `hidden` units."""
        super().__init__()
        check_range("hidden", hidden, 1)
        check_range("layers", layers, 1)
        self.settings = {"torso": "fully connected", "hidden": int(hidden), "layers": int(layers)}
        planes = game.observation_shape[2]
        for name, places in {"rows": game.board.rows, "cols": game.board.cols}.items():
            self.register_buffer(name, torch.from_numpy(np.array(places, np.int64)), persistent=False)
        self.first = nn.Linear((game.board.size + 1) * planes, 2 * hidden)
        self.rest = nn.ModuleList(nn.Linear(hidden, 2 * hidden) for _ in range(layers - 1))
        self.policy = nn.Linear(hidden, game.num_actions)
        self.value = nn.Linear(hidden, game.num_players)
        for layer in (self.first, *self.rest, self.policy, self.value):
            nn.init.orthogonal_(layer.weight, 0.01 if layer in (self.policy, self.value) else 2**0.5)
            nn.init.zeros_(layer.bias)

    def forward(self, observations: Tensor) -> tuple[Tensor, Tensor]:
        """Return the logits and values of observations (B, planes, rows, cols)."""
        cells = observations[:, :, self.rows, self.cols].transpose(1, 2)
        means = cells.mean(dim=1, keepdim=True)
        hidden = nn.functional.glu(self.first(torch.cat([means, cells - means], dim=1).flatten(1)))
        for layer in self.rest:
            hidden = hidden + nn.functional.glu(layer(nn.functional.layer_norm(hidden, (layer.in_features,))))
        return self.policy(hidden), self.value(hidden)


class Block(nn.Module):
    """A residual block of two convolutions; between them, features of the whole board are added to every cell."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.norms = nn.ModuleList(nn.LayerNorm(channels) for _ in range(2))
        self.convolutions = nn.ModuleList(nn.Conv2d(channels, channels, 3, padding=1) for _ in range(2))
        self.whole = nn.Linear(3 * channels, channels)
        nn.init.zeros_(self.convolutions[1].weight)  # the block starts as the identity
        nn.init.zeros_(self.convolutions[1].bias)

    def forward(self, cells: Tensor, board: Tensor) -> Tensor:
        """Return the cells (B, C, rows, cols) after the block, 0 off the board."""
        inner = self.convolutions[0](_normed(self.norms[0], cells).relu() * board) * board
        inner = (inner + self.whole(pooled(inner, board))[:, :, None, None]) * board
        return cells + self.convolutions[1](_normed(self.norms[1], inner).relu() * board) * board


@final
class ResidualConvolution(nn.Module):
    """A residual convolutional network whose weights do not depend on the size of the board.

    Weights trained on a small board play on a large one (`PolicyValueNetwork.on`).

    As in KataGo (Wu 2019), cells off the board are masked, and global pooling (means, means scaled by the board's size,
    maxima) feeds every block and the heads. A move on one cell has the logit of that cell, a move between two cells the
    product of their features, and a move without a cell, such as a pass, a logit of the whole board.
    """

    board: Tensor
    """(1, 1, rows, cols) mask: 1 on the board, 0 off it."""

    def __init__(self, game: Game, channels: int = 64, blocks: int = 4) -> None:
        """Make `blocks` blocks of two convolutions with `channels` channels."""
        super().__init__()
        check_range("channels", channels, 1)
        check_range("blocks", blocks, 1)
        self.settings = {"torso": "residual", "channels": int(channels), "blocks": int(blocks)}
        board = torch.zeros(1, 1, *game.board.shape)
        board[:, :, torch.tensor(game.board.rows.tolist()), torch.tensor(game.board.cols.tolist())] = 1
        self.register_buffer("board", board, persistent=False)
        self._index_actions(game)
        self.first = nn.Conv2d(game.observation_shape[2], channels, 3, padding=1)
        self.blocks = nn.ModuleList(Block(channels) for _ in range(blocks))
        self.norm = nn.LayerNorm(channels)
        self.on_one = nn.Linear(channels, max(1, self.kinds[1]))
        self.origin, self.target = (nn.Linear(channels, max(1, self.kinds[2]) * channels) for _ in range(2))
        self.on_none = nn.Linear(3 * channels, max(1, self.kinds[0]))
        self.value = nn.Sequential(nn.Linear(3 * channels, channels), nn.ReLU(), nn.Linear(channels, game.num_players))
        for layer in (self.on_one, self.target, self.on_none, self.value[2]):
            nn.init.orthogonal_(layer.weight, 0.01)
            nn.init.zeros_(layer.bias)

    def _index_actions(self, game: Game) -> None:
        """Index each action among the logits of cells, of pairs of cells, and of the whole board."""
        counts: dict[tuple[int, ...], int] = {}
        cells, kinds = [], []
        for action in range(game.num_actions):
            cells.append(game.action_cells(action))
            kinds.append(counts.setdefault(cells[-1], 0))
            counts[cells[-1]] += 1
        self.kinds = [max((n for key, n in counts.items() if len(key) == size), default=0) for size in range(3)]
        flat = np.asarray(game.board.rows) * game.board.shape[1] + np.asarray(game.board.cols)
        spots = game.board.shape[0] * game.board.shape[1]
        places = []
        for where, kind in zip(cells, kinds, strict=True):
            if len(where) == 1:
                places.append(int(flat[where[0]]) * max(1, self.kinds[1]) + kind)
            elif len(where) == 2:
                offset = spots * max(1, self.kinds[1])
                pair = int(flat[where[0]]) * spots + int(flat[where[1]])
                places.append(offset + kind * spots * spots + pair)
            else:
                offset = spots * max(1, self.kinds[1]) + self.kinds[2] * spots * spots
                places.append(offset + kind)
        self.register_buffer("places", torch.tensor(places), persistent=False)

    places: Tensor

    def forward(self, observations: Tensor) -> tuple[Tensor, Tensor]:
        """Return the logits and values of observations (B, planes, rows, cols)."""
        board = self.board
        cells = self.first(observations) * board
        for block in self.blocks:
            cells = block(cells, board)
        cells = _normed(self.norm, cells).relu() * board
        whole, spots = pooled(cells, board), cells.flatten(2).transpose(1, 2)  # (B, spots, C)
        parts = [self.on_one(spots).flatten(1)]
        if self.kinds[2]:
            shape = (*spots.shape[:2], self.kinds[2], spots.shape[2])
            origin, target = self.origin(spots).view(shape), self.target(spots).view(shape)
            parts.append(torch.einsum("bikc,bjkc->bkij", origin, target).flatten(1) / spots.shape[2] ** 0.5)
        parts.append(self.on_none(whole))
        return torch.cat(parts, dim=1)[:, self.places], self.value(whole)


def pooled(cells: Tensor, board: Tensor) -> Tensor:
    """Return (B, 3 C) means over the board, means scaled by its size, and maxima of cells (B, C, rows, cols)."""
    size = board.sum()
    means = cells.sum(dim=(2, 3)) / size
    highest = (cells + (board - 1) * 1e4).amax(dim=(2, 3))
    return torch.cat([means, means * (size.sqrt() - 8) / 10, highest], dim=1)


def _normed(norm: nn.Module, cells: Tensor) -> Tensor:
    """Normalize over the channels of each cell, independently of the batch and the board."""
    normed: Tensor = norm(cells.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)
    return normed


TORSOS = {"fully connected": FullyConnected, "residual": ResidualConvolution}
