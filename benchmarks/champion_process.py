"""An agent of one checkout in a process of its own, for `champions.py revisions`: moves in, moves out, as text.

Each line of the input is a JSON object with a position: `game`, `options`, `board` (the text of the start), `moves`
(from there), `seed`, `agent` and the budget `seconds`. The line of output has the agent's `move` and the `seconds` it
took.
The first position of each game and budget is played twice, so that nothing is compiled while the clock runs.

This module may import only what every compared checkout has.
"""

from __future__ import annotations

import json
import sys
import time
from functools import cache
from typing import Any


@cache
def game_and_agent(name: str, options: str, agent: str, seconds: float) -> tuple[Any, Any]:
    """Return a game and an agent with a budget per move."""
    from pbm_agents import make_agent

    from pbm_envs import make_game

    separator = "," if ":" in agent else ":"
    return make_game(name, **json.loads(options)), make_agent(f"{agent}{separator}seconds={seconds}")


def serve(clock: str) -> None:
    """Answer positions until the input ends; with the clock "processor", budgets count this process's time only."""
    if clock == "processor":
        time.perf_counter = time.process_time
    import numpy as np

    known = set[tuple[Any, ...]]()
    for line in sys.stdin:
        given = json.loads(line)
        key = given["game"], json.dumps(given["options"]), given["agent"], given["seconds"]
        game, agent = game_and_agent(*key)
        state = game.init(1, np.random.default_rng(0), board=given["board"])
        for move in given["moves"]:
            game.step(state, [game.string_to_action(move)])
        view = game.view(state, state["to_move"])
        for _ in range(1 if key in known else 2):
            rng, start = np.random.default_rng(given["seed"]), time.perf_counter()
            [action] = agent.act(game, view, rng)
            seconds = time.perf_counter() - start
        known.add(key)
        print(json.dumps({"move": game.action_to_string(int(action)), "seconds": seconds}), flush=True)


if __name__ == "__main__":
    serve(sys.argv[2])
