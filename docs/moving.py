"""Films of games, pictures of a terminal, and notebooks as pages, made when the site is built."""

from __future__ import annotations

import contextlib
import gzip
import io
import re
import shutil
from pathlib import Path

from rich.console import Console
from rich.text import Text

from pbm_envs.records import GameRecord
from pbm_envs.render import THEMES
from pbm_envs.render.animation import animate

DOCS = Path(__file__).parent
ROOT = DOCS.parent
GAMES = {"curio": "curio-4x4", "trinim": "trinim-5", "chameleon": "chameleon-7", "unlur": "unlur-4"}
"""The ladder from whose tournament the film of a game is: its last games are between the strongest agents."""
FILM_SIZE = 320
SCREEN_WIDTH = 80


def record(name: str) -> GameRecord:
    """Return the last won game of the ladder's tournament whose length is nearest to the middle."""
    path = ROOT / "benchmarks" / "results" / "ladders" / f"{GAMES[name]}.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        games = [GameRecord.from_json(line) for line in list(lines)[-60:]]
    won = [game for game in games if game.ending == "won"]
    lengths = sorted(game.plies for game in won)
    return next(game for game in reversed(won) if game.plies == lengths[len(lengths) // 2])


def film(name: str, folder: Path) -> list[Path]:
    """Write the film of a game in every theme; return the files."""
    game, paths = record(name), []
    for theme in THEMES:
        paths.append(folder / f"{name}-{theme}.gif")
        animate(game, size=FILM_SIZE, theme=theme, seconds=1.0).save(paths[-1])
    return paths


def screen(words: str, typed: str, path: Path) -> None:
    """Write what a command shows in a terminal, with colours, as SVG.

    Args:
        words: The command, without `pbm`.
        typed: What is typed, line by line.
        path: The file to write.
    """
    from pbm_agents.cli import terminal as module
    from pbm_agents.cli.app import app
    from typer.testing import CliRunner

    with _patched(module, colour=lambda: True):
        shown = CliRunner().invoke(app, words.split(), input=typed)
    if shown.exit_code:
        raise RuntimeError(f"pbm {words}: {shown.output}")
    console = Console(record=True, width=SCREEN_WIDTH, file=io.StringIO(), force_terminal=True, legacy_windows=False)
    console.print(Text.from_ansi(f"$ pbm {words}\n{shown.stdout.rstrip()}"))
    drawn = console.export_svg(title="pbm play", unique_id=path.stem)
    path.write_text(re.sub(r"@font-face \{.*?\}\s*", "", drawn, flags=re.DOTALL), encoding="utf-8")


@contextlib.contextmanager
def _patched(module: object, **values: object):
    before = {name: getattr(module, name) for name in values}
    for name, value in values.items():
        setattr(module, name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            setattr(module, name, value)


def copy_notebooks() -> None:
    """Copy the notebooks into `docs/notebooks`, with links to the site's pages instead of files beside them."""
    folder = DOCS / "notebooks"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for path in sorted((ROOT / "notebooks").glob("[0-9]*.ipynb")):
        text = path.read_text(encoding="utf-8")
        text = text.replace("](../docs/", "](../")
        text = re.sub(r"\]\(\.\./src/pbm_envs/games/(\w+)/rules\.md\)", r"](../games/\1.md#the-rules-in-full)", text)
        text = re.sub(r"!\[([^\]]*)\]\((\S+?\.png)\)", r"![\1](\2)", text)
        text = re.sub(r"(?<!!)\[([^\]\n]+)\]\((?:training/|\.\./\.\./benchmarks/|\.\./benchmarks/)[^)]*\)", r"\1", text)
        (folder / path.name).write_text(text, encoding="utf-8")
