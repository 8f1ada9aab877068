"""How long does compiling take, which the first use of a game and of the search does once a machine?

    pip install -e ".[bench,cli]" && python benchmarks/compiling.py [GAME ...]

For each game a new process with an empty cache does what `pbm warm-up` does: everything that the rules need, then a
first search, then a first search with a network's priors, then a champion's first move. Processor time, which does not
depend on what else the machine does. The search is compiled once for all games; what it needs of the game is compiled
with it.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile

from machine import machine
from pbm_agents.cli.warm_up import STEPS

from pbm_envs import games

PROGRAM = """
import sys
from time import process_time
from pbm_agents.cli.warm_up import STEPS
from pbm_envs import make_game
game = make_game(sys.argv[1])
for step in STEPS.values():
    start = process_time()
    step(game)
    print(process_time() - start)
"""


def seconds(name: str) -> list[float]:
    """Of each step, with an empty cache."""
    with tempfile.TemporaryDirectory() as cache:
        environment = os.environ | {"PBM_ENVS_CACHE_DIR": cache}
        command = [sys.executable, "-c", PROGRAM, name]
        said = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return [float(line) for line in said.stdout.split()]


def main() -> None:
    print(machine())
    print("\nseconds of processor time to compile, with an empty cache for each game")
    print(f"{'':12}" + "".join(f"{name:>16}" for name in STEPS))
    for name in sys.argv[1:] or games():
        print(f"{name:12}" + "".join(f"{value:16.1f}" for value in seconds(name)), flush=True)


if __name__ == "__main__":
    main()
