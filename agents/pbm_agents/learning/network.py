"""A policy and value network for any game, in PyTorch (extra `torch`), usable as an agent and as an evaluator.

    network = PolicyValueNetwork(Chameleon(size=5))
    network.save("chameleon5.pt")
    make_agent("network:file=chameleon5.pt")
    make_agent("mcts:simulations=100,network=chameleon5.pt")
    Search(simulations=100, evaluator=PolicyValueNetwork.load("chameleon5.pt").evaluator())

It sees only an observation and its action mask, both from the view of the player to move.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from pbm_envs import Game
from pbm_envs.foreign import registered_game
from pbm_envs.toolbox import check_number, in_one_piece, quoted

from ..common.pytorch import Tensor, nn, torch
from ..players.agent import Actions, Views, check_searchable, draw
from ..search import FunctionEvaluator
from .torsos import TORSOS, FullyConnected, ResidualConvolution
from .training_data import FORBIDDEN, form_weights, symmetry_tables

FORMAT = "pbm_agents.learning.network 2"


@final
class PolicyValueNetwork(nn.Module):
    """A module from observations to logits and values (`torsos`, or your own), applied to canonical positions.

    The module sees one canonical form of each position: the symmetric form with the greatest sum under fixed weights
    of the planes. What it learns about a position holds for its mirror images and, in Trinim, all colour exchanges.

    It may be on any PyTorch device (`network.to("cuda")`); NumPy arrays go in and come out on the CPU.
    """

    weights: Tensor
    """(2, rows x cols x planes, S) weights of an observation under each symmetry, in two parts: small integers,
    whose sums are exact on any device, so a position has the same canonical form in every batch.
    """
    places: Tensor
    """(S, rows x cols x planes) the index in the observation that each number comes from."""
    actions: Tensor
    """(S, A) the action that each action becomes."""

    def __init__(
        self,
        game: Game,
        hidden: int = 192,
        layers: int = 3,
        *,
        module: nn.Module | None = None,
        symmetric: bool = True,
        half: bool = False,
    ) -> None:
        """Make a network with random weights.

        Args:
            game: The rules.
            hidden: Units per layer of the default module, `torsos.FullyConnected`.
            layers: Number of layers of the default module.
            module: Maps float observations (B, planes, rows, cols) to logits (B, A) and values (B, P), in turn order
                from the player to move.
            symmetric: Whether the module sees canonical positions rather than the original ones.
            half: Compute the module in bfloat16 (autocast), which is faster for large batches on processors with
                bfloat16 instructions.
        """
        super().__init__()
        self.game, self.half = game, half
        self.module = FullyConnected(game, hidden, layers) if module is None else module
        ours = isinstance(self.module, (FullyConnected, ResidualConvolution))
        self.settings: dict[str, Any] = dict(self.module.settings) if ours else {"torso": "own"}
        self.settings |= {"symmetric": symmetric, "half": half}
        numbers, actions = symmetry_tables(game)[0], np.array([symmetry.actions for symmetry in game.symmetries])
        if not symmetric:
            numbers, actions = numbers[:1], actions[:1]
        for name, table in {
            "weights": form_weights(numbers),
            "places": numbers.astype(np.int64),
            "actions": actions,
        }.items():
            self.register_buffer(name, torch.from_numpy(table), persistent=False)

    @property
    def device(self) -> torch.device:
        """The device of the weights."""
        return self.weights.device

    def forward(self, observations: Tensor, masks: Tensor) -> tuple[Tensor, Tensor]:
        """Return the logits and values of a batch of observations.

        Args:
            observations: (B, rows, cols, planes), on the network's device.
            masks: (B, A) bool, on the same device.

        Returns:
            Logits (B, A), FORBIDDEN for illegal actions, and values (B, P), which sum to 0 and are in turn order from
            the player to move.
        """
        rows, cols, planes = self.game.observation_shape
        numbers = observations.flatten(1).float()
        with nullcontext() if observations.is_meta else torch.autocast(self.device.type, enabled=False):
            high, low = (numbers @ part for part in self.weights)
            which = (high.long() * 2**25 + low.long()).argmax(dim=1)
        numbers = torch.log2(1 + numbers)  # keeps 0 and 1, compresses counts
        seen = numbers.gather(1, self.places[which]).unflatten(1, (rows, cols, planes)).permute(0, 3, 1, 2)
        if self.half:
            with torch.autocast(self.device.type, torch.bfloat16):
                logits, values = self.module(seen)
        else:
            logits, values = self.module(seen)
        expected = (len(masks), self.game.num_actions), (len(masks), self.game.num_players)
        if (tuple(logits.shape), tuple(values.shape)) != expected:
            raise ValueError(
                f"the module gave logits {tuple(logits.shape)} and values {tuple(values.shape)}: expected "
                f"{expected[0]} and {expected[1]}"
            )
        logits, values = logits.float().gather(1, self.actions[which]), values.float()
        return logits.masked_fill(~masks, FORBIDDEN), values - values.mean(dim=1, keepdim=True)

    def value_loss(self, values: Tensor, returns: Tensor) -> Tensor:
        """Return the mean squared error of values (B, P)."""
        return (values - returns).square().mean()

    def priors_and_values(self, observations: NDArray[Any], masks: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return probabilities (B, A) and values (B, P) in -1..1 as arrays."""
        with torch.no_grad():
            where = self.device
            logits, values = self(torch.from_numpy(observations).to(where), torch.from_numpy(masks).to(where))
        return logits.softmax(dim=1).cpu().numpy(), values.clamp(-1, 1).cpu().numpy()

    def on(self, game: Game) -> PolicyValueNetwork:
        """Return a network for another board with the same weights. The module must be a `ResidualConvolution`.

        Raises ValueError if it is another module or the weights do not fit.
        """
        if not isinstance(self.module, ResidualConvolution):
            raise ValueError(f"{type(self.module).__name__} is made for one board: expected a ResidualConvolution")
        channels, blocks = self.settings["channels"], self.settings["blocks"]
        network = PolicyValueNetwork(
            game,
            module=ResidualConvolution(game, channels, blocks),
            symmetric=self.settings["symmetric"],
            half=self.half,
        ).to(self.device)
        try:
            network.load_state_dict(self.state_dict())
        except RuntimeError as error:
            raise ValueError(f"the weights do not fit {game!r}: {error}") from error
        return network.train(self.training)

    def evaluator(self) -> FunctionEvaluator:
        """Return the network as an evaluator for `Search`."""
        return FunctionEvaluator(self.priors_and_values, game=self.game)

    def save(self, path: str | Path) -> None:
        """Write weights, settings, and the game's name and options, atomically: concurrent readers get the old file."""
        whole = {
            "format": FORMAT,
            "game": self.game.name,
            "options": dict(self.game.options),
            "settings": self.settings,
            "weights": {name: part.cpu() for name, part in self.state_dict().items()},
        }
        write(whole, path)

    @classmethod
    def load(cls, path: str | Path, module: nn.Module | None = None) -> PolicyValueNetwork:
        """Return the network in a file written by `save`; nothing in the file is executed.

        Args:
            path: The file.
            module: For a network with a custom module: a module that the weights fit.

        Raises:
            ValueError: The file holds no network, or its module is a custom one and `module` is missing.
        """
        whole = read(path)
        if not isinstance(whole, dict) or whole.get("format") != FORMAT:
            raise ValueError(
                f"{str(path)!r} is not a network: expected a file that PolicyValueNetwork.save has written"
            )
        try:
            game, settings = registered_game(whole["game"], whole["options"]), dict(whole["settings"])
            torso, flags = settings.pop("torso"), {name: settings.pop(name) for name in ("symmetric", "half")}
            if torso == "own" and module is None:
                raise ValueError("it has a module of its own, which the file does not hold: give it as module=...")
            if torso in TORSOS:
                check_sizes(settings, whole["weights"])
                with torch.device("meta"):  # takes no memory, whatever the sizes
                    check_weights(whole["weights"], TORSOS[torso](game, **settings), "module.")
                module = TORSOS[torso](game, **settings)
            network = cls(game, module=module, **flags)
            network.load_state_dict(whole["weights"])
        except (AttributeError, KeyError, TypeError, ValueError, RuntimeError) as error:
            raise ValueError(f"{str(path)!r} is not a network of this version of pbm_envs: {error}") from error
        return network.eval()


@final
class NetworkAgent:
    """An agent that plays the most probable action of its network.

    With a temperature, it draws actions in proportion to `probability ** (1 / temperature)`.
    """

    def __init__(self, network: PolicyValueNetwork, temperature: float = 0.0) -> None:
        check_number("temperature", temperature, 0)
        self.network, self.temperature = network, temperature

    def check_plays(self, game: Game) -> None:
        """Raise ValueError unless the network is one of this game."""
        check_network_plays(self.network.game, game)

    def act(self, game: Game, views: Views, rng: np.random.Generator) -> Actions:
        weights = self._weights(game, views)
        return weights.argmax(axis=1) if self.temperature == 0 else draw(weights, rng)

    def probabilities(self, game: Game, views: Views) -> NDArray[np.float64]:
        """Return (B, A) the probability that each action is played."""
        weights = self._weights(game, views)
        if self.temperature == 0:
            return np.eye(game.num_actions)[weights.argmax(axis=1)]
        return weights / weights.sum(axis=1, keepdims=True)

    def _weights(self, game: Game, views: Views) -> NDArray[np.float64]:
        """Return (B, A) weights in proportion to which actions are drawn; at temperature 0 the greatest is played."""
        self.check_plays(game)
        check_searchable(game, views)
        chances, _ = self.network.priors_and_values(game.observe(views), game.legal_action_mask(views))
        if self.temperature == 0:
            return chances
        return (chances / chances.max(axis=1, keepdims=True)).astype(np.float64) ** (1 / self.temperature)


def check_network_plays(own: Game, game: Game) -> None:
    """Raise ValueError unless a network of the game `own` can play `game`."""
    if game != own:
        raise ValueError(f"the network plays {own!r}, not {game!r}")


def check_sizes(settings: Mapping[str, Any], weights: Mapping[str, Tensor]) -> None:
    """Raise ValueError if a setting from a file, such as a number of layers, is too large for the file's weights."""
    most = max([len(weights), *(length for part in weights.values() for length in part.shape)])
    for name, value in settings.items():
        if not isinstance(value, int) or not 0 <= value <= most:
            raise ValueError(f"{name} is {quoted(value)}: expected an integer that fits the weights, at most {most}")


def check_weights(weights: Mapping[str, Tensor], module: nn.Module, prefix: str = "") -> None:
    """Raise ValueError unless weights from a file are finite and match a module's names and shapes."""
    expected = {prefix + name: tuple(part.shape) for name, part in module.state_dict().items()}
    found = {name: tuple(part.shape) for name, part in weights.items()}
    if found != expected:
        one = min(name for name in found.keys() | expected.keys() if found.get(name) != expected.get(name))
        raise ValueError(f"the weights of {quoted(one)} have shape {found.get(one)}: expected {expected.get(one)}")
    for name, part in weights.items():
        if not torch.isfinite(part).all():
            raise ValueError(f"the weights of {quoted(name)} are not finite")


def write(whole: dict[str, Any], path: str | Path) -> None:
    """Write a dictionary with `torch.save`, atomically."""
    with in_one_piece(path) as part:
        torch.save(whole, part)


def read(path: str | Path) -> Any:
    """Return what `write` wrote: tensors, numbers, strings, lists and dictionaries. Raises ValueError for others."""
    try:
        return torch.load(path, map_location="cpu", weights_only=True)
    except FileNotFoundError:
        raise ValueError(f"there is no file {str(path)!r}") from None
    except Exception as error:  # damaged files make the parser raise anything
        reason = str(error).partition("\n")[0]
        raise ValueError(
            f"{str(path)!r} cannot be read: expected a file that torch.save has written ({reason})"
        ) from error
