"""`make demo`: a complete match of each game in the terminal, and a small tournament.

python -m pbm_agents.cli.demo [game ...]
"""

import sys
from tempfile import TemporaryDirectory
from typing import Any

from pbm_envs import Game, make_game, registered_games
from pbm_envs.records import replay

from ..arena import Opening, Run, Tournament, play_games, play_tournament
from ..play.ahead import compiling_ahead
from ..players.names import make_agent
from .tournaments import report

OPTIONS: dict[str, dict[str, Any]] = {"trinim": {"num_players": 3}, "chameleon": {"size": 7}, "unlur": {"radius": 4}}
"""Options other than the defaults, so that a match is short."""
PRINTED_POSITIONS = 3
"""The number of positions of a match that are printed before the last one."""
AGENTS = ("random", "mcts:simulations=50", "mcts:simulations=200")
OPENINGS, SEED = 6, 2008
GO_ON = """How to go on

  pbm play curio                            play a game in the terminal
  pbm --help                                tournaments, training, ratings, a board in the browser
  python -m pbm_agents.cli.demo curio       this demo for one game
  make test                                 test the installation
README.md shows the games in Python."""


def title(text: str) -> None:
    """Print a heading."""
    print(f"\n{'=' * 100}\n{text}\n", flush=True)


def match(game: Game) -> None:
    """Play one game of random agents, and print the first positions, the moves and the last position."""
    title(f"{game.name.capitalize()}: a match of random agents, seed {SEED}\n{game!r}")
    seats = ("random",) * game.num_players
    [record] = play_games(game, {"random": make_agent("random")}, [seats], [Opening(SEED)], SEED)
    *states, last = replay(record)
    for state, move in zip(states[:PRINTED_POSITIONS], record.moves, strict=False):
        seat = int(state["to_move"][0])
        print(f"what player_{seat} sees\n\n{game.to_text(game.view(state, seat))}\n\nplayer_{seat} plays {move}\n")
    print(f"... all {record.plies} moves: {' '.join(record.moves)}\n\n{game.to_text(last)}")
    print(f"\nreturns: {', '.join(f'player_{seat} {value:+g}' for seat, value in enumerate(record.returns))}")


def main() -> None:
    names = sys.argv[1:] or list(registered_games())
    if unknown := [name for name in names if name not in registered_games()]:
        sys.exit(f"{', '.join(unknown)}: no such game; expected some of {', '.join(registered_games())}")
    games = tuple(make_game(name, **OPTIONS.get(name, {})) for name in names)
    print(
        f"This demo plays a match of {', '.join(names)} each, then a tournament of random and search agents.\n"
        "The first run compiles the rules and the search while the matches are played; later runs start at once."
    )
    with compiling_ahead(games):
        for game in games:
            match(game)
        title(f"A tournament: {', '.join(AGENTS)}; {OPENINGS} openings of each game, from all seats")
        with TemporaryDirectory() as folder:
            report(play_tournament(Tournament(games, AGENTS, openings=OPENINGS), folder, Run(progress=True)))
    title(GO_ON)


if __name__ == "__main__":
    from pbm_agents.cli import demo

    demo.main()
