"""Evaluation of a policy against opponents, for example from a training loop.

    results = evaluate(policy, game, opponents=["random", "mcts:simulations=50"], games=200, seed=step)
    results["random"].score.value, results["random"].win_rate.low

Intervals are 95% intervals.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any, NamedTuple, final

import numpy as np

from pbm_envs import Game
from pbm_envs.authoring import check_range
from pbm_envs.envs.memory import AgentWithMemory, Ids
from pbm_envs.records import GameRecord
from pbm_envs.toolbox import check_game, check_number, quoted

from ..common.faults import Budget, InfrastructureError
from ..players.agent import Actions, Agent, AnyAgent, Views
from ..players.names import AgentLike, as_agent
from .asking import usage_of
from .journal import total
from .match import Answer, Question, play_games
from .openings import seated_openings
from .results import shares

NORMAL_95 = 1.959964
POLICY = "policy"
MOST_SEED = 1 << 128


class Rate(NamedTuple):
    """A mean of numbers from 0 to 1, with Wilson's 95% interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Evaluation:
    """The results of a policy against one opponent."""

    opponent: str
    wins: int
    draws: int
    losses: int
    score: Rate
    """Mean score: 1 for a win, 1/2 for a draw of two players, 1/3 for a draw of three."""
    win_rate: Rate
    """Share of the games won; a draw is not a win."""
    seats: tuple[float, ...]
    """The scores as `player_0`, as `player_1`, ..."""
    plies: float
    """The mean length of a game."""

    @property
    def games(self) -> int:
        return self.wins + self.draws + self.losses

    def __str__(self) -> str:
        return (
            f"{self.opponent}: score {self.score.value:.3f} ({self.score.low:.3f} to {self.score.high:.3f}) in "
            f"{self.games} games, {self.wins} won, {self.draws} drawn, {self.losses} lost"
        )


@final
class _Watched:
    """A wrapper of the evaluated agent that keeps the first error that it raised."""

    def __init__(self, agent: Agent) -> None:
        self.agent = agent
        self.error: Exception | None = None

    def act(self, game: Game, views: Views, rng: np.random.Generator) -> Actions:
        try:
            return self.agent.act(game, views, rng)
        except Exception as error:
            self.error = self.error or error
            raise

    def take_usage(self, ids: Ids) -> Sequence[Mapping[str, float]]:
        return usage_of(self.agent, ids)


def evaluate(
    policy: AgentLike,
    game: Game,
    opponents: Sequence[AgentLike] | Mapping[str, AgentLike] = ("random",),
    games: int = 100,
    seed: int = 0,
    opening_moves: int = 0,
    max_requests: int | None = None,
    max_cost: float | None = None,
) -> dict[str, Evaluation]:
    """Play games of a policy against each opponent, and return the results by the opponents' names.

    Every opening is played from every seat; the opponent has the other seats. The games against one opponent run as one
    batch. The seed determines the openings and the agents' random numbers. If neither side plays at random, set
    `opening_moves`, or all games are the same. With hidden information, each game has its own set-up, drawn from the
    seed; use a seed that cannot be guessed if you do not trust the policy.

    Args:
        policy: A function of observations and masks that returns actions or scores; or, as in `as_agent`, an agent, an
            agent name, or a `Search`.
        game: The rules.
        opponents: Opponents of the same kinds, as a list or as a mapping by name. In a list, an opponent that is not a
            name gets the name of its function or class.
        games: Number of games against each opponent, rounded up to whole openings.
        seed: Seed of the openings and agents.
        opening_moves: Number of random moves before the agents take over.
        max_requests: Limit on the requests of all agents together, such as those of language models. It is checked
            before each question, which is about all games of a batch in which the agent is to move.
        max_cost: Limit on the cost of all answers together, checked in the same way.

    Raises:
        ValueError: An opponent fails, or the policy plays an illegal action. Other errors of the policy are passed on
            unchanged.
        BudgetSpentError: The budget is used up. The games are not kept: tournaments resume.

    >>> from pbm_envs import Chameleon
    >>> first_legal = lambda observations, masks: masks.argmax(axis=1)
    >>> print(evaluate(first_legal, Chameleon(size=3), games=50)["random"])  # doctest: +ELLIPSIS
    random: score 0... (0... to 0...) in 50 games, ... won, 0 drawn, ... lost
    """
    check_game(game)
    check_range("games", games, 1)
    check_range("seed", seed, 0, MOST_SEED)
    check_range("opening_moves", opening_moves, 0)
    if max_requests is not None:
        check_range("max_requests", max_requests, 0)
    if max_cost is not None:
        check_number("max_cost", max_cost, 0)
    games, seed = int(games), int(seed)
    if isinstance(opponents, str):
        raise ValueError(f"opponents is {quoted(opponents)}: expected a list of names, such as [{quoted(opponents)}]")
    if not isinstance(opponents, (Mapping, Sequence)):
        raise ValueError(
            f"opponents is {quoted(opponents)}: expected a list of opponents, or a mapping from names to them"
        )
    agents = {name: as_agent(each) for name, each in _named(opponents).items()}
    own_name = next(name for k in range(len(agents) + 1) if (name := POLICY + "'" * k) not in agents)
    player: Any = as_agent(policy)
    count = -(-games // game.num_players)
    starts = [(None, seed + k) for k in range(count)]
    budget, used = Budget(max_requests, max_cost), Counter[str]()
    results = {}

    def report(message: Question | Sequence[Answer]) -> None:
        if not isinstance(message, Question):
            used.update(total(answer.usage for answer in message))
        elif message.rows:
            budget.check(used, "a larger budget plays all of them; a tournament keeps those that are played")

    for name, opponent in agents.items():
        own: AnyAgent = player if isinstance(player, AgentWithMemory) else _Watched(player)
        seats = [[own_name if k == seat else name for k in range(game.num_players)] for seat in range(game.num_players)]
        try:
            records = play_games(
                game,
                {own_name: own, name: opponent},
                seats=seats * count,
                openings=seated_openings(game, seats, starts, 0, moves=opening_moves),
                seed=seed,
                report=report,
            )
        except InfrastructureError as fault:
            raise (own.error if isinstance(own, _Watched) and own.error is not None else fault) from None
        if isinstance(own, _Watched) and own.error is not None:
            raise own.error
        if failed := [record for record in records if record.forfeits]:
            forfeit = failed[0].forfeits[0]
            who = "the agent" if failed[0].agents[forfeit.player] == own_name else f"the opponent {name!r}"
            raise ValueError(f"{who} failed: {forfeit.reason}")
        results[name] = _summary(name, records, own_name)
    return results


def wilson(mean: float, count: int) -> Rate:
    """Return Wilson's interval of the mean of `count` numbers from 0 to 1. Draws make it conservative.

    >>> [round(value, 3) for value in wilson(0.5, 100)]
    [0.5, 0.404, 0.596]
    """
    z = NORMAL_95
    middle = (mean + z * z / (2 * count)) / (1 + z * z / count)
    half = z / (1 + z * z / count) * sqrt(mean * (1 - mean) / count + z * z / (4 * count * count))
    return Rate(mean, max(0.0, middle - half), min(1.0, middle + half))


def _named(opponents: Sequence[AgentLike] | Mapping[str, AgentLike]) -> Mapping[str, AgentLike]:
    """Return the opponents by name."""
    if isinstance(opponents, Mapping):
        return opponents
    named: dict[str, AgentLike] = {}
    for opponent in opponents:
        kind = opponent if isinstance(opponent, str) else getattr(opponent, "__name__", type(opponent).__name__)
        name, k = kind, 2
        while name in named:
            name, k = f"{kind} {k}", k + 1
        named[name] = opponent
    return named


def _summary(opponent: str, records: Sequence[GameRecord], own_name: str) -> Evaluation:
    seats = [record.agents.index(own_name) for record in records]
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
