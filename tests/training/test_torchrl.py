"""TorchRL: masks, turns and rewards in its rollouts, and the program."""

import gymnasium
import numpy as np
import pytest

from pbm_envs import Chameleon, Curio, Trinim

pytestmark = [pytest.mark.libraries, pytest.mark.filterwarnings("default")]  # whatever the library warns of
torch = pytest.importorskip("torch")
pytest.importorskip("torchrl")

from pbm_agents import evaluate
from torchrl.envs import GymWrapper, check_env_specs

from notebooks.training import torchrl_ppo as program


@pytest.mark.parametrize("game", [Chameleon(size=3), Curio(), Trinim(num_players=3, size=3)], ids=str)
def test_masks_turns_and_rewards_reach_a_rollout(game):
    torch.manual_seed(1)  # the library's random moves; the test wants games with a winner among them
    env = program.environment(game)
    env.set_seed(1)
    rollout = env.rollout(600, break_when_any_done=False)
    before, after = rollout["player"], rollout["next", "player"]
    assert (before["mask"].sum(-1) == 1).all()  # one player acts
    actor = before["mask"].int().argmax(-1)
    rows = torch.arange(600)
    assert before["action_mask"][rows, actor, before["action"][rows, actor]].all()  # and legally
    over, rewards = rollout["next", "done"][:, 0], after["reward"][..., 0]
    assert over.any()
    assert not rewards[~over].any()
    assert (rewards[over].sum(-1).abs() < 1e-5).all()  # and all are paid at once, in the ply that ends the game
    assert (rewards[over].abs().max(-1).values > 0).any()
    assert (after["done"][..., 0].all(-1) == over).all()


def test_decisions_are_the_rows_of_who_has_acted():
    rollout = program.environment(Chameleon(size=3)).rollout(40, break_when_any_done=False)
    rows = program.decisions(rollout)["player"]
    assert rows.batch_size == (40,)
    for k in range(40):
        actor = int(rollout["player", "mask"][k].int().argmax())
        for key in ("action", "action_mask", ("observation", "observation")):
            assert torch.equal(rows[key][k], rollout["player", key][k, actor])


def test_the_library_finds_its_specifications_kept():
    check_env_specs(program.environment(Chameleon(size=5)))  # not over within the three random plies of the check


def test_the_program_trains_evaluates_and_saves(tmp_path, capsys):
    game = Chameleon(size=3)
    program.main(tmp_path / "run", "chameleon", ["size=3"], steps=600, games=20)
    said = capsys.readouterr().out
    assert "before: random: score" in said
    assert "after: random: score" in said
    assert (tmp_path / "run" / "curve.csv").read_text().count("\n") > 1
    torch.manual_seed(1)
    networks = program.new_networks(game)  # as training began
    planes = game.observe(game.init(1, np.random.default_rng(1)))
    start = program.scores_of(networks)(planes, None)
    networks.load_state_dict(torch.load(tmp_path / "run" / "networks.pt"))
    assert not torch.allclose(program.scores_of(networks)(planes, None), start)
    assert evaluate(program.scores_of(networks), game, games=20)["random"].games == 20


def test_infos_are_registered():
    """Masks, seats, opponents and scores are in every row of a rollout from one seat."""
    env = GymWrapper(gymnasium.make("pbm/Curio-v0", opponent="random")).auto_register_info_dict()
    rollout = env.rollout(20, break_when_any_done=False)
    assert rollout["next", "action_mask"].shape == (20, Curio().num_actions)
    assert rollout["next", "seat"].unique().numel() in (1, 2)
    assert {"opponent", "score"} <= set(rollout["next"].keys())
