"""The base class `GameHooks`: the facts and rules of a game, as hooks that `Game` calls with checked batches."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import product
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np

from .boards import Board, Deal
from .checks import check_range
from .kernels import register_records
from .notation import Notation
from .options import Option, check_names, options_of, signature_of
from .randomness import sample_batch
from .record_rules import NetworkInputs, PlayKernels, RecordRules
from .scene import Heat, Sample, Scene
from .state import (
    NO_ACTION,
    NOBODY,
    Ints,
    Mask,
    Planes,
    Record,
    Seeds,
    States,
    check_state_dtype,
    copy_batch,
    copy_states,
    take_rows,
)
from .symmetry import Symmetry
from .wording import JSON, Explanation, Rule, Step, Wording, default_wording, rules_page

AVOID_LOSING_MOVES, LAST_PLAYER_BY_ACTION = "avoid_losing_moves", "last_player_by_action"
SAVE_BRIDGES = "save_bridges"


class GameHooks(ABC):
    """The part of a game that its author implements; `Game` is the part that users call.

    Required are the moves (`__init__`), `_init`, `_board_to_string` and the rules: either `rules`, kernels over one
    record, or `_step`, `_legal_action_mask` and `_observe` over batches. A game with hidden information also needs
    `_view` and `_determinize`; one with a random set-up needs `random_setup` and `_deal`.
    """

    drawing: ClassVar[Any]
    """The module that draws scenes; `pbm_envs.render` sets it, so that `core` does not import it."""

    name: str
    """The name in the registry, records and ids: lower case, as in `make_game(name)`."""
    configurations: tuple[Mapping[str, Any], ...] = ({},)
    """Sets of options that together cover every option, for the conformance checks."""
    player_counts: tuple[int, ...] = (2,)
    """The numbers of players that the options allow."""
    named_options: Mapping[str, Mapping[str, Any]] = MappingProxyType({})
    """Sets of options by name: "ladder-5" of "curio" is `make_game("curio-ladder-5")`, id `pbm/curio-ladder-5-v0`."""
    perfect_information: bool = True
    """True if every player knows the whole state; if not, views hide something."""
    random_setup: bool = False
    """True if `init` draws the position; if not, all games without a board text start alike."""
    public_moves: bool = True
    """True if every player sees every move. If False, `last_action` is blank in views, and everything else shows the
    result of `_seen_actions`. The player of a ply is always public."""
    mask_reveals_hidden: bool = False
    """True if a mover's legal actions can reveal more than the rest of the view (Curio's `*_total` options, C7)."""
    moves_player_independent: bool = False
    """True if an action has the same effect on the board for every player."""
    playout_options: frozenset[str] = frozenset({LAST_PLAYER_BY_ACTION})
    """The keyword options that `playout` accepts."""
    rules: RecordRules | None = None
    """The rules as kernels over one record, if the game does not implement the batch hooks itself."""
    tables: tuple[Any, ...] = ()
    """Arrays and numbers that are passed to the kernels of `rules`."""

    lesson: Sequence[Step] = ()
    """The steps of a lesson on the board, for somebody who sees the game for the first time."""
    declared_options: ClassVar[tuple[Option, ...] | None] = None
    """The declarations of the options. None means the parameters of the class's own `__init__`."""

    options: Mapping[str, Any]
    """The values of all options, including defaults."""
    num_players: int
    num_actions: int
    max_plies: int
    """An upper bound on the length of a game."""
    dtype: np.dtype[np.void]
    board: Board
    planes: Mapping[str, str]
    """The names and meanings of the planes of an observation, in order. All are 0 off the board."""
    observation_shape: tuple[int, int, int]
    """The shape (rows, cols, planes) of an observation."""
    notation: Notation
    """The texts of the actions."""
    resign_action: int
    """The action `resign`, which is the last one; NO_ACTION without the option `allow_resign`."""

    def __init__(
        self,
        *,
        options: Mapping[str, Any],
        board: Board,
        dtype: np.dtype[np.void],
        planes: Mapping[str, str],
        moves: Sequence[str],
        form: str,
        max_plies: int,
        num_players: int = 2,
        other_texts: Mapping[str, int] | None = None,
    ) -> None:
        """Set the facts of a game.

        Args:
            options: The keyword arguments that make an equal game, including defaults. `allow_resign` adds an action.
            board: The cells.
            dtype: The type of a record, as `state_dtype` makes it.
            planes: The name and meaning of each plane of an observation, in order.
            moves: The texts of all actions but `resign`, in order.
            form: The expected form in the error for an unreadable text, such as "a cell such as 'a1'".
            max_plies: An upper bound on the length of a game.
            num_players: The number of players, P.
            other_texts: Alternative texts that are accepted, with their actions.
        """
        check_state_dtype(dtype, num_players)
        check_range("max_plies", max_plies, 1, 2**31 - 1)
        self.options = MappingProxyType(dict(options))
        self.num_players, self.board, self.dtype, self.planes = num_players, board, register_records(dtype), planes
        resigns = ["resign"] if self.options.get("allow_resign") else []
        self.notation = Notation(
            type(self).__name__, [*moves, *resigns], form + " or 'resign'" * len(resigns), other_texts
        )
        self.num_actions = len(moves) + len(resigns)
        self.resign_action = len(moves) if resigns else NO_ACTION
        self.max_plies = max_plies
        self.observation_shape = (*board.shape, len(planes))
        self._check_rules()

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if cls.__dict__.get("declared_options") is not None:
            cls.__signature__ = signature_of(cls.declared_options or ())  # type: ignore[attr-defined]

    @classmethod
    def complete_options(cls, options: dict[str, Any]) -> Mapping[str, Any]:
        """Return checked options with derived values filled in; raise ValueError for an invalid combination."""
        return options

    @classmethod
    def check_options(cls, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return options including defaults; raise ValueError for an invalid name, value or combination."""
        options = options_of(cls)
        check_names(cls.__name__, given, options)
        return dict(
            cls.complete_options({each.name: each.check(given.get(each.name, each.default)) for each in options})
        )

    def _check_rules(self) -> None:
        """Raise TypeError for a game whose rules are incomplete, before the first ply is played."""
        compiled = not self._inherits("_play_kernels")
        name, hooks = type(self).__name__, [] if self.rules or compiled else ["_step", "_legal_action_mask"]
        hooks += [] if self.rules and self.rules.observe else ["_observe"]
        if missing := [hook for hook in hooks if self._inherits(hook)]:
            raise TypeError(f"{name} has no {', '.join(missing)}: expected these or `rules = RecordRules(...)`")
        if self.resign_action >= 0 and self.num_players != 2 and self._inherits("_step") and not compiled:
            raise TypeError(f"{name}: RecordRules resigns games of two only: expected a `_step` of its own")

    def _inherits(self, *hooks: str) -> bool:
        return all(getattr(type(self), hook) is getattr(GameHooks, hook) for hook in hooks)

    # Hooks. Their batches have been checked.

    @abstractmethod
    def _init(self, states: States, seeds: Seeds, board: str | None) -> None:
        """Set up (B,) records, whose own fields are zero, from (B,) streams or from a board text."""

    @abstractmethod
    def _board_to_string(self, state: Record) -> str:
        """Return the board text of a record, as `_init` reads it."""

    def _step(self, states: States, actions: Ints) -> int:
        """Play one ply and return -1; or change nothing and return the first row whose action is illegal."""
        step, arguments = self._kernels[False, False].step
        return step(states, actions, *arguments)

    def _legal_action_mask(self, states: States, out: Mask) -> None:
        """Write masks to all of `out` (B, A), whose initial content is arbitrary."""
        mask, arguments = self._kernels[False, False].mask
        mask(states, out, *arguments)

    def _observe(self, views: States, out: Planes) -> None:
        """Write observations to all of `out` (B, rows, cols, planes), whose initial content is arbitrary."""
        assert self.rules is not None
        assert self.rules.observe is not None
        self.rules.observe(views, self.tables, out)

    def _playout(self, states: States, seeds: Seeds, last_player_by_action: Ints, avoid_losing_moves: bool) -> None:
        """Play every game to its end, as `playout` does. An unused option arrives as an array (0, 0) or False."""
        if kernels := self._kernels[avoid_losing_moves, False]:
            kernels.playout.kernel(states, seeds, *kernels.playout.arguments, last_player_by_action)
        else:
            self._playout_by_hooks(states, seeds, last_player_by_action)
        if np.count_nonzero(states["done"]) < len(states):
            raise ValueError(self._why_endless(states[~states["done"]][:1]))

    def _playout_by_hooks(self, states: States, seeds: Seeds, last_player_by_action: Ints) -> None:
        rows = np.flatnonzero(~states["done"])
        for _ in range(self.max_plies):
            if not len(rows):
                return
            batch, streams = take_rows(states, rows), seeds[rows]
            masks = np.empty((len(rows), self.num_actions), np.bool_)
            self._legal_action_mask(batch, masks)
            if self.resign_action >= 0:
                masks[:, self.resign_action] = False
            actions = np.empty(len(rows), np.int64)
            if sample_batch(masks.view(np.uint8), streams, actions) >= 0:
                return
            if last_player_by_action.size:
                last_player_by_action[rows, actions] = batch["to_move"]
            self._step(batch, actions)
            states[rows], seeds[rows] = batch, streams
            rows = rows[~batch["done"]]

    def _why_endless(self, state: States) -> str:
        """Return the error for a state or mover's view (1,) that is not over, though the rules should have ended it."""
        mask = np.empty((1, self.num_actions), np.bool_)
        self._legal_action_mask(state, mask)
        return (
            f"{self!r} is not over after {state['ply'][0]} plies (legal actions: {np.count_nonzero(mask)}): "
            f"expected rules that end every game within max_plies = {self.max_plies}, before legal actions run out"
        )

    def _bridge_playout(self, states: States, seeds: Seeds, last_player_by_action: Ints) -> None:
        """Play as `_playout` does, with the option `save_bridges`. Moves that lose immediately are avoided."""
        if self._inherits("_play_kernels"):
            raise NotImplementedError(f"{type(self).__name__} has no _bridge_playout, which playout_options name")
        playout, arguments = self._kernels[False, True].playout
        playout(states, seeds, *arguments, last_player_by_action)

    def _play_kernels(self, avoid_losing_moves: bool, save_bridges: bool) -> PlayKernels | None:
        """Return kernels equivalent to `_step`, `_legal_action_mask` and `_playout` (or `_bridge_playout`).

        With them, a search need not return to Python to call these hooks, which call them by default. Hooks that name
        their kernel and its arguments themselves are 0.2 microseconds faster, which counts for a single game.
        """
        return self._kernels[False, False] if self._inherits("_step", "_legal_action_mask", "_playout") else None

    @cached_property
    def _kernels(self) -> dict[tuple[bool, ...], Any]:
        """What `_play_kernels` returns, or the kernels of `rules`, by avoid_losing_moves and save_bridges."""
        options = list(product((False, True), repeat=2))
        if not self._inherits("_play_kernels"):
            return {each: self._play_kernels(*each) for each in options}
        facts = self.tables, self.resign_action, self.num_actions, self.max_plies
        return dict.fromkeys(options, self.rules and self.rules.kernels(*facts))

    def _network_inputs(self) -> NetworkInputs | None:
        """Return inputs for a small network that a search updates move by move; None: the observation (slower)."""
        return None

    def _view(self, states: States, views: States) -> None:
        """Copy to `views`, whose `viewer` is set, what the viewers can know; by default everything."""
        copy_batch(states, views)

    def _seen_actions(self, states: States, actions: Ints, players: Ints) -> Ints:
        """Return (B,) actions as these players see them, if not `public_moves`; by default only their own."""
        return np.where(states["to_move"] == players, actions, NO_ACTION)

    def _determinize(self, views: States, seeds: Seeds) -> States:
        """Return copies of the views in which the fields blanked by `_view` are filled in."""
        return copy_states(views)

    def _remove_player(self, state: States) -> None:
        """Remove the player to move, as `remove_player` does, from an unfinished game without the action `resign`."""
        loss, mover = 1 / (self.num_players - 1), int(state["to_move"][0])
        state["returns"] = loss * loss
        state["returns"][0, mover] = -loss
        state["to_move"] = (mover + 1) % self.num_players
        state["ply"] += 1
        state["done"] = True

    def _validate(self, states: States) -> None:
        """Raise InvalidStateError, by `core.validation.expect`, unless the game's own fields are valid."""
        return

    def _deal(self) -> Deal | None:
        """Return the set-up as chance events, if a game with `random_setup` defines them."""
        return None

    def _symmetries(self) -> Iterator[Symmetry]:
        """Yield every symmetry of the rules, the identity first."""
        cells, actions, planes = map(np.arange, (self.board.size, self.num_actions, len(self.planes)))
        yield Symmetry("identity", cells, actions, planes, marks=(), players=tuple(range(self.num_players)))

    def _transform(self, states: States, symmetry: Symmetry) -> None:
        """Transform the game's own fields, in place. Required in a game that defines symmetries."""
        if not (symmetry.cells == np.arange(self.board.size)).all():
            raise NotImplementedError(f"{type(self).__name__} has symmetries: expected a `_transform` of its own")

    def _cells(self, action: int) -> tuple[int, ...]:
        """Return the cells of a valid action; by default those named in its text, such as "a1" or "b1-a1"."""
        named, numbers = self.notation.write(action).split("-"), self.board.numbers
        return tuple(numbers[name] for name in named) if all(name in numbers for name in named) else ()

    def _scene(self, view: Record, heat: Heat) -> Scene:
        """Return the picture of a record; by default the grid of cells with the characters of the board text."""
        return self.drawing.plain_scene(self, view, heat)

    def _public(self, state: Record) -> Record:
        """Return what every player can know of a state; by default the values on which all views agree, others 0."""
        if self.perfect_information:
            return state
        views = np.empty(self.num_players, self.dtype)
        states = np.repeat(np.array(state), self.num_players)
        views["viewer"] = np.arange(self.num_players)
        self._view(states, views)
        views["viewer"] = NOBODY
        public = copy_states(views)
        for name in self.dtype.names or ():
            public[name][0] = np.where((views[name] == views[name][0]).all(axis=0), views[name][0], 0)
        return public[0]

    def role(self, view: Record, player: int) -> str:
        """Return the role that `player` has now, or "" in a game without roles."""
        return ""

    # Pictures beside the board, for people who play.

    def badge(self, view: Record, player: int) -> Sample | None:
        """Return a picture of the piece, stone or edges that a player has now; None in a game without them."""
        return None

    def holdings(self, view: Record, player: int) -> Sample | None:
        """Return a picture of what a player has taken, lost or scored, as the viewer knows it, or None."""
        return None

    def symbols(self, view: Record) -> tuple[Sample, ...]:
        """Return the symbols of the picture and their meanings, for somebody who sees the game for the first time."""
        return ()

    # Texts for players: language models, people at a terminal.

    @cached_property
    def wording(self) -> Wording:
        """The rules in a few sentences, and the terms that they use."""
        return default_wording(type(self), self.options)

    def rules_page(self) -> str:
        """Return the complete rules: `rules.md` beside the game's module, or the summary if there is none."""
        return rules_page(type(self).__module__.rpartition(".")[0]) or self.wording.summary

    @property
    def remark(self) -> str:
        """A sentence that players should know about the game with these options before they start, or ""."""
        return ""

    def cell_texts(self, view: Record) -> tuple[str, ...]:
        """Return what the viewer sees on each cell, in words of `wording.terms`, "" if empty; () if not defined."""
        return ()

    def facts(self, view: Record) -> dict[str, JSON]:
        """Return what else the viewer knows of the position, for its JSON form."""
        return {}

    def move_note(self, before: Record, after: Record) -> str:
        """Return what the viewer saw of the ply between two views besides the move itself, such as a capture."""
        return ""

    # Sentences for a person at a board. A `view` is that of the person, so that no sentence tells anything hidden.

    def task(self, view: Record) -> str:
        """Return what the player to move may do in this phase, as in "place a stone, or swap"; "" says nothing."""
        return ""

    def explain(self, view: Record, cells: Sequence[int]) -> Explanation:
        """Return what the player to move can do with what is on a cell, or why no move leads from one to another.

        Args:
            view: The view of the player to move.
            cells: One cell, or the first and the last cell of a move that is not legal.
        """
        return Explanation()

    def ending(self, view: Record, player: int) -> str:
        """Return why a game that nobody resigned is over, as in "your chain joins top and bottom"; "" says nothing.

        Args:
            view: The final position.
            player: The player who is addressed as "you", or NOBODY. Other players are named by role or `player_1`.
        """
        return ""

    @property
    def short_rules(self) -> Sequence[Rule]:
        """The rules that a player needs to begin, each with a picture; without them, pages show `rules_page`."""
        return ()
