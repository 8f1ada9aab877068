"""Agents of pbm_agents: legal, uniform, blind to what is hidden; as policies of a PettingZoo loop."""

import subprocess
import sys

import numpy as np
import pytest
from pbm_agents import RandomAgent, as_policy, make_agent

from pbm_envs import Curio, Trinim, curio_v0, make_game, registered_games, trinim_v0


def test_random_agent_never_resigns():
    game, rng = Trinim(size=5, allow_resign=True), np.random.default_rng(5)
    states = game.init(5000, rng, board="r/.g/.../..../.....")
    actions = RandomAgent().act(game, game.view(states, 0), rng)
    assert set(actions.tolist()) == {
        game.string_to_action("E1"),
        game.string_to_action("E2"),
        game.string_to_action("E2-E1"),
    }


def test_random_agent_refuses_who_is_not_to_move():
    game, rng = Curio(), np.random.default_rng(5)
    with pytest.raises(ValueError, match="row 0: the game is over or the view is not the mover's"):
        RandomAgent().act(game, game.view(game.init(1, rng), 1), rng)


def test_a_policy_is_shown_only_its_own_view():
    seen = []

    class Spy(RandomAgent):
        def act(self, game, views, rng):
            seen.append(views)
            return super().act(game, views, rng)

    env = curio_v0.env()
    env.reset(seed=1)
    policy = as_policy(Spy(), seed=2)
    for _ in env.agent_iter(max_iter=8):
        player = env.possible_agents.index(env.agent_selection)
        env.step(policy(env))
        assert (seen[-1]["viewer"] == player).all()
    hidden = seen[0]["faces"][0, :, 1]
    assert not hidden.any(), "Light's first view has no face towards Dark"


def test_the_same_seed_gives_the_same_game():
    games = []
    for _ in range(2):
        env = trinim_v0.env(num_players=3, allow_resign=True)
        env.reset(seed=1)
        policy = as_policy(make_agent("random"), seed=2)
        actions = []
        for _ in env.agent_iter():
            actions.append(policy(env))
            env.step(actions[-1])
        games.append(actions)
    assert games[0] == games[1]
    assert games[0].count(None) == 3, "every agent takes its dead step"


@pytest.mark.parametrize("name", registered_games())
def test_playouts_play_as_the_random_agent_does(name):
    compare_playouts(make_game(name), 3000)


def compare_playouts(game, games):
    """Returns and lengths of so many games each, five standard errors apart at most."""
    rng, agent = np.random.default_rng(9), RandomAgent()
    played, stepped = game.init(games, rng), game.init(games, rng)
    game.playout(played, rng)
    while not stepped["done"].all():
        rows = np.flatnonzero(~stepped["done"])
        batch = stepped[rows]
        game.step(batch, agent.act(game, game.view(batch, batch["to_move"]), rng))
        stepped[rows] = batch
    for measure in (lambda states: states["returns"][:, 0], lambda states: states["ply"]):
        a, b = measure(played), measure(stepped)
        assert abs(a.mean() - b.mean()) <= 5 * np.sqrt((a.var() + b.var()) / games)


def test_public_names_are_imported_when_they_are_used():
    """So `pbm --help` imports none of them; and all are there."""
    program = (
        "import sys, pbm_agents\n"
        "assert not {'numba', 'pbm_envs'} & set(sys.modules)\n"
        "assert set(pbm_agents.__all__) == set(pbm_agents._MODULES) <= set(dir(pbm_agents))\n"
        "for name in pbm_agents.__all__: assert getattr(pbm_agents, name).__name__ == name\n"
        "try: pbm_agents.nothing\n"
        "except AttributeError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "module 'pbm_agents' has no attribute 'nothing'\n"
