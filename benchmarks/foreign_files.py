"""Load 100,000 mutated files of each format that comes from outside, in child processes.

    python benchmarks/foreign_files.py [FORMAT ...]

A file is refused with a ValueError, or it loads. Anything else ends the run: another error, an import of a module that
the file names, a signal, more than 4 GiB of memory, or more than two minutes. `tests/faults/foreign_files.py` has the
formats and the mutations. Needs the extras `torch` and `onnx`.
"""

from __future__ import annotations

import sys
from pathlib import Path

from machine import machine

ROOT = Path(__file__).parent.parent


def main() -> None:
    sys.path.insert(0, str(ROOT))
    from tests.faults import foreign_files

    print(f"{machine()}\n", flush=True)
    foreign_files.main([*sys.argv[1:], "--count", "100000", "--seed", "26000"])


if __name__ == "__main__":
    main()
