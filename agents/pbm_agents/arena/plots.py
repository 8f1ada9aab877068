"""Pictures of a tournament: ratings with their intervals, head-to-head results. They need matplotlib (extra `plot`)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from .standings import HeadToHead, Standing

if TYPE_CHECKING:
    from matplotlib.figure import Figure

KINDS = ("png", "svg")
POINTS = 0.105
"""Inches that a letter of an agent's name takes."""
FADED = 0.28
"""How far from 1/2 a score is written in white."""


def plot_ratings(table: Sequence[Standing], title: str) -> Figure:
    """Best at the top; a dot and its 95% interval an agent."""
    figure = _figure(7 + POINTS * _longest(table), 1.4 + 0.38 * len(table))
    axes = figure.add_subplot()
    places = np.arange(len(table))[::-1]
    values, lows, highs = np.array([s.rating for s in table]).T
    axes.hlines(places, lows, highs, color="#9db7d5", linewidth=5)
    axes.plot(values, places, "o", color="#1f4e79", markersize=8)
    for s, place in zip(table, places, strict=True):
        axes.annotate(
            f"{round(s.rating.value):+}", (s.rating.value, place), (0, 8), textcoords="offset points", ha="center"
        )
    axes.set_yticks(places, [s.agent for s in table])
    axes.set_ylim(-0.6, len(table) - 0.25)
    axes.set_xlabel("strength in Elo points, with 95% interval")
    axes.set_title(title)
    axes.grid(axis="x", alpha=0.3)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(axis="y", length=0)
    return figure


def plot_head_to_head(meetings: HeadToHead, title: str) -> Figure:
    """What the agent of a row has scored against that of a column, in percent."""
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


def save_plot(figure: Figure, path: str | Path) -> list[Path]:
    """Write `path`.png and `path`.svg."""
    paths = [Path(f"{path}.{kind}") for kind in KINDS]
    for each in paths:
        figure.savefig(each, dpi=150)
    return paths


def _longest(table: Sequence[Standing]) -> int:
    return max(len(s.agent) for s in table)


def _figure(width: float, height: float) -> Figure:
    """Without pyplot: no window, no state, the same on a machine without a display."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ImportError("plots need matplotlib: pip install 'pbm-envs[plot]'") from None
    return Figure(figsize=(width, height), layout="constrained")
