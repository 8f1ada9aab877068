"""`pbm train --ray`: the same run as in one process, and either goes on with what the other began."""

import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

pytestmark = [pytest.mark.libraries, pytest.mark.filterwarnings("ignore")]  # Ray's own
pytest.importorskip("torch")
pytest.importorskip("ray")

from pbm_agents.cli.app import app
from pbm_agents.learning import round_games
from pbm_agents.learning.trainer import default_training, train

from pbm_envs import Chameleon
from tests.arena.agents import block_once
from tests.arena.test_ray import killed_and_resumed
from tests.training.test_trainer import TINY, lasting, weights


def test_ray_trains_the_same_network(tmp_path, ray):
    """Two rounds in this process; one on Ray, by the command, then one here."""
    game = Chameleon(size=3)
    curve = train(game, tmp_path / "alone", TINY)
    usual, words = default_training(game), "train chameleon -o size=3 --evaluate random"
    for name, value in (vars(TINY) | {"rounds": 1}).items():
        if value != getattr(usual, name) and name != "opponents":
            words += f" --{name.replace('_', '-')} {value}"
    result = CliRunner().invoke(app, [*words.split(), "--out", str(tmp_path / "ray"), "--ray", "auto"])
    assert result.exit_code == 0, result.output
    assert lasting(train(game, tmp_path / "ray", TINY)) == lasting(curve)
    assert weights(tmp_path / "ray") == weights(tmp_path / "alone")
    assert not Path(tmp_path / "ray" / "self_play").exists()


play_batch = round_games.play_batch


def play_blocking_batch(*arguments):
    block_once()
    return play_batch(*arguments)


def train_on_ray(out, address):
    """Train, with games of which some never end; also called by a command."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(round_games, "play_batch", play_blocking_batch)
        return train(Chameleon(size=3), out, TINY, ray=address)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_the_process_that_trains_is_killed_then_a_node(tmp_path, cluster):
    """The same call resumes, and the network is that of one process that nobody kills."""
    out = tmp_path / "ray"
    code = f"from {__name__} import train_on_ray; train_on_ray({str(out)!r}, {cluster.address!r})"
    command = [sys.executable, "-c", code]
    curve = killed_and_resumed(cluster, tmp_path / "mark", command, lambda: train_on_ray(out, cluster.address))
    assert lasting(curve) == lasting(train(Chameleon(size=3), tmp_path / "alone", TINY))
    assert weights(out) == weights(tmp_path / "alone")
