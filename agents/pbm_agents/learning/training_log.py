"""Logging of a training run: a progress bar with the speed, a CSV file, and optionally TensorBoard.

with TrainingLog("runs/chameleon", total=100_000, unit="ply") as log:
    log.advance(256, score=0.61)                       # the bar: plies so far, plies per second, the running score
    log.record({"plies": 256, "score": 0.61})          # a line of runs/chameleon/curve.csv
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, final

from pbm_envs.toolbox import in_one_piece

from ..common.progress import progress_bar

CURVE = "curve.csv"


@final
class TrainingLog:
    """The progress bar and the log files of one run, in its folder."""

    def __init__(
        self,
        folder: str | Path,
        total: int,
        *,
        unit: str = "ply",
        curve: Sequence[Mapping[str, Any]] = (),
        done: int = 0,
        tensorboard: bool = False,
    ) -> None:
        """Open the log.

        Args:
            folder: The folder of the run; `curve.csv` is written there, and TensorBoard's events into `tensorboard`.
            total: Number of steps of the whole run.
            unit: The name of a step.
            curve: The existing lines of a run that is resumed.
            done: The number of steps that it has done already.
            tensorboard: Also write TensorBoard events (needs `tensorboard`).
        """
        self.folder = Path(folder)
        self._curve = [dict(line) for line in curve]
        self._bar: Any = progress_bar(total=total, initial=done, unit=f" {unit}", unit_scale=True)
        self._writer = _summary_writer(self.folder / "tensorboard") if tensorboard else None
        if self._curve:
            self._write()

    def advance(self, steps: int, **figures: float) -> None:
        """Advance the bar by `steps`, and show `figures` beside the speed."""
        if figures:
            self._bar.set_postfix({name: f"{value:.3f}" for name, value in figures.items()}, refresh=False)
        self._bar.update(steps)

    def skip(self, steps: int) -> None:
        """Count steps that were done before this process began, without including them in the speed."""
        self._bar.initial += steps
        self._bar.update(steps)

    def record(self, line: Mapping[str, Any], step: int | None = None) -> None:
        """Add a line to `curve.csv`; `step` is the step in TensorBoard (default: the bar's)."""
        self._curve.append(dict(line))
        self._write()
        if self._writer is not None:
            for name, value in line.items():
                if isinstance(value, (int, float)):
                    self._writer.add_scalar(name, value, int(self._bar.n) if step is None else step)
            self._writer.flush()

    def say(self, text: str) -> None:
        """Print a line of text above the bar, to standard output."""
        self._bar.clear()
        print(text, flush=True)
        self._bar.refresh()

    def close(self) -> None:
        """Close the bar and the files."""
        self._bar.close()
        if self._writer is not None:
            self._writer.close()

    def __enter__(self) -> TrainingLog:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _write(self) -> None:
        """Write the whole curve atomically, so that a reader never sees half a line."""
        columns = list(dict.fromkeys(name for line in self._curve for name in line))
        with in_one_piece(self.folder / CURVE) as part, open(part, "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, columns)
            writer.writeheader()
            writer.writerows(self._curve)


def _summary_writer(folder: Path) -> Any:
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        raise ImportError("TensorBoard's files need it: pip install tensorboard") from None
    return SummaryWriter(str(folder))
