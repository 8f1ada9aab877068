"""An agent cannot compute the hidden part of a set-up from the generator that it is handed: the attack, played."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pbm_agents.arena import Opening, Tournament, play_tournament
from pbm_agents.arena.openings import opening_seed
from pbm_agents.arena.schedule import warm_up
from pbm_agents.play.session import Session

from pbm_envs import Curio, Game
from pbm_envs.core.randomness import apart_from, derive, stream
from pbm_envs.envs.factories import make_single_env

GAME = Curio()
GUESSES = 30
"""Small seeds that are tried, and numbers around every one that is found."""


class Detective:
    """Rebuilds the set-up of games that begin from whatever its generator carries, and remembers how often."""

    found = 0
    looked = 0

    def act(self, game: Game, views: Any, rng: np.random.Generator) -> Any:
        for view in views[views["ply"] < 2]:
            type(self).looked += 1
            type(self).found += self.rebuilds(game, view, rng)
        masks = game.legal_action_mask(views)
        return masks.argmax(axis=1)

    @staticmethod
    def rebuilds(game: Game, view: Any, rng: np.random.Generator) -> bool:
        for number in carried(rng):
            for seed in (number, (number, 1)):
                sequence = np.random.SeedSequence(seed)
                for candidate in (np.random.default_rng(sequence), np.random.default_rng(sequence.spawn(1)[0])):
                    for start in (
                        game.init(1, candidate),
                        game.init(1, np.array([candidate.bit_generator.random_raw()], np.uint64)),
                    ):
                        seen = game.view(start, view["viewer"])[0]
                        if (seen["faces"] == view["faces"]).all() and (seen["owner"] == view["owner"]).all():
                            return True
        return False


def carried(rng: np.random.Generator) -> set[int]:
    """Seeds that an attacker would try."""
    sequence: Any = rng.bit_generator.seed_seq
    entropy = sequence.entropy
    numbers = {*range(GUESSES), *sequence.spawn_key}
    for number in [entropy] if isinstance(entropy, int) else list(entropy):
        numbers |= {int(number) + k for k in range(-2, 3)} | {int(number) >> k for k in (11, 32, 64, 75)}
    return {number for number in numbers if number >= 0}


def forget_all() -> None:
    Detective.found = Detective.looked = 0


@pytest.fixture(autouse=True)
def _forget() -> None:
    forget_all()


def test_the_attack_works_where_nothing_prevents_it() -> None:
    """Else the tests below would show nothing."""
    start = GAME.init(1, np.random.default_rng(123456789))
    agents = np.random.default_rng(np.random.SeedSequence(123456789).spawn(2)[1])
    assert Detective.rebuilds(GAME, GAME.view(start, 0)[0], agents)


def test_in_a_tournament(tmp_path: Path) -> None:
    name = f"{__name__}:Detective"
    warm_up(name, GAME)  # of a set-up that is no secret
    forget_all()
    tournament = Tournament((GAME,), ("random", name), openings=4)
    records = play_tournament(tournament, tmp_path)
    assert not any(record.forfeits for record in records)
    assert Detective.looked >= 8
    assert Detective.found == 0


def test_the_organizer_plays_the_same_games_again(tmp_path: Path) -> None:
    tournament = Tournament((GAME,), ("random", "mcts:simulations=2"), openings=2, key="the organizer's")
    one, two = (play_tournament(tournament, tmp_path / name) for name in ("one", "two"))
    assert [record.moves for record in one] == [record.moves for record in two]
    other = play_tournament(Tournament((GAME,), ("random", "mcts:simulations=2"), openings=2), tmp_path / "other")
    assert [record.board for record in one] != [record.board for record in other]
    seeds = [opening_seed("the organizer's", record.number // 2, record.number, *record.agents) for record in one]
    assert [record.seed for record in one] == seeds


def test_at_the_board() -> None:
    for seed in np.random.default_rng(5).integers(1 << 62, size=4).tolist():
        session = Session(GAME, ("person", "random"), Opening(seed))
        session._agents[1] = Detective()
        session.play(GAME.action_to_string(session.legal()[0]))
        session.play_agent_move()
    assert Detective.looked == 4
    assert Detective.found == 0


def test_opposite_a_learner() -> None:
    env = make_single_env(GAME, opponent=Detective(), seat=1)
    for seed in np.random.default_rng(6).integers(1 << 62, size=4).tolist():
        env.reset(seed=seed)
    assert Detective.looked >= 4
    assert Detective.found == 0


def test_streams_are_told_apart() -> None:
    numbers = {derive(key, purpose, k) for key in ("", "a", "b") for purpose in ("set-up", "agents") for k in range(50)}
    assert len(numbers) == 300
    assert all(0 <= number < 1 << 128 for number in numbers)
    assert stream("a", "b", 1).random() == stream("a", "b", 1).random() != stream("a", "b", 2).random()
    rng = np.random.default_rng(7)
    before = rng.bit_generator.state
    assert apart_from(rng, "x").random() == apart_from(np.random.default_rng(7), "x").random()
    assert rng.bit_generator.state == before
    assert 7 not in carried(apart_from(rng, "x")) - set(range(GUESSES))
