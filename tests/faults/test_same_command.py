"""The same command again: the same result, or an error that says what differs; nothing foreign is removed."""

import importlib
import json
import os
import sys

import pytest
from pbm_agents.arena import Run, SequentialTest, Tournament, play_sprt, play_tournament, rate_on_ladder
from pbm_agents.common import folders
from pbm_agents.common.folders import locked
from pbm_agents.data import export_records, make_games

from pbm_envs import Chameleon

GAME = Chameleon(size=3)
AGENT = (
    "class Mine:\n    def act(self, game, views, rng):\n        return game.legal_action_mask(views).argmax(axis=1)\n"
)
NAME = "agent_that_changes"


@pytest.fixture
def source(tmp_path, monkeypatch):
    """The file of an agent from outside."""
    monkeypatch.syspath_prepend(tmp_path)
    path = tmp_path / f"{NAME}.py"
    path.write_text(AGENT)
    importlib.invalidate_caches()
    yield path
    sys.modules.pop(NAME, None)


def tournament(folder, **settings):
    agents = ("random", f"{NAME}:Mine")
    return len(play_tournament(Tournament((GAME,), agents, openings=2, key="k"), folder, Run(**settings)))


def sprt(folder, **settings):
    test = SequentialTest(GAME, f"{NAME}:Mine", "random", openings=2, key="k")
    return play_sprt(test, folder, Run(**settings)).openings


def ladder(folder, **settings):
    return rate_on_ladder(f"{NAME}:Mine", "trinim-5", folder, half_width=800, openings=1, run=Run(**settings)).openings


def dataset(folder, **settings):
    return len(make_games(GAME, folder, [f"{NAME}:Mine"], 2, run=Run(**settings)))


COMMANDS = [tournament, sprt, dataset, pytest.param(ladder, marks=pytest.mark.slow)]


@pytest.mark.parametrize("command", COMMANDS)
def test_an_agent_that_has_changed(command, source, tmp_path):
    """Results of two programs are not mixed, unless that is accepted, which is recorded."""
    folder = tmp_path / "folder"
    first = command(folder)
    games = (folder / "games.jsonl").read_bytes()
    assert command(folder) == first
    source.write_text(AGENT + "# another program\n")
    with pytest.raises(ValueError, match=rf"made with other programs: module {NAME} \w+ there and \w+ here.*--acc"):
        command(folder)
    assert (folder / "games.jsonl").read_bytes() == games
    assert command(folder, accept_changes=True) == first
    assert len(json.loads((folder / "tournament.json").read_text())["made_with"]) == 2
    assert command(folder) == first


def test_a_file_that_an_agent_reads_and_our_own_package(source, tmp_path, monkeypatch):
    weights = tmp_path / "weights.bin"
    weights.write_bytes(b"1")
    source.write_text(AGENT.replace("def act", "def __init__(self, file):\n        pass\n\n    def act"))
    agents = ("random", f"{NAME}:Mine:file={weights}")
    play = Tournament((GAME,), agents, openings=2)
    records = play_tournament(play, tmp_path / "folder")
    weights.write_bytes(b"2")
    with pytest.raises(ValueError, match=r"other programs: file .*weights\.bin \w+ there"):
        play_tournament(play, tmp_path / "folder")
    weights.write_bytes(b"1")
    assert play_tournament(play, tmp_path / "folder") == records
    monkeypatch.setattr(folders, "_hash_of_packages", lambda: "another")
    with pytest.raises(ValueError, match=r"other programs: pbm-envs .* there and .*another.* here"):
        play_tournament(play, tmp_path / "folder")


def test_somebody_elses_folders_stay(source, tmp_path):
    """`pbm export --out X` removed a folder X.part."""
    tournament(tmp_path / "games")
    pytest.importorskip("pyarrow")
    other = tmp_path / "X.part"
    other.mkdir()
    (other / "precious").write_text("mine")
    export_records(tmp_path / "games", tmp_path / "X")
    assert (other / "precious").read_text() == "mine"
    assert {path.name for path in tmp_path.iterdir()} >= {"X", "X.part"}
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


def test_a_data_set_with_other_options(source, tmp_path):
    """It was said to be complete, without the columns that were asked for."""
    pytest.importorskip("pyarrow")
    from pbm_agents.cli.app import app
    from typer.testing import CliRunner

    def pbm(*more):
        arguments = ["dataset", "chameleon:size=3", "--agent", "random", "--games", "2", "--out", str(tmp_path / "set")]
        return CliRunner().invoke(app, [*arguments, *more])

    assert pbm().exit_code == 0
    assert "is complete" in pbm().output
    result = pbm("--full-states")
    assert result.exit_code != 0
    assert "full_states False there and True here" in str(result.exception) + result.output


def test_a_folder_in_use_is_said_at_once(tmp_path):
    """The second `pbm train` in a folder died of a file that the first had moved."""
    pytest.importorskip("torch")
    from pbm_agents.learning.trainer import Training, train

    (tmp_path / "run").mkdir()
    with (
        locked(tmp_path / "run", "training"),
        pytest.raises(
            ValueError, match=rf"another process is at work in .*: process {os.getpid()} on .*, training since"
        ),
    ):
        train(GAME, tmp_path / "run", Training(rounds=1, games=1))
    assert {path.name for path in (tmp_path / "run").iterdir()} <= {".lock"}


def test_training_with_another_program(tmp_path, monkeypatch, capsys):
    """Refused; with nothing left to do, that is said; and PyTorch has one thread, as the folder says."""
    torch = pytest.importorskip("torch")
    from pbm_agents.learning import trainer
    from pbm_agents.learning.trainer import Training, train

    settings = Training(rounds=1, games=2, simulations=2, gumbel=2, hidden=4, layers=1, opponents=(), gate_games=0)
    threads = torch.get_num_threads()
    train(GAME, tmp_path, settings)
    assert json.loads((tmp_path / "training.json").read_text())["made_with"][-1]["threads of torch"] == "1"
    capsys.readouterr()
    train(GAME, tmp_path, settings)
    assert "nothing is left to do: all 1 rounds are done" in capsys.readouterr().out
    monkeypatch.setattr(folders, "_hash_of_packages", lambda: "another")
    with pytest.raises(ValueError, match=r"other programs: pbm-envs .* there and .*another.* here"):
        train(GAME, tmp_path, settings)
    seen = []
    monkeypatch.setattr(trainer._Run, "go_on", lambda *_: seen.append(torch.get_num_threads()) or [])
    torch.set_num_threads(threads + 1)
    try:
        train(GAME, tmp_path, settings, accept_changes=True)
        assert seen == [1]
        assert torch.get_num_threads() == threads + 1
    finally:
        torch.set_num_threads(threads)


def test_speeds_count_what_this_process_has_played(tmp_path, monkeypatch):
    """Games that a killed run has left on the disk counted as played in no time."""
    pytest.importorskip("torch")
    from pbm_agents.learning import trainer
    from pbm_agents.learning.trainer import Training, train

    settings = Training(rounds=1, games=2, simulations=2, hidden=4, layers=1, opponents=(), gate_games=0)
    [whole] = train(GAME, tmp_path / "whole", settings)
    assert whole["positions_a_second"] > 0

    def killed(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(trainer._Run, "_keep_examples", killed)
        with pytest.raises(KeyboardInterrupt):
            train(GAME, tmp_path / "killed", settings)
    [resumed] = train(GAME, tmp_path / "killed", settings)
    assert resumed["positions_a_second"] is None
    assert resumed["policy_loss"] == whole["policy_loss"]
