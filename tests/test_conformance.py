"""Every game, every configuration, every check of `pbm_envs.testing`."""

import numpy as np
import pytest

from pbm_envs import make_game, registered_games
from pbm_envs.testing import CHECKS


def configurations():
    """All of every game; the first, smallest ones are also checked as plain Python (`make test-nojit`)."""
    for name, kind in registered_games().items():
        for k, options in enumerate(kind.configurations):
            yield pytest.param(
                make_game(name, **options), marks=[] if k else pytest.mark.smallest, id=f"{name} {options}"
            )


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("game", list(configurations()))
def test_conformance(game, check):
    check(game, np.random.default_rng(2008))
