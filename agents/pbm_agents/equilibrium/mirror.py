"""Update-equivalent search (Sokota et al. 2023): one step of magnetic mirror descent on the values of the actions.

The agent values its actions in worlds that fit its view, and plays the policy that maximizes the mean value plus
`temperature` times the entropy. This is a step of magnetic mirror descent from uniform play, with uniform play as the
magnet: probabilities are proportional to exp(value / temperature). Actions that are nearly as good as the best one are
played too, so that a move tells the opponent less about what the player sees.
"""

from __future__ import annotations

import time
from typing import Annotated, final

import numpy as np

from pbm_envs import Game
from pbm_envs.authoring import Option, take_rows
from pbm_envs.toolbox import Array, checked

from ..champions.agent import LEAST_BASE, ChampionAgent
from ..champions.curio import CurioValues, LinesAgent
from ..players.agent import Actions, Views, check_searchable, draw

MOST_PLAYOUTS = 1 << 20
"""Maximum number of simultaneous playouts, which limits memory."""
CHUNK = 16
"""Worlds of each view between two looks at the clock."""


@final
class MirrorAgent:
    """An agent that mixes its actions by their values: a step of magnetic mirror descent from uniform play.

    Values are those of the champion's search in Curio where it has one, and of random playouts otherwise. The worlds
    are drawn uniformly from those that fit the view, anew for each move.
    """

    @checked
    def __init__(
        self,
        *,
        simulations: Annotated[
            int | None, Option(low=1, help="Budget of each move, in simulations. 1000 if no budget is given.")
        ] = None,
        seconds: Annotated[float | None, Option(low=1e-9, high=1e9, help="Budget of each move, in seconds.")] = None,
        temperature: Annotated[
            float, Option(low=1e-3, high=1e3, help="Weight of the entropy. Higher is closer to uniform play.")
        ] = 0.01,
        seed: Annotated[int, Option(low=0, help="Seed of the worlds behind `probabilities`.")] = 0,
    ) -> None:
        """Make an agent with a budget and a temperature."""
        self._champion = ChampionAgent(simulations=simulations, seconds=seconds)
        self.simulations, self.seconds = self._champion.settings["simulations"], seconds
        self.temperature = temperature
        self._rng = np.random.default_rng(seed)

    def act(self, game: Game, views: Views, rng: np.random.Generator) -> Actions:
        """Return actions, as `Agent.act`."""
        return draw(self._policies(game, views, rng), rng)

    def probabilities(self, game: Game, views: Views) -> Array:
        """Return action probabilities (B, A), from worlds that this call draws."""
        return self._policies(game, views, self._rng)

    def _policies(self, game: Game, views: Views, rng: np.random.Generator) -> Array:
        check_searchable(game, views)
        masks = game.legal_action_mask(views)
        if game.resign_action >= 0:
            masks[:, game.resign_action] = False
        player = self._champion.player(game)
        if isinstance(player, LinesAgent):
            values = np.zeros(masks.shape)
            for row, ranked in enumerate(player.rank(game, views, rng)):
                for action, value in ranked:
                    values[row, action] = value
        else:
            values = self._play_out(game, views, masks, rng)
        return regularized(values, masks, self.temperature)

    def _play_out(self, game: Game, views: Views, masks: Array, rng: np.random.Generator) -> Array:
        """Return the mean results (B, A) of playouts after each action, in the same worlds for all of a view."""
        values, sizes = np.empty(masks.shape), masks.sum(axis=1)
        for size in np.unique(sizes).tolist():
            rows = np.flatnonzero(sizes == size)
            worlds = CHUNK if self.simulations is None else max(1, self.simulations // size)
            for some in np.array_split(rows, -(-len(rows) * worlds * size // MOST_PLAYOUTS)):
                seen, masked = take_rows(views, some), masks[some]
                until = time.perf_counter() + (self.seconds or 0.0) * len(some)
                values[some] = playout_values(game, seen, masked, worlds, rng)
                drawn = 1
                while self.simulations is None and time.perf_counter() < until:
                    drawn += 1
                    values[some] += (playout_values(game, seen, masked, worlds, rng) - values[some]) / drawn
        return values


def has_values(game: Game) -> bool:
    """Return whether the champion's search gives the values of this game's actions."""
    return CurioValues.fits(game) and bool(game.options["base"] >= LEAST_BASE)


def regularized(values: Array, masks: Array, temperature: float) -> Array:
    """Return the policies (B, A) that maximize the mean value plus `temperature` times the entropy."""
    logits = np.where(masks, values / temperature, -np.inf)
    weights = np.exp(logits - logits.max(axis=1, keepdims=True))
    policies: Array = weights / weights.sum(axis=1, keepdims=True)
    return policies


def playout_values(game: Game, views: Views, masks: Array, worlds: int, rng: np.random.Generator) -> Array:
    """Return the mean results (B, A) of a random playout after each action `masks` (B, A), in `worlds` worlds."""
    drawn = game.determinize(np.repeat(views, worlds), rng)
    rows, actions = np.nonzero(np.repeat(masks, worlds, axis=0))
    states = take_rows(drawn, rows)
    movers = states["to_move"].copy()
    game.step(states, actions)
    game.playout(states, rng)
    totals = np.zeros(masks.shape)
    np.add.at(totals, (rows // worlds, actions), states["returns"][np.arange(len(states)), movers])
    return totals / worlds
