"""The puzzles: their answers by slow witnesses that know nothing of the program under test, and how they are scored."""

import json
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from pbm_agents.exact import ConnectionSolver

from pbm_envs import make_game
from pbm_envs.text.puzzles import KINDS, MOVE_KINDS, Puzzle, load_puzzles, mean_scores, score
from tests.curio.test_secrets import alike, armies, follows
from tests.play import play
from tests.reference import solver
from tests.reference.curio import Curio as Reference
from tests.reference.curio import board_text
from tests.search.solved import as_solver

OPEN = ("chameleon", "unlur", "trinim")
ALL = [puzzle for name in (*OPEN, "curio") for puzzle in load_puzzles(name)]


def forces(rules, position, player, moves):
    """Can `player` win from here within so many own moves?"""
    own = position[-1] == player
    if own and moves == 0:
        return False
    outcomes = (
        over[player] == 1 if over is not None else forces(rules, after, player, moves - own)
        for _, after, over in rules.moves(position)
    )
    return any(outcomes) if own else all(outcomes)


def by_reference(puzzle):
    table = puzzle.table()
    return as_solver(table.game, table.states[0])


def witnessed(puzzle):
    """The right answers by rules.md, all lines tried."""
    rules, position = by_reference(puzzle)
    player, good = position[-1], set()
    if puzzle.kind == "contract":
        return {"yes" if solver.worths(rules, position, known(puzzle.game))[puzzle.cell] == 1 else "no"}
    for text, after, over in rules.moves(position):
        if puzzle.kind == "win":
            if over[player] == 1 if over is not None else forces(rules, after, player, puzzle.number - 1):
                good.add(text)
        elif over is not None:
            good |= {text} if over[player] >= 0 else set()
        elif after[-1] == player or not forces(rules, after, after[-1], 1):
            good.add(text)
    return good


@cache
def known(game):
    """What the solver remembers of a game's positions."""
    return {}


SLOW = {("chameleon", 3), ("unlur", 3), ("chameleon", 2), ("unlur", 2)}
"""Games and numbers of moves for which trying everything in Python takes long."""


@pytest.mark.parametrize(
    "puzzle",
    [
        pytest.param(puzzle, id=puzzle.id, marks=pytest.mark.slow if (puzzle.game, puzzle.number) in SLOW else ())
        for puzzle in ALL
        if puzzle.game != "curio" and (puzzle.game, puzzle.kind) != ("unlur", "contract")
    ],
)
def test_answers_by_trying_everything(puzzle):
    game = make_game(puzzle.game, **puzzle.options)
    canonical = {text if text in ("yes", "no") else game.action_to_string(game.string_to_action(text))
                 for text in witnessed(puzzle)}  # fmt: skip
    assert canonical == set(puzzle.answers)
    if puzzle.kind == "win" and puzzle.game == "trinim":  # and not faster
        rules, position = by_reference(puzzle)
        assert puzzle.number == 1 or not forces(rules, position, position[-1], puzzle.number - 1)


def test_contracts_of_unlur_by_the_solver():
    """Which tests/exact compares with the reference: the contract is too long for trying everything in Python."""
    solver = ConnectionSolver(make_game("unlur", radius=3))
    black = solver.game.string_to_action("black")
    puzzles = [puzzle for puzzle in ALL if (puzzle.game, puzzle.kind) == ("unlur", "contract")]
    assert {puzzle.answers for puzzle in puzzles} == {("yes",), ("no",)}
    for puzzle in puzzles:
        wins = solver.action_value(play(solver.game, " ".join(puzzle.moves)), black, 10**9)
        assert puzzle.answers == ({1: "yes", -1: "no"}[wins],)


@pytest.mark.parametrize("puzzle", [puzzle for puzzle in ALL if puzzle.game == "curio"], ids=lambda puzzle: puzzle.id)
def test_answers_of_curio_by_enumeration(puzzle):
    """Every set-up that looks the same from the start on, by the slow reference."""
    game = make_game("curio", **puzzle.options)
    truth = Reference(puzzle.board, **game.options)
    boards = [
        board_text({**light, **dark}, truth.rows, truth.cols)
        for light in armies(truth, 0, puzzle.player)
        for dark in armies(truth, 1, puzzle.player)
    ]
    possible = [(board, world) for board in boards
                if alike(world := Reference(board, **game.options), truth, puzzle.player)]  # fmt: skip
    for text in puzzle.moves:
        truth.play(text)
        possible = [(board, world) for board, world in possible if follows(world, text, truth, puzzle.player)]
    for board, _ in possible[:: 1 + len(possible) // 3]:
        assert replace(puzzle, board=board).prompt() == puzzle.prompt()  # which tells nothing that is hidden
    worlds = [world for _, world in possible]
    if puzzle.kind == "count":
        assert puzzle.answers == (str(len(worlds)),)
        return
    col, row = ord(puzzle.cell[0]) - ord("a"), int(puzzle.cell[1:]) - 1
    sides = Counter(world.board[col, row].faces[1 - puzzle.player] for world in worlds)
    assert puzzle.answers == (str(Fraction(sides[puzzle.number], len(worlds))),)


def test_the_sets():
    assert len({puzzle.id for puzzle in ALL}) == len(ALL)
    assert {puzzle.kind for puzzle in ALL} == set(KINDS)
    for puzzle in ALL:
        assert Puzzle.from_json(puzzle.to_json()) == puzzle
        assert puzzle.table().to_move == puzzle.player
        system, user = puzzle.prompt()
        assert system.startswith("You play")
        assert user.endswith(puzzle.question)
        assert "End your answer with your move" not in user
    with pytest.raises(ValueError, match="no puzzles for 'chess'"):
        load_puzzles("chess")
    with pytest.raises(ValueError, match="wrong type in a puzzle: id, kind"):
        Puzzle.from_json("{}".replace("{}", '{"moves": [], "answers": []}'))


@pytest.mark.parametrize("puzzle", ALL, ids=lambda puzzle: puzzle.id)
def test_scores(puzzle):
    key = "move" if puzzle.kind in MOVE_KINDS else "answer"
    for answer in puzzle.answers:
        assert score(puzzle, f"So: {json.dumps({key: answer})}") == 1
    assert score(puzzle, "I do not know") == 0
    if puzzle.kind in MOVE_KINDS:
        game = make_game(puzzle.game, **puzzle.options)
        legal = np.flatnonzero(game.legal_action_mask(puzzle.table().states)[0])
        wrong = {game.action_to_string(int(action)) for action in legal} - set(puzzle.answers)
        assert sum(score(puzzle, f"[{text}]") for text in wrong) == 0


def test_numbers_in_several_forms():
    probability = next(puzzle for puzzle in ALL if puzzle.kind == "probability")
    right = Fraction(probability.answers[0])
    assert score(probability, json.dumps({"answer": f"{2 * right.numerator} / {2 * right.denominator}"})) == 1
    assert score(probability, json.dumps({"answer": float(right)})) == 1
    assert score(probability, json.dumps({"answer": float(right) + 0.02})) == 0
    assert score(probability, json.dumps({"answer": "1/0"})) == 0
    count = next(puzzle for puzzle in ALL if puzzle.kind == "count")
    assert score(count, json.dumps({"answer": int(count.answers[0])})) == 1
    assert score(count, json.dumps({"answer": int(count.answers[0]) + 0.001})) == 0
    contract = next(puzzle for puzzle in ALL if puzzle.kind == "contract")
    assert score(contract, json.dumps({"answer": contract.answers[0].upper()})) == 1
    assert mean_scores([count, contract], [json.dumps({"answer": count.answers[0]}), ""]) == {
        "count": 1, "contract": 0, "all": 0.5,
    }  # fmt: skip


def test_who_plays_a_puzzle_in_disguise():
    """The position has other names, and the answer is the same."""
    puzzle = next(puzzle for puzzle in ALL if puzzle.kind == "win")
    table = puzzle.table(disguise=3)
    action = table.game.string_to_action(puzzle.answers[0])
    reading = table.read(json.dumps({"move": table.words.move(action)}))
    assert reading.action == action
