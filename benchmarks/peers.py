"""Compare the speed of the games with OpenSpiel, Pgx on the CPU and PettingZoo's classic games.

    pip install -e ".[bench]" && python benchmarks/peers.py [WORD]

With a word, only contenders with this word in their name take part: `hex` compares one game, Hex 11×11, which here is
the example `docs/guides/hex.py`, written in one file through the authoring interface.

There are four measurements, with the same work for all libraries in each:

* random play: choose a legal action at random, play it, write the next player's observation and mask of legal actions;
  a new game follows each game that ends. Libraries with batches use batches of BATCH.
* latency: play an action and get the observation and the mask of one game; choosing the action is not timed.
* playouts: random play to the end, without observations.
* search: UCT from the start of a game with one playout per leaf, without a solver, one position at a time.

Each contender runs in its own process, pinned to one core. They take turns, so that changes in the machine's speed
affect all of them; "all cores" runs one process per core at once. Compilation comes before the first turn and is
reported separately. The table has the median, the minimum and the maximum over the turns.
"""

from __future__ import annotations

import multiprocessing
import os
import random
import re
import statistics
import sys
import time
import warnings
from collections.abc import Callable
from functools import partial
from importlib.metadata import version
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple

from machine import machine

BATCH, TURNS, SECONDS, SEED = 1024, 7, 1.0, 2008
SIMULATIONS, UCT_C = 2000, 1.4
DOCS = Path(__file__).parents[1] / "docs"
HEX = "hex, one file (11x11)"


class Contender(NamedTuple):
    name: str
    make: Callable[[], Callable[[], tuple[float, float]]]
    """Called in the contender's process; makes a function that does some work and returns its amount and seconds."""


def timed(work: Callable[[], float]) -> Callable[[], tuple[float, float]]:
    def piece() -> tuple[float, float]:
        start = time.perf_counter()
        amount = work()
        return amount, time.perf_counter() - start

    return piece


# pbm_envs


def load(name: str) -> Any:
    """Return a game of the package, or the example."""
    from pbm_envs import make_game

    if name == HEX:
        sys.path.insert(0, str(DOCS / "guides"))
    return make_game("hex:Hex" if name == HEX else name)


def batch_play(name: str) -> Callable[[], tuple[float, float]]:
    """Play in the vector environment: a batch, its observations and masks, and the next games."""
    import numpy as np

    from pbm_envs import sample_actions
    from pbm_envs.envs.vector import BoardGameVectorEnv

    envs, rng = BoardGameVectorEnv(load(name), BATCH, copy=False), np.random.default_rng(SEED)
    _, info = envs.reset(seed=SEED)

    def work() -> float:
        nonlocal info
        for _ in range(20):
            *_, info = envs.step(sample_actions(info["action_mask"], rng))
        return 20 * BATCH

    return timed(work)


def one_game(name: str) -> Callable[[], tuple[float, float]]:
    """Play one game in the AEC environment without wrappers."""
    from pbm_envs.envs.factories import make_raw_env

    return partial(aec_latency, make_raw_env(load(name)))


def batch_playouts(name: str) -> Callable[[], tuple[float, float]]:
    import numpy as np

    game, rng = load(name), np.random.default_rng(SEED)

    def work() -> float:
        game.playout(game.init(BATCH, rng), rng)
        return BATCH

    return timed(work)


def search(name: str) -> Callable[[], tuple[float, float]]:
    import numpy as np
    from pbm_agents import Workspace
    from pbm_agents.search import make_search

    game, rng, workspace = load(name), np.random.default_rng(SEED), Workspace()
    plain = make_search(simulations=SIMULATIONS, c=UCT_C, rave=0.0, avoid_losing_moves=False, solver=False)
    states = game.init(1, rng)
    views = game.view(states, states["to_move"])

    def work() -> float:
        plain.run(game, views, rng, workspace=workspace)
        return SIMULATIONS

    return timed(work)


# PettingZoo


def aec_latency(env: Any) -> tuple[float, float]:
    """Play one game: step and observe."""
    import numpy as np

    spent, plies = 0.0, 0
    env.reset(seed=random.randrange(2**31))
    mask = env.observe(env.agent_selection)["action_mask"]
    while env.agents and not any(env.terminations.values()) and not any(env.truncations.values()):
        action = int(random.choice(np.flatnonzero(mask)))
        start = time.perf_counter()
        env.step(action)
        mask = env.observe(env.agent_selection)["action_mask"]
        spent += time.perf_counter() - start
        plies += 1
    return plies, spent


def classic(module: str) -> Any:
    import importlib

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # PettingZoo's own old import path
        return importlib.import_module(f"pettingzoo.classic.{module}").raw_env()


def classic_play(module: str) -> Callable[[], tuple[float, float]]:
    env = classic(module)
    return timed(lambda: aec_latency(env)[0])


def classic_latency(module: str) -> Callable[[], tuple[float, float]]:
    return partial(aec_latency, classic(module))


# OpenSpiel


def spiel_latency(name: str) -> Callable[[], tuple[float, float]]:
    """Play one game: apply the action, then get the observation and the mask."""
    import pyspiel

    game = pyspiel.load_game(name)
    observes = game.get_type().provides_observation_tensor

    def work() -> tuple[float, float]:
        plies, spent, state = 0, 0.0, game.new_initial_state()
        while not state.is_terminal():
            action = random.choice(state.legal_actions())
            start = time.perf_counter()
            state.apply_action(action)
            if not state.is_terminal():
                state.observation_tensor() if observes else state.information_state_tensor()
                state.legal_actions_mask()
            spent += time.perf_counter() - start
            plies += 1
        return plies, spent

    return work


def spiel_play(name: str) -> Callable[[], tuple[float, float]]:
    work = spiel_latency(name)
    return timed(lambda: work()[0])


def spiel_playouts(name: str) -> Callable[[], tuple[float, float]]:
    """Play out in C++ as MCTSBot does, with 100 playouts per leaf, so that other work hardly counts."""
    import pyspiel

    game = pyspiel.load_game(name)
    state, evaluator = game.new_initial_state(), pyspiel.RandomRolloutEvaluator(100, SEED)
    bot = pyspiel.MCTSBot(game, evaluator, 1.4, 10, 1000, False, SEED, False)

    def work() -> float:
        bot.mcts_search(state)
        return 10 * 100

    return timed(work)


def spiel_search(name: str) -> Callable[[], tuple[float, float]]:
    import pyspiel

    game, evaluator = pyspiel.load_game(name), pyspiel.RandomRolloutEvaluator(1, SEED)
    bot = pyspiel.MCTSBot(game, evaluator, UCT_C, SIMULATIONS, 1000, False, SEED, False)
    state = game.new_initial_state()

    def work() -> float:
        bot.mcts_search(state)
        return SIMULATIONS

    return timed(work)


# Pgx


def pgx_play(name: str, steps: int) -> Callable[[], tuple[float, float]]:
    """Play `steps` plies of BATCH games in one compiled loop, with actions drawn by Gumbel noise."""
    os.environ["JAX_PLATFORMS"] = "cpu"
    import jax
    import jax.numpy as jnp
    import pgx
    from pgx.experimental.wrappers import auto_reset

    env = pgx.make(name)
    step = jax.vmap(auto_reset(env.step, env.init))

    def ply(_: int, carry: tuple[Any, Any, Any]) -> tuple[Any, Any, Any]:
        state, key, seen = carry
        key, draw, deal = jax.random.split(key, 3)
        noise = jax.random.gumbel(draw, state.legal_action_mask.shape)
        actions = jnp.argmax(jnp.where(state.legal_action_mask, noise, -jnp.inf), axis=1)
        state = step(state, actions, jax.random.split(deal, BATCH))
        return state, key, seen + state.observation.sum()  # so that XLA removes no observation

    run = jax.jit(lambda carry: jax.lax.fori_loop(0, steps, ply, carry))
    key = jax.random.PRNGKey(SEED)
    carry = (jax.vmap(env.init)(jax.random.split(key, BATCH)), key, jnp.float32(0))

    def work() -> float:
        nonlocal carry
        carry = jax.block_until_ready(run(carry))
        return steps * BATCH

    return timed(work)


OURS = ("chameleon", "unlur", "trinim", "curio", HEX)
SPIEL = ("hex(board_size=11)", "y(board_size=11)", "go(board_size=9)", "dark_hex(board_size=5)")
CLASSIC = ("connect_four_v3", "tictactoe_v3", "chess_v6", "go_v5")
QUESTIONS: dict[str, list[Contender]] = {
    "random play, plies a second": [
        *(Contender(f"pbm_envs {name}", partial(batch_play, name)) for name in OURS),
        Contender("pgx hex (11x11)", partial(pgx_play, "hex", 20)),
        Contender("pgx gardner_chess", partial(pgx_play, "gardner_chess", 2)),
        *(Contender(f"open_spiel {name}", partial(spiel_play, name)) for name in SPIEL),
        *(Contender(f"pettingzoo {module}", partial(classic_play, module)) for module in CLASSIC),
    ],
    "latency, plies a second": [
        *(Contender(f"pbm_envs {name}", partial(one_game, name)) for name in OURS),
        *(Contender(f"open_spiel {name}", partial(spiel_latency, name)) for name in SPIEL),
        *(Contender(f"pettingzoo {module}", partial(classic_latency, module)) for module in CLASSIC),
    ],
    "playouts a second": [
        *(Contender(f"pbm_envs {name}", partial(batch_playouts, name)) for name in OURS),
        *(
            Contender(f"open_spiel {name}", partial(spiel_playouts, name))
            for name in (*SPIEL[:3], "havannah(board_size=6)")
        ),
    ],
    "search, simulations a second": [
        *(Contender(f"pbm_envs {name}", partial(search, name)) for name in OURS),
        *(Contender(f"open_spiel {name}", partial(spiel_search, name)) for name in SPIEL[:3]),
    ],
}


class Seat:
    """A contender in its own process, on one core."""

    def __init__(self, contender: Contender, core: int) -> None:
        context = multiprocessing.get_context("spawn")
        self._line, theirs = context.Pipe()
        self._process = context.Process(target=serve, args=(contender, core, theirs), daemon=True)
        self._process.start()

    def start(self) -> None:
        self._line.send("go")

    def result(self) -> Any:
        return self._line.recv()

    def leave(self) -> None:
        self._line.send("stop")
        self._process.join()


def serve(contender: Contender, core: int, line: Connection) -> None:
    os.sched_setaffinity(0, {core})
    start = time.perf_counter()
    piece = contender.make()
    piece()
    line.send(time.perf_counter() - start)
    while line.recv() == "go":
        amount, seconds = 0.0, 0.0
        while seconds < SECONDS:
            more, took = piece()
            amount, seconds = amount + more, seconds + took
        line.send(amount / seconds)


def turns(contenders: list[Contender], cores: list[int]) -> tuple[dict[str, float], dict[str, list[float]]]:
    """Return the seconds until the first work was done, and the rates of TURNS turns, summed over the cores."""
    tables, ready = {}, {}
    for contender in contenders:
        tables[contender.name] = [Seat(contender, core) for core in cores]
        ready[contender.name] = max(seat.result() for seat in tables[contender.name])
    rates: dict[str, list[float]] = {name: [] for name in tables}
    for _ in range(TURNS):
        for name, seats in tables.items():
            for seat in seats:
                seat.start()
            rates[name].append(sum(seat.result() for seat in seats))
    for seats in tables.values():
        for seat in seats:
            seat.leave()
    return ready, rates


def main(word: str = "") -> None:
    cores = sorted(os.sched_getaffinity(0))
    if word:
        print(f"only contenders with the word {word}")
    print(machine())
    print(", ".join(f"{name} {version(name)}" for name in ("open_spiel", "pgx", "jax")))
    record: dict[str, Any] = {}
    for question, everybody in QUESTIONS.items():
        contenders = [contender for contender in everybody if not word or re.search(rf"\b{word}\b", contender.name)]
        ready, alone = turns(contenders, cores[-1:])
        together = turns(contenders, cores)[1]
        print(f"\n{question}; median of {TURNS} turns of {SECONDS:g} s (least ... most)")
        print(f"{'':36} {'one core':>12} {'':27} {f'{len(cores)} cores':>12} {'first, s':>9}")
        for name, rates in alone.items():
            spread = f"({min(rates):,.0f} ... {max(rates):,.0f})"
            median, both = statistics.median(rates), statistics.median(together[name])
            print(f"{name:36} {median:12,.0f} {spread:>27} {both:12,.0f} {ready[name]:9.1f}", flush=True)
        record[question] = alone
    if not word:
        plot(record)


def plot(record: dict[str, dict[str, list[float]]]) -> None:
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(len(record), 1, figsize=(8, 11), layout="constrained")
    for axis, (question, contenders) in zip(axes, record.items(), strict=True):
        names = list(contenders)[::-1]
        middles = [statistics.median(contenders[name]) for name in names]
        colours = ["tab:blue" if name.startswith("pbm_envs") else "tab:gray" for name in names]
        axis.barh(names, middles, color=colours)
        axis.set(xscale="log", title=f"{question}, one core")
        axis.bar_label(axis.containers[0], labels=[f"{middle:,.0f}" for middle in middles], padding=3, fontsize=8)
        axis.margins(x=0.15)
        axis.spines[["top", "right"]].set_visible(False)
    figure.savefig(DOCS / "pictures" / "peers.svg")


if __name__ == "__main__":
    main(*sys.argv[1:])
