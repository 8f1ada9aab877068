"""Curio with all pieces known: kernels that find wins forced within a few moves, and an agent that uses them.

The attacker is the player who has to win within a number of their own moves; the defender tries every reply.
"""

from __future__ import annotations

from typing import Any, NamedTuple, final

import numpy as np

from pbm_envs import Curio, Game
from pbm_envs.authoring import NO_ACTION, Ints, Record, States, check_range, copy_states
from pbm_envs.games.curio.pieces import CAPTURED, GOES_ON, NO_PIECE, action_of, end_of, is_royal, list_moves
from pbm_envs.toolbox import Array, stack_kernel

from ..players.agent import Actions, Views, check_searchable
from ..players.search_agents import SearchAgent
from ..search import Search
from .common import divide_budget
from .curio_lines import COUNT, PASSED, PLY_FIELDS, QUIET, TRIED, check_game, play_move, take_back

MOST_OWN_MOVES = 8
MOST_NODES = 1_000_000
SEED = 2018
WORLDS = 24
"""Worlds drawn for a position, to test whether there is more than one."""
NODES_A_SECOND = 1.5e5
"""Approximate speed of the solver on one core."""
NODES_OF_A_SIMULATION = 1 / 4
SHARE_OF_THE_SOLVER = 0.2
"""The solver's share of the seconds of a move in which it is used."""
WON, FAILED, UNKNOWN = 1, -1, 0
"""Results for the attacker: a win is forced, no win is forced within the own moves, or the budget was too small."""
NODES, SPENT = 0, 1
"""Entries of the counters: positions that may be examined, and positions that were."""
TABLE_BITS = 16
"""The table has 2 ** TABLE_BITS places; each keeps the newest of the positions that share it."""
FACES = 10
FAILS_SHIFT, WINS_MASK = 8, 255


class Duel(NamedTuple):
    """The constants and tables of a search."""

    steps: Ints
    """The steps of pieces, as `list_moves` expects them."""
    keys: Ints
    """(2, FACES, FACES, cells) a random number for each owner, pair of faces and cell. No piece has a face 0, so the
    numbers of face 0 encode the player to move, the attacker and a pass.
    """
    table: Ints
    """(1 << TABLE_BITS, 2) a key; and 1 + the fewest own moves known to win, or'ed with (1 + the most known to fail)
    << FAILS_SHIFT. A part that is 0 is unknown.
    """
    counters: Ints
    moves: Ints
    """(2 * own moves, moves + 1) working memory, as the next two: the moves of each ply."""
    line: Ints
    """(2 * own moves,) the key of each ply."""
    plies: Ints
    """(2 * own moves + 1, PLY_FIELDS) the fields of each ply."""


@stack_kernel
def count_royals(state: Record, player: int, base: int) -> int:
    """Return the number of royals that a player has left (C10)."""
    count = 0
    for slot in range(len(state["cell"])):
        count += state["owner"][slot] == player and state["cell"][slot] != CAPTURED and is_royal(state, slot, base)
    return count


@stack_kernel
def put_captures_first(state: Record, moves: Ints, count: int, base: int) -> int:
    """Reorder moves: captures of royals, other captures, the rest; return the number of captures of royals."""
    captures, royals = 0, 0
    for k in range(count):
        move = moves[k]
        target = state["board"][end_of(move)]
        if target == NO_PIECE:
            continue
        moves[k] = moves[captures]
        moves[captures] = move
        if is_royal(state, target, base):
            moves[captures] = moves[royals]
            moves[royals] = move
            royals += 1
        captures += 1
    return royals


@stack_kernel
def key_of(state: Record, duel: Duel, attacker: int, to_move: int, passed: int) -> int:
    """Return a hash of the position, the player to move and the attacker, never 0."""
    key = duel.keys[attacker, 0, 1, 0] ^ duel.keys[to_move, 0, 2, 0] ^ duel.keys[passed, 0, 3, 0]
    owner, cell, faces = state["owner"], state["cell"], state["faces"]
    for slot in range(len(cell)):
        if cell[slot] != CAPTURED:
            key ^= duel.keys[owner[slot], faces[slot, 0], faces[slot, 1], cell[slot]]
    return int(key | 1)


@stack_kernel
def look_up(table: Ints, key: int, left: int) -> int:
    """Return the result that the table has for a position with `left` own moves of the attacker, or UNKNOWN."""
    at = (key >> 1) & ((1 << TABLE_BITS) - 1)
    if table[at, 0] != key:
        return UNKNOWN
    wins, fails = table[at, 1] & WINS_MASK, table[at, 1] >> FAILS_SHIFT
    if wins and left >= wins - 1:
        return WON
    return FAILED if fails and left <= fails - 1 else UNKNOWN


@stack_kernel
def remember(table: Ints, key: int, left: int, value: int) -> None:
    at = (key >> 1) & ((1 << TABLE_BITS) - 1)
    wins, fails = 0, 0
    if table[at, 0] == key:
        wins, fails = int(table[at, 1] & WINS_MASK), int(table[at, 1] >> FAILS_SHIFT)
    if value == WON:
        wins = min(wins, left + 1) if wins else left + 1
    else:
        fails = max(fails, left + 1)
    table[at, 0], table[at, 1] = key, wins | fails << FAILS_SHIFT


@stack_kernel
def force_win(
    states: States, duel: Duel, settings: States, attacker: int, own_moves: int, passed: int, quiet: int
) -> tuple[int, int]:
    """Return whether the attacker, who is the player to move, can force a win within `own_moves` own moves.

    This is the textbook search of an AND/OR tree, on its own stack (`curio_lines`): row `depth` of `moves`, `keys` and
    `plies` is the call for that ply, and `entering` is True if the ply is new, False if it gets a value back.

    Args:
        states: (1,) a full state, changed in place. It is restored at the end, unless the value is UNKNOWN.
        duel: The tables, and the memory of a search.
        settings: The settings of the game.
        attacker: The player to move.
        own_moves: The most moves of the attacker.
        passed: 1 if the last ply was a pass (C12).
        quiet: Plies since the last capture (C13).

    Returns:
        WON, FAILED, or UNKNOWN if it takes more positions than allowed; and the winning action.
    """
    state, rules, moves, keys, plies = states[0], settings[0], duel.moves, duel.line, duel.plies
    plies[0, QUIET], plies[0, PASSED] = quiet, passed
    depth, entering, value = 0, True, UNKNOWN
    while True:
        attacks, left, ply = depth % 2 == 0, own_moves - (depth + 1) // 2, plies[depth]
        player = attacker if attacks else 1 - attacker
        if entering:
            royals_left = count_royals(state, 1 - attacker, rules["base"])
            value, keys[depth] = known_value(state, duel, rules, attacker, player, left, ply, royals_left)
            if depth == 0 and value == WON:
                value = UNKNOWN  # the caller needs the move
            if value == UNKNOWN:
                if duel.counters[SPENT] >= duel.counters[NODES]:
                    return UNKNOWN, 0
                duel.counters[SPENT] += 1
                ply[COUNT], ply[TRIED] = list_moves(state, player, duel.steps, rules, False, moves[depth]), 0
                royals = put_captures_first(state, moves[depth], ply[COUNT], rules["base"])
                if attacks and royals and royals_left == 1:
                    value = WON
                elif attacks and left == 1:
                    value = FAILED
        else:
            take_back(state, int(moves[depth, ply[TRIED]]), ply, rules)
            if value != (WON if attacks else FAILED):
                value = UNKNOWN
                ply[TRIED] += 1
        if value == UNKNOWN:
            value = play_next(state, rules, attacks, moves[depth], ply, plies[depth + 1])
        if value == UNKNOWN:
            depth, entering = depth + 1, True
            continue
        if keys[depth]:
            remember(duel.table, keys[depth], left, value)
        if depth == 0:
            return value, action_of(moves[0, plies[0, TRIED]])
        depth, entering = depth - 1, False


@stack_kernel
def play_next(state: Record, rules: Record, attacks: bool, moves: Ints, ply: Ints, after: Ints) -> int:
    """Play the next move that does not end the game, and begin the ply `after` it.

    Returns:
        UNKNOWN if a move was played, else the value of the position: no move is left, or the defender ends the game.
    """
    while ply[TRIED] < ply[COUNT]:
        move = int(moves[ply[TRIED]])
        if play_move(state, move, ply, after, rules) == GOES_ON:
            return UNKNOWN
        take_back(state, move, ply, rules)
        if not attacks:
            return FAILED
        ply[TRIED] += 1
    return FAILED if attacks else WON


@stack_kernel
def known_value(
    state: Record, duel: Duel, rules: Record, attacker: int, player: int, left: int, ply: Ints, royals: int
) -> tuple[int, int]:
    """Return the known value of a position before its moves are tried, and its key in the table.

    The key is 0 if the table cannot be used: it ignores the number of plies left before the limit without captures.
    """
    if royals > left or royals == 0:  # each own move captures at most one
        return FAILED, 0
    if 0 < rules["quiet_limit"] <= ply[QUIET] + 2 * left:
        return UNKNOWN, 0
    key = key_of(state, duel, attacker, player, int(ply[PASSED]))
    return look_up(duel.table, key, left), key


@final
class CurioSolver:
    """Finds wins that the player to move can force, with all faces known. It keeps a table of positions (1 MiB)."""

    def __init__(self, game: Game) -> None:
        """Make a solver for a game of Curio."""
        check_game(game)
        assert isinstance(game, Curio)
        self.game = game
        self._keys: Ints = np.random.default_rng(SEED).integers(1, 1 << 62, (2, FACES, FACES, game.board.size))
        self._table: Ints = np.zeros((1 << TABLE_BITS, 2), np.int64)
        self.nodes = 0
        """The number of positions that the last call examined."""

    def winning_action(self, state: States, own_moves: int = MOST_OWN_MOVES, nodes: int = MOST_NODES) -> int | None:
        """Return the action that wins by force in the fewest moves of the player, or None if none is found.

        Args:
            state: (1,) a full state that is not over.
            own_moves: The largest number of the player's own moves until the win.
            nodes: The budget, in positions.
        """
        check_searchable(self.game, state)
        check_range("own_moves", own_moves, 1, 100)
        check_range("nodes", nodes, 0)
        duel, value, action = self._duel(own_moves), UNKNOWN, -1
        duel.counters[NODES] = nodes
        mover, passed, quiet = (int(state[name][0]) for name in ("to_move", "passed", "quiet"))
        for most in range(1, own_moves + 1):
            value, action = force_win(copy_states(state), duel, self.game.settings, mover, most, passed, quiet)
            if value in (WON, UNKNOWN):
                break
        self.nodes = int(duel.counters[SPENT])
        return int(action) if value == WON else None

    def _duel(self, own_moves: int) -> Duel:
        """Return the tables, with the memory of a search of this many own moves."""
        return Duel(
            steps=self.game.steps,
            keys=self._keys,
            table=self._table,
            counters=np.zeros(2, np.int64),
            moves=np.zeros((2 * own_moves, self.game.num_actions + 1), np.int64),
            line=np.zeros(2 * own_moves, np.int64),
            plies=np.zeros((2 * own_moves + 1, PLY_FIELDS), np.int64),
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return CurioSolver, (self.game,)  # without the table


@final
class KnownWorldAgent:
    """Plays a win found by a solver, or searches the world, if only one world is consistent with the view.

    Otherwise it searches information sets. The search of a single world draws no worlds and proves outcomes; it assumes
    that the opponent knows everything too.
    """

    def __init__(self, search: Search) -> None:
        """Make an agent from the settings of its search, whose budget is that of a whole move (`divide_budget`)."""
        self.search = search
        known, self.nodes = divide_budget(search, NODES_OF_A_SIMULATION, SHARE_OF_THE_SOLVER, NODES_A_SECOND)
        self._searching = SearchAgent(search), SearchAgent(known)
        self._solver: CurioSolver | None = None

    def act(self, game: Game, views: Views, rng: np.random.Generator) -> Actions:
        """Choose an action for each view (see `Agent.act`)."""
        check_searchable(game, views)
        known, worlds = known_worlds(game, views, rng)
        actions = np.full(len(views), NO_ACTION, np.int64)
        for row in np.flatnonzero(known):
            if self._solver is None or self._solver.game != game:
                self._solver = CurioSolver(game)
            found = self._solver.winning_action(worlds[row : row + 1], nodes=self.nodes)
            actions[row] = NO_ACTION if found is None else found
        searched = ~known, known & (actions == NO_ACTION)
        for agent, rows, positions in zip(self._searching, searched, (views, worlds), strict=True):
            if rows.any():
                actions[rows] = agent.act(game, positions[rows], rng)
        return actions


def known_worlds(game: Game, views: Views, rng: np.random.Generator) -> tuple[Array, Array]:
    """Return, for each view, whether all worlds drawn are the same (B,), and one of these worlds (B,)."""
    worlds = game.determinize(np.repeat(views, WORLDS), rng).reshape(len(views), WORLDS)
    same = (worlds["faces"] == worlds["faces"][:, :1]).reshape(len(views), -1).all(axis=1)
    return same, np.ascontiguousarray(worlds[:, 0])
