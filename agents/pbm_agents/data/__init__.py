"""Data sets: recorded games as tables of positions.

    from pbm_agents.data import export_records, make_games

    make_games(Chameleon(size=5), "games", ("mcts:simulations=100",), games=1000)
    export_records("games", "positions", to="parquet")

A row is a position in which a player has chosen a move: that player's view, the move, and the result of the game.
"""

from .export import FORMATS, export_records, is_complete, records_from
from .graded import GRADES, make_games
from .parquet import parquet_records
from .rows import COLUMNS, Column, Table, position_tables

__all__ = [
    "COLUMNS",
    "FORMATS",
    "GRADES",
    "Column",
    "Table",
    "export_records",
    "is_complete",
    "make_games",
    "parquet_records",
    "position_tables",
    "records_from",
]
