"""An agent's place on a frozen ladder: it plays where it learns most, until its rating is known well enough.

    rating = rate_on_ladder("mcts:simulations=60", "trinim-5", "folder", half_width=60)
    print(rating)

The rungs' ratings are given: they define the scale, and the agent's is the only unknown. (They come from finitely many
games themselves. Where the agent is compared with a rung, `LadderRating.ahead_of`, their errors count.) What is known
about it is a distribution over a fine grid of ratings: the likelihood by Luce's model (as in `ratings`) times half a
game won and half a game lost against those it has met. The next opponents are the two rungs from whose games most is to
be expected: the mean over that distribution of p (1 - p), the information of a game that the agent wins with
probability p. Openings are played from all seats. Results of openings scatter less than those of single games where
seats or openings matter, or draws are frequent, and more where an agent is erratic; the likelihood is tempered by how
much they do (with a weight of PRIOR_OPENINGS for its being as the model says). It ends when the 95% interval is as
narrow as asked for.

What is played follows from the arguments and the results alone: not from the workers, and not from having been stopped.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from io import BytesIO, FileIO
from itertools import product
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pbm_envs import __version__
from pbm_envs.records import GameRecord, RecordError, append_to, record_of_line, verify

from ..common.folders import locked, programs
from ..players.names import make_agent
from .evaluation import NORMAL_95
from .exploitability import Exploitability
from .faults import Faults
from .ladder import Ladder, Rung, load_ladder
from .ratings import PRIOR, Rating
from .schedule import Batch, make_batch
from .sprt import opening_score
from .tournament import PLAYING, SCHEMA, Bar, check_start, games_file, with_key
from .workers import play_batches

Array = NDArray[np.float64]

STEP, BEYOND = 2.0, 800.0
"""Elo points between two ratings that are thought possible, and how far beyond the ladder they go."""
FIRST, GROWTH, MOST = 4, 3, 64
"""Openings of a round: at least, a GROWTH-th of those so far, at most."""
AT_ONCE = 16
"""Games of a batch, in whole openings."""
PRIOR_OPENINGS = 20
LEAST_OPENINGS = 12
"""Before that no interval is believed."""


@dataclass(frozen=True)
class Meeting:
    """Games against one rung."""

    rung: Rung
    openings: int
    score: float
    expected: float
    """By the model, at the rating found."""
    error: float
    """Standard error of `score` by the model."""


@dataclass(eq=False)
class LadderRating:
    """What is known of an agent's place. `print` it; `as_dict` for JSON, `plot_placement` for a picture."""

    agent: str
    ladder: Ladder
    half_width: float
    scores: list[tuple[int, float]] = field(default_factory=list)
    """Number of the rung and score of each opening, in order."""
    exploitability: dict[str, Exploitability] = field(default_factory=dict)
    """By game, of those in which it has been measured: `measure_exploitability`."""

    def __post_init__(self) -> None:
        elos = [rung.elo for rung in self.ladder.rungs]
        self._grid = np.arange(min(elos) - BEYOND, max(elos) + BEYOND + STEP, STEP)
        players = self.ladder.game.num_players
        strength = 10 ** ((self._grid - np.array(elos)[:, None]) / 400)
        seats = [sum(row) for row in product((0, 1), repeat=players) if 0 < sum(row) < players]
        chances = np.array([k * strength / (k * strength + players - k) for k in seats])  # (games, rungs, grid)
        self._expected: Array = chances.mean(axis=0)
        self._variance: Array = (chances * (1 - chances)).sum(axis=0) / len(seats) ** 2
        self._games = len(seats)
        known = self.ladder.tournament.get("covariance")
        self._errors = np.array(known, np.float64) if known else np.zeros((len(elos), len(elos)))

    @property
    def openings(self) -> int:
        """How many have been played."""
        return len(self.scores)

    @property
    def games(self) -> int:
        """How many have been played."""
        return len(self.scores) * self._games

    def posterior(self) -> Array:
        """(G,) probabilities of the ratings of the grid."""
        if not self.scores:
            return np.full(len(self._grid), 1 / len(self._grid))
        rungs, scores = np.array([rung for rung, _ in self.scores]), np.array([score for _, score in self.scores])
        met = np.unique(rungs)
        won = np.bincount(rungs, scores, len(self._expected))
        lost = np.bincount(rungs, 1 - scores, len(self._expected))
        likelihood = self._games * (won @ np.log(self._expected) + lost @ np.log1p(-self._expected))
        prior = PRIOR / len(met) * (np.log(self._expected[met]) + np.log1p(-self._expected[met])).sum(axis=0)
        best = int((likelihood + prior).argmax())
        scatter = (scores - self._expected[rungs, best]) ** 2 / self._variance[rungs, best]
        factor = (PRIOR_OPENINGS + scatter.sum()) / (PRIOR_OPENINGS + len(scores))
        logarithm = likelihood / factor + prior
        weights = np.exp(logarithm - logarithm.max())
        return weights / weights.sum()

    @property
    def rating(self) -> Rating:
        """The mean, and the 95% interval."""
        weights = self.posterior()
        low, high = np.interp([0.025, 0.975], np.cumsum(weights), self._grid)
        return Rating(float(weights @ self._grid), float(low), float(high))

    @property
    def precise(self) -> bool:
        """The interval is as narrow as asked for."""
        _, low, high = self.rating
        return self.openings >= LEAST_OPENINGS and (high - low) / 2 <= self.half_width

    def ahead_of(self, rung: Rung) -> Rating:
        """How much stronger than a rung the agent is, with 95% interval.

        Beside what is not known of the agent, this counts what is not known of the differences between this rung's
        rating and those of the rungs that it has met (the ladder's `covariance`): a rating leans on each rung as much
        as the games against it have told.
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
        """The two rungs from which most is to be learnt next, the agent itself not among them."""
        gain = (self._variance * self._games**2) @ self.posterior()
        order = np.argsort(-gain, kind="stable").tolist()
        return [rung for rung in order if self.ladder.rungs[rung].agent != self.agent][:2]

    def meetings(self) -> list[Meeting]:
        """The results by rung, strongest first, beside what the rating lets expect."""
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
        """Which rungs it is stronger than, and which weaker, in words: `ahead_of`."""
        others = {rung: self.ahead_of(rung) for rung in self.ladder.rungs if rung.agent != self.agent}
        below = [rung for rung, ahead in others.items() if ahead.low > 0]
        above = [rung for rung, ahead in others.items() if ahead.high < 0]
        same = [rung for rung in others if rung not in below and rung not in above]
        parts = [f"stronger than {max(below, key=lambda rung: rung.elo).name}"] if below else []
        parts += [f"about as strong as {' and '.join(rung.name for rung in same)}"] if same else []
        parts += [f"weaker than {min(above, key=lambda rung: rung.elo).name}"] if above else []
        return ", ".join(parts)

    def headline(self) -> str:
        """The rating, the ladder and the place, in one line."""
        value, low, high = self.rating
        return f"{value:,.0f} ± {(high - low) / 2:.0f} on {self.ladder.id}: {self.place()}"

    def note(self) -> str:
        """The state in a few words, for a progress bar."""
        if not self.scores:
            return ""
        value, low, high = self.rating
        return f"{value:+.0f} ± {(high - low) / 2:.0f} (until ± {self.half_width:.0f})"

    def as_dict(self) -> dict[str, Any]:
        """The card as data, for JSON."""
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


def rate_on_ladder(
    agent: str,
    ladder: str | Ladder,
    folder: str | Path,
    half_width: float = 35.0,
    *,
    most_openings: int = 2000,
    seed: int = 0,
    key: str = "",
    workers: int = 1,
    ray: bool | str = False,
    progress: bool = False,
    accept_changes: bool = False,
) -> LadderRating:
    """Play until the agent's rating is known to within `half_width` points, or `most_openings` have been played.

    Args:
        agent: As `make_agent` reads it: `module:attribute` for your own.
        ladder: One, or the name or id of one.
        folder: Where the games are kept; it is made if missing. Stopped in whatever way, the same call goes on.
        half_width: Of the 95% interval, in Elo points.
        most_openings: Beyond that the rating is what it is.
        seed: Of the first opening; the others follow.
        key: As in `Tournament`. By default none with perfect information, where the same call plays the same games in
            any folder; where something is hidden the folder's, or a new one.
        workers: Processes that play.
        ray: The address of a Ray cluster that plays instead; True: the one that runs or is started here.
        progress: Show a bar, with the rating so far.
        accept_changes: As in `play_tournament`.

    Returns:
        The rating, the same whoever plays.

    Raises:
        ValueError: There is no such agent or ladder, a number is impossible, or `folder` holds something else.
        InfrastructureError: Games are unplayed because of faults that are no agent's doing.
    """
    chosen = load_ladder(ladder) if isinstance(ladder, str) else ladder
    if not 1 <= half_width <= BEYOND:
        raise ValueError(f"half_width is {half_width}: expected a number of Elo points from 1 to {BEYOND:g}")
    for name, value, least in (("most_openings", most_openings, 1), ("workers", workers, 1), ("seed", seed, 0)):
        if value < least:
            raise ValueError(f"{name} is {value}: expected at least {least}")
    make_agent(agent)
    rating, folder = LadderRating(agent, chosen, half_width), Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    command: dict[str, Any] = {
        "schema": SCHEMA,
        "version": __version__,
        "test": "ladder",
        "ladder": chosen.id,
        "agents": [agent],
        "seed": seed,
        **({} if chosen.game.perfect_information and not key else {"key": key}),
    }
    bar = Bar(progress, rating.note, open_ended=True)
    here = programs([chosen.game], [agent])
    with (
        locked(folder, PLAYING),
        games_file(folder, command := with_key(folder, command), here, accept_changes) as file,
        bar.track(0, 0) as update,
    ):
        stored, faults = _Stored(file), Faults()
        while rating.openings < most_openings and not rating.precise:
            batches = _round(rating, seed, command.get("key", ""), most_openings)
            found = {batch.number: stored.take(batch) for batch in batches}
            missing = [batch for batch in batches if not found[batch.number]]
            if missing:
                stored.cut()
            with closing(play_batches(missing, min(workers, max(1, len(missing))), ray=ray)) as results:
                for result in results:
                    if games := faults.take(result):
                        append_to(file, games)
                        found[games[0].number] = games
            faults.check()
            for batch in batches:
                rating.scores += _scores(batch, found[batch.number], chosen, agent)
                update(found[batch.number])
    return rating


def _round(rating: LadderRating, seed: int, key: str, most_openings: int) -> list[Batch]:
    """What is played next, half of it against each of two rungs."""
    game, size = rating.ladder.game, 2**rating.ladder.game.num_players - 2
    count = min(max(FIRST, rating.openings // GROWTH // 2 * 2), MOST, most_openings - rating.openings)
    rungs = rating.opponents()
    shares = [count - count // len(rungs) * (len(rungs) - 1), *([count // len(rungs)] * (len(rungs) - 1))]
    batches, first = [], rating.openings
    for rung, openings in zip(rungs, shares, strict=True):
        opponent = rating.ladder.rungs[rung].agent
        for part in _parts(range(first, first + openings), max(1, AT_ONCE // size)):
            starts = [(None, seed + k) for k in part]
            group = (rating.agent, opponent)
            batches.append(make_batch(part[0] * size, game, group, starts, seed, key, rating.ladder.opening_moves))
        first += openings
    return batches


def _parts(numbers: range, size: int) -> Iterator[range]:
    for k in range(0, len(numbers), size):
        yield numbers[k : k + size]


def _scores(batch: Batch, games: Sequence[GameRecord], ladder: Ladder, agent: str) -> list[tuple[int, float]]:
    """Number of the rung and score, opening by opening."""
    size = 2**ladder.game.num_players - 2
    rung = [each.agent for each in ladder.rungs].index(batch.agents[1])
    return [(rung, opening_score(games[k : k + size], agent)) for k in range(0, len(games), size)]


class _Stored:
    """The games that a folder holds already."""

    def __init__(self, file: FileIO) -> None:
        file.seek(0)
        self.file, self.kept, self.cut_off = file, 0, False
        self.lines = [line for line in BytesIO(file.readall()).readlines() if line.endswith(b"\n")]
        records = [record_of_line(line, file.name, number) for number, line in enumerate(self.lines, start=1)]
        self.place = {record.number: k for k, record in enumerate(records)}
        self.records = {record.number: record for record in records}

    def take(self, batch: Batch) -> list[GameRecord]:
        """The games of a batch if they are all there, else none."""
        numbers = range(batch.number, batch.number + len(batch))
        if not all(number in self.records for number in numbers):
            return []
        games = [self.records.pop(number) for number in numbers]
        for record, opening, seats in zip(games, batch.openings, batch.seats, strict=True):
            try:
                check_start(record, batch.game, opening, seats)
                verify(record)
            except RecordError as error:
                line = self.place[record.number] + 1
                raise RecordError(f"{self.file.name}, line {line}: not a game of this rating: {error}") from None
        self.kept = max(self.kept, *(self.place[number] + 1 for number in numbers))
        return games

    def cut(self) -> None:
        """Before games are added: drop what stands behind the last whole batch."""
        if not self.cut_off:
            self.file.truncate(sum(map(len, self.lines[: self.kept])))
            self.records.clear()
        self.cut_off = True
