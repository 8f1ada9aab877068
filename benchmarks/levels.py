"""The ratings of the champion's levels on the board page: play their games on the frozen ladders, and write them down.

    python benchmarks/levels.py play folder [chameleon-11 ...]    # resumes if it was stopped
    python benchmarks/levels.py write folder                      # agents/pbm_agents/play/levels.json

`play` takes one to two hours of one processor for all ladders: run it under `nice`. The ratings do not depend on the
speed of the machine, because the levels have a fixed number of simulations.
"""

import json
import sys
from pathlib import Path

import pbm_agents.play
from pbm_agents.arena import Run, load_ladder, rate_on_ladder
from pbm_agents.play.start import LEVELS

LADDERS = ("trinim-5", "unlur-6", "chameleon-11", "curio-5x5")
HALF_WIDTH, OPENINGS = 60, 80
"""A rating is complete when half its 95% interval is this narrow, or after so many openings."""
OUT = Path(pbm_agents.play.__file__).parent / "levels.json"


def folder_of(folder, agent, ladder):
    return Path(folder) / f"{agent.replace(':', '-').replace('=', '-')}-{ladder}"


def rate(folder, agent, ladder, finished):
    """Rate an agent; of a finished rating the games count, even if the program has changed since."""
    place = folder_of(folder, agent, ladder)
    run = Run(accept_changes=finished)
    return rate_on_ladder(agent, ladder, place, half_width=HALF_WIDTH, openings=OPENINGS, run=run)


def main():
    action, folder, *names = sys.argv[1:]
    ratings = {}
    for agent in (agent for agent in LEVELS.values() if agent.startswith("champion")):
        for name in names or LADDERS:
            if action == "write" and not folder_of(folder, agent, name).exists():
                continue
            card = rate(folder, agent, name, finished=action == "write")
            print(agent, card.headline())
            found = {"games": card.games, **{part: round(value) for part, value in card.rating._asdict().items()}}
            ratings.setdefault(load_ladder(name).id, {})[agent] = found
    if action == "write":
        OUT.write_text(json.dumps(ratings, indent=1) + "\n")


if __name__ == "__main__":
    main()
