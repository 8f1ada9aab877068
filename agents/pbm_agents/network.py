"""A policy and value network for any game, in PyTorch (extra `torch`): saved, loaded, playing, judging in a search.

    network = PolicyValueNetwork(Chameleon(size=5))
    network.save("chameleon5.pt")
    make_agent("network:file=chameleon5.pt")
    make_agent("mcts:simulations=100,network=chameleon5.pt")
    Search(simulations=100, evaluator=PolicyValueNetwork.load("chameleon5.pt").evaluator())

It sees an observation and its mask, nothing else, both from the view of who is to move.
"""

from __future__ import annotations

import os
import pickle
from pathlib import Path
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from pbm_envs import Game, make_game

from .agent import Actions, Views
from .search import Network
from .search.result import check_temperature
from .search.search import check_searchable
from .training_data import sources

try:
    import torch
    from torch import Tensor, nn
    from torch.nn.functional import glu, layer_norm
except ImportError:
    raise ImportError("networks need PyTorch: pip install 'pbm-envs[torch]'") from None

FORMAT = "pbm_agents.network 1"
FORBIDDEN = -1e9
"""The logit of an illegal action: its probability is 0."""


@final
class PolicyValueNetwork(nn.Module):
    """Gated hidden layers over the whole board (each gives products of what it is given: who counts odd and even needs
    them), each but the first added to what it was given; then one logit an action, one value a player.

    Of all the symmetric forms of a position it sees one, which a fixed weighting of the planes finds greatest: what it
    learns of a position holds for its mirror images, in Trinim for all exchanges of colours. What a plane has in all
    cells goes in once, as a mean, and each cell as its difference from that: most planes are the same everywhere and
    would drown the rest.
    """

    weights: Tensor
    """(rows x cols x planes, S): an observation's weight under each symmetry. Whole numbers, whose sums are exact: the
    same position is seen in the same form in any batch.
    """
    places: Tensor
    """(S, n x planes): where in an observation each number of each cell comes from."""
    actions: Tensor
    """(S, A): what each action becomes."""

    def __init__(self, game: Game, hidden: int = 192, layers: int = 3) -> None:
        """`layers` of `hidden` units."""
        super().__init__()
        self.game = game
        self.settings = {"hidden": hidden, "layers": layers}
        for name, value in self.settings.items():
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise ValueError(f"{name} is {value!r}: expected an integer from 1 up")
        rows, cols, planes = game.observation_shape
        whole = sources(game)[0].reshape(-1, rows, cols, planes)
        places = whole[:, game.board.rows, game.board.cols].reshape(len(whole), -1)
        weights = np.zeros((rows * cols * planes, len(whole)))
        for k, come_from in enumerate(places):  # weights as good as random, and always the same
            weights[come_from, k] = np.round(2**20 * np.sin(np.arange(len(come_from)) ** 2 + 1))
        actions = np.array([symmetry.actions for symmetry in game.symmetries])
        for name, table in {"weights": weights, "places": places.astype(np.int64), "actions": actions}.items():
            self.register_buffer(name, torch.from_numpy(table), persistent=False)
        self.first = nn.Linear((game.board.size + 1) * planes, 2 * hidden)
        self.rest = nn.ModuleList(nn.Linear(hidden, 2 * hidden) for _ in range(layers - 1))
        self.policy = nn.Linear(hidden, game.num_actions)
        self.value = nn.Linear(hidden, game.num_players)
        for layer in (self.first, *self.rest, self.policy, self.value):
            nn.init.orthogonal_(layer.weight, 0.01 if layer in (self.policy, self.value) else 2**0.5)
            nn.init.zeros_(layer.bias)

    def forward(self, observations: Tensor, masks: Tensor) -> tuple[Tensor, Tensor]:
        """Logits (B, A), FORBIDDEN where illegal, and values (B, P), which sum to 0: first of who is to move, then of
        the next player and so on; of observations (B, rows, cols, planes) and masks (B, A) bool.
        """
        numbers = observations.flatten(1)
        which = (numbers.double() @ self.weights).argmax(dim=1)
        numbers = torch.log2(1 + numbers.float())  # 0 and 1 stay, counts are squeezed
        cells = numbers.gather(1, self.places[which]).unflatten(1, (self.game.board.size, -1))
        means = cells.mean(dim=1, keepdim=True)
        hidden = glu(self.first(torch.cat([means, cells - means], dim=1).flatten(1)))
        for layer in self.rest:
            hidden = hidden + glu(layer(layer_norm(hidden, hidden.shape[1:])))
        values = self.value(hidden)
        logits = self.policy(hidden).gather(1, self.actions[which])
        return logits.masked_fill(~masks, FORBIDDEN), values - values.mean(dim=1, keepdim=True)

    def priors_and_values(self, observations: NDArray[Any], masks: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        """Probabilities (B, A) and values (B, P) in -1..1 as arrays."""
        with torch.no_grad():
            logits, values = self(torch.from_numpy(observations), torch.from_numpy(masks))
        return logits.softmax(dim=1).numpy(), values.clamp(-1, 1).numpy()

    def evaluator(self) -> Network:
        """For `Search`."""
        return Network(self.priors_and_values, from_mover=True, game=self.game)

    def save(self, path: str | Path) -> None:
        """Weights, settings, the game's name and options, in one piece: who reads meanwhile reads the old file."""
        whole = {
            "format": FORMAT,
            "game": self.game.name,
            "options": dict(self.game.options),
            "settings": self.settings,
            "weights": self.state_dict(),
        }
        write(whole, path)

    @classmethod
    def load(cls, path: str | Path) -> PolicyValueNetwork:
        """The network of a file that `save` has written, else ValueError; nothing in the file is executed."""
        whole = read(path)
        if not isinstance(whole, dict) or whole.get("format") != FORMAT:
            raise ValueError(f"{str(path)!r} is no network: expected a file that PolicyValueNetwork.save has written")
        try:
            network = cls(make_game(whole["game"], **whole["options"]), **whole["settings"])
            network.load_state_dict(whole["weights"])
        except (KeyError, TypeError, ValueError, RuntimeError) as error:
            raise ValueError(f"{str(path)!r} is no network of this version of pbm_envs: {error}") from error
        return network.eval()


@final
class NetworkAgent:
    """Plays the action that its network finds most probable; with a temperature, one drawn in proportion to
    `probability ** (1 / temperature)`.
    """

    def __init__(self, network: PolicyValueNetwork, temperature: float = 0.0) -> None:
        check_temperature(temperature)
        self.network, self.temperature = network, temperature

    def act(self, game: Game, views: Views, rng: np.random.Generator) -> Actions:
        if game != self.network.game:
            raise ValueError(f"the network plays {self.network.game!r}, not {game!r}")
        check_searchable(game, views)
        chances, _ = self.network.priors_and_values(game.observe(views), game.legal_action_mask(views))
        if self.temperature == 0:
            return chances.argmax(axis=1)
        weights = (chances / chances.max(axis=1, keepdims=True)).astype(np.float64) ** (1 / self.temperature)
        sums = weights.cumsum(axis=1)
        return (sums > sums[:, -1:] * rng.random((len(views), 1))).argmax(axis=1)


def write(whole: dict[str, Any], path: str | Path) -> None:
    """`torch.save`, in one piece."""
    part = Path(f"{path}.part")
    torch.save(whole, part)
    os.replace(part, path)


def read(path: str | Path) -> Any:
    """What `write` has written: tensors, numbers, texts, lists and dictionaries, else ValueError."""
    try:
        return torch.load(path, map_location="cpu", weights_only=True)
    except FileNotFoundError:
        raise ValueError(f"there is no file {str(path)!r}") from None
    except (OSError, EOFError, RuntimeError, ValueError, pickle.UnpicklingError) as error:
        reason = str(error).partition("\n")[0]
        raise ValueError(
            f"{str(path)!r} cannot be read: expected a file that torch.save has written ({reason})"
        ) from error
