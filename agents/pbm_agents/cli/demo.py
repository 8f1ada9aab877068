"""`make demo`: a complete match of each game in the terminal, and a small tournament.

python -m pbm_agents.cli.demo [game ...]
"""

from __future__ import annotations

import sys
from tempfile import TemporaryDirectory
from typing import Any

from pbm_envs import make_game, registered_games
from pbm_envs.envs.factories import make_aec_env

from ..arena import Run, Tournament, play_tournament
from ..play.ahead import compiling_ahead
from ..players.names import as_policy
from .rate import report

OPTIONS: dict[str, dict[str, Any]] = {"trinim": {"num_players": 3}, "chameleon": {"size": 7}, "unlur": {"radius": 4}}
"""Options other than the defaults, so that a match is short."""
PRINTED_POSITIONS = 3
"""The number of positions of a match that are printed before the last one."""
AGENTS = ("random", "mcts:simulations=50", "mcts:simulations=200")
OPENINGS = 6
SEED = 2008


def title(text: str) -> None:
    """Print a heading."""
    print(f"\n{'=' * 100}\n{text}\n", flush=True)


def match(name: str, seed: int) -> None:
    """Play one game of random agents, and print the first positions, the moves and the last position."""
    env: Any = make_aec_env(name, render_mode="ansi", **OPTIONS.get(name, {}))
    env.reset(seed=seed)
    policy = as_policy("random", seed)
    game = env.unwrapped.game
    title(f"{name.capitalize()}: a match of random agents, seed {seed}\n{game!r}")
    moves: list[str] = []
    returns = dict.fromkeys(env.possible_agents, 0.0)
    for agent in env.agent_iter():
        _, reward, _, _, _ = env.last(observe=False)
        returns[agent] += reward
        action = policy(env)
        if action is not None:
            if len(moves) < PRINTED_POSITIONS:
                print(f"what {agent} sees\n\n{env.render()}\n\n{agent} plays {game.action_to_string(action)}\n")
            moves.append(game.action_to_string(action))
        env.step(action)
    print(f"... all {len(moves)} moves: {' '.join(moves)}\n")
    print(game.to_text(env.unwrapped.states))
    print(f"\nreturns: {', '.join(f'{agent} {value:+g}' for agent, value in returns.items())}")


def tournament(names: list[str]) -> None:
    """Play a tournament of random and search agents over these games."""
    games = tuple(make_game(name, **OPTIONS.get(name, {})) for name in names)
    title(f"A tournament: {', '.join(AGENTS)}; {OPENINGS} openings of each game, from all seats")
    with TemporaryDirectory() as folder:
        report(play_tournament(Tournament(games, AGENTS, openings=OPENINGS), folder, Run(progress=True)))


def main() -> None:
    names = sys.argv[1:] or list(registered_games())
    if unknown := [name for name in names if name not in registered_games()]:
        sys.exit(f"{', '.join(unknown)}: no such game; expected some of {', '.join(registered_games())}")
    rules = [make_game(name, **OPTIONS.get(name, {})) for name in names]
    print(
        f"This demo plays a match of {', '.join(names)} each, then a tournament of random and search agents.\n"
        "The first run compiles the rules and the search while the matches are played; later runs start at once."
    )
    with compiling_ahead(rules):
        for name in names:
            match(name, SEED)
        tournament(names)
    title(
        "How to go on\n\n"
        "  pbm play curio                            play a game in the terminal\n"
        "  pbm --help                                tournaments, training, ratings, a board in the browser\n"
        "  python -m pbm_agents.cli.demo curio       this demo for one game\n"
        "  make test                                 test the installation\n"
        "README.md shows the games in Python."
    )


if __name__ == "__main__":
    from pbm_agents.cli import demo

    demo.main()
