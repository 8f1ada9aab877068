"""Speed of two checkouts side by side: their turns alternate, so that a change of the machine's speed meets both."""

from __future__ import annotations

import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, final

TURNS = 9
HERE = Path(__file__).parents[3]
"""The checkout that this file belongs to."""
WORKER = Path(__file__).with_name("bench_worker.py")
QUANTILE = 2.306
"""Of Student's t with TURNS - 1 degrees of freedom, for 95%."""


class Ratio(NamedTuple):
    """How fast one checkout is beside another."""

    work: str
    here: float
    """Median amount a second."""
    base: float
    ratio: float
    """Geometric mean over the turns of here / base, each turn beside the other's."""
    low: float
    """The lower end of its 95% interval."""
    high: float


@final
class Side:
    """A process that runs the pbm_envs of one checkout."""

    def __init__(self, checkout: Path, game: str, options: Mapping[str, Any], seconds: float) -> None:
        paths = os.pathsep.join(str(checkout / part) for part in ("src", "agents"))
        self._process = subprocess.Popen(
            [sys.executable, str(WORKER), game, json.dumps(dict(options)), str(seconds)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONPATH": paths},
        )
        try:
            self.works: list[str] = json.loads(self._read(checkout))
        except ValueError:
            self.close()
            raise
        self._checkout = checkout

    def rate(self, work: str) -> float:
        """One turn of a measurement: the amount of work done a second."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{work}\n")
        self._process.stdin.flush()
        return float(self._read(self._checkout))

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()

    def _read(self, checkout: Path) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise ValueError(f"the games of {checkout} could not be played: see what its process printed above")
        return line


@contextmanager
def checkout_of(base: str) -> Iterator[Path]:
    """A folder with the checkout `base`: itself, if it is one, or a git revision of the repository of this file.

    Raises:
        ValueError: `base` is neither.
    """
    if (Path(base) / "src" / "pbm_envs").is_dir():
        yield Path(base).resolve()
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "base"
        added = _git("worktree", "add", "--detach", str(path), base)
        if added.returncode:
            raise ValueError(f"--compare is {base!r}: expected a checkout of pbm_envs or one of its git revisions")
        try:
            yield path
        finally:
            _git("worktree", "remove", "--force", str(path))


def _git(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["git", "-C", str(HERE), *arguments], capture_output=True, text=True, check=False)


def compare(base: Path, game: str, options: Mapping[str, Any], seconds: float) -> Iterator[Ratio]:
    """Measure a game in this checkout and in `base`, in turns.

    Args:
        base: The other checkout.
        game: The name of the game.
        options: Its options.
        seconds: Length of a turn.

    Yields:
        One ratio a measurement.
    """
    sides: list[Side] = []
    try:
        for checkout in (HERE, base):
            sides.append(Side(checkout, game, options, seconds))
        for work in sides[0].works:
            pairs = []
            for turn in range(TURNS):
                rates = [sides[k].rate(work) for k in ((0, 1) if turn % 2 else (1, 0))]
                pairs.append(tuple(rates if turn % 2 else reversed(rates)))
            yield ratio_of(work, pairs)
    finally:
        for side in sides:
            side.close()


def ratio_of(work: str, pairs: list[tuple[float, ...]]) -> Ratio:
    """The ratio of TURNS pairs of rates (here, base)."""
    logarithms = [math.log(here / base) for here, base in pairs]
    middle, error = statistics.mean(logarithms), statistics.stdev(logarithms) / math.sqrt(len(logarithms))
    ends = (math.exp(middle + side * QUANTILE * error) for side in (-1, 1))
    here, base = (statistics.median(rates) for rates in zip(*pairs, strict=True))
    return Ratio(work, here, base, math.exp(middle), *ends)
