"""Make the sets of solved positions in `solved/`: small boards on which some but not all moves win.

    python benchmarks/solved_positions.py [SET ...]     # deterministic

A set has one position per game, from games that weak searches play from random openings. A position is kept if the
player to move wins with best play, at most half of the legal moves win, and none wins at once. Chameleon, Unlur and
Trinim are solved by `pbm_agents.exact`; positions that would take too long are omitted, so those of radius 4 are late.
In Curio the player knows every piece (only one set-up is consistent with the view) and can force a win within three own
moves, found by exhaustive search as in puzzles.py. Trinim with three players has no forced wins, and so no set.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from pbm_agents import make_agent
from pbm_agents.exact import ConnectionSolver, TrinimSolver
from puzzles import winning_moves
from tqdm.auto import tqdm

from pbm_envs import Game, make_game
from pbm_envs.testing import random_actions

FOLDER = Path(__file__).parent / "solved"
SEED, PLAYER, NODES, DRAWS = 2018, "mcts:simulations=30,early_stop=false", 400_000, 200
MOST_LEGAL = 14
"""Most legal moves of a position of Curio, so that every line of play can be tried."""


class Wanted(NamedTuple):
    game: str
    options: dict[str, Any]
    count: int
    first: int
    """Plies before the earliest position."""


SETS = {
    "chameleon-4": Wanted("chameleon", {"size": 4}, 100, 2),
    "chameleon-5": Wanted("chameleon", {"size": 5}, 100, 6),
    "unlur-3": Wanted("unlur", {"radius": 3}, 100, 4),
    "unlur-4": Wanted("unlur", {"radius": 4}, 100, 17),
    "trinim-5": Wanted("trinim", {}, 100, 0),
    "curio-4x3": Wanted("curio", {"base": 2, "rows": 4, "cols": 3}, 100, 4),
}


def winning(game: Game, state: Any) -> list[str]:
    """Return the moves that win with best play; none if solving takes too long or the position is unsuitable."""
    legal = np.flatnonzero(game.legal_action_mask(state)[0])
    if len(legal) < 2 or winning_moves(game, state, 1):
        return []
    if game.name == "curio":
        worlds = game.determinize(np.repeat(game.view(state, state["to_move"]), DRAWS), np.random.default_rng(SEED))
        if len(legal) > MOST_LEGAL or len({world["faces"].tobytes() for world in worlds}) > 1:
            return []
        found = winning_moves(game, state, 3) if winning_moves(game, state, 2) else []
    else:
        if game.name == "trinim":
            worth = TrinimSolver().action_values(game, state)[0]
        else:
            worth = ConnectionSolver(game).action_values(state, NODES)[0]
        if (worth[legal] == 0).any():
            return []
        found = [game.action_to_string(int(action)) for action in np.flatnonzero(worth == 1)]
    return found if 0 < len(found) <= len(legal) / 2 else []


def position(game: Game, first: int, rng: np.random.Generator) -> dict[str, Any] | None:
    """Return a position of a game at a random suitable ply: board, moves and winning moves; None if there is none."""
    agent, start = make_agent(PLAYER), game.init(1, rng)
    state, played = start.copy(), [start.copy()]
    moves: list[str] = []
    while not state["done"][0]:
        if len(moves) < 2:
            [action] = random_actions(game, state, rng)
        else:
            [action] = agent.act(game, game.view(state, state["to_move"]), rng)
        moves.append(game.action_to_string(int(action)))
        game.step(state, [action])
        played.append(state.copy())
    for ply in rng.permutation(np.arange(first, max(first, len(moves)))).tolist():
        found = winning(game, played[ply]) if ply < len(moves) else []
        if found:
            board = game.board_to_string(start)
            given = {"board": board} if set(board) - set("./ ") else {}
            return {**given, "moves": moves[:ply], "winning": found}
    return None


def make(name: str) -> None:
    wanted, rng = SETS[name], np.random.default_rng(SEED)
    game, lines = make_game(wanted.game, **wanted.options), dict[str, None]()
    with tqdm(total=wanted.count, desc=name) as bar:
        while len(lines) < wanted.count:
            found = position(game, wanted.first, rng)
            if found is not None:
                lines[json.dumps({"game": wanted.game, "options": wanted.options, **found})] = None
                bar.update(len(lines) - bar.n)
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / f"{name}.jsonl").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


if __name__ == "__main__":
    for one in sys.argv[1:] or SETS:
        make(one)
