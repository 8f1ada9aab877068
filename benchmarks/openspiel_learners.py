"""Train OpenSpiel's own NFSP, Deep CFR and ESCHER on Leduc poker, for comparison with the learners of this repository.

    python benchmarks/openspiel_learners.py [--minutes 5] [--seeds 1] [--learner NFSP ...]

They are the PyTorch implementations in `open_spiel.python.pytorch`, with the settings of OpenSpiel's examples (for
Deep CFR also those that its example recommends in a comment). Exploitability is computed by OpenSpiel, in our unit: the
mean over both players of what a best response gains, where 16 chips are 1. Moves are those of the players; in Deep CFR
and ESCHER, those that their traversals visit. A run has some minutes of processor time. Each finished run is a line of
`curio_bench/learners.jsonl`, so a stopped command resumes; `learner_curves.py` writes the table. Needs OpenSpiel,
dm-tree and the extra `torch`.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from typing import Annotated, Any

import numpy as np
import pyspiel
import torch
import typer
from learner_curves import PATH, VERSION, rows
from open_spiel.python import policy as policies
from open_spiel.python import rl_environment
from open_spiel.python.pytorch import deep_cfr, escher, nfsp

GAME, CHIPS = "leduc_poker", 16
Probabilities = Callable[[Any], dict[int, float]]
Progress = Iterator[tuple[int, Callable[[], Probabilities]]]
"""Moves so far, and how to get the solution at that moment: the probabilities of the actions in a state."""


def exploitability(probabilities: Probabilities) -> float:
    """Return the exploitability of a policy as OpenSpiel computes it, in our unit."""
    game = pyspiel.load_game(GAME)
    table = policies.tabular_policy_from_callable(game, probabilities)
    return float(pyspiel.exploitability(game, policies.python_policy_to_pyspiel_policy(table))) / CHIPS


def train_nfsp(seed: int) -> Progress:
    """Yield after each game, with the settings of `examples/nfsp_leduc_pytorch.py`."""
    env = rl_environment.Environment(GAME)
    env.seed(seed)
    size, actions = env.observation_spec()["info_state"][0], env.action_spec()["num_actions"]
    settings: dict[str, Any] = {
        "reservoir_buffer_capacity": 2_000_000,
        "anticipatory_param": 0.1,
        "replay_buffer_capacity": 200_000,
        "loss_str": "mse",
        "update_target_network_every": 19_200,
        "discount_factor": 1.0,
        "epsilon_decay_duration": 20_000_000,
        "epsilon_start": 0.06,
        "epsilon_end": 0.001,
    }
    agents = [nfsp.NFSP(player, size, actions, [128], seed=10 * seed + player, **settings) for player in range(2)]

    def probabilities(state: Any) -> dict[int, float]:
        player, legal = state.current_player(), state.legal_actions()
        seen: dict[str, Any] = {"info_state": [None, None], "legal_actions": [None, None], "current_player": player}
        seen["info_state"][player], seen["legal_actions"][player] = state.information_state_tensor(player), legal
        step = rl_environment.TimeStep(observations=seen, rewards=None, discounts=None, step_type=None)
        with agents[player].temp_mode_as(nfsp.MODE.AVERAGE_POLICY):
            found = agents[player].step(step, is_evaluation=True).probs
        return {action: found[action] for action in legal}

    moves = 0
    while True:
        step = env.reset()
        while not step.last():
            player = step.observations["current_player"]
            step = env.step([agents[player].step(step).action])
            moves += 1
        for agent in agents:
            agent.step(step)
        yield moves, lambda: probabilities


def train_deep_cfr(seed: int, traversals: int, layers: tuple[int, ...], batch: int, steps: int, last: int) -> Progress:
    """Yield after each iteration of Deep CFR; `steps` and `last` are updates of its two kinds of networks."""
    np.random.seed(seed)  # noqa: NPY002 (OpenSpiel draws from it)
    solver = deep_cfr.DeepCFRSolver(
        pyspiel.load_game(GAME),
        policy_network_layers=layers,
        advantage_network_layers=layers,
        num_iterations=1,
        num_traversals=traversals,
        learning_rate=1e-3,
        batch_size_advantage=batch,
        batch_size_strategy=batch,
        memory_capacity=1_000_000,
        policy_network_train_steps=last,
        advantage_network_train_steps=steps,
        seed=seed,
    )
    visited, choose, learn = [0], solver._sample_action_from_advantage, solver._learn_strategy_network

    def counting(*arguments: Any) -> Any:
        visited[0] += 1
        return choose(*arguments)

    def solution() -> Probabilities:
        solver._reinitialize_policy_network()
        learn()
        found: Probabilities = solver.action_probabilities
        return found

    solver._sample_action_from_advantage, solver._learn_strategy_network = counting, lambda: None
    while True:
        solver.solve()  # one iteration; the policy network learns when it is asked for
        yield visited[0], solution


def train_escher(seed: int) -> Progress:
    """Yield after each iteration, with the settings of `examples/escher.py`."""
    np.random.seed(seed)  # noqa: NPY002 (OpenSpiel draws from it)
    torch.manual_seed(seed)
    game = pyspiel.load_game(GAME)
    agent, settings = escher.Agent(game, escher.Config()), escher.TrainConfig(game)

    def probabilities(state: Any) -> dict[int, float]:
        found = agent.action_probabilities(state)
        return {action: found[action] for action in state.legal_actions()}

    def solution() -> Probabilities:
        escher._train_avg_policy(agent)
        return probabilities

    while True:
        escher._train_regret(settings, agent)
        agent.t += 1
        yield agent.num_touched, solution


LEARNERS: dict[str, Callable[[int], Progress]] = {
    "NFSP": train_nfsp,
    "Deep CFR, as in its example": lambda seed: train_deep_cfr(seed, 375, (64,), 256, 375, 2500),
    "Deep CFR, as recommended": lambda seed: train_deep_cfr(seed, 1500, (64, 64, 64), 2048, 750, 5000),
    "ESCHER": train_escher,
}


def run(name: str, seed: int, minutes: float) -> None:
    """Train, and write the measurements after 1/16, 1/4 and all of the time, which they are not part of."""
    began = start = time.process_time()
    spent, at, curve = 0.0, 60 * minutes / 16, []
    for moves, solution in LEARNERS[name](seed):
        if spent + time.process_time() - start >= at:
            probabilities = solution()
            spent += time.process_time() - start
            point = {"moves": moves, "seconds": round(spent, 3), "exploitability": exploitability(probabilities)}
            curve.append(point)
            print(name, seed, point, flush=True)
            if spent >= 60 * minutes:
                break
            while at <= spent:
                at *= 4
            start = time.process_time()
    row = {"version": VERSION, "game": "leduc", "learner": f"OpenSpiel: {name}", "seed": seed, "curve": curve}
    row["whole"] = round(time.process_time() - began, 3)
    with PATH.open("a", encoding="utf-8") as file:
        file.write(json.dumps(row) + "\n")


def main(
    minutes: Annotated[float, typer.Option(help="Processor time of a run.")] = 5.0,
    seeds: Annotated[int, typer.Option(help="Runs of each learner.")] = 1,
    learner: Annotated[list[str] | None, typer.Option(help="Only this learner. Repeatable.")] = None,
) -> None:
    """Make the runs that are missing."""
    torch.set_num_threads(1)
    for seed in range(seeds):
        for name in learner or list(LEARNERS):
            if (f"OpenSpiel: {name}", seed) not in {(row["learner"], row["seed"]) for row in rows()}:
                run(name, seed, minutes)


if __name__ == "__main__":
    typer.run(main)
