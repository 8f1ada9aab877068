"""Tables of results: standings, head-to-head results and scores by seat, as data and as CSV.

A score is an agent's share of the win: 1 for a win, 0 for a loss, equal parts in a draw. With three players, the mean
score is 1/3.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pbm_envs.records import GameRecord
from pbm_envs.toolbox import in_one_piece, quoted

from .ratings import Rating, rate
from .results import Array, Results, results_of


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
    """Mean score in each seat; nan for seats in which the agent has not played."""
    plies: float
    """Mean length of the agent's games, in plies."""
    seconds_per_move: float
    """Mean time per move; nan if the records do not contain it."""
    forfeits: int


class HeadToHead(NamedTuple):
    """Scores of the agents in rows against those in columns: 1 for a higher return, 1/2 for an equal one, else 0."""

    agents: list[str]
    scores: Array
    """(n, n) mean scores; nan for pairs that have not played each other."""
    games: NDArray[np.int64]
    """(n, n) numbers of games."""


def standings(records: Iterable[GameRecord] | Results, anchor: str | None = None) -> list[Standing]:
    """Return the standing of each agent, the best rating first; arguments as in `rate`."""
    results, table = results_of(records), []
    for agent, rating in rate(results, anchor).items():
        rows = results.rows(agent)
        share, turns = rows["share"], rows["turns"].sum()
        table.append(
            Standing(
                agent=agent,
                rating=rating,
                games=len(rows),
                wins=int((share == 1).sum()),
                draws=int(((share > 0) & (share < 1)).sum()),
                losses=int((share == 0).sum()),
                score=float(share.mean()),
                score_by_seat=tuple(_by_seat(results, agent)),
                plies=float(rows["plies"].mean()),
                seconds_per_move=float(rows["seconds"].sum() / turns) if turns else np.nan,
                forfeits=int(rows["forfeits"].sum()),
            )
        )
    return table


def head_to_head(records: Iterable[GameRecord] | Results, agents: Sequence[str]) -> HeadToHead:
    """Return the head-to-head results between `agents`, in this order; ValueError if one has played no game."""
    results = results_of(records)
    if unknown := [agent for agent in agents if agent not in results.agents]:
        raise ValueError(f"agents name {quoted(unknown[0])}: expected some of {', '.join(results.agents)}")
    pairs = results.pairs
    found = np.array([[pairs.get((agent, other), (0.0, 0)) for other in agents] for agent in agents])
    won, games = found[..., 0], found[..., 1]
    scores = np.divide(won, games, out=np.full_like(won, np.nan), where=games > 0)
    return HeadToHead(list(agents), scores, games.astype(np.int64))


def seat_scores(records: Iterable[GameRecord] | Results) -> Array:
    """Return the mean score (P,) of each seat over all agents."""
    return np.array(_by_seat(results_of(records)))


def _by_seat(results: Results, agent: str | None = None) -> list[float]:
    """Return the mean score in each seat, for one agent or for all; nan where the agent has not played."""
    seats, rows = int(results.rows()["seat"].max(initial=-1)) + 1, results.rows(agent)
    scores = [rows["share"][rows["seat"] == seat] for seat in range(seats)]
    return [float(some.mean()) if len(some) else np.nan for some in scores]


COLUMNS = (
    "game", "agent", "rating", "low", "high", "games", "wins", "draws", "losses", "score",
    "score_player_0", "score_player_1", "score_player_2", "plies", "seconds_per_move", "forfeits",
)  # fmt: skip


def write_csv(folder: str | Path, tables: dict[str, tuple[list[Standing], HeadToHead]]) -> list[Path]:
    """Write `ratings.csv`, a row for each agent, and `head_to_head.csv`, a row for each pair; return the files.

    `tables` are standings and head-to-head results by game name.
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
    """Return a rounded number, or an empty string for nan."""
    return "" if np.isnan(value) else round(value, digits)


def _write(path: Path, rows: Sequence[Sequence[object]]) -> Path:
    with in_one_piece(path) as part, open(part, "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)
    return path
