"""`train` and `pbm train`: learning, every game, going on after being killed anywhere, settings, playout caps."""

import csv
import importlib
import json
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from pbm_agents import Search, evaluate, make_agent
from pbm_agents.learning.self_play import SelfPlay, self_play
from pbm_agents.learning.small_network import SmallNetwork
from typer.testing import CliRunner

from pbm_envs import Chameleon, Curio, Trinim, Unlur, register_game
from pbm_envs.records import UNFINISHED, read_records

pytestmark = pytest.mark.libraries
torch = pytest.importorskip("torch")

from pbm_agents.cli.app import app
from pbm_agents.learning import progress, trainer
from pbm_agents.learning.learner import make_network
from pbm_agents.learning.network import PolicyValueNetwork, read, write
from pbm_agents.learning.progress import elo
from pbm_agents.learning.round_games import Score
from pbm_agents.learning.trainer import Training, default_training, train

TINY = Training(
    rounds=2,
    network="small",
    games=20,
    simulations=4,
    gumbel=4,
    batch=16,
    reuse=1.0,
    hidden=8,
    layers=1,
    opponents=("random",),
    evaluation_games=4,
    evaluation_simulations=2,
    gate_games=4,
)
GAMES = [Chameleon(size=3), Unlur(radius=3), Trinim(num_players=3), Curio(base=2, rows=4, cols=3, no_capture_limit=4)]


DEEP = replace(TINY, network="deep")


def weights(folder):
    """Of the learner's network and of those that play, as bytes."""
    saved = read(folder / "checkpoint.pt")
    parts = [network[key] for network in (saved["learner"], *saved["players"]) for key in sorted(network)]
    return b"".join(part.numpy().tobytes() for part in parts)


def lasting(curve):
    """What does not depend on the clock."""
    return [{k: v for k, v in line.items() if "second" not in k} for line in curve]


@pytest.mark.parametrize("game", GAMES, ids=repr)
@pytest.mark.parametrize("settings", [TINY, DEEP], ids=["small", "deep"])
def test_every_game(game, settings, tmp_path):
    """Two players and three, with and without hidden information: a run leaves an agent that plays, and a curve."""
    curve = train(game, tmp_path / "run", settings)
    assert [line["round"] for line in curve] == [1, 2]
    assert curve[-1]["games"] == 40
    with open(tmp_path / "run" / "curve.csv", encoding="utf-8") as file:
        assert [float(line["policy_loss"]) for line in csv.DictReader(file)] == [line["policy_loss"] for line in curve]
    file = tmp_path / "run" / ("network.npz" if settings is TINY else "network.pt")
    assert (SmallNetwork if settings is TINY else PolicyValueNetwork).load(file).game == game
    name = f"mcts:simulations=4,network={file}"
    assert evaluate(make_agent(name), game, games=4)["random"].games >= 4
    assert not (tmp_path / "run" / "self_play").exists()
    assert (tmp_path / "run" / "curve.png").stat().st_size > 1000
    [record] = read_records(tmp_path / "run" / "game.jsonl")
    assert record.rules() == game
    assert record.ending != UNFINISHED
    assert (tmp_path / "run" / "game.gif").read_bytes()[:4] == b"GIF8"


def test_games_from_outside(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "docs" / "guides"))
    game = register_game(importlib.import_module("tictactoe").TicTacToe)()
    assert len(train(game, tmp_path / "run", TINY)) == 2


def test_it_learns(tmp_path):
    """Chameleon of size 3 from scratch: from no better than random play to far above it, without a search."""
    settings = Training(
        rounds=8, games=64, simulations=24, hidden=48, layers=2, opponents=(), gate_games=0, exploring_plies=4
    )
    curve = train(Chameleon(size=3), tmp_path / "run", settings)
    score = evaluate(f"network:file={tmp_path / 'run' / 'network.pt'}", Chameleon(size=3), games=200)["random"].score
    assert score.low > 0.7
    assert curve[-1]["policy_loss"] < curve[0]["policy_loss"]


@pytest.mark.parametrize("settings", [TINY, DEEP], ids=["small", "deep"])
def test_the_number_of_processes_does_not_matter(settings, tmp_path):
    """With one, learning and playing take turns; with two, they overlap."""
    alone, together = train(GAMES[0], tmp_path / "1", settings), train(GAMES[0], tmp_path / "2", settings, workers=2)
    assert lasting(alone) == lasting(together)
    assert weights(tmp_path / "1") == weights(tmp_path / "2")


class Killed(BaseException):
    """What `die_at` raises."""


def test_killed_before_and_after_every_file(tmp_path, monkeypatch):
    """The run dies before and after each replacement of a file, with half a file left behind. It goes on each time, and
    ends with the networks and the curve of a run that was left alone.
    """
    game, expected = GAMES[0], tmp_path / "expected"
    curve = train(game, expected, TINY)
    replaced, real = 0, os.replace
    deadly = 1

    def die_at(source, target, **kwargs):
        nonlocal replaced, deadly
        replaced += 1
        if replaced == deadly:
            deadly += 1
            if deadly % 2:
                half = Path(source).read_bytes()
                Path(source).write_bytes(half[: len(half) // 2])
            else:
                real(source, target, **kwargs)
            raise Killed
        real(source, target, **kwargs)

    monkeypatch.setattr(os, "replace", die_at)
    deaths = 0
    while True:
        replaced = 0
        try:
            again = train(game, tmp_path / "run", TINY)
            break
        except Killed:
            deaths += 1
    assert deaths >= 9
    assert lasting(again) == lasting(curve)
    assert weights(tmp_path / "run") == weights(expected)
    assert (tmp_path / "run" / "network.npz").exists()


def test_other_settings_are_refused_and_more_rounds_are_not(tmp_path):
    train(GAMES[0], tmp_path / "run", TINY)
    before = json.loads((tmp_path / "run" / "training.json").read_text())
    with pytest.raises(ValueError, match=r"holds a run with other settings, {'games': 20}: expected these"):
        train(GAMES[0], tmp_path / "run", Training(**{**vars(TINY), "games": 21}))
    with pytest.raises(ValueError, match=r"holds a run with other settings, {'size': 3}"):
        train(Chameleon(size=4), tmp_path / "run", TINY)
    assert json.loads((tmp_path / "run" / "training.json").read_text()) == before
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "notes.txt").write_text("mine")
    with pytest.raises(ValueError, match="holds something else: expected a folder of train, or a new or empty one"):
        train(GAMES[0], tmp_path / "other", TINY)
    with pytest.raises(ValueError, match="'nobody' is not an agent"):
        train(GAMES[0], tmp_path / "new", Training(**{**vars(TINY), "opponents": ("nobody",)}))
    assert not (tmp_path / "new").exists()
    curve = train(GAMES[0], tmp_path / "run", Training(**{**vars(TINY), "rounds": 3}))
    assert [line["round"] for line in curve] == [1, 2, 3]
    write({"learner": 3}, tmp_path / "run" / "checkpoint.pt")
    with pytest.raises(ValueError, match="is not a checkpoint of this run"):
        train(GAMES[0], tmp_path / "run", Training(**{**vars(TINY), "rounds": 4}))


def test_a_device_that_is_not_there(tmp_path):
    with pytest.raises(ValueError, match="device is 'abacus': expected one that PyTorch can use here, such as cpu"):
        train(GAMES[0], tmp_path / "run", TINY, device="abacus")
    assert not (tmp_path / "run").exists()


def test_the_command_has_defaults_by_game(tmp_path, monkeypatch):
    """What is given replaces them; the others stay those of the game."""
    found = []
    monkeypatch.setattr(trainer, "train", lambda game, out, settings, **run: found.append((settings, run)))
    (tmp_path / "network.npz").touch()
    for words in ("chameleon -o size=7", "chameleon -o size=5 --rounds 20", "trinim"):
        result = CliRunner().invoke(app, ["train", *words.split(), "--out", str(tmp_path), "--device", "cpu"])
        assert result.exit_code == 0, result.output
        assert f"network={tmp_path / 'network.npz'}" in result.output
    (seven, run), (five, _), (other, _) = found
    assert seven == default_training(Chameleon(size=7))
    assert five == replace(default_training(Chameleon(size=5)), rounds=20)
    assert other == Training()
    assert run["device"] == "cpu"


def test_the_gatekeeper(tmp_path, monkeypatch):
    """A network that loses against the best one does not take over; the learner goes on learning."""
    monkeypatch.setattr(progress, "_evaluate", lambda *job: Score(2, 0.0))
    curve = train(GAMES[0], tmp_path / "run", TINY)
    saved = read(tmp_path / "run" / "checkpoint.pt")
    assert [line["taken"] for line in curve] == [False, False]
    torch.manual_seed(TINY.seed)
    untrained = make_network(GAMES[0], TINY).state_dict()
    assert all(torch.equal(saved["players"][-1][key], part) for key, part in untrained.items())
    assert not all(torch.equal(saved["learner"][key], part) for key, part in untrained.items())


def test_imitation_then_self_play(tmp_path):
    """The first round is the plain search's; its network is taken without a match."""
    settings = Training(**{**vars(TINY), "imitation_rounds": 1, "imitation_simulations": 10})
    curve = train(GAMES[0], tmp_path / "run", settings)
    assert "against best" not in curve[0]
    assert "against best" in curve[1]


def test_playout_caps():
    """About a quarter of the positions are examples; they were searched in full."""
    game, rng = Chameleon(size=4), np.random.default_rng(1)
    search = Search(simulations=40, solver=False)
    every = self_play(game, search, 24, rng)
    some = self_play(game, search, 24, rng, SelfPlay(full_share=0.25, quick_simulations=5))
    assert (every.visits.sum(axis=1) == 40).all()
    assert (some.visits.sum(axis=1) == 40).all()
    assert 0.15 < len(some.plies) / len(every.plies) < 0.38
    for bad in ({"full_share": 0.0}, {"full_share": 1.5}, {"quick_simulations": 0}):
        with pytest.raises(ValueError, match=next(iter(bad))):
            SelfPlay(**bad)


def test_forced_playouts(tmp_path):
    """With PUCT, and only in full searches."""
    settings = {**vars(TINY), "forced_playouts": 2.0}
    puct = Training(**{**settings, "gumbel": 0, "full_share": 0.5})
    assert len(train(GAMES[0], tmp_path / "run", puct)) == 2
    with pytest.raises(ValueError, match=r"forced_playouts is 2.0, gumbel 4: expected one of them 0"):
        Training(**settings)


def test_elo():
    assert elo(0.5, 100) == 0
    assert elo(10 / 11, 10**9) == pytest.approx(400, abs=0.01)
    assert elo(0.0, 20) == pytest.approx(-elo(1.0, 20))
