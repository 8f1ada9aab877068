"""Starts of games: an opening shared by all seatings or, with hidden information, a set-up per game.

Playing one opening from exchanged seats reveals its whole set-up, because each player sees what the other does not. An
agent that plays both games, or shares a process with the one that does, would know what the rules hide. With hidden
information, every game of a schedule therefore has its own set-up, drawn from the key, the game's number and its
seats, and no game reveals anything about another. `docs/guides/hidden.md` gives the cost of this.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from pbm_envs import Game
from pbm_envs.authoring import check_range
from pbm_envs.records import board_text, play_moves
from pbm_envs.toolbox import BITS, RECORDED_BITS, derive

from ..players.agent import Views

TRIES = 1000
REMEMBERED = 1 << 12
"""Number of openings that are cached."""


@dataclass(frozen=True)
class Opening:
    """The start of a game: `board`, or the board drawn from `seed`, followed by `moves`."""

    seed: int
    board: str | None = None
    moves: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_range("seed", self.seed, 0)

    def board_text(self, game: Game) -> str | None:
        """Return the initial board in the form of a record: None if it is empty."""
        return board_text(game, game.init(1, np.random.default_rng(self.seed), self.board))

    def position(self, game: Game) -> tuple[Views, Views]:
        """Return the board and the position after the moves, as batches of one."""
        positions = self.positions(game)
        start, state = positions[0], positions[-1].copy()
        if state["done"][0]:
            raise ValueError(
                f"the game is over after the {len(self.moves)} moves of the opening: expected one that does not end it"
            )
        return start, state

    def positions(self, game: Game) -> list[Views]:
        """Return the board and the position after each move, as batches of one."""
        start = game.init(1, np.random.default_rng(self.seed), self.board)
        return [start, *(state.copy() for state in play_moves(game, start.copy(), self.moves))]


def opening_seed(key: str, seed: int, *game: str | int) -> int:
    """Return the seed of an opening's set-up, or of one game's; without a key and `game`, `seed` itself.

    `game` identifies one game: its number and the names in its seats. With it, an agent never sees the same hidden
    set-up from two seats, not even in two tournaments with the same key.
    """
    return derive(key, "set-up", seed, *game) >> (BITS - RECORDED_BITS) if key or game else seed


def seated_openings(
    game: Game,
    seatings: Sequence[Sequence[str]],
    starts: Sequence[tuple[str | None, int]],
    number: int,
    *,
    key: str = "",
    moves: int = 0,
) -> list[Opening]:
    """Return the opening of each game in which each of `starts` is played from each of `seatings` (names by seat).

    A start is a board text or None, and a seed. The games are numbered from `number`, start by start. `key` is as in
    `Tournament`; `moves` is the number of random moves in each opening.
    """
    found: list[Opening] = []
    for board, seed in starts:
        for names in seatings:
            own: tuple[int | str, ...] = () if game.perfect_information else (number + len(found), *names)
            found.append(draw_opening(game, opening_seed(key, seed, *own), board, moves))
    return found


def check_openings(game: Game, openings: Sequence[Opening]) -> None:
    """Raise ValueError if, with hidden information, two games share a set-up drawn from a seed."""
    seeds = Counter(opening.seed for opening in openings if opening.board is None)
    if not game.perfect_information and max(seeds.values(), default=1) > 1:
        [(seed, count)] = seeds.most_common(1)
        raise ValueError(
            f"{count} games have the set-up of seed {seed}, part of which is hidden: expected another seed for each "
            "game (an agent that sees a set-up from two seats knows all of it), or a board, which is no secret"
        )


@lru_cache(REMEMBERED)
def draw_opening(game: Game, seed: int, board: str | None, moves: int) -> Opening:
    """Return the opening of a seed with `moves` random moves, none of which resigns or ends the game."""
    if moves >= game.max_plies:
        raise ValueError(f"opening_moves is {moves}: {game!r} is over after {game.max_plies} plies at most")
    rng = np.random.default_rng((seed, 1))
    for _ in range(TRIES):
        texts: list[str] = []
        state = Opening(seed, board).position(game)[1]
        while len(texts) < moves and not state["done"][0]:
            mask = game.legal_action_mask(state)[0]
            if game.resign_action >= 0:
                mask[game.resign_action] = False
            action = int(rng.choice(np.flatnonzero(mask)))
            texts.append(game.action_to_string(action))
            game.step(state, [action])
        if not state["done"][0]:
            return Opening(seed, board, tuple(texts))
    raise ValueError(f"opening_moves is {moves}: in {TRIES} tries {game!r} was over by then")
