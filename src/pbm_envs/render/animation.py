"""Films of recorded games, for notebooks and as GIF or MP4 files.

    animate(record, viewer=0).save("game.gif")

A notebook displays `animate(record)` itself.
"""

from __future__ import annotations

from ..records import GameRecord, replay
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
    """Make a film of a recorded game.

    Args:
        record: The game.
        viewer: A seat, to draw that player's view; "all" to draw the full state; None to draw the full state if the
            game is over, and otherwise only public information.
        size: Pixels of the longer side.
        theme: A name in `THEMES`.
        seconds: How long each position is shown.

    Raises:
        RecordError: If the record contradicts the rules.
        ValueError: If the viewer, size or theme is unknown.
    """
    game = record.rules()
    if (
        viewer is not None
        and viewer != EVERYTHING
        and (isinstance(viewer, bool) or viewer not in range(game.num_players))
    ):
        raise ValueError(f"viewer is {viewer!r}: expected None, 'all' or a seat from 0 to {game.num_players - 1}")
    positions = list(replay(record))
    public = viewer is None and not positions[-1]["done"][0]
    seen = (game.view(state, viewer) if isinstance(viewer, int) else state for state in positions)
    return Film(tuple(game.scene(view, public=public) for view in seen), size, theme, seconds)
