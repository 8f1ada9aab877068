"""What a game is: rules over batches, with a record for each game.

Shapes, here and everywhere: B games in a batch, P players, A actions, n cells of the board.

    states   (B,) of game.dtype      actions  (B,) integers in 0..A-1      players  (B,) integers in 0..P-1
    views    (B,) of game.dtype      masks    (B, A) bool                  returns  (B, P) float32

A *view* is a state record in which everything that its viewer cannot know is blanked out and whose field `viewer` names
them; in a full state `viewer` is NOBODY. The public methods check what they are given once, for all games, and hand
whole batches to the hooks of a game, whose names begin with an underscore.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from . import describe
from .checks import check_flag, check_range, check_writable
from .deals import Deal
from .hooks import AVOID_LOSING_MOVES, LAST_PLAYER_BY_ACTION, SAVE_BRIDGES
from .presentation import GamePresentation
from .printable import quoted
from .randomness import seeds
from .state import INT8, INT64, NO_ACTION, NOBODY, any_view, as_bytes, copy_states, single_record
from .symmetry import Symmetry, rename_common_fields
from .types import Ints, Mask, Planes, Rng, Seeds, States
from .validation import validate_common_fields

if TYPE_CHECKING:
    from typing_extensions import Self

    from ..render import Picture

MOST_ROWS, MOST_WORLDS, MOST_PLAYOUTS = 50_000, 5000, 1000
"""Rows of a batch, worlds drawn, and playouts, at once: longer batches are split, so that Ctrl-C acts soon."""
ALL_ROWS = (slice(None),)
NOT_RECORDED = np.zeros((0, 0), np.int8)


class Game(GamePresentation):
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
        known = inspect.signature(type(self)).parameters
        if unknown := sorted(changes.keys() - known.keys()):
            raise ValueError(
                f"{type(self).__name__} has no option {quoted(unknown[0])}: expected some of {', '.join(known)}"
            )
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
        self._check(states)
        if type(actions) is np.ndarray and actions.dtype is INT64 and actions.shape == states.shape:
            chosen = actions  # the usual case, fast
        else:
            chosen = self._to_actions(actions, states)
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
        self._check(states)
        mask = self._result(out, np.bool_, (len(states), self.num_actions))
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
        self._check(states)
        if isinstance(players, int):
            known = 0 <= players < self.num_players
        elif type(players) is np.ndarray and players.dtype is INT8 and players.shape == states.shape:
            known = bool(players.view(np.uint8).max(initial=0) < self.num_players)  # the usual case, fast
        else:
            known = self._are_players(players, states)
        if not known:
            raise ValueError(
                f"players are {quoted(players)}: expected integers in 0..{self.num_players - 1}, one for each game or "
                "one for all"
            )
        if out is None:
            out = np.empty(len(states), self.dtype)
        else:
            self._check(out)
            if out.shape != states.shape:
                raise ValueError(f"out has shape {out.shape}: expected {states.shape}")
            check_writable("out", out)
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
        chosen = self._to_actions(actions, states)
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
        self._check(views)
        observations = self._result(out, np.int8, (len(views), *self.observation_shape))
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
        self._check(views)
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
        self._check(states)
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
        self._check_same_games(starts, views)
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
        self._check(states)
        check_writable("states", states)
        if any_view(states["viewer"]):
            raise ValueError("a view cannot be played on: determinize it first")
        count = len(states)
        if avoid_losing_moves is not False:
            check_flag(AVOID_LOSING_MOVES, avoid_losing_moves)
            self._check_playout_option(AVOID_LOSING_MOVES, avoid_losing_moves)
        if save_bridges is not False:
            check_flag(SAVE_BRIDGES, save_bridges)
            self._check_playout_option(SAVE_BRIDGES, save_bridges)
        if last_player_by_action is None:
            last_player_by_action = NOT_RECORDED
        else:
            self._check_playout_option(LAST_PLAYER_BY_ACTION, True)
            self._check_last_players(last_player_by_action, count)
        streams = seeds(rng, count)
        for part in parts(count, MOST_PLAYOUTS):
            some, own, last = states, streams, last_player_by_action
            if count > MOST_PLAYOUTS:
                some, own, last = states[part], streams[part], last_player_by_action[part]
            if save_bridges:
                self._bridge_playout(some, own, last)
            else:
                self._playout(some, own, last, avoid_losing_moves)

    def remove_player(self, state: States) -> None:
        """The player to move leaves the game, in place, as if by resigning (A2), whether or not its options allow that.

        In a game of more than two that knows no resigning the game ends: the others share what the player loses.

        Args:
            state: (1,) a full state of a game that is going on.
        """
        self._check(state)
        single_record(state)
        if "allow_resign" in inspect.signature(type(self)).parameters:
            resigning, last = self._resigning, state["last_action"].copy()
            resigning.step(state.view(resigning.dtype), [resigning.resign_action])
            if resigning is not self:
                state["last_action"] = last  # there is no action `resign` in this game
            return
        loss = 1 / (self.num_players - 1)
        mover = int(state["to_move"][0])
        state["returns"] = loss * loss
        state["returns"][0, mover] = -loss
        state["to_move"] = (mover + 1) % self.num_players
        state["ply"] += 1
        state["done"] = True

    @cached_property
    def _resigning(self) -> Game:
        """The same game where everyone may resign."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the user was warned when this game was made (T7)
            return self if self.resign_action >= 0 else self.with_options(allow_resign=True)

    def transform(self, states: States, symmetry: Symmetry) -> States:
        """The same games under other names: playing `symmetry.actions[a]` in them is playing `a` in `states`.

        Args:
            states: (B,) states or views.
            symmetry: One of `symmetries`.

        Returns:
            (B,) renamed copies.
        """
        self._check(states)
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

    def _repr_svg_(self) -> str:
        """A start position, as its first player sees it."""
        return self._start_picture()._repr_svg_()

    def _repr_png_(self) -> bytes | None:
        return self._start_picture()._repr_png_()

    def _start_picture(self) -> Picture:
        return self.show(self.view(self.init(1, np.random.default_rng(0)), 0))

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
