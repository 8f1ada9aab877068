"""MaskablePPO of sb3-contrib from one seat, against random play and its own past selves."""

import copy

from pbm_agents import PolicyAgent, evaluate
from pbm_agents.arena.league import League
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback

from pbm_envs import Chameleon
from pbm_envs.adapters.sb3 import GamesVecEnv


def as_policy(model):
    return lambda observations, masks: model.predict(observations, action_masks=masks)[0]


class PastSelves(BaseCallback):
    """After every fourth rollout the policy of that moment becomes an opponent."""

    def __init__(self, league):
        super().__init__()
        self.league, self.rollouts = league, 0

    def _on_step(self):
        return True

    def _on_rollout_end(self):
        self.rollouts += 1
        if self.rollouts % 4 == 0:
            past = copy.deepcopy(self.model.policy)
            self.league.add(f"rollout {self.rollouts}", PolicyAgent(as_policy(past)))
        self.league.assign(self.training_env)  # who is met how often follows from the scores


def train(steps=50_000, size=4):
    game, league = Chameleon(size=size), League({"random": "random"})
    env = GamesVecEnv(game, 32, opponent=league.agents)
    model = MaskablePPO("MlpPolicy", env, n_steps=64, batch_size=256, learning_rate=1e-3, seed=1)
    model.learn(steps, callback=PastSelves(league))
    for score in env.opponent_scores():
        print(f"against {score.name}: {score.games} games, score {score.score:.2f}")
    return evaluate(as_policy(model), game, games=200)["random"]


if __name__ == "__main__":
    print(train())
