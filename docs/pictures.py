"""Draw the pictures of README, in `docs/pictures`, and a film: `python docs/pictures.py` (extras `render`, `cli`)."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from pbm_envs import make_game
from pbm_envs.render import THEMES, Scene, pixels, save_png

FOLDER = Path(__file__).parent / "pictures"
SIZE = 480
FILMED = "chameleon"
"""The game whose film README shows."""
# board, moves, seat: from games of the search against itself
POSITIONS = {
    "curio": (
        "D11 D12 D23 D22 D44/D33 D13 D14 D24 D34/. . . . ./L41 L11 L31 L22 L32/L21 L33 L42 L44 L43",
        "e2-c4 d4-e3 c4-c5 d5-c4 c2-a4 e3-e1 b1-e4 b4-a4 c1-b1 b5-b3 d1-e2 a5-b4 b1-d1 b4-c3",
        0,
    ),
    "trinim": ("r/rb/bbg/brgg/brrgg", "D3-E2 A5-C5", 0),
    "chameleon": (
        None,
        "i8o g1o k1o e6o k2o i2o k3o j2o j4o h1o j5o j6x i7o i6x k5o k6x h7o h6x g6o g7x f7o e9x f8o h2o h5o f9x g8o "
        "d7o g9o c7o f10o b8o f11o a4x i4o",
        0,
    ),
    "unlur": (
        None,
        "f7 d3 h5 f8 g7 g6 h6 f10 black h4 i5 e8 f9 e10 g4 e9 f11 f3 g3 f2 e4 d2 c2 f5 f4 c1 b3 b1 c3 j5 a3 a4 i4",
        0,
    ),
}


def scene(name: str) -> Scene:
    """Return the scene of a game's position, as the player in its seat sees it."""
    game, (board, moves, seat) = make_game(name), POSITIONS[name]
    states = game.init(1, np.random.default_rng(0), board)
    for text in moves.split():
        game.step(states, [game.string_to_action(text)])
    return game.scene(game.view(states, seat))


if __name__ == "__main__":
    from moving import film  # beside this file

    FOLDER.mkdir(exist_ok=True)
    film(FILMED, FOLDER)
    for name in POSITIONS:
        for theme in THEMES:
            save_png(FOLDER / f"{name}_{theme}.png", pixels(scene(name), SIZE, theme), small=True)
