"""The pictures of README are those that `docs/pictures.py` draws."""

import re
from importlib.util import module_from_spec, spec_from_file_location
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
    spec = spec_from_file_location("pictures", ROOT / "docs" / "pictures.py")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("name", registered_games())
def test_pictures_are_up_to_date(name, theme, pictures):
    """But for what another version of Matplotlib draws a little differently."""
    kept = np.asarray(Image.open(pictures.FOLDER / f"{name}_{theme}.png").convert("RGB")).astype(int)
    drawn = pixels(pictures.scene(name), pictures.SIZE, theme).astype(int)
    assert kept.shape == drawn.shape
    assert np.abs(kept - drawn).mean() < 1.5
    assert (np.abs(kept - drawn).max(axis=2) > 60).mean() < 0.02


def test_readme_shows_pictures_that_are_there():
    shown = re.findall(r'(?:src|srcset)="([^"]+)"', (ROOT / "README.md").read_text(encoding="utf-8"))
    assert len(shown) == (len(registered_games()) + 1) * len(THEMES)  # and a film
    assert all((ROOT / path).exists() for path in shown)


@pytest.mark.parametrize("theme", THEMES)
def test_the_film_is_up_to_date(theme, pictures, monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(ROOT / "docs")
    from moving import FILM_SIZE, record

    game = record(pictures.FILMED)
    with Image.open(pictures.FOLDER / f"{pictures.FILMED}-{theme}.gif") as film:
        assert film.n_frames == game.plies + 1
        film.seek(game.plies)
        shown = np.asarray(film.convert("RGB")).astype(int)
    *_, last = replay(game)
    drawn = pixels(game.rules().scene(last), FILM_SIZE, theme).astype(int)
    assert shown.shape == drawn.shape
    assert np.abs(shown - drawn).mean() < 4
