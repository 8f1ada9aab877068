"""The base class of games: rules over batches, with one record per game.

Symbols in shapes, here and everywhere: B games in a batch, P players, A actions, n cells of the board.

    states   (B,) of game.dtype      actions  (B,) integers in 0..A-1      players  (B,) integers in 0..P-1
    views    (B,) of game.dtype      masks    (B, A) bool                  returns  (B, P) float32

A *view* is a state record in which everything that its viewer cannot know is blank and whose field `viewer` is the
viewer; in a full state `viewer` is NOBODY. The public methods check their arguments once, for all games, and pass whole
batches to the hooks of a game, whose names begin with an underscore.

Everywhere `states` are full states, `players` is the viewer of each row or one for all rows, `rng` is a generator or
(B,) uint64 seeds, one per game, which are advanced in place, and `out` is a contiguous array of the shape and dtype of
the result, which is overwritten and returned. Wrong arguments raise ValueError.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from functools import cached_property
from itertools import takewhile
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from .boards import Deal
from .checks import check_flag, check_range, check_writable, quoted
from .hooks import AVOID_LOSING_MOVES, LAST_PLAYER_BY_ACTION, SAVE_BRIDGES
from .options import check_names, options_of
from .randomness import seeds
from .scene import Drawn
from .shown import ShownGame
from .state import (
    INT8,
    NO_ACTION,
    NOBODY,
    Ints,
    Mask,
    Planes,
    Record,
    Rng,
    Seeds,
    States,
    any_view,
    as_bytes,
    copy_states,
    in_parts,
    single_record,
)
from .symmetry import Symmetry, rename_common_fields
from .validation import (
    check_out,
    check_players,
    check_playout_option,
    check_same_games,
    check_states,
    output,
    to_actions,
    to_record,
    validate_common_fields,
    why_illegal,
)

if TYPE_CHECKING:
    from typing_extensions import Self

MOST_ROWS, MOST_WORLDS, MOST_PLAYOUTS = 50_000, 5000, 1000
"""Limits on rows, worlds and playouts per kernel call; larger batches are split so that Ctrl-C takes effect soon."""
NOT_RECORDED = np.zeros((0, 0), np.int8)


class Game(ShownGame):
    """The rules of a board game under one set of options. Immutable; games with the same options are equal.

    >>> from pbm_envs import Chameleon
    >>> game, rng = Chameleon(size=3), np.random.default_rng(7)
    >>> states = game.init(2, rng)
    >>> game.step(states, [game.string_to_action("a1x"), game.string_to_action("b2o")])
    >>> game.legal_action_mask(states).sum(axis=1)
    array([17, 17])
    """

    def with_options(self, **changes: Any) -> Self:
        """Return the same game with some options changed.

        >>> from pbm_envs import Trinim
        >>> Trinim(size=6).with_options(num_players=3)
        Trinim(size=6, num_players=3, allow_resign=False)
        """
        check_names(type(self).__name__, changes, options_of(type(self)))
        return type(self)(**{**self.options, **changes})

    def init(self, batch_size: int, rng: Rng | Seeds, board: str | None = None) -> States:
        """Return (B,) new games.

        Args:
            batch_size: The number of games, B.
            rng: A generator or seeds, which draw random set-ups.
            board: The board text from which all games start; None for the game's own set-up.

        Raises:
            ValueError: If the batch size or the board is invalid.
        """
        check_range("batch_size", batch_size, 0, 2**31)
        if not isinstance(board, (str, type(None))):
            raise ValueError(f"board is {quoted(board)}: expected a board text, or None")
        states = np.zeros(batch_size, self.dtype)
        states["viewer"] = NOBODY
        states["last_action"] = NO_ACTION
        in_parts(lambda some, streams: self._init(some, streams, board), MOST_ROWS, states, seeds(rng, batch_size))
        return states

    def step(self, states: States, actions: ArrayLike) -> None:
        """Play one ply in every game, in place; finished games are unchanged and their actions ignored.

        Raises:
            ValueError: If an action is illegal (names row and move) or a record is a view; nothing is changed.
        """
        check_states(self, states)
        chosen = to_actions(actions, states)
        check_writable("states", states)
        row = self._step(states, chosen)
        if row >= 0:
            raise ValueError(why_illegal(self, states[row : row + 1], row, int(chosen[row])))

    def legal_action_mask(self, states: States, out: Mask | None = None) -> Mask:
        """Return masks (B, A) of legal actions: all False in finished games and in views of players not to move."""
        check_states(self, states)
        mask = output(out, np.bool_, (len(states), self.num_actions), states)
        if len(states) <= MOST_ROWS:  # fast path
            self._legal_action_mask(states, mask)
        else:
            in_parts(self._legal_action_mask, MOST_ROWS, states, mask)
        return mask

    def view(self, states: States, players: int | ArrayLike, out: States | None = None) -> States:
        """Return (B,) views: what each of `players` can know of its game."""
        check_states(self, states)
        check_players(self, players, states)
        out = np.empty(len(states), self.dtype) if out is None else output(out, self.dtype, states.shape, states)
        out["viewer"] = players
        self._view(states, out)
        if not self.public_moves:
            out["last_action"] = NO_ACTION
        return out

    def seen_actions(self, states: States, actions: ArrayLike, players: int | ArrayLike) -> Ints:
        """Return (B,) `actions` in `states` as `players` see them: NO_ACTION where the action is hidden."""
        chosen = to_actions(actions, states)
        if self.public_moves:
            return chosen
        return self._seen_actions(states, chosen, np.broadcast_to(np.asarray(players), states.shape))

    def observe(self, views: States, out: Planes | None = None) -> Planes:
        """Return observations (B, rows, cols, planes) int8 of views; `planes` describes the last axis.

        A full state is observed as by a `player_0` who knows everything.
        """
        check_states(self, views)
        observations = output(out, np.int8, (len(views), *self.observation_shape), views)
        if len(views) <= MOST_ROWS:  # fast path
            self._observe(views, observations)
        else:
            in_parts(self._observe, MOST_ROWS, views, observations)
        return observations

    def observe_with_mask(
        self, states: States, players: int | ArrayLike, views: States | None = None
    ) -> tuple[Planes, Mask]:
        """Return `observe` and `legal_action_mask` of `view(states, players, out=views)`."""
        views = self.view(states, players, out=views)
        return self.observe(views), self.legal_action_mask(views)

    def determinize(self, views: States, rng: Rng | Seeds) -> States:
        """Return (B,) full states, each drawn uniformly from those consistent with the view; full states are copied."""
        check_states(self, views)
        streams, drawn = seeds(rng, len(views)), []
        for first in range(0, max(len(views), 1), MOST_WORLDS):
            some = slice(first, first + MOST_WORLDS)
            drawn.append(as_bytes(self._determinize(views[some], streams[some])))
        states = (drawn[0] if len(drawn) == 1 else np.concatenate(drawn)).view(self.dtype)
        states["viewer"] = NOBODY
        return states

    def validate(self, states: States) -> None:
        """Check states or views from other sources: a file, a memory map, another process, your own code.

        The other methods trust the fields of their records: bytes that are not a valid state can crash the process or
        make it loop forever. Records made by `init` and `step` need no check; records accepted here are safe.

        Raises:
            InvalidStateError: A ValueError that names the first invalid row and its field.
        """
        check_states(self, states)
        if len(states):
            validate_common_fields(self, states)
            self._validate(states)

    def resample_start(self, starts: States, views: States, rng: Rng | Seeds) -> States:
        """Return full initial states that players cannot distinguish from the true ones.

        `starts` (B,) are views before the first move, and `views` (B,) views of the same players later. The default
        ignores the later views, so a caller who replays the moves must reject states that do not lead to them.
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

        The keyword options need a game that lists them in `playout_options`.

        Args:
            states: (B,) full states.
            rng: A generator or seeds.
            avoid_losing_moves: Redraw an action that loses immediately, unless all do (in Unlur, a move can complete
                the opponent's figure).
            last_player_by_action: (B, A) int8, which receives the player who last played each action. Entries of
                actions that were not played, or that name no cell, are unchanged.
            save_bridges: In connection games, save bridges that the last move broke, avoid moves that lose
                immediately, and in Unlur end the contract phase at once. Such playouts predict results better than
                random ones, and take longer.
        """
        check_states(self, states)
        check_writable("states", states)
        if any_view(states):
            raise ValueError("a view cannot be played on: determinize it first")
        for option, wanted in ((AVOID_LOSING_MOVES, avoid_losing_moves), (SAVE_BRIDGES, save_bridges)):
            check_flag(option, wanted)
            if wanted:
                check_playout_option(self, option)
        if last_player_by_action is None:
            last_player_by_action = NOT_RECORDED
        else:
            check_playout_option(self, LAST_PLAYER_BY_ACTION)
            check_out(LAST_PLAYER_BY_ACTION, last_player_by_action, INT8, (len(states), self.num_actions), states)
        play = self._bridge_playout if save_bridges else lambda a, b, c: self._playout(a, b, c, avoid_losing_moves)
        in_parts(play, MOST_PLAYOUTS, states, seeds(rng, len(states)), last_player_by_action)

    def remove_player(self, state: States) -> None:
        """Remove the player to move from a game (1,), in place, as if by resigning (A2), whatever the options allow.

        In a game without the action `resign`, `last_action` is unchanged. A finished game is unchanged.
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
        """Return copies of states or views, transformed by a symmetry.

        Action `symmetry.actions[a]` in the result corresponds to action `a` in `states`.

        Args:
            states: (B,) states or views.
            symmetry: One of `symmetries`.
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
        """The random set-up as chance events; None if all games start alike or the game does not define them."""
        return self._deal()

    def action_to_string(self, action: int) -> str:
        """Return the canonical text of an action (A3)."""
        return self.notation.write(action)

    def string_to_action(self, text: str) -> int:
        """Return the action of a move text, in upper or lower case, with or without surrounding blanks (A3)."""
        return self.notation.read(text)

    def board_to_string(self, state: States | Record) -> str:
        """Return the board of a record (or of a batch of one) as `init(board=...)` reads it."""
        return self._board_to_string(to_record(self, state))

    def action_cells(self, action: int) -> tuple[int, ...]:
        """Return the cells named in a move, in order: none, one, or its two ends."""
        self.notation.write(action)
        return self._cells(int(action))

    @cached_property
    def cell_free_actions(self) -> Mapping[int, str]:
        """The actions that name no cell, such as `swap`, with their texts. They come after all others."""
        actions = takewhile(lambda action: not self._cells(action), reversed(range(self.num_actions)))
        return MappingProxyType({action: self.action_to_string(action) for action in sorted(actions)})

    def _repr_svg_(self) -> str:
        """Return the picture of an initial position as its first player sees it."""
        return self._start_picture()._repr_svg_()

    def _repr_png_(self) -> bytes | None:
        return self._start_picture()._repr_png_()

    def _start_picture(self) -> Drawn:
        return self.show(self.view(self.init(1, np.random.default_rng(0)), 0))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self.options.items())})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Game) and type(self) is type(other) and self.options == other.options

    def __hash__(self) -> int:
        return hash((type(self), tuple(self.options.items())))

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self), dict(self.options))


def _rebuild(kind: type[Game], options: dict[str, Any]) -> Game:
    """Return an unpickled game without repeating the warnings of its construction (T7)."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return kind(**options)
