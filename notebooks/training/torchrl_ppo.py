"""TorchRL's PPO by self-play on the PettingZoo environment: one network plays all seats.

    python notebooks/training/torchrl_ppo.py runs/torchrl chameleon -o size=4

TorchRL's own PettingZooWrapper passes masks and turns on. Each ply has a row for every player, with what they see and
their reward: advantages are estimated along each player's rows, and then only the rows of the player who has acted are
learned from. The file `networks.pt` in the folder holds the weights of policy and value.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from time import perf_counter
from typing import Annotated

import torch
import typer
from pbm_agents import evaluate
from pbm_agents.learning.training_log import TrainingLog
from tensordict import TensorDict
from tensordict.nn import TensorDictModule
from torch import nn
from torchrl.envs import SerialEnv
from torchrl.envs.libs.pettingzoo import PettingZooWrapper
from torchrl.envs.utils import ExplorationType
from torchrl.modules import MaskedCategorical, ProbabilisticActor
from torchrl.objectives import ClipPPOLoss
from torchrl.objectives.value import GAE

from pbm_envs import Game
from pbm_envs.envs.factories import make_aec_env
from pbm_envs.registry import parse_game

warnings.filterwarnings("ignore", "PettingZoo in TorchRL is tested")  # with 1.24.3; newer ones do
ENVS = 4
PLIES = 128
"""Of each game between updates."""
SEEN, PLAYED, VALUE = ("player", "observation", "observation"), ("player", "action"), ("player", "state_value")


def environment(game: Game) -> PettingZooWrapper:
    env = make_aec_env(game)
    return PettingZooWrapper(env, use_mask=True, done_on_any=False, group_map={"player": env.possible_agents[:]})


class Network(nn.Module):
    """(..., rows, cols, planes) -> (..., outputs)."""

    def __init__(self, game: Game, outputs: int) -> None:
        super().__init__()
        rows, cols, planes = game.observation_shape
        layers = (
            nn.Linear(rows * cols * planes, 128),
            nn.Tanh(),
            nn.Linear(128, 128),
            nn.Tanh(),
            nn.Linear(128, outputs),
        )
        self.layers = nn.Sequential(*layers)

    def forward(self, seen: torch.Tensor) -> torch.Tensor:
        return self.layers(seen.flatten(-3).float())


def new_networks(game: Game) -> nn.ModuleDict:
    return nn.ModuleDict({"policy": Network(game, game.num_actions), "value": Network(game, 1)})


def scores_of(networks: nn.ModuleDict):
    """For `evaluate`: observations and masks -> logits."""

    def scores(observations, masks):
        with torch.no_grad():
            return networks["policy"](torch.from_numpy(observations))

    return scores


def decisions(rollout: TensorDict) -> TensorDict:
    """(N,) of a rollout (..., plies): of its rows (..., plies, players) that of the player who acted in each ply."""
    rows = rollout["player"][rollout["player", "mask"]]
    return TensorDict({"player": rows}, rows.batch_size)


def train(out: Path, game: Game, steps: int, seed: int, games: int, tensorboard: bool = False) -> nn.ModuleDict:
    out.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    env = SerialEnv(ENVS, lambda: environment(game))
    env.set_seed(seed)
    networks = new_networks(game)
    actor = ProbabilisticActor(
        TensorDictModule(networks["policy"], [SEEN], [("player", "logits")]),
        in_keys={"logits": ("player", "logits"), "mask": ("player", "action_mask")},
        out_keys=[PLAYED],
        distribution_class=MaskedCategorical,
        default_interaction_type=ExplorationType.RANDOM,  # or it plays its best action while it trains
        return_log_prob=True,
        log_prob_key=("player", "log_prob"),
    )
    value = TensorDictModule(networks["value"], [SEEN], [VALUE])
    loss = ClipPPOLoss(actor, value, entropy_coeff=0.01, critic_coeff=0.5)
    advantage = GAE(gamma=1.0, lmbda=0.95, value_network=value)
    learned = {"advantage": ("player", "advantage"), "value_target": ("player", "value_target"), "value": VALUE}
    ends = {name: ("player", name) for name in ("reward", "done", "terminated")}
    loss.set_keys(action=PLAYED, sample_log_prob=("player", "log_prob"), **learned, **ends)
    advantage.set_keys(**learned, **ends)
    optimizer = torch.optim.Adam(loss.parameters(), 1e-3)
    print("before:", evaluate(scores_of(networks), game, games=games)["random"])
    start = perf_counter()
    updates = -(-steps // (ENVS * PLIES))
    log = TrainingLog(out, updates * ENVS * PLIES, tensorboard=tensorboard)
    for update in range(updates):
        with torch.no_grad():
            rollout = env.rollout(PLIES, actor, break_when_any_done=False)
            rows = decisions(advantage(rollout))
        for _ in range(8):
            for chosen in torch.randperm(len(rows)).split(128):
                losses = loss(rows[chosen])
                optimizer.zero_grad()
                (losses["loss_objective"] + losses["loss_critic"] + losses["loss_entropy"]).backward()
                nn.utils.clip_grad_norm_(loss.parameters(), 0.5)
                optimizer.step()
        log.advance(ENVS * PLIES)
        if (update + 1) * 10 // updates > update * 10 // updates:
            score = evaluate(scores_of(networks), game, games=max(20, games // 8))["random"].score.value
            log.advance(0, score=score)
            log.record({"plies": (update + 1) * ENVS * PLIES, "score": round(score, 4)})
    log.close()
    seconds = perf_counter() - start
    print(f"{steps:,} plies in {seconds:.0f} s, {steps / seconds:,.0f} a second")
    print("after:", evaluate(scores_of(networks), game, games=games)["random"])
    torch.save(networks.state_dict(), out / "networks.pt")
    return networks


def main(
    out: Annotated[Path, typer.Argument(help="A folder for the networks.")],
    game: Annotated[str, typer.Argument(help="chameleon, curio, trinim or unlur.")] = "chameleon",
    options: Annotated[list[str] | None, typer.Option("--option", "-o", metavar="NAME=VALUE")] = None,
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
    train(out, rules, steps, seed, games, tensorboard)


if __name__ == "__main__":
    typer.run(main)
