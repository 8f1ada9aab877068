"""One agent cannot end a tournament: whatever it does is a forfeit with a short reason, and the others play on."""

import json
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from pbm_agents.arena import Tournament, play_tournament, tournament_records

from pbm_envs import Chameleon
from pbm_envs.core.printable import describe_error, printable
from pbm_envs.records import GameRecord, verify
from tests.faults import wicked

HERE = "tests.faults.wicked"
GAME = Chameleon(size=3)


def tournament(agent: str, **settings: object) -> Tournament:
    settings = {"openings": 3, "batch": 4, **settings}
    return Tournament((GAME,), ("random", f"{HERE}:{agent}", "mcts:simulations=2"), **settings)  # type: ignore[arg-type]


def forfeits(records: list[GameRecord]) -> dict[str, set[str]]:
    """Reasons by agent; every record can be read again, replays, and is short."""
    found: dict[str, set[str]] = {}
    for record in records:
        line = record.to_json()
        assert len(line) < 3000
        assert line.isprintable()
        assert GameRecord.from_json(json.dumps(json.loads(line))) == record
        verify(record)
        for forfeit in record.forfeits:
            found.setdefault(record.agents[forfeit.player].removeprefix(f"{HERE}:"), set()).add(forfeit.reason)
    return found


@pytest.mark.parametrize(
    ("agent", "reason"),
    [
        ("Exits", "SystemExit: 0"),
        ("Surrogate", "ValueError: a lone \\ud800 and a terminal's \\x1b[2J escape"),
        ("CannotBeSaid", "UnspeakableError: (its text cannot be had)"),
        ("Generator", "GeneratorExit"),
        ("Long", "ValueError: " + "x" * 285 + "..."),
    ],
)
def test_whatever_an_agent_raises(tmp_path: Path, agent: str, reason: str) -> None:
    records = play_tournament(tournament(agent), tmp_path)
    assert len(records) == 18
    assert forfeits(records) == {agent: {reason}}
    assert tournament_records(tmp_path) == records


@pytest.mark.parametrize(
    ("agent", "reasons"),
    [
        ("Interrupts", {"KeyboardInterrupt"}),
        pytest.param("Dies", {"the process ended with exit code 9"}, marks=pytest.mark.slow),
        pytest.param("Segfaults", {"the process died of SIGSEGV"}, marks=pytest.mark.slow),
    ],
)
@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_whatever_an_agent_does_to_its_process(tmp_path: Path, agent: str, reasons: set[str]) -> None:
    records = play_tournament(tournament(agent), tmp_path, workers=2)
    assert len(records) == 18
    (own,) = forfeits(records).values()
    assert {reason.partition(",")[0] for reason in own} == reasons
    assert set(forfeits(records)) == {agent}
    others = [record for record in records if f"{HERE}:{agent}" not in record.agents]
    assert len(others) == 6
    assert all(record.ending == "won" for record in others)


def test_an_agent_that_kills_one_game_loses_that_one(tmp_path: Path) -> None:
    few = Tournament((GAME,), ("random", f"{HERE}:Counts"), openings=4, batch=8, key="5eed" * 16)
    records = play_tournament(few, tmp_path, workers=2)
    lost = [record for record in records if record.forfeits]
    assert 0 < len(lost) < len(records)
    assert forfeits(records)["Counts"] <= {
        "the process ended with exit code 9",
        "the process ended with exit code 9, 3 times in a batch",
    }


def test_an_agent_that_no_worker_can_load(tmp_path: Path) -> None:
    few = Tournament((GAME,), ("random", f"{HERE}:DiesInWorkers"), openings=2, batch=8)
    records = play_tournament(few, tmp_path, workers=2)
    assert [record.ending for record in records] == ["forfeited"] * 4
    (reason,) = forfeits(records)["DiesInWorkers"]
    assert "exit code 4 while the agent was loaded" in reason


def test_an_agent_that_hangs(tmp_path: Path) -> None:
    game = Chameleon(size=4)  # on 3x3 the other can have won before it hangs
    few = Tournament((game,), ("random", f"{HERE}:Hangs"), openings=1, batch=2, move_seconds=0.3)
    began = time.monotonic()
    records = play_tournament(few, tmp_path)
    assert time.monotonic() - began < 60
    assert [record.ending for record in records] == ["forfeited"] * 2
    assert {reason.partition(",")[0] for reason in forfeits(records)["Hangs"]} == {"no answer within 0.3 seconds"}
    assert json.loads((tmp_path / "tournament.json").read_text())["move_seconds"] == 0.3


@pytest.mark.parametrize("seconds", [0, -1, float("nan"), float("inf")])
def test_limits_that_are_none(seconds: float) -> None:
    with pytest.raises(ValueError, match=r"move_seconds is .*: expected a finite number"):
        Tournament((GAME,), ("random", "mcts:simulations=2"), move_seconds=seconds)


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")
def test_a_worker_that_somebody_else_kills_changes_no_game(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody forfeits: the batch is played anew, from the same random numbers."""
    killed = Tournament((GAME,), ("random", f"{HERE}:KilledOnce"), openings=4, batch=8, key="a test")
    monkeypatch.setenv("PBM_TESTS_MARK", str(tmp_path / "mark"))
    records = play_tournament(killed, tmp_path / "killed", workers=2)
    assert (tmp_path / "mark").exists()
    whole = play_tournament(killed, tmp_path / "whole")
    assert [replace(record, seconds=()) for record in records] == [replace(record, seconds=()) for record in whole]


def test_texts_of_errors() -> None:
    assert describe_error(ZeroDivisionError()) == "ZeroDivisionError"
    assert describe_error(wicked.UnspeakableError()) == "UnspeakableError: (its text cannot be had)"
    assert printable("a\x00\x7f\x9b\u202e\r\nb") == "a\\x00\\x7f\\x9b\\u202e  b"
    assert len(printable("\x1b" * 10_000)) == 300
    assert printable("abc", 3) == "abc"
