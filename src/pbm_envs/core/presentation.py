"""How a game is shown: moves and boards as texts, positions as pictures."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from itertools import takewhile
from types import MappingProxyType
from typing import TYPE_CHECKING

from numpy.typing import ArrayLike

from . import describe
from .arguments import ArgumentChecks
from .checks import check_flag, check_range
from .scene import Scene, Seat
from .types import Record, States

if TYPE_CHECKING:
    from ..render import Picture


class GamePresentation(ArgumentChecks):
    """The part of `Game` that turns actions, boards and positions into texts and pictures."""

    def action_to_string(self, action: int) -> str:
        """The canonical text of an action (A3)."""
        return self.notation.write(action)

    def string_to_action(self, text: str) -> int:
        """The action of a move text, in upper or lower case, with or without blanks around it (A3); else ValueError."""
        return self.notation.read(text)

    def board_to_string(self, state: States | Record) -> str:
        """The board of a record (or of a batch of one) as `init(board=...)` reads it."""
        return self._board_to_string(self._record(state))

    def action_cells(self, action: int) -> tuple[int, ...]:
        """The cells that a move names, in order: none, one, or its two ends."""
        self.notation.write(action)
        return self._cells(int(action))

    @cached_property
    def cell_free_actions(self) -> Mapping[int, str]:
        """The actions that name no cell, such as `swap`, and their texts. They are the last ones."""
        actions = takewhile(lambda action: not self._cells(action), reversed(range(self.num_actions)))
        return MappingProxyType({action: self.action_to_string(action) for action in sorted(actions)})

    def scene(self, view: States | Record, heat: ArrayLike | None = None, *, public: bool = False) -> Scene:
        """The picture of a record (or of a batch of one) as data.

        Args:
            view: A view, of which the viewer's knowledge is drawn; or a full state, of which everything is.
            heat: (A,) numbers such as visits, priors or values, drawn over the actions in proportion to the greatest;
                masked ones and nan are left out, negative ones have another colour.
            public: Draw of a full state only what every player knows.
        """
        record = self._record(view)
        check_flag("public", public)
        shown = self._public(record) if public else record
        if heat is None:
            return self._scene(shown, {})
        from ..render.parts import warmth

        return self._scene(shown, warmth(heat, self.num_actions))

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
    ) -> Picture:
        """`scene` for a notebook, or to be saved.

        Args:
            view: As in `scene`.
            heat: As in `scene`.
            public: As in `scene`.
            size: Pixels of the longer side.
            theme: "light" or "dark".
            legend: Whether players, scores, captures and actions without a cell are drawn.
            coordinates: Whether the names of rows and columns are drawn.
            transparent: Without a ground.
        """
        from ..render import Picture, cropped

        check_flag("legend", legend)
        check_flag("coordinates", coordinates)
        check_flag("transparent", transparent)
        scene = cropped(self.scene(view, heat, public=public), legend=legend, coordinates=coordinates)
        return Picture(scene, size, theme, transparent)

    def to_text(self, view: States | Record, *, colour: bool = False, width: int | None = None) -> str:
        """A picture in characters of a record (or of a batch of one): what its viewer sees; of a state, everything.

        Args:
            view: As in `scene`.
            colour: With escape codes for a terminal: colours, and the last move in reverse.
            width: Columns of the terminal: a board that is wider is drawn in its narrow form, if it has one.
        """
        from ..render import text

        check_flag("colour", colour)
        return text(self.scene(view), colour=colour, width=width)

    def seat(self, view: Record, player: int) -> Seat:
        """What a picture says of a player."""
        check_range("player", player, 0, self.num_players - 1)
        return describe.seat(self, self._record(view), player)

    def status(self, view: States | Record) -> str:
        """Last move, and whose turn it is or how the game has ended.

        >>> import numpy as np
        >>> from pbm_envs import Chameleon
        >>> game = Chameleon(size=3)
        >>> game.status(game.init(1, np.random.default_rng(0)))
        'ply 0 - player_0 (Vert) to move'
        """
        return describe.status(self, self._record(view))
