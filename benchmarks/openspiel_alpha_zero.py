"""A champion against OpenSpiel's own AlphaZero, trained here for some minutes through our adapter. Chameleon 5x5.

    pip install -e ".[bench]" flax optax chex orbax-checkpoint
    python benchmarks/openspiel_alpha_zero.py --minutes 20 --games 40

The training is `open_spiel.python.algorithms.alpha_zero` as it is, with one actor; it is ended from outside when its
time is over, and its last checkpoint plays, by `MCTSBot` with its network. The champion plays by the clock. Every
opening (two random moves) is played from each seat. The result is added to `results/openspiel_alpha_zero.txt`.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import typer
from champions import score_of
from machine import machine
from pbm_agents import make_agent
from pbm_agents.arena.evaluation import wilson

from pbm_envs import Chameleon, Game
from pbm_envs.adapters import openspiel

RESULTS = Path(__file__).parent / "results" / "openspiel_alpha_zero.txt"
GAME = Chameleon(size=5)
SETTINGS: dict[str, Any] = {
    "learning_rate": 0.001,
    "weight_decay": 1e-4,
    "decouple_weight_decay": True,
    "train_batch_size": 256,
    "replay_buffer_size": 2**11,
    "replay_buffer_reuse": 8,
    "max_steps": 0,
    "checkpoint_freq": 1,
    "actors": 1,
    "evaluators": 0,
    "evaluation_window": 50,
    "eval_levels": 2,  # with one it divides by zero
    "uct_c": 2.0,
    "max_simulations": 50,
    "policy_alpha": 0.5,
    "policy_epsilon": 0.25,
    "temperature": 1.0,
    "temperature_drop": 6,
    "nn_model": "mlp",
    "nn_width": 128,
    "nn_depth": 3,
    "verbose": False,
    "quiet": True,
}


def configuration(folder: str) -> Any:
    from open_spiel.python.algorithms.alpha_zero import alpha_zero

    spiel = openspiel.load(GAME)
    shape = tuple(spiel.observation_tensor_shape())
    return alpha_zero.Config(
        game=str(spiel), path=folder, observation_shape=shape, output_size=spiel.num_distinct_actions(), **SETTINGS
    )


def train(folder: str) -> None:
    """Train without end, in the process that `main` ends."""
    from open_spiel.python.algorithms.alpha_zero import alpha_zero

    alpha_zero.alpha_zero(configuration(folder))


class AlphaZeroBot:
    """An agent: OpenSpiel's `MCTSBot` with the network of a checkpoint."""

    def __init__(self, folder: str, step: int, simulations: int) -> None:
        from open_spiel.python.algorithms import mcts
        from open_spiel.python.algorithms.alpha_zero import alpha_zero, evaluator

        config = configuration(folder)
        model = alpha_zero._init_model_from_config(config)
        model.load_checkpoint(step)
        self.spiel = openspiel.load(GAME)
        self.bot = mcts.MCTSBot(
            self.spiel,
            config.uct_c,
            simulations,
            evaluator.AlphaZeroEvaluator(self.spiel, model),
            solve=False,
            child_selection_fn=mcts.SearchNode.puct_value,
            dont_return_chance_node=True,
        )

    def act(self, game: Game, views: Any, rng: np.random.Generator) -> Any:
        """As `Agent.act`, one view after another."""
        worlds = game.determinize(views, rng)  # nothing is hidden
        return np.array([self.bot.step(self.spiel.enter(worlds[row : row + 1])) for row in range(len(worlds))])


def last_checkpoint(folder: str) -> int:
    return max(int(path.name.partition("-")[2]) for path in Path(folder).glob("checkpoint-[0-9]*"))


def train_and_play(folder: str, minutes: float, games: int, simulations: int, seconds: float) -> None:
    print(f"training for {minutes:g} minutes", flush=True)
    words = [sys.executable, __file__, "--training", folder]
    process = subprocess.Popen(words, start_new_session=True, stdout=subprocess.DEVNULL)
    try:
        time.sleep(60 * minutes)
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    step = last_checkpoint(folder)
    if step == 0:
        sys.exit(f"{minutes:g} minutes were too few for OpenSpiel's learner to make a step: expected more --minutes")
    bot = AlphaZeroBot(folder, step, simulations)
    lines = [machine(), f"Chameleon 5x5; AlphaZero of OpenSpiel: {minutes:g} minutes, {step} steps, one actor"]
    for name in ("champion", "mcts"):
        shares, times = score_of(GAME, (make_agent(f"{name}:seconds={seconds}"), bot), games)
        score = wilson(float(np.mean(shares)), len(shares))
        lines.append(
            f"{name}: {score.value:.3f} ({score.low:.3f} to {score.high:.3f}) {len(shares)} games, "
            f"{1000 * times[0]:.1f} ms a move against {1000 * times[1]:.1f} ms for {simulations} simulations"
        )
        print(lines[-1], flush=True)
    with open(RESULTS, "a", encoding="utf-8") as file:
        print("\n".join(lines), file=file)


def main(
    minutes: float = 20.0, games: int = 40, simulations: int = 200, seconds: float = 0.05, training: str = ""
) -> None:
    """Train, then play. `training`: only train, in this folder."""
    if training:
        train(training)
        return
    with tempfile.TemporaryDirectory() as folder:
        train_and_play(folder, minutes, games, simulations, seconds)


if __name__ == "__main__":
    typer.run(main)
