"""When does half precision pay on this processor, and what does it change?

    pip install -e ".[bench,torch]" && python benchmarks/half_precision.py

One thread. The two torsos of `PolicyValueNetwork`, with what self-play needs (`priors_and_values`) and with what
training needs (forward and backward), at three batch sizes, in single precision, in bfloat16 (`half=True`) and, without
training, for which its range is too small, in float16 (autocast). They take turns, so that a change of the machine's
speed meets all of them; quoted is the median of the rounds, in processor time, and of the rounds' ratios. And how far
priors and values are from those in single precision.
"""

from __future__ import annotations

import functools
import statistics
import time
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path

import numpy as np
import torch
from machine import machine
from pbm_agents.learning.network import PolicyValueNetwork
from pbm_agents.learning.torsos import ResidualConvolution

from pbm_envs import Chameleon, Curio, Game, sample_actions

ROUNDS, BATCHES = 5, (1, 64, 512)
PRECISIONS = ("single", "bfloat16", "float16")
FLAGS = ("avx2", "avx512f", "avx512_bf16", "avx512_fp16", "amx_bf16", "amx_fp16", "bf16", "fphp")


def networks(game: Game, name: str) -> dict[str, PolicyValueNetwork]:
    """The same weights in each precision."""
    torch.manual_seed(1)
    module = ResidualConvolution(game) if name == "residual" else None
    one = PolicyValueNetwork(game, module=module)
    halves = {"single": one, "bfloat16": PolicyValueNetwork(game, module=one.module, half=True)}
    return halves | {"float16": PolicyValueNetwork(game, module=Float16(one.module))}


class Float16(torch.nn.Module):
    """A module in float16."""

    def __init__(self, module: torch.nn.Module) -> None:
        super().__init__()
        self.inner = module

    def forward(self, seen: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        with torch.autocast("cpu", torch.float16):
            logits, values = self.inner(seen)
        return logits, values


def positions(game: Game, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Observations and masks of random play."""
    rng = np.random.default_rng(1)
    states = game.init(count, rng)
    for _ in range(10):
        game.step(states, sample_actions(game.legal_action_mask(states), rng))
    return game.observe_with_mask(states, states["to_move"])


def training(network: PolicyValueNetwork, observations: np.ndarray, masks: np.ndarray) -> None:
    """Forward and backward."""
    logits, values = network(torch.from_numpy(observations), torch.from_numpy(masks))
    (logits.log_softmax(dim=1)[:, 0].mean() + values.square().mean()).backward()
    network.zero_grad()


def inference(network: PolicyValueNetwork, observations: np.ndarray, masks: np.ndarray) -> None:
    network.priors_and_values(observations, masks)


def seconds(work: Callable[[], None], repeats: int) -> float:
    """Of processor time for each of so many repetitions."""
    start = time.process_time()
    for _ in range(repeats):
        work()
    return (time.process_time() - start) / repeats


def difference(nets: dict[str, PolicyValueNetwork], precision: str, seen: tuple[np.ndarray, np.ndarray]) -> str:
    """Greatest differences of priors and values from those in single precision, in parts of the greatest of these."""
    exact, other = (nets[name].priors_and_values(*seen) for name in ("single", precision))
    return " ".join(f"{float(np.abs(a - b).max() / np.abs(a).max()):.4f}" for a, b in zip(exact, other, strict=True))


def main() -> None:
    torch.set_num_threads(1)
    flags = Path("/proc/cpuinfo").read_text(encoding="utf-8").split() if Path("/proc/cpuinfo").exists() else []
    print(f"{machine()}, torch {version('torch')}")
    print("processor instructions:", ", ".join(flag for flag in FLAGS if flag in flags) or "not known")
    print(f"\nOne thread, median of {ROUNDS} rounds in turns, milliseconds of processor time; times as fast as single.")
    print(f"{'':44} {'single':>9} {'bfloat16':>9} {'times':>6} {'float16':>9} {'times':>6}")
    for game, name in ((Chameleon(), "fully connected"), (Curio(), "fully connected"), (Chameleon(), "residual")):
        nets = networks(game, name)
        for batch in BATCHES:
            line(game, name, nets, inference, batch, PRECISIONS)
        for batch in BATCHES[1:]:
            line(game, name, nets, training, batch, PRECISIONS[:2])
        seen = positions(game, 64)
        for precision in PRECISIONS[1:]:
            what = f"{type(game).__name__} {name} {precision}"
            print(f"{what:44} greatest difference of priors, of values, in parts: {difference(nets, precision, seen)}")


def line(
    game: Game,
    name: str,
    nets: dict[str, PolicyValueNetwork],
    task: Callable[..., None],
    batch: int,
    precisions: Sequence[str],
) -> None:
    """Measure one task at one batch size, and print."""
    seen = positions(game, batch)
    rounds: dict[str, list[float]] = {precision: [] for precision in precisions}
    for precision in precisions:  # warms up
        seconds(functools.partial(task, nets[precision], *seen), 1)
    repeats = max(1, int(0.02 / max(seconds(functools.partial(task, nets["single"], *seen), 1), 1e-5)))
    for _ in range(ROUNDS):
        for precision in precisions:
            rounds[precision].append(seconds(functools.partial(task, nets[precision], *seen), repeats))
    cells = [f"{statistics.median(rounds['single']) * 1e3:9.3f}"]
    for precision in precisions[1:]:
        ratio = statistics.median(a / b for a, b in zip(rounds["single"], rounds[precision], strict=True))
        cells.append(f"{statistics.median(rounds[precision]) * 1e3:9.3f} {ratio:6.2f}")
    what = f"{type(game).__name__} {name} {task.__name__} {batch}"
    print(f"{what:44} {' '.join(cells)}", flush=True)


if __name__ == "__main__":
    main()
