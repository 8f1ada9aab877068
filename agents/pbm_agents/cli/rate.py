"""`pbm rate`: tables and plots of tournaments, from their records."""

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path
from typing import Annotated

import typer

from pbm_envs.records import GameRecord, read_records
from pbm_envs.toolbox import printable, require

from ..arena import (
    HeadToHead,
    Results,
    Standing,
    connected_groups,
    finished_games,
    head_to_head,
    plot_head_to_head,
    plot_ratings,
    save_plot,
    seat_scores,
    standings,
    write_csv,
)
from ..arena.results import title_of
from .replay import file_of_games
from .terminal import table

EXAMPLES = """
  pbm rate results
  pbm rate results --anchor random --out results
  pbm rate monday.jsonl tuesday.jsonl
"""
ALL_GAMES = "all games"
OPTIONAL = ("by seat", "plies", "s/move", "lost", "drawn", "won", "games", "95% interval")
"""Columns to omit, in this order, if the terminal is too narrow."""


def rate(
    sources: Annotated[list[Path], typer.Argument(metavar="SOURCE", help="Folders of tournaments, or records.")],
    anchor: Annotated[
        str | None,
        typer.Option(metavar="AGENT", help="Agent whose rating is set to 0 (default: the mean rating is 0)."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Write tables as CSV, and plots as PNG and SVG, to this folder."),
    ] = None,
) -> None:
    """Rate the agents of tournaments.

    Prints Elo ratings with 95% intervals, head-to-head results, scores by seat, plies and seconds per move: for each
    game, and for all games together if the same agents have played them.
    """
    if out is not None:
        require("pbm rate --out", "plot", "matplotlib")
    for each in sources:
        file_of_games(each)  # before anything is counted
    tables = report(
        chain.from_iterable(finished_games(each) if each.is_dir() else read_records(each) for each in sources), anchor
    )
    if out is not None:
        try:
            out.mkdir(parents=True, exist_ok=True)
            paths = write_csv(out, tables)
            for title, (rows, meetings) in tables.items():
                name = "".join(letter if letter.isalnum() else "-" for letter in title)
                paths += save_plot(plot_ratings(rows, title), out / f"ratings-{name}")
                paths += save_plot(plot_head_to_head(meetings, title), out / f"head-to-head-{name}")
        except OSError as error:  # for a full disk the error names no file
            raise OSError(error.errno, error.strerror, error.filename or str(out)) from error
        print(f"\nwritten: {', '.join(map(str, paths))}")


def report(records: Iterable[GameRecord], anchor: str | None = None) -> dict[str, tuple[list[Standing], HeadToHead]]:
    """Print the tables of each game, and of all games together if the same agents have played several; return them.

    Unfinished games do not count. The rating of the agent `anchor` is set to 0. Raises ValueError if no game is
    finished, or the anchor has not played.
    """
    everything, parts = Results(), defaultdict[str, Results](Results)
    for record in records:
        everything.add(record)
        parts[title_of(record)].add(record)
    found = {title: results for title, results in sorted(parts.items()) if results.games}
    if not found:
        raise ValueError("no game has been played to its end: there is nothing to rate")
    if anchor is not None and anchor not in everything.agents:
        raise ValueError(f"anchor is {anchor!r}: expected one of {printable(', '.join(everything.agents), 1000)}")
    if len(found) > 1 and len({tuple(results.agents) for results in found.values()}) == 1:
        found[ALL_GAMES] = everything  # otherwise the ratings could not be compared
    tables = {}
    for title, results in found.items():
        rows = standings(results, anchor if anchor in results.agents else None)
        tables[title] = rows, head_to_head(results, [row.agent for row in rows])
        by_seat = "" if title == ALL_GAMES else f"; by seat {_percents(seat_scores(results).tolist())}"
        print(f"\n{printable(title)}: {results.games} games{by_seat}\n")
        _print_standings(rows, title == ALL_GAMES)
        print()
        _print_meetings(tables[title][1])
        for row in rows:
            if row.forfeits:
                reason = printable(results.reasons[row.agent])
                print(f"\n{printable(row.agent)} forfeited {row.forfeits} times, first: {reason}")
        if len(apart := connected_groups(results)) > 1:
            groups = "; ".join(map(", ".join, apart))
            print(f"\nThese groups have not met, and their ratings cannot be compared: {printable(groups)}")
    return tables


def _print_standings(rows: Sequence[Standing], mixed: bool) -> None:
    columns = {
        "": [str(k) for k in range(1, len(rows) + 1)],
        "agent": [printable(row.agent) for row in rows],
        "Elo": [f"{round(row.rating.value):+}" for row in rows],
        "95% interval": [
            "" if row.rating.low == row.rating.high else f"{round(row.rating.low):+} to {round(row.rating.high):+}"
            for row in rows
        ],
        "games": [str(row.games) for row in rows],
        "won": [str(row.wins) for row in rows],
        "drawn": [str(row.draws) for row in rows],
        "lost": [str(row.losses) for row in rows],
        "score": [_percents([row.score]) for row in rows],
        "by seat": [_percents(row.score_by_seat) for row in rows],
        "plies": [f"{row.plies:.1f}" for row in rows],
        "s/move": ["" if math.isnan(row.seconds_per_move) else f"{row.seconds_per_move:.2g}" for row in rows],
        "forfeits": [str(row.forfeits) for row in rows],
    }
    if mixed:
        del columns["by seat"]
    if not any(row.forfeits for row in rows):
        del columns["forfeits"]
    numbers = [name for name in columns if name != "agent"]
    table(list(columns), list(zip(*columns.values(), strict=True)), numbers, optional=OPTIONAL)


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
