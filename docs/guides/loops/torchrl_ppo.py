"""TorchRL's PPO from one seat: the mask comes with the infos."""

import gymnasium
import torch
from pbm_agents import evaluate
from tensordict.nn import TensorDictModule
from torch import nn
from torchrl.envs import GymWrapper
from torchrl.envs.utils import ExplorationType
from torchrl.modules import MaskedCategorical, ProbabilisticActor, ValueOperator
from torchrl.objectives import ClipPPOLoss
from torchrl.objectives.value import GAE

import pbm_envs


class Layers(nn.Module):
    def __init__(self, outputs):
        super().__init__()
        self.layers = nn.Sequential(nn.LazyLinear(128), nn.ReLU(), nn.Linear(128, outputs))

    def forward(self, observation):
        return self.layers(observation.flatten(-3).float())


class Policy(Layers):
    def forward(self, observation, action_mask):
        return super().forward(observation), action_mask.bool()


def train(updates=30, size=3):
    game = pbm_envs.Chameleon(size=size)
    env = GymWrapper(gymnasium.make("pbm/Chameleon-v0", size=size), categorical_action_encoding=True)
    env = env.auto_register_info_dict()  # action_mask, seat, opponent, score
    policy, value = Policy(game.num_actions), ValueOperator(Layers(1), in_keys=["observation"])
    actor = ProbabilisticActor(
        TensorDictModule(policy, ["observation", "action_mask"], ["logits", "mask"]),
        in_keys=["logits", "mask"],
        distribution_class=MaskedCategorical,
        default_interaction_type=ExplorationType.RANDOM,  # or it plays its best action while it trains
        return_log_prob=True,
    )
    with torch.no_grad():  # the lazy layers learn their sizes
        value(actor(env.reset()))
    loss, advantage = ClipPPOLoss(actor, value), GAE(gamma=1.0, lmbda=0.95, value_network=value)
    optimizer = torch.optim.Adam(loss.parameters(), 1e-3)
    for _ in range(updates):
        with torch.no_grad():
            rollout = advantage(env.rollout(256, actor, break_when_any_done=False))
        for _ in range(4):
            for rows in torch.randperm(256).split(64):
                losses = loss(rollout[rows])
                optimizer.zero_grad()
                (losses["loss_objective"] + losses["loss_critic"] + losses["loss_entropy"]).backward()
                optimizer.step()

    def best(observations, masks):
        with torch.no_grad():
            return policy(torch.from_numpy(observations), torch.from_numpy(masks))[0]

    return evaluate(best, game, games=200)["random"]


if __name__ == "__main__":
    torch.manual_seed(1)
    print(train())
