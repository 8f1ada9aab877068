"""What a game is: rules over batches, one record a game.

Shapes, here and everywhere: B games in a batch, P players, A actions, n cells of the board.

    states   (B,) of game.dtype      actions  (B,) integers in 0..A-1      players  (B,) integers in 0..P-1
    views    (B,) of game.dtype      masks    (B, A) bool                  returns  (B, P) float32

A *view* is a state record in which everything that its viewer cannot know is blanked out and whose field `viewer` names
them; in a full state `viewer` is NOBODY. Rules are kernels over one record; the methods here check what they are given
once, for all games, and hand whole batches to the kernels of a game.
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import takewhile
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .boards import Board
from .checks import check_range
from .kernels import record_type
from .notation import Notation
from .randomness import Seeds, seeds
from .render import Picture, Scene, text
from .render.parts import Heat, Seat, warmth
from .state import (
    INT64,
    NO_ACTION,
    NOBODY,
    Ints,
    Mask,
    Planes,
    Record,
    Rng,
    States,
    any_view,
    copied,
    copy_batch,
    one,
)
from .symmetry import Symmetry

NO_TRACE = np.zeros((0, 0), np.int8)


class Game(ABC):
    """A board game by the rules of one set of options. Immutable; equal to another with the same options."""

    name: str
    """As in `<name>_v0`."""
    options: Mapping[str, Any]
    """The options, complete with defaults."""
    num_players: int
    perfect_information: bool = True
    """Every player knows the whole state; else views hide something."""
    shared_moves: bool = False
    """An action does the same to the board whoever plays it."""
    num_actions: int
    max_plies: int
    """No game is longer than this."""
    dtype: np.dtype[np.void]
    board: Board
    configurations: tuple[Mapping[str, Any], ...]
    """Options that between them use every option: what the conformance checks play."""
    planes: Mapping[str, str]
    """The planes of an observation, in order: name and meaning. All are 0 off the board."""
    observation_shape: tuple[int, int, int]
    """(rows, cols, planes)"""
    notation: Notation
    """Texts of the actions."""
    resign: int
    """That action, or NO_ACTION."""

    def __init__(
        self,
        options: Mapping[str, Any],
        board: Board,
        dtype: np.dtype[np.void],
        moves: Sequence[str],
        form: str,
        max_plies: int,
        other_texts: Mapping[str, int] | None = None,
    ) -> None:
        """`moves` are the texts of all actions but `resign`, which is the last where allowed; `form` and
        `other_texts` are those of Notation.
        """
        self.options = MappingProxyType(dict(options))
        self.board = board
        self.dtype = dtype
        self._record_type = record_type(dtype)
        resigns = ["resign"] if options["allow_resign"] else []
        self.notation = Notation(
            type(self).__name__, [*moves, *resigns], form + " or 'resign'" * len(resigns), other_texts
        )
        self.num_actions = len(moves) + len(resigns)
        self.resign = len(moves) if resigns else NO_ACTION
        self.max_plies = max_plies
        self.observation_shape = (*board.shape, len(self.planes))

    # What each game provides. The batches that these are given have been checked.

    @abstractmethod
    def _init(self, states: States, seeds: Seeds, board: str | None) -> None:
        """Set up records that are zero but for the common fields."""

    @abstractmethod
    def _step(self, states: States, actions: Ints) -> int:
        """Play; or change nothing and return the first row whose action is illegal, else -1."""

    @abstractmethod
    def _legal_action_mask(self, states: States, out: Mask) -> None:
        """Write all of `out`, in which anything may stand."""

    @abstractmethod
    def _observe(self, views: States, out: Planes) -> None:
        """Write all of `out`, in which anything may stand."""

    @abstractmethod
    def _playout(self, states: States, seeds: Seeds, careful: bool, trace: Ints) -> None:
        """As `playout`; `trace` is (0, 0) if there is none. A game may take no notice of `careful`."""

    def _view(self, states: States, views: States) -> None:
        """Copy to `views`, whose `viewer` is set, what the viewers can know; everything in an open game."""
        copy_batch(states, views)

    def _determinize(self, views: States, seeds: Seeds) -> States:
        """Copies in which what `_view` has blanked is filled in."""
        return copied(views)

    @abstractmethod
    def _transform(self, states: States, symmetry: Symmetry) -> None:
        """Rename what the common fields do not cover."""

    @abstractmethod
    def _symmetries(self) -> Iterator[Symmetry]: ...

    @abstractmethod
    def _board_to_string(self, state: Record) -> str: ...

    @abstractmethod
    def _cells(self, action: int) -> tuple[int, ...]:
        """As `action_cells`, of an action that exists."""

    @abstractmethod
    def _scene(self, view: Record, heat: Heat) -> Scene: ...

    def _public(self, state: Record) -> Record:
        """A copy, or the record itself, without what only some of the players can know."""
        return state

    def role(self, view: Record, player: int) -> str:
        """The part that `player` has now, or "" in a game without parts."""
        return ""

    # What all games share.

    def init(self, batch_size: int, rng: Rng | Seeds, board: str | None = None) -> States:
        """`batch_size` games at the start, shape (B,); with `board`, all from that position (design of each game).
        `rng` is a generator or (B,) uint64 seeds, one a game, which are advanced in place.
        """
        check_range("batch_size", batch_size, 0, 2**31)
        if not isinstance(board, (str, type(None))):
            raise ValueError(f"board is {board!r}: expected a board text, or None")
        streams = seeds(rng, batch_size)
        states = np.zeros(batch_size, self.dtype)
        states["viewer"] = NOBODY
        states["last_action"] = NO_ACTION
        self._init(states, streams, board)
        return states

    def step(self, states: States, actions: ArrayLike) -> None:
        """Play `actions`, in place; games that are done stay as they are, whatever their action.

        Raises ValueError, before anything is changed, if an action is illegal (naming row and move) or a record is a
        view.
        """
        self._check(states)
        chosen = np.asarray(actions)
        if chosen.shape != states.shape or chosen.dtype.kind not in "iu":
            raise ValueError(
                f"actions are {chosen.dtype} {chosen.shape}: expected integers {states.shape}, one for each game"
            )
        if chosen.dtype is not INT64:
            chosen = chosen.astype(INT64)
        row = self._step(states, chosen)
        if row >= 0:
            raise ValueError(self._why_illegal(states[row : row + 1], row, int(chosen[row])))

    def legal_action_mask(self, states: States, out: Mask | None = None) -> Mask:
        """(B, A) bool, written to `out` if given: the legal actions; all False where done and in the view of a player
        who is not to move.
        """
        self._check(states)
        mask = self._result(out, np.bool_, (len(states), self.num_actions))
        self._legal_action_mask(states, mask)
        return mask

    def view(self, states: States, players: int | ArrayLike, out: States | None = None) -> States:
        """(B,), written to `out` if given: what the given players (one for each row, or one for all) can know."""
        self._check(states)
        if isinstance(players, int):
            known = 0 <= players < self.num_players
        else:
            given = np.asarray(players)
            known = given.dtype.kind in "iu" and bool(given.astype(np.uint64).max(initial=0) < self.num_players)
        if not known:
            raise ValueError(f"players are {players!r}: expected integers in 0..{self.num_players - 1}")
        if out is None:
            out = np.empty(len(states), self.dtype)
        else:
            self._check(out)
            if out.shape != states.shape:
                raise ValueError(f"out has shape {out.shape}: expected {states.shape}")
        out["viewer"] = players
        self._view(states, out)
        return out

    def observe(self, views: States, out: Planes | None = None) -> Planes:
        """(B, rows, cols, planes) int8, written to `out` if given: `planes` says what they mean. A full state is
        observed as by an all-knowing `player_0`.
        """
        self._check(views)
        observations = self._result(out, np.int8, (len(views), *self.observation_shape))
        self._observe(views, observations)
        return observations

    def perceive(self, states: States, players: int | ArrayLike, views: States | None = None) -> tuple[Planes, Mask]:
        """`observe` and `legal_action_mask` of `view(states, players)`, which is written to `views` if given."""
        views = self.view(states, players, out=views)
        rows, cols, planes = self.observation_shape
        observations = np.empty((len(states), rows, cols, planes), np.int8)
        masks = np.empty((len(states), self.num_actions), np.bool_)
        self._observe(views, observations)
        self._legal_action_mask(views, masks)
        return observations, masks

    def determinize(self, views: States, rng: Rng | Seeds) -> States:
        """(B,) full states, drawn uniformly from those that are consistent with each view. `rng` is a generator or
        (B,) uint64 seeds, one a game, which are advanced in place.
        """
        self._check(views)
        states = self._determinize(views, seeds(rng, len(views)))
        states["viewer"] = NOBODY
        return states

    def playout(self, states: States, rng: Rng | Seeds, *, careful: bool = False, trace: Ints | None = None) -> None:
        """Play every game to its end, in place, each ply drawn uniformly from the legal actions except `resign`. `rng`
        is a generator or (B,) uint64 seeds, one a game, which are advanced in place.

        `careful`: in Unlur, where a move can complete the opponent's figure, an action that loses at once is drawn
        anew, unless all do. `trace` (B, A) int8: who has played an action (last) is written there, the contract and the
        swap excepted; the rest is left alone.
        """
        self._check(states)
        if any_view(states["viewer"]):
            raise ValueError("a view cannot be played on: determinize it first")
        if trace is None:
            trace = NO_TRACE
        elif trace.shape != (len(states), self.num_actions) or trace.dtype != np.int8:
            raise ValueError(f"trace is {trace.dtype} {trace.shape}: expected int8 {(len(states), self.num_actions)}")
        self._playout(states, seeds(rng, len(states)), careful, trace)

    def transform(self, states: States, symmetry: Symmetry) -> States:
        """(B,) the same games under other names: playing `symmetry.actions[a]` in them is playing `a` in `states`."""
        self._check(states)
        renamed = copied(states)
        players = np.asarray(symmetry.players)
        renamed["to_move"] = players[states["to_move"]]
        renamed["viewer"] = np.where(states["viewer"] == NOBODY, NOBODY, players[states["viewer"]])
        renamed["returns"][:, players] = states["returns"]
        last = states["last_action"]
        renamed["last_action"] = np.where(last == NO_ACTION, NO_ACTION, symmetry.actions[last])
        self._transform(renamed, symmetry)
        return renamed

    def action_to_string(self, action: int) -> str:
        """The canonical text of an action (A3)."""
        return self.notation.write(action)

    def string_to_action(self, text: str) -> int:
        """The action of a move text, in capitals or not, blanks around it or not (A3); else ValueError."""
        return self.notation.read(text)

    def board_to_string(self, state: States | Record) -> str:
        """The board of a record (or of a batch of one) as `init(board=...)` reads it."""
        return self._board_to_string(one(state))

    def action_cells(self, action: int) -> tuple[int, ...]:
        """The cells that a move names, in order: none, one, or its two ends."""
        self.notation.write(action)
        return self._cells(int(action))

    @cached_property
    def words(self) -> Mapping[int, str]:
        """The actions that name no cell, such as `swap`, and their texts. They are the last ones."""
        actions = takewhile(lambda action: not self._cells(action), reversed(range(self.num_actions)))
        return MappingProxyType({action: self.action_to_string(action) for action in sorted(actions)})

    def scene(self, view: States | Record, heat: ArrayLike | None = None, *, public: bool = False) -> Scene:
        """The picture of a record (or of a batch of one): what its viewer sees; of a state, everything or, if `public`,
        what every player knows.

        `heat`: (A,) numbers such as visits, priors or values, drawn over the actions in proportion to the greatest;
        masked ones and nan are left out, negative ones have another colour.
        """
        record = one(view)
        if record.dtype != self.dtype:
            raise ValueError(f"{self!r} was given a record of {record.dtype}: expected one of its own dtype")
        return self._scene(
            self._public(record) if public else record, {} if heat is None else warmth(heat, self.num_actions)
        )

    def show(
        self,
        view: States | Record,
        heat: ArrayLike | None = None,
        *,
        public: bool = False,
        size: int = 480,
        theme: str = "light",
    ) -> Picture:
        """`scene` for a notebook, or to be saved; `size` in pixels, of its longer side."""
        return Picture(self.scene(view, heat, public=public), size, theme)

    def to_text(self, view: States | Record) -> str:
        """A picture in characters of a record (or of a batch of one): what its viewer sees; of a state, everything."""
        return text(self.scene(view))

    def seat(self, view: Record, player: int) -> Seat:
        """What a picture says of a player."""
        return Seat(
            title=self.role(view, player),
            name=f"player_{player}",
            active=not view["done"] and int(view["to_move"]) == player,
            won=bool(view["done"] and view["returns"][player] == 1),
        )

    def _repr_svg_(self) -> str:
        """A start position, as its first player sees it."""
        return self.show(self.view(self.init(1, np.random.default_rng(0)), 0))._repr_svg_()

    def status(self, view: States | Record) -> str:
        """Last move, and whose turn it is or how the game has ended.

        >>> from pbm_envs import Chameleon
        >>> game = Chameleon(size=3)
        >>> game.status(game.init(1, np.random.default_rng(0)))
        'ply 0 - player_0 (Vert) to move'
        """
        view = one(view)
        named = [
            f"player_{player}" + f" ({role})" * bool(role)
            for player in range(self.num_players)
            for role in [self.role(view, player)]
        ]
        if view["truncated"]:
            ending = "drawn by the ply limit"
        elif not view["done"]:
            ending = f"{named[view['to_move']]} to move"
        elif view["returns"].max() < 1:
            ending = "drawn"
        else:
            ending = f"{named[view['returns'].argmax()]} has won"
        last = "" if view["last_action"] == NO_ACTION else f", last move {self.action_to_string(view['last_action'])}"
        return f"ply {view['ply']}{last} - {ending}"

    @cached_property
    def symmetries(self) -> tuple[Symmetry, ...]:
        """Every symmetry of the rules, the identity first."""
        return tuple(self._symmetries())

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self.options.items())})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Game) and type(self) is type(other) and self.options == other.options

    def __hash__(self) -> int:
        return hash((type(self), tuple(self.options.items())))

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self), dict(self.options))

    def _check(self, states: States) -> None:
        if type(states) is np.ndarray and states.dtype is self.dtype and states.ndim == 1:
            return  # the usual case, fast
        if not isinstance(states, np.ndarray) or states.ndim != 1 or states.dtype != self.dtype:
            given = f"{states.dtype}, shape {states.shape}" if isinstance(states, np.ndarray) else repr(states)
            raise ValueError(f"{self!r} was given {given}: expected a batch (B,) of its own dtype, as init makes it")

    @staticmethod
    def _result(out: Any, dtype: type, shape: tuple[int, ...]) -> Any:
        """`out`, or an array to fill."""
        if out is None:
            return np.empty(shape, dtype)
        if out.shape != shape or out.dtype != dtype or not out.flags.c_contiguous:
            raise ValueError(f"out is {out.dtype} {out.shape}: expected contiguous {np.dtype(dtype)} {shape}")
        return out

    def _why_illegal(self, state: States, row: int, action: int) -> str:
        if state["viewer"][0] != NOBODY:
            return f"row {row} is a view: determinize it first, or step the state it was taken from"
        if not 0 <= action < self.num_actions:
            return f"row {row}: action {action} does not exist: expected 0..{self.num_actions - 1}"
        legal = [self.action_to_string(int(a)) for a in np.flatnonzero(self.legal_action_mask(state)[0])]
        some = ", ".join(legal[:8]) + (", ..." if len(legal) > 8 else "")
        return f"row {row}: {self.action_to_string(action)!r} is illegal here: expected one of {len(legal)} ({some})"


def _rebuild(kind: type[Game], options: dict[str, Any]) -> Game:
    """A game that was pickled. Whoever made it has been warned (T7)."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return kind(**options)
