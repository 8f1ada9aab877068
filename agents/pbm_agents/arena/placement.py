"""Rating of an agent on a frozen ladder, by games against the most informative opponents until it is precise enough.

    rating = rate_on_ladder("mcts:simulations=60", "trinim-5", "folder", half_width=60)
    print(rating)

The rungs' ratings define the scale; the agent's rating is the only unknown. (The rungs' ratings have errors as well,
which `LadderRating.ahead_of` includes.) The posterior is a distribution over a fine grid of ratings: Luce's likelihood
(as in `ratings`) times a prior of half a game won and half a game lost against the rungs played. The next opponents are
the two rungs with the most informative games, by the posterior mean of p (1 - p), the information of a game that the
agent wins with probability p. Every opening is played from all seats, so its games are not independent: the likelihood
is tempered by the observed variance of the openings' scores, with a prior of PRIOR_OPENINGS openings that have the
model's variance. The rating is complete when the 95% interval is as narrow as requested.

The games depend only on the arguments and the results, not on the workers or on interruptions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import sqrt
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from pbm_envs import __version__
from pbm_envs.authoring import Option
from pbm_envs.records import GameRecord
from pbm_envs.toolbox import checked

from ..players.names import make_agent
from .evaluation import NORMAL_95
from .exploitability import Exploitability
from .ladder import Ladder, Rung, load_ladder
from .likelihood import seat_chances
from .ratings import PRIOR, Rating
from .results import Array
from .schedule import Batch, Plan, make_batch
from .sprt import opening_score
from .tournament import ALONE, Run, play_in_folder

STEP, BEYOND = 2.0, 800.0
"""Elo points between neighbouring ratings of the grid, and the extent of the grid beyond the ladder."""
FIRST, GROWTH, MOST = 4, 3, 64
"""Number of openings of a round: at least FIRST, 1 / GROWTH of those so far, at most MOST."""
AT_ONCE = 16
"""Number of games per batch, in whole openings."""
PRIOR_OPENINGS = 20
LEAST_OPENINGS = 12
"""Minimum number of openings before an interval is trusted."""


@dataclass(frozen=True)
class Meeting:
    """The results against one rung."""

    rung: Rung
    openings: int
    score: float
    expected: float
    """The score that the model predicts at the estimated rating."""
    error: float
    """Standard error of `score` under the model."""


@dataclass(eq=False)
class LadderRating:
    """An agent's place on a ladder, for `print`; `as_dict` gives JSON data, `plot_placement` a plot."""

    agent: str
    ladder: Ladder
    half_width: float
    scores: list[tuple[int, float]] = field(default_factory=list)
    """The number of the rung and the score of each opening, in order."""
    exploitability: dict[str, Exploitability] = field(default_factory=dict)
    """Measured exploitability by game name (`measure_exploitability`)."""

    def __post_init__(self) -> None:
        elos = [rung.elo for rung in self.ladder.rungs]
        self._grid = np.arange(min(elos) - BEYOND, max(elos) + BEYOND + STEP, STEP)
        chances = seat_chances(self._grid - np.array(elos)[:, None], self.ladder.game.num_players)
        self.games_per_opening = len(chances)
        self._expected: Array = chances.mean(axis=0)  # (rungs, grid)
        self._variance: Array = (chances * (1 - chances)).sum(axis=0) / self.games_per_opening**2
        known = self.ladder.tournament.get("covariance")
        self._errors = np.array(known, np.float64) if known else np.zeros((len(elos), len(elos)))

    @property
    def openings(self) -> int:
        """The number of openings played."""
        return len(self.scores)

    @property
    def games(self) -> int:
        """The number of games played."""
        return len(self.scores) * self.games_per_opening

    def add(self, batch: Batch, games: Sequence[GameRecord]) -> None:
        """Count the openings of a batch."""
        rung, size = [each.agent for each in self.ladder.rungs].index(batch.agents[1]), self.games_per_opening
        self.scores += [(rung, opening_score(games[k : k + size], self.agent)) for k in range(0, len(games), size)]

    def posterior(self) -> Array:
        """Return the posterior probabilities (G,) of the ratings of the grid."""
        if not self.scores:
            return np.full(len(self._grid), 1 / len(self._grid))
        rungs, scores = np.array([rung for rung, _ in self.scores]), np.array([score for _, score in self.scores])
        met = np.unique(rungs)
        won = np.bincount(rungs, scores, len(self._expected))
        lost = np.bincount(rungs, 1 - scores, len(self._expected))
        likelihood = self.games_per_opening * (won @ np.log(self._expected) + lost @ np.log1p(-self._expected))
        prior = PRIOR / len(met) * (np.log(self._expected[met]) + np.log1p(-self._expected[met])).sum(axis=0)
        best = int((likelihood + prior).argmax())
        scatter = (scores - self._expected[rungs, best]) ** 2 / self._variance[rungs, best]
        factor = (PRIOR_OPENINGS + scatter.sum()) / (PRIOR_OPENINGS + len(scores))
        logarithm = likelihood / factor + prior
        weights = np.exp(logarithm - logarithm.max())
        return weights / weights.sum()

    @property
    def rating(self) -> Rating:
        """The posterior mean and the 95% interval."""
        weights = self.posterior()
        low, high = np.interp([0.025, 0.975], np.cumsum(weights), self._grid)
        return Rating(float(weights @ self._grid), float(low), float(high))

    @property
    def precise(self) -> bool:
        """True if the interval is as narrow as requested."""
        _, low, high = self.rating
        return self.openings >= LEAST_OPENINGS and (high - low) / 2 <= self.half_width

    def ahead_of(self, rung: Rung) -> Rating:
        """Return the agent's rating relative to a rung, with its 95% interval.

        In addition to the agent's own error, the interval includes the error of the difference between this rung's
        rating and those of the rungs played (the ladder's `covariance`), weighted by the information of their games.
        """
        value, low, high = self.rating
        met = np.bincount([k for k, _ in self.scores], minlength=len(self.ladder.rungs))
        lean = met * (self._variance @ self.posterior())
        lean /= max(lean.sum(), 1e-300)
        lean[self.ladder.rungs.index(rung)] -= 1
        error = NORMAL_95 * sqrt(max(0.0, float(lean @ self._errors @ lean)))
        ahead = value - rung.elo
        return Rating(ahead, ahead - float(np.hypot(value - low, error)), ahead + float(np.hypot(high - value, error)))

    def opponents(self) -> list[int]:
        """Return the two rungs with the most informative games, excluding the agent itself."""
        gain = (self._variance * self.games_per_opening**2) @ self.posterior()
        order = np.argsort(-gain, kind="stable").tolist()
        return [rung for rung in order if self.ladder.rungs[rung].agent != self.agent][:2]

    def meetings(self) -> list[Meeting]:
        """Return the results by rung, strongest first, with the predicted scores."""
        place = int(np.abs(self._grid - self.rating.value).argmin())
        found = []
        for k, rung in reversed(list(enumerate(self.ladder.rungs))):
            scores = [score for met, score in self.scores if met == k]
            if scores:
                error = float(np.sqrt(self._variance[k, place] / len(scores)))
                expected = float(self._expected[k, place])
                found.append(Meeting(rung, len(scores), float(np.mean(scores)), expected, error))
        return found

    def place(self) -> str:
        """Return in words which rungs are weaker than the agent, and which stronger, by `ahead_of`."""
        others = {rung: self.ahead_of(rung) for rung in self.ladder.rungs if rung.agent != self.agent}
        below = [rung for rung, ahead in others.items() if ahead.low > 0]
        above = [rung for rung, ahead in others.items() if ahead.high < 0]
        same = [rung for rung in others if rung not in below and rung not in above]
        parts = [f"stronger than {max(below, key=lambda rung: rung.elo).name}"] if below else []
        parts += [f"about as strong as {' and '.join(rung.name for rung in same)}"] if same else []
        parts += [f"weaker than {min(above, key=lambda rung: rung.elo).name}"] if above else []
        return ", ".join(parts)

    def headline(self) -> str:
        """Return the rating, the ladder and the place in one line."""
        value, low, high = self.rating
        return f"{value:,.0f} ± {(high - low) / 2:.0f} on {self.ladder.id}: {self.place()}"

    def note(self) -> str:
        """Return the state in a few words, for a progress bar."""
        if not self.scores:
            return ""
        value, low, high = self.rating
        return f"{value:+.0f} ± {(high - low) / 2:.0f} (until ± {self.half_width:.0f})"

    def as_dict(self) -> dict[str, Any]:
        """Return the rating card as JSON data."""
        value, low, high = self.rating
        return {
            "agent": self.agent,
            "ladder": self.ladder.id,
            "game": self.ladder.game.name,
            "options": dict(self.ladder.game.options),
            "version": __version__,
            "rating": {"value": round(value, 1), "low": round(low, 1), "high": round(high, 1)},
            "headline": self.headline(),
            "games": self.games,
            "openings": self.openings,
            "exploitability": {game: found._asdict() for game, found in self.exploitability.items()},
            "opponents": [
                {
                    "name": met.rung.name,
                    "agent": met.rung.agent,
                    "elo": met.rung.elo,
                    "openings": met.openings,
                    "score": round(met.score, 4),
                    "expected": round(met.expected, 4),
                    "ahead": {name: round(part, 1) for name, part in self.ahead_of(met.rung)._asdict().items()},
                }
                for met in self.meetings()
            ],
        }

    def __str__(self) -> str:
        lines = [f"{self.agent} in {self.ladder.game!r}", self.headline(), ""]
        lines.append(f"{'opponent':24} {'Elo':>6} {'openings':>8} {'score':>6} {'expected':>9}")
        odd = []
        for met in self.meetings():
            lines.append(
                f"{met.rung.name:24} {met.rung.elo:6,.0f} {met.openings:8} {met.score:6.1%} {met.expected:9.1%}"
            )
            if met.openings >= LEAST_OPENINGS and abs(met.score - met.expected) > 3 * met.error:
                odd.append(met.rung.name)
        lines.append(f"\n{self.games} games from {self.openings} openings, each from every seat")
        if odd:
            lines.append(f"One number does not explain the results against {', '.join(odd)}.")
        lines += [f"Exploitability in {game}: {found}" for game, found in self.exploitability.items()]
        return "\n".join(lines)


@checked
def rate_on_ladder(
    agent: str,
    ladder: str | Ladder,
    folder: str | Path,
    *,
    half_width: Annotated[
        float, Option(low=1, high=BEYOND, help="Stop when half the width of the 95% interval is this many Elo points.")
    ] = 35.0,
    openings: Annotated[int, Option(low=1, help="Stop after this many openings even if the interval is wider.")] = 2000,
    seed: Annotated[int, Option(low=0, help="Seed of the first opening. Each further opening adds 1.")] = 0,
    key: Annotated[str, Option(help="Key of another folder, to play its games again (see `pbm tournament`).")] = "",
    run: Run = ALONE,
) -> LadderRating:
    """Play until the agent's rating is known to within `half_width` points, or `openings` have been played.

    `agent` is a name, such as `module:attribute` for your own agent. `ladder` may be a name or an id. Games are kept
    in `folder`, which is created if missing; the same call resumes after any interruption. With perfect information
    there is no key by default, and the same call plays the same games in any folder. The rating does not depend on
    `run`.

    Raises:
        ValueError: The agent, the ladder or a number is invalid, or `folder` holds something else.
        InfrastructureError: As for `play_tournament`.
    """
    chosen = load_ladder(ladder) if isinstance(ladder, str) else ladder
    make_agent(agent)
    rating, found = LadderRating(agent, chosen, half_width), dict[int, Sequence[GameRecord]]()

    def rounds(key: str) -> Iterator[list[Batch]]:
        while rating.openings < openings and not rating.precise:
            batches = _round(rating, seed, key, openings)
            yield batches
            for batch in batches:
                rating.add(batch, found.pop(batch.number))

    def take(games: Sequence[GameRecord]) -> bool:
        found[games[0].number] = games
        return False

    settings = {"test": "ladder", "ladder": chosen.id, "seed": seed}
    settings |= {} if chosen.game.perfect_information and not key else {"key": key}
    play_in_folder(Plan((chosen.game,), (agent,), settings, rounds, open_ended=True), folder, run, take, rating.note)
    return rating


def _round(rating: LadderRating, seed: int, key: str, most_openings: int) -> list[Batch]:
    """Return the next batches, half of them against each of two rungs."""
    ladder, played, size = rating.ladder, rating.openings, rating.games_per_opening
    count = min(max(FIRST, played // GROWTH // 2 * 2), MOST, most_openings - played)
    rungs = rating.opponents()
    parts = [count - count // len(rungs) * (len(rungs) - 1), *([count // len(rungs)] * (len(rungs) - 1))]
    at_once, batches, first = max(1, AT_ONCE // size), [], played
    for rung, part in zip(rungs, parts, strict=True):
        group = (rating.agent, ladder.rungs[rung].agent)
        for start in range(first, first + part, at_once):
            starts = [(None, seed + k) for k in range(start, min(start + at_once, first + part))]
            batches.append(make_batch(start * size, ladder.game, group, starts, seed, key, ladder.opening_moves))
        first += part
    return batches
