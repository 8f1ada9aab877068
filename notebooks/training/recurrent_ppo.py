"""PPO of a policy with memory, a GRU, from one seat: any game, made for Curio.

    python notebooks/training/recurrent_ppo.py runs/gru curio -o base=2 -o rows=4 -o cols=3
    pbm tournament results -g curio:base=2,rows=4,cols=3 -a recurrent:file=runs/gru/gru.pt -a random

The memory of a game begins at zero and goes through the learner's turns; a rollout starts with the memory that the last
one ended with, and gradients go back to its beginning. The opponent is an agent by name. `gru.pt` in the folder is the
network, `curve.csv` the score against the opponent while it trained, which `--tensorboard` also writes for TensorBoard.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import torch
import typer
from pbm_agents import evaluate
from pbm_agents.learning.recurrent import RecurrentAgent, RecurrentNetwork
from pbm_agents.learning.training_log import TrainingLog
from torch import Tensor
from torch.distributions import Categorical

from pbm_envs import Game
from pbm_envs.envs.vector import BoardGameVectorEnv
from pbm_envs.registry import parse_game

Rollout = dict[str, Tensor]
"""(T, N, ...) observations, masks, actions, chances, values, rewards (with what cut-off games are worth), ends;
`memory` (N, hidden) before the first turn."""


@torch.no_grad()
def play(
    envs: BoardGameVectorEnv, seen: Any, info: Any, network: RecurrentNetwork, memory: Tensor, turns: int
) -> tuple[Rollout, Any, Any, Tensor]:
    """So many turns of each game; then what is seen next, and the memory."""
    rows: list[tuple[Tensor, ...]] = []
    before = memory
    for _ in range(turns):
        planes, masks = torch.from_numpy(seen), torch.from_numpy(info["action_mask"]).bool()
        logits, values, memory = network(planes, masks, memory)
        choice = Categorical(logits=logits, validate_args=False)
        actions = choice.sample()
        seen, reward, terminated, truncated, info = envs.step(actions.numpy())
        if len(cut := np.flatnonzero(truncated & ~terminated)):  # worth what the network expects of the last position
            last = torch.from_numpy(np.stack(list(info["final_obs"][cut])))
            legal = torch.from_numpy(info["final_info"]["action_mask"][cut]).bool()
            reward[cut] += network(last, legal, memory[cut])[1].numpy()
        ends = torch.from_numpy(terminated | truncated)
        memory = memory * ~ends[:, None]
        rows.append((planes, masks, actions, choice.log_prob(actions), values, torch.from_numpy(reward), ends))
    names = ("observations", "masks", "actions", "chances", "values", "rewards", "ends")
    rollout = dict(zip(names, map(torch.stack, zip(*rows, strict=True)), strict=True))
    _, after, _ = network(torch.from_numpy(seen), torch.from_numpy(info["action_mask"]).bool(), memory)
    return rollout | {"memory": before, "after": after}, seen, info, memory


def targets(rollout: Rollout, lam: float) -> Tensor:
    """(T, N) lambda-returns, without discount."""
    returns, following = torch.empty_like(rollout["rewards"]), rollout["after"]
    for t in reversed(range(len(returns))):
        returns[t] = rollout["rewards"][t] + following * ~rollout["ends"][t]
        following = lam * returns[t] + (1 - lam) * rollout["values"][t]
    return returns


def update(
    network: RecurrentNetwork, optimizer: torch.optim.Optimizer, rollout: Rollout, epochs: int, parts: int
) -> None:
    """PPO over whole sequences; a minibatch is some of the games."""
    goals = targets(rollout, lam=0.9)
    gains = goals - rollout["values"]
    gains = (gains - gains.mean()) / (gains.std() + 1e-8)
    for _ in range(epochs):
        for games in torch.randperm(goals.shape[1]).chunk(parts):
            some = {name: part[:, games] for name, part in rollout.items() if name not in ("memory", "after")}
            memory = rollout["memory"][games]
            logits, values = network.unroll(some["observations"], some["masks"], memory, some["ends"])
            choice = Categorical(logits=logits, validate_args=False)
            ratio = (choice.log_prob(some["actions"]) - some["chances"]).exp()
            policy_loss = -torch.min(ratio * gains[:, games], ratio.clamp(0.8, 1.2) * gains[:, games]).mean()
            value_loss = (values - goals[:, games]).square().mean()
            loss = policy_loss + 0.5 * value_loss - 0.01 * choice.entropy().mean()
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(network.parameters(), 0.5)
            optimizer.step()


def train(
    out: Path, game: Game, opponent: str, updates: int, envs: int, seed: int, games: int, tensorboard: bool = False
) -> RecurrentNetwork:
    out.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    network, turns = RecurrentNetwork(game), 32
    optimizer = torch.optim.Adam(network.parameters(), 1e-3, eps=1e-5)
    vector = BoardGameVectorEnv(game, envs, opponent=opponent)
    (seen, info), memory = vector.reset(seed=seed), network.start(envs)
    print("before:", evaluate(RecurrentAgent(network), game, games=games)["random"])
    with TrainingLog(out, updates * turns * envs, unit="turn", tensorboard=tensorboard) as log:
        for number in range(updates):
            rollout, seen, info, memory = play(vector, seen, info, network, memory, turns)
            update(network, optimizer, rollout, epochs=3, parts=4)
            [score] = vector.opponent_scores()
            log.advance(turns * envs, score=score.recent)
            if (number + 1) * 10 // updates > number * 10 // updates:
                log.record({"turns": (number + 1) * turns * envs, "score": round(score.recent, 4)})
    print("after:", evaluate(RecurrentAgent(network), game, games=games)["random"])
    network.save(out / "gru.pt")
    return network


def main(
    out: Annotated[Path, typer.Argument(help="A folder for the network.")],
    game: Annotated[str, typer.Argument(help="curio, or another game.")] = "curio",
    options: Annotated[list[str] | None, typer.Option("--option", "-o", metavar="NAME=VALUE")] = None,
    opponent: Annotated[str, typer.Option(help="An agent by name.")] = "random",
    updates: Annotated[int, typer.Option(min=1, help="Of the network.")] = 100,
    envs: Annotated[int, typer.Option(min=4, help="Games side by side.")] = 64,
    seed: int = 1,
    games: Annotated[int, typer.Option(min=1, help="Of each evaluation.")] = 400,
    tensorboard: Annotated[bool, typer.Option(help="Write for TensorBoard, too.")] = False,
) -> None:
    """Train a GRU by PPO, and say how it does against random play before and after."""
    try:
        rules = parse_game(game, options)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
    train(out, rules, opponent, updates, envs, seed, games, tensorboard)


if __name__ == "__main__":
    typer.run(main)
