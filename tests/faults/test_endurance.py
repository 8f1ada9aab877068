"""Long runs on a small scale, and that their checks notice what is wrong."""

import numpy as np
import pytest

from pbm_envs import make_game, registered_games
from pbm_envs.testing import random_actions
from tests.faults.endurance import STATM, memory, random_plies
from tests.faults.invariants import check_ply, ply_of

SMALLEST = [(name, kind.configurations[0]) for name, kind in registered_games().items()]
ALL = [(name, options) for name, kind in registered_games().items() for options in kind.configurations]
DECISIVE = dict(SMALLEST) | {"trinim": {"size": 5}, "curio": {"base": 2, "rows": 4, "cols": 3}}
pytestmark = pytest.mark.filterwarnings("ignore:every two-player game of Trinim")  # T7


@pytest.mark.parametrize(("name", "options"), SMALLEST, ids=list(registered_games()))
def test_random_plies(name, options):
    endured = random_plies(make_game(name, **options), 1000, np.random.default_rng(1), batch=32)
    assert endured.games > 10
    assert endured.replayed > 0


@pytest.mark.slow
@pytest.mark.parametrize(("name", "options"), ALL, ids=[f"{name} {options}" for name, options in ALL])
def test_many_random_plies(name, options):
    endured = random_plies(make_game(name, **options), 30_000, np.random.default_rng(2), batch=256)
    assert endured.games > 10


@pytest.mark.slow
@pytest.mark.skipif(not STATM.exists(), reason="memory is read as Linux tells it")
@pytest.mark.parametrize("kind", ["rules", "aec", "vector", "single"])
def test_resets_leave_nothing_behind(kind):
    """Less than a tenth of a byte a reset would be seen here, if it were kept."""
    first, *_, last = memory(kind, make_game("curio"), 20_480)
    assert last - first < 0.5


def ply(game):
    """A ply in which some games are won and others go on."""
    rng = np.random.default_rng(3)
    states = game.init(64, rng)
    for _ in range(game.max_plies):
        masks, before = game.legal_action_mask(states), states.copy()
        actions = random_actions(game, states, rng)
        game.step(states, actions)
        won = (states["returns"].max(axis=1) == 1) & ~before["done"]
        if won.any() and not states["done"].all():
            return ply_of(game, before, masks, actions, states)
    raise AssertionError(f"no such ply in {game!r}")


def other_action(ply):
    legal = ply.masks.copy()
    legal[ply.rows, ply.actions] = False
    return ply._replace(actions=np.where(legal.any(axis=1), legal.argmax(axis=1), ply.actions))


def flipped_mask(ply):
    masks = ply.masks.copy()
    masks[0, 0] ^= True
    return ply._replace(masks=masks)


def changed(ply, name, change):
    after = ply.after.copy()
    after[name] = change(after[name])
    return ply._replace(after=after)


@pytest.mark.parametrize(
    "tamper",
    [
        other_action,
        flipped_mask,
        lambda ply: changed(ply, "returns", lambda returns: returns[:, ::-1]),
        lambda ply: changed(ply, "returns", lambda returns: returns * 0),
        lambda ply: changed(ply, "done", np.logical_not),
        lambda ply: changed(ply, "truncated", np.logical_not),
        lambda ply: changed(ply, "ply", lambda count: count + 1),
        lambda ply: changed(ply, "to_move", lambda player: 1 - player),
        lambda ply: ply._replace(sees=ply.seen),
        lambda ply: ply._replace(seen=ply.sees),
    ],
    ids=["action", "mask", "winner", "draw", "done", "truncated", "ply", "turn", "nothing moved", "moved before"],
)
@pytest.mark.parametrize("name", registered_games())
def test_what_is_wrong_is_noticed(name, tamper):
    good = ply(make_game(name, **DECISIVE[name]))
    check_ply(good, thorough=True)
    with pytest.raises(AssertionError, match="ply"):
        check_ply(tamper(good), thorough=True)
