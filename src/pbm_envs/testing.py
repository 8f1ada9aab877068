"""Conformance: what every game must do, whatever its rules. For our games and for those of others.

    from pbm_envs.testing import CHECKS
    for check in CHECKS:
        check(MyGame(size=4), numpy.random.default_rng(0))

A check raises AssertionError. Each plays a few dozen random games.
"""

from __future__ import annotations

import pickle
import string
from collections.abc import Callable
from functools import partial
from typing import TypeAlias, cast

import numpy as np

from .core.game import Game
from .core.hooks import AVOID_LOSING_MOVES, LAST_PLAYER_BY_ACTION, SAVE_BRIDGES
from .core.state import NO_ACTION, NOBODY, copy_states
from .core.types import Ints, Rng, States

Check: TypeAlias = Callable[[Game, Rng], None]

BATCH = 16


def equal(a: States, b: States) -> bool:
    """All fields of all records."""
    return a.dtype == b.dtype and a.shape == b.shape and all((a[name] == b[name]).all() for name in a.dtype.names or ())


def random_actions(game: Game, states: States, rng: Rng) -> Ints:
    """(B,) a legal action a row, all equally likely but for `resign`, which is rare; 0 where done."""
    weights = game.legal_action_mask(states) * rng.random((len(states), game.num_actions))
    if game.resign_action != NO_ACTION:
        weights[:, game.resign_action] **= 8 * game.num_actions
    return weights.argmax(axis=1)


def positions(game: Game, rng: Rng, plies: int, batch: int = BATCH) -> States:
    """(batch,) positions after up to `plies` random plies."""
    states = game.init(batch, rng)
    for _ in range(plies):
        game.step(states, random_actions(game, states, rng))
    return states


def sample(game: Game, rng: Rng) -> States:
    """Positions from the start, the middle and the end of games."""
    usual = positions(game, rng, 0)
    game.playout(usual, rng)
    length = int(np.median(usual["ply"]))
    return np.concatenate([positions(game, rng, plies, 6) for plies in (0, 1, 2, length // 2, length - 2, 2 * length)])


def check_facts(game: Game, rng: Rng) -> None:
    """Sizes, types and names fit together; equal games are equal."""
    states = game.init(3, rng)
    assert states.shape == (3,)
    assert states.dtype == game.dtype
    for name, kind in {
        "to_move": "i1",
        "viewer": "i1",
        "ply": "i4",
        "last_action": "i4",
        "done": "?",
        "truncated": "?",
    }.items():
        assert game.dtype[name] == np.dtype(kind), name
    assert game.dtype["returns"].shape == (game.num_players,)
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
    """Games end within `max_plies`.

    Masks are empty just when done; returns sum to 0 and are 0 before the end (A1), but for players who have resigned
    (A2).
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
    """A playout ends all games, leaves finished ones alone, and plays what `step` would have played.

    So it does with each of the game's `playout_options`; others are refused. `last_player_by_action` tells who has
    played what.
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
        _refuses(partial(game.playout, recorded, rng, last_player_by_action=players), LAST_PLAYER_BY_ACTION)
    if AVOID_LOSING_MOVES in game.playout_options:
        game.playout(cautious, rng, avoid_losing_moves=True)
        assert cautious["done"].all()
    else:
        _refuses(partial(game.playout, cautious, rng, avoid_losing_moves=True), AVOID_LOSING_MOVES)
    saving = copy_states(before)
    if SAVE_BRIDGES in game.playout_options:
        game.playout(saving, rng, save_bridges=True)
        assert saving["done"].all()
        assert equal(saving[before["done"]], before[before["done"]])
    else:
        _refuses(partial(game.playout, saving, rng, save_bridges=True), SAVE_BRIDGES)
    assert states["done"].all()
    assert equal(states[before["done"]], before[before["done"]])
    one_ply = game.max_plies == 1
    assert one_ply or (states["ply"] > before["ply"])[~before["done"]].all()
    assert np.allclose(states["returns"].sum(axis=1), 0)


def check_setup(game: Game, rng: Rng) -> None:
    """Games start alike, unless the game says that its set-up is random.

    What its deal spells out is what `init` draws; a start that is drawn for what a player has seen looks the same to
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
    """The player to move can be removed from any game, with the losing return; options can be changed one by one."""
    assert game.with_options() == game
    _refuses(lambda: game.with_options(no_such_option=1), "no_such_option", "expected")
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
    """A row does not see its neighbours: each game of a batch goes as it would alone."""
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


def check_illegal_actions(game: Game, rng: Rng) -> None:
    """An illegal action raises ValueError naming row and move, and nothing is changed, in no row."""
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
            _refuses(partial(game.step, states, tried), f"row {row}", text)
            assert equal(states, before)


def check_texts(game: Game, rng: Rng) -> None:
    """Text -> action -> text is the identity (A3), in capitals and between blanks too; other texts are ValueErrors."""
    texts = [game.action_to_string(action) for action in range(game.num_actions)]
    assert len(set(texts)) == game.num_actions
    for action, text in enumerate(texts):
        assert game.string_to_action(text) == action
        assert game.string_to_action(f"  {text.upper()}\n") == action
        assert game.string_to_action(text.lower()) == action
    known = {text.lower() for text in texts}
    unknown: list[object] = [
        "",
        " ",
        "-",
        "a",
        "resign!",
        "a1 b2",
        "é4",
        "0",
        "a0",
        "zz99",
        "\0",
        "a1-a1",
        None,
        3,
        b"a1",
    ]
    for thing in unknown:
        if not (isinstance(thing, str) and thing.strip().lower() in known):
            _refuses(partial(game.string_to_action, cast(str, thing)), repr(thing), "expected")
    for _ in range(200):
        text = "".join(rng.choice(list(string.ascii_letters + string.digits + "- "), size=rng.integers(1, 7)))
        if text.strip().lower() not in known and _turned(text) not in known:
            _refuses(partial(game.string_to_action, text), repr(text), "expected")
    for action in (-1, game.num_actions):
        _refuses(partial(game.action_to_string, action), str(action), "expected")


def _turned(text: str) -> str:
    """A move text with its two ends exchanged (T4)."""
    return "-".join(reversed(text.strip().lower().split("-")))


def _refuses(call: Callable[[], object], *words: str) -> None:
    """The call raises ValueError or TypeError, and says these words."""
    try:
        call()
    except (ValueError, TypeError) as error:
        missing = [word for word in words if word not in str(error)]
        if missing:
            raise AssertionError(f"the error does not say {missing}: {error}") from error
    else:
        raise AssertionError("no error was raised")


def check_boards(game: Game, rng: Rng) -> None:
    """The text of a start position is read back as the same position.

    What is no text of a board is a ValueError, and what is one although somebody has changed it is written as it was
    read.
    """
    states = game.init(4, rng)
    for row in range(len(states)):
        text = game.board_to_string(states[row])
        again = game.init(1, rng, board=text)
        assert equal(again, states[row : row + 1])
        assert game.board_to_string(again) == text
    unknown: list[object] = ["", "/", "no board", "....", text + "/x", 5, b"", [text], {}]
    for wrong in unknown:
        _refuses(partial(game.init, 1, rng, board=cast(str, wrong)), repr(wrong)[:60], "expected")
    letters = [*text, *"/. \n", *string.printable[:70], "\0", "é"]
    for _ in range(100):
        k = rng.integers(len(text) + 1)
        changed = text[:k] + str(rng.choice(letters)) + text[k + rng.integers(3) :]
        try:
            again = game.init(1, rng, board=changed)
        except ValueError:
            continue
        written = game.board_to_string(again)
        assert "".join(written.split()).lower() == "".join(changed.split()).lower()
        assert equal(game.init(1, rng, board=written), again)


def check_observations(game: Game, rng: Rng) -> None:
    """Shapes, types and bounds.

    All planes are 0 off the board; `out` is written as a new array would be; the mask of a view is that of the state
    for the mover, and empty for the others.
    """
    states = sample(game, rng)
    for player in range(game.num_players):
        views = game.view(states, player)
        observations = game.observe(views)
        assert observations.shape == (len(states), *game.observation_shape)
        assert observations.dtype == np.int8
        assert (observations >= 0).all()
        off_board = np.ones(game.board.shape, np.bool_)
        off_board[game.board.rows, game.board.cols] = False
        assert not observations[:, off_board].any()
        dirty = np.full_like(observations, 77)
        assert game.observe(views, out=dirty) is dirty
        assert (dirty == observations).all()
        masks = game.legal_action_mask(views)
        mine = states["to_move"] == player
        assert (masks[mine] == game.legal_action_mask(states)[mine]).all()
        assert not masks[~mine].any()
        observed, allowed = game.observe_with_mask(states, player)
        assert (observed == observations).all()
        assert (allowed == masks).all()
    dirty_masks = np.ones((len(states), game.num_actions), np.bool_)
    assert (game.legal_action_mask(states, out=dirty_masks) == game.legal_action_mask(states)).all()


def check_views(game: Game, rng: Rng) -> None:
    """A view belongs to its viewer; the state stays as it was; a determinized view shows its viewer the same again."""
    states = sample(game, rng)
    before = copy_states(states)
    for player in range(game.num_players):
        views = game.view(states, player)
        assert (views["viewer"] == player).all()
        assert equal(game.view(states, np.full(len(states), player)), views)
        buffer = game.init(len(states), rng)
        assert game.view(states, player, out=buffer) is buffer
        assert equal(buffer, views)
        worlds = game.determinize(views, rng)
        assert (worlds["viewer"] == NOBODY).all()
        assert equal(game.view(worlds, player), views)  # C15
        assert equal(game.determinize(worlds, rng), worlds), "a full state has nothing to fill in"
    assert equal(states, before)
    if not states["done"].all():
        _refuses(lambda: game.step(views, random_actions(game, states, rng)), "view")


def check_secrets(game: Game, rng: Rng) -> None:
    """Two states that a player cannot tell apart give them the same observation, mask and picture, byte for byte."""
    states = sample(game, rng)
    for player in range(game.num_players):
        twins = game.determinize(game.view(states, player), rng)
        mine, others = game.view(states, player), game.view(twins, player)
        assert game.observe(mine).tobytes() == game.observe(others).tobytes()
        assert game.legal_action_mask(mine).tobytes() == game.legal_action_mask(others).tobytes()
        for row in range(0, len(states), 3):
            assert game.scene(mine[row]) == game.scene(others[row])
            assert game.board_to_string(mine[row]) == game.board_to_string(others[row])


def check_symmetries(game: Game, rng: Rng) -> None:
    """Under each symmetry play goes on in the same way: masks, observations and returns, after every ply."""
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


def check_arguments(game: Game, rng: Rng) -> None:
    """Wrong arguments are clear errors."""
    states = game.init(2, rng)
    _refuses(lambda: game.init(-1, rng), "-1", "expected")
    _refuses(lambda: game.init(1, 7), "7", "expected")  # type: ignore[arg-type]  # that is the point
    _refuses(lambda: game.step(states, [0]), "(1,)", "expected")
    _refuses(lambda: game.step(states, [0.5, 0.5]), "float64", "expected")
    _refuses(lambda: game.step(states["ply"], [0, 0]), "int32", "expected")
    _refuses(lambda: game.view(states, game.num_players), str(game.num_players), "expected")
    _refuses(lambda: game.view(states, [-1, 0]), "-1", "expected")
    _refuses(lambda: game.view(states, [0.0, 1.0]), "0.0", "expected")
    _refuses(lambda: game.observe(states, out=np.zeros((2, 1), np.int8)), "(2, 1)", "expected")
    _refuses(lambda: game.view(states, 0, out=states[:1]), "(1,)", "expected")
    _refuses(lambda: game.playout(game.view(states, 0), rng), "determinize")
    _refuses(lambda: game.board_to_string(states), "(2,)", "expected")


CHECKS: tuple[Check, ...] = (
    check_facts,
    check_arguments,
    check_texts,
    check_boards,
    check_random_games,
    check_playout,
    check_setup,
    check_leaving,
    check_rows_are_independent,
    check_illegal_actions,
    check_observations,
    check_views,
    check_secrets,
    check_symmetries,
)
