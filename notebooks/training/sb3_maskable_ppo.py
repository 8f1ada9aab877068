"""MaskablePPO of sb3-contrib from one seat against an agent, `random` or any other by name.

    python notebooks/training/sb3_maskable_ppo.py runs/sb3 chameleon -o size=5
    python notebooks/training/sb3_maskable_ppo.py runs/sb3 chameleon -o size=5 --envs 1    # through gymnasium.make

The file `model.zip` in the folder is for `MaskablePPO.load`.
"""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import Annotated

import gymnasium
import torch
import typer
from pbm_agents import Agent, evaluate, make_agent
from pbm_agents.options import game_of
from sb3_contrib import MaskablePPO
from stable_baselines3.common.vec_env import VecEnv

from pbm_envs import Game
from pbm_envs.adapters.sb3 import GamesVecEnv


def environment(game: Game, envs: int, opponent: Agent) -> gymnasium.Env | VecEnv:
    """One game as Gymnasium has it, which Stable-Baselines3 takes as it is; or many as one batch."""
    if envs == 1:
        return gymnasium.make(f"pbm/{type(game).__name__}-v0", opponent=opponent, **game.options)
    return GamesVecEnv(game, envs, opponent=opponent)


def policy_of(model: MaskablePPO):
    """For `evaluate`: observations and masks -> actions."""
    return lambda observations, masks: model.predict(observations, action_masks=masks, deterministic=True)[0]


def train(out: Path, game: Game, opponent: Agent, envs: int, steps: int, seed: int, games: int) -> MaskablePPO:
    out.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(1)
    model = MaskablePPO(
        "MlpPolicy",
        environment(game, envs, opponent),
        n_steps=max(16, 2048 // envs),  # of each game between updates
        batch_size=512,
        n_epochs=4,
        learning_rate=1e-3,
        ent_coef=0.01,
        policy_kwargs={"net_arch": [128, 128]},
        seed=seed,
    )
    policy = policy_of(model)
    print("before:", evaluate(policy, game, games=games)["random"])
    start = perf_counter()
    model.learn(steps)
    seconds = perf_counter() - start
    print(f"{model.num_timesteps:,} steps in {seconds:.0f} s, {model.num_timesteps / seconds:,.0f} a second")
    print("after:", evaluate(policy, game, games=games)["random"])
    model.save(out / "model.zip")
    return model


def main(
    out: Annotated[Path, typer.Argument(help="A folder for the model.")],
    game: Annotated[str, typer.Argument(help="chameleon, curio, trinim or unlur.")] = "chameleon",
    options: Annotated[list[str] | None, typer.Option("--option", "-o", metavar="NAME=VALUE")] = None,
    opponent: Annotated[str, typer.Option(help="An agent by name.")] = "random",
    envs: Annotated[int, typer.Option(min=1, help="Games side by side.")] = 64,
    steps: Annotated[int, typer.Option(min=1, help="Moves of the learner.")] = 200_000,
    seed: int = 1,
    games: Annotated[int, typer.Option(min=1, help="Of each evaluation.")] = 400,
) -> None:
    """Train MaskablePPO, and say how it does against random play before and after."""
    try:
        rules, agent = game_of(game, options), make_agent(opponent)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
    train(out, rules, agent, envs, steps, seed, games)


if __name__ == "__main__":
    typer.run(main)
