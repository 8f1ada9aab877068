"""RLlib's PPO by self-play on the PettingZoo environment, played in several processes: one policy has all seats.

    python notebooks/training/rllib_ppo.py runs/rllib chameleon -o size=4

The folder is a checkpoint: `Algorithm.from_checkpoint` goes on from it; `load` takes the policy out of it, without Ray.
"""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import Annotated, Any

import ray
import torch
import typer
from pbm_agents import evaluate
from pbm_agents.learning.training_log import TrainingLog
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.columns import Columns
from ray.rllib.core.rl_module import MultiRLModuleSpec, RLModule, RLModuleSpec
from ray.rllib.examples.rl_modules.classes.action_masking_rlm import ActionMaskingTorchRLModule
from ray.tune.registry import register_env

from pbm_envs import Game, make_game
from pbm_envs.adapters.rllib import MultiAgentGame
from pbm_envs.envs.aec import BoardGameAECEnv
from pbm_envs.registry import parse_game


def environment(config: dict[str, Any]) -> MultiAgentGame:
    return MultiAgentGame(BoardGameAECEnv(make_game(config["game"], **config["options"])))


def configuration(game: Game, runners: int, batch: int, seed: int) -> PPOConfig:
    register_env("pbm", environment)
    network = {"fcnet_hiddens": [128, 128], "head_fcnet_hiddens": []}
    module = RLModuleSpec(module_class=ActionMaskingTorchRLModule, model_config=network)
    return (
        PPOConfig()
        .environment(
            "pbm",
            env_config={"game": game.name, "options": dict(game.options)},
            disable_env_checking=True,  # it plays an action without a look at the mask
        )
        .env_runners(
            num_env_runners=runners,
            num_envs_per_env_runner=4,
            sample_timeout_s=600,  # after a minute it would go on without a sample: compiling takes time, once
        )
        .multi_agent(policies={"policy"}, policy_mapping_fn=lambda agent, episode, **_: "policy")
        .rl_module(rl_module_spec=MultiRLModuleSpec(rl_module_specs={"policy": module}))
        .training(
            train_batch_size_per_learner=batch,
            minibatch_size=min(256, batch),
            num_epochs=6,
            lr=1e-3,
            entropy_coeff=0.01,
            gamma=1.0,
            lambda_=0.95,
        )
        .debugging(seed=seed)
    )


def scores_of(module: RLModule):
    """For `evaluate`: observations and masks -> logits."""

    def scores(observations, masks):
        seen = torch.from_numpy(observations).flatten(1).float()
        with torch.no_grad():
            batch = {Columns.OBS: {"observations": seen, "action_mask": torch.from_numpy(masks).float()}}
            return module.forward_inference(batch)[Columns.ACTION_DIST_INPUTS]

    return scores


def load(folder: Path) -> RLModule:
    return RLModule.from_checkpoint(folder.absolute() / "learner_group" / "learner" / "rl_module" / "policy")


def train(
    out: Path,
    game: Game,
    runners: int,
    steps: int,
    seed: int,
    games: int,
    batch: int = 2000,
    tensorboard: bool = False,
) -> None:
    out.mkdir(parents=True, exist_ok=True)
    ray.init(
        "local", num_cpus=runners + 1, include_dashboard=False, log_to_driver=False, object_store_memory=200_000_000
    )
    try:
        algorithm = configuration(game, runners, batch, seed).build_algo()
        policy = scores_of(algorithm.get_module("policy"))
        print("before:", evaluate(policy, game, games=games)["random"])
        start, played = perf_counter(), 0
        with TrainingLog(out, steps, tensorboard=tensorboard) as log:
            while played < steps:
                before, played = played, int(algorithm.train()["env_runners"]["num_env_steps_sampled_lifetime"])
                score = evaluate(policy, game, games=max(20, games // 8))["random"].score.value
                log.advance(played - before, score=score)
                log.record({"plies": played, "score": round(score, 4)})
        seconds = perf_counter() - start
        print(f"{played:,.0f} plies in {seconds:.0f} s, {played / seconds:,.0f} a second")
        print("after:", evaluate(policy, game, games=games)["random"])
        algorithm.save_to_path(out.absolute())
        algorithm.stop()
    finally:
        ray.shutdown()


def main(
    out: Annotated[Path, typer.Argument(help="A folder for the checkpoint.")],
    game: Annotated[str, typer.Argument(help="chameleon, curio, trinim or unlur.")] = "chameleon",
    options: Annotated[list[str] | None, typer.Option("--option", "-o", metavar="NAME=VALUE")] = None,
    runners: Annotated[int, typer.Option(min=0, help="Processes that play; 0: this one.")] = 2,
    steps: Annotated[int, typer.Option(min=1, help="Plies of self-play.")] = 40_000,
    seed: int = 1,
    games: Annotated[int, typer.Option(min=1, help="Of each evaluation.")] = 400,
    tensorboard: Annotated[bool, typer.Option(help="Write for TensorBoard, too.")] = False,
) -> None:
    """Train PPO, and say how it does against random play before and after."""
    try:
        rules = parse_game(game, options)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
    train(out, rules, runners, steps, seed, games, tensorboard=tensorboard)


if __name__ == "__main__":
    typer.run(main)
