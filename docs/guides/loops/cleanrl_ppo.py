"""PPO with masks by self-play, in CleanRL's manner: one network plays both seats of many games at once."""

import numpy as np
import torch
from pbm_agents import evaluate
from torch import nn
from torch.distributions import Categorical

from pbm_envs import Chameleon, chameleon_v0

GAMES, PLIES, UPDATES = 64, 32, 40


def train(updates=UPDATES, size=4):
    game = Chameleon(size=size)
    envs = chameleon_v0.vector_env(GAMES, size=size)
    body = nn.Sequential(nn.Flatten(), nn.Linear(int(np.prod(game.observation_shape)), 128), nn.ReLU())
    policy, critic = nn.Linear(128, game.num_actions), nn.Linear(128, 1)
    network = nn.ModuleList([body, policy, critic])
    optimizer = torch.optim.Adam(network.parameters(), 1e-3)

    def look(observations, masks):  # -> a distribution over actions, and what the player to move expects
        hidden = body(torch.as_tensor(observations).float())
        logits = policy(hidden).masked_fill(~torch.as_tensor(masks).bool(), -1e9)
        return Categorical(logits=logits, validate_args=False), critic(hidden)[:, 0]

    observations, info = envs.reset(seed=1)
    for _ in range(updates):
        rows = []
        for _ in range(PLIES):
            masks, players = info["action_mask"], info["to_move"]
            with torch.no_grad():
                choice, values = look(observations, masks)
            actions = choice.sample()
            step = (observations, masks, players, actions, choice.log_prob(actions), values)
            observations, _, terminated, truncated, info = envs.step(actions.numpy())
            over, rewards = terminated | truncated, info["rewards"].copy()
            if (cut := np.flatnonzero(truncated & ~terminated)).size:  # worth what the next player expects
                final = info["final_info"]
                with torch.no_grad():
                    expected = look(np.stack(list(info["final_obs"][cut])), final["action_mask"][cut])[1].numpy()
                rewards[cut, final["to_move"][cut]] += expected
                rewards[cut, 1 - final["to_move"][cut]] -= expected
            rows.append((*step, torch.as_tensor(rewards), torch.as_tensor(over)))
        with torch.no_grad():
            after = look(observations, info["action_mask"])[1]
        players = torch.as_tensor(info["to_move"]).long()
        gains = torch.stack([torch.where(players == k, after, -after) for k in range(2)], dim=1)  # by seat
        targets = []
        for *_, rewards, over in reversed(rows):  # what each player gets, from the last ply backwards
            gains = rewards + gains * ~over[:, None]
            targets.append(gains)
        whole = [torch.cat([torch.as_tensor(row[k]) for row in rows]) for k in range(6)]
        observed, legal, players, actions, chances, values = whole
        own = torch.cat(targets[::-1])[torch.arange(len(players)), players.long()]  # of the player to move
        advantages = (own - values - (own - values).mean()) / ((own - values).std() + 1e-8)
        for _ in range(3):
            for k in torch.randperm(len(own)).split(512):
                choice, expected = look(observed[k], legal[k])
                ratio = (choice.log_prob(actions[k]) - chances[k]).exp()
                surrogate = torch.min(ratio * advantages[k], ratio.clamp(0.8, 1.2) * advantages[k]).mean()
                loss = (expected - own[k]).square().mean() - surrogate - 0.01 * choice.entropy().mean()
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()

    def best(observations, masks):
        with torch.no_grad():
            return look(observations, masks)[0].logits

    return evaluate(best, game, games=200)["random"]


if __name__ == "__main__":
    torch.manual_seed(1)
    print(train())
