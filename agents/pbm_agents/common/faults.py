"""Faults of the infrastructure, which are nobody's defeat."""

from __future__ import annotations


class InfrastructureError(RuntimeError):
    """What an agent needs does not work: a server, a network connection, a file, memory.

    An agent raises it when it cannot answer through no fault of its own. The arena then leaves the game unplayed, where
    any other error of an agent forfeits the game. `OSError` and `MemoryError` count as faults, too.
    """


class BudgetSpentError(InfrastructureError):
    """Agents have used as much as they may; the same command with a larger budget resumes."""
