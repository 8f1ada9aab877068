"""Stable-Baselines3 and sb3-contrib: the adapter, and the program that uses it."""

import numpy as np
import pytest
import typer

from pbm_envs import Chameleon, Curio, Trinim, chameleon_v0

pytestmark = [pytest.mark.libraries, pytest.mark.filterwarnings("default")]  # whatever the library warns of
pytest.importorskip("sb3_contrib")

from pbm_agents import evaluate, make_agent
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported

from notebooks.training import sb3_maskable_ppo as program
from pbm_envs.adapters.sb3 import GamesVecEnv
from pbm_envs.vector import VectorGames


def legal(masks, rng):
    return (masks * rng.random(masks.shape)).argmax(axis=1)


@pytest.mark.parametrize("game", [Chameleon(size=3), Curio(), Trinim(num_players=3, size=3)], ids=str)
def test_the_games_are_those_of_the_vector_environment(game):
    """Observations, masks, rewards, ends and last observations, through many ends."""
    env, games = GamesVecEnv(game, 5), VectorGames(game, 5, opponent="random")
    env.seed(3)
    assert np.array_equal(env.reset(), games.reset(seed=3)[0])
    rng, ends = np.random.default_rng(7), 0
    for _ in range(150):
        masks = get_action_masks(env)
        assert masks.dtype == bool
        assert np.array_equal(masks, games.action_masks())
        actions = legal(masks, rng)
        planes, reward, terminated, truncated, info = games.step(actions)
        seen, rewards, dones, infos = env.step(actions)
        assert np.array_equal(seen, planes)
        assert np.array_equal(rewards, reward)
        assert np.array_equal(dones, terminated | truncated)
        for row in range(5):
            assert bool(infos[row]) == dones[row]
            if dones[row]:
                ends += 1
                assert np.array_equal(infos[row]["terminal_observation"], info["final_obs"][row])
                assert infos[row]["TimeLimit.truncated"] == (truncated[row] and not terminated[row])
    assert ends > 5


def test_the_last_reward_arrives_whoever_has_moved_last():
    """The learner loses games in the opponent's answer, and wins them in its own move."""
    env, rng = GamesVecEnv(Chameleon(size=3), 8), np.random.default_rng(1)
    env.seed(1)
    env.reset()
    last = []
    for _ in range(60):
        _, rewards, dones, _ = env.step(legal(get_action_masks(env), rng))
        assert not rewards[~dones].any()
        last += rewards[dones].tolist()
    assert set(last) == {1.0, -1.0}


def test_seeds_and_starts_are_for_the_next_reset_alone():
    env = GamesVecEnv(Chameleon(size=4), 2, seat=0)
    env.seed(5)
    env.set_options([{"moves": ["b2x", "c3o"]}, {}])
    assert [planes[..., :2].sum() for planes in env.reset()] == [2, 0]
    assert [planes[..., :2].sum() for planes in env.reset()] == [0, 0]
    env.set_options({"colour": "red"})
    with pytest.raises(ValueError, match="colour"):
        env.reset()


def test_what_it_answers_when_asked():
    env = GamesVecEnv(Chameleon(size=3), 3, render_mode="ansi")
    env.reset()
    assert is_masking_supported(env)
    assert len(env.env_method("action_masks", indices=[0, 2])) == 2
    assert all(isinstance(text, str) for text in env.env_method("render"))
    assert env.get_attr("game", indices=1) == [Chameleon(size=3)]
    assert not env.has_attr("colour")
    with pytest.raises(ValueError, match="'fly': expected one of"):
        env.env_method("fly")
    with pytest.raises(ValueError, match="share all settings"):
        env.set_attr("game", Curio())
    with pytest.raises(ValueError, match="opponent is None"):
        GamesVecEnv(Chameleon(size=3), 3, opponent=None)


@pytest.mark.parametrize("envs", [1, 8])
def test_the_learner_never_plays_an_illegal_move(envs, monkeypatch):
    """Which the environment would end the game for, at -1."""
    env = program.environment(Chameleon(size=3), envs, make_agent("random"))
    model = MaskablePPO("MlpPolicy", env, n_steps=32, batch_size=32, n_epochs=1, seed=1)
    batch, played = model.get_env(), []
    step = batch.step_async

    def spied(actions):
        played.extend(get_action_masks(batch)[np.arange(envs), actions].tolist())
        step(actions)

    monkeypatch.setattr(batch, "step_async", spied)
    model.learn(256)
    assert len(played) >= 256
    assert all(played)


@pytest.mark.parametrize("envs", [1, 8])
def test_the_program_trains_evaluates_and_saves(envs, tmp_path, capsys):
    program.main(tmp_path / "run", "chameleon", ["size=3"], envs=envs, steps=300, games=20)
    said = capsys.readouterr().out
    assert "before: random: score" in said
    assert "after: random: score" in said
    model = MaskablePPO.load(tmp_path / "run" / "model.zip")
    assert model.num_timesteps >= 300
    assert evaluate(program.policy_of(model), Chameleon(size=3), games=20)["random"].games == 20  # no illegal move


def test_the_program_says_what_it_cannot_read(tmp_path):
    with pytest.raises(typer.BadParameter, match="'chess' is no game"):
        program.main(tmp_path / "run", "chess")
    with pytest.raises(typer.BadParameter, match="'mtcs' is no agent"):
        program.main(tmp_path / "run", opponent="mtcs")
    assert not (tmp_path / "run").exists()


def test_a_trained_model_plays_the_single_agent_environment(tmp_path):
    """As the documentation of sb3-contrib has it."""
    program.main(tmp_path, "chameleon", ["size=3"], steps=300, games=20)
    model, env = MaskablePPO.load(tmp_path / "model.zip"), chameleon_v0.single_env(size=3, illegal_action="raise")
    for seed in range(5):
        planes, info = env.reset(seed=seed)
        done = False
        while not done:
            action, _ = model.predict(planes, action_masks=env.action_masks())
            planes, reward, terminated, truncated, info = env.step(action)
            done = terminated or truncated
        assert reward in (-1, 1)
        assert info["action_mask"].all()
