"""OpenEnv: whole games between its client and its server, over loopback."""

import socket
import threading
import time

import numpy as np
import pytest

pytestmark = [pytest.mark.libraries, pytest.mark.filterwarnings("default")]
pytest.importorskip("openenv")

import uvicorn
from pbm_agents import make_agent

from pbm_envs import Curio, Trinim, Unlur, make_game
from pbm_envs.adapters.openenv import SETTINGS, Answer, GameClient, GameEnvironment, app, make_openenv
from tests.text.chat_server import told_view

SMALL = {
    "curio": {"base": 2, "rows": 4, "cols": 3},
    "trinim": {"size": 3, "num_players": 3},
    "chameleon": {"size": 3},
    "unlur": {"radius": 3},
}
CHANCY = ("curio", "trinim")
"""Games that are too small for search to be sure of a few of them."""


@pytest.fixture
def serve():
    """Starts a server with these settings; its address."""
    servers = []

    def start(settings):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        server = uvicorn.Server(uvicorn.Config(app(settings), host="127.0.0.1", port=port, log_level="error"))
        thread = threading.Thread(target=server.run, daemon=True)
        thread.start()
        servers.append((server, thread))
        while not server.started:
            time.sleep(0.02)
        return f"http://127.0.0.1:{port}"

    yield start
    for server, thread in servers:
        server.should_exit = True
        thread.join(timeout=10)


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize("opponent", ["random", "mcts:simulations=20"])
def test_whole_games(serve, name, opponent):
    rng = np.random.default_rng(0)
    url = serve({"game": name, "opponent": opponent, "style": {"legal_moves": True}, **SMALL[name]})
    with GameClient(base_url=url).sync() as env:
        for seed in range(3):
            result = env.reset(seed=seed)
            assert result.observation.system_prompt.startswith("You play")
            while not result.done:
                moves = result.observation.legal_moves
                assert f"You are player_{result.observation.seat}" in result.observation.prompt
                result = env.step(Answer(text=f'{{"move": "{moves[int(rng.integers(len(moves)))]}"}}'))
                assert result.observation.kind == "move"
            assert result.reward in (-1, -0.5, 0, 1)
            assert "The game is over" in result.observation.prompt or result.reward == -0.5
            state = env.state()
            assert (state.game, state.options["allow_resign"]) == (name, False)
            assert state.moves


@pytest.mark.parametrize("name", SMALL)
def test_a_search_plays_through_the_client(serve, name):
    """Its position is made of what the client is told."""
    game, agent, rng = make_game(name, **SMALL[name]), make_agent("mcts:simulations=200"), np.random.default_rng(1)
    url, rewards = serve({"game": name, "seat": 0, **SMALL[name]}), []
    with GameClient(base_url=url).sync() as env:
        for seed in range(4):
            result = env.reset(seed=seed)
            while not result.done:
                action = int(agent.act(game, told_view(game, result.observation.prompt), rng)[0])
                result = env.step(Answer(text=f"[{game.action_to_string(action)}]"))
                assert result.observation.kind == "move"
            rewards.append(result.reward)
    assert sum(rewards) > 0 or name in CHANCY


def test_bad_answers_and_two_sessions(serve):
    url = serve({"game": "unlur", "radius": 3, "seat": 0})
    with GameClient(base_url=url).sync() as one, GameClient(base_url=url).sync() as other:
        one.reset(seed=1)
        other.reset(seed=1)
        result = one.step(Answer(text="?"))
        assert (result.done, result.reward, result.observation.attempts_left) == (False, 0, 2)
        assert "could not be read" in result.observation.prompt
        assert other.step(Answer(text="[c3]")).observation.kind == "move"
        one.step(Answer(text="[a1]"))
        result = one.step(Answer(text="?"))
        assert (result.done, result.reward) == (True, -1)
        with pytest.raises(RuntimeError, match="Server error"):
            one.step(Answer(text="[c3]"))


def test_starts_and_settings(monkeypatch):
    env = GameEnvironment(Trinim(), seat=0)
    question = env.reset(board="b/bb/bgr/grgg/rbgrr", moves=["D4-D2", "A5"])
    assert "1. player_0: D4-D2" in question.prompt
    assert question.legal_moves is None
    assert env.get_metadata().name == "pbm_trinim"
    with pytest.raises(ValueError, match="reset was given"):
        env.reset(difficulty=3)
    with pytest.raises(ValueError, match="no game"):
        make_openenv("chess")
    monkeypatch.setenv(SETTINGS, '{"game": "curio", "base": 3, "rows": 4, "cols": 4}')
    assert app() is not None
    with pytest.raises(ValueError, match="rules is 'long'"):
        app({"game": "unlur", "style": {"rules": "long"}})


def test_what_a_session_says_holds_no_secrets():
    """The state and the questions are the same for two boards that the seat cannot tell apart."""
    texts = []
    for board in ("D12 D11 D22/. . ./. . ./L21 L22 L11", "D11 D12 D22/. . ./. . ./L21 L22 L11"):
        env = GameEnvironment(Curio(base=2, rows=4, cols=3), seat=0)
        question = env.reset(seed=1, episode_id="one", board=board)
        texts.append((question.model_dump_json(), env.state.model_dump_json()))
    assert texts[0] == texts[1]
    assert Unlur(radius=3).name == "unlur"
