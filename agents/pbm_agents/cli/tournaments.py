"""`pbm tournament`, `pbm rate`, `pbm sprt` and `pbm ladder`: the strength of agents."""

import json
import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from pbm_envs.records import GameRecord, read_records
from pbm_envs.registry import parse_game
from pbm_envs.toolbox import describe_error, printable, require, write_text

from .. import arena
from ..arena import Run, Standing, finished_games, save_plot
from ..arena.exploitability import RUNGS
from ..arena.results import title_of
from ..arena.tournament import GAMES as GAMES_FILE
from ..arena.tournament import play_in_folder
from ..common.faults import InfrastructureError
from .records import file_of_games
from .settings import argument, check_one_given, check_place, flag, with_run, with_settings
from .terminal import stopped, table

ALL_GAMES = "all games"
OPTIONAL = ("by seat", "plies", "s/move", "lost", "drawn", "won", "games", "95% interval")
"""Columns to omit, in this order, if the terminal is too narrow."""
GAME = "GAME[:OPTION=VALUE,...]"


@with_run()
@with_settings(arena.Tournament, flags={"games": "--game -g", "agents": "--agent -a", "boards": "--board"})
def tournament(
    settings: dict[str, Any],
    run: dict[str, Any],
    folder: Path = argument(..., "FOLDER", "The folder of the games. It is made if missing."),
) -> None:
    """Let agents play a tournament, and rate them.

    The same command resumes a tournament after any interruption. The games do not depend on the number of workers.
    Exit code 3 means that a fault (of a server, a file, memory) or the budget has left games unplayed.
    `pbm rate FOLDER` prints the tables again and writes them, with plots.

    Examples:
      pbm tournament results -g chameleon:size=7 -a random -a mcts:simulations=100 -a mcts:simulations=1000
      pbm tournament results2 -g curio -g trinim:num_players=3 -a random -a my_module:MyAgent --openings 50 --workers 4
      pbm tournament results3 -g unlur -a my_module:MyAgent -a mcts -a random --form gauntlet --opening-moves 2
    """
    chosen = arena.Tournament(tuple(map(parse_game, settings.pop("games"))), **settings)
    try:
        play_in_folder(chosen.plan(), folder, Run(**run, progress=True))
    except KeyboardInterrupt:
        kept = sum(1 for _ in finished_games(folder)) if (folder / GAMES_FILE).exists() else 0
        planned = sum(map(len, chosen.batches(chosen.key or "-")))
        stopped(f"{kept} of {planned} games are kept in {folder}; the same command plays the others")
    report(finished_games(folder))


def rate(
    sources: list[Path] = argument(..., "SOURCE", "Folders of tournaments, or records."),
    anchor: str | None = flag(None, "Agent whose rating is set to 0 (default: the mean rating is 0).", metavar="AGENT"),
    out: Path | None = flag(None, "Write tables as CSV, and plots as PNG and SVG, to this folder.", metavar="FOLDER"),
) -> None:
    """Rate the agents of tournaments.

    Prints Elo ratings with 95% intervals, head-to-head results, scores by seat, plies and seconds per move: for each
    game, and for all games together if the same agents have played them.

    Examples:
      pbm rate results
      pbm rate results --anchor random --out results
      pbm rate monday.jsonl tuesday.jsonl
    """
    if out is not None:
        require("pbm rate --out", "plot", "matplotlib")
        check_place(out, folder=True)
    for each in sources:
        file_of_games(each)  # before anything is counted
    tables = report(
        chain.from_iterable(finished_games(each) if each.is_dir() else read_records(each) for each in sources), anchor
    )
    if out is not None:
        try:
            out.mkdir(parents=True, exist_ok=True)
            paths = arena.write_csv(out, tables)
            for title, (rows, meetings) in tables.items():
                name = "".join(letter if letter.isalnum() else "-" for letter in title)
                paths += save_plot(arena.plot_ratings(rows, title), out / f"ratings-{name}")
                paths += save_plot(arena.plot_head_to_head(meetings, title), out / f"head-to-head-{name}")
        except OSError as error:  # for a full disk the error names no file
            raise OSError(error.errno, error.strerror, error.filename or str(out)) from error
        print(f"\nwritten: {', '.join(map(str, paths))}")


@with_settings(arena.SequentialTest, skip=("game", "new", "old"))
@with_run()
def sprt(
    settings: dict[str, Any],
    run: dict[str, Any],
    new: str = argument(..., "NEW", "An agent by name."),
    old: str = argument(..., "OLD", "The agent to compare it with."),
    game: str = flag(..., "The game.", "--game", "-g", metavar=GAME),
    out: Path = flag("sprt", "The folder of the games.", metavar="FOLDER"),
) -> None:
    """Test whether NEW is stronger than OLD.

    Runs a sequential probability ratio test, as for chess engines, on openings that are played from all seats. The same
    command resumes a test after any interruption. The result does not depend on the number of workers; it is written
    to `FOLDER/result.json`.

    Examples:
      pbm sprt my_module:New my_module:Old -g chameleon:size=7
      pbm sprt mcts:simulations=200,c=0.1 mcts:simulations=200 -g unlur --elo0 0 --elo1 20 --opening-moves 2 --workers 2
      pbm sprt my_module:Faster my_module:Slow -g trinim:num_players=3 --elo0 -10 --elo1 0 --out test
    """
    test = arena.SequentialTest(parse_game(game), new, old, **settings)
    result = arena.play_sprt(test, out, Run(**run, progress=True))
    _write_json(out / "result.json", result.as_dict())
    print(result)


@with_settings(arena.rate_on_ladder, skip=("agent", "ladder", "folder", "run"), flags={"half_width": "--interval"})
@with_run()
def ladder(
    settings: dict[str, Any],
    run: dict[str, Any],
    agent: str | None = argument(None, "AGENT", "An agent by name. Without it, the ladders are listed."),
    game: str | None = flag(None, "A game that has a ladder.", "--game", "-g", metavar=GAME),
    ladder: str | None = flag(None, "The ladder by name or id, instead of the game.", metavar="LADDER"),
    out: Path | None = flag(None, "The folder of games and card. [default: ladder-NAME]", metavar="FOLDER"),
    exploit: list[int] | None = flag(
        None,
        "For Curio: measure exploitability in curio-ladder-N; can be repeated. 0 turns it off.",
        metavar="N",
    ),
) -> None:
    """Rate an agent on a frozen ladder.

    The agent plays the most informative opponents of the ladder, each opening from every seat, until the 95% interval
    is as narrow as requested. The same command resumes a rating after any interruption. The result is a card, printed
    and written as `card.txt`, `card.json` and, with the extra `plot`, `card.png` and `card.svg`. A card of Curio also
    has the agent's exploitability in the smallest games, where it can be computed exactly (see `pbm exploit`).

    Examples:
      pbm ladder
      pbm ladder mcts:simulations=200 -g trinim
      pbm ladder my_module:MyAgent -g chameleon --interval 50 --workers 2 --out rating
      pbm ladder my_module:MyAgent --ladder ladder/curio-5x5/v1 --exploit 1 --exploit 2
    """
    if agent is None:
        headings = ("ladder", "game", "opponents", "strongest, Elo")
        rows = [
            (each.id, repr(each.game), str(len(each.rungs)), f"{each.rungs[-1].name}: {each.rungs[-1].elo:,.0f}")
            for each in arena.ladders().values()
        ]
        table([dict(zip(headings, row, strict=True)) for row in rows])
        return
    check_one_given(game=game, ladder=ladder)
    chosen = arena.load_ladder(parse_game(game) if game is not None else str(ladder))
    folder = out or Path(f"ladder-{chosen.name}")
    rating = arena.rate_on_ladder(agent, chosen, folder, **settings, run=Run(**run, progress=True))
    games = [number for number in exploit or RUNGS if number] if chosen.game.name == "curio" else []
    try:
        found = arena.measure_exploitability(agent, games, seed=settings["seed"], progress=True) if games else {}
        rating.exploitability = found
    except InfrastructureError:
        raise
    except Exception as error:  # the agent cannot play that game
        print(f"no exploitability: {describe_error(error)}")
    print(rating)
    write_text(folder / "card.txt", f"{rating}\n")
    _write_json(folder / "card.json", rating.as_dict())
    try:
        save_plot(arena.plot_placement(rating), folder / "card")
    except ImportError as error:
        print(f"no picture: {error}")


def report(
    records: Iterable[GameRecord], anchor: str | None = None
) -> dict[str, tuple[list[Standing], arena.HeadToHead]]:
    """Print the tables of each game, and of all games together if the same agents have played several; return them.

    Unfinished games do not count. The rating of the agent `anchor` is set to 0. Raises ValueError if no game is
    finished, or the anchor has not played.
    """
    everything, parts = arena.Results(), defaultdict[str, arena.Results](arena.Results)
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
        rows = arena.standings(results, anchor if anchor in results.agents else None)
        tables[title] = rows, arena.head_to_head(results, [row.agent for row in rows])
        by_seat = "" if title == ALL_GAMES else f"; by seat {_percents(arena.seat_scores(results).tolist())}"
        print(f"\n{printable(title)}: {results.games} games{by_seat}\n")
        table(_standing_rows(rows, title == ALL_GAMES), optional=OPTIONAL)
        print()
        table(_meeting_rows(tables[title][1]))
        for row in rows:
            if row.forfeits:
                reason = printable(results.reasons[row.agent])
                print(f"\n{printable(row.agent)} forfeited {row.forfeits} times, first: {reason}")
        if len(apart := arena.connected_groups(results)) > 1:
            groups = "; ".join(map(", ".join, apart))
            print(f"\nThese groups have not met, and their ratings cannot be compared: {printable(groups)}")
    return tables


def _standing_rows(rows: Sequence[Standing], mixed: bool) -> list[dict[str, str]]:
    found = []
    for place, row in enumerate(rows, start=1):
        elo, low, high = (f"{round(value):+}" for value in row.rating)
        cells = {
            "": str(place),
            "agent": printable(row.agent),
            "Elo": elo,
            "95% interval": "" if row.rating.low == row.rating.high else f"{low} to {high}",
            "games": str(row.games),
            "won": str(row.wins),
            "drawn": str(row.draws),
            "lost": str(row.losses),
            "score": _percents([row.score]),
        }
        if not mixed:
            cells["by seat"] = _percents(row.score_by_seat)
        cells["plies"] = f"{row.plies:.1f}"
        cells["s/move"] = "" if math.isnan(row.seconds_per_move) else f"{row.seconds_per_move:.2g}"
        if any(each.forfeits for each in rows):
            cells["forfeits"] = str(row.forfeits)
        found.append(cells)
    return found


def _meeting_rows(meetings: arena.HeadToHead) -> list[dict[str, str]]:
    """Return scores in percent, with agents numbered."""
    rows = []
    for place, agent in enumerate(meetings.agents):
        scores = ["" if math.isnan(score) else f"{100 * score:.0f}" for score in meetings.scores[place].tolist()]
        columns = {str(number): score for number, score in enumerate(scores, start=1)}
        rows.append({"": str(place + 1), "score in % against": printable(agent), **columns})
    return rows


def _percents(scores: Sequence[float]) -> str:
    return " ".join("-" if math.isnan(score) else f"{100 * score:.0f}%" for score in scores)


def _write_json(path: Path, found: dict[str, Any]) -> None:
    write_text(path, json.dumps(found, indent=1, ensure_ascii=False) + "\n")
