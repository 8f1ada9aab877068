"""What a game is: rules over batches, with a record for each game.

Shapes, here and everywhere: B games in a batch, P players, A actions, n cells of the board.

    states   (B,) of game.dtype      actions  (B,) integers in 0..A-1      players  (B,) integers in 0..P-1
    views    (B,) of game.dtype      masks    (B, A) bool                  returns  (B, P) float32

A *view* is a state record in which everything that its viewer cannot know is blanked out and whose field `viewer` names
them; in a full state `viewer` is NOBODY. The public methods check what they are given once, for all games, and hand
whole batches to the hooks of a game, whose names begin with an underscore.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import takewhile
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from . import describe
from .arguments import (
    check_out,
    check_players,
    check_playout_option,
    check_same_games,
    check_states,
    to_actions,
    to_record,
)
from .checks import check_flag, check_range, check_writable
from .deals import Deal
from .hooks import AVOID_LOSING_MOVES, LAST_PLAYER_BY_ACTION, SAVE_BRIDGES, GameHooks
from .options import Option, check_names, options_of
from .printable import quoted
from .randomness import seeds
from .scene import Drawn, Scene, Seat
from .state import INT8, NO_ACTION, NOBODY, any_view, as_bytes, copy_states, single_record
from .symmetry import Symmetry, rename_common_fields
from .types import Ints, Mask, Planes, Record, Rng, Seeds, States
from .validation import validate_common_fields

if TYPE_CHECKING:
    from typing_extensions import Self

MOST_ROWS, MOST_WORLDS, MOST_PLAYOUTS = 50_000, 5000, 1000
"""Rows of a batch, worlds drawn, and playouts, at once: longer batches are split, so that Ctrl-C acts soon."""
ALL_ROWS = (slice(None),)
NOT_RECORDED = np.zeros((0, 0), np.int8)
ALLOW_RESIGN = Option(
    "allow_resign", bool, False, help="Adds the action `resign`, the last one, with which a player gives up."
)
"""The declaration of the option `allow_resign` (A2), for games that have it."""


class Game(GameHooks):
    """A board game by the rules of one set of options. Immutable; equal to another with the same options.

    Users call the methods below, over batches of games. The author of a game gives it what `GameHooks` asks for: its
    moves, `_init`, `_board_to_string` and its rules. Hidden information adds `_view` and `_determinize`; a random
    set-up adds `random_setup` and `_deal`.

    >>> from pbm_envs import Chameleon
    >>> game, rng = Chameleon(size=3), np.random.default_rng(7)
    >>> states = game.init(2, rng)
    >>> game.step(states, [game.string_to_action("a1x"), game.string_to_action("b2o")])
    >>> game.legal_action_mask(states).sum(axis=1)
    array([17, 17])
    """

    def with_options(self, **changes: Any) -> Self:
        """The same game with some options changed.

        >>> from pbm_envs import Trinim
        >>> Trinim(size=6).with_options(num_players=3)
        Trinim(size=6, num_players=3, allow_resign=False)

        Raises:
            ValueError: For an option that the game does not have, or a value that it refuses.
        """
        check_names(type(self).__name__, changes, options_of(type(self)))
        return type(self)(**{**self.options, **changes})

    def init(self, batch_size: int, rng: Rng | Seeds, board: str | None = None) -> States:
        """Start games.

        Args:
            batch_size: B, from 0 up.
            rng: A generator, or (B,) uint64 seeds, one a game, which are advanced in place.
            board: A board text from which all games start; None for the game's own set-up.

        Returns:
            (B,) states.

        Raises:
            ValueError: For a board text that is none of this game.
        """
        check_range("batch_size", batch_size, 0, 2**31)
        if not isinstance(board, (str, type(None))):
            raise ValueError(f"board is {quoted(board)}: expected a board text, or None")
        streams = seeds(rng, batch_size)
        states = np.zeros(batch_size, self.dtype)
        states["viewer"] = NOBODY
        states["last_action"] = NO_ACTION
        for part in parts(batch_size, MOST_ROWS):
            self._init(states[part], streams[part], board)
        return states

    def step(self, states: States, actions: ArrayLike) -> None:
        """Play one ply in every game, in place; games that are done stay as they are, whatever their action.

        Args:
            states: (B,) full states.
            actions: (B,) integers.

        Raises:
            ValueError: Before anything is changed, if an action is illegal (naming row and move) or a record is a view.
        """
        check_states(self, states)
        chosen = to_actions(actions, states)
        check_writable("states", states)
        row = self._step(states, chosen)
        if row >= 0:
            raise ValueError(describe.why_illegal(self, states[row : row + 1], row, int(chosen[row])))

    def legal_action_mask(self, states: States, out: Mask | None = None) -> Mask:
        """The legal actions: all False where done and in the view of a player who is not the player to move.

        Args:
            states: (B,) states or views.
            out: (B, A) bool, contiguous, to write to instead of a new array.

        Returns:
            (B, A) bool.
        """
        check_states(self, states)
        mask = self._result(out, np.bool_, (len(states), self.num_actions), states)
        for part in parts(len(states), MOST_ROWS):
            self._legal_action_mask(states[part], mask[part])
        return mask

    def view(self, states: States, players: int | ArrayLike, out: States | None = None) -> States:
        """What players can know of their games.

        Args:
            states: (B,) full states.
            players: (B,) integers, the viewer of each row; or one for all rows.
            out: (B,) records to write to instead of a new array.

        Returns:
            (B,) views.
        """
        check_states(self, states)
        check_players(self, players, states)
        if out is None:
            out = np.empty(len(states), self.dtype)
        else:
            check_out("out", out, self.dtype, states.shape, states)
        out["viewer"] = players
        self._view(states, out)
        if not self.public_moves:
            out["last_action"] = NO_ACTION
        return out

    def seen_actions(self, states: States, actions: ArrayLike, players: int | ArrayLike) -> Ints:
        """Return what players see of moves: the action itself, or NO_ACTION where it is hidden from them.

        Args:
            states: (B,) full states, before the moves.
            actions: (B,) the actions played there.
            players: (B,) integers, the viewer of each row; or one for all rows.

        Returns:
            (B,) integers.
        """
        chosen = to_actions(actions, states)
        if self.public_moves:
            return chosen
        return self._seen_actions(states, chosen, np.broadcast_to(np.asarray(players), states.shape))

    def observe(self, views: States, out: Planes | None = None) -> Planes:
        """The observations of views; `planes` names what they hold. A full state is observed as by an all-knowing
        `player_0`.

        Args:
            views: (B,) views or states.
            out: (B, rows, cols, planes) int8, contiguous, to write to instead of a new array.

        Returns:
            (B, rows, cols, planes) int8.
        """
        check_states(self, views)
        observations = self._result(out, np.int8, (len(views), *self.observation_shape), views)
        for part in parts(len(views), MOST_ROWS):
            self._observe(views[part], observations[part])
        return observations

    def observe_with_mask(
        self, states: States, players: int | ArrayLike, views: States | None = None
    ) -> tuple[Planes, Mask]:
        """`observe` and `legal_action_mask` of `view(states, players)`.

        Args:
            states: (B,) full states.
            players: (B,) integers, the viewer of each row; or one for all rows.
            views: (B,) records that the views are written to instead of a new array.

        Returns:
            Observations (B, rows, cols, planes) int8 and masks (B, A) bool.
        """
        views = self.view(states, players, out=views)
        rows, cols, planes = self.observation_shape
        observations = np.empty((len(states), rows, cols, planes), np.int8)
        masks = np.empty((len(states), self.num_actions), np.bool_)
        for part in parts(len(views), MOST_ROWS):
            self._observe(views[part], observations[part])
            self._legal_action_mask(views[part], masks[part])
        return observations, masks

    def determinize(self, views: States, rng: Rng | Seeds) -> States:
        """Full states drawn uniformly from those that are consistent with each view.

        Args:
            views: (B,) views; full states are copied.
            rng: A generator, or (B,) uint64 seeds, one a game, which are advanced in place.

        Returns:
            (B,) full states.
        """
        check_states(self, views)
        streams = seeds(rng, len(views))
        split = ALL_ROWS if self.perfect_information else parts(len(views), MOST_WORLDS)
        drawn = [as_bytes(self._determinize(views[part], streams[part])) for part in split]
        states = (drawn[0] if len(drawn) == 1 else np.concatenate(drawn)).view(self.dtype)
        states["viewer"] = NOBODY
        return states

    def validate(self, states: States) -> None:
        """Check records that come from outside: a file, a memory map, another process, your own code.

        Rules trust the fields of the records that they are given (`step`, `legal_action_mask`, `view`, `observe`,
        `determinize`, `playout`, `transform` and the pictures): bytes that are no state can crash the process or keep
        it busy for ever. What `init` and `step` have made need not be checked, and what this accepts is safe.

        Args:
            states: (B,) states or views. They are not changed.

        Raises:
            InvalidStateError: A ValueError that names the first row that is none, and its field.
        """
        check_states(self, states)
        if len(states):
            validate_common_fields(self, states)
            self._validate(states)

    def resample_start(self, starts: States, views: States, rng: Rng | Seeds) -> States:
        """Starts that a player could not have told from the true one, given what that player has seen of start and now.

        The default draws from all worlds that fit the view of the start: whoever replays the moves has to reject those
        that do not lead to what the player sees. A game that can use the later view does (Curio).

        Args:
            starts: (B,) views of the positions before the first move.
            views: (B,) views of the same players later in the same games.
            rng: A generator, or (B,) uint64 seeds, one a game, which are advanced in place.

        Returns:
            (B,) full states at the start.

        Raises:
            ValueError: If starts and views are not of the same number.
        """
        check_same_games(self, starts, views)
        return self.determinize(starts, rng)

    def playout(
        self,
        states: States,
        rng: Rng | Seeds,
        *,
        avoid_losing_moves: bool = False,
        last_player_by_action: Ints | None = None,
        save_bridges: bool = False,
    ) -> None:
        """Play every game to its end, in place, each ply drawn uniformly from the legal actions except `resign`.

        Args:
            states: (B,) full states.
            rng: A generator, or (B,) uint64 seeds, one a game, which are advanced in place.
            avoid_losing_moves: An action that loses at once is drawn anew, unless all do (Unlur, where a move can
                complete the opponent's figure). An option of games that name it in `playout_options`.
            last_player_by_action: (B, A) int8, in which the player is written who played each action last; what was
                not played is left alone, and so are actions that name no cell. An option likewise.
            save_bridges: A player whose bridge the last move has broken into saves it, in games of connection: such
                playouts say more of a position than random ones, and take longer. Moves that lose at once are then
                avoided too. An option likewise (Chameleon, Unlur).

        Raises:
            ValueError: For views, and for an option that is none of this game's `playout_options`.
        """
        check_states(self, states)
        check_writable("states", states)
        if any_view(states["viewer"]):
            raise ValueError("a view cannot be played on: determinize it first")
        count = len(states)
        for option, wanted in ((AVOID_LOSING_MOVES, avoid_losing_moves), (SAVE_BRIDGES, save_bridges)):
            if wanted is not False:
                check_flag(option, wanted)
                if wanted:
                    check_playout_option(self, option)
        if last_player_by_action is None:
            last_player_by_action = NOT_RECORDED
        else:
            check_playout_option(self, LAST_PLAYER_BY_ACTION)
            check_out(LAST_PLAYER_BY_ACTION, last_player_by_action, INT8, (count, self.num_actions), states)
        streams = seeds(rng, count)
        for part in parts(count, MOST_PLAYOUTS):
            if save_bridges:
                self._bridge_playout(states[part], streams[part], last_player_by_action[part])
            else:
                self._playout(states[part], streams[part], last_player_by_action[part], avoid_losing_moves)

    def remove_player(self, state: States) -> None:
        """The player to move leaves the game, in place, as if by resigning (A2), whether or not its options allow that.

        Without the action `resign` the last action stays, and the game ends by default: the others share what the
        player to move loses. Games that are done stay as they are.

        Args:
            state: (1,) a full state.

        Raises:
            ValueError: For a view.
        """
        check_states(self, state)
        if single_record(state)["viewer"] != NOBODY:
            raise ValueError("nobody can leave a view: expected a full state")
        if self.resign_action >= 0:
            self.step(state, [self.resign_action])
        elif not state["done"][0]:
            check_writable("state", state)
            self._remove_player(state)

    def transform(self, states: States, symmetry: Symmetry) -> States:
        """The same games under other names: playing `symmetry.actions[a]` in them is playing `a` in `states`.

        Args:
            states: (B,) states or views.
            symmetry: One of `symmetries`.

        Returns:
            (B,) renamed copies.
        """
        check_states(self, states)
        if not isinstance(symmetry, Symmetry) or len(symmetry.actions) != self.num_actions:
            raise ValueError(f"symmetry is {quoted(symmetry)}: expected one of the symmetries of {self!r}")
        renamed = copy_states(states)
        rename_common_fields(states, symmetry, renamed)
        self._transform(renamed, symmetry)
        return renamed

    @cached_property
    def symmetries(self) -> tuple[Symmetry, ...]:
        """Every symmetry of the rules, the identity first."""
        return tuple(self._symmetries())

    @cached_property
    def deal(self) -> Deal | None:
        """The random set-up as chance events; None where all games start alike or the game does not spell it out."""
        return self._deal()

    def action_to_string(self, action: int) -> str:
        """The canonical text of an action (A3)."""
        return self.notation.write(action)

    def string_to_action(self, text: str) -> int:
        """The action of a move text, in upper or lower case, with or without blanks around it (A3); else ValueError."""
        return self.notation.read(text)

    def board_to_string(self, state: States | Record) -> str:
        """The board of a record (or of a batch of one) as `init(board=...)` reads it."""
        return self._board_to_string(to_record(self, state))

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
        record = to_record(self, view)
        check_flag("public", public)
        shown = self._public(record) if public else record
        return self._scene(shown, {} if heat is None else self.drawing.warmth(heat, self.num_actions))

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
        check_flag("legend", legend)
        check_flag("coordinates", coordinates)
        check_flag("transparent", transparent)
        scene = self.drawing.cropped(self.scene(view, heat, public=public), legend=legend, coordinates=coordinates)
        return self.drawing.picture(scene, size, theme, transparent=transparent)

    def to_text(self, view: States | Record, *, colour: bool = False, width: int | None = None) -> str:
        """A picture in characters of a record (or of a batch of one): what its viewer sees; of a state, everything.

        Args:
            view: As in `scene`.
            colour: With escape codes for a terminal: colours, and the last move in reverse.
            width: Columns of the terminal: a board that is wider is drawn in its narrow form, if it has one.
        """
        check_flag("colour", colour)
        return self.drawing.text(self.scene(view), colour=colour, width=width)

    def seat(self, view: Record, player: int) -> Seat:
        """What a picture says of a player."""
        check_range("player", player, 0, self.num_players - 1)
        return describe.seat(self, to_record(self, view), player)

    def status(self, view: States | Record) -> str:
        """Last move, and whose turn it is or how the game has ended.

        >>> import numpy as np
        >>> from pbm_envs import Chameleon
        >>> game = Chameleon(size=3)
        >>> game.status(game.init(1, np.random.default_rng(0)))
        'ply 0 - player_0 (Vert) to move'
        """
        return describe.status(self, to_record(self, view))

    def _repr_svg_(self) -> str:
        """A start position, as its first player sees it."""
        return self._start_picture()._repr_svg_()

    def _repr_png_(self) -> bytes | None:
        return self._start_picture()._repr_png_()

    def _start_picture(self) -> Drawn:
        return self.show(self.view(self.init(1, np.random.default_rng(0)), 0))

    @staticmethod
    def _result(out: Any, dtype: Any, shape: tuple[int, ...], states: States) -> Any:
        """Return `out` once it is checked, or a new array."""
        if out is None:
            return np.empty(shape, dtype)
        check_out("out", out, dtype, shape, states)
        return out

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self.options.items())})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Game) and type(self) is type(other) and self.options == other.options

    def __hash__(self) -> int:
        return hash((type(self), tuple(self.options.items())))

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self), dict(self.options))


def parts(count: int, most: int) -> Sequence[slice]:
    """Slices of at most so many rows that cover all; one, if there are no rows."""
    if count <= most:
        return ALL_ROWS
    return [slice(first, first + most) for first in range(0, count, most)]


def _rebuild(kind: type[Game], options: dict[str, Any]) -> Game:
    """A game that was pickled. Its warnings were given when it was first made (T7)."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return kind(**options)
