"""Tables from the records of a tournament: standings, head-to-head results, scores by seat; as data and as CSV.

A score is an agent's share of the win: 1 for a win, 0 for a loss, equal parts in a draw. In a game of three players,
1/3 is the mean.
"""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pbm_envs.records import UNFINISHED, GameRecord
from pbm_envs.registry import make_registered_game
from pbm_envs.toolbox import in_one_piece

from .ratings import Rating, rate, shares

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Standing:
    """The results of an agent. A game in which it had two seats counts twice."""

    agent: str
    rating: Rating
    games: int
    wins: int
    draws: int
    losses: int
    score: float
    score_by_seat: tuple[float, ...]
    """nan for seats in which it has not played."""
    plies: float
    """Mean length of its games."""
    seconds_per_move: float
    """nan if the records do not say."""
    forfeits: int


class HeadToHead(NamedTuple):
    """The scores of agents in rows against those in columns: 1 for a higher return, 1/2 for an equal one, else 0."""

    agents: list[str]
    scores: Array
    """(n, n) means; nan for two that have not met."""
    games: NDArray[np.int64]
    """(n, n)"""


def standings(records: Sequence[GameRecord], anchor: str | None = None) -> list[Standing]:
    """Return the standing of each agent, the best rating first; unfinished games do not count.

    Args:
        records: The games.
        anchor: As in `rate`.
    """
    ended = [record for record in records if record.ending != UNFINISHED]
    most = max((len(record.agents) for record in ended), default=0)
    parts: dict[str, list[tuple[GameRecord, int, float]]] = defaultdict(list)
    for record in ended:
        for seat, (agent, share) in enumerate(zip(record.agents, shares(record), strict=True)):
            parts[agent].append((record, seat, share))
    table = []
    for agent, rating in rate(ended, anchor).items():
        games = parts[agent]
        scores = [share for _, _, share in games]
        timed = [
            (record.seconds[seat], record.turns[seat]) for record, seat, _ in games if record.seconds and record.turns
        ]
        seconds, turns = map(sum, zip(*timed, strict=True)) if timed else (0.0, 0)
        table.append(
            Standing(
                agent=agent,
                rating=rating,
                games=len(games),
                wins=sum(share == 1 for share in scores),
                draws=sum(0 < share < 1 for share in scores),
                losses=sum(share == 0 for share in scores),
                score=mean(scores),
                score_by_seat=tuple(mean([share for _, at, share in games if at == seat]) for seat in range(most)),
                plies=mean([record.plies for record, _, _ in games]),
                seconds_per_move=seconds / turns if turns else np.nan,
                forfeits=sum(f.player == seat for record, seat, _ in games for f in record.forfeits),
            )
        )
    return table


def head_to_head(records: Sequence[GameRecord], agents: Sequence[str]) -> HeadToHead:
    """Return the results between `agents`, in this order."""
    place = {agent: k for k, agent in enumerate(agents)}
    won, games = np.zeros((2, len(agents), len(agents)))
    for record in records:
        if record.ending == UNFINISHED:
            continue
        for agent, mine in zip(record.agents, record.returns, strict=True):
            for other, theirs in zip(record.agents, record.returns, strict=True):
                if agent != other:
                    won[place[agent], place[other]] += (mine > theirs) + (mine == theirs) / 2
                    games[place[agent], place[other]] += 1
    scores = np.divide(won, games, out=np.full_like(won, np.nan), where=games > 0)
    return HeadToHead(list(agents), scores, games.astype(np.int64))


def seat_scores(records: Sequence[GameRecord]) -> Array:
    """Return (P,) the mean score of each seat over all agents."""
    return np.array([shares(record) for record in records if record.ending != UNFINISHED]).mean(axis=0)


def mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else np.nan


def by_game(records: Sequence[GameRecord]) -> dict[str, list[GameRecord]]:
    """Group records by game and options, as in "chameleon:size=7"; options with their default are left out."""
    parts: dict[str, list[GameRecord]] = defaultdict(list)
    for record in records:
        usual = _default_options(record.game)
        options = [f"{name}={value}" for name, value in record.options.items() if usual.get(name, ...) != value]
        parts[record.game + ":" * bool(options) + ",".join(options)].append(record)
    return dict(parts)


@cache
def _default_options(name: str) -> Mapping[str, Any]:
    """The options of a registered game; none of a game that this process does not know."""
    try:
        return make_registered_game(name, {}).options
    except ValueError:
        return {}


COLUMNS = (
    "game", "agent", "rating", "low", "high", "games", "wins", "draws", "losses", "score",
    "score_player_0", "score_player_1", "score_player_2", "plies", "seconds_per_move", "forfeits",
)  # fmt: skip


def write_csv(folder: str | Path, tables: dict[str, tuple[list[Standing], HeadToHead]]) -> list[Path]:
    """Write `ratings.csv`, with a row for each agent, and `head_to_head.csv`, with a row for each pair.

    Args:
        folder: Where they are written.
        tables: Standings and head-to-head results, by name of the game.

    Returns:
        The files.
    """
    ratings = [
        [
            game, s.agent, *(round(value, 1) for value in s.rating), s.games, s.wins, s.draws, s.losses,
            _number(s.score), *(_number(s.score_by_seat[k]) if k < len(s.score_by_seat) else "" for k in range(3)),
            round(s.plies, 1), _number(s.seconds_per_move, 6), s.forfeits,
        ]
        for game, (table, _) in tables.items()
        for s in table
    ]  # fmt: skip
    pairs = [
        [game, agent, other, int(meetings.games[i, j]), _number(meetings.scores[i, j])]
        for game, (_, meetings) in tables.items()
        for i, agent in enumerate(meetings.agents)
        for j, other in enumerate(meetings.agents)
        if meetings.games[i, j]
    ]
    return [
        _write(Path(folder, "ratings.csv"), [COLUMNS, *ratings]),
        _write(Path(folder, "head_to_head.csv"), [["game", "agent", "against", "games", "score"], *pairs]),
    ]


def _number(value: float, digits: int = 4) -> float | str:
    """Round a number; empty for nan."""
    return "" if np.isnan(value) else round(value, digits)


def _write(path: Path, rows: Sequence[Sequence[object]]) -> Path:
    with in_one_piece(path) as part, open(part, "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)
    return path
