"""Make the sets of puzzles of `pbm_envs.text.puzzles` and of solved positions, and measure searches on puzzles.

    python benchmarks/puzzles.py make [GAME [KIND]] # writes src/pbm_envs/text/puzzles/*.jsonl, deterministically
    python benchmarks/puzzles.py baselines > benchmarks/results/puzzles.txt
    python benchmarks/puzzles.py solved [SET ...]   # writes benchmarks/solved/*.jsonl, deterministically

Wins and only moves are found by exhaustive search to the depth in question, contracts by a search that proves its
result or, in Unlur, by `pbm_agents.exact`, and the set-ups of Curio by drawing until each has occurred many times.

A set of solved positions has one position per game, from games that weak searches play from random openings. A position
is kept if the player to move wins with best play, at most half of the legal moves win, and none wins at once. Positions
that `pbm_agents.exact` would need too long for are omitted, so those of radius 4 are late. In Curio the player knows
every piece and can force a win within three own moves. Trinim with three players has no forced wins, and so no set.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from pbm_agents import Search, make_agent
from pbm_agents.exact import ConnectionSolver, TrinimSolver
from tqdm.auto import tqdm

from pbm_envs import Game, Unlur, make_game, sample_actions
from pbm_envs.core.state import take_rows
from pbm_envs.testing import random_actions
from pbm_envs.text.puzzles import MOVE_KINDS, Puzzle, load_puzzles, mean_scores

SETS = Path(__file__).parent.parent / "src" / "pbm_envs" / "text" / "puzzles"
BUDGETS = (10, 30, 100, 300, 1000, 3000, 10_000)
MOST_SIMULATIONS = 50_000
MOST_NODES = 1 << 40
DRAWS = 20_000
MOST_GAMES = 60
"""Random games without a new puzzle after which a kind is given up."""
MOST_WORLDS = 200
"""Most consistent set-ups; all draws miss any one of them with a probability below 1e-40."""
WANTED = {  # game: (options, kind, number of moves, how many)
    "chameleon": [
        ({"size": 4}, "win", 1, 10),
        ({"size": 5}, "win", 2, 15),
        ({"size": 4}, "win", 3, 10),
        ({"size": 5}, "only-move", 0, 15),
        ({"size": 3}, "contract", 0, 10),
    ],
    "unlur": [
        ({"radius": 4}, "win", 1, 10),
        ({"radius": 4}, "win", 2, 15),
        ({"radius": 3}, "win", 3, 10),
        ({"radius": 4}, "only-move", 0, 15),
        ({"radius": 3}, "contract", 0, 10),
    ],
    "trinim": [({}, "win", 1, 10), ({}, "win", 2, 15), ({}, "win", 3, 15), ({}, "only-move", 0, 10)],
    "curio": [
        ({"base": 2, "rows": 4, "cols": 3}, "count", 0, 10),
        ({"base": 3, "rows": 4, "cols": 4}, "count", 0, 10),
        ({"base": 2, "rows": 4, "cols": 3}, "probability", 0, 10),
        ({"base": 3, "rows": 4, "cols": 4}, "probability", 0, 20),
    ],
}
APART = {("unlur", "contract")}
"""Games and kinds with their own random generator, so that they can be made alone."""
CONTRACTS = {"chameleon": "swap", "unlur": "black"}
OPEN_CONTRACTS = range(2, 5)
"""Stones of Unlur with radius 3 at which the answer differs between positions."""


def children(game: Game, states: Any) -> tuple[Any, Any, Any]:
    """Return (rows, actions, states) after every legal action of each state."""
    rows, actions = np.nonzero(game.legal_action_mask(states))
    after = take_rows(states, rows)
    game.step(after, actions)
    return rows, actions, after


def can_force(game: Game, states: Any, player: int, moves: int) -> Any:
    """Return whether `player`, to move in all states, can force a win within `moves` own moves, (B,) bool."""
    if not len(states):
        return np.zeros(0, bool)
    rows, _, after = children(game, states)
    forced = np.zeros(len(states), bool)
    forced[rows[forces(game, after, player, moves - 1)]] = True
    return forced


def forces(game: Game, states: Any, player: int, moves: int) -> Any:
    """Return whether `player` has won or can force a win within `moves` own moves, whoever moves next, (B,) bool."""
    result = states["done"] & (states["returns"][:, player] == 1)
    own = np.flatnonzero(~states["done"] & (states["to_move"] == player))
    if moves:
        result[own] = can_force(game, take_rows(states, own), player, moves)
    theirs = np.flatnonzero(~states["done"] & (states["to_move"] != player))
    if not len(theirs):
        return result
    if moves == 0:  # most fail at the first reply
        first = take_rows(states, theirs)
        game.step(first, game.legal_action_mask(first).argmax(axis=1))
        theirs = theirs[forces(game, first, player, 0)]
    rows, _, after = children(game, take_rows(states, theirs))
    good = np.ones(len(theirs), bool)
    good[rows[~forces(game, after, player, moves)]] = False
    result[theirs] = good
    return result


def winning_moves(game: Game, state: Any, moves: int) -> list[str]:
    """Return the moves that force a win within `moves` own moves."""
    _, actions, after = children(game, state)
    good = forces(game, after, int(state["to_move"][0]), moves - 1)
    return [game.action_to_string(int(action)) for action in actions[good]]


def safe_moves(game: Game, state: Any) -> list[str]:
    """Return the moves after which no opponent can win at once."""
    player, safe = int(state["to_move"][0]), []
    _, actions, after = children(game, state)
    for row, action in enumerate(actions):
        one = after[row : row + 1]
        if one["done"][0]:
            lost = one["returns"][0, player] < 0
        else:
            lost = one["to_move"][0] != player and bool(can_force(game, one, int(one["to_move"][0]), 1)[0])
        if not lost:
            safe.append(game.action_to_string(int(action)))
    return safe


def worlds(game: Game, view: Any, draws: int, rng: np.random.Generator) -> Counter[bytes]:
    """Count how often each consistent set-up, given by the faces of all pieces, was drawn."""
    drawn = game.determinize(np.repeat(view, draws), rng)
    return Counter(faces.tobytes() for faces in drawn["faces"])


def hidden_piece(game: Game, view: Any, rng: np.random.Generator) -> tuple[int, int] | None:
    """Return (cell, slot) of a piece on the board with a side that the viewer does not know; None without one."""
    seen = int(view["viewer"][0])
    slots = [(cell, int(slot)) for cell, slot in enumerate(view["board"][0]) if slot >= 0]
    hidden = [(cell, slot) for cell, slot in slots if view["faces"][0, slot, 1 - seen] == 0]
    return hidden[int(rng.integers(len(hidden)))] if hidden else None


def solve(game: Game, state: Any, kind: str, number: int, rng: np.random.Generator) -> dict[str, Any] | None:
    """Return the answers and the other fields of a puzzle on a position; None if the position is unsuitable."""
    player = int(state["to_move"][0])
    legal = int(game.legal_action_mask(state).sum())
    if kind == "win":
        if legal > (14 if number == 3 else 60) or (number > 1 and winning_moves(game, state, number - 1)):
            return None
        found = winning_moves(game, state, number)
        return {"answers": found, "number": number} if 0 < len(found) <= max(1, legal // 4) else None
    if kind == "only-move":
        if legal < 4 or winning_moves(game, state, 1):
            return None
        safe = safe_moves(game, state)
        return {"answers": safe} if len(safe) == 1 else None
    if kind == "contract":
        return contract(game, state, player, rng)
    view = game.view(state, player)
    found = worlds(game, view, DRAWS, rng)
    if not 2 < len(found) <= MOST_WORLDS:
        return None
    if kind == "count":
        return {"answers": [str(len(found))]}
    piece = hidden_piece(game, view, rng)
    if piece is None:
        return None
    cell, slot = piece
    values = Counter(int(np.frombuffer(world, np.int8).reshape(-1, 2)[slot, 1 - player]) for world in found)
    number = int(rng.choice(sorted(values)))
    share = Fraction(values[number], len(found))
    return {"answers": [str(share)], "cell": game.board.names[cell], "number": number} if share != 1 else None


def contract(game: Game, state: Any, player: int, rng: np.random.Generator) -> dict[str, Any] | None:
    """Return the proven answer whether the move of the contract wins; None if the position is unsuitable."""
    word = CONTRACTS[game.name]
    action = game.string_to_action(word)
    if not game.legal_action_mask(state)[0, action] or game.legal_action_mask(state).sum() < 2:
        return None
    after = state.copy()
    game.step(after, [action])
    mover = int(after["to_move"][0])
    if isinstance(game, Unlur):
        if state["ply"][0] not in OPEN_CONTRACTS:
            return None
        wins = ConnectionSolver(game).action_value(state, action, MOST_NODES) == 1
        return {"answers": ["yes" if wins else "no"], "cell": word}
    [result] = Search(simulations=MOST_SIMULATIONS, early_stop=True).run(game, game.view(after, mover), rng)
    if not result.proven:
        return None
    return {"answers": ["yes" if result.value[player] == 1 else "no"], "cell": word}


def make(name: str, only: str | None = None) -> list[Puzzle]:
    """Make the set of a game, or only a kind that has its own random generator."""
    made, known = list[Puzzle](), set[tuple[Any, ...]]()
    first = np.random.default_rng(2026)
    with tqdm(total=sum(count for *_, count in WANTED[name]), desc=name) as bar:
        for options, kind, number, count in WANTED[name]:
            if only not in (None, kind):
                continue
            rng = np.random.default_rng([2026, 1]) if (name, kind) in APART else first
            game, found, answers = make_game(name, **options), 0, Counter[tuple[str, ...]]()
            tried = 0
            while found < count and tried < MOST_GAMES:  # some kinds have fewer puzzles
                tried += 1
                start = game.init(1, rng)
                state, moves = start.copy(), list[str]()
                while not state["done"][0] and found < count:
                    key = (kind, number, game.board_to_string(start), *moves)
                    if (name, kind) == ("unlur", "contract"):  # few positions: none twice, not even mirrored
                        turned = (game.transform(state, symmetry) for symmetry in game.symmetries)
                        key = (kind, min(game.board_to_string(one) for one in turned))
                    puzzle = None if key in known else solve(game, state, kind, number, rng)
                    known.add(key)
                    if puzzle is not None and (
                        kind != "contract" or answers[tuple(puzzle["answers"])] < (count + 1) // 2
                    ):
                        answers[tuple(puzzle["answers"])] += 1
                        board = game.board_to_string(start)
                        found, tried = found + 1, 0
                        made.append(
                            Puzzle(
                                id=f"{name}-{kind}{number or ''}-{found}-{game.board.size}",
                                kind=kind,
                                game=name,
                                options=dict(options),
                                board=board if set(board) - set("./ ") else None,
                                moves=tuple(moves),
                                player=int(state["to_move"][0]),
                                **{k: tuple(v) if k == "answers" else v for k, v in puzzle.items()},
                            )
                        )
                        bar.update()
                        break
                    [action] = sample_actions(game.legal_action_mask(state), rng)
                    moves.append(game.action_to_string(int(action)))
                    game.step(state, [action])
    return made


def searched(puzzle: Puzzle, simulations: int, rng: np.random.Generator) -> str:
    """Answer a puzzle by a search with this many simulations; in Curio, by as many draws of set-ups."""
    table = puzzle.table()
    game, view = table.game, table.view(puzzle.player)
    if puzzle.kind in MOVE_KINDS:
        [result] = Search(simulations=simulations).run(game, view, rng)
        return f'{{"move": "{game.action_to_string(result.best)}"}}'
    if puzzle.kind == "contract":
        after = table.states.copy()
        game.step(after, [game.string_to_action(puzzle.cell)])
        [result] = Search(simulations=simulations).run(game, game.view(after, int(after["to_move"][0])), rng)
        return f'{{"answer": "{"yes" if result.value[puzzle.player] > 0 else "no"}"}}'
    drawn = worlds(game, view, simulations, rng)
    if puzzle.kind == "count":
        return f'{{"answer": {len(drawn)}}}'
    slot = int(view["board"][0, game.board.names.index(puzzle.cell)])
    hits = sum(
        count
        for world, count in drawn.items()
        if np.frombuffer(world, np.int8).reshape(-1, 2)[slot, 1 - puzzle.player] == puzzle.number
    )
    return f'{{"answer": {hits / simulations:.6f}}}'


def by_chance(puzzle: Puzzle) -> float:
    """Return the expected score of random answers: legal moves, yes or no, integers from 1 to 36, or twelfths."""
    if puzzle.kind in MOVE_KINDS:
        table = puzzle.table()
        return len(puzzle.answers) / int(table.game.legal_action_mask(table.states).sum())
    if puzzle.kind == "contract":
        return 0.5
    if puzzle.kind == "count":
        return 1 / 36 if int(puzzle.answers[0]) <= 36 else 0.0
    return 1 / 11 if 12 % Fraction(puzzle.answers[0]).denominator == 0 else 0.0


def baselines() -> str:
    """Return a table of the mean score of each game and kind."""
    lines = ["game       kind         puzzles  random" + "".join(f"{budget:>8,}" for budget in BUDGETS)]
    for name in WANTED:
        puzzles = load_puzzles(name)
        columns = [
            mean_scores(
                puzzles,
                [
                    searched(puzzle, budget, np.random.default_rng([budget, k]))
                    for k, puzzle in enumerate(tqdm(puzzles, desc=f"{name}, {budget} simulations"))
                ],
            )
            for budget in BUDGETS
        ]
        for kind in columns[0]:
            own = [puzzle for puzzle in puzzles if kind in ("all", puzzle.kind)]
            chance = sum(map(by_chance, own)) / len(own)
            scores = "".join(f"{column[kind]:8.2f}" for column in columns)
            lines.append(f"{name:<10} {kind:<12} {len(own):7} {chance:7.2f}{scores}")
    return "\n".join(lines) + "\n"


SOLVED = Path(__file__).parent / "solved"
SEED, PLAYER, NODES, FEW_DRAWS = 2018, "mcts:simulations=30,early_stop=false", 400_000, 200
MOST_LEGAL = 14
"""Most legal moves of a position of Curio, so that every line of play can be tried."""


class Solved(NamedTuple):
    game: str
    options: dict[str, Any]
    count: int
    first: int
    """Plies before the earliest position."""


SOLVED_SETS = {
    "chameleon-4": Solved("chameleon", {"size": 4}, 100, 2),
    "chameleon-5": Solved("chameleon", {"size": 5}, 100, 6),
    "unlur-3": Solved("unlur", {"radius": 3}, 100, 4),
    "unlur-4": Solved("unlur", {"radius": 4}, 100, 17),
    "trinim-5": Solved("trinim", {}, 100, 0),
    "curio-4x3": Solved("curio", {"base": 2, "rows": 4, "cols": 3}, 100, 4),
}


def best_moves(game: Game, state: Any) -> list[str]:
    """Return the moves that win with best play; none if solving takes too long or the position is unsuitable."""
    legal = np.flatnonzero(game.legal_action_mask(state)[0])
    if len(legal) < 2 or winning_moves(game, state, 1):
        return []
    if game.name == "curio":
        worlds = game.determinize(np.repeat(game.view(state, state["to_move"]), FEW_DRAWS), np.random.default_rng(SEED))
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
        found = best_moves(game, played[ply]) if ply < len(moves) else []
        if found:
            board = game.board_to_string(start)
            given = {"board": board} if set(board) - set("./ ") else {}
            return {**given, "moves": moves[:ply], "winning": found}
    return None


def make_solved(name: str) -> None:
    wanted, rng = SOLVED_SETS[name], np.random.default_rng(SEED)
    game, lines = make_game(wanted.game, **wanted.options), dict[str, None]()
    with tqdm(total=wanted.count, desc=name) as bar:
        while len(lines) < wanted.count:
            found = position(game, wanted.first, rng)
            if found is not None:
                lines[json.dumps({"game": wanted.game, "options": wanted.options, **found})] = None
                bar.update(len(lines) - bar.n)
    SOLVED.mkdir(exist_ok=True)
    (SOLVED / f"{name}.jsonl").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


if __name__ == "__main__":
    if sys.argv[1:2] == ["make"]:
        for game_name in sys.argv[2:3] or WANTED:
            only = sys.argv[3] if len(sys.argv) > 3 else None
            if only is not None and (game_name, only) not in APART:
                sys.exit(f"{only} of {game_name} cannot be made alone: expected one of {APART}")
            kept = [] if only is None else [puzzle for puzzle in load_puzzles(game_name) if puzzle.kind != only]
            text = "".join(puzzle.to_json() + "\n" for puzzle in (*kept, *make(game_name, only)))
            (SETS / f"{game_name}.jsonl").write_text(text, encoding="utf-8")
    elif sys.argv[1:] == ["baselines"]:
        from machine import machine

        print(f"{machine()}\n\n{baselines()}", end="")
    elif sys.argv[1:2] == ["solved"]:
        for one in sys.argv[2:] or SOLVED_SETS:
            make_solved(one)
    else:
        sys.exit("expected: make, baselines, or solved")
