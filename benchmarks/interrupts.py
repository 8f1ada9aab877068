"""How soon does Ctrl-C act in long batches and searches, and what does it cost that batches are split for it?

    python benchmarks/interrupts.py

Each program does one long thing over and over. It is sent SIGINT five times, each time in the middle, and says when
KeyboardInterrupt has come: milliseconds by the clock, median and worst, so they include what else the machine does. The
cost is the processor time of a batch in parts over that of the same batch at once, in turns, the median of nine.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from statistics import median

import numpy as np
from machine import machine

from pbm_envs import Chameleon, Curio, Game
from pbm_envs.core import game as core_game

TIMES, PAIRS, ALL = 5, 9, 1 << 60
FRAME = """
import signal
import numpy as np
from pbm_agents import Search
from pbm_envs import Chameleon, Curio, Unlur
signal.signal(signal.SIGINT, signal.default_int_handler)
rng = np.random.default_rng(0)
{before}
for turn in range(-1, {times}):
    try:
        if turn >= 0:
            print("begin", flush=True)
        while turn >= 0:
            {repeated}
        {once}
    except KeyboardInterrupt:
        print("stopped", flush=True)
"""
SEARCH = "Search(seconds={seconds}, memory=64, threads={threads}, solver=False).run(game, states, rng)"
CHAMELEON = "game = Chameleon(size=11); states = game.init({rows}, rng)"
HARDEST = "rows=12, cols=12, num_pieces=70, face='random', turn=False, reveal_captured=False"


def search(positions: int, threads: int) -> tuple[str, str, str]:
    return (
        CHAMELEON.format(rows=positions),
        SEARCH.format(seconds=600, threads=threads),
        SEARCH.format(seconds=0.1, threads=threads),
    )


PROGRAMS = {
    "playouts of 1,000,000 games": (
        CHAMELEON.format(rows=1_000_000),
        "game.playout(states, rng)",
        "game.playout(states[:9].copy(), rng)",
    ),
    "observations of 200,000 games": (
        CHAMELEON.format(rows=200_000),
        "game.observe(game.view(states, 0))",
        "game.observe(game.view(states[:9], 0))",
    ),
    "worlds of 100,000 games of Curio": (
        "game = Curio(); views = game.view(game.init(100_000, rng), 0)",
        "game.determinize(views, rng)",
        "game.determinize(views[:9], rng)",
    ),
    "worlds of the hardest options": (
        f"game = Curio({HARDEST})\n"
        "states = game.init(500, rng)\n"
        "for _ in range(300): game.step(states, game.legal_action_mask(states).argmax(axis=1))\n"
        "views = game.view(states, 0)",
        "game.determinize(views, rng)",
        "game.determinize(views[:9], rng)",
    ),
    "steps of 65,536 games in a vector environment": (
        "from pbm_envs import chameleon_v0, sample_actions\n"
        "env = chameleon_v0.vector_env(65_536, size=11)\n"
        "def play():\n"
        "    _, info = env.reset(seed=1)\n"
        "    for _ in range(99): _, _, _, _, info = env.step(sample_actions(info['action_mask'], rng))",
        "play()",
        "env.step(sample_actions(env.reset(seed=1)[1]['action_mask'], rng))",
    ),
    "building a tree of 650,000 information sets": (
        "from pbm_envs import make_game\n"
        "from pbm_agents.equilibrium import PublicTree, exploitability\n"
        "game, small = make_game('curio-ladder-6'), make_game('curio-ladder-1')",
        "PublicTree.build(game)",
        "exploitability(PublicTree.build(small), PublicTree.build(small).uniform_policy())",
    ),
    "exploitability in it": (
        "from pbm_envs import make_game\n"
        "from pbm_agents.equilibrium import PublicTree, exploitability\n"
        "tree = PublicTree.build(make_game('curio-ladder-6')); policy = tree.uniform_policy()\n"
        "exploitability(tree, policy)",
        "exploitability(tree, policy)",
        "exploitability(tree, policy)",
    ),
    "search of 1 position": search(1, 1),
    "search of 64 positions": search(64, 1),
    "search of 64 positions in 2 threads": search(64, 2),
}
"""What is done before, over and over, and once to compile."""


def delays(before: str, repeated: str, once: str) -> list[float]:
    """Milliseconds from SIGINT to KeyboardInterrupt."""
    program = FRAME.format(before=before, repeated=repeated, once=once, times=TIMES)
    found = []
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for _ in range(TIMES):
            assert process.stdout.readline() == "begin\n", f"{repeated}: ended too soon"
            time.sleep(1)
            start = time.perf_counter()
            process.send_signal(signal.SIGINT)
            assert process.stdout.readline() == "stopped\n", f"{repeated}: no KeyboardInterrupt"
            found.append(1000 * (time.perf_counter() - start))
    return found


def cost(work: str, game: Game, rows: int) -> float:
    """Processor time in parts over that at once."""
    rng, ratios = np.random.default_rng(1), []
    states = game.init(rows, rng)
    usual = core_game.MOST_ROWS, core_game.MOST_PLAYOUTS
    for _ in range(PAIRS + 1):
        times = []
        for most in (usual, (ALL, ALL)):
            core_game.MOST_ROWS, core_game.MOST_PLAYOUTS = most
            copy, streams = states.copy(), np.arange(rows, dtype=np.uint64)
            start = time.process_time()
            if work == "playouts":
                game.playout(copy, streams)
            else:
                game.observe_with_mask(copy, 0)
            times.append(time.process_time() - start)
        ratios.append(times[0] / times[1])
    core_game.MOST_ROWS, core_game.MOST_PLAYOUTS = usual
    return median(ratios[1:])


def main() -> None:
    print(machine())
    print(f"\n{'milliseconds from SIGINT to KeyboardInterrupt':48}{'median':>10}{'worst':>10}")
    for name, (before, repeated, once) in PROGRAMS.items():
        found = delays(before, repeated, once)
        print(f"{name:48}{median(found):10.0f}{max(found):10.0f}", flush=True)
    print(f"\n{'a batch in parts over the same batch at once':48}{'ratio':>10}")
    for work, game, rows in (
        ("playouts", Chameleon(size=11), 5000),
        ("playouts", Curio(), 5000),
        ("observations", Chameleon(size=5), 120_000),
    ):
        print(f"{work + ' of ' + game.name + f', {rows:,} games':48}{cost(work, game, rows):10.3f}", flush=True)


if __name__ == "__main__":
    main()
