"""Many games at once, each agent asked about all games in which it is to move.

An agent that raises, or whose action is illegal, forfeits that game (`pbm_envs.records`) and the others go on. If a
question about many games fails, the agent is asked again about each of them alone, so that one bad position does not
cost it all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter

import numpy as np

from pbm_envs import Game
from pbm_envs.records import RESIGN, Forfeit, GameRecord, make_record, remove_player

from ..agent import Agent, Views


@dataclass(frozen=True)
class Opening:
    """How a game starts: `board`, or the board that `seed` draws; after `moves`."""

    seed: int
    board: str | None = None
    moves: tuple[str, ...] = ()

    def position(self, game: Game) -> tuple[Views, Views]:
        """The board and the position after the moves, batches of one."""
        start = game.init(1, np.random.default_rng(self.seed), self.board)
        state = start.copy()
        for text in self.moves:
            game.step(state, [game.string_to_action(text)])
        if state["done"][0]:
            raise ValueError(f"the opening {self!r} leaves nothing to play")
        return start, state


def play_games(
    game: Game,
    agents: Mapping[str, Agent],
    seats: Sequence[Sequence[str]],
    openings: Sequence[Opening],
    seed: int | Sequence[int],
    first_number: int = 0,
) -> list[GameRecord]:
    """One record a game: game b starts from `openings[b]`, and `agents[seats[b][k]]` plays `player_k` in it.

    `seed` is that of the agents: each draws from a generator of its own. So the same call plays the same games, if the
    agents look at nothing but their arguments (a clock, say); the games of another batch are others.
    """
    starts, positions = zip(*(opening.position(game) for opening in openings), strict=True)
    states = np.concatenate(positions)
    moves = [list(opening.moves) for opening in openings]
    forfeits: list[list[Forfeit]] = [[] for _ in openings]
    turns, seconds = np.zeros((2, len(states), game.num_players))
    generators = [np.random.default_rng(child) for child in np.random.SeedSequence(seed).spawn(len(agents))]
    names, every_row = list(agents), np.arange(len(openings))
    owners = np.array([[names.index(name) for name in row] for row in seats])  # (B, P)
    while not states["done"].all():
        for k, agent in enumerate(agents.values()):
            rows = np.flatnonzero(~states["done"] & (owners[every_row, states["to_move"]] == k))
            if not len(rows):
                continue
            asked = states[rows]
            movers = asked["to_move"].copy()
            views = game.view(asked, movers)
            began = perf_counter()
            answers = ask(agent, game, views, generators[k])
            turns[rows, movers] += 1
            seconds[rows, movers] += (perf_counter() - began) / len(rows)
            for row, mover, answer in zip(rows.tolist(), movers.tolist(), answers, strict=True):
                state = states[row : row + 1]
                if isinstance(answer, int):
                    moves[row].append(game.action_to_string(answer))
                    game.step(state, [answer])
                else:
                    moves[row].append(RESIGN)
                    remove_player(game, state)
                    forfeits[row].append(Forfeit(len(moves[row]), mover, answer))
    return [
        make_record(
            game,
            starts[row],
            moves[row],
            states[row : row + 1],
            forfeits[row],
            agents=tuple(seats[row]),
            seed=opening.seed,
            opening=len(opening.moves),
            turns=tuple(turns[row].astype(int).tolist()),
            seconds=tuple(seconds[row].round(6).tolist()),
            number=first_number + row,
        )
        for row, opening in enumerate(openings)
    ]


def ask(agent: Agent, game: Game, views: Views, rng: np.random.Generator) -> list[int | str]:
    """For each view (B,) the agent's action, or why there is none that can be played."""
    try:
        actions = np.asarray(agent.act(game, views.copy(), rng))
        if actions.shape != views.shape or actions.dtype.kind not in "iu":
            raise ValueError(f"gave {actions.dtype} of shape {actions.shape} for {len(views)} games")
    except Exception as error:
        if len(views) > 1:
            return [ask(agent, game, views[row : row + 1], rng)[0] for row in range(len(views))]
        return [f"{type(error).__name__}: {error}"]
    masks = game.legal_action_mask(views)
    return [
        action if 0 <= action < game.num_actions and mask[action] else f"illegal: {_name(game, action)}"
        for action, mask in zip(actions.tolist(), masks, strict=True)
    ]


def _name(game: Game, action: int) -> str:
    return game.action_to_string(action) if 0 <= action < game.num_actions else f"action {action}"
