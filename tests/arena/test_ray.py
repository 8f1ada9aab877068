"""Ray: agents, machines and the process that started the work may die, and the games are those of one process."""

import itertools
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from pbm_agents.arena import Run, SequentialTest, Tournament, play_sprt, play_tournament
from pbm_agents.arena.workers import _own_process, _play_on_ray
from pbm_agents.common import ray_pool
from pbm_agents.common.ray_pool import AHEAD, LEAST_AHEAD, RayPool

from pbm_envs import Chameleon
from tests.arena.test_tournament import games

ROOT = Path(__file__).parents[2]
GAME = Chameleon(size=3)
WICKED = "tests.faults.wicked"
DEADLY = Tournament((GAME,), ("random", "mcts:simulations=2", f"{WICKED}:Dies"), openings=1, batch=2, key="a test")
BLOCKS = Tournament((GAME,), ("random", "tests.arena.agents:Blocks"), openings=10, batch=4, key="a test")


class FakeRay:
    """As much of Ray as a pool uses: a task is done when it is waited for, the newest first."""

    exceptions = SimpleNamespace(
        RayTaskError=type("RayTaskError", (Exception,), {}),
        **dict.fromkeys(("WorkerCrashedError", "NodeDiedError", "OutOfMemoryError"), ZeroDivisionError),
    )

    def __init__(self, nodes=2):
        self.machines = [{"NodeID": k, "Alive": True, "Resources": {"CPU": 4}} for k in range(nodes)]
        self.machines += [{"NodeID": "dead", "Alive": False, "Resources": {}}]
        self.machines += [{"NodeID": "head", "Alive": True, "Resources": {}}]
        self.outstanding, self.most, self.puts, self.cancelled, self.pinned = {}, 0, [], [], []
        strategy = SimpleNamespace(NodeAffinitySchedulingStrategy=lambda node, soft: node)
        self.util = SimpleNamespace(scheduling_strategies=strategy)
        self.numbers = itertools.count()

    def is_initialized(self):
        return True

    def nodes(self):
        return self.machines

    def cluster_resources(self):
        return {"CPU": 8.0}

    def put(self, value):
        self.puts.append(value)
        return value

    def remote(self, **options):
        def bind(function):
            def submit(*arguments):
                number = next(self.numbers)
                self.outstanding[number] = (function, arguments)
                self.most = max(self.most, len(self.outstanding))
                return number

            def pin(scheduling_strategy):
                self.pinned.append(scheduling_strategy)
                return SimpleNamespace(remote=submit)

            return SimpleNamespace(remote=submit, options=pin)

        return bind

    def wait(self, pending, num_returns=1, timeout=None):
        return [pending[-1]], pending[:-1]

    def get(self, number):
        function, arguments = self.outstanding.pop(number)
        try:
            return function(*arguments)
        except Exception as cause:
            error = self.exceptions.RayTaskError()
            error.cause = cause
            raise error from None

    def cancel(self, number):
        self.cancelled.append(number)


@pytest.fixture
def fake(monkeypatch):
    fake = FakeRay()
    monkeypatch.setitem(sys.modules, "ray", fake)
    yield fake
    ray_pool._check_machine.cache_clear()


def test_few_tasks_are_submitted_at_a_time_and_what_is_common_once(fake):
    window, jobs = LEAST_AHEAD + AHEAD * 8, {k: -k for k in range(1000)}
    results = RayPool().run(abs, jobs)
    assert next(results) == (window - 1, window - 1)
    assert dict(results) == {k: k for k in jobs if k != window - 1}
    assert fake.most == window
    assert fake.puts == [(None, abs)]


def test_what_is_left_is_cancelled(fake):
    results = RayPool().run(abs, dict.fromkeys(range(1000), 1))
    next(results)
    results.close()
    assert len(fake.cancelled) == LEAST_AHEAD + AHEAD * 8 - 1
    with pytest.raises(TypeError, match="bad operand"):
        dict(RayPool().run(abs, {0: "a"}))


@pytest.mark.parametrize(
    ("there", "message"),
    [
        ({"pbm-envs": "0.1 (ab)", "file x.pt": "12"}, "file x.pt is missing: expected 12"),
        ({"pbm-envs": "0.1 (cd)"}, r"pbm-envs is 0.1 \(ab\): expected 0.1 \(cd\)"),
    ],
)
def test_machines_with_other_versions_or_files_are_refused_before_anything_is_played(fake, monkeypatch, there, message):
    """On each machine that does tasks, and in each process again."""
    answers = iter([there, {"pbm-envs": "0.1 (ab)"}, {"pbm-envs": "0.1 (ab)"}])
    monkeypatch.setattr(ray_pool, "programs", lambda *names: next(answers))
    pool = RayPool()
    with pytest.raises(ValueError, match=f"a machine of the Ray cluster, differs .*: {message}"):
        pool.check([GAME, GAME], ["random"])
    assert fake.pinned == [0, 1]
    with pytest.raises(ValueError, match=message):
        next(pool.run(abs, {0: 1}))


def test_results_that_come_in_another_order_decide_as_those_of_one_process(fake, tmp_path):
    test = SequentialTest(Chameleon(size=4), "mcts:simulations=40", "random", elo1=100, openings=40, key="a test")
    found = [play_sprt(test, tmp_path / name, run) for name, run in (("ray", Run(ray="auto")), ("alone", Run()))]
    _own_process().__exit__()
    assert found[0].counts == found[1].counts


def test_a_task_on_ray_outlives_its_agent():
    """The process of the task, here this one, has another one play: it forfeits the games like a worker."""
    alone = Tournament((GAME,), ("random", f"{WICKED}:Dies"), openings=1, key="a test")
    [batch] = alone.batches()
    try:
        records = _play_on_ray((batch, None))
    finally:
        _own_process().__exit__()
    assert [record.forfeits[0].reason.partition(",")[0] for record in records] == [
        "the process ended with exit code 9"
    ] * 2


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # Ray's own
@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_agents_that_end_their_process_forfeit_as_in_processes_of_this_machine(tmp_path, ray):
    records = play_tournament(DEADLY, tmp_path / "ray", Run(ray="auto"))
    assert [record.ending for record in records].count("forfeited") == 4
    assert len(records) == 6
    assert games(records) == games(play_tournament(DEADLY, tmp_path / "workers", Run(workers=2)))


def killed_and_resumed(cluster, mark, command, resume):
    """Kill the process of `command` while a task is blocked; return what `resume` does while its node is killed."""
    process = subprocess.Popen(command, cwd=ROOT, env=os.environ, stdout=subprocess.DEVNULL)
    try:
        wait_for(mark, process)
    finally:
        process.kill()
        process.wait()
    mark.unlink()

    def kill_node():
        raylet = wait_for(mark)
        [node] = [node for node in cluster.worker_nodes if raylet_of(node) == raylet]
        cluster.remove_node(node, allow_graceful=False)

    killer = threading.Thread(target=kill_node, daemon=True)
    killer.start()
    result = resume()
    killer.join()
    assert len(cluster.worker_nodes) == 1
    return result


def wait_for(mark, process=None):
    """Return the process id of the Ray node on which a task is blocked, once it is there."""
    while not mark.exists() or not mark.read_text().endswith("\n"):
        assert process is None or process.poll() is None, "it has ended"
        time.sleep(0.1)
    return int(mark.read_text())


def raylet_of(node):
    return node.all_processes["raylet"][0].process.pid


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # Ray's own
@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_the_process_that_started_a_tournament_is_killed_then_a_node(tmp_path, cluster):
    """The same command resumes, and the games are those of one process that nobody kills."""
    command = [sys.executable, "-m", "pbm_agents.cli", "tournament", str(tmp_path / "ray"), "-g", "chameleon:size=3"]
    command += ["-a", "random", "-a", BLOCKS.agents[1], "--openings", "10", "--batch", "4", "--key", "a test"]
    command += ["--ray", cluster.address]
    records = killed_and_resumed(
        cluster, tmp_path / "mark", command, lambda: play_tournament(BLOCKS, tmp_path / "ray", Run(ray=cluster.address))
    )
    assert games(records) == games(play_tournament(BLOCKS, tmp_path / "alone"))
