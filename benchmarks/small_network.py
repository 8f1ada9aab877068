"""A small network for Chameleon 7x7: a teacher's games, training, and matches against the search with playouts.

    python benchmarks/small_network.py games DATA.npz --seconds 540
    python benchmarks/small_network.py train DATA.npz chameleon7.npz       (extra `torch`)
    python benchmarks/small_network.py match chameleon7.npz                (writes results/small_network.txt)

`train` also prints how often held-out moves and results are predicted.
"""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import typer
from machine import machine
from matches import Chooser, play_out
from pbm_agents import PUCT, Search
from pbm_agents.learning.small_network import SmallNetwork

from pbm_envs import Chameleon

GAME = Chameleon(size=7, swap_rule=False)
TEACHER = Search(simulations=400)
OPENING, BATCH, HELD_BACK = 4, 256, 30_000
RULE = PUCT(first_play_reduction=0.2)
app = typer.Typer(add_completion=False)


@app.command()
def games(out: Path, seconds: float = 540.0, seed: int = 5) -> None:
    """Play games of the teacher against itself for `seconds` of processor time, after four random moves."""
    rng, began, parts, first = np.random.default_rng(seed), time.process_time(), [], 0
    while time.process_time() - began < seconds:
        states, turns = GAME.init(BATCH, rng), []
        while not states["done"].all():
            live = np.flatnonzero(~states["done"])
            some = states[live]
            if some["ply"][0] < OPENING:
                actions = np.array([rng.choice(np.flatnonzero(mask)) for mask in GAME.legal_action_mask(some)])
            else:
                actions = np.array([result.best for result in TEACHER.run(GAME, some, rng)])
                turns.append((some.copy(), actions, live))
            GAME.step(some, actions)
            states[live] = some
        seen, moves, rows = (np.concatenate(part) for part in zip(*turns, strict=True))
        parts.append((seen, moves.astype(np.int16), states["returns"][rows]))
        first += BATCH
    seen, moves, returns = (np.concatenate(part) for part in zip(*parts, strict=True))
    np.savez(out, states=seen, actions=moves, returns=returns)
    print(f"{first:,} games, {len(moves):,} positions")


@app.command()
def train(data: Path, out: Path, epochs: int = 10) -> None:
    """Train a network on the teacher's games and write it."""
    import torch
    from pbm_agents.learning.small_training import exported, fit

    torch.set_num_threads(1)  # more threads wait for each other on a busy machine
    with np.load(data) as file:
        found, actions, returns = file["states"], file["actions"].astype(np.int64), file["returns"]
    states = np.zeros(len(found), GAME.dtype)
    for name in GAME.dtype.names or ():
        states[name] = found[name]
    cut, began = len(states) - HELD_BACK, time.perf_counter()
    network = exported(fit(GAME, states[:cut], actions[:cut], returns[:cut], epochs=epochs))
    network.save(out)
    masks = GAME.legal_action_mask(states[cut:])
    priors, values = network(GAME, states[cut:], masks, np.zeros(HELD_BACK, np.uint64), None)
    order, right = np.argsort(-priors, axis=1), actions[cut:, None]
    print(
        f"{cut:,} positions, {time.perf_counter() - began:.0f} s; of {HELD_BACK:,} others the teacher's move is first "
        f"{(order[:, :1] == right).mean():.1%}, among five {(order[:, :5] == right).any(axis=1).mean():.1%}, "
        f"the winner right {(np.sign(values) == np.sign(returns[cut:])).mean():.1%}"
    )


def play(one: Search, other: Search, pairs: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Play games with exchanged seats; return the points of `one`, (2 pairs,), and the processor seconds of both."""
    rng, points, seconds = np.random.default_rng(seed), [], np.zeros(2)

    def chooser(search: Search) -> Chooser:
        return lambda states: [result.best for result in search.run(GAME, states, rng)]

    start = GAME.init(pairs, rng)
    for _ in range(OPENING):
        GAME.step(start, [rng.choice(np.flatnonzero(mask)) for mask in GAME.legal_action_mask(start)])
    for seat in (0, 1):
        states = start.copy()
        spent, _ = play_out(GAME, states, seat, (chooser(one), chooser(other)))
        seconds += spent
        points.append((1 + states["returns"][:, seat]) / 2)
    return np.concatenate(points), seconds


@app.command()
def match(network: Path, pairs: int = 200, out: Path = Path(__file__).parent / "results" / "small_network.txt") -> None:
    """Play the network against playouts with RAVE, at equal simulations and at equal processor time."""
    evaluator, lines = SmallNetwork.load(network), [machine(), ""]
    playouts = Search(simulations=400)

    def of(simulations: int) -> Search:
        return Search(simulations=simulations, selection=RULE, evaluator=evaluator)

    play(of(10), Search(simulations=10), 2, 0)  # compiles
    _, (mine, theirs) = play(of(400), playouts, 20, 1)
    fewer = round(400 * theirs / mine)
    lines.append(f"{'network, simulations':>21} {'playouts':>9} {'score':>16} {'games':>6} {'seconds of both':>16}")
    for simulations in (400, fewer):
        points, (mine, theirs) = play(of(simulations), playouts, pairs, simulations)
        error = points.std(ddof=1) / len(points) ** 0.5
        score = f"{points.mean():.3f} +- {1.96 * error:.3f}"
        lines.append(f"{simulations:>21} {400:>9} {score:>16} {len(points):>6} {f'{mine:.1f}, {theirs:.1f}':>16}")
    lines.append(
        "\nThe interval is one of 95%. The second row has as many simulations as take the same processor time."
    )
    out.write_text("\n".join(lines) + "\n")
    print("\n".join(lines))


if __name__ == "__main__":
    app()
