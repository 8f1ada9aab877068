"""The arena: agents play tournaments, and their games are rated.

    tournament = Tournament((Chameleon(size=5),), ("random", "mcts:simulations=50"), openings=10)
    records = play_tournament(tournament, "folder", workers=2)
    for standing in standings(records):
        print(standing.agent, standing.rating)

The games follow from the tournament alone, whoever plays them and when.
"""

from .exploitability import Exploitability, measure_exploitability
from .journal import Budget
from .ladder import Ladder, Rung, ladders, load_ladder
from .match import play_games
from .openings import Opening
from .placement import LadderRating, rate_on_ladder
from .plots import plot_head_to_head, plot_placement, plot_ratings, save_plot
from .ratings import Rating, connected_groups, rate
from .schedule import FORMS, Tournament
from .sprt import SequentialResult, SequentialTest, play_sprt
from .standings import HeadToHead, Standing, by_game, head_to_head, seat_scores, standings, write_csv
from .tournament import play_tournament, tournament_records

__all__ = [
    "FORMS",
    "Budget",
    "Exploitability",
    "HeadToHead",
    "Ladder",
    "LadderRating",
    "Opening",
    "Rating",
    "Rung",
    "SequentialResult",
    "SequentialTest",
    "Standing",
    "Tournament",
    "by_game",
    "connected_groups",
    "head_to_head",
    "ladders",
    "load_ladder",
    "measure_exploitability",
    "play_games",
    "play_sprt",
    "play_tournament",
    "plot_head_to_head",
    "plot_placement",
    "plot_ratings",
    "rate",
    "rate_on_ladder",
    "save_plot",
    "seat_scores",
    "standings",
    "tournament_records",
    "write_csv",
]
