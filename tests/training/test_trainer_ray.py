"""`pbm train --ray`: the same run as in one process, and either goes on with what the other began."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

pytestmark = [pytest.mark.libraries, pytest.mark.filterwarnings("ignore")]  # Ray's own
pytest.importorskip("torch")
pytest.importorskip("ray")

from pbm_agents.cli.app import app
from pbm_agents.learning.trainer import train

from pbm_envs import Chameleon
from tests.training.test_trainer import TINY, lasting, weights


def test_ray_trains_the_same_network(tmp_path, ray):
    """Two rounds in this process; one on Ray, by the command, then one here."""
    game = Chameleon(size=3)
    curve = train(game, tmp_path / "alone", TINY)
    words = "train chameleon -o size=3 --rounds 1 --games 20 --simulations 4 --gumbel 4 --batch 16 --reuse 1"
    words += " --hidden 8 --layers 1 --evaluate random --evaluation-games 4 --evaluation-simulations 2 --gate-games 4"
    result = CliRunner().invoke(app, [*words.split(), "--out", str(tmp_path / "ray"), "--ray", "auto"])
    assert result.exit_code == 0, result.output
    assert lasting(train(game, tmp_path / "ray", TINY)) == lasting(curve)
    assert weights(tmp_path / "ray") == weights(tmp_path / "alone")
    assert not Path(tmp_path / "ray" / "self_play").exists()
