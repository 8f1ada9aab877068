"""Checks of facts, set-up, plies, playouts, symmetries, ends of games; of inputs, their errors and texts; of views."""

from __future__ import annotations

import pickle
import string
from functools import partial
from typing import cast

import numpy as np

from ..core.game import Game
from ..core.hooks import AVOID_LOSING_MOVES, LAST_PLAYER_BY_ACTION, SAVE_BRIDGES
from ..core.state import NOBODY, Rng, common_fields, copy_states
from .random_games import BATCH, equal, expect_error, positions, random_actions, sample


def check_facts(game: Game, rng: Rng) -> None:
    """Check that sizes, types and names are consistent, and that games with the same options are equal."""
    states = game.init(3, rng)
    assert states.shape == (3,), "init(3, rng) did not return three states"
    assert states.dtype == game.dtype, "init did not return states of game.dtype"
    for field in common_fields(game.num_players):
        assert game.dtype[field[0]] == np.dtype([field])[field[0]], f"{field[0]!r} in game.dtype differs"
    assert game.observation_shape == (*game.board.shape, len(game.planes)), "observation_shape is not that of the board"
    assert (states["viewer"] == NOBODY).all(), "init made views: `_init` must not set `viewer`"
    same = not game.perfect_information or equal(game.determinize(game.view(states, 0), rng), states)
    assert same, "views hide something: expected perfect_information = False"
    twin = pickle.loads(pickle.dumps(game))
    assert twin == game, "the pickled game has other options: does `options` hold all arguments?"
    assert hash(twin) == hash(game)
    same = equal(twin.init(3, np.random.default_rng(5)), game.init(3, np.random.default_rng(5)))
    assert same, "the same seed gave other set-ups: does `_init` draw from its seeds alone?"
    assert equal(pickle.loads(pickle.dumps(states)), states)
    none = game.init(0, rng)
    game.step(none, [])
    assert none.shape == (0,)


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
        wrong = masks.any(axis=1) == done
        assert not (wrong & done).any(), "a game that is done has legal actions"
        assert not wrong.any(), game._why_endless(states[wrong][:1])
        gone = states["returns"][~done]
        assert ((gone == 0) | (game.num_players > 2)).all(), "returns are not 0 in a game that is not done"
        assert (gone[np.arange(len(gone)), states["to_move"][~done]] == 0).all(), "a resigned player is to move"
        if done.all():
            break
        before = states.copy()
        game.step(states, random_actions(game, states, rng))
        assert (states["ply"] - before["ply"] == ~done).all(), (
            "step did not count exactly one ply in each unfinished game"
        )
        assert equal(states[done], before[done]), "a game that is done has changed"
    done = states["done"]
    assert done.all(), game._why_endless(states[~done][:1])
    assert (states["ply"] <= game.max_plies).all(), f"{states['ply'].max()} plies: expected at most {game.max_plies}"
    assert np.allclose(states["returns"].sum(axis=1), 0), "the returns of a finished game do not sum to 0"
    assert (abs(states["returns"]) <= 1).all(), "returns are not in -1..1"
    assert not states["returns"][states["truncated"]].any(), "returns are not 0 after a truncation"


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
        assert equal(recorded, states), f"a playout with {LAST_PLAYER_BY_ACTION} is another game"
        assert ((players >= NOBODY) & (players < game.num_players)).all()
        named = (players != NOBODY).sum(axis=1)
        assert (named <= states["ply"] - before["ply"]).all(), f"{LAST_PLAYER_BY_ACTION} has more actions than plies"
        moved = (players == before["to_move"][:, None]).any(axis=1)
        assert (moved | (states["ply"] <= before["ply"] + 1)).mean() > 0.5, f"{LAST_PLAYER_BY_ACTION} lacks players"
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
    assert states["done"].all(), "a playout did not end the game"
    assert equal(states[before["done"]], before[before["done"]]), "a playout changed a game that is done"
    one_ply = game.max_plies == 1
    assert one_ply or (states["ply"] > before["ply"])[~before["done"]].all(), "a playout did not count its plies"
    assert np.allclose(states["returns"].sum(axis=1), 0), "the returns after a playout do not sum to 0"


def check_setup(game: Game, rng: Rng) -> None:
    """Check that all games start alike, unless the set-up is random.

    The deal has the same outcomes as `init`; an initial position that is redrawn for a player's view looks the same to
    that player.
    """
    starts = game.init(BATCH, rng)
    if not game.random_setup:
        assert equal(starts, np.repeat(starts[:1], BATCH)), "set-ups differ: expected random_setup = True"
        assert game.deal is None, "there is a `_deal`: expected random_setup = True"
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


def check_texts(game: Game, rng: Rng) -> None:
    """Check that move texts are read back as the same action (A3), in any case and with blanks; others raise."""
    texts = [game.action_to_string(action) for action in range(game.num_actions)]
    assert len(set(texts)) == game.num_actions, "two actions have the same text"
    for action, text in enumerate(texts):
        for form in (text, f"  {text.upper()}\n", text.lower()):
            assert game.string_to_action(form) == action, f"{form!r} is not read as action {action}"
    known = {text.lower() for text in texts}
    unknown = ["", " ", "-", "a", "resign!", "a1 b2", "é4", "0", "a0", "zz99", "\0", "a1-a1"]
    for thing in (*unknown, None, 3, b"a1"):
        if not (isinstance(thing, str) and thing.strip().lower() in known):
            expect_error(partial(game.string_to_action, cast(str, thing)), repr(thing), "expected")
    for _ in range(200):
        text = "".join(rng.choice(list(string.ascii_letters + string.digits + "- "), size=rng.integers(1, 7)))
        if text.strip().lower() not in known and _turned(text) not in known:
            expect_error(partial(game.string_to_action, text), repr(text), "expected")
    for action in (-1, game.num_actions):
        expect_error(partial(game.action_to_string, action), str(action), "expected")


def _turned(text: str) -> str:
    """Return a move text with its two ends exchanged (T4)."""
    return "-".join(reversed(text.strip().lower().split("-")))


def check_boards(game: Game, rng: Rng) -> None:
    """Check that the text of an initial position is read back as the same position.

    An invalid board text raises ValueError, and an altered text that is still valid is written as it was read.
    """
    states = game.init(4, rng)
    for row in range(len(states)):
        text = game.board_to_string(states[row])
        again = game.init(1, rng, board=text)
        assert equal(again, states[row : row + 1]), f"init(board={text!r}) is not the state that was written so"
        assert game.board_to_string(again) == text, f"the board {text!r} is written as {game.board_to_string(again)!r}"
    unknown: list[object] = ["", "/", "no board", "....", text + "/x", 5, b"", [text], {}]
    for wrong in unknown:
        expect_error(partial(game.init, 1, rng, board=cast(str, wrong)), repr(wrong)[:60], "expected")
    letters = [*text, *"/. \n", *string.printable[:70], "\0", "é"]
    for _ in range(100):
        k = rng.integers(len(text) + 1)
        changed = text[:k] + str(rng.choice(letters)) + text[k + rng.integers(3) :]
        try:
            again = game.init(1, rng, board=changed)
        except ValueError:
            continue
        written = game.board_to_string(again)
        same = "".join(written.split()).lower() == "".join(changed.split()).lower()
        assert same, f"the board {changed!r} is accepted, but written as {written!r}: expected a ValueError"
        assert equal(game.init(1, rng, board=written), again), f"the board {written!r} is read as another state"


def check_illegal_actions(game: Game, rng: Rng) -> None:
    """Check that an illegal action raises a ValueError that names row and move, and changes no row."""
    states = sample(game, rng)
    open_rows = np.flatnonzero(~states["done"])
    actions = random_actions(game, states, rng)
    for row in open_rows[:: max(1, len(open_rows) // 6)]:
        illegal = np.flatnonzero(~game.legal_action_mask(states)[row])
        for wrong in [*illegal[:: max(1, len(illegal) // 5)], -1, game.num_actions, 1 << 40]:
            before = copy_states(states)
            tried = actions.copy()
            tried[row] = wrong
            text = repr(game.action_to_string(int(wrong))) if 0 <= wrong < game.num_actions else str(wrong)
            expect_error(partial(game.step, states, tried), f"row {row}", text)
            assert equal(states, before), "an illegal action in one row has changed states"


def check_arguments(game: Game, rng: Rng) -> None:
    """Check that wrong arguments raise clear errors."""
    states = game.init(2, rng)
    expect_error(lambda: game.init(-1, rng), "-1", "expected")
    expect_error(lambda: game.init(1, 7), "7", "expected")  # type: ignore[arg-type]  # that is the point
    expect_error(lambda: game.step(states, [0]), "(1,)", "expected")
    expect_error(lambda: game.step(states, [0.5, 0.5]), "float64", "expected")
    expect_error(lambda: game.step(states["ply"], [0, 0]), "int32", "expected")
    expect_error(lambda: game.view(states, game.num_players), str(game.num_players), "expected")
    expect_error(lambda: game.view(states, [-1, 0]), "-1", "expected")
    expect_error(lambda: game.view(states, [0.0, 1.0]), "0.0", "expected")
    expect_error(lambda: game.observe(states, out=np.zeros((2, 1), np.int8)), "(2, 1)", "expected")
    expect_error(lambda: game.view(states, 0, out=states[:1]), "(1,)", "expected")
    expect_error(lambda: game.playout(game.view(states, 0), rng), "determinize")
    expect_error(lambda: game.board_to_string(states), "(2,)", "expected")


def check_observations(game: Game, rng: Rng) -> None:
    """Check the shapes, types and bounds of observations and masks.

    All planes are 0 off the board; results in `out` equal those in a new array; the mask of a view is that of the state
    for the player to move, and empty for the others.
    """
    states = sample(game, rng)
    for player in range(game.num_players):
        views = game.view(states, player)
        observations = game.observe(views)
        assert observations.shape == (len(states), *game.observation_shape)
        assert observations.dtype == np.int8
        assert (observations >= 0).all(), "an observation has negative numbers"
        off_board = np.ones(game.board.shape, np.bool_)
        off_board[game.board.rows, game.board.cols] = False
        assert not observations[:, off_board].any(), "planes are not 0 off the board"
        dirty = np.full_like(observations, 77)
        assert game.observe(views, out=dirty) is dirty
        assert (dirty == observations).all(), "`_observe` leaves old content in `out`"
        masks = game.legal_action_mask(views)
        mine = states["to_move"] == player
        assert (masks[mine] == game.legal_action_mask(states)[mine]).all(), "the mover's view has another mask"
        assert not masks[~mine].any(), "a view of a player not to move has legal actions"
        observed, allowed = game.observe_with_mask(states, player)
        assert (observed == observations).all()
        assert (allowed == masks).all()
    dirty_masks = np.ones((len(states), game.num_actions), np.bool_)
    cleaned = game.legal_action_mask(states, out=dirty_masks) == game.legal_action_mask(states)
    assert cleaned.all(), "`_legal_action_mask` leaves old content in `out`"


def check_views(game: Game, rng: Rng) -> None:
    """Check that views name their viewer and leave the state unchanged, and that determinized views look the same."""
    states = sample(game, rng)
    before = copy_states(states)
    for player in range(game.num_players):
        views = game.view(states, player)
        assert (views["viewer"] == player).all(), "`_view` must leave `viewer` as it is"
        assert equal(game.view(states, np.full(len(states), player)), views)
        buffer = game.init(len(states), rng)
        assert game.view(states, player, out=buffer) is buffer
        assert equal(buffer, views)
        worlds = game.determinize(views, rng)
        assert (worlds["viewer"] == NOBODY).all()
        assert equal(game.view(worlds, player), views), "a determinized view looks different to its player"  # C15
        assert equal(game.determinize(worlds, rng), worlds), "a full state has nothing to fill in"
    assert equal(states, before), "`_view` or `_determinize` has changed the states"
    if not states["done"].all():
        expect_error(lambda: game.step(views, random_actions(game, states, rng)), "view")


def check_secrets(game: Game, rng: Rng) -> None:
    """Check that states with the same view give the player equal observations, masks and pictures, byte for byte."""
    states = sample(game, rng)
    for player in range(game.num_players):
        twins = game.determinize(game.view(states, player), rng)
        mine, others = game.view(states, player), game.view(twins, player)
        assert game.observe(mine).tobytes() == game.observe(others).tobytes(), "observations show what the view hides"
        masks = game.legal_action_mask(mine).tobytes(), game.legal_action_mask(others).tobytes()
        assert masks[0] == masks[1], "masks show what the view hides"
        for row in range(0, len(states), 3):
            assert game.scene(mine[row]) == game.scene(others[row]), "pictures show what the view hides"
            texts = game.board_to_string(mine[row]), game.board_to_string(others[row])
            assert texts[0] == texts[1], f"board texts show what the view hides: {texts}"
