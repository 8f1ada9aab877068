"""The program that trains PPO by self-play: targets against their definition, seeds, killing, learning."""

import csv
import json

import numpy as np
import pytest

from pbm_envs import Chameleon, Curio, Trinim

pytestmark = pytest.mark.libraries
torch = pytest.importorskip("torch")

import typer
from pbm_agents import make_agent
from pbm_agents.learning.network import PolicyValueNetwork

from notebooks.training import ppo as program
from pbm_envs.envs.vector import BoardGameVectorEnv

TINY = {"stages": 2, "updates": 2, "envs": 16, "plies": 8, "minibatch": 64, "hidden": 16, "games": 20, "threads": 1}


def batch_of(game, plies=60, envs=6, seed=1):
    torch.manual_seed(seed)
    network = PolicyValueNetwork(game, hidden=16)
    vector = BoardGameVectorEnv(game, envs)
    return program.play(vector, vector.reset(seed=seed), network, plies)


@pytest.mark.parametrize(
    "game",
    [Chameleon(size=3), Trinim(size=3, num_players=3), Curio(base=2, rows=4, cols=3, no_capture_limit=3)],
    ids=str,
)
@pytest.mark.parametrize(("gamma", "lam"), [(1.0, 1.0), (1.0, 0.0), (0.9, 0.7)])
def test_targets_by_their_definition(game, gamma, lam):
    """Of each ply and player: rewards until the player's next turn, then the lambda-mixture of what they expect there
    and the target from there on; nothing after the end of the game.
    """
    batch, expected, _ = batch_of(game)
    found = program.targets(batch, expected, gamma, lam)
    plies, envs, players = batch.rewards.shape

    def target(t, row, player):
        total, scale = 0.0, 1.0
        for k in range(t, plies):
            total += scale * float(batch.rewards[k, row, player])
            scale *= gamma
            if batch.ends[k, row]:
                return total + scale * float(batch.last[k, row, player])
            if k + 1 < plies and batch.movers[k + 1, row] == player:
                value = float(batch.values[k + 1, row])
                return total + scale * ((1 - lam) * value + lam * target(k + 1, row, player))
        return total + scale * float(expected[row, player])

    assert batch.ends.any()
    for t in range(0, plies, 3):
        for row in range(envs):
            for player in range(players):
                assert found[t, row, player] == pytest.approx(target(t, row, player), abs=1e-5)


def test_a_game_that_is_cut_off_is_worth_what_the_network_says():
    """Not 0: the network's value of the last position, from the player who would be next to move."""
    game = Curio(base=2, rows=4, cols=3, no_capture_limit=3)
    torch.manual_seed(1)
    network, vector = PolicyValueNetwork(game, hidden=16), BoardGameVectorEnv(game, 6)
    torch.nn.init.normal_(network.module.value.weight)
    batch, expected, _ = program.play(vector, vector.reset(seed=1), network, 60)
    cut = batch.ends & (batch.rewards == 0).all(dim=2) & (batch.last != 0).any(dim=2)
    assert cut.sum() > 5
    assert not batch.last[~batch.ends].any()
    found = program.targets(batch, expected, 1.0, 1.0)
    assert torch.allclose(found[cut], batch.last[cut])
    [t, row] = cut.nonzero()[0].tolist()  # the position again, by the rules without a limit
    vector.reset(seed=1)
    for ply in range(t):
        vector.step(batch.actions[ply].numpy())
    free = Curio(base=2, rows=4, cols=3, no_capture_limit=None)
    state = np.array(vector.states[row : row + 1].tolist(), free.dtype)
    free.step(state, batch.actions[t, row : row + 1].numpy())
    _, values = network(*map(torch.from_numpy, free.observe_with_mask(state, state["to_move"])))
    assert torch.allclose(batch.last[t, row], torch.roll(values[0], int(state["to_move"][0])), atol=1e-5)


def test_a_league_of_past_selves(tmp_path, monkeypatch):
    """It trains from one seat, against random play and every earlier stage; a picture says who beats whom; killed, it
    goes on with the same past selves.
    """
    settings = TINY | {"stages": 3, "league": "hard", "options": ["base=2", "rows=4", "cols=3", "no_capture_limit=6"]}
    program.main(tmp_path / "one", "curio", **settings)
    assert {path.name for path in (tmp_path / "one" / "past").iterdir()} == {"0.pt", "1.pt", "2.pt"}
    assert (tmp_path / "one" / "payoffs.png").stat().st_size > 5000
    stages, play = [], program.play

    def dies(*arguments):
        stages.append(1)
        if len(stages) == 2 * TINY["updates"]:
            raise KeyboardInterrupt
        return play(*arguments)

    monkeypatch.setattr(program, "play", dies)
    with pytest.raises(KeyboardInterrupt):
        program.main(tmp_path / "two", "curio", **settings)
    program.main(tmp_path / "two", "curio", **settings)
    assert torch.equal(weights(tmp_path / "one"), weights(tmp_path / "two"))
    with pytest.raises(typer.BadParameter, match="weighting is 'soft': expected hard, variance, uniform"):
        program.main(tmp_path / "other", "chameleon", ["size=3"], **TINY | {"league": "soft"})


def test_what_a_run_leaves(tmp_path, capsys):
    """A CSV file always, TensorBoard's on request, and a bar that says how fast it goes."""
    curve = program.main(tmp_path, "chameleon", ["size=3"], **TINY | {"stages": 1}, tensorboard=True)
    [line] = csv.DictReader((tmp_path / "curve.csv").read_text().splitlines())
    assert line.keys() == curve[0].keys()
    assert float(line["score"]) == curve[0]["score"]
    assert any(path.name.startswith("events") for path in (tmp_path / "tensorboard").iterdir())
    assert "ply/s" in capsys.readouterr().err


def test_what_is_played_is_what_was_seen():
    """Legal actions; probabilities and values as the network gives them; the row's seats."""
    game = Trinim(size=3, num_players=3)
    batch, expected, _ = batch_of(game)
    assert batch.masks.gather(2, batch.actions[..., None]).all()
    torch.manual_seed(1)
    network = PolicyValueNetwork(game, hidden=16)
    flat = program.Plies(*(part.flatten(0, 1) for part in batch))
    logits, values = network(flat.observations, flat.masks)
    chances = logits.log_softmax(dim=1).gather(1, flat.actions[:, None])[:, 0]
    assert torch.allclose(chances, flat.chances, atol=1e-4)
    assert torch.allclose(values[:, 0], flat.values, atol=1e-4)
    by_seat = program.rolled(values, -flat.movers)
    assert torch.allclose(by_seat.gather(1, flat.movers[:, None])[:, 0], flat.values, atol=1e-4)
    assert torch.allclose(program.rolled(by_seat, flat.movers), values)
    assert torch.allclose(expected.sum(dim=1), torch.zeros(len(expected)), atol=1e-5)


@pytest.mark.parametrize(
    ("game", "options"),
    [("chameleon", ["size=3"]), ("trinim", ["size=3", "num_players=3"]), ("curio", []), ("unlur", ["radius=3"])],
)
def test_every_game_trains_evaluates_and_saves(game, options, tmp_path, capsys):
    curve = program.main(tmp_path, game, options, **TINY)
    assert [line["plies"] for line in curve] == [256, 512]
    assert "512 plies" in capsys.readouterr().out
    assert [json.loads(line) for line in (tmp_path / "curve.jsonl").read_text().splitlines()] == curve
    for line in curve:
        assert line["wins"] + line["draws"] + line["losses"] >= 20
        assert line["low"] <= line["score"] <= line["high"]
        assert line["seconds"] > 0
        assert line["processor_seconds"] > 0
    network = PolicyValueNetwork.load(tmp_path / "network.pt")
    rng = np.random.default_rng(1)
    views = network.game.view(network.game.init(3, rng), 0)
    for name in ("network:file={}", "mcts:simulations=5,network={}"):
        assert make_agent(name.format(tmp_path / "network.pt")).act(network.game, views, rng).shape == (3,)


def weights(folder):
    return torch.cat([part.flatten() for part in PolicyValueNetwork.load(folder / "network.pt").parameters()])


def results(folder):
    """What does not depend on the clock."""
    lines = [json.loads(line) for line in (folder / "curve.jsonl").read_text().splitlines()]
    return [{name: value for name, value in line.items() if "seconds" not in name} for line in lines]


def test_seeds_and_killing(tmp_path, monkeypatch):
    """The same seed gives the same network, killed or not; another seed another."""
    settings = {"options": ["size=3"]} | TINY | {"stages": 3}
    for name, seed in (("one", 1), ("twin", 1), ("other", 2)):
        program.main(tmp_path / name, "chameleon", seed=seed, **settings)
    assert torch.equal(weights(tmp_path / "one"), weights(tmp_path / "twin"))
    assert not torch.equal(weights(tmp_path / "one"), weights(tmp_path / "other"))
    assert results(tmp_path / "one") == results(tmp_path / "twin")

    evaluations = []

    def dies(*arguments, **keywords):
        evaluations.append(1)
        if len(evaluations) == 3:
            raise KeyboardInterrupt
        return program_evaluate(*arguments, **keywords)

    program_evaluate = program.evaluate
    monkeypatch.setattr(program, "evaluate", dies)
    with pytest.raises(KeyboardInterrupt):
        program.main(tmp_path / "killed", "chameleon", **settings)
    assert results(tmp_path / "killed") == results(tmp_path / "one")[:2]
    program.main(tmp_path / "killed", "chameleon", **settings)
    assert len(evaluations) == 4
    assert torch.equal(weights(tmp_path / "killed"), weights(tmp_path / "one"))
    assert results(tmp_path / "killed") == results(tmp_path / "one")
    program.main(tmp_path / "killed", "chameleon", **settings)  # nothing is left to do
    assert len(evaluations) == 4
    with pytest.raises(typer.BadParameter, match=r"other settings, {'learning_rate': 0\.001}: expected another folder"):
        program.main(tmp_path / "killed", "chameleon", learning_rate=0.01, **settings)


def test_games_that_there_are_not(tmp_path):
    for game, options, complaint in (
        ("chess", [], "'chess' is not a game"),
        ("curio", ["size=3"], "'size=3' is not an option"),
    ):
        with pytest.raises(typer.BadParameter, match=complaint):
            program.main(tmp_path / "run", game, options)
    assert not (tmp_path / "run").exists()


def test_it_learns(tmp_path):
    """Chameleon on nine cells, in seconds."""
    settings = TINY | {
        "stages": 4,
        "updates": 10,
        "envs": 64,
        "plies": 16,
        "minibatch": 256,
        "hidden": 64,
        "games": 200,
    }
    curve = program.main(tmp_path, "chameleon", ["size=3"], **settings)
    assert curve[-1]["low"] > 0.7
