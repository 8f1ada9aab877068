"""Set-ups dealt cell by cell are those of `init`, and as likely (C2, C3, C5; T3)."""

from collections import Counter

import numpy as np
import pytest

from pbm_envs import Chameleon, Curio, Trinim
from tests.curio.positions import chi_square_bound
from tests.openspiel.games import configurations

SMALL = [Curio(base=2, rows=4, cols=3), Curio(base=2, rows=4, cols=3, face="random"), Trinim(size=3, num_players=3)]


def all_boards(deal):
    """Probabilities of all boards."""
    found, open_deals = {}, [((), 1.0)]
    while open_deals:
        dealt, chance = open_deals.pop()
        if len(dealt) == len(deal.cells):
            found[deal.board(dealt)] = chance
        else:
            open_deals += [((*dealt, outcome), chance * p) for outcome, p in deal.outcomes(dealt)]
    return found


@pytest.mark.parametrize(("game", "count"), list(zip(SMALL, (36, 144, 90), strict=True)), ids=str)
def test_every_board_is_as_likely(game, count):
    boards, draws = all_boards(game.deal), 30
    assert len(boards) == count
    assert list(boards.values()) == pytest.approx([1 / count] * count)
    drawn = Counter(game.board_to_string(state) for state in game.init(draws * count, np.random.default_rng(1)))
    assert set(drawn) == set(boards)
    assert sum((drawn[board] - draws) ** 2 / draws for board in boards) < chi_square_bound(count - 1)


@pytest.mark.parametrize("game", [game for game in configurations() if game.deal], ids=str)
def test_what_init_draws_can_be_dealt(game):
    """Gaps, duplicates and turnings included."""
    deal = game.deal
    for state in game.init(20, np.random.default_rng(2)):
        board = game.board_to_string(state)
        dealt = deal.read(board)
        assert deal.board(dealt) == board
        for k, outcome in enumerate(dealt):
            chances = dict(deal.outcomes(dealt[:k]))
            assert chances[outcome] > 0
            assert sum(chances.values()) == pytest.approx(1)
    with pytest.raises(ValueError, match=f"{len(deal.cells)} outcomes: all {len(deal.cells)} cells are dealt"):
        deal.outcomes(dealt)


def test_gaps_are_dealt_with_the_pieces():
    """C3: six pieces on eight cells."""
    deal = Curio(base=3, rows=4, cols=4).deal
    chances = {deal.texts[outcome]: chance for outcome, chance in deal.outcomes([])}
    assert chances == {".": 2 / 8} | dict.fromkeys(("L11", "L21", "L22", "L31", "L32", "L33"), 1 / 8)


def test_open_starts_are_not_dealt():
    assert Chameleon(size=3).deal is None
