"""Agents with memory: told which game each row is, wherever agents play."""

import copy
import itertools
import pickle

import numpy as np
import pytest
from pbm_agents import RandomAgent, as_policy, evaluate
from pbm_agents.arena import Opening, Tournament, play_games, play_tournament
from pbm_agents.arena.asking import ask
from pbm_agents.arena.match import Answer, SoFar
from pbm_agents.play.session import Session

from pbm_envs import Chameleon, Curio, Trinim, chameleon_v0, sample_actions, trinim_v0
from pbm_envs.envs import memory
from pbm_envs.envs.memory import AgentWithMemory, new_ids
from pbm_envs.text import TextEnv, make_text_env

GAME = Chameleon(size=3, swap_rule=False)


class Counting(AgentWithMemory):
    """Counts the turns of each game and seat; at odd ones it plays its last legal action, at even ones its first."""

    def __init__(self):
        self.turns, self.seats, self.ended = {}, {}, 0

    def begin_games(self, game, ids):
        for one in ids.tolist():
            assert one not in self.turns
            self.turns[one] = 0

    def act(self, game, views, rng, ids):
        masks = game.legal_action_mask(views)
        odd = np.array([self.turns[one] % 2 for one in ids.tolist()], bool)
        for one, view in zip(ids.tolist(), views, strict=True):
            assert self.seats.setdefault(one, int(view["viewer"])) == view["viewer"], "one seat"
            assert view["ply"] // game.num_players == self.turns[one], "every turn, and no other"
            self.turns[one] += 1
        last = game.num_actions - 1 - masks[:, ::-1].argmax(axis=1)
        return np.where(odd, last, masks.argmax(axis=1))

    def end_games(self, ids):
        for one in ids.tolist():
            del self.turns[one]
            self.ended += 1


def counting():
    """For `make_agent`."""
    return Counting()


@pytest.mark.parametrize("game", [GAME, Trinim(num_players=3, size=3), Curio(base=2, rows=4, cols=3)], ids=str)
def test_every_seat_of_every_game_has_its_own(game):
    """The agent has all seats but one, or all."""
    agent = Counting()
    seats = [("mine", "random", "mine")[: game.num_players], ("mine",) * game.num_players] * 3
    random = Random
    records = play_games(game, {"mine": agent, "random": random()}, seats, [Opening(k) for k in range(6)], seed=1)
    assert not any(record.forfeits for record in records)
    assert not agent.turns, "all have ended"
    assert agent.ended == sum(names.count("mine") for names in seats)


def test_the_same_moves_alone_and_beside_others():
    together = play_games(GAME, {"mine": Counting()}, [("mine", "mine")] * 3, [Opening(k) for k in range(3)], seed=1)
    [alone] = play_games(GAME, {"mine": Counting()}, [("mine", "mine")], [Opening(0)], seed=1)
    assert [record.moves for record in together] == [alone.moves] * 3


def test_another_process_goes_on_where_one_has_died():
    """The memory has then seen the turns that the other was asked about."""
    [whole] = play_games(GAME, {"mine": Counting()}, [("mine", "mine")], [Opening(1)], seed=1)
    state, answers = GAME.init(1, np.random.default_rng(1)), []
    for text in whole.moves[:4]:
        action = GAME.string_to_action(text)
        answers.append(Answer(0, int(state["to_move"][0]), action, 0.0))
        GAME.step(state, [action])
    [again] = play_games(
        GAME, {"mine": Counting()}, [("mine", "mine")], [Opening(1)], seed=1, so_far=SoFar(answers=answers)
    )
    assert again.moves == whole.moves


def test_it_is_evaluated_and_meets_policies():
    result = evaluate(Counting(), GAME, {"me again": Counting(), "random": Random()}, games=10)
    assert result["me again"].games == result["random"].games == 10

    class Fails(Counting):
        def act(self, game, views, rng, ids):
            raise RuntimeError("lost")

    with pytest.raises(ValueError, match="the agent failed: RuntimeError: lost"):
        evaluate(Fails(), GAME, games=2)
    with pytest.raises(ValueError, match="the opponent 'x' failed: RuntimeError: lost"):
        evaluate(Counting(), GAME, {"x": Fails()}, games=2)


class Random:
    def act(self, game, views, rng):
        return sample_actions(game.legal_action_mask(views), rng)


def test_it_plays_a_tournament_by_name(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "remembering.py").write_text(
        "from pbm_envs.envs.memory import AgentWithMemory\n"
        "class Agent(AgentWithMemory):\n"
        "    def __init__(self): self.games = set()\n"
        "    def begin_games(self, game, ids): self.games |= set(ids.tolist())\n"
        "    def act(self, game, views, rng, ids):\n"
        "        assert set(ids.tolist()) <= self.games\n"
        "        return game.legal_action_mask(views).argmax(axis=1)\n"
        "    def end_games(self, ids): self.games -= set(ids.tolist())\n"
    )
    tournament = Tournament((GAME,), ("remembering:Agent", "random"), openings=3)
    records = play_tournament(tournament, tmp_path / "results")
    assert len(records) == 6
    assert not any(record.forfeits for record in records)


@pytest.mark.parametrize(("module", "options"), [(chameleon_v0, {"size": 3, "swap_rule": False}), (trinim_v0, {})])
def test_it_plays_a_pettingzoo_loop(module, options):
    agent = Counting()
    env = module.env(**options)
    policy = as_policy(agent, seed=1)
    for seed in range(3):
        env.reset(seed=seed)
        for _ in env.agent_iter():
            env.step(policy(env))
        assert len(agent.turns) == 2
    assert agent.ended == 4


def test_a_game_that_is_left_at_once_is_not_taken_for_the_next():
    """Both are at ply 0 when the agent is asked; the environment numbers its games."""
    agent, env = Counting(), chameleon_v0.env(size=3)
    policy = as_policy(agent, seed=1)
    env.reset(seed=1)
    policy(env)
    assert (len(agent.turns), agent.ended) == (1, 0)
    env.reset(seed=2)
    policy(env)
    assert (len(agent.turns), agent.ended) == (1, 1)
    env.unwrapped.set_state(env.unwrapped.get_state())
    policy(env)
    assert agent.ended == 2


def test_the_opponent_of_a_text_environment_ends_only_games_that_it_began():
    opponent = Counting()
    env = TextEnv(GAME, opponent, seat=0)
    for seed in range(2):
        env.reset(seed=seed)
        assert (len(opponent.turns), opponent.ended) == (2, 2 * seed)


def test_it_plays_a_person_who_takes_moves_back():
    """What is asked after an undo is as if the moves that are undone had never been."""
    session = Session(GAME, ["person", "tests.training.test_memory:counting"], Opening(1))
    session.play("b2x")
    first = session.play_agent_move()
    session.play("c3x")
    second = session.play_agent_move()
    session.undo()
    assert len(session.moves) == 2
    session.play("c3x")
    assert session.play_agent_move() == second
    assert session.moves[1][0] == first


def test_a_question_without_a_game_is_one_that_begins_and_ends():
    agent, views = Counting(), GAME.view(GAME.init(3, np.random.default_rng(1)), 0)
    assert ask(agent, GAME, views, np.random.default_rng(1)) == [0, 0, 0]
    assert not agent.turns


def test_numbers_are_never_used_twice():
    drawn = np.concatenate([new_ids(k) for k in (3, 0, 5)])
    assert len(set(drawn.tolist())) == 8
    assert (np.diff(drawn) > 0).all()


@pytest.mark.parametrize(
    "env", [chameleon_v0.vector_env(2, size=3, opponent=RandomAgent()), make_text_env("chameleon", size=3)], ids=str
)
def test_nor_are_those_of_an_environment_from_another_process(env, monkeypatch):
    env.reset(seed=1)
    kept = pickle.dumps(env)
    monkeypatch.setattr(memory, "_numbers", itertools.count())  # as in a process that has just started
    used = vars(vars(pickle.loads(kept))["_seat" if isinstance(env, TextEnv) else "_opponents"])["_ids"]
    assert new_ids(1) > used.max()


def test_a_copied_environment_is_another_game():
    env = chameleon_v0.env(size=3)
    env.reset(seed=1)
    copies = [env, env.clone(), copy.deepcopy(env), pickle.loads(pickle.dumps(env))]
    assert len({each.game_number for each in copies}) == 4
