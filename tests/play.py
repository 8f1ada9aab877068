"""What the tests share: moves, legal moves and whole episodes as text; matches."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

import numpy as np
from pbm_agents.players.agent import Agent
from pettingzoo import AECEnv

from pbm_envs import Game
from pbm_envs.core.state import Array, States


def play(game: Game, moves: str = "", board: str | None = None) -> States:
    """The state after these moves, separated by blanks: a batch of one."""
    states = game.init(1, np.random.default_rng(0), board)
    for text in moves.split():
        game.step(states, [game.string_to_action(text)])
    return states


def returns(game: Game, moves: str, board: str | None = None) -> list[float]:
    return play(game, moves, board)["returns"][0].tolist()


def legal(game: Game, states: States) -> list[set[str]]:
    """The legal moves of each game of a batch."""
    return [{game.action_to_string(int(a)) for a in np.flatnonzero(row)} for row in game.legal_action_mask(states)]


def rows(picture: str) -> list[str]:
    """The rows of a picture of cells, without blanks."""
    return ["".join(line.split()) for line in picture.strip().split("\n")]


def rules_page(name: str) -> str:
    return (files("pbm_envs") / "games" / name / "rules.md").read_text(encoding="utf-8")


def play_pairs(game: Game, openings: States, one: Agent, other: Agent, rng: np.random.Generator) -> Array:
    """(2 B,) what `one` gets in games against `other` from each opening (B,) and either seat."""
    states, seat = np.concatenate([openings, openings]), np.repeat([0, 1], len(openings))
    while not states["done"].all():
        for agent, is_one in ((one, True), (other, False)):
            rows = np.flatnonzero(~states["done"] & ((states["to_move"] == seat) == is_one))
            if len(rows):
                some = states[rows]
                game.step(some, agent.act(game, game.view(some, some["to_move"]), rng))
                states[rows] = some
    return states["returns"][np.arange(len(states)), seat]


def episode(env: AECEnv[str, Any, Any], moves: str, **options: Any) -> list[tuple[str, float, bool]]:
    """Play exactly these moves, and the dead steps; of each turn: agent, reward since its last turn, `terminated`."""
    texts, turns = iter(moves.split()), []
    env.reset(options=options)
    for agent in env.agent_iter():
        _, reward, terminated, truncated, _ = env.last()
        turns.append((agent, reward, terminated))
        env.step(None if terminated or truncated else env.unwrapped.game.string_to_action(next(texts)))
    assert next(texts, None) is None
    return turns
