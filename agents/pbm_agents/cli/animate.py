"""`pbm animate`: make an animated GIF or a video of a recorded game."""

import os
from pathlib import Path
from typing import Annotated

import typer

from pbm_envs.render.animation import animate as film_of
from pbm_envs.render.film import check_path
from pbm_envs.toolbox import in_one_piece, require

from .replay import game_in_line
from .settings import Records

EXAMPLES = """
  pbm animate games.jsonl game.gif
  pbm animate results final.mp4 --show 12 --seen-by 1 --size 800 --theme dark
"""


def animate(
    source: Records,
    out: Annotated[Path, typer.Argument(metavar="OUT", help="The file to write: .gif or .mp4.")],
    show: Annotated[int, typer.Option(metavar="N", min=1, help="Film the game in line N.")] = 1,
    seen_by: Annotated[
        str | None,
        typer.Option(
            metavar="PLAYER",
            help="Draw what this seat sees, or `all` (default: `all` if the game is over, else what is public).",
        ),
    ] = None,
    size: Annotated[int, typer.Option(help="Length of the longer side in pixels.")] = 480,
    theme: Annotated[str, typer.Option(help="Colours: light or dark.")] = "light",
    seconds: Annotated[float, typer.Option(help="Seconds to show each position.")] = 0.8,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace OUT if it exists.")] = False,
) -> None:
    """Make a film of a recorded game.

    A GIF needs the extra `render`, an MP4 the extra `video`.
    """
    check_path(out)
    require("pbm animate", "render", "PIL", "matplotlib")
    if out.suffix.lower() == ".mp4":
        require("an MP4", "video", "imageio_ffmpeg")
    if not overwrite and os.path.lexists(out):
        raise ValueError(f"{out} exists: expected the name of a new file, or --overwrite")
    viewer = int(seen_by) if seen_by is not None and seen_by.isdecimal() else seen_by
    film = film_of(game_in_line(source, show), viewer, size=size, theme=theme, seconds=seconds)
    with in_one_piece(out) as part:  # a failure leaves an existing file unchanged
        film.save(part)
    print(f"{out}: {len(film.scenes)} positions, {out.stat().st_size / 1000:,.0f} kB")
