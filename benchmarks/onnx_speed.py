"""What a simulation costs with playouts, and with a network in PyTorch, in ONNX Runtime, and there in eight bits.

    python benchmarks/onnx_speed.py

Microseconds of processor time a simulation of one position, the least of some turns, one thread; the networks are
untrained, which makes no difference. Needs the extras `torch` and `onnx`. Writes `results/onnx_speed.txt`.
"""

from __future__ import annotations

import tempfile
import time
from importlib.metadata import version
from pathlib import Path

import numpy as np
import torch
from machine import machine
from onnxruntime.quantization import QuantType, quantize_dynamic
from pbm_agents import Search, Workspace
from pbm_agents.learning.network import PolicyValueNetwork
from pbm_agents.learning.onnx_evaluator import OnnxEvaluator, export_onnx

from pbm_envs import Chameleon, Game, Unlur

RESULTS = Path(__file__).parent / "results" / "onnx_speed.txt"
WIDTHS, SIMULATIONS, TURNS = (1, 8, 16, 32), 256, 4
NETWORKS = ((64, 2), (192, 3))


def microseconds(search: Search, game: Game) -> float:
    rng, workspace, least = np.random.default_rng(1), Workspace(), np.inf
    states = game.init(1, rng)
    for _ in range(1 + TURNS):
        start = time.process_time()
        [result] = search.run(game, states, rng, workspace=workspace)
        least = min(least, (time.process_time() - start) / result.simulations)
    return 1e6 * least


def main() -> None:
    torch.set_num_threads(1)
    lines = [
        f"{machine()}, torch {version('torch')}, ONNX Runtime {version('onnxruntime')}",
        f"{'':24}" + "".join(f"{f'width {width}':>10}" for width in WIDTHS),
    ]
    with tempfile.TemporaryDirectory() as folder:
        for game in (Chameleon(size=5), Unlur(radius=4), Chameleon()):
            lines.append(repr(game))
            evaluators = {"playouts": None}
            for hidden, layers in NETWORKS:
                network, file = PolicyValueNetwork(game, hidden, layers).eval(), Path(folder, "network.onnx")
                export_onnx(network, file)
                evaluators[f"{layers} x {hidden}, PyTorch"] = network.evaluator()
                evaluators[f"{layers} x {hidden}, ONNX Runtime"] = OnnxEvaluator(file)
                quantize_dynamic(file, small := Path(folder, "int8.onnx"), weight_type=QuantType.QInt8)
                evaluators[f"{layers} x {hidden}, int8"] = OnnxEvaluator(small)
            for name, evaluator in evaluators.items():
                costs = [
                    microseconds(Search(simulations=SIMULATIONS, width=width, evaluator=evaluator), game)
                    for width in WIDTHS
                ]
                lines.append(f"{name:24}" + "".join(f"{cost:10.1f}" for cost in costs))
                print(lines[-1], flush=True)
    RESULTS.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
