"""Records as tables of positions.

A row describes the view of the player to move: observation, mask and board text are computed from it. In a game of
hidden information only the optional `full_state` and the record of the game show more.

    Shapes: N rows, A actions, P players.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pbm_envs import Game
from pbm_envs.records import GameRecord, replay
from pbm_envs.toolbox import quoted

from ..learning.training_data import ended_games
from ..players.agent import Agent


class Column(NamedTuple):
    """A column: the NumPy type and shape of a value, and its meaning."""

    name: str
    kind: str
    """`int8`, `bool`, `float32`, ..., or `str`."""
    shape: str
    """The shape of a value: "" for a single number or text."""
    meaning: str
    nullable: bool = False


COLUMNS = (
    Column("game_id", "int64", "", "The game, counted from 0 in this data set."),
    Column("ply", "int32", "", "The number of moves played before, those of the opening included."),
    Column("player", "int8", "", "The seat of the player to move; the row is that player's."),
    Column("agent", "str", "", "The name of the agent in that seat."),
    Column("observation", "int8", "rows x cols x planes", "What the player sees, as `game.observe(view)` gives it."),
    Column("mask", "bool", "A", "The legal actions."),
    Column("action", "int32", "", "The action that was played."),
    Column("move", "str", "", "Its text."),
    Column("policy", "float32", "A", "The share of visits of each action in a search of the position.", nullable=True),
    Column("value", "float32", "", "The return that this search expects for the player, from -1 to 1.", nullable=True),
    Column("returns", "float32", "P", "The return of each seat at the end, from -1 to 1."),
    Column("ending", "str", "", "How the game ended, as in its record."),
    Column("board", "str", "", "The board as text, as the player sees it: '?' stands for a hidden number."),
)
"""The columns of every row. `policy` and `value` are empty unless the positions were searched."""
FULL_STATE = Column(
    "full_state", "str", "", "The whole board as text, with what is hidden from the player. Not for players."
)
"""The optional column with the full state, the only one that may show more than the player knew."""
GAMES_AT_ONCE = 32


@dataclass(frozen=True)
class Table:
    """Rows of one game."""

    game: Game
    columns: dict[str, Any]
    """Arrays (N, ...) or lists of N texts by name; None for a column without values."""

    def __len__(self) -> int:
        return len(self.columns["action"])


def columns_of(full_states: bool) -> tuple[Column, ...]:
    """Return the columns of a data set."""
    return (*COLUMNS, FULL_STATE) if full_states else COLUMNS


def shape_of(column: Column, game: Game) -> tuple[int, ...]:
    """Return the shape of a value."""
    named = {"": (), "A": (game.num_actions,), "P": (game.num_players,)}
    return named.get(column.shape, game.observation_shape)


def position_tables(
    records: Iterable[GameRecord],
    *,
    label: Agent | None = None,
    seed: int = 0,
    full_states: bool = False,
) -> Iterator[Table]:
    """Yield tables with a row for each move that a player chose, in order, some games at a time.

    The moves of an opening and forfeits are not chosen by a player and make no rows.

    Args:
        records: Finished games of one game with the same options.
        label: An agent that searches each position for the columns `policy` and `value`; it sees the player's view.
        seed: Seed of the search.
        full_states: Add the column `full_state`.

    Raises:
        ValueError: The records are of different games, one is unfinished, or the label does not search.
        RecordError: A record contradicts the rules.
    """
    analyse = None if label is None else analysis_of(label, type(label).__name__)
    numbered = enumerate(ended_games(records))
    while held := list(islice(numbered, GAMES_AT_ONCE)):
        yield _table(held, analyse, seed, full_states)


def analysis_of(label: Agent, name: str) -> Any:
    """Return the method that searches positions; ValueError, which calls the agent by this name, if it has none."""
    if not hasattr(label, "analyse"):
        raise ValueError(f"label is {quoted(name)}: expected an agent that searches, such as mcts")
    return label.analyse


def _table(games: list[tuple[int, GameRecord]], analyse: Any, seed: int, full_states: bool) -> Table:
    """Return all rows of some games."""
    game = games[0][1].rules()
    parts: list[NDArray[np.void]] = []
    rows: list[tuple[int, int, GameRecord]] = []
    for number, record in games:
        forfeited = {forfeit.ply - 1 for forfeit in record.forfeits}
        plies = [ply for ply in range(record.opening, len(record.moves)) if ply not in forfeited]
        states = list(replay(record))
        parts += [states[ply] for ply in plies]
        rows += [(number, ply, record) for ply in plies]
    states_before = np.concatenate(parts) if parts else np.zeros(0, game.dtype)
    movers = states_before["to_move"].astype(np.int64)
    views = game.view(states_before, movers)
    texts = [record.moves[ply] for _, ply, record in rows]
    policy, value = None, None
    if analyse is not None and rows:
        results = analyse(game, views, np.random.default_rng((seed, games[0][0])))
        policy = np.array([result.policy() for result in results], np.float32)
        value = np.array([result.value[mover] for result, mover in zip(results, movers, strict=True)], np.float32)
    columns = {
        "game_id": np.array([number for number, _, _ in rows], np.int64),
        "ply": np.array([ply for _, ply, _ in rows], np.int32),
        "player": movers.astype(np.int8),
        "agent": [record.agents[mover] for (_, _, record), mover in zip(rows, movers.tolist(), strict=True)],
        "observation": game.observe(views),
        "mask": game.legal_action_mask(views),
        "action": np.array([game.string_to_action(text) for text in texts], np.int32),
        "move": texts,
        "policy": policy,
        "value": value,
        "returns": np.array([record.returns for _, _, record in rows], np.float32).reshape(len(rows), -1),
        "ending": [record.ending for _, _, record in rows],
        "board": [game.board_to_string(view) for view in views],
    }
    if full_states:
        columns["full_state"] = [game.board_to_string(state) for state in states_before]
    return Table(game, columns)
