"""Masked PPO by self-play, in one file: any game, in CleanRL's manner.

    python notebooks/training/ppo.py runs/chameleon chameleon -o size=5
    python notebooks/training/ppo.py runs/league chameleon -o size=5 --league hard    # against past selves
    pbm tournament results -g chameleon:size=5 -a network:file=runs/chameleon/network.pt -a mcts:simulations=100

One network plays all seats. A reward reaches every player in the ply in which it falls, whoever has moved; what players
still expect is what the network says at their own turns, by what they see then (the others' views, in Curio, know other
things). A game that a limit of plies cuts off is worth what the network says of its last position.

With `--league` the network trains from one seat, against random play and its own past selves, one a stage, drawn by
prioritized fictitious self-play (`pbm_agents.arena.league`); at the end `payoffs.png` shows everybody against
everybody.

The folder holds `network.pt`, `curve.csv` and `curve.jsonl` (an evaluation against random play a line) and
`checkpoint.pt`, of the last stage; `past` the past selves. Each stage has random numbers of its own: killed at any
moment, the same command goes on after the last stage, and finds what it would have found. `--tensorboard` also writes
for TensorBoard.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from time import perf_counter, process_time
from typing import Annotated, Any, NamedTuple

import numpy as np
import torch
import typer
from pbm_agents import evaluate
from pbm_agents.arena.league import WEIGHTINGS, League, payoffs
from pbm_agents.arena.plots import plot_head_to_head, save_plot
from pbm_agents.learning.network import NetworkAgent, PolicyValueNetwork, read, write
from pbm_agents.learning.training_log import TrainingLog
from torch import Tensor
from torch.distributions import Categorical

from pbm_envs.envs.opponents import OpponentScore
from pbm_envs.envs.vector import BoardGameVectorEnv
from pbm_envs.registry import parse_game

STAGES = 1_000_003
"""More than a run has: stage k of seed s has the seed s * STAGES + k."""


class Plies(NamedTuple):
    """T plies of N games of P players."""

    observations: Tensor
    """(T, N, rows, cols, planes) int8, of the player to move."""
    masks: Tensor
    """(T, N, A) bool"""
    movers: Tensor
    """(T, N) the player to move."""
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
    last: Tensor
    """(T, N, P) what each player expects, by seat, of a game that a limit has cut off here; 0 elsewhere."""


def play(
    envs: BoardGameVectorEnv, seen: tuple[Any, Any], network: PolicyValueNetwork, plies: int
) -> tuple[Plies, Tensor, Any]:
    """So many plies; what every player expects after them, (N, P) by seat; and what is seen then."""
    played = []
    for _ in range(plies):
        observations, masks, movers, values, logits = evaluate_positions(network, *seen)
        choice = Categorical(logits=logits, validate_args=False)
        actions = choice.sample()
        observed, _, terminated, truncated, info = envs.step(actions.cpu().numpy())
        seen = observed, info
        rewards = torch.from_numpy(info["rewards"]).to(network.device)
        ends = torch.from_numpy(terminated | truncated).to(network.device)
        last = torch.zeros_like(rewards)
        if len(cut := np.flatnonzero(truncated & ~terminated)):
            final = {name: info["final_info"][name][cut] for name in ("action_mask", "to_move")}
            if "seat" in info["final_info"]:  # the observation is the seat's
                final["to_move"] = info["final_info"]["seat"][cut]
            _, _, viewers, expected, _ = evaluate_positions(network, np.stack(list(info["final_obs"][cut])), final)
            last[torch.from_numpy(cut).to(network.device)] = rolled(expected, -viewers)
        chances = choice.log_prob(actions)
        played.append((observations, masks, movers, actions, chances, values[:, 0], rewards, ends, last))
    _, _, movers, values, _ = evaluate_positions(network, *seen)
    return Plies(*map(torch.stack, zip(*played, strict=True))), rolled(values, -movers), seen


@torch.no_grad()
def evaluate_positions(
    network: PolicyValueNetwork, observed: Any, info: Any
) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    """Observations, masks, movers, values (N, P) from the mover on, and logits, on the network's device."""
    observations, masks = torch.from_numpy(observed), torch.from_numpy(info["action_mask"]).bool()
    observations, masks = observations.to(network.device), masks.to(network.device)
    logits, values = network(observations, masks)
    return observations, masks, torch.from_numpy(info["to_move"]).long().to(network.device), values, logits


def rolled(values: Tensor, shifts: Tensor) -> Tensor:
    """(..., P) with entry k taken from place k + shift: by seat -> from the mover on, and back with -movers."""
    players = values.shape[-1]
    return values.gather(-1, (torch.arange(players, device=values.device) + shifts[..., None]) % players)


def targets(plies: Plies, expected: Tensor, gamma: float, lam: float) -> Tensor:
    """(T, N, P) what each player gets from each ply on: lambda-returns over the player's own turns.

    `expected` (N, P) after the last ply.
    """
    returns, after = torch.empty_like(plies.rewards), expected
    for t in reversed(range(len(returns))):
        returns[t] = plies.rewards[t] + gamma * (after * ~plies.ends[t, :, None] + plies.last[t])
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
    league: Annotated[str, typer.Option(help=f"Against past selves: {', '.join(WEIGHTINGS)}; '' for self-play.")] = "",
    device: Annotated[str, typer.Option(help="Of the network: cpu, cuda, mps, ...")] = "cpu",
    tensorboard: Annotated[bool, typer.Option(help="Write for TensorBoard, too.")] = False,
) -> list[dict[str, Any]]:
    """Train by self-play. Gives the curve."""
    task = {name: value for name, value in locals().items() if name not in ("out", "options", "tensorboard")}
    try:
        rules = parse_game(game, options)
        selves = League({"random": "random"}, league) if league else None
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
    task["options"] = dict(rules.options)
    torch.set_num_threads(threads)
    torch.manual_seed(seed)
    network = PolicyValueNetwork(rules, hidden, layers).to(device)
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
        if selves:
            selves.update([OpponentScore(**score) for score in saved["scores"]])

    vector = BoardGameVectorEnv(rules, envs)
    for stage in range(len(curve) if selves else 0):
        selves.add(f"stage {stage}", past_self(out, stage, network))
    spent = (curve[-1]["seconds"], curve[-1]["processor_seconds"]) if curve else (0.0, 0.0)
    began = perf_counter() - spent[0], process_time() - spent[1]
    each = updates * plies * envs
    log = TrainingLog(out, stages * each, curve=curve, done=len(curve) * each, tensorboard=tensorboard)
    for stage in range(len(curve), stages):
        seed_of_stage = seed * STAGES + stage
        torch.manual_seed(seed_of_stage)
        if selves:
            vector = BoardGameVectorEnv(rules, envs, opponent=selves.agents)
            vector.set_opponents(selves.agents, selves.weights())
        seen = vector.reset(seed=seed_of_stage * envs)
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
            log.advance(plies * envs, score=curve[-1]["score"] if curve else 0.5, entropy=spread.item())
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
        if selves:
            selves.update(vector.opponent_scores())
            (out / "past").mkdir(exist_ok=True)
            network.save(out / "past" / f"{stage}.pt")
            selves.add(f"stage {stage}", past_self(out, stage, network))
        network.save(out / "network.pt")
        log.record(curve[-1])
        (out / "curve.jsonl").write_text("".join(json.dumps(line) + "\n" for line in curve), encoding="utf-8")
        state = {"network": network.state_dict(), "optimizer": optimizer.state_dict()}
        scores = [asdict(score) for score in selves.scores.values()] if selves else []
        write({"task": task, "curve": curve, "scores": scores} | state, out / "checkpoint.pt")
        log.say(f"{curve[-1]['plies']:,} plies, {curve[-1]['processor_seconds']:.0f} s of processor time, {result}")
    log.close()
    if selves and rules.num_players == 2 and not (out / "payoffs.png").exists():
        table = payoffs(rules, selves.agents, openings=10, seed=seed)
        save_plot(plot_head_to_head(table, f"Past selves: {rules!r}"), out / "payoffs")
    return curve


def past_self(out: Path, stage: int, network: PolicyValueNetwork) -> NetworkAgent:
    """Return the network of an earlier stage, which draws its moves as it did in training."""
    return NetworkAgent(PolicyValueNetwork.load(out / "past" / f"{stage}.pt").to(network.device), temperature=1.0)


if __name__ == "__main__":
    typer.run(main)
