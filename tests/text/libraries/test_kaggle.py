"""Kaggle's game arena: whole episodes by its environments and its harness, with a model server on loopback."""

import json

import numpy as np
import pytest

pytestmark = [pytest.mark.libraries, pytest.mark.filterwarnings("default")]
kaggle_environments = pytest.importorskip("kaggle_environments")

from pbm_agents import make_agent

from pbm_envs import Curio, Unlur, make_game
from pbm_envs.adapters.kaggle import (
    ArenaGame,
    Harness,
    create_llm_agent,
    generate_prompt,
    get_legal_moves,
    parse_response,
    register,
)
from tests.text.chat_server import chat_server, search_player

register()
SMALL = {
    "curio": {"base": 2, "rows": 4, "cols": 3},
    "trinim": {"size": 5},
    "chameleon": {"size": 3},
    "unlur": {"radius": 3},
}
CHANCY = ("curio", "trinim")
"""Games that are too small for search to be sure of a few of them."""


def episode(name, agents, **configuration):
    """The environment after a run of the arena's own loop."""
    parameters = SMALL[name] if name != "trinim" else {}
    env = kaggle_environments.make(
        f"open_spiel_pbm_{name}",
        configuration={"openSpielGameParameters": parameters, "includeLegalActions": True} | configuration,
        debug=True,
    )
    env.run(agents)
    return env


def drawing(seed=0):
    """An agent by the harness's three functions, without a model: a legal move at random, in words."""
    rng = np.random.default_rng(seed)

    def agent(observation, configuration):
        moves = get_legal_moves(observation)
        if not moves:  # it is not the player's turn, or the game is still being set up
            return {"submission": None}
        prompt = generate_prompt(observation, [])
        assert f"You are player_{observation['playerId']}" in prompt
        assert "Legal moves" not in prompt
        text = list(moves.values())[int(rng.integers(len(moves)))]
        result = parse_response(f'Well. {{"move": "{text}"}}', list(moves.values()), observation=observation)
        assert result.legal_action == text
        return {"submission": next(action for action, known in moves.items() if known == text)}

    return agent


@pytest.mark.parametrize("name", SMALL)
def test_random_plays_whole_episodes(name):
    for seed in range(2):
        env = episode(name, [drawing(seed), "random"], seed=seed)
        assert [state.status for state in env.state] == ["DONE", "DONE"]
        rewards = [state.reward for state in env.state]
        assert sum(rewards) == pytest.approx(0)


@pytest.mark.parametrize("name", SMALL)
def test_a_model_plays_by_the_arenas_harness(name):
    """Search behind a model server against random: the whole chain of prompt, answer and submission."""
    game = make_game(name, **SMALL[name])
    with chat_server(search_player(game, make_agent("mcts:simulations=300"))) as server:
        model = ("openai/test", {"api_base": server.url, "api_key": "nothing"})
        rewards = []
        for seed in range(3):
            env = episode(name, [create_llm_agent(model_override=model), "random"], seed=seed)
            assert [state.status for state in env.state] == ["DONE", "DONE"]
            rewards.append(env.state[0].reward)
    assert sum(rewards) > 0 or name in CHANCY


def test_the_third_bad_answer_forfeits():
    answers = iter(["what?", '{"move": "a1"}', "hm"])
    prompts = []

    def answer(messages):
        prompts.append(messages[-1]["content"])
        return next(answers)

    with chat_server(answer) as server:
        model = ("openai/test", {"api_base": server.url, "api_key": "nothing"})
        env = episode("unlur", [create_llm_agent(model_override=model), "random"])
    assert [state.reward for state in env.state] == [-1, 1]
    assert len(prompts) == 3
    assert "could not be read" in prompts[1]
    assert "'a1' is illegal" in prompts[2]


def test_nothing_hidden_is_given_away():
    """Two boards of Curio that Light cannot tell apart give the same observations, and no serialized state."""
    told = []

    def watching(observation, configuration):
        if observation.get("observationString") and not told[-1]:
            told[-1].append(observation["observationString"])
            assert not observation.get("serializedGameAndState")
        return drawing()(observation, configuration)

    for board in ("D12 D11 D22/. . ./. . ./L21 L22 L11", "D11 D12 D22/. . ./. . ./L21 L22 L11"):
        told.append([])
        env = kaggle_environments.make(
            "open_spiel_pbm_curio",
            configuration={"openSpielGameParameters": SMALL["curio"] | {"board": board}, "includeLegalActions": True},
        )
        env.run([watching, "random"])
    assert told[0] == told[1]
    assert set(json.loads(told[0][0])["prompts"]) == {"full", "compact"}


def test_styles():
    with pytest.raises(ValueError, match="style is 'long'"):
        Harness("long")
    assert issubclass(ArenaGame, object)
    assert Curio().name == "curio"
    assert Unlur().name == "unlur"
