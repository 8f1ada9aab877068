"""Checks that no channel reveals more to a player than the views, by games that the player cannot distinguish."""

from __future__ import annotations

import json
from collections.abc import Iterator

import numpy as np

from ..core.game import Game
from ..core.state import Rng, States, copy_states, take_rows
from ..envs.aec import BoardGameAECEnv
from ..envs.vector import BoardGameVectorEnv
from ..text.dialogue import TextGame
from ..text.prompts import PromptStyle
from .random_games import equal, random_actions

PLIES = 24
TRIES = 4
STYLE = PromptStyle(legal_moves=True)


def check_channels(game: Game, rng: Rng) -> None:
    """Compare everything that a player receives in two games that the player cannot distinguish, ply by ply.

    The games differ in hidden information: the set-up, and moves of others, which are replaced by moves that leave the
    player's view unchanged. The check compares observations, masks, pictures, board texts, the infos of the
    environments with their histories, and prompts.
    """
    if game.perfect_information:
        return
    for player in range(game.num_players):
        for _ in range(TRIES):
            start, twin, moves, other_moves = _games_that_look_the_same(game, player, rng)
            pairs = zip(_channels(game, player, start, moves), _channels(game, player, twin, other_moves), strict=True)
            for ply, (mine, others) in enumerate(pairs):
                for name, value in mine.items():
                    assert value == others[name], f"player_{player} can tell two games apart at ply {ply} by {name}"


def _games_that_look_the_same(game: Game, player: int, rng: Rng) -> tuple[States, States, list[str], list[str]]:
    """Return two initial positions, and moves from each, that `player` cannot distinguish."""
    start = game.init(1, rng)
    twin = game.determinize(game.view(start, player), rng)
    here, there = copy_states(start), copy_states(twin)
    moves: list[str] = []
    other_moves: list[str] = []
    while not here["done"][0] and len(moves) < PLIES:
        after = copy_states(here)
        [action] = random_actions(game, here, rng)
        game.step(after, [action])
        other = action if here["to_move"][0] == player else _hidden_move(game, player, there, after, int(action), rng)
        if other is None or not game.legal_action_mask(there)[0, other]:
            break
        later = copy_states(there)
        game.step(later, [other])
        if after["done"][0] or not equal(game.view(after, player), game.view(later, player)):
            break
        here, there = after, later
        moves.append(game.action_to_string(action))
        other_moves.append(game.action_to_string(other))
    return start, twin, moves, other_moves


def _hidden_move(game: Game, player: int, states: States, wanted: States, action: int, rng: Rng) -> int | None:
    """Return a move after which `player` sees the same as in `wanted`, preferably not `action`; None if none exists."""
    legal = np.flatnonzero(game.legal_action_mask(states)[0])
    later = take_rows(states, np.zeros(len(legal), np.int64))
    game.step(later, legal)
    seen, expected = game.view(later, player), game.view(wanted, player)
    if action in legal and game.public_moves:
        mine = seen[legal == action]
        hidden = [
            other
            for k, other in enumerate(legal)
            if other != action
            and all((seen[name][k] == mine[name][0]).all() for name in game.dtype.names or () if name != "last_action")
        ]
        assert not hidden, (
            f"player_{player} does not see which of {game.action_to_string(action)!r} and "
            f"{game.action_to_string(int(hidden[0]))!r} was played, apart from `last_action`: expected "
            "`public_moves = False` of a game that hides moves"
        )
    same = [int(other) for k, other in enumerate(legal) if equal(seen[k : k + 1], expected)]
    others = [other for other in same if other != action]
    return int(rng.choice(others)) if others else (action if action in same else None)


def _channels(game: Game, player: int, start: States, moves: list[str]) -> Iterator[dict[str, object]]:
    """Yield, after each ply, everything that `player` receives in a game."""
    board = game.board_to_string(start[0])
    options = {"board": board} if game.random_setup else {}
    aec, vector = BoardGameAECEnv(game, history=len(moves)), BoardGameVectorEnv(game, 1, history=len(moves))
    aec.reset(seed=0, options=options)
    _, infos = vector.reset(seed=0, options=options)
    table = TextGame(game, STYLE)
    table.reset(0, options)
    states = copy_states(start)
    agent = f"player_{player}"
    for text in [*moves, None]:
        view = game.view(states, player)
        got: dict[str, object] = {
            "the view": [view[name].tolist() for name in game.dtype.names or ()],
            "the observation": game.observe(view).tolist(),
            "the mask": game.legal_action_mask(view).tolist(),
            "the picture": game.scene(view[0]),
            "the board text": game.board_to_string(view[0]),
            "the status": game.status(view[0]),
            "a prompt": table.prompt(player),
            "the observation of the AEC environment": _plain(aec.observe(agent)),
            "the info of the AEC environment": _plain(aec.infos[agent]),
        }
        if states["to_move"][0] == player:
            got["the info of the vector environment"] = _plain(infos)
        yield got
        if text is None:
            return
        action = game.string_to_action(text)
        game.step(states, [action])
        aec.step(action)
        _, _, _, _, infos = vector.step(np.array([action]))
        table.play(action)


def _plain(values: object) -> str:
    return json.dumps(values, default=lambda value: np.asarray(value).tolist(), sort_keys=True)
