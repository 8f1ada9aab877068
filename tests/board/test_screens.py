"""The screens of the page look as they did: small and grey, so that fonts of other machines make no difference."""

import io

import numpy as np
import pytest

from tests.board.screens import FOLDER, SCREENS, shoot

pytest.importorskip("playwright.sync_api")
image = pytest.importorskip("PIL.Image")
MEAN, SHARE = 8, 0.06
"""The mean difference of grey, 0 to 255, and the share of places that may differ by more than 40."""


def grey(png):
    picture = image.open(io.BytesIO(png)).convert("L")
    return np.asarray(picture.resize((64, round(64 * picture.height / picture.width))), np.int32)


@pytest.mark.slow
@pytest.mark.parametrize("name", SCREENS)
def test_screens_look_as_they_did(chromium, name):
    """`python -m tests.board.screens` writes them anew."""
    kept, now = grey((FOLDER / f"{name}.png").read_bytes()), grey(shoot(chromium, name))
    difference = np.abs(kept - now)
    assert difference.mean() < MEAN
    assert (difference > 40).mean() < SHARE


def test_a_broken_layout_would_be_noticed():
    """Any two screens differ by more than is tolerated; so does one that is moved by a twentieth of its width."""
    pictures = {name: grey((FOLDER / f"{name}.png").read_bytes()) for name in SCREENS}
    for name, picture in pictures.items():
        moved = np.abs(picture - np.roll(picture, 4, axis=1))
        assert moved.mean() > MEAN or (moved > 40).mean() > SHARE, name


def test_the_folder_is_small_and_holds_nothing_else():
    assert {path.stem for path in FOLDER.iterdir()} == set(SCREENS)
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) < 1_500_000
