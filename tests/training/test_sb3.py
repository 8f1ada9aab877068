"""Stable-Baselines3 and sb3-contrib: the adapter, and the program that uses it."""

import csv

import numpy as np
import pytest
import typer
from gymnasium.wrappers.vector import RecordEpisodeStatistics

from pbm_envs import Chameleon, Curio, Trinim, chameleon_v0

pytestmark = [pytest.mark.libraries, pytest.mark.filterwarnings("default")]  # whatever the library warns of
pytest.importorskip("sb3_contrib")

from pbm_agents import PolicyAgent, evaluate, make_agent
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.vec_env import DummyVecEnv

from notebooks.training import sb3_maskable_ppo as program
from pbm_envs.adapters.sb3 import GamesVecEnv
from pbm_envs.envs.vector import BoardGameVectorEnv


def legal(masks, rng):
    return (masks * rng.random(masks.shape)).argmax(axis=1)


@pytest.mark.parametrize("game", [Chameleon(size=3), Curio(), Trinim(num_players=3, size=3)], ids=str)
def test_the_games_are_those_of_the_vector_environment(game):
    """Observations, masks, rewards, ends and last observations, through many ends."""
    env, games = GamesVecEnv(game, 5), BoardGameVectorEnv(game, 5, opponent="random")
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
    with pytest.raises(ValueError, match="share all settings; make another environment"):
        env.set_attr("game", Curio())
    with pytest.raises(ValueError, match="share all settings; call set_opponents"):
        env.set_attr("opponent", "random")
    env.env_method("set_opponents", ["random", make_agent("mcts:simulations=2")], weights=[0, 1])
    assert [score.name for score in env.opponent_scores()] == ["random", "SearchAgent"]
    assert env.env_method("opponent_scores", indices=0) == [env.opponent_scores()]
    with pytest.raises(ValueError, match="opponent is None"):
        GamesVecEnv(Chameleon(size=3), 3, opponent=None)


def test_it_takes_a_wrapped_vector_environment():
    games = RecordEpisodeStatistics(chameleon_v0.vector_env(4, size=3, opponent="random"))
    env, plain = GamesVecEnv(games), GamesVecEnv(Chameleon(size=3), 4)
    assert env.env_is_wrapped(RecordEpisodeStatistics) == [True] * 4
    assert plain.env_is_wrapped(RecordEpisodeStatistics) == [False] * 4
    for each in (env, plain):
        each.seed(3)
    assert np.array_equal(env.reset(), plain.reset())
    for _ in range(30):
        actions = get_action_masks(env).argmax(axis=1)
        for one, other in zip(env.step(actions)[:3], plain.step(actions)[:3], strict=True):
            assert np.array_equal(one, other)
    assert games.episode_count > 0
    with pytest.raises(ValueError, match="resets in SAME_STEP"):
        GamesVecEnv(chameleon_v0.vector_env(4, size=3, opponent="random", autoreset_mode="NextStep"))
    with pytest.raises(ValueError, match="opponent is None"):
        GamesVecEnv(chameleon_v0.vector_env(4, size=3))
    with pytest.raises(ValueError, match="expected none beside a vector environment"):
        GamesVecEnv(games, 4)


@pytest.mark.parametrize("envs", [1, 8])
def test_the_program_trains_evaluates_and_saves(envs, tmp_path, capsys):
    program.main(tmp_path / "run", "chameleon", ["size=3"], envs=envs, steps=300, games=20)
    said = capsys.readouterr().out
    assert "before: random: score" in said
    assert "after: random: score" in said
    model = MaskablePPO.load(tmp_path / "run" / "model.zip")
    assert model.num_timesteps >= 300
    *_, last = csv.DictReader((tmp_path / "run" / "progress.csv").read_text().splitlines())
    assert -1 <= float(last["rollout/ep_rew_mean"]) <= 1  # the library's own log has the curve
    assert 1 <= float(last["rollout/ep_len_mean"]) <= 5
    assert evaluate(program.policy_of(model), Chameleon(size=3), games=20)["random"].games == 20  # no illegal move


def test_the_program_says_what_it_cannot_read(tmp_path):
    with pytest.raises(typer.BadParameter, match="'chess' is not a game"):
        program.main(tmp_path / "run", "chess")
    with pytest.raises(typer.BadParameter, match="'mtcs' is not an agent"):
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


def test_opponents_change_while_it_learns():
    """As a callback does it: from the next game on, with a score for each; in single environments too."""
    game = Chameleon(size=3)
    many, one = GamesVecEnv(game, 8), DummyVecEnv([lambda: chameleon_v0.single_env(size=3)] * 2)
    for env in (many, one):

        class Exchange(BaseCallback):
            def _on_step(self):
                return True

            def _on_rollout_end(self):
                past = PolicyAgent(program.policy_of(self.model))
                self.training_env.env_method("set_opponents", {"random": "random", "past": past}, weights=[1, 3])

        model = MaskablePPO("MlpPolicy", env, n_steps=32, batch_size=32, n_epochs=1, seed=1)
        model.learn(400, callback=Exchange())
        scores = env.env_method("opponent_scores", indices=0)[0]
        assert [score.name for score in scores] == ["random", "past"]
        assert scores[0].games > 5
        assert scores[1].games > 5
        with pytest.raises((ValueError, AttributeError), match="call set_opponents"):
            env.set_attr("opponent", "random")


@pytest.mark.parametrize("envs", [1, 8])
def test_the_program_trains_against_past_selves(envs, tmp_path, capsys):
    """Ten in the course of a run, met by how the learner does; a curve, and a picture of the payoffs."""
    program.main(tmp_path, "chameleon", ["size=3"], envs=envs, steps=2**13, games=20, league="hard")
    lines = list(csv.DictReader((tmp_path / "curve.csv").read_text().splitlines()))
    assert int(lines[-1]["opponents"]) >= 4
    assert all(0 <= float(line["score"]) <= 1 for line in lines)
    assert (tmp_path / "payoffs.png").stat().st_size > 5000
    assert "step/s" in capsys.readouterr().err
    with pytest.raises(typer.BadParameter, match="weighting is 'soft'"):
        program.main(tmp_path / "other", league="soft")
    assert not (tmp_path / "other").exists()
