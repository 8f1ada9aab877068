"""Opponents that are exchanged while a learner trains: when they change, how often each is drawn, how one does."""

import copy
import itertools
import pickle

import numpy as np
import pytest

from pbm_envs import chameleon_v0, curio_v0, sample_actions, trinim_v0
from pbm_envs.envs.memory import AgentWithMemory
from pbm_envs.envs.opponents import RECENT, OpponentScore


class Named:
    """Plays at random, and keeps the boards that it was shown."""

    def __init__(self):
        self.boards = []

    def act(self, game, views, rng):
        self.boards += [view["stones"].tobytes() for view in views] if "stones" in views.dtype.names else []
        return sample_actions(game.legal_action_mask(views), rng)


def first_legal(game, views, rng):
    return game.legal_action_mask(views).argmax(axis=1)


def play(envs, info, steps, rng):
    for _ in range(steps):
        *_, info = envs.step(sample_actions(info["action_mask"], rng))
        yield info


def last(envs, info, steps, rng):
    *_, info = play(envs, info, steps, rng)
    return info


def test_games_under_way_are_finished_by_whom_they_began_with():
    old, new, rng = Named(), Named(), np.random.default_rng(1)
    envs = chameleon_v0.vector_env(8, size=4, opponent=old, seat=0)
    _, info = envs.reset(seed=1)
    info = last(envs, info, 2, rng)
    envs.set_opponents(new)
    assert (info["opponent"] == 0).all()
    began = np.zeros(8, bool)
    old.boards, new.boards = [], []
    for _ in range(30):
        asked = len(old.boards), len(new.boards)
        info = last(envs, info, 1, rng)
        ended = info.get("_final_info", np.zeros(8, bool))
        live = ~ended  # the opponent may not have been asked in a game that the learner has just won
        assert len(old.boards) - asked[0] >= (live & ~began).sum()
        assert len(new.boards) - asked[1] >= (live & began).sum()
        for row in np.flatnonzero(ended):
            assert info["final_info"]["opponent"][row] == began[row]
        began |= ended
        assert (info["opponent"] == began).all()
    assert began.all()
    asked = len(old.boards)
    list(play(envs, info, 10, rng))
    assert len(old.boards) == asked


def test_opponents_are_drawn_by_their_weights():
    envs = chameleon_v0.vector_env(2000, size=3, opponent="random")
    envs.set_opponents({"a": first_legal, "b": Named(), "c": "random"}, {"a": 3, "c": 1})
    _, info = envs.reset(seed=1)
    counts = np.bincount(info["opponent"], minlength=4) / 2000
    assert counts[[0, 2]].tolist() == [0, 0]
    assert np.allclose(counts[[1, 3]], [0.75, 0.25], atol=0.04)
    assert [score.name for score in envs.opponent_scores()] == ["random", "a", "b", "c"]
    envs.set_opponents(["random", first_legal], [0, 1])
    _, info = envs.reset()
    assert [score.name for score in envs.opponent_scores()][info["opponent"][0]] == "a", "the same agent, the same name"
    assert len(set(info["opponent"].tolist())) == 1


def test_a_score_for_each_opponent():
    """What `final_info` says, summed by hand."""
    rng = np.random.default_rng(2)
    envs = trinim_v0.vector_env(16, size=6, opponent={"x": "random", "y": first_legal})
    _, start = envs.reset(seed=1)
    points, games = np.zeros(2), np.zeros(2, int)
    for info in play(envs, start, 120, rng):
        if "final_info" in info:
            final = info["final_info"]
            for row in np.flatnonzero(info["_final_info"]):
                mine = final["returns"][row, final["seat"][row]]
                assert final["score"][row] == (1 + mine) / 2
                points[final["opponent"][row]] += final["score"][row]
                games[final["opponent"][row]] += 1
    scores = envs.opponent_scores()
    assert games.min() > 20
    assert [score.games for score in scores] == games.tolist()
    assert np.allclose([score.points for score in scores], points)
    for score in scores:
        assert score.wins + score.draws + score.losses == score.games
        assert score.score == score.points / score.games
    scores[0].add(1.0)
    assert envs.opponent_scores()[0].games == games[0], "copies"


def test_the_recent_score_forgets():
    score = OpponentScore("x")
    for _ in range(RECENT):
        score.add(0.0)
    assert score.recent == score.score == 0
    for _ in range(5 * RECENT):
        score.add(1.0)
    assert score.recent > 0.99 > score.score


def test_three_players_share_a_draw():
    envs = trinim_v0.vector_env(64, num_players=3, opponent="random")
    _, start = envs.reset(seed=1)
    seen = set()
    for info in play(envs, start, 40, np.random.default_rng(0)):
        if "final_info" in info:
            seen |= {round(float(s), 3) for s in info["final_info"]["score"][info["_final_info"]]}
    assert seen == {0.0, round(1 / 3, 3), 1.0}


@pytest.mark.parametrize("mode", ["SameStep", "NextStep", "Disabled"])
def test_a_game_is_counted_once(mode):
    envs, rng = (
        curio_v0.vector_env(8, no_capture_limit=6, opponent="random", autoreset_mode=mode),
        np.random.default_rng(3),
    )
    _, info = envs.reset(seed=1)
    ends, over = 0, np.zeros(8, bool)
    for _ in range(60):
        _, _, terminated, truncated, info = envs.step(sample_actions(info["action_mask"], rng))
        ends += ((terminated | truncated) & ~over).sum() if mode == "Disabled" else (terminated | truncated).sum()
        over = terminated | truncated
        if mode == "Disabled" and rng.random() < 0.3 and over.any():
            _, info = envs.reset(options={"reset_mask": over})
            over[:] = False
    assert sum(score.games for score in envs.opponent_scores()) == ends > 10


@pytest.mark.parametrize(
    ("agents", "weights", "message"),
    [
        ([], None, "empty list"),
        ({}, None, "expected a mapping from names to at least one agent"),
        ({1: "random"}, None, "expected a mapping from names"),
        (["random", 7], None, "7 is not an agent: expected a name"),
        ("mtcs", None, "'mtcs' is not an agent"),
        (["random", first_legal], [1], "expected 2 numbers from 0 up, not all 0"),
        (["random", first_legal], [0, 0], "not all 0"),
        (["random", first_legal], [1, -1], "from 0 up"),
        (["random", first_legal], [1, np.nan], "from 0 up"),
        (["random", first_legal], [1e308, 1e308], "from 0 up"),
        ({"a": "random"}, {"b": 1}, r"weights name \['b'\]: expected some of \['a'\]"),
    ],
)
def test_wrong_opponents_change_nothing(agents, weights, message):
    for make in (
        lambda: chameleon_v0.vector_env(4, size=3, opponent="random"),
        lambda: chameleon_v0.single_env(size=3),
    ):
        env = make()
        with pytest.raises(ValueError, match=message):
            env.set_opponents(agents, weights)
        assert [score.name for score in env.opponent_scores()] == ["random"]
        env.reset(seed=1)


@pytest.mark.parametrize("failure", range(1, 8))
def test_after_a_failure_the_learner_does_not_play_for_the_opponent(failure):
    """The opponent fails in a game or at the start of one."""
    calls, rng = itertools.count(), np.random.default_rng(1)

    def fails(game, views, rng):
        if next(calls) == failure:
            raise OSError("the server is down")
        return first_legal(game, views, rng)

    envs = chameleon_v0.vector_env(2, size=3, swap_rule=False, opponent=fails, seat=1)
    _, info = envs.reset(seed=1)
    with pytest.raises(OSError, match="the server is down"):
        last(envs, info, 99, rng)
    again = "an opponent failed while it was to move: call reset"
    with pytest.raises(RuntimeError, match=again):
        envs.step(info["action_mask"].argmax(axis=1))
    with pytest.raises(RuntimeError, match=again):
        envs.reset(options={"reset_mask": np.ones(2, bool)})
    _, info = envs.reset()
    last(envs, info, 9, rng)


def test_self_play_has_no_opponents():
    envs = chameleon_v0.vector_env(4, size=3)
    with pytest.raises(ValueError, match="plays all seats: make it with opponent="):
        envs.set_opponents("random")
    assert envs.opponent_scores() == ()


def test_attributes_that_nobody_reads_are_refused():
    for env in (chameleon_v0.vector_env(2, size=3, opponent="random"), chameleon_v0.single_env(size=3)):
        with pytest.raises(AttributeError, match=r"no attribute 'opponent' to set: call set_opponents"):
            env.opponent = "mcts:simulations=5"
        with pytest.raises(AttributeError, match="no attribute 'num_env' to set: settings are arguments"):
            env.num_env = 4
        twin = pickle.loads(pickle.dumps(env))
        with pytest.raises(AttributeError):
            twin.opponent = "random"
        env.spec = None  # as Gymnasium does


def test_the_single_environment_counts_too():
    env, rng = chameleon_v0.single_env(size=3, opponent={"weak": first_legal}), np.random.default_rng(0)
    points = []
    for game in range(6):
        _, info = env.reset(seed=game)
        over = False
        while not over:
            assert info["score"] == 0
            _, reward, terminated, truncated, info = env.step(int(sample_actions(info["action_mask"][None], rng)[0]))
            over = terminated or truncated
        points.append(float(info["score"]))
        assert info["score"] == (1 + reward) / 2
        if game == 2:
            env.set_opponents({"weak": first_legal, "strong": "random"}, [0, 1])
    weak, strong = env.opponent_scores()
    assert (weak.name, weak.games, weak.points) == ("weak", 3, sum(points[:3]))
    assert (strong.name, strong.games, strong.points) == ("strong", 3, sum(points[3:]))


class Remembering(AgentWithMemory):
    """Plays at random, and checks that what it is told holds together."""

    def __init__(self):
        self.memory, self.asked, self.ended = {}, 0, 0

    def begin_games(self, game, ids):
        assert not set(ids.tolist()) & set(self.memory)
        self.memory |= {one: [] for one in ids.tolist()}

    def act(self, game, views, rng, ids):
        assert len(ids) == len(views)
        for one, view in zip(ids.tolist(), views, strict=True):
            seen = self.memory[one]
            assert all(view["viewer"] == viewer for viewer, _ in seen), "one seat"
            assert all(ply < view["ply"] for _, ply in seen), "one game"
            assert not seen or view["ply"] == seen[-1][1] + game.num_players
            seen.append((int(view["viewer"]), int(view["ply"])))
            self.asked += 1
        return sample_actions(game.legal_action_mask(views), rng)

    def end_games(self, ids):
        for one in ids.tolist():
            del self.memory[one]
            self.ended += 1


@pytest.mark.parametrize(
    ("make", "options"),
    [
        (chameleon_v0.vector_env, {"size": 3, "swap_rule": False}),
        (trinim_v0.vector_env, {"num_players": 3, "size": 3}),
        (curio_v0.vector_env, {"base": 2, "rows": 4, "cols": 3, "no_capture_limit": 6}),
    ],
    ids=["chameleon", "trinim", "curio"],
)
@pytest.mark.parametrize("mode", ["SameStep", "NextStep"])
def test_an_opponent_with_memory_has_one_for_each_game_and_seat(make, options, mode):
    agent, other, rng = Remembering(), Remembering(), np.random.default_rng(1)
    envs = make(8, **options, opponent=[agent, "random"], autoreset_mode=mode)
    _, info = envs.reset(seed=1)
    info = last(envs, info, 60, rng)
    assert agent.asked > 50
    assert agent.ended > 5
    assert len(agent.memory) <= 8 * (envs.game.num_players - 1)
    envs.set_opponents(other)
    info = last(envs, info, 60, rng)
    assert not agent.memory, "all its games are over"
    envs.reset(seed=2)
    assert len(other.memory) == 8 * (envs.game.num_players - 1), "those that were given up are forgotten"


def test_a_copied_environment_copies_the_memory():
    agent = Remembering()
    envs, rng = chameleon_v0.vector_env(4, size=3, swap_rule=False, opponent=agent), np.random.default_rng(1)
    _, info = envs.reset(seed=1)
    info = last(envs, info, 2, rng)
    twin = copy.deepcopy(envs)
    kept = copy.deepcopy(agent.memory)
    info = last(twin, info, 30, rng)
    assert agent.memory == kept
    info = last(envs, info, 30, rng)


def test_numbers_of_games_do_not_tell_hidden_faces():
    """Numbers are counted, whatever the games are."""
    shown = {}

    class Watching(Remembering):
        def act(self, game, views, rng, ids):
            shown.setdefault(id(self), []).append((ids - ids.min()).tolist())
            return game.legal_action_mask(views).argmax(axis=1)

    agents = []
    for seed in (1, 2):
        agents.append(Watching())
        envs = curio_v0.vector_env(6, opponent=agents[-1], seat=1)
        envs.reset(seed=seed)
    assert shown[id(agents[0])] == shown[id(agents[1])]
