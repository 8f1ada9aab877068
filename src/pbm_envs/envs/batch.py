"""A batch of N games, each with its own random stream: starts, plies and outcomes.

Row i plays the same sequence of games as the AEC environment with the same seed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..core.checks import check_range, check_seed, quoted, to_array, to_options
from ..core.game import Game
from ..core.hooks import GameHooks
from ..core.kernels import stack_kernel
from ..core.state import Ints, Rng, Seeds, States, copy_states, take_rows
from ..records import play_moves
from .history import History

Seed: TypeAlias = "int | list[int | None] | list[int] | tuple[int | None, ...] | NDArray[np.integer[Any]] | None"
Rows: TypeAlias = NDArray[np.int64]
Players: TypeAlias = "NDArray[np.int8]"
Bools: TypeAlias = "NDArray[np.bool_]"
Floats: TypeAlias = "NDArray[np.float32]"
NO_ROWS = np.zeros(0, np.int64)
AHEAD = 32
"""The number of set-up seeds drawn from a stream at once: calling a generator takes longer than drawing."""


@final
class GameBatch:
    """A batch of games: `states` (N,), and `illegal` (N,), True for games ended by an illegal action."""

    def __init__(self, game: Game, count: int, history: int = 0) -> None:
        """Make a batch of `count` games that keep their last `history` moves; `reset` starts them."""
        self.game = game
        self.history = History(game, count, history) if history else None
        self.states = np.zeros(count, game.dtype)
        self.illegal, self.over = np.zeros((2, count), np.bool_)
        self.returns = np.zeros((count, game.num_players), np.float32)
        """(N, P) returns after the last step; `over` (N,) marks games that were over then, also by illegal actions."""
        self._ended = np.zeros(count, np.int64)
        """The rows that the last step ended, at the beginning of the array."""
        self.states_are_views = type(game)._view is GameHooks._view
        """True if setting `viewer` turns a state into a view, without a copy."""
        self._rngs: list[Rng] = []
        self._ahead = np.zeros((count, AHEAD), np.uint64)
        """(N, AHEAD) each stream's seeds for its next set-ups."""
        self._used = np.full(count, AHEAD)
        """(N,) the number of these seeds already used."""
        self._next = np.zeros(count if game.random_setup else 0, game.dtype)
        """(N,) the next game of each row, dealt ahead: dealing many at once takes hardly longer than dealing a few."""
        self._dealt = np.zeros(count, np.bool_)
        """(N,) True where the next game has been dealt and not started."""
        self._only_start = None if game.random_setup else game.init(1, np.zeros(1, np.uint64))
        """The initial state of every game, if all start alike."""

    def started(self) -> None:
        """Raise RuntimeError before the first reset."""
        if not self._rngs:
            raise RuntimeError("there are no games yet: call reset() first")

    def reset(self, seed: Seed, options: Mapping[str, Any] | None) -> tuple[Rows, list[Rng]]:
        """Start new games; return their rows, and the random streams of those that were given a seed.

        Changes nothing if the seeds, options or moves are wrong.
        """
        count = len(self.states)
        options = to_options(options)
        rows = self._rows_to_reset(options.pop("reset_mask", None))
        boards = _for_each("board", options.pop("board", None), count)
        moves = _for_each("moves", options.pop("moves", None), count)
        if options:
            raise ValueError(f"reset was given the options {sorted(options)}: expected 'board', 'moves', 'reset_mask'")
        seeds = _seeds(seed, count)
        dealt = rows[self._dealt[rows]]
        self._used[dealt] -= 1  # their next games are dealt again
        self._dealt[dealt] = False
        rngs = list(self._rngs) or [np.random.default_rng() for _ in range(count)]
        seeded = [row for row in rows.tolist() if seeds[row] is not None]
        self._ask_ahead(np.setdiff1d(rows, seeded).astype(np.int64), rngs, self._ahead, self._used)
        ahead, used = self._ahead.copy(), self._used.copy()
        used[seeded] = AHEAD
        for row in seeded:
            rngs[row] = np.random.default_rng(seeds[row])
        fresh = self._set_up(rows, rngs, ahead, used)
        history = None if self.history is None else History(self.game, count, self.history.length)
        for k, row in enumerate(rows.tolist()):
            if boards[row] is not None or moves[row]:
                try:
                    self._start(fresh[k : k + 1], boards[row], moves[row] or (), history, row)
                except ValueError as error:
                    raise ValueError(f"environment {row}: {error}") from None
        self._rngs, self._ahead, self._used = rngs, ahead, used
        self._begin(rows, fresh)
        if self.history is not None and history is not None:
            self.history.take(history, rows)
        return rows, [rngs[row] for row in seeded]

    def _rows_to_reset(self, mask: Any) -> Rows:
        count = len(self.states)
        if mask is None:
            return np.arange(count)
        self.started()
        mask = to_array("reset_mask", mask, f"bool ({count},)")
        if mask.shape != (count,) or mask.dtype != np.bool_ or not mask.any():
            raise ValueError(
                f"reset_mask is {mask.dtype} {mask.shape}, {np.count_nonzero(mask)} set: expected bool ({count},), at "
                "least one set"
            )
        return np.flatnonzero(mask)

    @staticmethod
    def _ask_ahead(rows: Rows, rngs: Sequence[Rng], ahead: Seeds, used: Ints) -> None:
        """Draw more seeds from the streams of these rows where `used` (N,) shows that `ahead` (N, AHEAD) is used up."""
        for row in rows[used[rows] == AHEAD].tolist():
            ahead[row], used[row] = rngs[row].bit_generator.random_raw(AHEAD), 0

    def _set_up(self, rows: Rows, rngs: Sequence[Rng], ahead: Seeds, used: Ints) -> States:
        """Return new games for these rows, as `init(1, rng)` makes them from their streams."""
        self._ask_ahead(rows, rngs, ahead, used)
        seeds = ahead[rows, used[rows]]
        used[rows] += 1
        return self.game.init(len(rows), seeds)

    def _start(self, state: States, board: str | None, moves: Sequence[str], history: History | None, row: int) -> None:
        """Start a new game (a batch of one) from a board and moves, also in this row of `history`."""
        if board is not None:
            state[:] = self.game.init(1, np.zeros(1, np.uint64), board)
        start = copy_states(state)
        for _ in play_moves(self.game, state, moves):
            pass
        if history is not None:
            history.replay(start, moves, row)
        if state["done"][0]:
            raise ValueError("the game is over where it should start")

    def _begin(self, rows: Rows, fresh: States) -> None:
        """Write new games (R,), or one for all, to these rows."""
        self.states.put(rows, fresh)
        self.illegal[rows] = self.over[rows] = False
        self.returns[rows] = fresh["returns"]

    def take_stock(self) -> None:
        """Update `over` and `returns` after moves played since the last step."""
        self.over[:], self.returns[:] = self.states["done"], self.states["returns"]

    def deal(self, rows: Rows) -> None:
        """Start the next games in these rows."""
        fresh = self._only_start
        if fresh is None:
            if not self._dealt[rows].all():
                self._deal_ahead()
            fresh = take_rows(self._next, rows)
            self._dealt[rows] = False
        self._begin(rows, fresh)
        if self.history is not None:
            self.history.clear(rows)

    def _deal_ahead(self) -> None:
        """Deal the next game of every row without one."""
        rows = np.flatnonzero(~self._dealt)
        self._next.put(rows, self._set_up(rows, self._rngs, self._ahead, self._used))
        self._dealt[rows] = True

    def play(self, actions: ArrayLike, masks: NDArray[np.bool_] | None) -> None:
        """Play a ply in every game that is not over, or in none if an action is not an integer in 0..A-1.

        With `masks` (N, A), an illegal action ends its game, with -1 for its player; without, it raises ValueError.
        """
        self.started()
        before = None if self.history is None else copy_states(self.states)
        try:
            self.game.step(self.states, actions)
        except ValueError:
            if masks is None or not self._forfeit(actions, masks):
                raise
            self.game.step(self.states, actions)
        if before is not None:
            played = np.flatnonzero(~before["done"] & ~self.illegal)
            self.remember(played, before[played], np.asarray(actions)[played])

    def remember(self, rows: Rows, before: States, actions: ArrayLike) -> None:
        """Add `actions` (R,), played in these rows in the positions `before` (R,), to the history."""
        if self.history is not None:
            self.history.add(rows, before, np.asarray(actions))

    def _forfeit(self, actions: ArrayLike, masks: NDArray[np.bool_]) -> bool:
        """End games with an illegal action; return whether there are any. Do nothing if an action does not exist.

        Nor if a game has no legal action, which is its own fault.
        """
        chosen, states = np.asarray(actions), self.states
        if chosen.shape != states.shape or chosen.dtype.kind not in "iu":
            return False
        live = np.flatnonzero(~states["done"])
        if np.any((chosen[live] < 0) | (chosen[live] >= self.game.num_actions)) or not masks[live].any(axis=1).all():
            return False
        rows = live[~masks[live, chosen[live]]]
        self.illegal[rows] = True
        self.end(rows)
        states["returns"][rows, states["to_move"][rows]] = -1
        states["truncated"][rows] = True
        return rows.size > 0

    def end(self, rows: Rows) -> None:
        """End the games in these rows."""
        self.states["done"][rows] = True

    def outcomes(self, players: Players, *, restarts: bool, one_seat: bool) -> tuple[Outcomes, Rows]:
        """Return the outcomes of the last step, and the rows that it ended, valid until the next call.

        The arguments are those of `write_outcomes`.
        """
        states, count = self.states, len(self.states)
        terminated, truncated, ended = np.empty((3, count), np.bool_)
        rewards, reward = np.empty_like(self.returns), np.empty(count, np.float32)
        out = Outcomes(rewards, reward, terminated, truncated, ended, self._ended)
        now = states["done"], states["truncated"], states["returns"]
        number = write_outcomes(*now, self.illegal, self.over, self.returns, players, restarts, one_seat, out)
        return out, self._ended[:number]

    def views(self, states: States, players: Players, out: States) -> States:
        """Write `Game.view` of states and players (R,) to `out` (R,), without checks."""
        out["viewer"] = players
        self.game._view(states, out)
        return out

    def last_views(self, rows: Rows, players: Players | None = None) -> States:
        """Return the last views (R,) of `players` (R,) in these rows, which are over; None: the players to move.

        Truncated games are viewed as unfinished, with this player to move, so that a learner can estimate their value.
        """
        states = take_rows(self.states, rows)
        if players is None:
            players = states["to_move"]
        cut = set_rows(states["truncated"])
        if cut.size:
            states["done"][cut] = states["truncated"][cut] = False
        if self.states_are_views:
            states["viewer"] = players
        else:
            states = self.views(states, players, np.empty_like(states))
        states["to_move"][cut] = players[cut]
        return states

    def last_masks(self, rows: Rows, views: States, out: NDArray[np.generic]) -> Rows:
        """Write the masks of `last_views` to `out` (N, A), in which these rows are ones; return the rows written.

        The masks are the legal actions if a limit of plies truncated the game, and otherwise all ones, as they are
        under Curio's `*_total` if the player was not next to move, since legality reveals information.
        """
        if np.count_nonzero(views["done"]) == len(rows):
            return NO_ROWS
        legal = self.game.legal_action_mask(views)
        legal[self.illegal[rows] | ~legal.any(axis=1)] = True
        out[rows] = legal
        return rows


def set_rows(flags: Bools) -> Rows:
    """Return the rows whose flag is set. Counting first is ten times as fast as listing, and usually there are none."""
    return np.flatnonzero(flags) if np.count_nonzero(flags) else NO_ROWS


class Outcomes(NamedTuple):
    """The outcomes of a step in each game."""

    rewards: Floats
    """(N, P) rewards of all players."""
    reward: Floats
    """(N,) rewards of the given players."""
    terminated: Bools
    truncated: Bools
    ended: Bools
    """(N,) games that this step has ended."""
    rows: Rows
    """(N,) begins with the rows of those games."""


@stack_kernel
def write_outcomes(
    done: Bools,
    cut: Bools,
    returns: Floats,
    illegal: Bools,
    over: Bools,
    before: Floats,
    players: NDArray[np.int8],
    restarts: bool,
    one_seat: bool,
    out: Outcomes,
) -> int:
    """Write the outcomes of a step to `out` in one pass over all games; return the number of ended games.

    Args:
        done: (N,) games that are over.
        cut: (N,) games ended by a limit of plies or an illegal action.
        returns: (N, P) returns.
        illegal: (N,) games ended by an illegal action.
        over: (N,) games that were over before the step; updated in place.
        before: (N, P) returns before the step; updated in place.
        players: (N,) the players whose reward is wanted.
        restarts: Whether games that were over before the step have been replaced by new ones.
        one_seat: Whether an illegal action only terminates the game, as for the seat of a game with opponents.
        out: The outcomes; overwritten.
    """
    count = 0
    for i in range(len(done)):
        for player in range(returns.shape[1]):
            out.rewards[i, player] = returns[i, player] - before[i, player]
            before[i, player] = returns[i, player]
        out.reward[i] = out.rewards[i, players[i]]
        now = done[i] and not (restarts and over[i])
        out.terminated[i] = now and (not cut[i] or illegal[i])
        out.truncated[i] = now and cut[i] and not (one_seat and illegal[i])
        out.ended[i] = done[i] and not over[i]
        out.rows[count] = i
        count += out.ended[i]
        over[i] = done[i]
    return count


def _for_each(name: str, given: Any, count: int) -> Sequence[Any]:
    """Return a board text or a list of moves per game, from one for all games or a list with one (or None) per game."""
    single = given is None or isinstance(given, str if name == "board" else (list, tuple))
    if single and (name == "board" or given is None or all(isinstance(text, str) for text in given)):
        return [given] * count
    kinds = (str,) if name == "board" else (list, tuple)
    if not isinstance(given, (list, tuple)) or not all(one is None or isinstance(one, kinds) for one in given):
        form = "a board text" if name == "board" else "a list of move texts"
        raise ValueError(f"{name} is {quoted(given)}: expected {form}, or a list of {count} such")
    if len(given) != count:
        raise ValueError(f"{name} has {len(given)} entries: expected {count}, one for each environment")
    return given


def _seeds(seed: Seed, count: int) -> Sequence[int | None]:
    """Return one seed per game, as Gymnasium does: an integer means `[seed, seed + 1, ...]`."""
    if seed is None:
        return [None] * count
    if isinstance(seed, (int, np.integer)):
        check_range("seed", seed, 0)
        return [int(seed) + k for k in range(count)]
    if not isinstance(seed, (list, tuple, np.ndarray)) or getattr(seed, "ndim", 1) != 1:
        raise ValueError(f"seed is {quoted(seed)}: expected an integer, or a list of {count}, one for each environment")
    if len(seed) != count:
        raise ValueError(f"seed has {len(seed)} entries: expected {count}, one for each environment")
    for each in seed:
        check_seed("seed", each)
    return list(seed)
