"""What the commands that let agents play have in common: options, and results that are written whole."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pbm_envs.toolbox import write_text

FirstSeed = Annotated[int, typer.Option(help="Of the first opening; the others follow.")]
OpeningMoves = Annotated[int, typer.Option(help="Random moves that each opening begins with.")]
BatchSize = Annotated[int, typer.Option("--batch", help="Games that are played, and written, at once.")]
Workers = Annotated[int, typer.Option(help="Processes that play.")]
Ray = Annotated[str | None, typer.Option(metavar="ADDRESS", help="Play on this Ray cluster; 'local' starts one here.")]
Key = Annotated[str, typer.Option(metavar="TEXT", help="The secret of another folder, to play the games in it again.")]
AcceptChanges = Annotated[
    bool,
    typer.Option(
        "--accept-changes", help="Resume although agents, files or packages have changed; the folder records it."
    ),
]


def write_whole(path: Path, text: str) -> None:
    """Write a file in one piece: it is never half there."""
    write_text(path, text + "\n")
