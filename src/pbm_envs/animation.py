"""Records as films: every position of a game, in a notebook or as a GIF or MP4.

animate(record).save("game.gif")
"""

from __future__ import annotations

from collections.abc import Iterator

from .game import Game
from .records import GameRecord, game_of, replay
from .render import Scene
from .render.film import Film
from .state import States

EVERYTHING = "all"


def animate(
    record: GameRecord,
    viewer: int | str | None = None,
    *,
    size: int = 480,
    theme: str = "light",
    seconds: float = 0.8,
) -> Film:
    """The game of a record, each position for `seconds`. A film is shown by a notebook and has `save` and `gif`.

    `viewer`: a seat, whose view is shown; "all" for everything; None for everything if the game is over, else for what
    all players know. RecordError if the record does not replay.
    """
    game = game_of(record)
    if (
        viewer is not None
        and viewer != EVERYTHING
        and (isinstance(viewer, bool) or viewer not in range(game.num_players))
    ):
        raise ValueError(f"viewer is {viewer!r}: expected None, 'all' or a seat from 0 to {game.num_players - 1}")
    return Film(tuple(_scenes(game, list(replay(record)), viewer)), size, theme, seconds)


def _scenes(game: Game, positions: list[States], viewer: int | str | None) -> Iterator[Scene]:
    public = viewer is None and not positions[-1]["done"][0]
    for state in positions:
        yield game.scene(game.view(state, viewer) if isinstance(viewer, int) else state, public=public)
