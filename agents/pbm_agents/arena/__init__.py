"""The arena: agents play tournaments, and their games are rated.

    tournament = Tournament((Chameleon(size=5),), ("random", "mcts:simulations=50"), openings=10)
    records = play_tournament(tournament, "folder", workers=2)
    for standing in standings(records):
        print(standing.agent, standing.rating)

The games follow from the tournament alone, whoever plays them and when.
"""

from .match import Opening, play_games
from .plots import plot_head_to_head, plot_ratings, save_plot
from .ratings import Rating, circles, rate
from .schedule import FORMS, Tournament
from .standings import HeadToHead, Standing, by_game, head_to_head, seat_scores, standings, write_csv
from .tournament import play_tournament, tournament_records

__all__ = [
    "FORMS",
    "HeadToHead",
    "Opening",
    "Rating",
    "Standing",
    "Tournament",
    "by_game",
    "circles",
    "head_to_head",
    "play_games",
    "play_tournament",
    "plot_head_to_head",
    "plot_ratings",
    "rate",
    "save_plot",
    "seat_scores",
    "standings",
    "tournament_records",
    "write_csv",
]
