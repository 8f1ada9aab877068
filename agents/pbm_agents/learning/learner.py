"""The learner of a training run: a network, its optimizer, and perhaps a critic, updated with examples of self-play."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, final

import numpy as np

from pbm_envs import Game
from pbm_envs.toolbox import quoted

from ..common.pytorch import improve, torch
from .critic import Critic
from .network import PolicyValueNetwork
from .replay_buffer import ReplayBuffer
from .settings import Training
from .small_training import SmallModule
from .training_data import augmented

WIDTHS = 4
"""Units of a small network's first layer per unit of its second."""


def make_network(game: Game, settings: Training) -> PolicyValueNetwork | SmallModule:
    """Return a network with random weights."""
    if settings.network == "small":
        return SmallModule(game, settings.hidden, max(1, settings.hidden // WIDTHS))
    return PolicyValueNetwork(game, settings.hidden, settings.layers)


def check_device(device: str) -> None:
    """Raise ValueError unless PyTorch can use a device of this name here."""
    try:
        torch.zeros(1, device=device)
    except (RuntimeError, AssertionError) as error:
        reason = str(error).partition("\n")[0]
        raise ValueError(
            f"device is {quoted(device)}: expected one that PyTorch can use here, such as cpu ({reason})"
        ) from None


@final
class Learner:
    """A network that learns from a replay buffer."""

    def __init__(self, game: Game, settings: Training, device: str = "cpu") -> None:
        """Make a learner with random weights, which computes on a PyTorch device."""
        self.game, self.settings, self.device = game, settings, torch.device(device)
        self.network = make_network(game, settings).to(self.device)
        self.optimizer = torch.optim.AdamW(
            self.network.parameters(), settings.learning_rate, weight_decay=settings.weight_decay
        )
        self.critic = Critic(game, settings, device) if settings.critic_share else None

    def learn(
        self, buffer: ReplayBuffer, updates: int, rng: np.random.Generator, stopped: Callable[[], bool] = lambda: False
    ) -> dict[str, float]:
        """Update the network, and the critic if there is one; return the mean losses.

        Args:
            buffer: Examples, from which batches are drawn.
            updates: The number of updates.
            rng: Draws the batches, and for a small network a symmetry for each example.
            stopped: Called before each update. After it has returned True, the learner must not be used any more.
        """
        losses = np.zeros(3)
        self.network.train()
        for _ in range(updates):
            if stopped():
                break
            losses += self._update(buffer, rng)
        self.network.eval()
        policy_mean, value_mean, critic_mean = (losses / max(1, updates)).tolist()
        means = {"policy_loss": policy_mean, "value_loss": value_mean}
        return means if self.critic is None else means | {"critic_loss": critic_mean}

    def _update(self, buffer: ReplayBuffer, rng: np.random.Generator) -> tuple[float, float, float]:
        """Make one update; return the losses of policy, value and critic."""
        batch = buffer.sample(self.settings.batch, rng)
        if isinstance(self.network, SmallModule):  # the other network sees canonical forms
            batch = augmented(self.game, batch, rng.integers(len(self.game.symmetries), size=len(batch.returns)))
        observations, masks, policies, targets = (
            torch.from_numpy(part).to(self.device)
            for part in (batch.observations, batch.masks, batch.policies, batch.returns)
        )
        logits, values = self.network(observations, masks)
        policy_loss = -(policies * logits.log_softmax(dim=1)).sum(dim=1).mean()
        critic_loss = 0.0
        if self.critic is not None:
            critic_loss, targets = self.critic.learn(batch)
        value_loss = self.network.value_loss(values, targets)
        improve(self.optimizer, policy_loss + value_loss)
        return policy_loss.item(), value_loss.item(), critic_loss

    def state(self) -> dict[str, Any]:
        """Return the weights and the optimizer's state, for a checkpoint."""
        own = {"learner": self.network.state_dict(), "optimizer": self.optimizer.state_dict()}
        return own if self.critic is None else own | self.critic.state()

    def restore(self, saved: dict[str, Any]) -> None:
        """Load the output of `state`."""
        self.network.load_state_dict(saved["learner"])
        self.optimizer.load_state_dict(saved["optimizer"])
        if self.critic is not None:
            self.critic.restore(saved)
        self.network.eval()
