"""`make demo`: a complete match of each game, watched in the terminal.

python -m pbm_agents.demo [game ...]
"""

from __future__ import annotations

import sys
from typing import Any

from pbm_envs import GAMES, chameleon_v0, curio_v0, trinim_v0, unlur_v0

from .agent import as_policy
from .names import make_agent

MATCHES: dict[str, tuple[Any, dict[str, Any]]] = {
    "curio": (curio_v0, {}),
    "trinim": (trinim_v0, {"num_players": 3}),
    "chameleon": (chameleon_v0, {"size": 7}),
    "unlur": (unlur_v0, {"radius": 4}),
}
SHOWN = 3
"""Positions shown of a match before the last one."""


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


def main() -> None:
    names = sys.argv[1:] or list(MATCHES)
    unknown = [name for name in names if name not in MATCHES]
    if unknown:
        sys.exit(f"{', '.join(unknown)}: no such game; expected some of {', '.join(GAMES)}")
    for name in names:
        match(name, seed=2008)
    print(
        f"\n{'=' * 100}\n"
        "How to go on: README.md shows the games in Python; `python -m pbm_agents.demo curio` plays one of them;\n"
        "`python -c 'import pbm_envs.curio_v0; help(pbm_envs.curio_v0)'` is an environment's page; `make test` tests."
    )


if __name__ == "__main__":
    main()
