"""AlphaZero's loop: self-play with a search that the network guides, a replay buffer, a network that learns from it."""

import tempfile

import numpy as np
import torch
from pbm_agents import PUCT, Search, evaluate
from pbm_agents.learning.network import PolicyValueNetwork
from pbm_agents.learning.replay_buffer import ReplayBuffer
from pbm_agents.learning.self_play import SelfPlay, self_play
from pbm_agents.learning.training_data import augmented

from pbm_envs import Trinim


def train(rounds=8, games=32, simulations=32, game=None):
    game, rng = game or Trinim(num_players=3), np.random.default_rng(1)
    network = PolicyValueNetwork(game, hidden=64, layers=2)
    optimizer = torch.optim.Adam(network.parameters(), 1e-3)
    buffer = ReplayBuffer(tempfile.mkdtemp(), game, capacity=20_000)
    rule = PUCT(noise=0.25)
    search = Search(simulations=simulations, evaluator=network.evaluator(), selection=rule, parallel_simulations=4)
    settings = SelfPlay(exploring_plies=6, resign_below=-0.95 if game.num_players == 2 else None)
    for _ in range(rounds):
        buffer.add(self_play(game, search, games, rng, settings))
        for _ in range(50):
            batch = buffer.sample(256, rng)
            batch = augmented(game, batch, rng.integers(len(game.symmetries), size=256))
            logits, values = network(torch.from_numpy(batch.observations), torch.from_numpy(batch.masks))
            policy_loss = -(torch.from_numpy(batch.policies) * logits.log_softmax(dim=1)).sum(dim=1).mean()
            # returns and values are of all players, from the player to move on: no sign flips, also among three
            value_loss = (values - torch.from_numpy(batch.returns)).square().mean()
            optimizer.zero_grad()
            (policy_loss + value_loss).backward()
            optimizer.step()
    return evaluate(lambda *seen: network.priors_and_values(*seen)[0], game, games=300)["random"]


if __name__ == "__main__":
    torch.manual_seed(1)
    print(train())
