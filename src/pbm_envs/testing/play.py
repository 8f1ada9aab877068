"""Checks of play: facts, set-up, plies, playouts, symmetries, ends of games."""

from __future__ import annotations

import pickle
from functools import partial

import numpy as np

from ..core.game import Game
from ..core.hooks import AVOID_LOSING_MOVES, LAST_PLAYER_BY_ACTION, SAVE_BRIDGES
from ..core.state import NOBODY, common_fields, copy_states
from ..core.types import Rng
from .random_games import BATCH, equal, expect_error, positions, random_actions, sample


def check_facts(game: Game, rng: Rng) -> None:
    """Check that sizes, types and names are consistent, and that games with the same options are equal."""
    states = game.init(3, rng)
    assert states.shape == (3,)
    assert states.dtype == game.dtype
    for field in common_fields(game.num_players):
        assert game.dtype[field[0]] == np.dtype([field])[field[0]], field[0]
    assert game.observation_shape == (*game.board.shape, len(game.planes))
    assert (states["viewer"] == NOBODY).all()
    assert not game.perfect_information or equal(game.determinize(game.view(states, 0), rng), states)
    twin = pickle.loads(pickle.dumps(game))
    assert twin == game
    assert hash(twin) == hash(game)
    assert equal(twin.init(3, np.random.default_rng(5)), game.init(3, np.random.default_rng(5)))
    assert equal(pickle.loads(pickle.dumps(states)), states)
    assert game.init(0, rng).shape == (0,)


def check_random_games(game: Game, rng: Rng) -> None:
    """Check that random games end within `max_plies`.

    Masks are empty exactly in finished games; returns sum to 0 and are 0 before the end (A1), except for players who
    have resigned (A2).
    """
    states = game.init(BATCH, rng)
    for _ in range(min(game.max_plies, 100_000)):
        done = states["done"].copy()
        masks = game.legal_action_mask(states)
        assert masks.dtype == np.bool_
        assert (masks.any(axis=1) != done).all()
        gone = states["returns"][~done]
        assert ((gone == 0) | (game.num_players > 2)).all()
        assert (gone[np.arange(len(gone)), states["to_move"][~done]] == 0).all(), "a resigned player is to move"
        if done.all():
            break
        before = states.copy()
        game.step(states, random_actions(game, states, rng))
        assert (states["ply"] - before["ply"] == ~done).all()
        assert equal(states[done], before[done]), "a game that is done has changed"
    assert states["done"].all()
    assert (states["ply"] <= game.max_plies).all()
    assert np.allclose(states["returns"].sum(axis=1), 0)
    assert (states["returns"] <= 1).all()
    assert (states["returns"] >= -1).all()
    assert not states["returns"][states["truncated"]].any()


def check_playout(game: Game, rng: Rng) -> None:
    """Check that a playout ends all games, leaves finished ones unchanged, and plays as `step` would.

    The same holds with each of the game's `playout_options`; others are rejected. `last_player_by_action` contains the
    player of each action.
    """
    states = sample(game, rng)
    before = copy_states(states)
    recorded, cautious = copy_states(states), copy_states(states)
    seeds = rng.integers(1 << 63, size=len(states), dtype=np.uint64)
    players = np.full((len(states), game.num_actions), NOBODY, np.int8)
    game.playout(states, seeds.copy())
    if LAST_PLAYER_BY_ACTION in game.playout_options:
        game.playout(recorded, seeds, last_player_by_action=players)
        assert equal(recorded, states)
        assert ((players >= NOBODY) & (players < game.num_players)).all()
        assert ((players != NOBODY).sum(axis=1) <= states["ply"] - before["ply"]).all()
        movers = before["to_move"]
        assert ((players == movers[:, None]).any(axis=1) | (states["ply"] <= before["ply"] + 1)).mean() > 0.5
    else:
        expect_error(partial(game.playout, recorded, rng, last_player_by_action=players), LAST_PLAYER_BY_ACTION)
    if AVOID_LOSING_MOVES in game.playout_options:
        game.playout(cautious, rng, avoid_losing_moves=True)
        assert cautious["done"].all()
    else:
        expect_error(partial(game.playout, cautious, rng, avoid_losing_moves=True), AVOID_LOSING_MOVES)
    saving = copy_states(before)
    if SAVE_BRIDGES in game.playout_options:
        game.playout(saving, rng, save_bridges=True)
        assert saving["done"].all()
        assert equal(saving[before["done"]], before[before["done"]])
    else:
        expect_error(partial(game.playout, saving, rng, save_bridges=True), SAVE_BRIDGES)
    assert states["done"].all()
    assert equal(states[before["done"]], before[before["done"]])
    one_ply = game.max_plies == 1
    assert one_ply or (states["ply"] > before["ply"])[~before["done"]].all()
    assert np.allclose(states["returns"].sum(axis=1), 0)


def check_setup(game: Game, rng: Rng) -> None:
    """Check that all games start alike, unless the set-up is random.

    The deal has the same outcomes as `init`; an initial position that is redrawn for a player's view looks the same to
    that player.
    """
    starts = game.init(BATCH, rng)
    if not game.random_setup:
        assert equal(starts, np.repeat(starts[:1], BATCH)), "set-ups differ: expected random_setup = True"
        assert game.deal is None
    if game.deal is not None:
        for row in range(BATCH):
            text = game.board_to_string(starts[row])
            dealt = game.deal.read(text)
            assert game.deal.board(dealt) == text
            assert all(dict(game.deal.outcomes(dealt[:k])).get(outcome, 0) > 0 for k, outcome in enumerate(dealt))
    later = copy_states(starts)
    for _ in range(4):
        game.step(later, random_actions(game, later, rng))
    for player in range(game.num_players):
        first = game.view(starts, player)
        again = game.view(game.resample_start(first, game.view(later, player), rng), player)
        assert game.mask_reveals_hidden or equal(again, first)  # such masks are compared when the moves are replayed


def check_leaving(game: Game, rng: Rng) -> None:
    """Check that any player to move can be removed, with the losing return, and that single options can be changed."""
    assert game.with_options() == game
    expect_error(lambda: game.with_options(no_such_option=1), "no_such_option", "expected")
    for row in positions(game, rng, 1, 4):
        state = np.empty(1, game.dtype)
        state[0] = row
        if state["done"][0]:
            continue
        mover = int(state["to_move"][0])
        game.remove_player(state)
        assert state["returns"][0, mover] == -1 / (game.num_players - 1)
        assert state["done"][0] or (game.num_players > 2 and state["to_move"][0] != mover)
        assert not state["done"][0] or np.isclose(state["returns"].sum(), 0)


def check_rows_are_independent(game: Game, rng: Rng) -> None:
    """Check that each game of a batch proceeds as it would alone."""
    states = sample(game, rng)
    actions = random_actions(game, states, rng)
    for batch in (states, states[::-1], states[::2]):
        masks, observations = game.legal_action_mask(batch), game.observe(game.view(batch, batch["to_move"]))
        for row in range(0, len(batch), 5):
            alone = batch[row : row + 1].copy()
            assert (game.legal_action_mask(alone)[0] == masks[row]).all()
            assert (game.observe(game.view(alone, alone["to_move"]))[0] == observations[row]).all()
    together = copy_states(states)
    game.step(together, actions)
    ended, views = copy_states(together), game.view(states, states["to_move"])
    seeds = rng.integers(1 << 63, size=len(states), dtype=np.uint64)
    drawn = seeds.copy()
    worlds = game.determinize(views, drawn)
    played = drawn.copy()
    game.playout(ended, played)
    for row in range(len(states)):
        here = slice(row, row + 1)
        alone, seed = states[here].copy(), seeds[here].copy()
        game.step(alone, actions[here])
        assert equal(alone, together[here])
        assert equal(game.determinize(views[here], seed), worlds[here]), "the same seed gave another world"
        assert seed == drawn[here]
        game.playout(alone, seed)
        assert equal(alone, ended[here]), "the same seed gave another game"
        assert seed == played[here]


def check_symmetries(game: Game, rng: Rng) -> None:
    """Check that masks, observations and returns agree after every ply under each symmetry."""
    first, *_ = game.symmetries
    assert (first.actions == np.arange(game.num_actions)).all()
    for symmetry in game.symmetries[:: max(1, len(game.symmetries) // 12)]:
        states = positions(game, rng, 3)
        renamed = game.transform(states, symmetry)
        for _ in range(min(game.max_plies, 40)):
            masks = np.empty_like(game.legal_action_mask(states))
            masks[:, symmetry.actions] = game.legal_action_mask(states)
            assert (game.legal_action_mask(renamed) == masks).all(), symmetry.name
            returns = np.empty_like(states["returns"])
            returns[:, list(symmetry.players)] = states["returns"]
            assert (renamed["returns"] == returns).all(), symmetry.name
            for player in range(game.num_players):
                seen = game.observe(game.view(states, player))[:, game.board.rows, game.board.cols]
                expected = np.empty_like(seen)
                expected[:, symmetry.cells[:, None], symmetry.planes] = seen
                observed = game.observe(game.view(renamed, symmetry.players[player]))
                assert (observed[:, game.board.rows, game.board.cols] == expected).all(), symmetry.name
            actions = random_actions(game, states, rng)
            game.step(states, actions)
            game.step(renamed, symmetry.actions[actions])
