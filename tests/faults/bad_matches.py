"""The calls of `bad_inputs` that are about matches, data sets and games in words."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from pbm_agents import RandomAgent, register_agent
from pbm_agents.arena import play_tournament, rate
from pbm_agents.arena.match import play_games
from pbm_agents.arena.openings import Opening
from pbm_agents.arena.standings import head_to_head, standings
from pbm_agents.data import make_games

from pbm_envs import Game, records
from pbm_envs.text import TextGame
from pbm_envs.text.puzzles import has_puzzles, load_puzzles, score


def match_calls(game: Game) -> Iterator[tuple[str, Callable[[Any], object]]]:
    """Yield calls with one argument left open, with their names."""
    end = game.init(1, np.random.default_rng(0))
    good = [records.make_record(game, end, [], end, agents=("random",) * game.num_players)]
    agents, openings = {"random": RandomAgent()}, [Opening(7)]
    yield "Opening seed", lambda bad: Opening(bad)
    yield "play_games seats", lambda bad: play_games(game, agents, bad, openings, 7)
    yield "play_games seed", lambda bad: play_games(game, agents, [("random",) * game.num_players], openings, bad)
    yield "play_games row of seats", lambda bad: play_games(game, agents, [bad], openings, 7)
    yield "play_games agent", lambda bad: play_games(game, agents, [(bad,) * game.num_players], openings, 7)
    yield "play_tournament", lambda bad: play_tournament(bad, "never")
    yield "rate", rate
    yield "rate anchor", lambda bad: rate(good, bad)
    yield "standings", standings
    yield "head_to_head", lambda bad: head_to_head(good, [bad])
    yield "register_agent", lambda bad: None if callable(bad) else register_agent("bad", bad)
    with TemporaryDirectory() as folder:
        yield "make_games game", lambda bad: None if isinstance(bad, Game) else make_games(bad, folder, ["random"], 1)
        yield "make_games agents", lambda bad: make_games(game, folder, bad, 1)
        yield "make_games games", lambda bad: _made(game, folder, bad)
    yield "TextGame", TextGame
    for setting in ("style", "attempts", "disguise"):
        yield f"TextGame {setting}", lambda bad, setting=setting: TextGame(game, **{setting: bad})
    yield "load_puzzles", load_puzzles
    if has_puzzles(game.name):
        for puzzle in {puzzle.kind: puzzle for puzzle in load_puzzles(game.name)}.values():
            yield f"score {puzzle.kind}", lambda bad, puzzle=puzzle: score(puzzle, bad)


def _made(game: Game, folder: str, games: Any) -> None:
    if not isinstance(games, (int, np.integer)):  # a number of games that would be allowed
        make_games(game, folder, ["random"], games)
