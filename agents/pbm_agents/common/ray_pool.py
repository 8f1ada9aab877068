"""A pool on a Ray cluster (extra `ray`), whose processes and machines may die."""

from __future__ import annotations

import platform
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from functools import cache, partial
from itertools import islice
from typing import Any, TypeVar, final

from pbm_envs import Game
from pbm_envs.toolbox import import_extra

from .folders import programs

Key = TypeVar("Key")
RETRIES = 3
"""Number of retries of a task whose process or machine died."""
LEAST_AHEAD, AHEAD = 16, 2
"""Tasks submitted at a time: LEAST_AHEAD plus AHEAD per processor. Ray's cost per task grows with them."""


@final
class RayPool:
    """The processes of a Ray cluster; the `with` block connects to it unless it is already connected."""

    def __init__(self, address: str | None = None) -> None:
        """Take an address for `ray.init`: a cluster's; "local" starts one here; None uses a running one or starts one.

        Raises:
            ImportError: Ray is not installed.
        """
        self._ray = import_extra("ray", "Ray is not installed", "ray")
        self._address, self._started = address, False
        self._check: Callable[[], None] | None = None

    def check(self, games: Iterable[Game], agents: Iterable[str], libraries: Iterable[str] = ()) -> None:
        """Check as `Pool.check` does. Each process checks again before its first job, as machines may join later."""
        ray = self._ray
        names = tuple(dict.fromkeys(games)), tuple(dict.fromkeys(agents)), tuple(dict.fromkeys(libraries))
        self._check = partial(_check_machine, *names, tuple(programs(*names).items()))
        task = ray.remote(num_cpus=0, max_retries=RETRIES)(_do)
        pinned = ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy
        machines = [node["NodeID"] for node in ray.nodes() if node["Alive"] and node["Resources"].get("CPU")]
        checks = [
            task.options(scheduling_strategy=pinned(machine, soft=False)).remote((self._check, bool), None)
            for machine in machines
        ]
        for one in checks:
            self._get(one)

    def run(self, function: Callable[[Any], Any], jobs: Mapping[Key, Any]) -> Generator[tuple[Key, Any], None, None]:
        """Run as `Pool.run`, one processor per job. The machines need this package and your games' and agents'."""
        ray = self._ray
        task = ray.remote(num_cpus=1, max_retries=RETRIES)(_do)
        common = ray.put((self._check, function))  # sent to each machine once
        waiting = iter(jobs.items())
        pending: dict[Any, Key] = {}
        try:
            while True:
                most = LEAST_AHEAD + AHEAD * int(ray.cluster_resources().get("CPU", 0))
                for key, job in islice(waiting, max(0, most - len(pending))):
                    pending[task.remote(common, job)] = key
                if not pending:
                    return
                ray.wait(list(pending))
                ready, _ = ray.wait(list(pending), num_returns=len(pending), timeout=0)  # a wait costs time per task
                for done in ready:
                    yield pending.pop(done), self._get(done)
        finally:
            for left in pending:
                ray.cancel(left)

    def _get(self, done: Any) -> Any:
        """Return the result of a task, or raise its exception."""
        errors = self._ray.exceptions
        try:
            return self._ray.get(done)
        except errors.RayTaskError as error:
            raise error.cause from error
        except (errors.WorkerCrashedError, errors.NodeDiedError, errors.OutOfMemoryError) as error:
            raise ChildProcessError(
                f"processes of the Ray cluster die ({type(error).__name__}): too little memory, or machines that leave "
                "it"
            ) from error

    def __enter__(self) -> RayPool:
        self._started = not self._ray.is_initialized()
        if self._started:
            self._ray.init(self._address)
        return self

    def __exit__(self, *error: object) -> None:
        if self._started:
            self._ray.shutdown()


def _do(common: tuple[Callable[[], None] | None, Callable[[Any], Any]], job: Any) -> Any:
    check, function = common
    if check is not None:
        check()
    return function(job)


@cache
def _check_machine(
    games: Sequence[Game], agents: Sequence[str], libraries: Sequence[str], expected: Sequence[tuple[str, str]]
) -> None:
    """Raise ValueError unless this machine has the expected `programs`. Each process checks once."""
    there, here = dict(expected), programs(games, agents, libraries)
    wrong = [
        f"{name} is {here.get(name, 'missing')}: expected {there.get(name, 'none')}"
        for name in {**there, **here}
        if here.get(name) != there.get(name)
    ]
    if wrong:
        raise ValueError(
            f"{platform.node()}, a machine of the Ray cluster, differs from the one that started the work: "
            f"{'; '.join(wrong)}. Every machine needs the same versions, and files under the same paths"
        )
