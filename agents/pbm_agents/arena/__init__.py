"""The arena: tournaments between agents, and ratings from their games.

    tournament = Tournament((Chameleon(size=5),), ("random", "mcts:simulations=50"), openings=10)
    records = play_tournament(tournament, "folder", Run(workers=2))
    for standing in standings(records):
        print(standing.agent, standing.rating)

The tournament alone determines the games; the number of processes does not matter.
"""

from .exploitability import Exploitability, measure_exploitability
from .ladder import Ladder, Rung, ladders, load_ladder
from .match import play_games
from .openings import Opening
from .placement import LadderRating, rate_on_ladder
from .plots import plot_head_to_head, plot_placement, plot_ratings, save_plot
from .ratings import Rating, connected_groups, rate
from .results import Results, by_game
from .schedule import FORMS, Tournament
from .sprt import SequentialResult, SequentialTest, play_sprt
from .standings import HeadToHead, Standing, head_to_head, seat_scores, standings, write_csv
from .tournament import Run, finished_games, play_tournament, tournament_records

__all__ = [
    "FORMS",
    "Exploitability",
    "HeadToHead",
    "Ladder",
    "LadderRating",
    "Opening",
    "Rating",
    "Results",
    "Run",
    "Rung",
    "SequentialResult",
    "SequentialTest",
    "Standing",
    "Tournament",
    "by_game",
    "connected_groups",
    "finished_games",
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
