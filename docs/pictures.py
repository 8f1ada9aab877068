"""Draw the pictures of the documentation, in `docs/pictures`: `make pictures` (extras `render` and `cli`).

Draws for each game a position as each player sees it and a film, in both themes, and a game in a terminal.
"""

from __future__ import annotations

import gzip
import io
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

import numpy as np
from pbm_agents.cli import terminal
from pbm_agents.cli.app import app
from rich.console import Console
from rich.text import Text
from typer.testing import CliRunner

from pbm_envs import Game, curio_v0, make_game
from pbm_envs.authoring import States
from pbm_envs.records import GameRecord
from pbm_envs.render import THEMES
from pbm_envs.render.animation import animate
from pbm_envs.text.puzzles import load_puzzles

DOCS = Path(__file__).parent
FOLDER = DOCS / "pictures"
LADDERS = DOCS.parent / "benchmarks" / "results" / "ladders"
PAGE_SIZE, FILM_SIZE = 360, 320
SCREEN_WIDTH = 80
FILMED_LADDERS = {"curio": "curio-4x4", "trinim": "trinim-5", "chameleon": "chameleon-7", "unlur": "unlur-4"}
"""The ladder whose tournament supplies the film of each game; its last games are between the strongest agents."""
TYPED = ("play chameleon person random -o size=6 --seed 7", "c3x\nhint\n")
"""The command whose terminal is drawn, and its input."""
POSITIONS = {
    "curio": (
        "D11 D12 D23 D22 D44/D33 D13 D14 D24 D34/. . . . ./L41 L11 L31 L22 L32/L21 L33 L42 L44 L43",
        "e2-c4 d4-e3 c4-c5 d5-c4 c2-a4 e3-e1 b1-e4 b4-a4 c1-b1 b5-b3 d1-e2 a5-b4 b1-d1 b4-c3",
    ),
    "trinim": ("r/rb/bbg/brgg/brrgg", "D3-E2 A5-C5"),
    "chameleon": (
        None,
        "i8o g1o k1o e6o k2o i2o k3o j2o j4o h1o j5o j6x i7o i6x k5o k6x h7o h6x g6o g7x f7o e9x f8o h2o h5o f9x g8o "
        "d7o g9o c7o f10o b8o f11o a4x i4o",
    ),
    "unlur": (
        None,
        "f7 d3 h5 f8 g7 g6 h6 f10 black h4 i5 e8 f9 e10 g4 e9 f11 f3 g3 f2 e4 d2 c2 f5 f4 c1 b3 b1 c3 j5 a3 a4 i4",
    ),
}
"""The boards and moves of the drawn positions, from games of the search against itself."""
EXAMPLES: dict[str, tuple[str, dict[str, int], int, str]] = {
    "search": ("chameleon", {"size": 5}, 7, "c3x"),
    "hidden": ("curio", {}, 7, ""),
    "sides": ("curio", {"base": 3, "rows": 4, "cols": 4}, 7, ""),
    "champions": ("unlur", {"radius": 5}, 7, "g4"),
    "exact": ("trinim", {}, 7, ""),
    "credit": ("chameleon", {"size": 3}, 7, "b1x a3o b2x c1o"),
    "small": ("curio", {"base": 2, "rows": 4, "cols": 3}, 7, ""),
    "page": ("unlur", {"radius": 4}, 7, ""),
}
"""The positions of the guides' examples: game, options, seed and moves."""
DRAWN = ("search", "hidden", "champions", "exact", "credit", "small", "page", "puzzle")
"""The examples that are drawn; text of the others stands on their pages."""


class Example(NamedTuple):
    """A position: the board with which a game begins, and the moves until then."""

    game: Game
    board: str
    moves: list[str]
    states: States


def example(name: str) -> Example:
    """Return an example of the guides: one of EXAMPLES, the `loop` of `first_game.md`, or the `puzzle` of Trinim."""
    if name == "loop":
        return looped()
    if name == "puzzle":
        first = load_puzzles("trinim")[0]
        return after(make_game("trinim"), first.board, first.moves)
    game_name, options, seed, moves = EXAMPLES[name]
    game = make_game(game_name, **options)
    states = game.init(1, np.random.default_rng(seed))
    return after(game, game.board_to_string(states[0]) if game.random_setup else None, moves.split())


def after(game: Game, board: str | None, moves: Sequence[str]) -> Example:
    """Return the position after these moves on this board."""
    states = game.init(1, np.random.default_rng(0), board)
    for move in moves:
        game.step(states, [game.string_to_action(move)])
    return Example(game, board or "", list(moves), states)


def looped() -> Example:
    """Play the random game of `first_game.md`; return the position before its last move."""
    env, rng = curio_v0.env(), np.random.default_rng(7)
    env.reset(seed=7)
    game = env.unwrapped.game
    board, actions = game.board_to_string(env.unwrapped.states[0]), []
    for _ in env.agent_iter():
        observation, _, terminated, truncated, _ = env.last()
        if terminated or truncated:
            break
        actions.append(rng.choice(np.flatnonzero(observation["action_mask"])))
        before = env.unwrapped.states.copy()
        env.step(actions[-1])
    return Example(game, board, [game.action_to_string(action) for action in actions[:-1]], before)


def filmed_game(name: str) -> GameRecord:
    """Return the last won game of the ladder's tournament whose length is nearest to the median."""
    with gzip.open(LADDERS / f"{FILMED_LADDERS[name]}.jsonl.gz", "rt", encoding="utf-8") as lines:
        games = [GameRecord.from_json(line) for line in list(lines)[-60:]]
    won = [game for game in games if game.ending == "won"]
    lengths = sorted(game.plies for game in won)
    return next(game for game in reversed(won) if game.plies == lengths[len(lengths) // 2])


def draw_terminal(path: Path) -> None:
    """Write the terminal of `TYPED`, with colours, as SVG."""
    words, typed = TYPED
    with patch.object(terminal, "colour", return_value=True):
        shown = CliRunner().invoke(app, words.split(), input=typed)
    if shown.exit_code:
        raise RuntimeError(f"pbm {words}: {shown.output}")
    console = Console(record=True, width=SCREEN_WIDTH, file=io.StringIO(), force_terminal=True, legacy_windows=False)
    console.print(Text.from_ansi(f"$ pbm {words}\n{shown.stdout.rstrip()}"))
    drawn = console.export_svg(title="pbm play", unique_id=path.stem)
    path.write_text(re.sub(r"@font-face \{.*?\}\s*", "", drawn, flags=re.DOTALL), encoding="utf-8")


def draw_boards(name: str, folder: Path = FOLDER) -> None:
    """Draw a game's position in both themes, once per player if their views differ."""
    game, (board, moves) = make_game(name), POSITIONS[name]
    states = game.init(1, np.random.default_rng(0), board)
    for text in moves.split():
        game.step(states, [game.string_to_action(text)])
    for player in [0] if game.perfect_information else range(game.num_players):
        for theme in THEMES:
            picture = game.show(game.view(states, player), theme=theme, size=PAGE_SIZE)
            picture.save(folder / f"{name}-{player}-{theme}.svg")


def draw_example(name: str, folder: Path = FOLDER) -> None:
    """Draw an example in both themes, as the player to move sees it."""
    game, _, _, states = example(name)
    for theme in THEMES:
        picture = game.show(game.view(states, states["to_move"]), theme=theme, size=PAGE_SIZE)
        picture.save(folder / f"example-{name}-{theme}.svg")


def draw_film(name: str) -> None:
    """Draw the film of a game, in both themes."""
    for theme in THEMES:
        animate(filmed_game(name), size=FILM_SIZE, theme=theme, seconds=1.0).save(FOLDER / f"{name}-film-{theme}.gif")


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for game_name in POSITIONS:
        draw_boards(game_name)
        draw_film(game_name)
    for each in DRAWN:
        draw_example(each)
    draw_terminal(FOLDER / "terminal-play.svg")
