"""Plots of ratings with their intervals, head-to-head results, places on a ladder, and training curves.

They need matplotlib (extra `plot`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pbm_envs.toolbox import import_extra

from .placement import LadderRating
from .standings import HeadToHead, Standing

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

KINDS = ("png", "svg")
POINTS = 0.105
"""Width of a letter of an agent name, in inches."""
FADED = 0.28
"""Scores that differ from 1/2 by more than this are written in white, on dark colours."""


def plot_ratings(table: Sequence[Standing], title: str) -> Figure:
    """Plot the ratings of agents with their 95% intervals, the best at the top."""
    figure = _figure(7 + POINTS * max(len(s.agent) for s in table), 1.4 + 0.38 * len(table))
    axes = _intervals(figure, [s.agent for s in table][::-1], [s.rating for s in table][::-1])
    for place, s in enumerate(reversed(table)):
        axes.annotate(
            f"{round(s.rating.value):+}", (s.rating.value, place), (0, 8), textcoords="offset points", ha="center"
        )
    axes.set_ylim(-0.6, len(table) - 0.25)
    axes.set_xlabel("strength in Elo points, with 95% interval")
    axes.set_title(title)
    return figure


def plot_placement(rating: LadderRating) -> Figure:
    """Plot the ladder as a scale, with the agent's place on it and its 95% interval."""
    value, low, high = rating.rating
    rungs = rating.ladder.rungs
    figure = _figure(9, 1.6 + 0.3 * len(rungs))
    axes = _intervals(figure, [rung.name for rung in rungs], [(rung.elo, rung.low, rung.high) for rung in rungs])
    axes.axvspan(low, high, color="#f2c14e", alpha=0.45, linewidth=0)
    axes.axvline(value, color="#b3541e", linewidth=2)
    axes.set_xlabel(f"Elo on {rating.ladder.id} (random = 0)")
    lines = [f"{rating.agent}: {value:,.0f} ± {(high - low) / 2:.0f}"]
    lines += [f"exploitability in {game}: {found}" for game, found in rating.exploitability.items()]
    axes.set_title("\n".join(lines))
    return figure


def _intervals(figure: Figure, names: Sequence[str], ratings: Sequence[tuple[float, float, float]]) -> Axes:
    """Draw a labelled row for each rating with its interval, from the bottom up."""
    axes = figure.add_subplot()
    values, lows, highs = np.array(ratings).T
    axes.hlines(range(len(names)), lows, highs, color="#9db7d5", linewidth=5)
    axes.plot(values, range(len(names)), "o", color="#1f4e79", markersize=8)
    axes.set_yticks(range(len(names)), names)
    axes.grid(axis="x", alpha=0.3)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(axis="y", length=0)
    return axes


def plot_head_to_head(meetings: HeadToHead, title: str) -> Figure:
    """Plot the scores of the agents in rows against those in columns, in percent."""
    count, names = len(meetings.agents), POINTS * max(map(len, meetings.agents))
    figure = _figure(2.2 + 0.62 * count + names, 1.4 + 0.62 * count + 0.75 * names)
    axes = figure.add_subplot()
    colours = axes.imshow(meetings.scores, cmap="RdBu", vmin=0, vmax=1)
    for (i, j), score in np.ndenumerate(meetings.scores):
        if not np.isnan(score):
            colour = "white" if abs(score - 0.5) > FADED else "black"
            axes.text(j, i, f"{100 * score:.0f}", ha="center", va="center", color=colour)
    axes.set_yticks(range(count), meetings.agents)
    axes.set_xticks(range(count), meetings.agents, rotation=45, ha="right", rotation_mode="anchor")
    axes.set_title(title)
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)
    bar = figure.colorbar(
        colours, ax=axes, shrink=0.8, ticks=[0, 0.5, 1], format=lambda score, _: f"{100 * score:.0f}%"
    )
    bar.set_label("score of the row against the column")
    bar.outline.set_visible(False)
    return figure


def plot_training(curve: Sequence[Mapping[str, Any]], title: str) -> Figure:
    """Plot the curve of `pbm_agents.learning.trainer.train`: Elo with its interval, and scores and losses.

    Elo is over positions and over minutes of processor time.
    """
    figure = _figure(11, 7)
    elo, elo_by_time, scores, losses = figure.subplots(2, 2).flat
    positions = [line["positions"] for line in curve]
    minutes = [line["processor_seconds"] / 60 for line in curve]
    names = [name for name in curve[-1] if name.startswith("against ") and name != "against best"]
    for axes, places in ((elo, positions), (elo_by_time, minutes)):
        if "elo" in curve[-1]:
            low, middle, high = ([line[name] for line in curve] for name in ("elo_low", "elo", "elo_high"))
            axes.fill_between(places, low, high, alpha=0.2, linewidth=0, label="95% interval")
            axes.plot(places, middle, "o-", label=names[-1], markersize=3)
        axes.set_ylabel("Elo")
    for name in names:
        scores.plot(positions, [line.get(name, np.nan) for line in curve], "o-", label=name, markersize=3)
    scores.set_ylim(-0.02, 1.02)
    scores.set_ylabel("score")
    for name in ("policy_loss", "value_loss"):
        losses.plot(positions, [line[name] for line in curve], "o-", label=name.replace("_", " "), markersize=3)
    losses.set_ylim(bottom=0)
    losses.set_ylabel("loss")
    for axes in figure.axes:
        axes.set_xlabel("minutes of processor time" if axes is elo_by_time else "positions")
        axes.grid(alpha=0.3)
        if axes.lines:
            axes.legend(loc="upper right" if axes is losses else "lower right")  # "best" is slow
    figure.suptitle(title)
    return figure


def save_plot(figure: Figure, path: str | Path) -> list[Path]:
    """Write `path`.png and `path`.svg."""
    paths = [Path(f"{path}.{kind}") for kind in KINDS]
    for each in paths:
        figure.savefig(each, dpi=150)
    return paths


def _figure(width: float, height: float) -> Figure:
    """Return a figure made without pyplot, which would open windows and keep global state."""
    matplotlib: Any = import_extra("matplotlib.figure", "plots need matplotlib", "plot")
    return matplotlib.Figure(figsize=(width, height), layout="constrained")
