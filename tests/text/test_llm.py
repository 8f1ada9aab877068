"""A language model as an agent, against a server on loopback that answers as the API does: well, badly or too late."""

import json
import re
import time

import numpy as np
import pytest
from pbm_agents import InfrastructureError, make_agent
from pbm_agents.arena import Opening, play_games
from pbm_agents.arena.asking import ask as ask_agent

from pbm_envs import Chameleon, Curio, Trinim, Unlur
from pbm_envs.envs.single import SingleSeatEnv
from pbm_envs.records import GameRecord, RecordError, replay, verify
from pbm_envs.text import History, PromptStyle, TextGame, Vocabulary, turn_prompt

pytest.importorskip("openai")
from pbm_agents.players.llm import LLMAgent, ModelError

from tests.text.chat_server import Reply, chat_server, random_player, text_of, told_view

QUICK = {"wait": 0.01, "timeout": 120.0}
SMALL = [Chameleon(size=3), Curio(base=2, rows=4, cols=3), Trinim(size=3, num_players=3), Unlur(radius=3)]


def start(game, seed=1):
    return game.view(game.init(1, np.random.default_rng(seed)), 0)


def ask(game, answer, views=None, **settings):
    """The moves, the agent and the server."""
    with chat_server(answer) as server:
        agent = LLMAgent(model="test", url=server.url, **QUICK | settings)
        actions = agent.act(game, start(game) if views is None else views, np.random.default_rng(0))
    return [game.action_to_string(int(action)) for action in actions], agent, server


def test_one_move():
    moves, agent, server = ask(Unlur(radius=3), lambda messages: 'Hm. {"move": "C3"}')
    assert moves == ["c3"]
    [request] = server.requests
    assert request["model"] == "test"
    assert [message["role"] for message in request["messages"]] == ["system", "user"]
    assert "You play Unlur" in request["messages"][0]["content"]
    assert "You are player_0" in request["messages"][1]["content"]
    assert (agent.usage.requests, agent.usage.failed, agent.usage.illegal) == (1, 0, 0)
    assert agent.usage.completion_tokens == 3
    assert agent.usage.prompt_tokens > 100


def test_the_key_is_the_usual_variable(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "a-key")
    _, _, server = ask(Unlur(radius=3), lambda messages: "[c3]")
    assert server.keys == ["Bearer a-key"]
    monkeypatch.delenv("OPENAI_API_KEY")
    with pytest.raises(InfrastructureError, match="api_key"):
        LLMAgent(model="test").act(Unlur(radius=3), start(Unlur(radius=3)), np.random.default_rng(0))


def test_bad_answers_are_sent_back():
    answers = iter(["what?", '{"move": "a1"}', '{"move": "c3"}'])
    moves, agent, server = ask(Unlur(radius=3), lambda messages: next(answers))
    assert moves == ["c3"]
    assert (agent.usage.unreadable, agent.usage.illegal, agent.usage.forfeits) == (1, 1, 0)
    said = [text_of(request["messages"]) for request in server.requests]
    assert "could not be read" in said[1]
    assert "'a1' is illegal" in said[2]
    assert [message["role"] for message in server.requests[2]["messages"]][2:] == ["assistant", "user"] * 2


def test_the_last_bad_answer_is_an_error():
    with pytest.raises(ModelError, match=r"no legal move in 2 attempts, the last one unreadable"):
        ask(Unlur(radius=3), lambda messages: "?", attempts=2)
    with pytest.raises(ModelError, match="the last one illegal: a1"):
        ask(Unlur(radius=3), lambda messages: "[a1]", attempts=1)


@pytest.mark.parametrize(
    "trouble",
    [
        Reply(status=500),
        Reply(status=503),
        Reply(status=429, headers={"Retry-After": "0"}),
        Reply(body="<html>502</html>"),
        Reply(body="{}"),
        Reply(body='{"choices": []}'),
        Reply(body='{"choices": [{"message": {"content": 7}}]}'),
        Reply(body='{"id": "chatcmpl-1", "choices": [{"mess'),
        Reply("[c3]", cut=True),
        Reply(hang_up=True),
    ],
    ids=str,
)
def test_trouble_on_the_way_is_tried_again(trouble):
    replies = iter([trouble, trouble, Reply("[c3]")])
    moves, agent, _ = ask(Unlur(radius=3), lambda messages: next(replies))
    assert moves == ["c3"]
    assert (agent.usage.requests, agent.usage.failed) == (3, 2)
    with pytest.raises(InfrastructureError, match="2 requests have failed"):
        ask(Unlur(radius=3), lambda messages: trouble, retries=1)


@pytest.mark.parametrize("silent", [Reply(wait=600.0), Reply(drips=True)], ids=["nothing", "blanks"])
def test_a_request_ends_at_its_deadline(silent):
    """Also one whose server sends something now and then. It is not sent again: `timeout` is for all retries.

    On a slow machine the deadline passes before the server has read the request.
    """
    requests = []

    def answer(messages):
        requests.append(messages)
        return silent

    began = time.monotonic()
    with pytest.raises(InfrastructureError, match=r"1 requests have failed in .* of 0.3 seconds"):
        ask(Unlur(radius=3), answer, timeout=0.3, retries=9)
    assert time.monotonic() - began < 300, "the server waits for 600 seconds"
    assert len(requests) <= 1


def test_retries_and_waits_end_at_the_deadline():
    with chat_server(lambda messages: Reply(status=500)) as server:
        agent = LLMAgent(model="test", url=server.url, timeout=10.0, wait=1.0, retries=99)
        now, waits = 0.0, []

        def sleep(seconds):
            nonlocal now
            waits.append(seconds)
            now += seconds

        agent.client.clock, agent.client.sleep = lambda: now, sleep
        with pytest.raises(InfrastructureError, match=r"of 10 seconds, the last one by status 500"):
            agent.act(Unlur(radius=3), start(Unlur(radius=3)), np.random.default_rng(0))
    assert len(waits) >= 2  # about 1, 2, 4 and no more
    assert sum(waits) < 10.0
    assert len(server.requests) == len(waits) + 1 == agent.usage.requests == agent.usage.failed


def test_a_server_that_wants_max_completion_tokens():
    with chat_server(lambda messages: "[c3]", refused="max_tokens") as server:
        agent = LLMAgent(model="test", url=server.url, max_tokens=50, **QUICK)
        for _ in range(2):
            agent.act(Unlur(radius=3), start(Unlur(radius=3)), np.random.default_rng(0))
    assert [request.get("max_completion_tokens") for request in server.requests] == [None, 50, 50]
    assert [request.get("max_tokens") for request in server.requests] == [50, None, None]
    with chat_server(lambda messages: "[c3]", refused="temperature") as server:
        agent = LLMAgent(model="test", url=server.url, temperature=0.5, **QUICK)
        with pytest.raises(InfrastructureError, match=r"status 400: .*temperature"):
            agent.act(Unlur(radius=3), start(Unlur(radius=3)), np.random.default_rng(0))


@pytest.mark.parametrize("status", [400, 401, 404])
def test_a_refusal_is_an_error_at_once(status):
    requests = []

    def answer(messages):
        requests.append(messages)
        return Reply(status=status)

    with pytest.raises(InfrastructureError, match=f"status {status}"):
        ask(Unlur(radius=3), answer)
    assert len(requests) == 1


def test_no_server_at_all():
    agent = LLMAgent(model="test", url="http://127.0.0.1:9/v1", retries=1, **QUICK)
    with pytest.raises(InfrastructureError, match=r"2 requests have failed .*, the last one by APIConnectionError"):
        agent.act(Unlur(radius=3), start(Unlur(radius=3)), np.random.default_rng(0))


def test_an_empty_answer_is_unreadable():
    body = json.dumps(
        {"id": "1", "object": "chat.completion", "created": 1, "model": "m",
         "choices": [{"index": 0, "message": {"role": "assistant", "content": None}, "finish_reason": "length"}]}
    )  # fmt: skip
    replies = iter([Reply(body=body), Reply("[c3]")])
    moves, agent, _ = ask(Unlur(radius=3), lambda messages: next(replies))
    assert moves == ["c3"]
    assert agent.usage.unreadable == 1


def test_costs_and_log(tmp_path):
    log = tmp_path / "log.jsonl"
    _, agent, _ = ask(Unlur(radius=3), lambda messages: "I say [c3]", input_price=2.0, output_price=10.0, log=str(log))
    expected = agent.usage.prompt_tokens * 2e-6 + agent.usage.completion_tokens * 10e-6
    assert agent.usage.cost == pytest.approx(expected)
    [entry] = map(json.loads, log.read_text().splitlines())
    assert entry["answer"] == "I say [c3]"
    assert entry["cost"] == pytest.approx(expected)
    assert entry["messages"][0]["role"] == "system"
    assert (entry["number"], entry["seat"], entry["ply"], entry["attempt"], entry["retry"]) == (None, 0, 0, 1, 0)
    assert (entry["finish_reason"], entry["error"]) == ("stop", None)


def test_each_request_is_a_line_that_joins_its_game(tmp_path):
    """Failed requests and bad answers too; a cut answer says so; answers with half a character are written."""
    game, log = Unlur(radius=3), tmp_path / "log.jsonl"
    player, count = random_player(), 0

    def answer(messages):
        nonlocal count
        count += 1
        odd = {2: Reply(status=500), 3: Reply("I thi", finish="length"), 5: Reply("\ud800")}
        return odd.get(count) or player(messages[:2])

    with chat_server(answer) as server:
        name = f"llm:model=test,url={server.url},legal_moves=true,wait=0.01,output_price=10,parallel=1,log={log}"
        agents = {"model": make_agent(name), "random": make_agent("random")}
        seats = [["model", "random"], ["random", "model"]]
        records = play_games(game, agents, seats, [Opening(1), Opening(2)], 7, first_number=40)
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert len(lines) == len(server.requests) == agents["model"].usage.requests
    assert [line["error"] and line["error"][:10] for line in lines[:3]] == [None, "status 500", None]
    assert (lines[1]["retry"], lines[2]["retry"]) == (0, 1)
    assert [line["finish_reason"] for line in lines[:4]] == ["stop", None, "length", "stop"]
    assert (lines[2]["attempt"], lines[3]["attempt"]) == (1, 2)
    for record in records:
        seat = record.agents.index("model")
        own = [line for line in lines if line["number"] == record.number]
        assert {line["seat"] for line in own} == {seat}
        assert len({line["ply"] for line in own}) == record.turns[seat]
        assert len(own) == record.usage[seat]["requests"]
        assert sum(line["cost"] for line in own) == pytest.approx(record.usage[seat]["cost"])
        assert sum(line["error"] is not None for line in own) == record.usage[seat].get("failed", 0)


def test_many_positions_at_once_and_one_that_fails():
    """The good ones are not asked for again when a tournament asks for each alone."""
    game = Unlur(radius=3)
    views = np.concatenate([start(game)] * 4)
    states = views.copy()
    states["viewer"] = -1
    for row, text in enumerate(("b2", "b3", "c2", "c4")):
        game.step(states[row : row + 1], [game.string_to_action(text)])
    views = game.view(states, 1)

    def answer(messages):
        return "?" if "last move was b3" in messages[1]["content"] else '{"move": "black"}'

    with chat_server(answer) as server:
        agent = LLMAgent(model="test", url=server.url, parallel=4, **QUICK)
        rng = np.random.default_rng(0)
        with pytest.raises(ModelError):
            agent.act(game, views, rng)
        asked = len(server.requests)
        assert asked == 3 + 3
        for row in (0, 2, 3):
            assert game.action_to_string(int(agent.act(game, views[row : row + 1], rng)[0])) == "black"
        with pytest.raises(ModelError):
            agent.act(game, views[1:2], rng)
        assert len(server.requests) == asked


@pytest.mark.parametrize("game", SMALL, ids=lambda game: game.name)
def test_whole_games_in_a_tournaments_loop(game):
    with chat_server(random_player()) as server:
        agents = {
            "model": make_agent(f"llm:model=test,url={server.url},legal_moves=true,position=board,wait=0.01"),
            "random": make_agent("random"),
        }
        seats = [["model", "random", "random"][: game.num_players], ["random", "model", "model"][: game.num_players]]
        records = play_games(game, agents, seats, [Opening(1), Opening(2)], 7)
    assert all(not record.forfeits for record in records)
    assert agents["model"].usage.requests > 0


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("llm", "llm needs the name of a model"),
        ("llm:model=a,attempts=0", "attempts is 0"),
        ("llm:model=a,retries=-1", "retries is -1"),
        ("llm:model=a,timeout=0", "timeout is 0"),
        ("llm:model=a,rules=long", "rules is 'long'"),
        ("llm:modle=a", "'modle=a' is not an option of llm: expected NAME=VALUE, NAME one of model, url"),
    ],
)
def test_wrong_settings(name, message):
    with pytest.raises(ValueError, match=message):
        make_agent(name)


@pytest.mark.parametrize("game", SMALL, ids=lambda game: game.name)
def test_a_prompt_tells_the_whole_view(game):
    """A view made of nothing but the prompt has the legal moves of the position."""
    rng, agent = np.random.default_rng(4), make_agent("random")
    for seed in range(10):
        table = TextGame(game)
        table.reset(seed=seed)
        while not table.done:
            view = table.view(table.to_move)
            found = told_view(game, table.prompt())
            assert (game.legal_action_mask(found) == game.legal_action_mask(view)).all()
            if game.perfect_information:
                assert (game.observe(found) == game.observe(view)).all()
            table.play(int(agent.act(game, view, rng)[0]))


def played(games, game, settings="", openings=(1, 2)):
    """Records of games that the model plays at random, all that the server was asked, and the agent."""
    with chat_server(random_player()) as server:
        name = f"llm:model=test,url={server.url},legal_moves=true,wait=0.01,input_price=3,output_price=15{settings}"
        agents = {"model": make_agent(name), "random": make_agent("random")}
        records = play_games(game, agents, games, [Opening(seed) for seed in openings], 7)
    return records, server.requests, agents["model"]


def test_the_record_of_a_game_says_what_each_seat_has_used():
    game = Unlur(radius=3)
    records, requests, agent = played([["model", "random"], ["random", "model"]], game)
    sums = {"requests": 0, "prompt_tokens": 0, "completion_tokens": 0, "cost": 0.0}
    for record in records:
        model = record.agents.index("model")
        assert record.usage[1 - model] == {}
        assert record.usage[model]["requests"] == record.turns[model]
        for name, amount in record.usage[model].items():
            sums[name] += amount
        assert GameRecord.from_json(record.to_json()) == record
        verify(record)
    used = agent.usage
    assert sums["requests"] == used.requests == len(requests)
    assert (sums["prompt_tokens"], sums["completion_tokens"]) == (used.prompt_tokens, used.completion_tokens)
    assert sums["cost"] == pytest.approx(used.prompt_tokens * 3e-6 + used.completion_tokens * 15e-6)


def test_bad_answers_and_forfeits_count_in_the_record():
    game = Unlur(radius=3)
    with chat_server(lambda messages: "?") as server:
        agents = {"model": make_agent(f"llm:model=test,url={server.url},attempts=2"), "random": make_agent("random")}
        [record] = play_games(game, agents, [["model", "random"]], [Opening(1)], 7)
    assert record.ending == "forfeited"
    assert record.usage[0]["unreadable"] == record.usage[0]["requests"] == 2


def test_records_without_usage_are_written_and_read_as_before():
    [record] = play_games(Unlur(radius=3), {"random": make_agent("random")}, [["random"] * 2], [Opening(1)], 7)
    assert record.usage == ()
    assert "usage" not in record.to_json()
    assert GameRecord.from_json(record.to_json()) == record
    for wrong in ('[{"cost": -1}, {}]', '[{"cost": "2"}, {}]', '[{"cost": NaN}, {}]', "[{}]", '{"cost": 1}'):
        with pytest.raises(RecordError):
            GameRecord.from_json(record.to_json()[:-1] + f', "usage": {wrong}}}')


@pytest.mark.parametrize("game", SMALL, ids=lambda game: game.name)
def test_the_model_is_told_the_history_that_its_player_has_seen(game):
    """The same text as that of a referee who sees the player's views of the game, no more and no less."""
    seats = [["model", "random", "model"][: game.num_players]]
    [record], requests, _ = played(seats, game, openings=(3,))
    expected, states = [], list(replay(record))
    words = Vocabulary(game)
    for seat in range(game.num_players):
        if seats[0][seat] != "model":
            continue
        history = History(game, game.view(states[0], seat))
        for state in states:
            if state["ply"][0]:
                history.see(game.view(state, seat))
            if state["to_move"][0] == seat and not state["done"][0]:
                style = PromptStyle(legal_moves=True)
                expected.append(turn_prompt(words, game.view(state, seat), history, style))
    assert sorted(request["messages"][1]["content"] for request in requests) == sorted(expected)


def test_only_the_last_plies_are_told_if_asked_for():
    _, requests, _ = played([["model", "random"]], Unlur(radius=3), ",history=2", openings=(1,))
    assert "The last 2 of 4 moves:\n3. " in requests[2]["messages"][1]["content"]


def test_who_does_not_show_every_ply_shows_the_turns():
    """In an environment, as opponent: the model knows its own moves and the one before each of its turns."""
    game = Trinim(num_players=3)
    with chat_server(random_player()) as server:
        env = SingleSeatEnv(game, make_agent(f"llm:model=test,url={server.url},legal_moves=true"), seat=0)
        _, info = env.reset(seed=5)
        for _ in range(2):
            _, _, terminated, _, info = env.step(int(np.flatnonzero(info["action_mask"])[0]))
            assert not terminated
    shown = r"^(?:The moves|Moves that).*\n(?:\d+\. .*\n)*"
    told = [re.findall(shown, request["messages"][1]["content"], re.M)[0] for request in server.requests]
    forms = [re.sub(r": \w[\w-]*$", ": ...", text, flags=re.M).rstrip() for text in told]
    assert forms[0] == "The moves so far:\n1. another player: ..."
    assert forms[1] == "Moves that you have seen:\n2. another player: ..."
    assert forms[2] == "Moves that you have seen:\n1. another player: ...\n2. player_1: ...\n4. another player: ..."


def test_a_player_at_the_board_has_a_model_against_them():
    """`pbm play` asks about each turn anew, and shows all plies before it."""
    game = Unlur(radius=3)
    with chat_server(random_player()) as server:
        agent = make_agent(f"llm:model=test,url={server.url},legal_moves=true")
        states = [game.init(1, np.random.default_rng(0))]
        for text in ("c3", "b2", "black", "d4"):
            states.append(states[-1].copy())
            game.step(states[-1], [game.string_to_action(text)])
        past = [game.view(state, 0) for state in states[:-1]]
        ask_agent(agent, game, game.view(states[-1], 0), np.random.default_rng(0), past)
    [request] = server.requests
    moves = "1. player_0: c3\n2. player_1: b2\n3. player_0: black\n4. player_1: d4"
    assert f"The moves so far:\n{moves}" in request["messages"][1]["content"]
