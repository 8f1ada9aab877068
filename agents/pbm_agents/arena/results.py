"""Results of games, counted one record at a time, so that the games need not fit into memory."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from pbm_envs.records import UNFINISHED, GameRecord
from pbm_envs.registry import make_registered_game
from pbm_envs.toolbox import quoted

Array = NDArray[np.float64]


def shares(record: GameRecord) -> tuple[float, ...]:
    """Return each seat's share of the win: 1 and 0, or equal parts in a draw."""
    players = len(record.returns)
    return tuple((1 + (players - 1) * value) / players for value in record.returns)  # A1, A2


COLUMNS = ("opening", "met", "agent", "seat", "share", "plies", "turns", "seconds", "forfeits")
"""Data kept for each seat of each game; the first three are numbered in order of first use."""


@final
class Results:
    """The results of games. Unfinished games do not count."""

    def __init__(self, records: Iterable[GameRecord] = ()) -> None:
        self.games = 0
        self.pairs: dict[tuple[str, str], list[float]] = defaultdict(lambda: [0.0, 0])
        """The first agent's wins against the second, and the number of their games."""
        self.reasons: dict[str, str] = {}
        """The reason for each agent's first forfeit."""
        self._agents: dict[str, int] = {}
        self._met: dict[tuple[str, ...], int] = {}
        self._openings: dict[tuple[Any, ...], int] = {}
        self._rows = array("d")
        if not isinstance(records, Iterable) or isinstance(records, np.ndarray):
            raise ValueError(f"records are {quoted(records)}: expected GameRecords")
        for record in records:
            self.add(record)

    def add(self, record: GameRecord) -> None:
        """Count a game."""
        if not isinstance(record, GameRecord):
            raise ValueError(f"a record is {quoted(record)}: expected a GameRecord")
        if record.ending == UNFINISHED:
            return
        self.games += 1
        opening = self._openings.setdefault(_opening_key(record), len(self._openings))
        met = self._met.setdefault(tuple(sorted(record.agents)), len(self._met))
        won = shares(record)
        for seat, (agent, share) in enumerate(zip(record.agents, won, strict=True)):
            number = self._agents.setdefault(agent, len(self._agents))
            times = (record.turns[seat], record.seconds[seat]) if record.seconds and record.turns else (0, 0.0)
            reasons = [forfeit.reason for forfeit in record.forfeits if forfeit.player == seat]
            if reasons:
                self.reasons.setdefault(agent, reasons[0])
            self._rows.extend((opening, met, number, seat, share, record.plies, *times, len(reasons)))
            for other, theirs in zip(record.agents, won, strict=True):
                if agent != other:
                    pair = self.pairs[agent, other]
                    pair[0] += (share > theirs) + (share == theirs) / 2
                    pair[1] += 1

    @property
    def agents(self) -> list[str]:
        """The agents, sorted."""
        return sorted(self._agents)

    @property
    def sets(self) -> list[tuple[str, ...]]:
        """The sets of agents that have played each other, sorted."""
        return sorted(self._met)

    def rows(self, agent: str | None = None) -> NDArray[np.void]:
        """Return a record with the COLUMNS for each seat of each game, or only for the seats of one agent."""
        rows = np.array(self._rows).view([(name, np.float64) for name in COLUMNS])
        return rows if agent is None else rows[rows["agent"] == self._agents[agent]]

    def cells(self) -> tuple[NDArray[np.int64], NDArray[np.int64], Array]:
        """Return for each seat of each game its opening, its cell k * n + i (agent i, k-th set), and its share.

        Openings, sets and the n agents are numbered in sorted order, so that the order of the games has no effect.
        """
        rows = self.rows()
        numbers: tuple[Mapping[Any, int], ...] = (self._openings, self._met, self._agents)
        opening, met, agent = (
            _ranks(known)[rows[name].astype(np.int64)] for name, known in zip(COLUMNS[:3], numbers, strict=True)
        )
        cell, share = met * len(self._agents) + agent, rows["share"]
        order = np.lexsort((share, cell, opening))
        return opening[order], cell[order], share[order]


def results_of(records: Iterable[GameRecord] | Results) -> Results:
    """Return the results of records; results are returned unchanged."""
    return records if isinstance(records, Results) else Results(records)


def by_game(records: Iterable[GameRecord]) -> dict[str, Results]:
    """Return the results for each game and its options."""
    found: dict[str, Results] = defaultdict(Results)
    for record in records:
        found[title_of(record)].add(record)
    return dict(found)


def title_of(record: GameRecord) -> str:
    """Return the game with its options, as in "chameleon:size=7"; default options are left out."""
    usual = _default_options(record.game)
    options = [f"{name}={value}" for name, value in record.options.items() if usual.get(name, ...) != value]
    return record.game + ":" * bool(options) + ",".join(options)


@cache
def _default_options(name: str) -> Mapping[str, Any]:
    """Return the default options of a registered game; an empty mapping for an unknown game."""
    try:
        return make_registered_game(name, {}).options
    except ValueError:
        return {}


def _opening_key(record: GameRecord) -> tuple[Any, ...]:
    """Return a key that is the same for all games of the same agents from one opening, in any seats."""
    return (
        record.game,
        repr(sorted(record.options.items())),
        record.board or "",
        record.moves[: record.opening],
        -1 if record.seed is None else record.seed,
        tuple(sorted(set(record.agents))),
    )


def _ranks(numbers: Mapping[Any, int]) -> NDArray[np.int64]:
    """Return the rank of each number's key among the sorted keys."""
    ranks = np.empty(len(numbers), np.int64)
    ranks[[numbers[key] for key in sorted(numbers)]] = np.arange(len(numbers))
    return ranks
