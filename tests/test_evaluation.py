"""`evaluate`: counts, intervals, seats, what a policy may see, and what its mistakes come to."""

import numpy as np
import pytest
from pbm_agents import PolicyAgent, evaluate
from pbm_agents.arena.evaluation import wilson

from pbm_envs import Chameleon, Curio, Trinim, Unlur

SMALL = Chameleon(size=3)


def first_legal(observations, masks):
    return masks.argmax(axis=1)


def test_counts_and_seats_add_up():
    result = evaluate(first_legal, SMALL, games=41)["random"]
    assert result.games == 42
    assert result.wins + result.draws + result.losses == 42
    assert result.score.value == result.win_rate.value == result.wins / 42
    assert np.mean(result.seats) == pytest.approx(result.score.value)
    assert 3 <= result.plies <= SMALL.max_plies
    assert 0 <= result.score.low < result.score.value < result.score.high <= 1
    assert str(result).startswith(f"random: score {result.score.value:.3f} (")


def test_the_same_seed_gives_the_same_result():
    results = [evaluate(first_legal, Curio(), games=10, seed=seed) for seed in (1, 1, 2)]
    assert results[0] == results[1] != results[2]


def test_scores_and_actions_play_alike():
    """The best legal score is played, whatever illegal ones there are."""

    def last_legal(observations, masks):
        return masks.shape[1] - 1 - masks[:, ::-1].argmax(axis=1)

    def scores(observations, masks):
        return np.arange(masks.shape[1]) + 1000.0 * ~masks

    assert evaluate(last_legal, SMALL, games=20) == evaluate(scores, SMALL, games=20)


def test_three_players_from_every_seat():
    """The policy has one seat, the opponent two; a draw is a third."""
    result = evaluate(first_legal, Trinim(num_players=3), games=90)["random"]
    assert (result.games, len(result.seats)) == (90, 3)
    assert result.draws > 0
    assert result.score.value == pytest.approx((result.wins + result.draws / 3) / 90)
    assert result.win_rate.value == result.wins / 90


def test_a_draw_is_half_a_point():
    """T7: at size 3 every game of two is a draw."""
    with pytest.warns(UserWarning, match="draw"):
        game = Trinim(size=3)
    result = evaluate(first_legal, game, games=10)["random"]
    assert (result.draws, result.score.value, result.win_rate.value) == (10, 0.5, 0)


def test_the_stronger_has_the_higher_score():
    """A random policy is as good as the random agent, and loses nearly all games against search."""
    rng = np.random.default_rng(1)

    def at_random(observations, masks):
        return rng.random(masks.shape)

    result = evaluate(at_random, SMALL, ["random", "mcts:simulations=50"], games=60)
    assert result["random"].score.low < 0.5 < result["random"].score.high
    assert result["mcts:simulations=50"].score.high < 0.3


def test_policies_as_opponents():
    results = evaluate(first_legal, SMALL, {"itself": PolicyAgent(first_legal)}, games=10, opening_moves=2)
    assert results["itself"].score.value == 0.5, "from every seat"


def test_a_policy_sees_what_the_player_to_move_can_know():
    """The observations are those of views: rows, each with legal actions, in one batch of all games."""
    game, shapes = Curio(), []

    def spy(observations, masks):
        assert observations.dtype == np.int8
        assert masks.dtype == np.bool_
        assert masks.any(axis=1).all()
        light = observations[..., list(game.planes).index("I am Light")].any(axis=(1, 2))
        turn = observations[..., list(game.planes).index("my turn")].all(axis=(1, 2))
        assert turn.all()
        shapes.append((observations.shape[1:], masks.shape[1], len(masks), set(light)))
        return first_legal(observations, masks)

    evaluate(spy, game, games=8)
    assert {shape[:2] for shape in shapes} == {(game.observation_shape, game.num_actions)}
    assert max(shape[2] for shape in shapes) == 8
    assert {True, False} <= set().union(*(shape[3] for shape in shapes))


def fails(observations, masks):
    raise KeyError("layer 3")


@pytest.mark.parametrize(
    ("policy", "error", "message"),
    [
        (fails, KeyError, "layer 3"),
        (lambda o, m: (~m).argmax(axis=1), ValueError, "which its mask forbids"),
        (lambda o, m: np.full(len(m), 999), ValueError, "the policy played 999, which its mask forbids"),
        (lambda o, m: m.argmax(axis=1) * 1.0, ValueError, r"the policy gave float64 \(10,\): expected integer actions"),
        (
            lambda o, m: m.argmax(),
            ValueError,
            r"the policy gave int64 \(\): expected integer actions \(10,\) or scores",
        ),
        (lambda o, m: m * np.nan, ValueError, "the policy's best score is nan: expected finite numbers"),
        (lambda o, m: np.where(m, -np.inf, 1), ValueError, "best score is -inf: expected finite numbers"),
    ],
)
def test_what_a_policy_does_wrong_is_raised(policy, error, message):
    """And not counted as lost games."""
    with pytest.raises(error, match=message):
        evaluate(policy, Unlur(radius=3), games=20)


def test_an_opponent_that_fails_is_named():
    with pytest.raises(ValueError, match="the opponent 'old' failed: KeyError: 'layer 3'"):
        evaluate(first_legal, SMALL, {"old": PolicyAgent(fails)}, games=4)


def test_wrong_arguments():
    with pytest.raises(ValueError, match="games is 0: expected an integer from 1"):
        evaluate(first_legal, SMALL, games=0)
    with pytest.raises(ValueError, match=r"opponents is 'random': expected a list of names, such as \['random'\]"):
        evaluate(first_legal, SMALL, "random")
    with pytest.raises(ValueError, match="'alphazero' is not an agent"):
        evaluate(first_legal, SMALL, ["alphazero"])


def test_wilson():
    """Against Wilson (1927) as tabulated for 8 of 10, and at the ends."""
    assert wilson(0.8, 10) == pytest.approx((0.8, 0.4902, 0.9433), abs=1e-4)
    assert wilson(1.0, 50) == pytest.approx((1.0, 0.9287, 1.0), abs=1e-4)
    assert wilson(0.0, 50)[1] == 0.0


def test_the_interval_covers():
    """95% intervals of 2000 samples of 40 games cover the truth in 92 to 98 of 100."""
    rng, truth = np.random.default_rng(3), 0.3
    rates = [wilson(wins / 40, 40) for wins in rng.binomial(40, truth, 2000).tolist()]
    assert 0.92 < np.mean([rate.low <= truth <= rate.high for rate in rates]) < 0.98


def test_an_answer_that_numpy_cannot_read():
    """As a tensor that requires gradients, or lies on a GPU: the error says what was expected."""

    class Tensor:
        def __array__(self, *args, **kwargs):
            raise RuntimeError("Can't call numpy() on Tensor that requires grad.")

    with pytest.raises(ValueError, match=r"the policy gave Tensor: expected an array.*detach\(\).*requires grad"):
        evaluate(lambda observations, masks: Tensor(), Chameleon(size=3), games=2)
