"""Numbers of move sequences, as tests/perft.json has them: counted by the references, see tests/reference/perft.py."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from pbm_envs import make_game
from tests.play import play
from tests.reference import start
from tests.reference.perft import POSITIONS, sequences

ENTRIES = json.loads((Path(__file__).parent / "perft.json").read_text(encoding="utf-8"))
FEW = 400
"""Positions that the references expand here."""

entries = pytest.mark.parametrize(
    "entry", ENTRIES, ids=lambda entry: f"{entry['game']} {entry['options']} {' '.join(entry['moves'])}"
)
pytestmark = pytest.mark.filterwarnings("ignore:every two-player game of Trinim")  # T7


def counts(game, states, depth):
    """The number of sequences of 1 to `depth` moves: all legal moves of all positions are one batch."""
    found = []
    for _ in range(depth):
        mask = game.legal_action_mask(states)
        found.append(int(mask.sum()))
        if len(found) < depth:
            rows, actions = np.nonzero(mask)
            states = states[rows]
            game.step(states, actions)
    return found


@entries
def test_counts(entry):
    game = make_game(entry["game"], **entry["options"])
    states = play(game, " ".join(entry["moves"]), entry["board"])
    assert counts(game, states, len(entry["counts"])) == entry["counts"]


def test_the_file_has_every_position():
    """Else: python -m tests.reference.perft"""
    listed = [(name, options, board, moves.split(), depth) for name, options, board, moves, depth in POSITIONS]
    names = ("game", "options", "board", "moves")
    assert [(*(entry[name] for name in names), len(entry["counts"])) for entry in ENTRIES] == listed


@entries
def test_the_file_is_the_references(entry):
    """The lengths before which there are few positions; the rest took minutes."""
    slow = start(entry["game"], entry["options"], entry["board"], entry["moves"])
    before = [1, *entry["counts"]]
    few = [length for length, expected in enumerate(entry["counts"], 1) if max(before[:length]) <= FEW]
    assert [sequences(slow, length) for length in few] == [entry["counts"][length - 1] for length in few]
    assert few
