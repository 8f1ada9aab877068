"""The part of `Game` that shows positions: as pictures, as text and in words."""

from __future__ import annotations

from collections.abc import Sequence

from numpy.typing import ArrayLike

from .checks import check_flag, check_range, quoted
from .hooks import GameHooks
from .scene import Drawn, Scene, Seat, with_names
from .state import Record, States
from .validation import seat, status, to_record


class ShownGame(GameHooks):
    """A game whose positions can be shown. All methods take views and full states."""

    def scene(self, view: States | Record, heat: ArrayLike | None = None, *, public: bool = False) -> Scene:
        """Return the picture of a view (as its viewer knows it) or of a full state, as data.

        Args:
            view: A record, or a batch of one.
            heat: (A,) numbers such as visits, priors or values, drawn over the actions in proportion to the greatest;
                masked entries and NaN are left out, and negative ones have another colour.
            public: Draw only what every player knows of a full state.
        """
        record = to_record(self, view)
        check_flag("public", public)
        warmth = {} if heat is None else self.drawing.warmth(heat, self.num_actions)
        return self._scene(self._public(record) if public else record, warmth)

    def show(
        self,
        view: States | Record,
        heat: ArrayLike | None = None,
        *,
        public: bool = False,
        size: int = 480,
        theme: str = "light",
        legend: bool = True,
        coordinates: bool = True,
        transparent: bool = False,
    ) -> Drawn:
        """Return `scene(view, heat, public=public)` as a drawing, to be displayed in a notebook or saved.

        Args:
            view: A record, or a batch of one.
            heat: As in `scene`.
            public: As in `scene`.
            size: Pixels of the longer side.
            theme: "light" or "dark".
            legend: Whether to show players, scores, captures and actions without a cell.
            coordinates: Whether to show the names of rows, columns and sides.
            transparent: Whether to omit the background.
        """
        check_flag("legend", legend)
        check_flag("coordinates", coordinates)
        check_flag("transparent", transparent)
        scene = self.drawing.cropped(self.scene(view, heat, public=public), legend=legend, coordinates=coordinates)
        return self.drawing.picture(scene, size, theme, transparent=transparent)

    def to_text(
        self,
        view: States | Record,
        *,
        colour: bool = False,
        width: int | None = None,
        names: Sequence[str] | None = None,
    ) -> str:
        """Return `scene(view)` as text; `colour` adds escape codes for colours and for the last move in reverse video.

        A board wider than `width` columns is drawn in its narrow form, if it has one. `names`, one per player, replace
        `player_0`, `player_1`, ... below the board.
        """
        check_flag("colour", colour)
        scene = self.scene(view)
        if names is not None:
            if isinstance(names, str) or len(names) != self.num_players:
                raise ValueError(f"names are {quoted(names)}: expected {self.num_players} names, one for each player")
            scene = with_names(scene, names)
        return self.drawing.text(scene, colour=colour, width=width)

    def seat(self, view: Record, player: int) -> Seat:
        """Return the description of a player in a picture."""
        check_range("player", player, 0, self.num_players - 1)
        return seat(self, to_record(self, view), player)

    def status(self, view: States | Record) -> str:
        """Return the last move, and the player to move or the result of the game.

        >>> import numpy as np
        >>> from pbm_envs import Chameleon
        >>> game = Chameleon(size=3)
        >>> game.status(game.init(1, np.random.default_rng(0)))
        'ply 0 - player_0 (Vert) to move'
        """
        return status(self, to_record(self, view))
