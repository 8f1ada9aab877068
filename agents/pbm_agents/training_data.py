"""Games as training data: what who was to move could know, what was played or searched, and what came of it.

    search = Search(simulations=100, width=8)
    examples = self_play(Chameleon(size=5), search, 64, rng)                 # visit distributions
    examples = joined(replayed(read_records("results/games.jsonl")))         # moves
    examples = augmented(game, examples, rng.integers(len(game.symmetries), size=len(examples.returns)))

In Curio nothing here shows a player what that player cannot know: observations are those of views.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pbm_envs import Game
from pbm_envs.records import UNFINISHED, GameRecord, game_of, replay

from .search import Search

Floats = NDArray[np.float32]


class Examples(NamedTuple):
    """N positions, each of rows x cols x planes + 5 A + 4 P bytes: 0.4 KB in Chameleon 5x5, 2.5 KB in Curio."""

    observations: NDArray[np.int8]
    """(N, rows, cols, planes)"""
    masks: NDArray[np.bool_]
    """(N, A)"""
    policies: Floats
    """(N, A) a probability for each action: of the visits of a search, or 1 for the move played."""
    returns: Floats
    """(N, P) of the whole game: of who is to move, then of the next player, and so on."""


def self_play(game: Game, search: Search, games: int, rng: np.random.Generator, temperature: float = 1.0) -> Examples:
    """Every position of `games` games, played side by side, with the visit distribution of `search` in it. Moves are
    drawn from `SearchResult.policy(temperature)`; the policies are always those of temperature 1.
    """
    states = game.init(games, rng)
    turns = []
    while not states["done"].all():
        rows = np.flatnonzero(~states["done"])
        movers = states["to_move"][rows].astype(np.int64)
        views = game.view(states[rows], movers)
        results = search.run(game, views, rng)
        policies = np.array([result.policy() for result in results], np.float32)
        turns.append((rows, movers, game.observe(views), game.legal_action_mask(views), policies))
        actions = np.zeros(games, np.int64)
        actions[rows] = [result.sample(rng, temperature) for result in results]
        game.step(states, actions)
    rows, movers, observations, masks, policies = (np.concatenate(part) for part in zip(*turns, strict=True))
    return Examples(observations, masks, policies, _from_mover(states["returns"][rows], movers))


def replayed(
    records: Iterable[GameRecord], size: int = 1024, agents: Collection[str] | None = None
) -> Iterator[Examples]:
    """Records of one game, by the rules, as batches of `size` examples, the last of at most as many: one for each move
    that a player chose, or one of `agents`, if given; so without openings and forfeits. Holds one batch at a time.

    ValueError for records of different games and unfinished ones; RecordError as in `replay`.
    """
    if size < 1:
        raise ValueError(f"size is {size}: expected at least 1")
    first: GameRecord | None = None
    held: list[Examples] = []
    for record in records:
        first = first or record
        if record.ending == UNFINISHED:
            raise ValueError(f"game {record.number} is unfinished: expected games with returns")
        if (record.game, dict(record.options)) != (first.game, dict(first.options)):
            raise ValueError(
                f"records of {first.game} {dict(first.options)} and of {record.game} {dict(record.options)}: expected "
                "one game with the same options"
            )
        held.append(_moves(record, agents))
        while sum(len(part.returns) for part in held) >= size:
            whole = joined(held)
            yield _cut(whole, slice(size))
            held = [_cut(whole, slice(size, None))]
    if sum(len(part.returns) for part in held):
        yield joined(held)


def augmented(game: Game, examples: Examples, which: int | NDArray[np.integer[Any]]) -> Examples:
    """The same positions under other names: row i under `game.symmetries[which[i]]`, or all under one. `augmented(...)`
    of what is seen is what is seen of `game.transform(...)`.
    """
    count = len(examples.returns)
    chosen = np.broadcast_to(np.asarray(which), (count,))
    if chosen.dtype.kind not in "iu" or (count and not 0 <= chosen.min() <= chosen.max() < len(game.symmetries)):
        raise ValueError(
            f"which is {which!r}: expected integers in 0..{len(game.symmetries) - 1}, one for each example"
        )
    numbers, moves = sources(game)
    flat = examples.observations.reshape(count, -1)
    if flat.shape[1] != numbers.shape[1] or examples.masks.shape[1] != moves.shape[1]:
        raise ValueError(
            f"examples are {examples.observations.shape} with masks {examples.masks.shape}: expected those of {game!r}"
        )
    return Examples(
        np.take_along_axis(flat, numbers[chosen], axis=1).reshape(examples.observations.shape),
        np.take_along_axis(examples.masks, moves[chosen], axis=1),
        np.take_along_axis(examples.policies, moves[chosen], axis=1),
        examples.returns,
    )


def joined(parts: Iterable[Examples]) -> Examples:
    """All in one; ValueError if there are none."""
    if not (parts := list(parts)):
        raise ValueError("there are no examples to join: expected some")
    return Examples(*(np.concatenate(part) for part in zip(*parts, strict=True)))


def _cut(whole: Examples, rows: slice) -> Examples:
    observations, masks, policies, returns = whole
    return Examples(observations[rows], masks[rows], policies[rows], returns[rows])


def _moves(record: GameRecord, agents: Collection[str] | None) -> Examples:
    """Of one game."""
    game, states = game_of(record), np.concatenate(list(replay(record)))
    forfeited = {forfeit.ply for forfeit in record.forfeits}
    movers = states["to_move"][:-1].astype(np.int64)
    plies = [
        ply
        for ply in range(record.opening, len(record.moves))
        if ply + 1 not in forfeited and (agents is None or record.agents[movers[ply]] in agents)
    ]
    observations, masks = game.perceive(states[plies], movers[plies])
    policies = np.zeros(masks.shape, np.float32)
    policies[np.arange(len(plies)), [game.string_to_action(record.moves[ply]) for ply in plies]] = 1
    returns = np.tile(np.array(record.returns, np.float32), (len(plies), 1))
    return Examples(observations, masks, policies, _from_mover(returns, movers[plies]))


def _from_mover(returns: Floats, movers: NDArray[np.int64]) -> Floats:
    """(N, P) by seat -> from who is to move on."""
    players = returns.shape[1]
    return np.take_along_axis(returns, (np.arange(players) + movers[:, None]) % players, axis=1)


@lru_cache(maxsize=8)
def sources(game: Game) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Under each symmetry, where each number of an observation (S, rows x cols x planes) and each action (S, A) was.
    Returns need none: turns go round in the same way under every name.
    """
    size = int(np.prod(game.observation_shape))
    places = np.arange(size, dtype=np.int32).reshape(game.observation_shape)
    numbers = np.tile(places.ravel(), (len(game.symmetries), 1))  # off the board all is 0
    moves = np.empty((len(game.symmetries), game.num_actions), np.int32)
    on_board = places[game.board.rows, game.board.cols]  # (n, planes)
    for k, symmetry in enumerate(game.symmetries):
        numbers[k, on_board[symmetry.cells][:, symmetry.planes]] = on_board
        moves[k, symmetry.actions] = np.arange(game.num_actions)
    return numbers, moves
