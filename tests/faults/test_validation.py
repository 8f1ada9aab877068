"""Records from outside: `Game.validate` names what is wrong, and accepts whatever the rules have made."""

import pickle
import subprocess
import sys

import numpy as np
import pytest

from pbm_envs import Chameleon, Curio, Trinim, Unlur, chameleon_v0
from pbm_envs.core.hooks import GameHooks
from pbm_envs.core.validation import InvalidStateError
from pbm_envs.testing import positions, sample
from tests.faults import fuzz_states
from tests.play import play
from tests.test_conformance import configurations

pytestmark = pytest.mark.filterwarnings("ignore:every two-player game of Trinim")  # T7


def played(game, plies=4):
    return positions(game, np.random.default_rng(7), plies, batch=8)


@pytest.mark.parametrize("game", list(configurations()))
def test_everything_that_the_rules_make_is_valid(game):
    states = sample(game, np.random.default_rng(7))
    before = states.tobytes()
    game.validate(states)
    assert states.tobytes() == before
    for player in range(game.num_players):
        game.validate(game.view(states, player))
    for symmetry in game.symmetries:
        game.validate(game.transform(states, symmetry))
    early = played(game)
    game.validate(game.determinize(game.view(early, 0), np.random.default_rng(7)))
    live = early[~early["done"]][:1].copy()
    game.remove_player(live)
    game.validate(live)


@pytest.mark.parametrize("flag", [True, np.True_], ids=repr)
def test_a_flag_is_neither_a_player_nor_an_action(flag):
    game = Trinim(size=3)
    with pytest.raises(ValueError, match="expected integers in"):
        game.view(game.init(1, np.random.default_rng(7)), flag)
    with pytest.raises(ValueError, match="is not an action of Trinim"):
        game.action_to_string(flag)


def test_who_leaves_a_game_of_three_pays_the_others_alike():
    """What a game has that says nothing else: Trinim, which does, lets the others play on."""
    game = Trinim(size=3, num_players=3)
    state = game.init(1, np.random.default_rng(7))
    GameHooks._remove_player(game, state)
    assert state["returns"].tolist() == [[-0.5, 0.25, 0.25]]
    assert (state["done"][0], state["ply"][0], state["to_move"][0], state["last_action"][0]) == (True, 1, 1, -1)


@pytest.mark.parametrize("game", [case for case in configurations() if case.values[0].resign_action < 0])
def test_who_leaves_a_game_without_resigning_leaves_it_as_by_resigning(game):
    """But the last action stays, since there is no action `resign`."""
    resigning = game.with_options(allow_resign=True)
    states = positions(game, np.random.default_rng(7), 3, batch=4)
    for row in range(len(states)):
        left, resigned = states[row : row + 1].copy(), states[row : row + 1].copy()
        game.remove_player(left)
        resigning.remove_player(resigned)
        if not states["done"][row]:
            assert resigned["last_action"] == resigning.resign_action
        assert left["last_action"] == states["last_action"][row]
        for field in set(game.dtype.names) - {"last_action"}:
            assert (left[field] == resigned[field]).all(), field
    with pytest.raises(ValueError, match="nobody can leave a view"):
        game.remove_player(game.view(states[:1], 0))


@pytest.mark.parametrize("game", [Curio(base=2, rows=4, cols=3), Chameleon(size=3)], ids=str)
def test_results_are_not_written_over_what_they_are_computed_from(game):
    """Each `out` that shares memory with the batch, wherever it begins, is refused, and nothing is changed."""
    states = played(game)
    count, size = len(states), game.dtype.itemsize
    mask_bytes, plane_bytes = count * game.num_actions, count * int(np.prod(game.observation_shape))
    memory = np.zeros((count + 2) * size + mask_bytes + plane_bytes, np.int8)
    batch = memory[: count * size].view(game.dtype)
    batch[:] = states
    calls = [(game.view, (batch, 0), "out", batch), (game.observe_with_mask, (batch, 0), "views", batch)]
    shifted = memory[size : (count + 1) * size].view(game.dtype)
    calls += [(game.view, (batch, 0), "out", shifted), (game.observe_with_mask, (batch, 0), "views", shifted)]
    for start in (0, 1, size, count * size - 1):
        marks = memory[start : start + mask_bytes].reshape(count, -1)
        planes = memory[start : start + plane_bytes].reshape(count, *game.observation_shape)
        calls.append((game.legal_action_mask, (batch,), "out", marks.view(bool)))
        calls.append((game.observe, (batch,), "out", planes))
        calls.append((game.playout, (batch, np.random.default_rng(1)), "last_player_by_action", marks))
    for method, arguments, name, out in calls:
        with pytest.raises(ValueError, match="shares memory with the states: expected an array of its own"):
            method(*arguments, **{name: out})
    assert batch.tobytes() == states.tobytes()
    beside = memory[count * size :][:mask_bytes].view(bool).reshape(count, -1)
    assert (game.legal_action_mask(batch, out=beside) == game.legal_action_mask(states)).all()


CURIO = {"base": 2, "rows": 4, "cols": 3, "turn": False, "reveal_captured": False}
WRONG = [
    (Chameleon(size=3), "to_move", 2),
    (Chameleon(size=3), "viewer", 2),
    (Chameleon(size=3), "ply", -1),
    (Chameleon(size=3), "last_action", 10_000),
    (Chameleon(size=3), "returns", np.nan),
    (Chameleon(size=3), "returns", 1),
    (Chameleon(size=3), "truncated", True),
    (Chameleon(size=3), "stones", 3),
    (Chameleon(size=3), "chain", 9),
    (Chameleon(size=3), "touches", 255),
    (Chameleon(size=3), "vert", -1),
    (Unlur(radius=3), "chain", 65_535),
    (Unlur(radius=3), "black", 2),
    (Trinim(size=3, num_players=3), "pieces", 4),
    (Trinim(size=3, num_players=3), "left", 0),
    (Trinim(size=3, num_players=3), "held", -1),
    (Trinim(size=3, num_players=3), "out", 2),
    (Curio(**CURIO), "owner", 2),
    (Curio(**CURIO), "board", 12),
    (Curio(**CURIO), "board", 0),
    (Curio(**CURIO), "cell", -2),
    (Curio(**CURIO), "taker", 3),
    (Curio(**CURIO), "last_captured", 100),
    (Curio(**CURIO), "known", 2),
    (Curio(**CURIO), "faces", 0),
    (Curio(**CURIO), "faces", 3),
    (Curio(**CURIO), "bounds", 0),
    (Curio(**CURIO), "unseen", 9),
    (Curio(**CURIO), "quiet", 100),
    (Curio(**CURIO, capture="le_total"), "legal", 2),
]


@pytest.mark.parametrize(("game", "field", "value"), WRONG, ids=[f"{g.name} {f} {v}" for g, f, v in WRONG])
def test_the_row_and_the_field_are_named(game, field, value):
    states = played(game, 1)
    states[field][3] = value
    with pytest.raises(InvalidStateError, match=f"row 3, field '{field}'.*: expected ") as caught:
        game.validate(states)
    assert (caught.value.row, caught.value.field) == (3, field)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


CHAINS = {
    "two stones, each of which leads to the other": ("a1x swap a2x", lambda one, other, root: {one: other, other: one}),
    "over an empty cell, which a playout would follow forever": (
        "a1x swap a2x", lambda one, other, root: {one: root, other: 8, 8: root}
    ),
    "one root for two groups": ("b2x swap a1x c3x", lambda one, other, root: {one: one, other: one}),
    "two roots in one group": ("b2x swap c3o c2x", lambda one, other, root: {one: one, other: other}),
}  # fmt: skip


@pytest.mark.parametrize("wrong", CHAINS)
def test_chains_that_no_stones_make_are_refused(wrong):
    moves, change = CHAINS[wrong]
    game = Chameleon(size=3)
    states = play(game, moves)
    game.validate(states)
    one, other, *_ = np.flatnonzero(states["stones"][0] == 1).tolist()
    for cell, label in change(one, other, states["chain"][0, one]).items():
        states["chain"][0, cell] = label
    with pytest.raises(InvalidStateError, match="'chain'"):
        game.validate(states)


def test_bytes_that_are_no_bool():
    game = Chameleon(size=3)
    states = game.init(2, np.random.default_rng(0))
    states.view(np.uint8).reshape(2, -1)[1, game.dtype.fields["done"][1]] = 7
    with pytest.raises(InvalidStateError, match="row 1, field 'done'"):
        game.validate(states)


def test_set_state_refuses_and_changes_nothing():
    env = chameleon_v0.raw_env(size=3)
    env.reset(seed=1)
    env.step(0)
    snapshot = pickle.loads(pickle.dumps(env.get_state()))
    snapshot.states["chain"] = 60_000
    before = env.states.tobytes()
    with pytest.raises(InvalidStateError, match="'chain'"):
        env.set_state(snapshot)
    assert env.states.tobytes() == before


@pytest.mark.parametrize("name", fuzz_states.GAMES)
def test_random_bytes_are_refused_or_harmless(name):
    """The next one checks indices too."""
    counts = fuzz_states.fuzz(fuzz_states.GAMES[name], 120, np.random.default_rng(7))
    assert counts["refused"] > 60
    assert counts["accepted"] > 2


@pytest.mark.slow
@pytest.mark.parametrize("name", fuzz_states.GAMES)
def test_random_bytes_with_checks_of_indices(name, tmp_path):
    """In a process of its own, with Numba's checks of indices."""
    run = subprocess.run(
        [sys.executable, "-m", "tests.faults.fuzz_states", name, "--seconds", "5"],
        env=fuzz_states.environment(tmp_path), capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr[-2000:]
    assert "accepted" in run.stdout
