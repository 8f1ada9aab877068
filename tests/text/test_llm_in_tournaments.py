"""A language model in a tournament whose server fails, costs money or is asked too much."""

import json

import pytest
from pbm_agents import InfrastructureError
from pbm_agents.arena import Run, Tournament, play_tournament, tournament_records
from pbm_agents.arena.journal import ANSWERS
from pbm_agents.cli.app import UNPLAYED, app
from pbm_agents.common.faults import BudgetSpentError
from typer.testing import CliRunner

from pbm_envs import Chameleon

pytest.importorskip("openai")

from tests.text.chat_server import Reply, chat_server, random_player

GAME = Chameleon(size=4)


def agent(server, settings=""):
    return f"llm:model=test,url={server.url},legal_moves=true,wait=0.001,parallel=1,output_price=1000000{settings}"


def tournament(server, settings="", **more):
    return Tournament((GAME,), ("random", agent(server, settings)), **{"openings": 2, "batch": 2, **more})


def test_a_wrong_key_is_no_defeat(tmp_path, monkeypatch):
    """The command says which games are unplayed and why, and completes with the right key."""
    with chat_server(random_player(), key="right") as server:
        command = f"tournament {tmp_path} -g chameleon:size=4 -a random -a {agent(server)} --openings 4"
        monkeypatch.setenv("OPENAI_API_KEY", "wrong")
        result = CliRunner().invoke(app, command.split())
        assert result.exit_code == UNPLAYED
        said = " ".join(result.output.split())
        assert "8 games are unplayed, and nobody has forfeited them: games 0 to 7" in said
        assert "status 401" in said
        assert tournament_records(tmp_path) == []
        monkeypatch.setenv("OPENAI_API_KEY", "right")
        result = CliRunner().invoke(app, command.split())
        assert result.exit_code == 0
    records = tournament_records(tmp_path)
    assert len(records) == 8
    assert not any(record.forfeits for record in records)


@pytest.mark.parametrize(
    "trouble", [Reply(status=401), Reply(hang_up=True), Reply(wait=600.0)], ids=["401", "no answer", "silence"]
)
def test_no_trouble_of_a_server_is_a_defeat(tmp_path, trouble):
    away, player = True, random_player()
    with chat_server(lambda messages: trouble if away else player(messages)) as server:
        few = tournament(server, ",retries=1,timeout=5" if trouble.wait == 0 else ",timeout=0.2", openings=1)
        with pytest.raises(InfrastructureError, match="2 games are unplayed"):
            play_tournament(few, tmp_path)
        assert tournament_records(tmp_path) == []
        away = False
        records = play_tournament(few, tmp_path)
    assert len(records) == 2
    assert not any(record.forfeits for record in records)


def test_a_model_that_plays_badly_forfeits(tmp_path):
    with chat_server(lambda messages: "?") as server:
        records = play_tournament(tournament(server), tmp_path)
    assert all(record.ending == "forfeited" for record in records)


@pytest.mark.parametrize("workers", [1, 2])
def test_what_has_been_paid_is_kept(tmp_path, workers):
    """A fault in the middle of a game: no position is asked about twice, and the records hold what was used."""
    player, count = random_player(), 0

    def answer(messages):
        nonlocal count
        count += 1
        return Reply(status=401) if count == 3 else player(messages)

    with chat_server(answer) as server:
        few = tournament(server, openings=1)
        with pytest.raises(InfrastructureError, match="status 401"):
            play_tournament(few, tmp_path, Run(workers))
        assert (tmp_path / ANSWERS).exists()
        records = play_tournament(few, tmp_path, Run(workers))
        asked = [json.dumps(request["messages"]) for request in server.requests]
    assert not (tmp_path / ANSWERS).exists()
    assert not any(record.forfeits for record in records)
    assert len(asked) == sum(usage.get("requests", 0) for record in records for usage in record.usage)
    assert sum(usage.get("failed", 0) for record in records for usage in record.usage) == 1
    assert len(asked) == sum(record.turns[record.agents.index(few.agents[1])] for record in records) + 1


@pytest.mark.parametrize("workers", [1, 2])
def test_a_budget_of_requests_pauses(tmp_path, workers):
    with chat_server(random_player()) as server:
        few = tournament(server, openings=3)
        with pytest.raises(BudgetSpentError, match=r"requests 3 of 3|requests 4 of 3"):
            play_tournament(few, tmp_path, Run(workers, max_requests=3))
        sent = len(server.requests)
        assert sent <= 3 + 2 * workers
        with pytest.raises(BudgetSpentError):  # nothing more is asked
            play_tournament(few, tmp_path, Run(workers, max_requests=3))
        assert len(server.requests) == sent
        records = play_tournament(few, tmp_path, Run(workers, max_requests=1000))
    assert len(records) == 6
    assert not any(record.forfeits for record in records)


def test_a_budget_of_money_pauses_the_command(tmp_path):
    with chat_server(random_player()) as server:
        command = f"tournament {tmp_path} -g chameleon:size=4 -a random -a {agent(server)} --openings 2 --batch 2"
        result = CliRunner().invoke(app, [*command.split(), "--max-cost", "20"])
        assert result.exit_code == UNPLAYED
        assert "the budget is used up (cost" in " ".join(result.output.split())
        result = CliRunner().invoke(app, [*command.split(), "--max-cost", "100000"])
        assert result.exit_code == 0
        used = sum(usage.get("requests", 0) for record in tournament_records(tmp_path) for usage in record.usage)
    assert len(tournament_records(tmp_path)) == 4
    assert used == len(server.requests)


@pytest.mark.parametrize(
    "line",
    [
        "[]",
        '{"batch": 0}',
        '{"batch": 0, "answers": [[9, 0, 1, 0.1, {}]]}',
        '{"batch": 0, "answers": [[0, 0, 1.5, 0.1, {}]]}',
        '{"batch": 0, "answers": [[0, 0, 1, 0.1, {"cost": -1}]]}',
        '{"batch": 0, "answers": [[0, 0, 1, 0.1]]}',
    ],
)
def test_a_file_of_answers_that_is_none(tmp_path, line):
    few = Tournament((GAME,), ("random", "tests.arena.agents:First"), openings=1)
    (tmp_path / ANSWERS).write_text(line + "\n")
    with pytest.raises(ValueError, match=ANSWERS):
        play_tournament(few, tmp_path)
