"""The loops of the documentation: each in under 80 lines, each runs, and those that can in a test's time learn."""

import importlib.util
import time
from pathlib import Path

import pytest

from pbm_envs import Chameleon, Trinim, chameleon_v0

LOOPS = Path(__file__).parents[2] / "docs" / "guides" / "loops"
NAMES = sorted(path.stem for path in LOOPS.glob("*.py"))
NEEDS = {"alphazero": "torch", "cleanrl_ppo": "torch", "sb3_league": "sb3_contrib", "torchrl_ppo": "torchrl"}
SETTINGS = {
    "alphazero": [{"rounds": 2, "games": 8, "simulations": 8}, {"rounds": 1, "games": 8, "game": Chameleon(size=3)}],
    "cleanrl_ppo": [{"updates": 2, "size": 3}],
    "sb3_league": [{"steps": 8192, "size": 3}],
    "torchrl_ppo": [{"updates": 1, "size": 3}],
}


def loop(name):
    spec = importlib.util.spec_from_file_location(name, LOOPS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", NAMES)
def test_it_is_short(name):
    assert len((LOOPS / f"{name}.py").read_text(encoding="utf-8").splitlines()) < 80


@pytest.mark.libraries
@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("name", NEEDS)
def test_it_runs(name):
    pytest.importorskip(NEEDS[name])
    for settings in SETTINGS[name]:
        assert loop(name).train(**settings).games >= 200


@pytest.mark.libraries
def test_self_play_ppo_learns():
    torch = pytest.importorskip("torch")
    torch.manual_seed(1)
    assert loop("cleanrl_ppo").train(updates=25, size=3).score.low > 0.6


@pytest.mark.libraries
def test_alphazero_learns_among_three():
    """Values of three players, from the player to move on, in a whole loop."""
    torch = pytest.importorskip("torch")
    torch.manual_seed(1)
    result = loop("alphazero").train(rounds=6, games=32, simulations=24, game=Trinim(num_players=3, size=3))
    assert result.score.low > 1 / 3


@pytest.mark.libraries
def test_double_buffering_changes_nothing():
    """Each half plays what it plays alone: no buffer is overwritten while it is read."""
    torch = pytest.importorskip("torch")
    double_buffering = loop("double_buffering")

    def choose(observations, masks):  # depends on every number of both, twice, with time in between
        before = observations.clone(), masks.clone()
        weights = torch.arange(masks.shape[1]) * (1 + observations.flatten(1).sum(dim=1, keepdim=True) % 7) % 11
        time.sleep(0.002)
        assert torch.equal(observations, before[0])
        assert torch.equal(masks, before[1])
        return (masks * (1 + weights)).argmax(dim=1)

    def halves():
        return [chameleon_v0.vector_env(8, size=4, buffers="torch", copy=False) for _ in range(2)]

    together = halves()
    last = double_buffering.play(together, choose, 40)
    for k, alone in enumerate(halves()):
        [actions] = double_buffering.play([alone], choose, 40, seed=1 + 8 * k)
        assert alone.states.tobytes() == together[k].states.tobytes()
        assert torch.equal(actions, last[k])


@pytest.mark.libraries
def test_double_buffering_runs():
    pytest.importorskip("torch")
    torch_halves = loop("double_buffering").run(games=16, steps=10, size=3)
    assert sum(int(envs.states["ply"].sum()) for envs in torch_halves) > 0
