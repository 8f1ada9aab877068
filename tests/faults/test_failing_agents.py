"""Agents and infrastructure that fail.

What an agent does wrong is a forfeit with a short reason, and the others play on. What the infrastructure does wrong
leaves games unplayed, and the same command plays them after the repair.
"""

import json
import sys
import time
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from pbm_agents import InfrastructureError, RandomAgent, evaluate
from pbm_agents.arena import (
    Opening,
    Run,
    SequentialTest,
    Tournament,
    play_games,
    play_sprt,
    play_tournament,
    rate_on_ladder,
    tournament_records,
)
from pbm_agents.arena.asking import MOST_FAULTS, ask_or_fault, fault_of
from pbm_agents.cli.app import UNPLAYED, app
from typer.testing import CliRunner

from pbm_envs import Chameleon
from pbm_envs.core.checks import describe_error, printable
from pbm_envs.records import GameRecord, verify
from tests.faults import wicked

HERE = "tests.faults.wicked"
GAME = Chameleon(size=3)
posix_only = pytest.mark.skipif(sys.platform == "win32", reason="signals")


@pytest.fixture(autouse=True)
def mark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file whose presence says that the fault is repaired."""
    monkeypatch.setenv("PBM_TESTS_MARK", str(tmp_path / "mark"))
    return tmp_path / "mark"


def tournament(agent: str, **settings: object) -> Tournament:
    settings = {"openings": 2, "batch": 2, "key": "5eed" * 16, **settings}
    return Tournament((GAME,), ("random", f"{HERE}:{agent}", "mcts:simulations=2"), **settings)  # type: ignore[arg-type]


def timeless(records: list[GameRecord]) -> list[GameRecord]:
    return [replace(record, seconds=()) for record in records]


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
    records = play_tournament(tournament(agent, openings=3, batch=4), tmp_path)
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
@posix_only
def test_whatever_an_agent_does_to_its_process(tmp_path: Path, agent: str, reasons: set[str]) -> None:
    records = play_tournament(tournament(agent, openings=1), tmp_path, Run(workers=2))
    assert len(records) == 6
    (own,) = forfeits(records).values()
    assert {reason.partition(",")[0] for reason in own} == reasons
    assert set(forfeits(records)) == {agent}
    others = [record for record in records if f"{HERE}:{agent}" not in record.agents]
    assert len(others) == 2
    assert all(record.ending == "won" for record in others)


def test_an_agent_that_kills_one_game_loses_that_one(tmp_path: Path) -> None:
    few = Tournament((GAME,), ("random", f"{HERE}:Counts"), openings=4, batch=8, key="5eed" * 16)
    records = play_tournament(few, tmp_path, Run(workers=2))
    lost = [record for record in records if record.forfeits]
    assert 0 < len(lost) < len(records)
    assert forfeits(records)["Counts"] <= {
        "the process ended with exit code 9",
        "the process ended with exit code 9, 3 times in a batch",
    }


def test_an_agent_that_no_worker_can_load(tmp_path: Path) -> None:
    few = Tournament((GAME,), ("random", f"{HERE}:DiesInWorkers"), openings=2, batch=8)
    records = play_tournament(few, tmp_path, Run(workers=2))
    assert [record.ending for record in records] == ["forfeited"] * 4
    (reason,) = forfeits(records)["DiesInWorkers"]
    assert "exit code 4 while the agent was loaded" in reason


def test_an_agent_that_hangs(tmp_path: Path) -> None:
    game = Chameleon(size=4)  # on 3x3 the other can have won before it hangs
    few = Tournament((game,), ("random", f"{HERE}:Hangs"), openings=1, batch=2, move_seconds=0.3)
    began = time.monotonic()
    records = play_tournament(few, tmp_path)
    assert time.monotonic() - began < 500, "it hangs for 1,000 seconds"
    assert [record.ending for record in records] == ["forfeited"] * 2
    assert {reason.partition(",")[0] for reason in forfeits(records)["Hangs"]} == {"no answer within 0.3 seconds"}
    assert json.loads((tmp_path / "tournament.json").read_text())["move_seconds"] == 0.3


@posix_only
def test_a_worker_that_somebody_else_kills_changes_no_game(tmp_path: Path, mark: Path) -> None:
    """Nobody forfeits: the batch is played again, from the same random numbers."""
    killed = Tournament((GAME,), ("random", f"{HERE}:KilledOnce"), openings=4, batch=8, key="a test")
    records = play_tournament(killed, tmp_path / "killed", Run(workers=2))
    assert mark.exists()
    whole = play_tournament(killed, tmp_path / "whole")
    assert timeless(records) == timeless(whole)


@pytest.mark.parametrize("how", ["raises", "exits", "dies"])
@pytest.mark.parametrize("where", wicked.WHERE)
def test_a_failure_outside_of_questions_is_the_agents_own(tmp_path: Path, where: str, how: str) -> None:
    """It forfeits the games that it was called about, and nobody else does; a game that is over stays as it is."""
    name = f"{where}_{how}"
    few = Tournament((Chameleon(size=4),), (f"{HERE}:{name}", "random"), openings=2, batch=4, key="5eed" * 16)
    if how == "dies":
        records = play_tournament(few, tmp_path, Run(workers=2))
        outside = "while the agent was loaded, asked once before the games, or informed about them"
        reason = f"the process ended with exit code 9 {outside}"
    else:
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            records = play_tournament(few, tmp_path)
        reason = {"raises": "ZeroDivisionError: nothing kept", "exits": "SystemExit: 3"}[how]
        warned = {str(warning.message) for warning in said}
        late = {f"{who} failed after its games: {reason}" for who in (f"{HERE}:{name}", "Forgetful")}  # and warmed up
        assert warned == late if where == "end_games" else warned <= late, "`watch` is called after the last ply, too"
    assert len(records) == 4
    # The worker that was to warm the agent up ends, too: it is not tried again.
    assert forfeits(records) == ({} if where == "end_games" and how != "dies" else {name: {reason}})


@pytest.mark.parametrize("where", wicked.WHERE)
def test_a_fault_outside_of_questions_leaves_games_unplayed(tmp_path: Path, mark: Path, where: str) -> None:
    few = Tournament((Chameleon(size=4),), (f"{HERE}:{where}_away", "random"), openings=2, batch=4, key="5eed" * 16)
    if where == "end_games":
        with pytest.warns(UserWarning, match="failed after its games: the server is away"):
            play_tournament(few, tmp_path)
    else:
        with pytest.raises(InfrastructureError, match=r"4 games are unplayed.*the server is away"):
            play_tournament(few, tmp_path)
        assert tournament_records(tmp_path) == []
    mark.touch()
    records = play_tournament(few, tmp_path)
    assert len(records) == 4
    assert not any(record.forfeits for record in records)


def test_an_agent_whose_usage_is_unknown_is_named() -> None:
    class Costly(RandomAgent):
        def take_usage(self, ids):
            raise KeyError("price")

    agents = {"random": RandomAgent(), "costly": Costly()}
    with pytest.warns(UserWarning, match="the usage of Costly is unknown, and not counted: KeyError: 'price'"):
        records = play_games(GAME, agents, [("random", "costly")], [Opening(0)], 1)
    assert not records[0].forfeits


def test_texts_of_errors() -> None:
    assert describe_error(ZeroDivisionError()) == "ZeroDivisionError"
    assert describe_error(wicked.UnspeakableError()) == "UnspeakableError: (its text cannot be had)"
    assert printable("a\x00\x7f\x9b\u202e\r\nb") == "a\\x00\\x7f\\x9b\\u202e  b"
    assert len(printable("\x1b" * 10_000)) == 300
    assert printable("abc", 3) == "abc"


@pytest.mark.parametrize(
    ("agent", "reason", "workers"),
    [
        ("Unreachable", "the server is away", 1),
        ("Unreachable", "the server is away", 2),
        ("NoFile", "FileNotFoundError", 1),
        ("NoMemory", "MemoryError", 1),
    ],
)
def test_games_are_left_unplayed_and_played_after_the_repair(
    tmp_path: Path, mark: Path, agent: str, reason: str, workers: int
) -> None:
    """The others' games are kept, nobody forfeits, and what is played later are the games of an undisturbed run."""
    few = tournament(agent)
    with pytest.raises(InfrastructureError, match=rf"8 games are unplayed.*games .* to .*:{agent}: .*{reason}"):
        play_tournament(few, tmp_path / "games", Run(workers=workers))
    kept = tournament_records(tmp_path / "games")
    assert [record.agents for record in kept[::2]] == [("random", "mcts:simulations=2")] * 2
    mark.touch()
    records = play_tournament(few, tmp_path / "games", Run(workers=workers))
    assert len(records) == 12
    assert not any(record.forfeits for record in records)
    assert timeless(records) == timeless(play_tournament(few, tmp_path / "undisturbed"))


def test_a_tournament_stops_after_a_few_faults_in_a_row(tmp_path: Path) -> None:
    many = Tournament((GAME,), ("random", f"{HERE}:Unreachable"), openings=10, batch=2)
    with pytest.raises(InfrastructureError, match=r"6 games are unplayed.*games 0 to 1, 2 to 3, 4 to 5 "):
        play_tournament(many, tmp_path)


def test_a_file_that_is_missing_where_the_game_is_played(tmp_path: Path, mark: Path) -> None:
    """The agent could be made when the tournament was, so it does not forfeit what it cannot be made for now."""
    mark.touch()
    few = tournament("NoNetworkFile")
    mark.unlink()
    with pytest.raises(InfrastructureError, match=r"8 games are unplayed.*FileNotFoundError"):
        play_tournament(few, tmp_path / "games")
    mark.touch()
    assert not any(record.forfeits for record in play_tournament(few, tmp_path / "games"))


@posix_only
def test_a_worker_that_is_killed_again_and_again(tmp_path: Path, mark: Path) -> None:
    """Nobody can know who kills it: the games are unplayed."""
    few = Tournament((GAME,), ("random", f"{HERE}:Killed"), openings=1, batch=2)
    with pytest.raises(InfrastructureError, match=r"2 games are unplayed.*:Killed: the process died of SIGKILL, twice"):
        play_tournament(few, tmp_path, Run(workers=2))
    assert tournament_records(tmp_path) == []
    mark.touch()
    assert not any(record.forfeits for record in play_tournament(few, tmp_path, Run(workers=2)))


def test_the_commands_say_so_by_their_exit_code(tmp_path: Path, mark: Path) -> None:
    for command in (
        f"tournament {tmp_path}/games -g chameleon:size=3 -a random -a {HERE}:Unreachable --openings 2",
        f"sprt {HERE}:Unreachable random -g chameleon:size=3 --elo1 200 --openings 2 --out {tmp_path}/sprt",
    ):
        result = CliRunner().invoke(app, command.split())
        assert result.exit_code == UNPLAYED
        said = " ".join(result.output.split())
        assert "4 games are unplayed, and nobody has forfeited them: games 0 to 3" in said
        assert "the server is away" in said
        mark.touch()
        assert CliRunner().invoke(app, command.split()).exit_code == 0
        mark.unlink()


def test_a_sequential_test_ends_with_the_first_fault(tmp_path: Path, mark: Path) -> None:
    """Its openings are looked at in order, so games beyond the fault would not count."""
    test = SequentialTest(GAME, f"{HERE}:Unreachable", "random", elo1=200, openings=8, batch=2)
    with pytest.raises(InfrastructureError, match="2 games are unplayed"):
        play_sprt(test, tmp_path)
    assert tournament_records(tmp_path) == []
    mark.touch()
    assert play_sprt(test, tmp_path).openings > 0


def test_a_ladder_rates_nobody_by_a_fault(tmp_path: Path) -> None:
    with pytest.raises(InfrastructureError, match=r"games are unplayed.*the server is away"):
        rate_on_ladder(f"{HERE}:Unreachable", "trinim-5", tmp_path)
    assert not any(record.forfeits for record in tournament_records(tmp_path))


def test_an_evaluation_says_so() -> None:
    with pytest.raises(InfrastructureError, match="the server is away"):
        evaluate("random", GAME, [f"{HERE}:Unreachable"], games=4)
    with pytest.raises(InfrastructureError, match="the server is away"):
        evaluate(f"{HERE}:Unreachable", GAME, games=4)
    with pytest.raises(FileNotFoundError):  # the policy's own error, as it was raised
        evaluate(f"{HERE}:NoFile", GAME, games=4)


def test_memory_for_one_game_and_not_for_many() -> None:
    """A question that fails is repeated for each game alone."""

    class Small(RandomAgent):
        def act(self, game, views, rng):
            if len(views) > 1:
                raise MemoryError
            return super().act(game, views, rng)

    agents = {"random": RandomAgent(), "small": Small()}
    records = play_games(GAME, agents, [("random", "small")] * 4, [Opening(seed) for seed in range(4)], 1)
    assert not any(record.forfeits for record in records)


def test_an_agent_is_not_asked_on_and_on() -> None:
    asked = []

    class Away:
        def act(self, game, views, rng):
            asked.append(len(views))
            raise ConnectionResetError

    views = GAME.view(GAME.init(10, np.random.default_rng(0)), 0)
    answers = ask_or_fault(Away(), GAME, views, np.random.default_rng(0))
    assert asked == [10, *[1] * MOST_FAULTS]
    assert len(answers) == 10
    assert all(isinstance(answer, InfrastructureError) for answer in answers)


@pytest.mark.parametrize(
    ("error", "fault"),
    [
        (InfrastructureError("wrong key"), "wrong key"),
        (InfrastructureError(), "InfrastructureError"),
        (TimeoutError("slow"), "TimeoutError: slow"),
        (MemoryError(), "MemoryError"),
        (type("OutOfMemoryError", (RuntimeError,), {})("CUDA"), "OutOfMemoryError: CUDA"),
        (ValueError("wrong"), None),
        (RecursionError(), None),
        (SystemExit(1), None),
        (wicked.UnspeakableError(), None),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_is_a_fault(error: BaseException, fault: str | None) -> None:
    found = fault_of(error)
    assert (found and str(found)) == fault
