"""Arrays that may not be written to are refused before anything is written; threads and forks."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from pbm_envs import Chameleon, Curio, Game, Unlur
from pbm_envs.core import game as core_game
from pbm_envs.core.state import States

GAME = Chameleon(size=3)


@pytest.fixture(params=["flag", "memory map"])
def frozen(request: pytest.FixtureRequest, tmp_path: Path) -> States:
    """Three games in memory that may only be read."""
    states = GAME.init(3, np.random.default_rng(1))
    if request.param == "flag":
        states.flags.writeable = False
        return states
    path = tmp_path / "states"
    states.tofile(path)
    return np.memmap(path, GAME.dtype, "r").view(np.ndarray)


def test_nothing_is_written_into_read_only_states(frozen: States) -> None:
    """A kernel that wrote into the memory map would end the process."""
    for call in (
        lambda: GAME.step(frozen, [0, 1, 2]),
        lambda: GAME.playout(frozen, np.random.default_rng(1)),
        lambda: GAME.view(GAME.init(3, np.random.default_rng(1)), 0, out=frozen),
    ):
        with pytest.raises(ValueError, match=r"(states|out) is a read-only array: expected one that can be changed"):
            call()
    assert not frozen["ply"].any()
    assert GAME.legal_action_mask(frozen).any(), "reading is allowed"
    assert GAME.observe(GAME.view(frozen, 0)).shape == (3, *GAME.observation_shape)


def test_nothing_is_written_into_other_read_only_arrays() -> None:
    game: Game = Unlur(radius=3)
    states = game.init(2, np.random.default_rng(1))
    mask, seeds = np.zeros((2, game.num_actions), np.bool_), np.zeros(2, np.uint64)
    planes, players = np.zeros((2, *game.observation_shape), np.int8), np.zeros((2, game.num_actions), np.int8)
    for array in (mask, seeds, planes, players):
        array.flags.writeable = False
    for call in (
        lambda: game.legal_action_mask(states, out=mask),
        lambda: game.observe(states, out=planes),
        lambda: game.playout(states, seeds),
        lambda: game.init(2, seeds),
        lambda: game.playout(states, np.random.default_rng(1), last_player_by_action=players),
    ):
        with pytest.raises(ValueError, match="is a read-only array"):
            call()
    assert not states["ply"].any()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_vector_environment_with_threads_can_be_forked() -> None:
    from pbm_envs.envs.factories import make_vector_env

    envs = make_vector_env("chameleon", 64, threads=4, size=3)
    _, info = envs.reset(seed=1)
    envs.step(info["action_mask"].argmax(axis=1))
    child = os.fork()
    if child == 0:
        envs.step(np.zeros(64, np.int64) + GAME.num_actions - 2)
        os._exit(7)
    import signal
    import threading

    watch = threading.Timer(30, os.kill, (child, signal.SIGKILL))
    watch.start()
    _, status = os.waitpid(child, 0)
    watch.cancel()
    envs.close()
    assert os.WIFEXITED(status), "the child waited for threads that it does not have"
    assert os.WEXITSTATUS(status) == 7
    assert sys.platform != "win32"


def test_long_batches_are_split_and_nothing_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Between the parts Python looks whether somebody has pressed Ctrl-C."""
    game: Game = Unlur(radius=3)
    rng = np.random.default_rng(3)

    def everything() -> list[bytes]:
        states = game.init(7, np.arange(7, dtype=np.uint64))
        views = game.view(states, 0)
        found = [game.legal_action_mask(states), game.observe(views), *game.observe_with_mask(states, 0)]
        last = np.zeros((7, game.num_actions), np.int8)
        game.playout(states, np.arange(7, dtype=np.uint64), last_player_by_action=last)
        return [array.tobytes() for array in (*found, states, last)]

    def worlds() -> bytes:
        hidden: Game = Curio()
        views = hidden.view(hidden.init(7, np.arange(7, dtype=np.uint64)), 0)
        return hidden.determinize(views, np.arange(7, dtype=np.uint64)).tobytes()

    whole, drawn = everything(), worlds()
    assert (core_game.MOST_ROWS, core_game.MOST_WORLDS, core_game.MOST_PLAYOUTS) == (50_000, 5000, 1000)
    monkeypatch.setattr(core_game, "MOST_ROWS", 3)
    monkeypatch.setattr(core_game, "MOST_PLAYOUTS", 2)
    monkeypatch.setattr(core_game, "MOST_WORLDS", 2)
    assert everything() == whole
    assert worlds() == drawn
    assert len(game.init(0, rng)) == 0


PLAYOUTS = """
import numpy as np
from pbm_envs import Chameleon
game, rng = Chameleon(size=13), np.random.default_rng(0)
game.playout(game.init(1, rng), rng)
states = game.init(3_000_000, rng)
print("ready", flush=True)
while True:
    game.playout(states.copy(), rng)
"""


SEARCH = """
import sys
import numpy as np
from pbm_agents import Search
from pbm_envs import Chameleon
game, rng = Chameleon(size=5), np.random.default_rng(0)
Search(simulations=5, solver=False).run(game, game.init(4, rng), rng)
print("ready", flush=True)
Search(seconds=600, memory=64, threads={threads}, solver=False).run(game, game.init(4, rng), rng)
"""


@pytest.mark.parametrize("program", [pytest.param(PLAYOUTS, marks=pytest.mark.slow), SEARCH.format(threads=1),
                         SEARCH.format(threads=2)], ids=["playouts", "search", "search in threads"])  # fmt: skip
def test_ctrl_c_ends_what_takes_long(program: str) -> None:
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == b"ready\n"
            time.sleep(1)
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=300)  # half a second on an idle machine, or else forever
        finally:
            process.kill()
    assert process.returncode != 0
