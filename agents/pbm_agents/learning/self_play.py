"""Self-play with a search, as in AlphaZero.

    search = Search(simulations=20, parallel_simulations=4)  # with a network: evaluator=..., selection=PUCT(noise=0.25)
    settings = SelfPlay(exploring_plies=10, resign_below=-0.95)
    examples = self_play(Chameleon(size=5), search, 16, rng, settings)
    examples = self_play_in_processes(Chameleon(size=5), search, 16, seed=1, workers=2, settings=settings)

Dirichlet noise in the root priors is a setting of the selection rule (`PUCT.noise`). The examples go to a
`ReplayBuffer`, or straight to a learner.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pbm_envs import Game
from pbm_envs.authoring import check_range, seeds
from pbm_envs.toolbox import check_settings, setting

from ..common.progress import progress_bar
from ..common.workers import make_pool
from ..search import Search, SearchResult, Workspace
from ..search.rules import without_noise
from .training_data import CUT_OFF, ENDED, RESIGNED, Examples, Floats, from_mover, joined


@dataclass(frozen=True)
class SelfPlay:
    """Settings of self-play: how moves are chosen, and when players resign."""

    temperature: float = setting(
        1.0, low=0, help="Moves of the exploring plies are drawn from `SearchResult.policy(temperature)`."
    )
    exploring_plies: int | None = setting(None, low=0, help="First plies that explore. None: all.")
    final_temperature: float = setting(0.0, low=0, help="Temperature of the moves after them.")
    resign_below: float | None = setting(
        None, low=-1, high=1, help="A player to move whose root value is below this resigns. None: nobody does."
    )
    no_resign_share: float = setting(
        0.1,
        low=0,
        high=1,
        help="Share of the games in which nobody resigns: `wrong_resignations` learns from them whether the threshold "
        "is right.",
    )
    full_share: float = setting(
        1.0,
        low=1e-9,
        high=1,
        help="Share of the positions, drawn for each, in which the search has all its simulations and gives an "
        "example. The others are searched quickly, without noise: playout-cap randomization (Wu 2020).",
    )
    quick_simulations: int = setting(16, low=1, help="Simulations of the quick searches, if the search has more.")
    full_observations: bool = setting(
        False, help="Whether examples hold what the player to move would see if nothing were hidden."
    )

    def __post_init__(self) -> None:
        check_settings(self)

    def temperature_at(self, ply: int) -> float:
        """Return the temperature of the move at this ply."""
        exploring = self.exploring_plies is None or ply < self.exploring_plies
        return self.temperature if exploring else self.final_temperature


DEFAULT = SelfPlay()


def self_play(
    game: Game, search: Search, games: int, rng: np.random.Generator, settings: SelfPlay = DEFAULT
) -> Examples:
    """Play games simultaneously, and return an example for every position searched in full, by game and ply.

    With `full_share` of 1, these are all positions.

    The return of a game cut off by a ply limit is the value of its last position, as the search's evaluator gives it
    without the limit. (Random playouts stop at the limit at once and give about 0.) A player who resigns
    (`settings.resign_below`) loses.

    The policies of examples always have temperature 1.

    Args:
        game: The rules.
        search: Plays all seats.
        games: The number of games.
        rng: The source of all randomness.
        settings: How moves are chosen, and when players resign.
    """
    check_range("games", games, 1)
    states = game.init(games, rng)
    may_resign = rng.random(games) >= settings.no_resign_share
    endings = np.full(games, ENDED, np.int8)
    turns, workspaces = [], (Workspace(), Workspace())
    while not states["done"].all():
        rows = np.flatnonzero(~states["done"])
        movers = states["to_move"][rows].astype(np.int64)
        views = game.view(states[rows], movers)
        results, full = _searched(game, search, views, rng, settings, workspaces)
        values = np.array([result.value for result in results], np.float32)
        policies = np.array([result.policy() for result in results])
        visits = np.array([result.visits for result in results], np.int32)
        plies, masks = states["ply"][rows], game.legal_action_mask(views)
        targets = policies.astype(np.float32)
        found = rows, plies, movers, game.observe(views), masks, targets, from_mover(values, movers), visits
        seen = (
            _full_observations(game, states[rows]) if settings.full_observations else np.zeros((len(rows), 0), np.int8)
        )
        turns.append(tuple(part[full] for part in (*found, seen)))
        actions = np.zeros(games, np.int64)
        for row, ply, result, policy in zip(rows.tolist(), plies.tolist(), results, policies, strict=True):
            temperature = settings.temperature_at(ply)
            actions[row] = rng.choice(len(policy), p=policy if temperature == 1 else result.policy(temperature))
        gives_up = np.zeros(games, np.bool_)
        if settings.resign_below is not None:
            gives_up[rows] = may_resign[rows] & (values[np.arange(len(rows)), movers] < settings.resign_below)
        for row in np.flatnonzero(gives_up).tolist():
            game.remove_player(states[row : row + 1])
            endings[row] = RESIGNED
        on = np.flatnonzero(~gives_up & ~states["done"])
        going = states[on]
        game.step(going, actions[on])
        states[on] = going
    endings[states["truncated"]] = CUT_OFF
    returns = states["returns"].copy()
    cut = np.flatnonzero(states["truncated"])
    if cut.size:
        returns[cut] = _last_values(game, search, states[cut], rng)
    rows, plies, movers, observations, masks, policies, values, visits, full_observations = (
        np.concatenate(part) for part in zip(*turns, strict=True)
    )
    examples = Examples(
        observations,
        masks,
        policies,
        returns=from_mover(returns[rows], movers),
        games=rows,
        plies=plies.astype(np.int32),
        players=movers.astype(np.int8),
        endings=endings[rows],
        root_values=values,
        visits=visits,
        full_observations=full_observations,
    )
    return examples.rows(np.lexsort((plies, rows)))


def self_play_in_processes(
    game: Game,
    search: Search,
    games: int,
    seed: int,
    workers: int = 2,
    settings: SelfPlay = DEFAULT,
    *,
    batch: int = 32,
    progress: bool = False,
) -> Examples:
    """Run `self_play` in several processes. The examples and their order do not depend on the number of processes.

    Args:
        game: The rules.
        search: Plays all seats. It is pickled, so its evaluator must be picklable: a module-level function or,
            for example, `PolicyValueNetwork.evaluator()`.
        games: The number of games.
        seed: Seed of all random numbers.
        workers: Number of processes; with 1, only this process plays.
        settings: How moves are chosen.
        batch: Number of games that a process plays simultaneously. Another number gives other games.
        progress: Show a bar (extra `cli`).
    """
    for name, value in (("workers", workers), ("batch", batch), ("games", games)):
        check_range(name, value, 1)
    sizes = [min(batch, games - first) for first in range(0, games, batch)]
    streams = np.random.SeedSequence(seed).spawn(len(sizes))
    jobs = dict(enumerate(zip(sizes, streams, strict=True)))
    parts = {}
    with make_pool(workers) as pool, progress_bar(progress, total=len(jobs), unit="batch", desc="self-play") as bar:
        for k, part in pool.run(partial(play_batch, game, replace(search), settings), jobs):
            parts[k] = part._replace(games=part.games + k * batch)
            bar.update()
    return joined(parts[k] for k in range(len(jobs)))


def play_batch(game: Game, search: Search, settings: SelfPlay, job: tuple[int, Any]) -> Examples:
    """Play a job: a number of games and their seed."""
    games, seed = job
    return self_play(game, search, games, np.random.default_rng(seed), settings)


def wrong_resignations(examples: Examples, threshold: float) -> float:
    """Return the share of players below this threshold who did not lose; nan if no player was below it.

    Only games in which nobody resigned count. AlphaGo Zero kept this share below 0.05.

    Args:
        examples: Examples of `self_play` with `no_resign_share`; games that ended by resignation do not count.
        threshold: A root value, as in `SelfPlay.resign_below`.
    """
    low = (examples.endings != RESIGNED) & (examples.root_values[:, 0] < threshold)
    who = np.stack([examples.games[low], examples.players[low]], axis=1)
    _, first = np.unique(who, axis=0, return_index=True)
    return float((examples.returns[low][first, 0] >= 0).mean()) if len(first) else float("nan")


def _searched(
    game: Game,
    search: Search,
    views: NDArray[Any],
    rng: np.random.Generator,
    settings: SelfPlay,
    workspaces: tuple[Workspace, Workspace],
) -> tuple[list[SearchResult], NDArray[np.bool_]]:
    """Return the search results of the positions, and (B,) which positions were searched in full."""
    full = np.ones(len(views), np.bool_)
    if settings.full_share == 1:
        return search.run(game, views, rng, workspace=workspaces[0]), full
    full = rng.random(len(views)) < settings.full_share
    most = min(settings.quick_simulations, search.simulations or settings.quick_simulations)
    quick = replace(search, simulations=most, seconds=None, selection=without_noise(search.selection))
    found: list[Any] = [None] * len(views)
    for some, how, workspace in zip((full, ~full), (search, quick), workspaces, strict=True):
        rows = np.flatnonzero(some)
        if len(rows):
            for row, result in zip(rows, how.run(game, views[rows], rng, workspace=workspace), strict=True):
                found[row] = result
    return found, full


def _full_observations(game: Game, states: NDArray[Any]) -> NDArray[np.int8]:
    """Return the observations that the players to move would get if nothing were hidden."""
    states = states.copy()
    states["viewer"] = states["to_move"]
    return game.observe(states)


def _last_values(game: Game, search: Search, states: NDArray[Any], rng: np.random.Generator) -> Floats:
    """Return (R, P) evaluator values by seat of positions that were cut off, as if the game continued."""
    states = states.copy()
    states["done"] = states["truncated"] = False
    masks = game.legal_action_mask(states)
    _, values = search.leaf_evaluator(game, states, masks, seeds(rng, len(states)), None)
    return values.astype(np.float32)
