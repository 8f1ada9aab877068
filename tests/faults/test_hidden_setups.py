"""No agent learns what a set-up hides, by pairing the views of several games or from its random generator.

The attacks are played wherever openings have several seatings or agents are handed a generator.
"""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pbm_agents import evaluate
from pbm_agents.arena import (
    Ladder,
    Opening,
    Rung,
    SequentialTest,
    Tournament,
    evaluation,
    league,
    play_games,
    play_sprt,
    play_tournament,
    rate_on_ladder,
    tournament_records,
)
from pbm_agents.arena.evaluation import Rate, wilson
from pbm_agents.arena.schedule import warm_up
from pbm_agents.play.session import Session

from pbm_envs import Chameleon, Curio, Trinim
from pbm_envs.core.randomness import apart_from, derive, stream
from pbm_envs.envs.factories import make_single_env
from pbm_envs.records import GameRecord

from . import cheats
from .cheats import BEGINNINGS, GUESSES, LOOKED, Collector, Detective, carried, faces_of, rebuilt

GAME = Curio()
COLLECTOR, CHEATER = f"{cheats.__name__}:Collector", f"{cheats.__name__}:Cheater"
DETECTIVE = f"{cheats.__name__}:Detective"
FIRST = "tests.arena.agents:First"


@pytest.fixture(autouse=True)
def _forget() -> None:
    BEGINNINGS.clear()
    LOOKED.clear()


def share_rebuilt(records: list[GameRecord]) -> tuple[int, int]:
    """How many set-ups the collectors have rebuilt, of how many that they have played."""
    found = {faces.tobytes() for faces in rebuilt(GAME, BEGINNINGS)}
    boards = {record.board for record in records if COLLECTOR in record.agents}
    return sum(faces_of(GAME, str(board)) in found for board in boards), len(boards)


def test_the_attack_works_where_a_board_is_played_from_both_seats() -> None:
    """Else the tests below would show nothing."""
    starts = GAME.init(20, np.random.default_rng(1))
    openings = [Opening(0, GAME.board_to_string(start)) for start in starts for _ in range(2)]
    agents: dict[str, Any] = {COLLECTOR: Collector(), "other": Collector()}
    records = play_games(GAME, agents, [(COLLECTOR, "other"), ("other", COLLECTOR)] * 20, openings, seed=1)
    assert share_rebuilt(records) == (20, 20)


def test_in_a_tournament(tmp_path: Path) -> None:
    games = (GAME, Curio(capture="lt"))
    play_tournament(Tournament(games, ("random", COLLECTOR, FIRST), openings=25, key="k"), tmp_path)
    assert share_rebuilt(tournament_records(tmp_path)) == (0, 200)


def test_in_two_tournaments_with_one_key(tmp_path: Path) -> None:
    """What agents meet does not depend on the order in which they are named, either."""
    records = []
    for agents in (("random", COLLECTOR), (COLLECTOR, "random")):
        records += play_tournament(Tournament((GAME,), agents, openings=25, key="k"), tmp_path / agents[0])
    assert share_rebuilt(records) == (0, 100)


def test_in_a_sequential_test(tmp_path: Path) -> None:
    play_sprt(SequentialTest(GAME, COLLECTOR, FIRST, elo1=1, openings=100, key="k"), tmp_path)
    assert share_rebuilt(tournament_records(tmp_path)) == (0, 200)


def test_on_a_ladder(tmp_path: Path) -> None:
    ladder = Ladder("made-up", 1, GAME, 0, (Rung("random", "random", 0, 0, 0, 9), Rung("first", FIRST, 100, 0, 200, 9)))
    rate_on_ladder(COLLECTOR, ladder, tmp_path, half_width=1, openings=100, key="k")
    assert share_rebuilt(tournament_records(tmp_path)) == (0, 200)


def test_nobody_can_compute_the_set_ups_of_a_ladder(tmp_path: Path) -> None:
    """They come from a key that is the folder's own, and the same call goes on with it."""
    ladder = Ladder("made-up", 1, GAME, 0, (Rung("random", "random", 0, 0, 0, 9), Rung("first", FIRST, 100, 0, 200, 9)))
    for folder in ("one", "two", "one"):
        rate_on_ladder(COLLECTOR, ladder, tmp_path / folder, half_width=1, openings=2 if folder == "two" else 4)
    one, two = (tournament_records(tmp_path / folder) for folder in ("one", "two"))
    assert (len(one), len(two)) == (8, 4)
    assert not {record.board for record in one} & {record.board for record in two}
    guesses = {GAME.board_to_string(GAME.init(1, np.random.default_rng(seed))[0]) for seed in range(100)}
    assert not {record.board for record in [*one, *two]} & guesses


@pytest.fixture
def played(monkeypatch: pytest.MonkeyPatch) -> list[GameRecord]:
    """The games of `evaluate` and `payoffs`, which keep none."""
    found: list[GameRecord] = []

    def keep(*arguments: Any, **keywords: Any) -> list[GameRecord]:
        records = play_games(*arguments, **keywords)
        found.extend(replace(record, agents=(COLLECTOR, "other")) for record in records)
        return records

    for module in (evaluation, league):
        monkeypatch.setattr(module, "play_games", keep)
    return found


def test_by_evaluation(played: list[GameRecord]) -> None:
    """Against several opponents, and from step to step of a training."""
    for step in range(2):
        evaluate(Collector(), GAME, ["random", "greedy:worlds=1"], games=50, seed=step)
    assert share_rebuilt(played) == (0, 200)


def test_in_a_table_of_payoffs(played: list[GameRecord]) -> None:
    league.payoffs(GAME, {"collector": Collector(), "random": "random", "first": FIRST}, openings=50)
    assert share_rebuilt(played) == (0, 300)


def test_a_set_up_is_not_given_to_two_games() -> None:
    seats = [("one", "other"), ("other", "one")]
    agents: dict[str, Any] = {"one": Collector(), "other": Collector()}
    with pytest.raises(ValueError, match="2 games have the set-up of seed 7, part of which is hidden"):
        play_games(GAME, agents, seats, [Opening(7)] * 2, seed=1)
    assert len(play_games(Chameleon(size=3), agents, seats, [Opening(7)] * 2, seed=1)) == 2


def test_perfect_information_keeps_its_pairs() -> None:
    for schedule in (
        Tournament((Trinim(),), ("random", FIRST), openings=5, key="k"),
        SequentialTest(Trinim(), "random", FIRST, openings=5, key="k"),
    ):
        openings = [opening for batch in schedule.batches() for opening in batch.openings]
        assert openings[::2] == openings[1::2]
        assert [opening.seed for opening in openings[:3:2]] == [3990453301630894, 1010484279717309]


def score_of_the_cheater(records: list[GameRecord]) -> Rate:
    scores = [record.returns[record.agents.index(CHEATER)] / 2 + 0.5 for record in records]
    return wilson(float(np.mean(scores)), len(scores))


@pytest.mark.slow
def test_cheating_gains_nothing(tmp_path: Path) -> None:
    """A search that uses every set-up which it can rebuild scores like an honest one."""
    agents = ("mcts:simulations=100", CHEATER)
    records = play_tournament(Tournament((GAME,), agents, openings=60, key="k"), tmp_path)
    assert score_of_the_cheater(records).low < 0.5 < score_of_the_cheater(records).high


def test_a_seed_in_the_generator_gives_the_set_up_away() -> None:
    """Else the tests below would show nothing."""
    start = GAME.init(1, np.random.default_rng(123456789))
    agents = np.random.default_rng(np.random.SeedSequence(123456789).spawn(2)[1])
    assert Detective.rebuilds(GAME, GAME.view(start, 0)[0], agents)


def test_generators_in_a_tournament(tmp_path: Path) -> None:
    warm_up(DETECTIVE, GAME)  # with a set-up that is not secret
    LOOKED.clear()
    tournament = Tournament((GAME,), ("random", DETECTIVE), openings=4)
    records = play_tournament(tournament, tmp_path)
    assert not any(record.forfeits for record in records)
    assert len(LOOKED) >= 8
    assert not any(LOOKED)


def test_generators_at_the_board() -> None:
    for seed in np.random.default_rng(5).integers(1 << 62, size=4).tolist():
        session = Session(GAME, ("person", "random"), Opening(seed))
        session._agents[1] = Detective()
        session.play(GAME.action_to_string(session.legal()[0]))
        session.play_agent_move()
    assert LOOKED == [False] * 4


def test_generators_against_a_learner() -> None:
    env = make_single_env(GAME, opponent=Detective(), seat=1)
    for seed in np.random.default_rng(6).integers(1 << 62, size=4).tolist():
        env.reset(seed=seed)
    assert len(LOOKED) >= 4
    assert not any(LOOKED)


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
