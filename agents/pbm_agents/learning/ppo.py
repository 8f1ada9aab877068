"""Masked proximal policy optimization on the vector environment (Schulman et al. 2017; extra `torch`).

    envs = BoardGameVectorEnv(game, 256)         # self-play, or from one seat with an opponent
    seen = envs.reset(seed=7)
    batch, expected, seen = play(envs, seen, network, plies=16)
    PPO().update(network, optimizer, batch, expected, entropy=0.01)

One network plays all seats that learn. A reward reaches every player in the ply in which it falls, whoever has moved;
what players still expect is what the network says at their own turns, by what they see then (the others' views, in
Curio, know other things). A game that a limit of plies cuts off is worth what the network says of its last position.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, final

import numpy as np

from pbm_envs.envs.vector import BoardGameVectorEnv

from .network import PolicyValueNetwork

try:
    import torch
    from torch import Tensor
    from torch.distributions import Categorical
except ImportError:
    raise ImportError("learning needs PyTorch: pip install 'pbm-envs[torch]'") from None


class Plies(NamedTuple):
    """T plies of N games of P players."""

    observations: Tensor
    """(T, N, rows, cols, planes) int8, of the player to move."""
    masks: Tensor
    """(T, N, A) bool"""
    movers: Tensor
    """(T, N) the player to move."""
    actions: Tensor
    """(T, N)"""
    chances: Tensor
    """(T, N) logarithms of the actions' probabilities."""
    values: Tensor
    """(T, N) what the mover expects."""
    rewards: Tensor
    """(T, N, P) of all players, by seat."""
    ends: Tensor
    """(T, N) the game is over after this ply, and the next is the first of another."""
    last: Tensor
    """(T, N, P) what each player expects, by seat, of a game that a limit has cut off here; 0 elsewhere."""


def play(
    envs: BoardGameVectorEnv, seen: tuple[Any, Any], network: PolicyValueNetwork, plies: int
) -> tuple[Plies, Tensor, Any]:
    """So many plies; what every player expects after them, (N, P) by seat; and what is seen then."""
    played = []
    for _ in range(plies):
        observations, masks, movers, values, logits = evaluate_positions(network, *seen)
        choice = Categorical(logits=logits, validate_args=False)
        actions = choice.sample()
        observed, _, terminated, truncated, info = envs.step(actions.cpu().numpy())
        seen = observed, info
        rewards = torch.from_numpy(info["rewards"]).to(network.device)
        ends = torch.from_numpy(terminated | truncated).to(network.device)
        last = torch.zeros_like(rewards)
        if len(cut := np.flatnonzero(truncated & ~terminated)):
            final = {name: info["final_info"][name][cut] for name in ("action_mask", "to_move")}
            if "seat" in info["final_info"]:  # the observation is the seat's
                final["to_move"] = info["final_info"]["seat"][cut]
            _, _, viewers, expected, _ = evaluate_positions(network, np.stack(list(info["final_obs"][cut])), final)
            last[torch.from_numpy(cut).to(network.device)] = rolled(expected, -viewers)
        chances = choice.log_prob(actions)
        played.append((observations, masks, movers, actions, chances, values[:, 0], rewards, ends, last))
    _, _, movers, values, _ = evaluate_positions(network, *seen)
    return Plies(*map(torch.stack, zip(*played, strict=True))), rolled(values, -movers), seen


@torch.no_grad()
def evaluate_positions(
    network: PolicyValueNetwork, observed: Any, info: Any
) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    """Observations, masks, movers, values (N, P) from the mover on, and logits, on the network's device."""
    observations, masks = torch.from_numpy(observed), torch.from_numpy(info["action_mask"]).bool()
    observations, masks = observations.to(network.device), masks.to(network.device)
    logits, values = network(observations, masks)
    return observations, masks, torch.from_numpy(info["to_move"]).long().to(network.device), values, logits


def rolled(values: Tensor, shifts: Tensor) -> Tensor:
    """(..., P) with entry k taken from place k + shift: by seat -> from the mover on, and back with -movers."""
    players = values.shape[-1]
    return values.gather(-1, (torch.arange(players, device=values.device) + shifts[..., None]) % players)


def targets(plies: Plies, expected: Tensor, gamma: float, lam: float) -> Tensor:
    """(T, N, P) what each player gets from each ply on: lambda-returns over the player's own turns.

    `expected` (N, P) after the last ply.
    """
    returns, after = torch.empty_like(plies.rewards), expected
    for t in reversed(range(len(returns))):
        returns[t] = plies.rewards[t] + gamma * (after * ~plies.ends[t, :, None] + plies.last[t])
        mover = plies.movers[t, :, None]
        own = lam * returns[t].gather(1, mover) + (1 - lam) * plies.values[t, :, None]
        after = returns[t].scatter(1, mover, own)
    return returns


@final
@dataclass(frozen=True)
class PPO:
    """The settings of an update."""

    epochs: int = 3
    """How often it goes through its plies."""
    minibatch: int = 1024
    gamma: float = 1.0
    """Discount of a ply."""
    lam: float = 0.9
    """Lambda, from a player's turn to their next."""
    clip: float = 0.2

    def update(
        self,
        network: PolicyValueNetwork,
        optimizer: torch.optim.Optimizer,
        played: Plies,
        expected: Tensor,
        entropy: float,
    ) -> tuple[float, float]:
        """Learn from some plies.

        Args:
            network: What played them.
            optimizer: Of its parameters.
            played: The plies.
            expected: (N, P) what every player expects after them, by seat.
            entropy: Weight of the entropy.

        Returns:
            The loss of the values and the entropy, in the last minibatch.
        """
        goals = rolled(targets(played, expected, self.gamma, self.lam), played.movers).flatten(0, 1)
        b = Plies(*(part.flatten(0, 1) for part in played))
        advantages = goals[:, 0] - b.values
        for _ in range(self.epochs):
            for k in torch.randperm(len(goals)).split(self.minibatch):
                logits, values = network(b.observations[k], b.masks[k])
                choice = Categorical(logits=logits, validate_args=False)
                gains = (advantages[k] - advantages[k].mean()) / (advantages[k].std(correction=0) + 1e-8)
                ratio = (choice.log_prob(b.actions[k]) - b.chances[k]).exp()
                policy_loss = -torch.min(ratio * gains, ratio.clamp(1 - self.clip, 1 + self.clip) * gains).mean()
                value_loss = (values - goals[k]).square().mean()
                spread = choice.entropy().mean()
                optimizer.zero_grad()
                (policy_loss + 0.5 * value_loss - entropy * spread).backward()
                torch.nn.utils.clip_grad_norm_(network.parameters(), 0.5)
                optimizer.step()
        return value_loss.item(), spread.item()
