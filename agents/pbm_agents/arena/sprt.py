"""Sequential tests of whether a new agent is stronger than an old one, with no more games than necessary.

    test = SequentialTest(Chameleon(size=5), new="mcts:simulations=60", old="mcts:simulations=30", elo1=50)
    result = play_sprt(test, "folder", Run(workers=2))
    print(result)

The generalized sequential probability ratio test, as in fastchess and OpenBench: in H0 the new agent is `elo0` points
stronger than the old one, in H1 `elo1` points. Openings are played one after another, each from every seating. After
each, the test ends if the log-likelihood ratio (`likelihood`) leaves the interval from log(beta) to log(1 / alpha). The
probability of wrongly accepting H1 is then at most alpha if the true difference is `elo0` or less, and that of wrongly
accepting H0 at most beta if it is `elo1` or more (Wald 1945). The usual bounds, log(beta / (1 - alpha)) and
log((1 - beta) / alpha), are a little narrower and guarantee this only approximately.

* The unit is the opening, not the game, since games of one opening are correlated and one seat is often better. Two
  players give the pentanomial distribution of pairs, with scores 0, 1/4, 1/2, 3/4 and 1.
* A draw is half a win for each of two players, a third for each of three; no draw rate is assumed.
* Three seats are filled in all six ways: AAB, ABA, BAA, ABB, BAB, BBA. An agent's score in a game is its seats' total
  share of the win, and its score in an opening the mean of the six games. `expected_score` converts a difference in
  Elo into a score: 1/2 for equal agents, as with two players.

With `normalized`, `elo0` and `elo1` are normalized Elo: the distance of the mean score from 1/2 in standard deviations
of a game's score, times 800 / ln(10). The number of games needed to detect a difference then does not depend on the
draw rate. Without draws, near equal strength and with independent games per opening, it equals the usual Elo.

Openings count in their order, whichever finishes first, so the test alone determines the result. Games after the
decision are kept but do not count.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import log, sqrt
from pathlib import Path
from typing import Any

import numpy as np

from pbm_envs import Game
from pbm_envs.records import GameRecord
from pbm_envs.toolbox import check_settings, setting

from .evaluation import NORMAL_95
from .likelihood import (
    elo_of_score,
    expected_score,
    log_likelihood_ratio,
    normalized_quotient,
    normalized_ratio,
    possible_scores,
)
from .ratings import Rating
from .results import shares
from .schedule import Batch, Plan, Tournament
from .tournament import ALONE, Run, play_in_folder

H0, H1 = "H0", "H1"


@dataclass(frozen=True)
class SequentialTest:
    """The settings of a test, which determine its result."""

    game: Game = setting(help="The game they play.")  # noqa: RUF009
    new: str = setting(help="The agent that may be stronger, by name.")
    old: str = setting(help="The agent to compare it with.")
    elo0: float = setting(0.0, low=-1000, high=1000, help="Elo difference under H0.")
    elo1: float = setting(10.0, low=-1000, high=1000, help="Elo difference under H1.")
    alpha: float = setting(0.05, low=1e-9, high=0.5, help="Largest probability of accepting H1 if H0 is true.")
    beta: float = setting(0.05, low=1e-9, high=0.5, help="Largest probability of accepting H0 if H1 is true.")
    openings: int = setting(10_000, low=1, help="Openings after which the test ends undecided.")
    opening_moves: int = setting(0, low=0, help="Random moves at the start of each opening.")
    seed: int = setting(0, low=0, help="Seed of the first opening. Each further opening adds 1.")
    batch: int = setting(32, low=1, help="Games that are played and written together, rounded to whole openings.")
    key: str = setting("", help="Key of another folder, to play its games again (see `pbm tournament`).")
    normalized: bool = setting(False, help="Read the Elo differences as normalized Elo, as fastchess does.")

    def __post_init__(self) -> None:
        """Raise ValueError unless agents and numbers are valid."""
        check_settings(self)
        self._tournament()
        if not self.elo0 < self.elo1:
            raise ValueError(f"elo0 is {self.elo0} and elo1 is {self.elo1}: expected elo0 < elo1")
        for name in ("alpha", "beta"):
            if getattr(self, name) == 0.5:
                raise ValueError(f"{name} is 0.5: expected a number below 0.5")

    @property
    def bounds(self) -> tuple[float, float]:
        """Bounds of the log-likelihood ratio: H0 is accepted below the first, H1 above the second."""
        return log(self.beta), log(1 / self.alpha)

    @property
    def games_per_opening(self) -> int:
        """The number of games per opening, one for each seating."""
        return 2**self.game.num_players - 2

    def batches(self, key: str | None = None) -> list[Batch]:
        """Return the whole schedule, with this key if given. Usually only its beginning is played."""
        return self._tournament().batches(key)

    def _tournament(self) -> Tournament:
        shared = {name: getattr(self, name) for name in ("openings", "opening_moves", "seed", "key", "batch")}
        return Tournament((self.game,), (self.new, self.old), **shared)

    def plan(self) -> Plan:
        """Return the plan for a folder."""
        settings = {name: value for name, value in vars(self).items() if name not in ("game", "new", "old")}
        return Plan(
            (self.game,), (self.new, self.old), {"test": "sprt", **settings}, lambda key: [self.batches(key)], True
        )

    def ratio(self, counts: Sequence[int], values: Sequence[float]) -> float:
        """Return the log-likelihood ratio of H1 to H0, given the number of openings with each score."""
        players = self.game.num_players
        if self.normalized:
            low, high = (normalized_quotient(elo, self.games_per_opening) for elo in (self.elo0, self.elo1))
            return normalized_ratio(counts, values, low, high)
        return log_likelihood_ratio(
            counts, values, expected_score(self.elo0, players), expected_score(self.elo1, players)
        )


@dataclass
class SequentialResult:
    """The state of a test, for `print`."""

    test: SequentialTest
    counts: list[int] = field(default_factory=list)
    """The number of openings with each of `possible_scores`."""
    llr: float = 0.0
    """The log-likelihood ratio of H1 to H0."""
    accepted: str | None = None
    """`H0`, `H1`, or None while the test is undecided."""

    def __post_init__(self) -> None:
        self.counts = self.counts or [0] * len(self.values)

    @property
    def values(self) -> tuple[float, ...]:
        """The possible scores of an opening."""
        return possible_scores(self.test.game.num_players)

    @property
    def openings(self) -> int:
        """The number of openings counted."""
        return sum(self.counts)

    @property
    def normalized_elo(self) -> float:
        """The mean score's distance from 1/2 in standard deviations of a game, in points of normalized Elo."""
        weights, values = np.maximum(self.counts, 1e-3), np.array(self.values)
        mean = float(weights @ values / weights.sum())
        sigma = sqrt(float(weights @ (values - mean) ** 2 / weights.sum()))
        return (mean - 0.5) / sigma / normalized_quotient(1.0, self.test.games_per_opening)

    @property
    def elo(self) -> Rating:
        """The new agent's advantage in Elo, from the mean score, with its 95% interval.

        A test that stops by itself stops when the results favour one side, so this is biased away from the midpoint of
        `elo0` and `elo1`.
        """
        players, weights, values = self.test.game.num_players, np.array(self.counts, np.float64), np.array(self.values)
        weights += 0.5 / len(weights)  # gives an interval after the first opening, too
        mean = float(weights @ values / weights.sum())
        error = NORMAL_95 * sqrt(float(weights @ (values - mean) ** 2) / weights.sum() / max(1, self.openings))
        return Rating(*(elo_of_score(min(max(mean + k * error, 1e-6), 1 - 1e-6), players) for k in (0, -1, 1)))

    def add(self, score: float) -> bool:
        """Count an opening with this score unless the test is over; return whether the test is over afterwards."""
        if self.accepted is None:
            self.counts[int(np.abs(np.subtract(self.values, score)).argmin())] += 1
            self.llr = self.test.ratio(self.counts, self.values)
            lower, upper = self.test.bounds
            self.accepted = H1 if self.llr >= upper else H0 if self.llr <= lower else None
        return self.accepted is not None

    def note(self) -> str:
        """Return the state in a few words, for a progress bar."""
        if not self.openings:
            return ""
        lower, upper = self.test.bounds
        elo, low, high = self.elo
        return f"LLR {self.llr:+.2f} in ({lower:.2f}, {upper:.2f}), Elo {elo:+.0f} ({low:+.0f} to {high:+.0f})"

    def as_dict(self) -> dict[str, Any]:
        """Return the state as JSON data."""
        lower, upper = self.test.bounds
        return {
            **self.test.plan().command(),
            "accepted": self.accepted,
            "llr": round(self.llr, 6),
            "bounds": [round(lower, 6), round(upper, 6)],
            "openings_played": self.openings,
            "scores": {f"{value:.6g}": count for value, count in zip(self.values, self.counts, strict=True) if count},
            "normalized_elo": round(self.normalized_elo, 1),
            "elo": dict(zip(Rating._fields, (round(value, 1) for value in self.elo), strict=True)),
        }

    def __str__(self) -> str:
        test, games = self.test, self.openings * self.test.games_per_opening
        unit = "normalized Elo" if test.normalized else "Elo"
        said = {
            H1: f"H1 accepted: {test.new} is stronger than {test.old} "
            f"(by {test.elo1:g} rather than {test.elo0:g} {unit})",
            H0: f"H0 accepted: {test.new} is not {test.elo1:g} {unit} stronger than {test.old} (rather {test.elo0:g})",
            None: "nothing is decided yet",
        }[self.accepted]
        counted = zip(self.values, self.counts, strict=True)
        seen = ", ".join(f"{value:.3g}: {count}" for value, count in counted if count or value == 0.5)
        return f"{said}\n{self.note()}\n{games} games from {self.openings} openings; openings by score {seen}"


def opening_score(games: Sequence[GameRecord], agent: str) -> float:
    """Return the mean share of the win of all of `agent`'s seats together in the games of one opening."""
    return sum(
        share for record in games for name, share in zip(record.agents, shares(record), strict=True) if name == agent
    ) / len(games)


def play_sprt(test: SequentialTest, folder: str | Path, run: Run = ALONE) -> SequentialResult:
    """Play until the test is decided or its openings are used up. Games already in `folder` are not played again.

    Args:
        test: The test.
        folder: Folder for the games; created if missing. The same call resumes after any interruption.
        run: How the games are played.

    Returns:
        The result, which does not depend on `run`.

    Raises:
        ValueError: `folder` holds another test, or something else.
        InfrastructureError: As for `play_tournament`.
    """
    result, size = SequentialResult(test), test.games_per_opening
    following, waiting = 0, dict[int, list[GameRecord]]()

    def take(games: Sequence[GameRecord]) -> bool:
        """Count whole openings in their order, whichever finishes first."""
        nonlocal following
        for record in games:
            waiting.setdefault(record.number // size, []).append(record)
        while result.accepted is None and len(waiting.get(following, [])) == size:
            result.add(opening_score(waiting.pop(following), test.new))
            following += 1
        return result.accepted is not None

    play_in_folder(test.plan(), folder, run, take, result.note)
    return result
