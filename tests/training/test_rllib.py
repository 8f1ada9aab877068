"""RLlib: the adapter, and the program with its processes."""

import numpy as np
import pytest
from gymnasium import spaces
from pettingzoo.utils.wrappers import BaseWrapper

from pbm_envs import Chameleon, Curio, chameleon_v0, curio_v0, trinim_v0

pytestmark = [pytest.mark.libraries, pytest.mark.filterwarnings("default")]  # whatever the library warns of
torch = pytest.importorskip("torch")
pytest.importorskip("ray.rllib")

from pbm_agents import evaluate

from notebooks.training import rllib_ppo as program
from pbm_envs.adapters.rllib import MultiAgentGame


class OnlyFirstPlane(BaseWrapper):
    """Shows one plane instead of all."""

    def observation_space(self, agent):
        space = super().observation_space(agent)
        box = spaces.Box(0, 127, (*space["observation"].shape[:-1], 1), np.int8)
        return spaces.Dict(observation=box, action_mask=space["action_mask"])

    def observe(self, agent):
        seen = super().observe(agent)
        return seen | {"observation": seen["observation"][..., :1]}


ENVIRONMENTS = {
    "chameleon": lambda: chameleon_v0.raw_env(size=3),
    "curio": curio_v0.raw_env,
    "three resign": lambda: trinim_v0.raw_env(num_players=3, size=3, allow_resign=True),
}


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_a_game_is_that_of_the_aec_environment(name):
    """Who acts, what they see and may do, what each player gets in all, and the end."""
    rng, ended = np.random.default_rng(1), set()
    for seed in range(20):
        env, twin = MultiAgentGame(ENVIRONMENTS[name]()), ENVIRONMENTS[name]()
        seen, _ = env.reset(seed=seed)
        twin.reset(seed=seed)
        totals, paid, over = dict.fromkeys(env.possible_agents, 0.0), dict.fromkeys(env.possible_agents, 0.0), False
        while not over:
            (agent,) = (agent for agent in seen if agent in twin.agents and not twin.terminations[agent])
            assert agent == twin.agent_selection
            assert env.observation_spaces[agent].contains(seen[agent])
            right = twin.observe(agent)
            assert np.array_equal(seen[agent]["action_mask"], right["action_mask"])
            assert np.array_equal(seen[agent]["observations"], right["observation"].ravel())
            action = int(rng.choice(np.flatnonzero(right["action_mask"])))
            seen, rewards, terminated, truncated, infos = env.step({agent: np.int64(action)})
            assert infos.keys() == seen.keys() == rewards.keys()
            twin.step(action)
            for other, reward in twin.rewards.items():
                totals[other] += reward
            while twin.agents and (twin.terminations[twin.agent_selection] or twin.truncations[twin.agent_selection]):
                assert terminated[twin.agent_selection] or truncated[twin.agent_selection]
                twin.step(None)
            for other, reward in rewards.items():
                paid[other] += reward
            over = terminated["__all__"] or truncated["__all__"]
            assert over == (not twin.agents)
        assert paid == totals
        assert all(one["action_mask"].any() for one in seen.values())
        ended.add(tuple(totals.values()))
    assert len(ended) > 1


def test_it_takes_a_wrapped_environment():
    env = MultiAgentGame(OnlyFirstPlane(chameleon_v0.raw_env(size=3)))
    seen, _ = env.reset(options={"moves": ["b2x"]})
    assert seen["player_1"]["observations"].tolist() == [0, 0, 0, 0, 1, 0, 0, 0, 0]
    assert env.observation_spaces["player_1"].contains(seen["player_1"])
    seen, *_ = env.step({"player_1": 0})
    assert seen["player_0"]["observations"].sum() == 2


def test_a_start_may_be_given():
    env = MultiAgentGame(chameleon_v0.raw_env(size=3))
    seen, _ = env.reset(options={"moves": ["b2x"]})
    assert seen.keys() == {"player_1"}
    assert seen["player_1"]["action_mask"].sum() == 2 * 8 + 1


def test_illegal_actions_and_other_environments_are_refused():
    env = MultiAgentGame(chameleon_v0.raw_env(size=3))
    env.reset(options={"moves": ["b2x"]})
    with pytest.raises(ValueError, match="b2x"):
        env.step({"player_1": env.env.game.string_to_action("b2x")})
    with pytest.raises(ValueError, match="expected a raw_env"):
        MultiAgentGame(chameleon_v0.env(size=3))


@pytest.mark.parametrize("game", [Chameleon(size=3), Curio()], ids=str)
def test_the_program_trains_in_two_processes_evaluates_and_saves(game, tmp_path, capsys):
    """An illegal move would be raised in its process, and from there here. In Curio hardly any action is legal."""
    program.train(tmp_path / "run", game, runners=2, steps=400, seed=1, games=20, batch=200)
    said = capsys.readouterr().out
    assert "before: random: score" in said
    assert "after: random: score" in said
    module = program.load(tmp_path / "run")
    assert evaluate(program.scores_of(module), game, games=20)["random"].games == 20
