"""Tianshou's DQN by self-play on the PettingZoo environment: one learner has all seats.

    python notebooks/training/tianshou_dqn.py runs/tianshou chameleon -o size=4

Tianshou's own PettingZooEnv passes masks and turns on. Each ply is one entry of its buffer, whoever has moved, so that
the next position in which the same player is to move comes `num_players` plies later: that is the horizon of the
returns. The file `policy.pt` in the folder holds the network's weights.
"""

from __future__ import annotations

import logging
from pathlib import Path
from time import perf_counter
from typing import Annotated

import numpy as np
import torch
import typer
from pbm_agents import evaluate
from pbm_agents.learning.training_log import TrainingLog
from tianshou.algorithm import DQN, MultiAgentOffPolicyAlgorithm
from tianshou.algorithm.modelfree.dqn import DiscreteQLearningPolicy
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.data import Batch, Collector, CollectStats, VectorReplayBuffer
from tianshou.env import DummyVectorEnv
from tianshou.env.pettingzoo_env import PettingZooEnv
from tianshou.trainer import OffPolicyTrainerParams
from tianshou.utils.net.common import Net

from pbm_envs import Game
from pbm_envs.envs.factories import make_aec_env
from pbm_envs.registry import parse_game

ENVS = 16
FIRST_PLIES = 125 * ENVS
"""Plies in the buffer before the first update."""
logging.getLogger("tianshou").setLevel(logging.ERROR)  # or each collection warns of returns that are one a player


def environment(game: Game) -> PettingZooEnv:
    return PettingZooEnv(make_aec_env(game))


def new_policy(game: Game) -> DiscreteQLearningPolicy:
    env = environment(game)
    net = Net(state_shape=game.observation_shape, action_shape=game.num_actions, hidden_sizes=[128, 128])
    return DiscreteQLearningPolicy(model=net, action_space=env.action_space, eps_training=0.2, eps_inference=0.0)


def scores_of(policy: DiscreteQLearningPolicy):
    """For `evaluate`: observations and masks -> the expected return of each action."""

    def scores(observations, masks):
        with torch.no_grad():
            return policy(Batch(obs=Batch(obs=observations, mask=masks), info=Batch())).logits.numpy()

    return scores


def train(
    out: Path, game: Game, steps: int, seed: int, games: int, tensorboard: bool = False
) -> DiscreteQLearningPolicy:
    out.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    np.random.seed(seed)  # noqa: NPY002  Tianshou's exploration and buffer draw from this stream
    policy = new_policy(game)
    scores = scores_of(policy)
    learner = DQN(
        policy=policy,
        optim=AdamOptimizerFactory(lr=1e-3),
        gamma=0.98,
        n_step_return_horizon=2 * game.num_players,
        target_update_freq=200,
    )
    all_seats = MultiAgentOffPolicyAlgorithm(algorithms=[learner] * game.num_players, env=environment(game))
    envs = DummyVectorEnv([lambda: environment(game)] * ENVS)
    envs.seed(seed)
    collector = Collector[CollectStats](all_seats, envs, VectorReplayBuffer(50_000, ENVS), exploration_noise=True)
    collector.reset()
    print("before:", evaluate(scores, game, games=games)["random"])
    start = perf_counter()
    log, seen = TrainingLog(out, FIRST_PLIES + steps, tensorboard=tensorboard), [0]
    collector.collect(n_step=FIRST_PLIES)
    log.advance(FIRST_PLIES)

    def progress(_: int, played: int) -> None:
        """Before each collection: the bar, and ten times in the run the score."""
        log.advance(played - seen[0])
        if played * 10 // steps > seen[0] * 10 // steps:
            score = evaluate(scores, game, games=max(20, games // 8))["random"].score.value
            log.advance(0, score=score)
            log.record({"plies": played, "score": round(score, 4)})
        seen[0] = played

    all_seats.run_training(
        OffPolicyTrainerParams(
            training_collector=collector,
            max_epochs=1,
            epoch_num_steps=steps,
            collection_step_num_env_steps=5 * ENVS,
            batch_size=256,
            update_step_num_gradient_steps_per_sample=0.2,
            training_fn=progress,
            show_progress=False,
            verbose=False,
        )
    )
    log.advance(steps - seen[0])
    log.close()
    seconds = perf_counter() - start
    print(f"{steps:,} plies in {seconds:.0f} s, {steps / seconds:,.0f} a second")
    print("after:", evaluate(scores, game, games=games)["random"])
    torch.save(policy.state_dict(), out / "policy.pt")
    return policy


def main(
    out: Annotated[Path, typer.Argument(help="A folder for the policy.")],
    game: Annotated[str, typer.Argument(help="chameleon, curio, trinim or unlur.")] = "chameleon",
    options: Annotated[list[str] | None, typer.Option("--option", "-o", metavar="NAME=VALUE")] = None,
    steps: Annotated[int, typer.Option(min=1, help="Plies of self-play.")] = 40_000,
    seed: int = 1,
    games: Annotated[int, typer.Option(min=1, help="Of each evaluation.")] = 400,
    tensorboard: Annotated[bool, typer.Option(help="Write for TensorBoard, too.")] = False,
) -> None:
    """Train a DQN, and say how it does against random play before and after."""
    try:
        rules = parse_game(game, options)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
    train(out, rules, steps, seed, games, tensorboard)


if __name__ == "__main__":
    typer.run(main)
