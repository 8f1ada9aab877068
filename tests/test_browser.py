"""The games as WebAssembly: recorded games, replayed in Node, are the same to the last byte (`browser/check.py`), and a
table without Python gives the answers of that of `pbm serve` (`browser/compare.py`).
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import pbm_envs

BROWSER = Path(__file__).parents[1] / "browser"
GAMES, SEQUENCES = 120, 25


def test_the_table_can_be_translated():
    """A change that `translate.py` does not know how to translate is found here; its error names the function."""
    done = subprocess.run(
        [sys.executable, "-c", "import table; table.code()"], capture_output=True, text=True, cwd=BROWSER
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("name", pbm_envs.registered_games())
def test_recorded_games_and_tables_are_the_same_in_webassembly(name, wasm):
    environment = os.environ | {"PBM_ENVS_WASM": str(wasm)}

    def run(script, *arguments):
        command = [sys.executable, BROWSER / script, *arguments, name]
        done = subprocess.run(command, capture_output=True, text=True, env=environment)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    counted = r"[\d,]+ positions, [1-9]\d* searches, [1-9]\d* choices, 0 different"
    assert re.fullmatch(rf"{name}: {GAMES} games, {counted}\n", run("check.py", "--worker", "--games", str(GAMES)))
    counted = rf"{name}: {SEQUENCES} sequences, [\d,]+ messages, [\d,]+ answers, 0 different\n"
    assert re.fullmatch(counted, run("compare.py", "--sequences", str(SEQUENCES)))
