"""Tianshou: masks, turns and rewards in its buffer, and the program."""

import numpy as np
import pytest

from pbm_envs import Chameleon, Curio, Trinim, Unlur

pytestmark = [pytest.mark.libraries, pytest.mark.filterwarnings("default")]  # whatever the library warns of
torch = pytest.importorskip("torch")
pytest.importorskip("tianshou")

from pbm_agents import evaluate
from tianshou.algorithm import MARLRandomDiscreteMaskedOffPolicyAlgorithm, MultiAgentOffPolicyAlgorithm
from tianshou.data import Collector, CollectStats, VectorReplayBuffer
from tianshou.env import DummyVectorEnv

from notebooks.training import tianshou_dqn as program

GAMES = [Chameleon(size=3), Curio(), Trinim(num_players=3, size=3), Unlur(radius=3)]


@pytest.mark.parametrize("game", GAMES, ids=str)
def test_masks_turns_and_rewards_reach_the_buffer(game):
    env = program.environment(game)
    random = MARLRandomDiscreteMaskedOffPolicyAlgorithm(action_space=env.action_space)
    players = MultiAgentOffPolicyAlgorithm(algorithms=[random] * game.num_players, env=env)
    envs = DummyVectorEnv([lambda: program.environment(game)] * 2)
    envs.seed(1)
    buffer = VectorReplayBuffer(2000, 2)
    collector = Collector[CollectStats](players, envs, buffer)
    collector.reset()
    collector.collect(n_step=600)
    for one in buffer.buffers:
        plies, ends = one[:], 0
        assert len(plies) == 300
        assert plies.obs.mask[np.arange(300), plies.act].all()
        for k in range(300):
            assert (plies.rew[k] != 0).any() <= plies.done[k]
            if plies.done[k]:
                ends += 1
                assert abs(plies.rew[k].sum()) < 1e-5  # all are paid, in the ply that ends the game
            later = k + game.num_players
            if later < 300 and not plies.done[k:later].any():  # what the horizon of the returns rests on
                assert plies.obs.agent_id[later] == plies.obs.agent_id[k]
        assert ends


def test_the_program_trains_evaluates_and_saves(tmp_path, capsys):
    game = Chameleon(size=3)
    program.main(tmp_path / "run", "chameleon", ["size=3"], steps=500, games=20)
    said = capsys.readouterr().out
    assert "before: random: score" in said
    assert "after: random: score" in said
    assert (tmp_path / "run" / "curve.csv").read_text().count("\n") > 1
    torch.manual_seed(1)
    policy = program.new_policy(game)  # as training began
    planes, masks = game.observe_with_mask(game.init(1, np.random.default_rng(1)), np.zeros(1, np.int8))
    start = program.scores_of(policy)(planes, masks)
    policy.load_state_dict(torch.load(tmp_path / "run" / "policy.pt"))
    assert not np.allclose(program.scores_of(policy)(planes, masks), start)
    assert evaluate(program.scores_of(policy), game, games=20)["random"].games == 20
