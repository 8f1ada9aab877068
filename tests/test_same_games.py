"""The same seeds make the same games for ever: 100 random games of each configuration, by hash.

The files of the hashes were written by the rules as they were before they were made faster. After a change that is
meant to change games (a new ruling): python -m tests.test_same_games
"""

from __future__ import annotations

import hashlib
import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pbm_envs import Game, sample_actions
from tests.test_conformance import configurations

HASHES = Path(__file__).parent / "same_games.json"
GAMES, SEED, LONGEST = 100, 2011, 400
pytestmark = pytest.mark.filterwarnings("ignore:every two-player game of Trinim")  # T7


class Digest:
    """A hash of arrays by their values, on any machine."""

    def __init__(self) -> None:
        self._hash = hashlib.sha256()

    def add(self, *arrays: Any) -> None:
        for array in arrays:
            values = np.ascontiguousarray(array)
            self._hash.update(values.astype(values.dtype.newbyteorder("<")).tobytes())

    def text(self) -> str:
        return self._hash.hexdigest()[:32]


def played(game: Game) -> str:
    """Random games, with what every player sees and may do before each ply, and how they end."""
    digest, rng = Digest(), np.random.default_rng(SEED)
    states = game.init(GAMES, rng)
    for ply in range(LONGEST):
        masks = game.legal_action_mask(states)
        digest.add(masks, states["to_move"], states["returns"], states["done"], states["truncated"], states["ply"])
        for player in range(game.num_players) if ply % 5 == 0 else ():
            digest.add(*game.observe_with_mask(states, player))
        digest.add(*game.observe_with_mask(states, states["to_move"]))
        live = np.flatnonzero(~states["done"])
        if not live.size:
            break
        actions = np.zeros(GAMES, np.int64)
        actions[live] = sample_actions(masks[live], rng)
        digest.add(actions)
        game.step(states, actions)
    digest.add([game.board_to_string(states[row : row + 1]) for row in range(GAMES)])
    return digest.text()


def middle_game(game: Game) -> tuple[Any, np.random.Generator]:
    """100 games after 0 to 30 random plies."""
    rng = np.random.default_rng(SEED + 1)
    states = game.init(GAMES, rng)
    for ply in range(30):
        live = np.flatnonzero(~states["done"] & (np.arange(GAMES) % 31 > ply))
        some = states[live]
        if live.size:
            game.step(some, sample_actions(game.legal_action_mask(some)[:, : _resign(game)], rng))
            states[live] = some
    return states, rng


def _resign(game: Game) -> int:
    """The number of actions but `resign`."""
    return game.num_actions - bool(game.options["allow_resign"])


def finished(game: Game) -> str:
    """Playouts from the middle of games, of every kind that the search uses."""
    digest = Digest()
    for options in [{}, {"avoid_losing_moves": True}] if game.name == "unlur" else [{}]:
        states, rng = middle_game(game)
        last = np.full((GAMES, game.num_actions), -1, np.int8)
        game.playout(states, rng, last_player_by_action=last, **options)
        digest.add(last, *(states[name] for name in ("returns", "ply", "last_action", "to_move", "done", "truncated")))
        digest.add([game.board_to_string(states[row : row + 1]) for row in range(GAMES)])
    return digest.text()


def determinized(game: Game) -> str:
    """Worlds drawn from the views of the middle of games, and the next views of these worlds."""
    digest = Digest()
    for player in range(game.num_players):
        states, rng = middle_game(game)
        worlds = game.determinize(game.view(states, player), rng)
        digest.add([game.board_to_string(worlds[row : row + 1]) for row in range(GAMES)], rng.random())
        digest.add(game.legal_action_mask(worlds), *game.observe_with_mask(worlds, 1 - player % 2))
    return digest.text()


def hashes(game: Game) -> dict[str, str]:
    return {"games": played(game), "playouts": finished(game), "worlds": determinized(game)}


@pytest.mark.parametrize("game", list(configurations()))
def test_same_games(game):
    known = json.loads(HASHES.read_text(encoding="utf-8"))
    assert hashes(game) == known[str(game)]


def test_no_configuration_has_gone():
    assert set(json.loads(HASHES.read_text(encoding="utf-8"))) == {str(game.values[0]) for game in configurations()}


def main() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = {str(game.values[0]): hashes(game.values[0]) for game in configurations()}
    HASHES.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
