"""Tournaments in a folder: the same games whoever plays them; stopped at any moment, they go on where they were."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from pbm_agents.arena import Run, Tournament, play_tournament, tournament_records
from pbm_agents.common.folders import locked

from pbm_envs import Chameleon, Curio, Trinim
from pbm_envs.records import RecordError, verify

ROOT = Path(__file__).parents[2]
HERE = "tests.arena.agents"
SMALL = Tournament(
    (Chameleon(size=4), Trinim(num_players=3)),
    ("random", f"{HERE}:First", "mcts:simulations=8"),
    batch=12,
    key="a test",
)


def games(records):
    """What has to be the same: all but the time."""
    return [replace(record, seconds=()) for record in records]


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    folder = tmp_path_factory.mktemp("played")
    return play_tournament(SMALL, folder), folder


def test_all_games_are_played_written_and_replay(played):
    records, folder = played
    assert [record.number for record in records] == list(range(3 * 20 + 60))
    assert tournament_records(folder) == records
    for record in records:
        verify(record)
    assert json.loads((folder / "tournament.json").read_text())["agents"] == list(SMALL.agents)


def test_a_finished_tournament_is_not_played_again(played):
    records, folder = played
    before = (folder / "games.jsonl").stat().st_mtime_ns
    assert play_tournament(SMALL, folder) == records
    assert (folder / "games.jsonl").stat().st_mtime_ns == before


def test_worker_processes_play_the_same_games(played, tmp_path):
    before = dict(os.environ)
    assert games(play_tournament(SMALL, tmp_path, Run(workers=2))) == games(played[0])
    assert os.environ == before


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")
def test_a_killed_tournament_goes_on_where_it_was(tmp_path):
    """Three times, by SIGKILL; what is left is whole batches, and in the end the same games as without."""
    tournament = Tournament(
        (Chameleon(size=3), Trinim()), ("random", f"{HERE}:Slow"), openings=12, batch=4, key="a test"
    )
    folder = tmp_path / "killed"
    words = f"tournament {folder} -g chameleon:size=3 -g trinim -a random -a {HERE}:Slow --openings 12 --batch 4"
    command = [sys.executable, "-m", "pbm_agents.cli", *words.split(), "--workers", "2", "--key", "a test"]
    path, seen = folder / "games.jsonl", 0
    for _ in range(3):
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env={**os.environ, "PBM_TESTS_GAMES": str(path), "PBM_TESTS_MOST": str(seen + 1)},
        )
        deadline = time.monotonic() + 600
        while not path.exists() or path.read_bytes().count(b"\n") <= seen:
            assert process.poll() is None, process.stderr.read().decode()
            assert time.monotonic() < deadline
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stderr.close()
        assert len(tournament_records(folder)) >= seen
        seen = len(tournament_records(folder))
        assert 0 < seen < 48
        assert seen % 4 == 0
    kept = {record.number: record for record in tournament_records(folder)}
    records = play_tournament(tournament, folder)
    assert [record for record in records if record.number in kept] == list(kept.values())
    assert games(records) == games(play_tournament(tournament, tmp_path / "whole"))


@pytest.mark.parametrize("lost", [1, 40, 1500, 4000])
def test_a_torn_batch_is_dropped_and_played_again(played, tmp_path, lost):
    records, folder = played
    whole = (folder / "games.jsonl").read_bytes()
    (tmp_path / "tournament.json").write_bytes((folder / "tournament.json").read_bytes())
    (tmp_path / "games.jsonl").write_bytes(whole[:-lost])
    assert games(play_tournament(SMALL, tmp_path)) == games(records)
    assert (tmp_path / "games.jsonl").read_bytes().count(b"\n") == len(records)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda lines: [*lines[:5], b"{}\n", *lines[6:]], "line 6: schema is None"),
        (lambda lines: lines[:5] + lines[6:], "line 1: game 0 is not the next one of a batch"),
        (lambda lines: lines + lines[:12], "line 121: game 0 is not the next one of a batch"),
    ],
)
def test_damage_that_killing_does_not_do_is_not_mended(played, tmp_path, damage, message):
    """Nothing is dropped in silence."""
    _, folder = played
    (tmp_path / "tournament.json").write_bytes((folder / "tournament.json").read_bytes())
    lines = damage((folder / "games.jsonl").read_bytes().splitlines(keepends=True))
    (tmp_path / "games.jsonl").write_bytes(b"".join(lines))
    with pytest.raises(RecordError, match=message):
        play_tournament(SMALL, tmp_path)
    assert (tmp_path / "games.jsonl").read_bytes() == b"".join(lines)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"openings": 11}, "openings 10 there and 11 here"),
        ({"seed": 1, "form": "gauntlet"}, "form round-robin there and gauntlet here; seed 0 there and 1 here"),
        (
            {"agents": ("random", "mcts:simulations=9")},
            "agents random, .*mcts:simulations=8 there and random, mcts:simulations=9 here",
        ),
        (
            {"games": (Chameleon(size=5), Trinim(num_players=3))},
            "games chameleon:size=4,.* there and chameleon:size=5,.* here",
        ),
    ],
    ids=lambda value: str(value)[:20],
)
def test_a_changed_command_is_refused_naming_what_differs(played, change, message):
    records, folder = played
    with pytest.raises(ValueError, match=f"holds another tournament: .*{message}"):
        play_tournament(replace(SMALL, **change), folder)
    assert tournament_records(folder) == records


def test_a_folder_with_games_of_unknown_origin_is_refused(tmp_path):
    (tmp_path / "games.jsonl").write_text("")
    with pytest.raises(ValueError, match=r"holds games.jsonl but no tournament.json"):
        play_tournament(SMALL, tmp_path)


def test_two_processes_do_not_write_to_one_folder(played):
    """The second is told who has it."""
    with locked(played[1], "resting"):
        message = rf"another process is at work in .*: process {os.getpid()} on .*, resting since"
        with pytest.raises(ValueError, match=message):
            play_tournament(SMALL, played[1])
    play_tournament(SMALL, played[1])


@pytest.mark.parametrize("workers", [1, 2])
def test_crashing_agents_forfeit_and_the_tournament_goes_on(tmp_path, workers):
    agents = ("random", f"{HERE}:Crashing", f"{HERE}:Illegal", f"{HERE}:First")
    records = play_tournament(Tournament((Curio(base=2, rows=4, cols=3),), agents, openings=4), tmp_path, Run(workers))
    assert len(records) == 48
    reasons = {
        record.agents[forfeit.player]: forfeit.reason.partition(":")[0]
        for record in records
        for forfeit in record.forfeits
    }
    assert reasons == {agents[1]: "ZeroDivisionError", agents[2]: "illegal"}
    assert {record.ending for record in records if not record.forfeits} >= {"won"}


def test_progress_shows_games_rate_and_what_was_there(played, tmp_path, capsys):
    folder = played[1]
    (tmp_path / "tournament.json").write_bytes((folder / "tournament.json").read_bytes())
    lines = (folder / "games.jsonl").read_bytes().splitlines(keepends=True)
    (tmp_path / "games.jsonl").write_bytes(b"".join(lines[:24]))
    play_tournament(SMALL, tmp_path, Run(progress=True))
    shown = capsys.readouterr().err
    assert "20/120" in shown, "a batch of 12, one of 8, and a part of the next"
    assert "120/120" in shown
    assert "game/s" in shown
