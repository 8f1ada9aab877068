"""Whatever a player of Curio is told in words is the same in all games that this player cannot tell apart (C15)."""

import numpy as np
import pytest

from pbm_envs.text import PromptStyle, TextGame
from tests.curio.test_secrets import every_option, moments
from tests.text.chat_server import chat_server

STYLES = (PromptStyle(legal_moves=True), PromptStyle(position="board", history=3))


def told(game, world, player, style, disguise):
    """Everything that `player` is told in this world, the answers to bad answers included."""
    table = TextGame(game, style, disguise=disguise)
    table.reset(options={"board": world.start, "moves": world.moves})
    texts = [table.system_prompt(), table.prompt(player)]
    if not table.done and table.to_move == player:
        illegal = int(np.flatnonzero(~game.legal_action_mask(table.view(player))[0])[0])
        for answer in ("?", f'{{"move": "{table.words.move(illegal)}"}}', "?"):
            texts += [table.answer(answer).message, table.prompt(player)]
    return texts


@every_option
def test_prompts_histories_and_messages(face, capture, size, games):
    compared = 0
    for k, moment in enumerate(moments(face, capture, size, games)):
        if len(moment.worlds) < 2 or k % 3:
            continue
        style, disguise = STYLES[k % 2], 7 if k % 4 == 0 else None
        first = told(moment.game, moment.worlds[0], moment.player, style, disguise)
        others = moment.worlds[1 :: max(1, len(moment.worlds) // 4)]
        for world in others:
            assert told(moment.game, world, moment.player, style, disguise) == first, str(moment)
        compared += len(others)
    assert compared > games


def asked(game, world, player, url):
    """The agent sees the world's game as it goes on, and is asked for a move where it ends; every answer is bad."""
    from pbm_agents.players.llm import LLMAgent, ModelError

    agent, ids, table = LLMAgent(model="test", url=url, attempts=2, retries=0), np.array([5]), TextGame(game)
    agent.begin_games(game, ids)
    for ply in range(len(world.moves) + 1):
        table.reset(options={"board": world.start, "moves": world.moves[:ply]})
        agent.watch(game, table.view(player), ids)
    with pytest.raises(ModelError) as caught:
        agent.act(game, table.view(player), np.random.default_rng(1), ids)
    return str(caught.value)


def test_requests_errors_and_usage_of_the_agent_for_a_language_model():
    pytest.importorskip("openai")
    compared = 0
    hiding = [moment for moment in moments("large", "le", "one set", 2) if len(moment.worlds) > 1 and moment.own_turn]
    for moment in hiding[:: 1 + len(hiding) // 6]:
        seen = set()
        for world in moment.worlds[:4]:
            with chat_server(lambda messages: "[a1a1]") as server:
                error = asked(moment.game, world, moment.player, server.url)
            seen.add((error, *(repr(request["messages"]) for request in server.requests)))
            compared += 1
        assert len(seen) == 1, str(moment)
    assert compared > 8


def test_the_comparison_notices_a_secret(monkeypatch):
    """If the hidden sides were told, the test above would fail."""
    moment = next(
        moment for moment in moments("large", "le", "one set", 2) if len(moment.worlds) > 1 and moment.own_turn
    )
    game, player = moment.game, moment.player
    texts = set()
    for world in moment.worlds:
        table = TextGame(game)
        table.reset(options={"board": world.start, "moves": world.moves})
        texts.add(game.board_to_string(table.states))
        assert told(game, world, player, STYLES[0], None) == told(game, moment.worlds[0], player, STYLES[0], None)
    assert len(texts) == len(moment.worlds)
    monkeypatch.setattr(TextGame, "view", lambda table, player: _open_view(table, player))
    with pytest.raises(AssertionError):
        assert told(game, moment.worlds[1], player, STYLES[0], None) == told(
            game, moment.worlds[0], player, STYLES[0], None
        )


def _open_view(table, player):
    """The full state under the name of a view."""
    view = table.states.copy()
    view["viewer"] = player
    return view
