"""How strong is a policy? A function to call from a training loop.

    results = evaluate(policy, game, opponents=["random", "mcts:simulations=50"], games=200, seed=step)
    results["random"].score.value, results["random"].win_rate.low

The intervals hold 95%.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any, NamedTuple, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from pbm_envs import Game
from pbm_envs.records import GameRecord

from .agent import Actions, Agent, Views
from .arena.match import play_games
from .arena.ratings import shares
from .arena.schedule import draw_opening
from .names import make_agent

Policy: TypeAlias = Callable[[NDArray[np.int8], NDArray[np.bool_]], Any]
"""Called with observations (B, rows, cols, planes) and masks (B, A) of the players to move, gives actions (B,), or
scores (B, A), such as logits: then the best legal action is played. Anything that `numpy.asarray` takes."""

NORMAL_95 = 1.959964
POLICY = "policy"


class Rate(NamedTuple):
    """A mean of numbers from 0 to 1, and Wilson's 95% interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Evaluation:
    """Games of a policy against one opponent."""

    opponent: str
    wins: int
    draws: int
    losses: int
    score: Rate
    """A win is 1; a draw 1/2, among three 1/3."""
    win_rate: Rate
    """A draw is no win."""
    seats: tuple[float, ...]
    """The score as `player_0`, as `player_1`, ..."""
    plies: float
    """Mean length of a game."""

    @property
    def games(self) -> int:
        return self.wins + self.draws + self.losses

    def __str__(self) -> str:
        return (
            f"{self.opponent}: score {self.score.value:.3f} ({self.score.low:.3f} to {self.score.high:.3f}) in "
            f"{self.games} games, {self.wins} won, {self.draws} drawn, {self.losses} lost"
        )


@final
class PolicyAgent:
    """A policy as an agent. It sees the observations of views, so nothing that is hidden from the player to move."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self.error: Exception | None = None
        """The first that the policy raised, or its first answer that cannot be played."""

    def act(self, game: Game, views: Views, rng: np.random.Generator) -> Actions:
        masks = game.legal_action_mask(views)
        try:
            return _actions(game, np.asarray(self.policy(game.observe(views), masks.copy())), masks)
        except Exception as error:
            self.error = self.error or error
            raise


def evaluate(
    policy: Policy,
    game: Game,
    opponents: Sequence[str] | Mapping[str, Agent] = ("random",),
    games: int = 100,
    seed: int = 0,
    opening_moves: int = 0,
) -> dict[str, Evaluation]:
    """How `policy` does against each opponent: agents by name, or named agents such as `PolicyAgent(older_policy)`.

    Every opening is played from every seat, the opponent having the others, so `games` is rounded up to whole openings.
    The games against an opponent run as one batch. The same seed gives the same openings and opponents' luck. Where
    neither side is random, give each opening some `opening_moves`, or all games are the same. What the policy raises,
    an answer that cannot be played included, is raised here.

    >>> from pbm_envs import Chameleon
    >>> first_legal = lambda observations, masks: masks.argmax(axis=1)
    >>> print(evaluate(first_legal, Chameleon(size=3), games=50)["random"])  # doctest: +ELLIPSIS
    random: score 0... (0... to 0...) in 50 games, ... won, 0 drawn, ... lost
    """
    if games < 1:
        raise ValueError(f"games is {games}: expected at least 1")
    if isinstance(opponents, str):
        raise ValueError(f"opponents is {opponents!r}: expected a list of names, such as [{opponents!r}]")
    agents = opponents if isinstance(opponents, Mapping) else {name: make_agent(name) for name in opponents}
    count = -(-games // game.num_players)
    openings = [draw_opening(game, seed + k, None, opening_moves) for k in range(count)]
    results = {}
    for name, opponent in agents.items():
        own = PolicyAgent(policy)
        seats = [[POLICY if k == seat else name for k in range(game.num_players)] for seat in range(game.num_players)]
        records = play_games(
            game,
            {POLICY: own, name: opponent},
            seats=seats * count,
            openings=[opening for opening in openings for _ in seats],
            seed=seed,
        )
        if own.error is not None:
            raise own.error
        if failed := [record for record in records if record.forfeits]:
            raise ValueError(f"the opponent {name!r} failed: {failed[0].forfeits[0].reason}")
        results[name] = _summary(name, records)
    return results


def wilson(mean: float, count: int) -> Rate:
    """Of `count` numbers from 0 to 1. Exact for none but ones and zeros; draws make it wider than need be.

    >>> [round(value, 3) for value in wilson(0.5, 100)]
    [0.5, 0.404, 0.596]
    """
    z = NORMAL_95
    middle = (mean + z * z / (2 * count)) / (1 + z * z / count)
    half = z / (1 + z * z / count) * sqrt(mean * (1 - mean) / count + z * z / (4 * count * count))
    return Rate(mean, max(0.0, middle - half), min(1.0, middle + half))


def _summary(opponent: str, records: Sequence[GameRecord]) -> Evaluation:
    seats = [record.agents.index(POLICY) for record in records]
    returns = np.array([record.returns[seat] for record, seat in zip(records, seats, strict=True)])
    scores = np.array([shares(record)[seat] for record, seat in zip(records, seats, strict=True)])
    wins, losses = int((returns == 1).sum()), int((returns < 0).sum())
    return Evaluation(
        opponent=opponent,
        wins=wins,
        draws=len(records) - wins - losses,
        losses=losses,
        score=wilson(float(scores.mean()), len(records)),
        win_rate=wilson(wins / len(records), len(records)),
        seats=tuple(float(scores[np.equal(seats, seat)].mean()) for seat in range(max(seats) + 1)),
        plies=float(np.mean([record.plies for record in records])),
    )


def _actions(game: Game, answer: NDArray[Any], masks: NDArray[np.bool_]) -> Actions:
    """Actions (B,) from actions or scores."""
    if answer.shape == masks.shape:
        scores = np.where(masks, answer, -np.inf)
        best = scores.max(axis=1)
        if not np.isfinite(best).all():
            raise ValueError(f"the policy's best score is {best[~np.isfinite(best)][0]}: expected finite numbers")
        return scores.argmax(axis=1)
    if answer.shape != masks.shape[:1] or answer.dtype.kind not in "iu":
        raise ValueError(
            f"the policy gave {answer.dtype} {answer.shape}: expected integer actions {masks.shape[:1]} or scores "
            f"{masks.shape}"
        )
    for action, mask in zip(answer.tolist(), masks, strict=True):
        if not (0 <= action < game.num_actions and mask[action]):
            raise ValueError(f"the policy played {action}, which its mask forbids")
    return answer.astype(np.int64)
