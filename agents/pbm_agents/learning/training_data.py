"""Games as training data: the observation of the player to move, the move or search result, and the returns.

    examples = joined(replayed(read_records("results/games.jsonl")))         # moves
    examples = augmented(game, examples, rng.integers(len(game.symmetries), size=len(examples.returns)))

In Curio, observations are those of views and reveal no hidden information to a player.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pbm_envs import Game
from pbm_envs.records import UNFINISHED, GameRecord, replay
from pbm_envs.toolbox import Array

Floats = NDArray[np.float32]
WEIGHT = 131
"""Greatest weight of a number of an observation, so that sums are exact in single precision."""
FORBIDDEN = -1e9
"""The logit of an illegal action, which makes its probability 0."""
ENDED, CUT_OFF, RESIGNED = range(3)
"""Endings of a game: by the rules, by a ply limit, or by resignation."""


class Examples(NamedTuple):
    """N positions of rows x cols x planes + 9 A + 8 P + 14 bytes each: 0.7 KB in Chameleon 5x5, 3.8 KB in Curio."""

    observations: NDArray[np.int8]  # (N, rows, cols, planes)
    masks: NDArray[np.bool_]  # (N, A)
    policies: Floats
    """(N, A) the probability of each action: from the visit counts of a search, or 1 for the move played."""
    returns: Floats
    """(N, P) returns of the whole game, from the player to move on. If a ply limit cut the game off, they are
    the value of its last position (`self_play`), or 0 in records.
    """
    games: NDArray[np.int64]  # (N,) counted from 0
    plies: NDArray[np.int32]  # (N,) plies of the game
    players: NDArray[np.int8]  # (N,) the seat of the player to move
    endings: NDArray[np.int8]  # (N,) how the game ended: ENDED, CUT_OFF or RESIGNED
    root_values: Floats
    """(N, P) root values of the search, from the player to move on; nan without a search."""
    visits: NDArray[np.int32]
    """(N, A) visit counts of the actions at the root; 0 without a search."""
    full_observations: NDArray[np.int8]
    """(N, rows, cols, planes) observations of the player to move as if nothing were hidden, for a critic, never for the
    network that plays; (N, 0) unless `SelfPlay.full_observations`.
    """

    @classmethod
    def without_search(
        cls, observations: NDArray[np.int8], masks: NDArray[np.bool_], policies: Floats, returns: Floats
    ) -> Examples:
        """Return examples without search results, each as a game of its own with `player_0` to move."""
        count, players = returns.shape
        return cls(
            observations,
            masks,
            policies,
            returns,
            games=np.arange(count),
            plies=np.zeros(count, np.int32),
            players=np.zeros(count, np.int8),
            endings=np.full(count, ENDED, np.int8),
            root_values=np.full((count, players), np.nan, np.float32),
            visits=np.zeros(masks.shape, np.int32),
            full_observations=np.zeros((count, 0), np.int8),
        )

    def rows(self, chosen: Any) -> Examples:
        """Return some of the examples; `chosen` is a slice, indices, or a mask."""
        return Examples(*(part[chosen] for part in self))


def replayed(
    records: Iterable[GameRecord], size: int = 1024, agents: Collection[str] | None = None
) -> Iterator[Examples]:
    """Yield the examples of records of one game in batches of `size`, the last of which may be smaller.

    There is an example for each move chosen by a player, or by one of `agents` if given; openings and forfeits give
    none. Only one batch is held in memory.

    Raises ValueError for records of different games and for unfinished ones, and RecordError as in `replay`.
    """
    if size < 1:
        raise ValueError(f"size is {size}: expected at least 1")
    held: list[Examples] = []
    for number, record in enumerate(ended_games(records)):
        held.append(_moves(record, number, agents))
        while sum(len(part.returns) for part in held) >= size:
            whole = joined(held)
            yield whole.rows(slice(size))
            held = [whole.rows(slice(size, None))]
    if sum(len(part.returns) for part in held):
        yield joined(held)


def ended_games(records: Iterable[GameRecord]) -> Iterator[GameRecord]:
    """Yield the records; raise ValueError at one that is unfinished or of another game than the first."""
    first: GameRecord | None = None
    for record in records:
        first = first or record
        if record.ending == UNFINISHED:
            raise ValueError(f"game {record.number} is unfinished: expected games with returns")
        if (record.game, dict(record.options)) != (first.game, dict(first.options)):
            raise ValueError(
                f"records of {first.game} {dict(first.options)} and of {record.game} {dict(record.options)}: expected "
                "one game with the same options"
            )
        yield record


def augmented(game: Game, examples: Examples, which: int | NDArray[np.integer[Any]]) -> Examples:
    """Return the examples transformed: row i by `game.symmetries[which[i]]`, or all rows by one symmetry.

    The result equals the observations of the states transformed by `game.transform(...)`.
    """
    count = len(examples.returns)
    chosen = np.broadcast_to(np.asarray(which), (count,))
    if chosen.dtype.kind not in "iu" or (count and not 0 <= chosen.min() <= chosen.max() < len(game.symmetries)):
        raise ValueError(
            f"which is {which!r}: expected integers in 0..{len(game.symmetries) - 1}, one for each example"
        )
    numbers, moves = symmetry_tables(game)
    flat = examples.observations.reshape(count, -1)
    if flat.shape[1] != numbers.shape[1] or examples.masks.shape[1] != moves.shape[1]:
        raise ValueError(
            f"examples are {examples.observations.shape} with masks {examples.masks.shape}: expected those of {game!r}"
        )
    full = examples.full_observations
    if full.size:
        full = np.take_along_axis(full.reshape(count, -1), numbers[chosen], axis=1).reshape(full.shape)
    return examples._replace(
        full_observations=full,
        observations=np.take_along_axis(flat, numbers[chosen], axis=1).reshape(examples.observations.shape),
        masks=np.take_along_axis(examples.masks, moves[chosen], axis=1),
        policies=np.take_along_axis(examples.policies, moves[chosen], axis=1),
        visits=np.take_along_axis(examples.visits, moves[chosen], axis=1),
    )


def value_targets(examples: Examples, lam: float = 1.0) -> Floats:
    """Return (N, P) TD(lambda) targets of the values, in turn order from the player to move.

    Each player's targets use the root values at that player's own turns. If the player has another turn, the
    target is `(1 - lam)` times the root value there plus `lam` times the target there; otherwise it is the return.
    `lam=1` gives the returns, `lam=0` the next root value.

    Args:
        examples: Whole games, as `self_play` returns them, in any order.
        lam: A number from 0 to 1.

    Raises:
        ValueError: `lam` is out of range, or is below 1 while root values are missing.
    """
    if not 0 <= lam <= 1:
        raise ValueError(f"lam is {lam!r}: expected a number from 0 to 1")
    if lam == 1:
        return examples.returns.copy()
    if np.isnan(examples.root_values).any():
        raise ValueError(f"lam is {lam!r}, but there are examples without root values: expected those of self_play")
    players = examples.returns.shape[1]
    _, games = np.unique(examples.games, return_inverse=True)
    by_seat = from_mover(examples.returns, -examples.players.astype(np.int64))
    targets = np.empty_like(by_seat)
    after = np.zeros((games.max(initial=-1) + 1, players), np.float32)
    after[games] = by_seat
    for ply in np.unique(examples.plies)[::-1]:
        rows = np.flatnonzero(examples.plies == ply)
        targets[rows] = after[games[rows]]
        own = games[rows], examples.players[rows]
        after[own] = (1 - lam) * examples.root_values[rows, 0] + lam * after[own]
    return from_mover(targets, examples.players.astype(np.int64))


def joined(parts: Iterable[Examples]) -> Examples:
    """Return the parts concatenated; ValueError if there are none."""
    if not (parts := list(parts)):
        raise ValueError("there are no examples to join: expected some")
    return Examples(*(np.concatenate(part) for part in zip(*parts, strict=True)))


def _moves(record: GameRecord, number: int, agents: Collection[str] | None) -> Examples:
    """Return the examples of one game."""
    game, states = record.rules(), np.concatenate(list(replay(record)))
    forfeited = {forfeit.ply for forfeit in record.forfeits}
    movers = states["to_move"][:-1].astype(np.int64)
    plies = [
        ply
        for ply in range(record.opening, len(record.moves))
        if ply + 1 not in forfeited and (agents is None or record.agents[movers[ply]] in agents)
    ]
    observations, masks = game.observe_with_mask(states[plies], movers[plies])
    policies = np.zeros(masks.shape, np.float32)
    policies[np.arange(len(plies)), [game.string_to_action(record.moves[ply]) for ply in plies]] = 1
    returns = np.tile(np.array(record.returns, np.float32), (len(plies), 1))
    examples = Examples.without_search(observations, masks, policies, from_mover(returns, movers[plies]))
    return examples._replace(
        games=np.full(len(plies), number),
        plies=np.array(plies, np.int32),
        players=movers[plies].astype(np.int8),
        endings=np.full(len(plies), CUT_OFF if states["truncated"][-1] else ENDED, np.int8),
    )


def unanswered(network_game: Game, game: Game, states: Array, masks: Array) -> tuple[Array, Array, Array]:
    """Return the rows that a network of `network_game` evaluates, and the priors and values of an `Evaluator` to fill.

    The values of games that are over are their returns. Raises ValueError for positions of another game.
    """
    if game != network_game:
        raise ValueError(f"the network is for positions of {network_game!r}, not of {game!r}")
    values, priors = states["returns"].astype(np.float64), np.zeros(masks.shape, np.float32)
    return np.flatnonzero(~states["done"]), priors, values


def from_mover(returns: Floats, movers: NDArray[np.int64]) -> Floats:
    """Reorder (N, P) returns by seat into turn order from the player to move; negative movers reverse this."""
    players = returns.shape[1]
    return np.take_along_axis(returns, (np.arange(players) + movers[:, None]) % players, axis=1)


@lru_cache(maxsize=8)
def symmetry_tables(game: Game) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return, per symmetry, the source index of each number (S, rows x cols x planes) and of each action (S, A).

    Returns need no table, because symmetries preserve the turn order.
    """
    size = int(np.prod(game.observation_shape))
    places = np.arange(size, dtype=np.int32).reshape(game.observation_shape)
    numbers = np.tile(places.ravel(), (len(game.symmetries), 1))  # cells off the board are all 0
    moves = np.empty((len(game.symmetries), game.num_actions), np.int32)
    on_board = places[game.board.rows, game.board.cols]  # (n, planes)
    for k, symmetry in enumerate(game.symmetries):
        numbers[k, on_board[symmetry.cells][:, symmetry.planes]] = on_board
        moves[k, symmetry.actions] = np.arange(game.num_actions)
    return numbers, moves


def form_weights(places: NDArray[Any]) -> Floats:
    """Return (2, N, S) float32 weights of an observation under each symmetry, whose sums choose its symmetric form.

    They are in two parts, compared in order. They are fixed pseudorandom small integers, whose sums are exact on any
    device.

    Args:
        places: (S, N) the index in the observation that each number comes from, as in `symmetry_tables`.
    """
    size = places.shape[1]
    weights = np.zeros((2, size, len(places)), np.float32)
    sines = np.sin(np.arange(1, size + 1, dtype=np.float64)[None] ** 2 + [[1.0], [2.0]])
    for k, come_from in enumerate(places):
        weights[:, come_from, k] = np.round(WEIGHT * sines)
    return weights
