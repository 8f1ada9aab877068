"""A user's program, for `mypy --strict`: the public interface is typed, and what is wrong is found."""

from typing import assert_type

import numpy as np
from numpy.typing import NDArray
from pbm_agents import Agent, Evaluation, Search, SearchResult, as_policy, evaluate, make_agent
from pbm_agents.arena import Rating, Tournament, play_tournament, rate

from pbm_envs import Chameleon, Curio, Game, Symmetry, chameleon_v0, make_game, sample_actions
from pbm_envs.core.scene import Drawn
from pbm_envs.envs.aec import BoardGameAECEnv
from pbm_envs.envs.single import SingleSeatEnv
from pbm_envs.envs.vector import BoardGameVectorEnv
from pbm_envs.records import GameRecord


class First:
    """An agent."""

    def act(self, game: Game, views: NDArray[np.void], rng: np.random.Generator) -> NDArray[np.int64]:
        return game.legal_action_mask(views).argmax(axis=1)


def rules(rng: np.random.Generator) -> None:
    game = Chameleon(size=5)
    states = game.init(4, rng)
    assert_type(states, NDArray[np.void])
    assert_type(game.legal_action_mask(states), NDArray[np.bool_])
    assert_type(game.observe(game.view(states, 0)), NDArray[np.int8])
    assert_type(game.num_actions, int)
    assert_type(game.string_to_action("a1x"), int)
    assert_type(game.symmetries, tuple[Symmetry, ...])
    assert_type(game.show(states[:1]), Drawn)
    assert_type(make_game("curio"), Game)
    assert_type(sample_actions(game.legal_action_mask(states), rng), NDArray[np.int64])
    game.init("4", rng)  # type: ignore[arg-type]
    Curio(5)  # type: ignore[call-arg]


def environments() -> None:
    assert_type(chameleon_v0.raw_env(size=5), BoardGameAECEnv)
    assert_type(chameleon_v0.vector_env(8, size=5), BoardGameVectorEnv)
    assert_type(chameleon_v0.single_env(size=5), SingleSeatEnv)


def agents(rng: np.random.Generator) -> None:
    own: Agent = First()
    wrong: Agent = 7  # type: ignore[assignment]
    game = Chameleon(size=5)
    assert_type(make_agent("random"), Agent)
    assert_type(Search(simulations=10).run(game, game.init(1, rng), rng), list[SearchResult])
    assert_type(evaluate(lambda observations, masks: masks, game, {"own": own}), dict[str, Evaluation])
    Search(simulations="many")  # type: ignore[arg-type]
    print(as_policy(own), wrong)


def arena(folder: str) -> None:
    records = play_tournament(Tournament((Curio(),), ("random", "mcts:simulations=10")), folder)
    assert_type(records, list[GameRecord])
    assert_type(rate(records), dict[str, Rating])
