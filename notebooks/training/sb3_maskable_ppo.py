"""MaskablePPO of sb3-contrib from one seat against an agent, `random` or any other by name.

    python notebooks/training/sb3_maskable_ppo.py runs/sb3 chameleon -o size=5
    python notebooks/training/sb3_maskable_ppo.py runs/sb3 chameleon -o size=5 --envs 1    # through gymnasium.make
    python notebooks/training/sb3_maskable_ppo.py runs/sb3 chameleon -o size=5 --league hard  # and past selves

With `--league` the learner meets the opponent and its own past selves, ten in the course of the run, drawn by
prioritized fictitious self-play (`pbm_agents.arena.league`); at the end `payoffs.png` shows everybody against
everybody. The file `model.zip` in the folder is for `MaskablePPO.load`; `curve.csv` holds the running score, and
`progress.csv` is Stable-Baselines3's own log (`rollout/ep_rew_mean` is the mean return of the last 100 games).
"""

from __future__ import annotations

import copy
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any

import gymnasium
import torch
import typer
from pbm_agents import PolicyAgent, evaluate, make_agent
from pbm_agents.arena.league import WEIGHTINGS, League, payoffs
from pbm_agents.arena.plots import plot_head_to_head, save_plot
from pbm_agents.learning.training_log import TrainingLog
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import configure
from stable_baselines3.common.vec_env import VecEnv, VecMonitor

from pbm_envs import Game
from pbm_envs.adapters.sb3 import GamesVecEnv
from pbm_envs.registry import parse_game

PAST_SELVES = 10


def environment(game: Game, envs: int, opponent: Any) -> gymnasium.Env | VecEnv:
    """Return one game as Gymnasium has it, or many as one batch, monitored in both cases.

    Stable-Baselines3 wraps a single environment in its monitor by itself, but a batch only if it is told to. Without
    a monitor its own log has no returns and no lengths of episodes.
    """
    if envs == 1:
        return gymnasium.make(f"pbm/{type(game).__name__}-v0", opponent=opponent, **game.options)
    return VecMonitor(GamesVecEnv(game, envs, opponent=opponent))


def policy_of(model: MaskablePPO | MaskableActorCriticPolicy, deterministic: bool = True):
    """For `evaluate`: observations and masks -> actions."""
    return lambda observations, masks: model.predict(observations, action_masks=masks, deterministic=deterministic)[0]


class Progress(BaseCallback):
    """Moves the bar, and writes the running score; with past selves, adds one now and then and sets the opponents."""

    def __init__(self, log: TrainingLog, league: League, steps: int, past_selves: int) -> None:
        super().__init__()
        self.log, self.league, self.steps, self.past_selves = log, league, steps, past_selves
        self.seen = 0

    def _on_step(self) -> bool:
        return True

    def _on_rollout_end(self) -> None:
        [scores, *_] = self.training_env.env_method("opponent_scores")
        self.league.update(scores)
        met = [score.recent for score in self.league.scores.values()]
        mean = sum(met) / max(1, len(met))
        self.log.advance(self.num_timesteps - self.seen, score=mean)
        self.log.record({"steps": self.num_timesteps, "score": round(mean, 4), "opponents": len(self.league.agents)})
        self.seen = self.num_timesteps
        if len(self.league.agents) - 1 < self.past_selves * self.num_timesteps / self.steps:
            past = copy.deepcopy(self.model.policy)
            self.league.add(f"step {self.num_timesteps}", PolicyAgent(policy_of(past, deterministic=False)))
        if self.past_selves:
            self.training_env.env_method("set_opponents", self.league.agents, self.league.weights())


def train(
    out: Path, game: Game, opponent: str, envs: int, steps: int, seed: int, games: int, league: str, tensorboard: bool
) -> MaskablePPO:
    selves = League({opponent: opponent}, league or "uniform")
    out.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(1)
    model = MaskablePPO(
        "MlpPolicy",
        environment(game, envs, selves.agents),
        n_steps=max(16, 2048 // envs),  # of each game between updates
        batch_size=512,
        n_epochs=4,
        learning_rate=1e-3,
        ent_coef=0.01,
        policy_kwargs={"net_arch": [128, 128]},
        seed=seed,
    )
    model.set_logger(configure(str(out), ["csv", "tensorboard"] if tensorboard else ["csv"]))
    policy = policy_of(model)
    print("before:", evaluate(policy, game, games=games)["random"])
    start = perf_counter()
    with TrainingLog(out, steps, unit="step", tensorboard=tensorboard) as log:
        model.learn(steps, callback=Progress(log, selves, steps, PAST_SELVES if league else 0))
    model.logger.close()
    seconds = perf_counter() - start
    print(f"{model.num_timesteps:,} steps in {seconds:.0f} s, {model.num_timesteps / seconds:,.0f} a second")
    print("after:", evaluate(policy, game, games=games)["random"])
    model.save(out / "model.zip")
    if league and game.num_players == 2:
        now = PolicyAgent(policy_of(model.policy, deterministic=False))
        table = payoffs(game, selves.agents | {"now": now}, openings=10, seed=seed)
        save_plot(plot_head_to_head(table, f"Past selves: {game!r}"), out / "payoffs")
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
    league: Annotated[str, typer.Option(help=f"Past selves, too: {', '.join(WEIGHTINGS)}; '' for none.")] = "",
    tensorboard: Annotated[bool, typer.Option(help="Write for TensorBoard, too.")] = False,
) -> None:
    """Train MaskablePPO, and say how it does against random play before and after."""
    try:
        rules, _ = parse_game(game, options), make_agent(opponent)
        League({"": ""}, league or "uniform")
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
    train(out, rules, opponent, envs, steps, seed, games, league, tensorboard)


if __name__ == "__main__":
    typer.run(main)
