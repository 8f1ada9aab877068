"""`pbm rate`: tables and plots of a tournament, from its records."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from pbm_envs.records import UNFINISHED, GameRecord, read_records
from pbm_envs.toolbox import printable

from ..arena import (
    HeadToHead,
    Standing,
    by_game,
    connected_groups,
    head_to_head,
    plot_head_to_head,
    plot_ratings,
    save_plot,
    seat_scores,
    standings,
    tournament_records,
    write_csv,
)
from .terminal import table

EXAMPLES = """
  pbm rate results
  pbm rate results --anchor random --out results
  pbm rate monday.jsonl tuesday.jsonl
"""
ALL_GAMES = "all games"
OPTIONAL = ("by seat", "plies", "s/move", "lost", "drawn", "won", "games", "95% interval")
"""Columns that are left out, in this order, where the terminal is too narrow."""


def rate(
    sources: Annotated[list[Path], typer.Argument(metavar="SOURCE", help="Folders of tournaments, or records.")],
    anchor: Annotated[str | None, typer.Option(metavar="AGENT", help="Who has strength 0; left out, the mean.")] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Write tables as CSV and plots as PNG and SVG there.")
    ] = None,
) -> None:
    """Rate the agents of tournaments.

    Prints Elo strengths with 95% intervals, head-to-head results, scores by seat, plies and seconds per move: for each
    game, and for all games together if the same agents have played them.
    """
    records = [record for source in sources for record in _read(source)]
    tables = report(records, anchor)
    if out is not None:
        try:
            paths = _write(out, tables)
        except OSError as error:  # the error of a full disk names no file
            raise OSError(error.errno, error.strerror, error.filename or str(out)) from error
        print(f"\nwritten: {', '.join(map(str, paths))}")


def _write(out: Path, tables: dict[str, tuple[list[Standing], HeadToHead]]) -> list[Path]:
    """Write all tables and plots; return their files."""
    out.mkdir(parents=True, exist_ok=True)
    paths = write_csv(out, tables)
    for title, (rows, meetings) in tables.items():
        name = "".join(letter if letter.isalnum() else "-" for letter in title)
        paths += save_plot(plot_ratings(rows, title), out / f"ratings-{name}")
        paths += save_plot(plot_head_to_head(meetings, title), out / f"head-to-head-{name}")
    return paths


def report(records: Sequence[GameRecord], anchor: str | None = None) -> dict[str, tuple[list[Standing], HeadToHead]]:
    """Print the tables of each game, and of all games together if the same agents have played several.

    Args:
        records: The games; unfinished ones do not count.
        anchor: The agent with strength 0.

    Returns:
        The tables by title.

    Raises:
        ValueError: If no game is finished, or the anchor has not played.
    """
    records = [record for record in records if record.ending != UNFINISHED]
    if not records:
        raise ValueError("no game has been played to its end: there is nothing to rate")
    agents = sorted({agent for record in records for agent in record.agents})
    if anchor is not None and anchor not in agents:
        raise ValueError(f"anchor is {anchor!r}: expected one of {printable(', '.join(agents), 1000)}")
    parts = by_game(records)
    fields = {tuple(sorted({agent for record in some for agent in record.agents})) for some in parts.values()}
    if len(parts) > 1 and len(fields) == 1:  # else the strengths could not be compared
        parts[ALL_GAMES] = list(records)
    tables = {}
    for title, some in parts.items():
        rows = standings(some, anchor if any(anchor in record.agents for record in some) else None)
        tables[title] = rows, head_to_head(some, [row.agent for row in rows])
        by_seat = "" if title == ALL_GAMES else f"; by seat {_percents(seat_scores(some).tolist())}"
        print(f"\n{printable(title)}: {len(some)} games{by_seat}\n")
        _print_standings(rows, title == ALL_GAMES)
        print()
        _print_meetings(tables[title][1])
        for agent, (count, reason) in _forfeits(some).items():
            print(f"\n{printable(agent)} forfeited {count} times, first: {printable(reason)}")
        if len(apart := connected_groups(some)) > 1:
            groups = "; ".join(map(", ".join, apart))
            print(f"\nThese have not met, and their strengths cannot be compared: {printable(groups)}")
    return tables


def _read(source: Path) -> list[GameRecord]:
    return tournament_records(source) if source.is_dir() else list(read_records(source))


def _forfeits(records: Sequence[GameRecord]) -> dict[str, tuple[int, str]]:
    """Return how often each agent forfeited, and its first reason."""
    found: dict[str, tuple[int, str]] = {}
    for record in records:
        for forfeit in record.forfeits:
            count, reason = found.get(record.agents[forfeit.player], (0, forfeit.reason))
            found[record.agents[forfeit.player]] = count + 1, reason
    return found


def _print_standings(rows: Sequence[Standing], mixed: bool) -> None:
    columns = ["", "agent", "Elo", "95% interval", "games", "won", "drawn", "lost", "score", "by seat"]
    columns += ["plies", "s/move", "forfeits"]
    cells = [
        [
            str(k),
            printable(row.agent),
            f"{round(row.rating.value):+}",
            "" if row.rating.low == row.rating.high else f"{round(row.rating.low):+} to {round(row.rating.high):+}",
            *(str(count) for count in (row.games, row.wins, row.draws, row.losses)),
            _percents([row.score]),
            _percents(row.score_by_seat),
            f"{row.plies:.1f}",
            "" if math.isnan(row.seconds_per_move) else f"{row.seconds_per_move:.2g}",
            str(row.forfeits),
        ]
        for k, row in enumerate(rows, start=1)
    ]
    left_out = {name for name in columns if name == "forfeits" and not any(row.forfeits for row in rows)}
    left_out |= {"by seat"} if mixed else set()
    kept = [k for k, name in enumerate(columns) if name not in left_out]
    names = [columns[k] for k in kept]
    table(
        names,
        [[row[k] for k in kept] for row in cells],
        numbers=[name for name in names if name != "agent"],
        optional=OPTIONAL,
    )


def _print_meetings(meetings: HeadToHead) -> None:
    """Print scores in percent, with agents numbered."""
    numbers = [str(k) for k in range(1, len(meetings.agents) + 1)]
    rows = [
        [number, printable(agent), *("" if math.isnan(score) else f"{100 * score:.0f}" for score in scores)]
        for number, agent, scores in zip(numbers, meetings.agents, meetings.scores.tolist(), strict=True)
    ]
    table(["", "score in % against", *numbers], rows, numbers=["", *numbers])


def _percents(scores: Sequence[float]) -> str:
    return " ".join("-" if math.isnan(score) else f"{100 * score:.0f}%" for score in scores)
