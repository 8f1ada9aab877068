"""`train` and `pbm train`: learning, every game, going on after being killed anywhere, settings, playout caps."""

import csv
import importlib
import json
import os
from pathlib import Path

import numpy as np
import pytest
from pbm_agents import Search, evaluate, make_agent
from pbm_agents.learning.self_play import SelfPlay, self_play

from pbm_envs import Chameleon, Curio, Trinim, Unlur, register_game

pytestmark = pytest.mark.libraries
torch = pytest.importorskip("torch")

from pbm_agents.learning import progress
from pbm_agents.learning.network import PolicyValueNetwork, read, write
from pbm_agents.learning.progress import elo
from pbm_agents.learning.trainer import Training, train

TINY = Training(
    rounds=2,
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


def weights(folder):
    """Of the best network and of the learner's, as bytes."""
    saved = read(folder / "checkpoint.pt")
    parts = [saved[name][key] for name in ("best", "learner") for key in sorted(saved[name])]
    return b"".join(part.numpy().tobytes() for part in parts)


def lasting(curve):
    """What does not depend on the clock."""
    return [{k: v for k, v in line.items() if "second" not in k} for line in curve]


@pytest.mark.parametrize("game", GAMES, ids=repr)
def test_every_game(game, tmp_path):
    """Two players and three, with and without hidden information: a run leaves an agent that plays, and a curve."""
    curve = train(game, tmp_path / "run", TINY)
    assert [line["round"] for line in curve] == [1, 2]
    assert curve[-1]["games"] == 40
    with open(tmp_path / "run" / "curve.csv", encoding="utf-8") as file:
        assert [float(line["policy_loss"]) for line in csv.DictReader(file)] == [line["policy_loss"] for line in curve]
    assert PolicyValueNetwork.load(tmp_path / "run" / "network.pt").game == game
    name = f"mcts:simulations=4,network={tmp_path / 'run' / 'network.pt'}"
    assert evaluate(make_agent(name), game, games=4)["random"].games >= 4
    assert not (tmp_path / "run" / "self_play").exists()
    assert (tmp_path / "run" / "curve.png").stat().st_size > 1000


def test_games_from_outside(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "docs" / "guides"))
    game = register_game(importlib.import_module("tictactoe").TicTacToe)()
    assert len(train(game, tmp_path / "run", TINY)) == 2


def test_it_learns(tmp_path):
    """Chameleon of size 3 from scratch: from no better than random play to far above it, without a search."""
    settings = Training(
        rounds=6, games=64, simulations=24, hidden=48, layers=2, opponents=(), gate_games=0, exploring_plies=4
    )
    curve = train(Chameleon(size=3), tmp_path / "run", settings)
    score = evaluate(f"network:file={tmp_path / 'run' / 'network.pt'}", Chameleon(size=3), games=200)["random"].score
    assert score.low > 0.7
    assert curve[-1]["policy_loss"] < curve[0]["policy_loss"]


def test_the_number_of_processes_does_not_matter(tmp_path):
    """Not for networks evaluated by PyTorch or ONNX Runtime in one thread each."""
    alone, together = train(GAMES[0], tmp_path / "1", TINY), train(GAMES[0], tmp_path / "2", TINY, workers=2)
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
    assert deaths >= 7  # more with ONNX Runtime, which has files of its own
    assert lasting(again) == lasting(curve)
    assert weights(tmp_path / "run") == weights(expected)
    assert (tmp_path / "run" / "network.pt").exists()


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


def test_the_gatekeeper(tmp_path, monkeypatch):
    """A network that loses against the best one does not take over; the learner goes on learning."""
    monkeypatch.setattr(progress, "_evaluate", lambda *job: 0.0)
    first = PolicyValueNetwork(GAMES[0], 8, 1).state_dict().keys()
    curve = train(GAMES[0], tmp_path / "run", TINY)
    saved = read(tmp_path / "run" / "checkpoint.pt")
    assert [line["taken"] for line in curve] == [False, False]
    torch.manual_seed(TINY.seed)
    untrained = PolicyValueNetwork(GAMES[0], 8, 1).state_dict()
    assert all(torch.equal(saved["best"][key], untrained[key]) for key in first)
    assert not all(torch.equal(saved["learner"][key], untrained[key]) for key in first)


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
