"""The worlds in which a game can begin: every set-up that chance can deal, and how likely it is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from math import factorial, prod

import numpy as np
from numpy.typing import NDArray

from pbm_envs import Game
from pbm_envs.authoring import Deal, States

MOST_WORLDS = 1_000_000
"""Set-ups that are listed; a game with more has no public tree of a size that fits anywhere."""


def count_set_ups(game: Game) -> int:
    """How many different set-ups chance can deal; 1 where every game starts alike."""
    deal = game.deal
    return 1 if deal is None else prod(_count_arrangements(deck) for deck in deal.decks)


def check_public_moves(game: Game) -> None:
    """Raise ValueError for a game whose moves are hidden: it has no public tree."""
    if not game.public_moves:
        raise ValueError(f"{game!r} has moves that players do not see (public_moves is False): expected public moves")


def set_ups(game: Game) -> tuple[States, NDArray[np.float64]]:
    """All set-ups as a batch of states (W,), and their probabilities (W,).

    >>> from pbm_envs import Curio
    >>> states, chances = set_ups(Curio(base=2, rows=2, cols=3))
    >>> len(states), float(chances.sum().round(6))
    (36, 1.0)
    """
    check_public_moves(game)
    rng = np.random.default_rng(0)
    deal = game.deal
    if deal is None:
        if game.random_setup:
            raise ValueError(f"{game!r} does not say how it is dealt: expected `deal`, or worlds to begin with")
        return game.init(1, rng), np.ones(1)
    count = count_set_ups(game)
    if count > MOST_WORLDS:
        raise ValueError(f"{game!r} has {count:,} set-ups: expected at most {MOST_WORLDS:,}")
    dealt = list(_all_deals(deal, []))
    states = np.concatenate([game.init(1, rng, deal.board(outcomes)) for outcomes, _ in dealt])
    return states, np.array([chance for _, chance in dealt])


def _count_arrangements(deck: Sequence[tuple[str, ...]]) -> int:
    """Different sequences of texts: orders of the pieces times the ways in which each can lie."""
    orders = factorial(len(deck)) // prod(factorial(count) for count in Counter(deck).values())
    return orders * prod(len(piece) for piece in deck)


def _all_deals(deal: Deal, dealt: list[int]) -> Iterator[tuple[list[int], float]]:
    if len(dealt) == len(deal.cells):
        yield dealt, 1.0
        return
    for outcome, chance in deal.outcomes(dealt):
        for full, rest in _all_deals(deal, [*dealt, outcome]):
            yield full, chance * rest
