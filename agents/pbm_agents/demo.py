"""`make demo`: a complete match of each game, watched in the terminal, and a small tournament.

python -m pbm_agents.demo [game ...]
"""

from __future__ import annotations

import sys
from tempfile import TemporaryDirectory
from typing import Any

from pbm_envs import GAMES, chameleon_v0, curio_v0, make_game, trinim_v0, unlur_v0

from .agent import as_policy
from .arena import Tournament, play_tournament
from .cli.rate import report
from .names import make_agent

MATCHES: dict[str, tuple[Any, dict[str, Any]]] = {
    "curio": (curio_v0, {}),
    "trinim": (trinim_v0, {"num_players": 3}),
    "chameleon": (chameleon_v0, {"size": 7}),
    "unlur": (unlur_v0, {"radius": 4}),
}
SHOWN = 3
"""Positions shown of a match before the last one."""
AGENTS = ("random", "mcts:simulations=50", "mcts:simulations=200")
OPENINGS = 6


def match(name: str, seed: int) -> None:
    """One game of random agents: the first positions, the moves, the end."""
    module, options = MATCHES[name]
    env = module.env(render_mode="ansi", **options)
    env.reset(seed=seed)
    policy = as_policy(make_agent("random"), seed)
    game = env.unwrapped.game
    print(f"\n{'=' * 100}\n{name.capitalize()}: {game!r}\nrandom agents, seed {seed}\n")
    moves: list[str] = []
    returns = dict.fromkeys(env.possible_agents, 0.0)
    for agent in env.agent_iter():
        _, reward, _, _, _ = env.last(observe=False)
        returns[agent] += reward
        action = policy(env)
        if action is not None:
            if len(moves) < SHOWN:
                print(f"what {agent} sees\n\n{env.render()}\n\n{agent} plays {game.action_to_string(action)}\n")
            moves.append(game.action_to_string(action))
        env.step(action)
    print(f"... all {len(moves)} moves: {' '.join(moves)}\n")
    print(game.to_text(env.unwrapped.states))
    print(f"\nreturns: {', '.join(f'{agent} {value:+g}' for agent, value in returns.items())}")


def tournament(names: list[str]) -> None:
    """Random and search agents over these games."""
    games = tuple(make_game(name, **MATCHES[name][1]) for name in names)
    print(
        f"\n{'=' * 100}\nA tournament: {', '.join(AGENTS)}; {OPENINGS} openings of each game, from all seats\n",
        flush=True,
    )
    with TemporaryDirectory() as folder:
        report(play_tournament(Tournament(games, AGENTS, openings=OPENINGS), folder, progress=True))


def main() -> None:
    names = sys.argv[1:] or list(MATCHES)
    unknown = [name for name in names if name not in MATCHES]
    if unknown:
        sys.exit(f"{', '.join(unknown)}: no such game; expected some of {', '.join(GAMES)}")
    for name in names:
        match(name, seed=2008)
    tournament(names)
    print(
        f"\n{'=' * 100}\n"
        "How to go on: README.md shows the games in Python; `pbm --help` plays them and holds tournaments;\n"
        "`python -m pbm_agents.demo curio` is this for one game; `make test` tests;\n"
        "`python -c 'import pbm_envs.curio_v0; help(pbm_envs.curio_v0)'` is an environment's page."
    )


if __name__ == "__main__":
    main()
