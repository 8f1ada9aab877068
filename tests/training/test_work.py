"""Work for several processes, some of which die."""

import os
import signal
import sys
from dataclasses import replace

import numpy as np
import pytest
from pbm_agents.common.workers import ProcessPool, make_pool
from pbm_agents.learning import round_games
from pbm_agents.learning.round_games import (
    BATCH_OF_GAMES,
    SELF_PLAY,
    joined_jobs,
    run_jobs,
    self_play_function,
    self_play_jobs,
)
from pbm_agents.learning.settings import Training

from pbm_envs import Chameleon


def dies_once(job):
    """The first time, its process ends."""
    path, number = job
    if not path.exists():
        path.touch()
        os._exit(1)
    return number


def dies(job):
    os._exit(1)


def place(name):
    """The working folder, and a variable of the environment."""
    return os.getcwd(), os.environ.get(name)


def test_a_process_has_the_folder_and_the_environment_of_the_time_at_which_it_starts(tmp_path, monkeypatch):
    for value in ("first", "second"):
        folder = tmp_path / value
        folder.mkdir()
        monkeypatch.chdir(folder)
        monkeypatch.setenv("PBM_TESTS_PLACE", value)
        with ProcessPool(2) as pool:
            found = dict(pool.run(place, {name: name for name in ("PBM_TESTS_PLACE", "OMP_NUM_THREADS")}))
        threads = os.environ.get("OMP_NUM_THREADS", "1")
        assert found == {"PBM_TESTS_PLACE": (str(folder), value), "OMP_NUM_THREADS": (str(folder), threads)}


@pytest.mark.slow
def test_a_process_that_dies(tmp_path):
    """Its work is done anew, by another; if all of them die, that is said."""
    with ProcessPool(2) as pool:
        jobs = {k: (tmp_path / "died", k) for k in range(5)}
        assert dict(pool.run(dies_once, jobs)) == {k: k for k in range(5)}
        with pytest.raises(ChildProcessError, match="worker processes die"):
            dict(pool.run(dies, {0: 0}))


class Deadly:
    """An evaluator that kills its process (SIGKILL) in the midst of the games of the second batch, the first time; and
    writes down which batches begin.
    """

    def __init__(self, folder, batch):
        self.folder, self.batch, self.calls = folder, batch, 0

    def __call__(self, observations, masks):
        if self.calls == 0:
            with open(self.folder / "begun", "a") as file:
                file.write(f"{self.batch}\n")
        self.calls += 1
        if self.batch == 1 and self.calls == 20 and not (self.folder / "killed").exists():
            (self.folder / "killed").touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return masks / masks.sum(axis=1, keepdims=True), np.zeros((len(masks), 2))


play_batch = round_games.play_batch


def play_deadly_batch(game, search, how, job):
    deadly = replace(search, evaluator=Deadly(search.evaluator.folder, job[1][-1]))
    return play_batch(game, deadly, how, job)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL")
@pytest.mark.filterwarnings("ignore")  # Ray's own
def test_an_actor_on_ray_that_is_killed_in_the_midst_of_a_game(tmp_path, monkeypatch, ray):
    """Its batch is played anew, no other; the examples are those of one process that nobody kills."""
    game, told = Chameleon(size=3), []
    settings = Training(games=3 * BATCH_OF_GAMES + 2, simulations=4, gumbel=4)

    def play(name, pool):
        folder, jobs = tmp_path / name, self_play_jobs(settings, 0)
        (folder / "games").mkdir(parents=True, exist_ok=True)
        with pool:
            functions = {SELF_PLAY: self_play_function(game, settings, Deadly(folder, 0))}
            done = list(run_jobs(pool, functions, jobs, folder / "games"))
        told.extend(done)
        return joined_jobs(jobs, {name: result for name, result, _ in done})

    monkeypatch.setattr(round_games, "play_batch", play_deadly_batch)
    found = play("ray", make_pool(ray=True))
    assert (tmp_path / "ray" / "killed").exists()
    assert sorted((tmp_path / "ray" / "begun").read_text().split()) == ["0", "1", "1", "2", "3"]
    assert sorted(name for name, _, _ in told) == [f"games-0-{k}" for k in range(4)]
    (tmp_path / "alone").mkdir()
    (tmp_path / "alone" / "killed").touch()
    expected = play("alone", make_pool())
    for name, part in found._asdict().items():
        assert np.array_equal(part, getattr(expected, name)), name
    with pytest.raises(ChildProcessError, match="processes of the Ray cluster die"), make_pool(ray=True) as pool:
        dict(pool.run(dies, {0: 0}))
