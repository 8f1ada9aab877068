"""The pictures of the documentation are those that `docs/pictures.py` draws."""

import importlib
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from pbm_envs import registered_games
from pbm_envs.records import replay
from pbm_envs.render import THEMES, pixels

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def pictures():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "docs")
        yield importlib.import_module("pictures")


@pytest.mark.parametrize("name", registered_games())
def test_boards_are_up_to_date(name, pictures, tmp_path):
    pictures.draw_boards(name, tmp_path)
    for example in pictures.DRAWN:
        if pictures.example(example).game.name == name:
            pictures.draw_example(example, tmp_path)
    for path in tmp_path.iterdir():
        assert path.read_text(encoding="utf-8") == (pictures.FOLDER / path.name).read_text(encoding="utf-8"), path.name


@pytest.mark.parametrize("name", registered_games())
def test_films_are_up_to_date(name, pictures):
    """But for what another version of Matplotlib draws a little differently."""
    game = pictures.filmed_game(name)
    for theme in THEMES:
        with Image.open(pictures.FOLDER / f"{name}-film-{theme}.gif") as film:
            assert film.n_frames == game.plies + 1
            film.seek(game.plies)
            shown = np.asarray(film.convert("RGB")).astype(int)
        *_, last = replay(game)
        drawn = pixels(game.rules().scene(last), pictures.FILM_SIZE, theme).astype(int)
        assert shown.shape == drawn.shape
        assert np.abs(shown - drawn).mean() < 4
