import re

import numpy as np
import pytest

from pbm_envs import sample_actions


@pytest.mark.parametrize("more", [0, 200], ids=["many", "few"])
def test_every_action_that_is_set_and_no_other_is_drawn_equally_often(more):
    mask = np.array([0, 1, 0, 0, 1, 1, 0, 1, 0] + more * [0], np.int8)
    drawn = np.bincount(sample_actions(np.tile(mask, (40_000, 1)), np.random.default_rng(7)), minlength=len(mask))
    assert (drawn[mask == 0] == 0).all()
    assert np.allclose(drawn[mask == 1], 10_000, atol=5 * np.sqrt(10_000 * 0.75))


@pytest.mark.parametrize("dtype", [np.bool_, np.int8])
def test_the_first_and_the_last_action_and_strided_masks(dtype):
    masks = np.eye(5, dtype=dtype)
    rng = np.random.default_rng(7)
    assert sample_actions(masks, rng).tolist() == [0, 1, 2, 3, 4]
    assert sample_actions(masks[::-2, ::-1], rng).tolist() == [0, 2, 4]


def test_bad_masks():
    rng = np.random.default_rng(7)
    with pytest.raises(ValueError, match=r"row 1: .* all zeros"):
        sample_actions(np.array([[1, 0], [0, 0]], np.int8), rng)
    for masks in (np.ones(3, np.int8), np.ones((2, 3)), np.ones((2, 3), np.int64), np.ones((2, 0), np.int8)):
        with pytest.raises(ValueError, match=re.escape(f"{masks.dtype} {masks.shape}")):
            sample_actions(masks, rng)
