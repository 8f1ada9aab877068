"""Films of recorded games, for notebooks and as GIF or MP4 files.

    animate(record, viewer=0).save("game.gif")

A notebook shows `animate(record)` as it is.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..core.game import Game
from ..core.types import States
from ..records import GameRecord, replay
from . import Scene
from .film import Film
from .modes import EVERYTHING


def animate(
    record: GameRecord,
    viewer: int | str | None = None,
    *,
    size: int = 480,
    theme: str = "light",
    seconds: float = 0.8,
) -> Film:
    """Make a film of a recorded game. A notebook shows it; `save` and `gif` write it.

    Args:
        record: The game.
        viewer: A seat, to draw what that player may see; "all" to draw the full state; None to draw the full state if
            the game is over, and otherwise what all players know.
        size: Pixels of the longer side.
        theme: A name in `THEMES`.
        seconds: For how long each position is shown.

    Raises:
        RecordError: If the record contradicts the rules.
        ValueError: If there is no such viewer, size or theme.
    """
    game = record.rules()
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
