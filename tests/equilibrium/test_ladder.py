"""The ladder: fixed games by name, in every library."""

import gymnasium
import pettingzoo
import pytest
from pbm_agents.equilibrium import PublicTree

from pbm_envs import Curio, make_game
from pbm_envs.games.curio.ladder import RUNGS, ladder

SIZES = {1: 602, 2: 6_272, 3: 15_276, 4: 47_529, 5: 102_671}
"""Information sets."""


@pytest.mark.parametrize("rung", SIZES)
def test_sizes(rung):
    assert PublicTree.build(Curio(**ladder(rung))).num_information_sets == SIZES[rung]


@pytest.mark.parametrize("rung", RUNGS)
def test_rungs_have_names(rung):
    game = make_game(f"curio-ladder-{rung}")
    assert game == Curio(**ladder(rung)) == make_game("curio", **ladder(rung))
    assert make_game(f"curio-ladder-{rung}", base=3, cols=6, num_pieces=6).options["base"] == 3
    env = pettingzoo.make("aec", f"pbm/curio-ladder-{rung}-v0")
    assert env.unwrapped.game == game
    single = gymnasium.make(f"pbm/curio-ladder-{rung}-v0", opponent="random")
    assert single.action_space.n == game.num_actions
    assert gymnasium.make_vec(f"pbm/curio-ladder-{rung}-v0", num_envs=3).game == game


def test_there_is_no_other_rung():
    for rung in (0, 9, "1"):
        with pytest.raises(ValueError, match="expected an integer from 1 to 8"):
            ladder(rung)
    with pytest.raises(ValueError, match="'curio-ladder-9' is not a game"):
        make_game("curio-ladder-9")
