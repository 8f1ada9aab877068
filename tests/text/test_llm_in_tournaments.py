"""A language model in a tournament whose server fails, costs money or is asked too much."""

import json

import pytest
from pbm_agents import InfrastructureError, evaluate
from pbm_agents.arena import Run, Tournament, play_tournament, tournament_records
from pbm_agents.arena.journal import ANSWERS
from pbm_agents.cli.app import UNPLAYED, app
from pbm_agents.common.faults import BudgetSpentError
from pbm_agents.players.chat_client import ChatClient
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


TROUBLES = {
    "401": Reply(status=401),
    "429": Reply(status=429),
    "500": Reply(status=500),
    "no JSON": Reply(body="<html>502</html>"),
    "cut JSON": Reply("[c3]", cut=True),
    "no answer": Reply(hang_up=True),
    "silence": Reply(wait=600.0),
}


@pytest.mark.parametrize("trouble", TROUBLES.values(), ids=TROUBLES)
def test_no_trouble_of_a_server_is_a_defeat(tmp_path, trouble, monkeypatch):
    """What waits for a silent server waits for a moment only, and for one that answers as long as it takes."""
    away, player, send = True, random_player(), ChatClient._send
    monkeypatch.setattr(
        ChatClient, "_send", lambda self, said, left: send(self, said, 0.2 if away and trouble.wait else left)
    )
    with chat_server(lambda messages: trouble if away else player(messages)) as server:
        few = tournament(server, ",retries=1,timeout=600", openings=1)
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
    ("budget", "spent"), [({"max_requests": 3}, r"requests \d of 3"), ({"max_cost": 20}, r"cost \d\d of 20")]
)
def test_a_budget_ends_an_evaluation(budget, spent):
    """It counts both sides, over all opponents; a question is about the two games that are played together."""
    with chat_server(random_player()) as server:
        with pytest.raises(BudgetSpentError, match=spent):
            evaluate(agent(server), GAME, {"random": "random", "model": agent(server)}, games=2, **budget)
        assert 3 <= len(server.requests) <= 5
        counts = [len(server.requests)]
        for players in ((agent(server), "random"), ("random", agent(server))):
            evaluate(players[0], GAME, players[1:], games=2, max_requests=1000, max_cost=100_000)
            counts.append(len(server.requests))
        assert counts == sorted(set(counts))
        with pytest.raises(BudgetSpentError):  # nothing is asked
            evaluate(agent(server), GAME, games=2, max_requests=0)
        assert len(server.requests) == counts[-1]


def test_the_usage_of_a_policy_without_memory_counts():
    class Costly:
        def act(self, game, views, rng):
            return game.legal_action_mask(views).argmax(axis=1)

        def take_usage(self, ids):
            return [{"cost": 1.0} for _ in ids]

    assert evaluate(Costly(), GAME, games=2, max_cost=100)["random"].games == 2
    with pytest.raises(BudgetSpentError, match=r"cost [23] of 2"):
        evaluate(Costly(), GAME, games=2, max_cost=2)


@pytest.mark.parametrize("budget", [{"max_requests": -1}, {"max_requests": 1.5}, {"max_cost": -1}, {"max_cost": "5"}])
def test_no_budget(budget):
    with pytest.raises(ValueError, match=f"{next(iter(budget))} is "):
        evaluate("random", GAME, games=2, **budget)


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
