"""Work for several processes, some of which die."""

import os

import pytest
from pbm_agents.learning.work import Crew


def dies_once(job):
    """The first time, its process ends."""
    path, number = job
    if not path.exists():
        path.touch()
        os._exit(1)
    return number


def dies(job):
    os._exit(1)


@pytest.mark.slow
def test_a_process_that_dies(tmp_path):
    """Its work is done anew, by another; if all of them die, that is said."""
    with Crew(2) as crew:
        jobs = {k: (tmp_path / "died", k) for k in range(5)}
        assert dict(crew.run(dies_once, jobs)) == {k: k for k in range(5)}
        with pytest.raises(ChildProcessError, match="worker processes die"):
            dict(crew.run(dies, {0: 0}))
