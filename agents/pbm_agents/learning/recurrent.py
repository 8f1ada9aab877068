"""A policy with memory: a GRU that reads the observations of its turns in order (extra `torch`).

    network = RecurrentNetwork(Curio(base=2, rows=4, cols=3))
    network.save("gru.pt")
    agent = RecurrentAgent(RecurrentNetwork.load("gru.pt"))    # also make_agent("recurrent:file=gru.pt")

In Curio an observation holds what the rules imply about past moves, but neither why the opponent chose them nor, under
`*_total`, what past masks revealed. `notebooks/training/recurrent_ppo.py` trains such a network.
"""

from __future__ import annotations

from pathlib import Path
from typing import final

import numpy as np

from pbm_envs import Game
from pbm_envs.authoring import check_range
from pbm_envs.envs.memory import AgentWithMemory, Ids
from pbm_envs.foreign import registered_game

from ..common.pytorch import Tensor, nn, torch
from ..players.agent import Actions, Views
from .network import check_network_plays, check_sizes, check_weights, read, write
from .training_data import FORBIDDEN

FORMAT = "pbm_agents.learning.recurrent 1"


@final
class RecurrentNetwork(nn.Module):
    """A layer over the whole board and a GRU cell, whose memory gives one logit per action and the player's value."""

    def __init__(self, game: Game, hidden: int = 128) -> None:
        """Make a network with random weights; `hidden` is the number of units of the layer and of the memory."""
        super().__init__()
        check_range("hidden", hidden, 1)
        self.game, self.hidden = game, hidden
        self.encoder = nn.Linear(int(np.prod(game.observation_shape)), hidden)
        self.cell = nn.GRUCell(hidden, hidden)
        self.policy = nn.Linear(hidden, game.num_actions)
        self.value = nn.Linear(hidden, 1)
        for layer, scale in ((self.encoder, 2**0.5), (self.policy, 0.01), (self.value, 0.01)):
            nn.init.orthogonal_(layer.weight, scale)
            nn.init.zeros_(layer.bias)

    def forward(self, observations: Tensor, masks: Tensor, memory: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return logits (B, A), FORBIDDEN where illegal, values (B,), and the new memory, for a turn of B games.

        `memory` (B, hidden) is zeros at a player's first turn.
        """
        memory = self.cell(self._encoded(observations), memory)
        return self.policy(memory).masked_fill(~masks, FORBIDDEN), self.value(memory)[:, 0], memory

    def unroll(self, observations: Tensor, masks: Tensor, memory: Tensor, ends: Tensor) -> tuple[Tensor, Tensor]:
        """Return the logits (T, B, A) and values (T, B) of T consecutive turns in B streams of games.

        `memory` (B, hidden) is that before the first turn. `ends` (T, B) is True where the game ends after this turn,
        so that the next turn begins another game.
        """
        memories, encoded = [], self._encoded(observations.flatten(0, 1)).unflatten(0, masks.shape[:2])
        for seen, end in zip(encoded, ends, strict=True):
            memory = self.cell(seen, memory)
            memories.append(memory)
            memory = memory * ~end[:, None]
        whole = torch.stack(memories)
        return self.policy(whole).masked_fill(~masks, FORBIDDEN), self.value(whole)[..., 0]

    def _encoded(self, observations: Tensor) -> Tensor:
        seen: Tensor = self.encoder(torch.log2(1 + observations.flatten(1).float())).relu()
        return seen

    def start(self, count: int) -> Tensor:
        """Return the initial memory (count, hidden) of new games."""
        return torch.zeros(count, self.hidden, device=self.value.weight.device)

    def save(self, path: str | Path) -> None:
        """Write the weights, the size, and the game's name and options, atomically."""
        game = {"game": self.game.name, "options": dict(self.game.options)}
        write({"format": FORMAT, **game, "hidden": self.hidden, "weights": self.state_dict()}, path)

    @classmethod
    def load(cls, path: str | Path) -> RecurrentNetwork:
        """Return the network in a file written by `save`, else raise ValueError; nothing in the file is executed."""
        whole = read(path)
        if not isinstance(whole, dict) or whole.get("format") != FORMAT:
            raise ValueError(f"{str(path)!r} is not a recurrent network: expected a file that its save has written")
        try:
            game, hidden = registered_game(whole["game"], whole["options"]), whole["hidden"]
            check_sizes({"hidden": hidden}, whole["weights"])
            with torch.device("meta"):
                check_weights(whole["weights"], cls(game, hidden))
            network = cls(game, hidden)
            network.load_state_dict(whole["weights"])
        except (AttributeError, KeyError, TypeError, ValueError, RuntimeError) as error:
            raise ValueError(f"{str(path)!r} is not a network of this version of pbm_envs: {error}") from error
        return network.eval()


@final
class RecurrentAgent(AgentWithMemory):
    """An agent that plays the network's best action, or samples its policy, with a memory per game and seat."""

    def __init__(self, network: RecurrentNetwork, draws: bool = False) -> None:
        """Take a network; with `draws`, sample actions instead of playing the best."""
        self.network, self.draws = network, draws
        self._memory: dict[int, Tensor] = {}

    def check_plays(self, game: Game) -> None:
        """Raise ValueError unless the network is one of this game."""
        check_network_plays(self.network.game, game)

    def begin_games(self, game: Game, ids: Ids) -> None:
        """Start with an empty memory."""
        self.check_plays(game)
        self._memory |= dict(zip(ids.tolist(), self.network.start(len(ids)), strict=True))

    def act(self, game: Game, views: Views, rng: np.random.Generator, ids: Ids) -> Actions:
        """Return the actions (B,), and update the memory."""
        masks, memory = game.legal_action_mask(views), torch.stack([self._memory[one] for one in ids.tolist()])
        with torch.no_grad():
            seen, legal = torch.from_numpy(game.observe(views)), torch.from_numpy(masks)
            logits, _, memory = self.network(seen.to(memory.device), legal.to(memory.device), memory)
        self._memory |= dict(zip(ids.tolist(), memory, strict=True))
        scores = logits.cpu().numpy()
        if self.draws:  # by the Gumbel-max trick
            scores = np.where(masks, scores + rng.gumbel(size=scores.shape), -np.inf)
        return scores.argmax(axis=1)

    def end_games(self, ids: Ids) -> None:
        """Forget the games."""
        for one in ids.tolist():
            del self._memory[one]
