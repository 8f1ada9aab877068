"""`make demo`: a complete match of each game, watched in the terminal, and a small tournament.

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
"""How many positions of a match are printed before the last one."""
AGENTS = ("random", "mcts:simulations=50", "mcts:simulations=200")
OPENINGS = 6
SEED = 2008


def match(name: str, seed: int) -> None:
    """One game of random agents: the first positions, the moves, the end."""
    env: Any = make_aec_env(name, render_mode="ansi", **OPTIONS.get(name, {}))
    env.reset(seed=seed)
    policy = as_policy("random", seed)
    game = env.unwrapped.game
    print(f"\n{'=' * 100}\n{name.capitalize()}: {game!r}\nrandom agents, seed {seed}\n")
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
    """Random and search agents over these games."""
    games = tuple(make_game(name, **OPTIONS.get(name, {})) for name in names)
    print(
        f"\n{'=' * 100}\nA tournament: {', '.join(AGENTS)}; {OPENINGS} openings of each game, from all seats\n",
        flush=True,
    )
    with TemporaryDirectory() as folder:
        report(play_tournament(Tournament(games, AGENTS, openings=OPENINGS), folder, Run(progress=True)))


def main() -> None:
    names = sys.argv[1:] or list(registered_games())
    unknown = [name for name in names if name not in registered_games()]
    if unknown:
        sys.exit(f"{', '.join(unknown)}: no such game; expected some of {', '.join(registered_games())}")
    with compiling_ahead(
        [make_game(name, **OPTIONS.get(name, {})) for name in names]
    ):  # while the first matches are played
        for name in names:
            match(name, SEED)
        tournament(names)
    print(
        f"\n{'=' * 100}\n"
        "How to go on: README.md shows the games in Python; `pbm --help` plays them and holds tournaments;\n"
        "`python -m pbm_agents.cli.demo curio` is this for one game; `make test` tests;\n"
        "`python -c 'import pbm_envs.curio_v0; help(pbm_envs.curio_v0)'` is an environment's page."
    )


if __name__ == "__main__":
    from pbm_agents.cli import demo

    demo.main()
