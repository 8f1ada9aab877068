"""An asymmetric critic: a network that sees the full state, hidden information included, and only helps training."""

from __future__ import annotations

from typing import Any, final

from pbm_envs import Game

from ..common.pytorch import Tensor, improve, torch
from .network import PolicyValueNetwork
from .settings import Training
from .training_data import Examples


@final
class Critic:
    """A critic that learns game results from full states and provides value targets for the network that plays.

    A game's result depends on hidden information as much as on the view. Over all states consistent with a view, the
    critic's prediction has the same mean as the result and less noise (asymmetric actor-critic: Pinto et al. 2018).
    The network that plays contains no part of the critic.
    """

    def __init__(self, game: Game, settings: Training, device: str = "cpu") -> None:
        """Make a critic on a device; `settings.critic_share` is its weight in the targets."""
        self.network = PolicyValueNetwork(game, settings.hidden, settings.layers).to(device)
        self.optimizer = torch.optim.AdamW(
            self.network.parameters(), settings.learning_rate, weight_decay=settings.weight_decay
        )
        self.share = settings.critic_share

    def learn(self, batch: Examples) -> tuple[float, Tensor]:
        """Update the critic with a batch that has full observations.

        Return its loss, and (N, P) targets for the values of the network that sees views.
        """
        returns, observations, masks = (
            torch.from_numpy(part).to(self.network.device)
            for part in (batch.returns, batch.full_observations, batch.masks)
        )
        _, values = self.network(observations, masks)
        loss = (values - returns).square().mean()
        improve(self.optimizer, loss)
        return loss.item(), (1 - self.share) * returns + self.share * values.detach()

    def state(self) -> dict[str, Any]:
        """Return the weights and the optimizer's state, for a checkpoint."""
        return {"critic": self.network.state_dict(), "critic_optimizer": self.optimizer.state_dict()}

    def restore(self, saved: dict[str, Any]) -> None:
        """Load the output of `state`."""
        self.network.load_state_dict(saved["critic"])
        self.optimizer.load_state_dict(saved["critic_optimizer"])
