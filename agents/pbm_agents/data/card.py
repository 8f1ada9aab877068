"""The card of a data set: its contents, how it was made, and the hidden information that it shows."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from pbm_envs import Game, __version__
from pbm_envs.records import GameRecord

from .rows import columns_of

CARD = "README.md"


@dataclass
class Summary:
    """The contents of a data set, counted while it is written."""

    title: str
    game: Game
    format: str
    label: str | None
    seed: int
    full_states: bool
    with_games: bool
    games: int = 0
    shards: list[int] = field(default_factory=list)
    """The number of rows of each file."""
    agents: Counter[str] = field(default_factory=Counter)
    """The number of seats that each agent has had."""
    endings: Counter[str] = field(default_factory=Counter)
    returns: list[float] = field(default_factory=list)
    """The sum of the returns by seat."""
    plies: int = 0
    seeds: tuple[int, int] | None = None
    """The smallest and the largest seed of the games."""

    @property
    def rows(self) -> int:
        """The number of positions."""
        return sum(self.shards)

    def count_game(self, record: GameRecord) -> None:
        """Count a game."""
        self.games += 1
        self.agents.update(record.agents)
        self.endings[record.ending] += 1
        self.plies += record.plies
        self.returns = np.add(self.returns or [0.0] * len(record.returns), record.returns).tolist()
        if record.seed is not None:
            low, high = self.seeds or (record.seed, record.seed)
            self.seeds = min(low, record.seed), max(high, record.seed)


def card_text(summary: Summary) -> str:
    """Return the card in Markdown, with the metadata header of the Hugging Face hub."""
    game = summary.game
    head = ["---", f"pretty_name: {summary.title}", "tags:", "- board-games", f"- {game.name}"]
    if summary.format == "parquet":
        head += ["configs:", "- config_name: positions", "  data_files: positions-*.parquet"]
    lines = [*head, "---", "", f"# {summary.title}", ""]
    amount = "; an episode per seat"
    if summary.rows:
        count = len(summary.shards)
        amount = f"; {summary.rows:,} positions in {count} file{'s' * (count > 1)}"
    lines += [
        f"Games of `{game!r}`, made with pbm_envs {__version__}.",
        "",
        f"* {summary.games:,} games of {summary.plies / max(1, summary.games):.1f} moves on average{amount}",
        "* Endings: " + ", ".join(f"{name} {count:,}" for name, count in summary.endings.most_common()),
        "* Mean return by seat: " + ", ".join(f"{total / max(1, summary.games):+.3f}" for total in summary.returns),
        "* Agents, and how many seats each had:",
        *(f"  * `{name}`: {count:,}" for name, count in sorted(summary.agents.items())),
    ]
    if summary.format != "minari" and not summary.label:
        lines.append("* `policy` and `value` are empty: the positions were not searched.")
    if summary.label:
        lines.append(f"* `policy` and `value` are those of `{summary.label}` with seed {summary.seed}.")
    if not game.perfect_information:
        lines += ["", "## What is hidden", "", *_secrets(summary)]
    if summary.format != "minari":
        lines += ["", "## Columns", "", "| column | type | shape | meaning |", "|---|---|---|---|"]
        lines += [
            f"| `{name}` | {kind}{', may be empty' * nullable} | {shape} | {meaning} |"
            for name, kind, shape, meaning, nullable in columns_of(summary.full_states)
        ]
        sizes = f"A = {game.num_actions} actions, P = {game.num_players} players"
        shape = " x ".join(map(str, game.observation_shape))
        lines += ["", f"{sizes}, observations {shape}. The values of an array lie side by side.", ""]
        lines += ["Files: `positions-*.parquet`" + " and `games.parquet`, the records" * summary.with_games + "."]
    return "\n".join(lines) + "\n"


def _secrets(summary: Summary) -> list[str]:
    """Return descriptions of the data that a player must not see."""
    lines = [
        "A row holds what the player to move knew: observation, mask and board come from that player's view. "
        "Returns and ending come from the whole game, and nobody knew them then."
    ]
    shown = ["`full_state`"] * summary.full_states
    shown += ["`full_state_record` in the file of games"] * (summary.with_games and summary.format != "minari")
    if shown:
        lines.append(f"Full states, with everything that is hidden, are only in {' and '.join(shown)}.")
    return lines
