"""Faults of the infrastructure, which do not count as losses, and budgets for what agents use."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class InfrastructureError(RuntimeError):
    """A failure of something that an agent needs: a server, a network connection, a file, memory.

    An agent raises it when it cannot answer through no fault of its own. The arena then leaves the game unplayed,
    whereas any other error of an agent forfeits the game. `OSError` and `MemoryError` count as faults, too.
    """


class BudgetSpentError(InfrastructureError):
    """The agents' budget is used up; the same command with a larger budget resumes."""


class Budget(NamedTuple):
    """Limits on the resources that agents report (`GameRecord.usage`)."""

    requests: int | None = None
    cost: float | None = None
    """Cost in the currency of the agents' prices."""

    def check(self, used: Mapping[str, float], advice: str) -> None:
        """Raise BudgetSpentError with this advice if the resources used so far reach a limit."""
        limits = {name: limit for name, limit in self._asdict().items() if limit is not None}
        if any(used.get(name, 0) >= limit for name, limit in limits.items()):
            spent = ", ".join(f"{name} {used.get(name, 0):g} of {limit:g}" for name, limit in limits.items())
            raise BudgetSpentError(f"the budget is used up ({spent}), and games are unplayed: {advice}")


UNLIMITED = Budget()
