"""Masked PPO by self-play, in one file: any of the four games, in CleanRL's manner.

    python notebooks/training/ppo.py runs/chameleon chameleon -o size=5
    pbm tournament results -g chameleon:size=5 -a network:file=runs/chameleon/network.pt -a mcts:simulations=100

One network plays all seats. A reward reaches every player in the ply in which it falls, whoever has moved; what players
still expect is judged at their own turns, by what they see then (the others' views, in Curio, know other things).

The folder holds `network.pt`, `curve.jsonl` (an evaluation against random play a line) and `checkpoint.pt`, of the last
stage. Each stage has luck of its own: killed at any moment, the same command goes on after the last stage, and finds
what it would have found.
"""

from __future__ import annotations

import json
from pathlib import Path
from time import perf_counter, process_time
from typing import Annotated, Any, NamedTuple

import torch
import typer
from pbm_agents import evaluate
from pbm_agents.network import PolicyValueNetwork, read, write
from pbm_agents.options import game_of
from torch import Tensor
from torch.distributions import Categorical

from pbm_envs.vector import VectorGames

STAGES = 1_000_003
"""More than a run has: stage k of seed s has the luck of the number s * STAGES + k."""


class Plies(NamedTuple):
    """T plies of N games of P players."""

    observations: Tensor
    """(T, N, rows, cols, planes) int8, of who is to move."""
    masks: Tensor
    """(T, N, A) bool"""
    movers: Tensor
    """(T, N) who is to move."""
    actions: Tensor
    """(T, N)"""
    chances: Tensor
    """(T, N) logarithms of the actions' probabilities."""
    values: Tensor
    """(T, N) what the mover expects."""
    rewards: Tensor
    """(T, N, P) of all players, by seat."""
    ends: Tensor
    """(T, N) the game is over after this ply, and the next is the first of another."""


def play(
    envs: VectorGames, seen: tuple[Any, Any], network: PolicyValueNetwork, plies: int
) -> tuple[Plies, Tensor, Any]:
    """So many plies; what every player expects after them, (N, P) by seat; and what is seen then."""
    played = []
    for _ in range(plies):
        observations, masks, movers, values, logits = judge(network, *seen)
        choice = Categorical(logits=logits, validate_args=False)
        actions = choice.sample()
        observed, _, terminated, truncated, info = envs.step(actions.numpy())
        seen = observed, info
        rewards, ends = torch.from_numpy(info["rewards"]), torch.from_numpy(terminated | truncated)
        chances = choice.log_prob(actions)
        played.append((observations, masks, movers, actions, chances, values[:, 0], rewards, ends))
    _, _, movers, values, _ = judge(network, *seen)
    return Plies(*map(torch.stack, zip(*played, strict=True))), rolled(values, -movers), seen


@torch.no_grad()
def judge(network: PolicyValueNetwork, observed: Any, info: Any) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    """Observations, masks, movers, values (N, P) from the mover on, and logits."""
    observations, masks = torch.from_numpy(observed), torch.from_numpy(info["action_mask"]).bool()
    logits, values = network(observations, masks)
    return observations, masks, torch.from_numpy(info["to_move"]).long(), values, logits


def rolled(values: Tensor, shifts: Tensor) -> Tensor:
    """(..., P) with entry k taken from place k + shift: by seat -> from the mover on, and back with -movers."""
    players = values.shape[-1]
    return values.gather(-1, (torch.arange(players) + shifts[..., None]) % players)


def targets(plies: Plies, expected: Tensor, gamma: float, lam: float) -> Tensor:
    """(T, N, P) what each player gets from each ply on: lambda-returns over the player's own turns. `expected` (N, P)
    after the last ply.
    """
    returns, after = torch.empty_like(plies.rewards), expected
    for t in reversed(range(len(returns))):
        returns[t] = plies.rewards[t] + gamma * after * ~plies.ends[t, :, None]
        mover = plies.movers[t, :, None]
        own = lam * returns[t].gather(1, mover) + (1 - lam) * plies.values[t, :, None]
        after = returns[t].scatter(1, mover, own)
    return returns


def main(
    out: Annotated[Path, typer.Argument(help="A folder for the network, the curve and the checkpoint.")],
    game: Annotated[str, typer.Argument(help="chameleon, curio, trinim or unlur.")] = "chameleon",
    options: Annotated[list[str] | None, typer.Option("--option", "-o", metavar="NAME=VALUE")] = None,
    stages: Annotated[int, typer.Option(min=1, help="Each starts new games, and ends with an evaluation.")] = 10,
    updates: Annotated[int, typer.Option(min=1, help="Of the network, in a stage.")] = 20,
    envs: Annotated[int, typer.Option(min=1, help="Games side by side.")] = 256,
    plies: Annotated[int, typer.Option(min=1, help="Of each game between two updates.")] = 32,
    epochs: Annotated[int, typer.Option(min=1, help="How often an update goes through its plies.")] = 3,
    minibatch: Annotated[int, typer.Option(min=2)] = 1024,
    learning_rate: Annotated[float, typer.Option(help="At the start; at the end it is 0.")] = 1e-3,
    gamma: Annotated[float, typer.Option(help="Discount of a ply.")] = 1.0,
    lam: Annotated[float, typer.Option(help="Lambda, from a player's turn to their next.")] = 0.9,
    clip: float = 0.2,
    entropy: Annotated[float, typer.Option(help="Weight of the entropy.")] = 0.01,
    hidden: Annotated[int, typer.Option(min=1, help="Units of a layer.")] = 192,
    layers: Annotated[int, typer.Option(min=1)] = 3,
    seed: int = 1,
    games: Annotated[int, typer.Option(min=1, help="Of each evaluation.")] = 400,
    threads: Annotated[int, typer.Option(min=1, help="Of PyTorch.")] = 2,
) -> list[dict[str, Any]]:
    """Train by self-play. Gives the curve."""
    task = {name: value for name, value in locals().items() if name not in ("out", "options")}
    try:
        rules = game_of(game, options)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
    task["options"] = dict(rules.options)
    torch.set_num_threads(threads)
    torch.manual_seed(seed)
    network = PolicyValueNetwork(rules, hidden, layers)
    optimizer = torch.optim.Adam(network.parameters(), learning_rate, eps=1e-5)
    curve: list[dict[str, Any]] = []
    out.mkdir(parents=True, exist_ok=True)
    if (out / "checkpoint.pt").exists():
        saved = read(out / "checkpoint.pt")
        if saved["task"] != task:
            other = {name: value for name, value in saved["task"].items() if value != task[name]}
            raise typer.BadParameter(f"{str(out)!r} holds a run with other settings, {other}: expected another folder")
        network.load_state_dict(saved["network"])
        optimizer.load_state_dict(saved["optimizer"])
        curve = saved["curve"]

    vector = VectorGames(rules, envs)
    spent = (curve[-1]["seconds"], curve[-1]["processor_seconds"]) if curve else (0.0, 0.0)
    began = perf_counter() - spent[0], process_time() - spent[1]
    for stage in range(len(curve), stages):
        luck = seed * STAGES + stage
        torch.manual_seed(luck)
        seen = vector.reset(seed=luck * envs)
        for update in range(updates):
            optimizer.param_groups[0]["lr"] = learning_rate * (1 - (stage + update / updates) / stages)
            batch, expected, seen = play(vector, seen, network, plies)
            goals = rolled(targets(batch, expected, gamma, lam), batch.movers).flatten(0, 1)
            b = Plies(*(part.flatten(0, 1) for part in batch))
            advantages = goals[:, 0] - b.values
            for _ in range(epochs):
                for k in torch.randperm(len(goals)).split(minibatch):
                    logits, values = network(b.observations[k], b.masks[k])
                    choice = Categorical(logits=logits, validate_args=False)
                    gains = (advantages[k] - advantages[k].mean()) / (advantages[k].std(correction=0) + 1e-8)
                    ratio = (choice.log_prob(b.actions[k]) - b.chances[k]).exp()
                    policy_loss = -torch.min(ratio * gains, ratio.clamp(1 - clip, 1 + clip) * gains).mean()
                    value_loss = (values - goals[k]).square().mean()
                    spread = choice.entropy().mean()
                    optimizer.zero_grad()
                    (policy_loss + 0.5 * value_loss - entropy * spread).backward()
                    torch.nn.utils.clip_grad_norm_(network.parameters(), 0.5)
                    optimizer.step()
        policy = lambda observations, masks: network.priors_and_values(observations, masks)[0]  # noqa: E731
        result = evaluate(policy, rules, ["random"], games=games, seed=seed)["random"]
        curve.append(
            {
                "plies": (stage + 1) * updates * plies * envs,
                "seconds": round(perf_counter() - began[0], 2),
                "processor_seconds": round(process_time() - began[1], 2),
                "score": result.score.value,
                "low": result.score.low,
                "high": result.score.high,
                "wins": result.wins,
                "draws": result.draws,
                "losses": result.losses,
                "entropy": round(spread.item(), 4),
                "value_loss": round(value_loss.item(), 4),
            }
        )
        network.save(out / "network.pt")
        (out / "curve.jsonl").write_text("".join(json.dumps(line) + "\n" for line in curve), encoding="utf-8")
        state = {"network": network.state_dict(), "optimizer": optimizer.state_dict()}
        write({"task": task, "curve": curve} | state, out / "checkpoint.pt")
        print(
            f"{curve[-1]['plies']:,} plies, {curve[-1]['processor_seconds']:.0f} s of processor time, {result}",
            flush=True,
        )
    return curve


if __name__ == "__main__":
    typer.run(main)
