"""verifiers: whole episodes by its own rollout, with a model server on loopback."""

import asyncio
import os
from itertools import islice

import pytest

pytestmark = [pytest.mark.libraries, pytest.mark.filterwarnings("default")]
vf = pytest.importorskip("verifiers.v1")

from verifiers.v1.utils.loaders import load_environment

from pbm_envs.adapters.verifiers import GameEnv, GameEnvConfig, GameTasksetConfig
from tests.text.chat_server import chat_server, random_player

ID = "pbm_verifiers"
SMALL = {
    "curio": {"base": 2, "rows": 4, "cols": 3, "no_capture_limit": 4},
    "trinim": {"size": 3, "num_players": 3},
    "chameleon": {"size": 3},
    "unlur": {"radius": 3},
}
"""Short games: verifiers starts a process, which imports its client, for every answer of the model."""


def environment(turns=None, **settings):
    """As verifiers' own entry points make it."""
    player = {"harness": {"id": "null"}, "runtime": {"type": "subprocess"}, "max_turns": turns}
    return load_environment(GameEnvConfig(taskset=GameTasksetConfig(id=ID, **settings), player=player))


def play(env, url, games=1):
    """Episodes of the first tasks."""
    os.environ["PBM_TEST_KEY"] = "nothing"
    client = vf.EvalClientConfig(base_url=url, api_key_var="PBM_TEST_KEY")

    async def run():
        context = vf.ModelContext(model="test", client=client, sampling=vf.SamplingConfig())
        async with env.serving():
            slots = [slot for task in islice(env.taskset, games) for slot in env.slots(task)]
            return [await env.run_slot(slot, context) for slot in slots]

    return asyncio.run(run())


@pytest.mark.parametrize("name", SMALL)
def test_random_plays_whole_episodes(name):
    env = environment(game=name, options=SMALL[name], opponent="mcts:simulations=20", legal_moves=True)
    assert isinstance(env, GameEnv)
    with chat_server(random_player()) as server:
        [episode] = play(env, server.url)
    assert not episode.errors, episode.errors
    [trace] = episode.traces
    assert trace.rewards["game_return"].value in (-1, -0.5, 0, 1)
    assert trace.metrics["unfinished"] == 0
    assert trace.metrics["illegal"] == trace.metrics["unreadable"] == 0
    assert trace.metrics["plies"] == len(trace.info["moves"])


def test_bad_answers_forfeit():
    env = environment(game="unlur", options={"radius": 3})
    answers = iter(["what?", '{"move": "a1"}', "hm"])
    with chat_server(lambda messages: next(answers)) as server:
        [episode] = play(env, server.url)
    [trace] = episode.traces
    assert trace.metrics["forfeited"] == 1
    assert (trace.metrics["unreadable"], trace.metrics["illegal"]) == (2, 1)
    assert trace.reward == -1


def test_tasks_are_seeds():
    env = environment(game="trinim", disguise=-1)
    first, second = islice(env.taskset, 2)
    assert first.data.prompt != second.data.prompt
    assert first.data.system_prompt != second.data.system_prompt
    assert next(iter(env.taskset)).data == first.data
