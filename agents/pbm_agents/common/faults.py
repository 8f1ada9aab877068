"""Faults of the infrastructure, which do not count as losses."""

from __future__ import annotations


class InfrastructureError(RuntimeError):
    """A failure of something that an agent needs: a server, a network connection, a file, memory.

    An agent raises it when it cannot answer through no fault of its own. The arena then leaves the game unplayed,
    whereas any other error of an agent forfeits the game. `OSError` and `MemoryError` count as faults, too.
    """


class BudgetSpentError(InfrastructureError):
    """The agents' budget is used up; the same command with a larger budget resumes."""
