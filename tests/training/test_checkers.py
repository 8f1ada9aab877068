"""What other people's checkers and wrappers say of our environments is what the documentation says."""

import warnings
from pathlib import Path

import gymnasium
import numpy as np
import pytest

import pbm_envs
from pbm_envs import chameleon_v0, sample_actions

pytestmark = [pytest.mark.libraries, pytest.mark.filterwarnings("default")]  # whatever the library warns of
KEYS = {True: ("returns", "seat", "score"), False: ("returns",)}
"""What is read of `final_info`: with an opponent, and in self-play."""
PAGE = (Path(__file__).parents[2] / "docs" / "guides" / "environments.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", pbm_envs.registered_games())
def test_stable_baselines3_takes_planes_for_a_picture(name):
    """Three remarks, all of them named in the documentation, and no others."""
    checker = pytest.importorskip("stable_baselines3.common.env_checker")
    title = pbm_envs.registered_games()[name].__name__
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        checker.check_env(gymnasium.make(f"pbm/{title}-v0"))
    remarks = [str(one.message) for one in caught if "stable_baselines3" in one.filename]
    assert len(remarks) == 3
    for remark, words in zip(remarks, ("uint8", "0, 255", "36x36"), strict=True):
        assert words in remark
    for words in ("`uint8`", "bounds 0 to 255", "at least 36 by 36"):
        assert words in PAGE


def test_supersuits_wrappers_take_one_seat():
    supersuit = pytest.importorskip("supersuit")
    env = gymnasium.make("pbm/Chameleon-v0", size=3)
    assert supersuit.flatten_v0(env).reset(seed=1)[0].shape == (45,)
    assert supersuit.dtype_v0(env, np.float32).reset(seed=1)[0].dtype == np.float32
    stacked = supersuit.frame_stack_v1(env, 2)
    _, info = stacked.reset(seed=1)
    assert stacked.step(int(info["action_mask"].argmax()))[0].shape == (3, 3, 10)
    with pytest.raises(AttributeError, match="'Dict' object has no attribute 'low'"):
        supersuit.flatten_v0(chameleon_v0.env(size=3))
    assert "`'Dict' object has no attribute 'low'`" in PAGE


@pytest.mark.parametrize("mode", ["SameStep", "NextStep"])
def test_episode_statistics_of_one_seat_and_of_self_play(mode):
    """From one seat the wrapper counts the seat's return; in self-play what whoever acted got: read `final_info`."""
    rng = np.random.default_rng(1)

    def play(**settings):
        envs = gymnasium.wrappers.vector.RecordEpisodeStatistics(
            gymnasium.make_vec("pbm/Chameleon-v0", num_envs=8, size=3, autoreset_mode=mode, **settings)
        )
        _, info = envs.reset(seed=1)
        for _ in range(60):
            *_, info = envs.step(sample_actions(info["action_mask"], rng))
            if "final_info" in info:
                ended = np.flatnonzero(info["_final_info"])
                assert (info["_episode"][ended]).all()
                yield info["episode"]["r"][ended], {key: info["final_info"][key][ended] for key in KEYS[bool(settings)]}

    for counted, final in play(opponent="random"):
        mine = final["returns"][np.arange(len(counted)), final["seat"]]
        assert (counted == mine).all()
        assert (counted == 2 * final["score"] - 1).all()
    both = [(counted, final["returns"]) for counted, final in play()]
    assert all((returns.sum(axis=1) == 0).all() for _, returns in both)
    assert any((np.abs(counted) == 1).any() for counted, _ in both)
