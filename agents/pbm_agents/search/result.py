"""What a search has found out about one position."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pbm_envs import Game

from ..agent import Views

Ints: TypeAlias = NDArray[np.integer[Any]]
Floats: TypeAlias = NDArray[np.floating[Any]]

SHOWN = 8
"""Moves in the tables."""


def check_temperature(temperature: float) -> None:
    """ValueError unless it can be one."""
    if not 0 <= temperature < np.inf:
        raise ValueError(f"temperature is {temperature!r}: expected a finite number from 0 up")


@dataclass(frozen=True, eq=False)
class SearchResult:
    """The root of a search tree. `print` it, or let a notebook show it."""

    game: Game
    view: Views
    """(1,) the position that was searched, as it was given."""
    player: int
    """Who is to move."""
    visits: Ints
    """(A,) simulations that began with each action."""
    values: Floats
    """(A,) their mean return for `player`, or the outcome once that is proven; nan without a visit."""
    settled: NDArray[np.bool_]
    """(A,) the action's outcome is proven."""
    value: Floats
    """(P,) mean returns of all simulations, or the outcome once that is proven."""
    proven: bool
    """The outcome of the position is proven: `value` is what perfect play gives each player."""
    best: int
    """The action to play."""
    principal_variation: tuple[int, ...]
    """The most visited line of play, from `best` on."""
    simulations: int
    """How many this search has run, those of an earlier one whose tree it took over not counted."""
    seconds: float
    nodes: int

    def policy(self, temperature: float = 1.0) -> Floats:
        """(A,) probabilities in proportion to `visits ** (1 / temperature)`; at 0, all on `best`. An action that is
        proven to be worse than `best` has none; nor has any other beside a proven win.
        """
        check_temperature(temperature)
        if temperature == 0 or (self.settled[self.best] and self.values[self.best] == 1):
            return np.eye(len(self.visits))[self.best]
        chosen = (self.visits > 0) & ~(self.settled & (self.values < self.values[self.best]))
        weights = np.where(chosen, self.visits / self.visits[chosen].max(), 0)
        weights[chosen] **= 1 / temperature
        return weights / weights.sum()

    def sample(self, rng: np.random.Generator, temperature: float = 1.0) -> int:
        """An action drawn from `policy(temperature)`."""
        return int(rng.choice(len(self.visits), p=self.policy(temperature)))

    def _rows(self) -> list[tuple[str, ...]]:
        """Move, visits, share, value, proven: the best move, then the most visited."""
        order = sorted(np.flatnonzero(self.visits).tolist(), key=lambda a: (a != self.best, -self.visits[a]))
        total = self.visits.sum()
        return [
            (
                self.game.action_to_string(a),
                f"{self.visits[a]:,}",
                f"{self.visits[a] / total:.1%}",
                f"{self.values[a]:+.3f}",
                "proven" if self.settled[a] else "",
            )
            for a in order[:SHOWN]
        ]

    def _summary(self) -> str:
        value = ", ".join(f"player_{k} {v:+.3f}" for k, v in enumerate(self.value))
        return (
            f"{self.simulations:,} simulations in {self.seconds:.3f} s, {self.nodes:,} nodes; "
            f"player_{self.player} to move; value {'proven: ' * self.proven}{value}"
        )

    def _line(self) -> str:
        return " ".join(self.game.action_to_string(a) for a in self.principal_variation)

    def __str__(self) -> str:
        rows = [("move", "visits", "share", "value", ""), *self._rows()]
        widths = [max(len(row[k]) for row in rows) for k in range(5)]
        table = ["  ".join(f"{cell:>{w}}" for cell, w in zip(row, widths, strict=True)).rstrip() for row in rows]
        return "\n".join([self._summary(), f"expected: {self._line()}", "", *table])

    def _repr_svg_(self) -> str:
        """The position, and how often each move was visited."""
        return self.game.show(self.view, self.visits)._repr_svg_()

    def _repr_html_(self) -> str:
        cells = "".join(
            "<tr>" + "".join(f"<td style='text-align:right'>{escape(cell)}</td>" for cell in row) + "</tr>"
            for row in self._rows()
        )
        head = "".join(f"<th>{name}</th>" for name in ("move", "visits", "share", "value", ""))
        return (
            f"<div>{self._repr_svg_()}<p>{escape(self._summary())}<br>expected: <code>{escape(self._line())}</code></p>"
            f"<table><thead><tr>{head}</tr></thead><tbody>{cells}</tbody></table></div>"
        )
