"""A policy with memory: it remembers, trains on Curio, and plays wherever agents play."""

import numpy as np
import pytest

from pbm_envs import Curio, Trinim, curio_v0, sample_actions

pytestmark = pytest.mark.libraries
torch = pytest.importorskip("torch")

from pbm_agents import evaluate, make_agent
from pbm_agents.arena import Tournament, play_tournament
from pbm_agents.learning.recurrent import RecurrentAgent, RecurrentNetwork

from notebooks.training import recurrent_ppo as program

GAME = Curio(base=2, rows=4, cols=3)
OPTIONS = ["base=2", "rows=4", "cols=3"]


def network_of(seed=1):
    torch.manual_seed(seed)
    network = RecurrentNetwork(GAME, hidden=32)
    torch.nn.init.normal_(network.policy.weight)
    return network.eval()


def test_what_it_plays_depends_on_what_it_has_seen():
    """The same position after other turns; and not on other games, nor on the order of the rows."""
    network, rng = network_of(), np.random.default_rng(1)
    agent = RecurrentAgent(network)
    states = GAME.init(6, rng)
    early = GAME.view(states, 0)
    for _ in range(2):
        GAME.step(states, sample_actions(GAME.legal_action_mask(states), rng))
    late = GAME.view(states, 0)
    ids = np.arange(12).reshape(2, 6) + 1000
    agent.begin_games(GAME, ids.ravel())
    agent.act(GAME, early, rng, ids[0])
    fresh = {one: agent._memory[one].clone() for one in ids[1].tolist()}
    both = agent.act(GAME, np.concatenate([late, late]), rng, np.concatenate([ids[0], ids[1]]))
    assert not torch.equal(agent._memory[1000], agent._memory[1006])
    assert not torch.equal(agent._memory[1006], fresh[1006])
    other = RecurrentAgent(network)
    other.begin_games(GAME, ids.ravel()[::-1])
    other.act(GAME, early[::-1], rng, ids[0][::-1])
    assert other.act(GAME, late[::-1], rng, ids[0][::-1])[::-1].tolist() == both[:6].tolist()
    agent.end_games(ids.ravel())
    assert not agent._memory
    agent.check_plays(GAME)
    with pytest.raises(ValueError, match=r"the network plays .*, not Trinim"):
        agent.check_plays(Trinim())


def test_turns_of_a_rollout_are_those_of_the_agent():
    """Probabilities and values again, turn by turn from the first memory, with zeros where games begin."""
    network = network_of()
    envs = curio_v0.vector_env(8, **dict(GAME.options) | {"no_capture_limit": 4}, opponent="random")
    network.game = envs.game
    seen, info = envs.reset(seed=1)
    rollout, *_ = program.play(envs, seen, info, network, network.start(8), 40)
    memory = rollout["memory"]
    for t in range(40):
        logits, values, memory = network(rollout["observations"][t], rollout["masks"][t], memory)
        memory = memory * ~rollout["ends"][t, :, None]
        chances = logits.log_softmax(dim=1).gather(1, rollout["actions"][t, :, None])[:, 0]
        assert torch.allclose(values, rollout["values"][t], atol=1e-5)
        assert torch.allclose(chances, rollout["chances"][t], atol=1e-4)
    whole = network.unroll(*(rollout[name] for name in ("observations", "masks", "memory", "ends")))
    assert torch.allclose(whole[1], rollout["values"], atol=1e-4)
    again = whole[0].log_softmax(dim=2).gather(2, rollout["actions"][..., None])[..., 0]
    assert torch.allclose(again, rollout["chances"], atol=1e-4)
    assert rollout["ends"].any()
    cut = rollout["ends"] & (rollout["rewards"].abs() < 0.9)
    assert (rollout["rewards"][cut] != 0).any(), "games that were cut off are worth something"
    found = program.targets(rollout, 1.0)
    last = rollout["ends"].nonzero()[0].tolist()
    assert found[last[0], last[1]] == rollout["rewards"][last[0], last[1]]


def test_the_program_trains_and_its_network_plays_everywhere(tmp_path, capsys):
    network = program.train(tmp_path, GAME, "random", updates=2, envs=8, seed=1, games=10, tensorboard=True)
    said = capsys.readouterr().out
    assert "before: random: score" in said
    assert "after: random: score" in said
    assert (tmp_path / "curve.csv").read_text().startswith("turns,score")
    assert any(path.name.startswith("events") for path in (tmp_path / "tensorboard").iterdir())
    path = str(tmp_path / "gru.pt")
    again = RecurrentNetwork.load(path)
    assert all(torch.equal(a, b) for a, b in zip(again.parameters(), network.parameters(), strict=True))
    agent = make_agent(f"recurrent:file={path},draws=true")
    assert evaluate(agent, GAME, {"itself": make_agent(f"recurrent:file={path}")}, games=10)["itself"].games == 10
    envs = curio_v0.vector_env(4, **GAME.options, opponent=agent)
    _, info = envs.reset(seed=1)
    for _ in range(30):
        *_, info = envs.step(sample_actions(info["action_mask"], np.random.default_rng(1)))
    tournament = Tournament((GAME,), (f"recurrent:file={path}", "random"), openings=2)
    records = play_tournament(tournament, tmp_path / "results")
    assert len(records) == 4
    assert not any(record.forfeits for record in records)
    with pytest.raises(ValueError, match=r"plays Curio\(base=2.*, not Curio\(base=4"):
        agent.begin_games(Curio(), np.arange(2))
    for wrong in ("curve.csv", "nothing.pt"):
        with pytest.raises(ValueError, match=r"cannot be read|no file"):
            RecurrentNetwork.load(tmp_path / wrong)


@pytest.mark.slow
def test_it_learns(tmp_path):
    """Against random play on a small board."""
    network = program.train(tmp_path, GAME, "random", updates=60, envs=64, seed=1, games=20)
    assert evaluate(RecurrentAgent(network), GAME, games=400)["random"].score.low > 0.55
