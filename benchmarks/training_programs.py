"""What do the programs that train with RL libraries reach, as they stand?

    make test-libraries    # makes the environments
    python benchmarks/training_programs.py [--seed 1]

Each program of `notebooks/training`, with its default budget, on a small Chameleon, one after another: what it printed
of itself before and after, by the clock. Budgets and what is learned from differ, so this says what to expect of each,
not which library is better.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
from pathlib import Path

from machine import machine

ROOT = Path(__file__).parent.parent
PROGRAMS = {
    "ppo.py": (".venv-libraries", 5, ("torch",)),
    "sb3_maskable_ppo.py": (".venv-libraries", 5, ("sb3-contrib",)),
    "tianshou_dqn.py": (".venv-libraries", 4, ("tianshou",)),
    "torchrl_ppo.py": (".venv-libraries", 4, ("torchrl",)),
    "rllib_ppo.py": (".venv-rllib", 4, ("ray",)),
}
"""In which environment, on boards of which size, of which libraries the versions."""
VERSIONS = "import sys; from importlib.metadata import version; print(*(f'{n} {version(n)}' for n in sys.argv[1:]))"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    seed = parser.parse_args().seed
    print(machine(), flush=True)
    for program, (environment, size, libraries) in PROGRAMS.items():
        python = str(ROOT / environment / "bin" / "python")
        versions = subprocess.run([python, "-c", VERSIONS, *libraries], capture_output=True, text=True, check=True)
        words = ["chameleon", "-o", f"size={size}", "--seed", str(seed)]
        print(f"\n{program} {' '.join(words)}   ({versions.stdout.strip()})", flush=True)
        with tempfile.TemporaryDirectory() as folder:
            command = [python, str(ROOT / "notebooks" / "training" / program), folder, *words]
            said = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True)
        for line in said.stdout.splitlines():
            if line.startswith(("before:", "after:")) or " in " in line or "processor time" in line:
                print(f"  {line}", flush=True)


if __name__ == "__main__":
    main()
