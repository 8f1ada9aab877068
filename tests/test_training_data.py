"""Training data: symmetries commute with the rules, replay is stepping by hand, visits are targets, secrets stay."""

from dataclasses import replace

import numpy as np
import pytest
from pbm_agents import Search, make_agent
from pbm_agents.arena import Opening, play_games
from pbm_agents.learning.self_play import self_play
from pbm_agents.learning.training_data import Examples, augmented, joined, replayed

from pbm_envs import Chameleon, Curio, Trinim, make_game, registered_games
from pbm_envs.records import append_records, read_records
from pbm_envs.testing import sample

GAMES_UNDER_TEST = [
    make_game(name, **options) for name, rules in registered_games().items() for options in rules.configurations
]
THREE = Trinim(num_players=3, allow_resign=True)
SMALL_CURIO = Curio(base=2, rows=4, cols=3)


def seen(game, states):
    """Positions that are not over, as the player to move sees them; a policy and returns to recognise them by."""
    observations, masks = game.observe_with_mask(states, states["to_move"])
    weights = masks * (1 + np.arange(game.num_actions, dtype=np.float32) % 7)
    by_seat = np.arange(game.num_players, dtype=np.float32)
    order = (states["to_move"][:, None] + np.arange(game.num_players)) % game.num_players
    policies = weights / weights.sum(axis=1, keepdims=True)
    return Examples.without_search(observations, masks, policies, by_seat[order])


@pytest.mark.filterwarnings("ignore:Trinim")
@pytest.mark.parametrize("game", GAMES_UNDER_TEST, ids=str)
def test_symmetries_commute_with_the_rules(game):
    """Observe, then rename: the same as rename, then observe."""
    states = sample(game, np.random.default_rng(1))
    states = states[~states["done"]][::2]
    examples = seen(game, states)
    for k, symmetry in enumerate(game.symmetries):
        renamed = game.transform(states, symmetry)
        changed, expected = augmented(game, examples, k), seen(game, renamed)
        assert (changed.observations == expected.observations).all(), symmetry.name
        assert (changed.masks == expected.masks).all(), symmetry.name
        assert (changed.policies[:, symmetry.actions] == examples.policies).all(), symmetry.name
        game.step(states.copy(), examples.policies.argmax(axis=1))
        game.step(renamed, changed.policies.argmax(axis=1))  # legal there
        returns = np.empty_like(examples.returns)  # who had these before has them still
        for row, mover in enumerate(states["to_move"]):
            for place, value in enumerate(examples.returns[row]):
                player = symmetry.players[(mover + place) % game.num_players]
                returns[row, (player - symmetry.players[mover]) % game.num_players] = value
        assert (changed.returns == returns).all(), symmetry.name


def test_each_row_has_a_symmetry_of_its_own():
    game, rng = Chameleon(size=4), np.random.default_rng(1)
    states = sample(game, rng)
    examples = seen(game, states[~states["done"]])
    which = rng.integers(len(game.symmetries), size=len(examples.returns))
    mixed = augmented(game, examples, which)
    for k in range(len(game.symmetries)):
        whole = augmented(game, examples, k)
        for mixed_part, part in zip(mixed, whole, strict=True):
            assert np.array_equal(mixed_part[which == k], part[which == k], equal_nan=True)
    for wrong in (len(game.symmetries), -1, 0.5, which[:-1]):
        with pytest.raises(ValueError, match=r"expected integers in 0\.\.7|broadcast"):
            augmented(game, examples, wrong)
    with pytest.raises(ValueError, match=r"expected those of Chameleon\(size=5"):
        augmented(Chameleon(size=5), examples, 0)


def records_of(game, count=6):
    class First:
        def act(self, game, views, rng):
            return game.legal_action_mask(views).argmax(axis=1)

    seats = [tuple(np.roll(("random", "first", "random")[: game.num_players], k)) for k in range(count)]
    players = {"random": make_agent("random"), "first": First()}
    return play_games(game, players, seats, [Opening(seed) for seed in range(count)], seed=1)


@pytest.mark.parametrize("game", [Chameleon(size=4), Trinim(num_players=3), SMALL_CURIO, Curio()], ids=str)
def test_replay_is_stepping_by_hand(game, tmp_path):
    records = records_of(game)
    append_records(tmp_path / "games.jsonl", records)
    examples = joined(replayed(read_records(tmp_path / "games.jsonl"), size=7))
    k = 0
    for record in records:
        state = game.init(1, np.random.default_rng(0), record.board)
        for text in record.moves:
            mover, action = int(state["to_move"][0]), game.string_to_action(text)
            view = game.view(state, mover)
            assert (examples.observations[k] == game.observe(view)[0]).all()
            assert (examples.masks[k] == game.legal_action_mask(view)[0]).all()
            assert (examples.policies[k] == np.eye(game.num_actions)[action]).all()
            assert examples.returns[k].tolist() == [*record.returns[mover:], *record.returns[:mover]]
            game.step(state, [action])
            k += 1
    assert k == len(examples.returns)


def test_batches_of_a_file():
    game = Chameleon(size=3)
    records = records_of(game)
    plies = sum(record.plies for record in records)
    whole = joined(replayed(records))
    for size in (1, 5, plies, plies + 1):
        batches = list(replayed(iter(records), size))
        assert [len(batch.returns) for batch in batches[:-1]] == [size] * (len(batches) - 1)
        assert 0 < len(batches[-1].returns) <= size
        for part, expected in zip(joined(batches), whole, strict=True):
            assert part.dtype == expected.dtype
            assert np.array_equal(part, expected, equal_nan=True)
    bytes_each = sum(part[0].nbytes for part in whole)
    assert bytes_each == np.prod(game.observation_shape) + 9 * game.num_actions + 8 * game.num_players + 14


def test_moves_that_nobody_chose_are_left_out():
    """Those of openings and forfeits; and those of other agents than are asked for."""
    game = Chameleon(size=4)

    class Crashes:
        def act(self, game, views, rng):
            if views["ply"].max() > 4:
                raise RuntimeError("crash")
            return game.legal_action_mask(views).argmax(axis=1)

    players = {"random": make_agent("random"), "crashes": Crashes()}
    opening = Opening(1, None, ("a1x", "b2o"))
    records = play_games(game, players, [("random", "crashes"), ("crashes", "random")], [opening] * 2, seed=2)
    assert all(record.forfeits for record in records)
    assert len(joined(replayed(records)).returns) == sum(record.plies - 2 - 1 for record in records)
    of_one = joined(replayed(records, agents=["random"]))
    assert len(of_one.returns) == sum(record.turns[record.agents.index("random")] for record in records)
    assert (of_one.returns == [1, -1]).all()
    assert list(replayed(records, agents=["nobody"])) == []


def test_records_that_do_not_go_together():
    [record, other] = records_of(Chameleon(size=3), 1) + records_of(Chameleon(size=4), 1)
    with pytest.raises(ValueError, match=r"'size': 3.*'size': 4.*expected one game"):
        list(replayed([record, other]))
    with pytest.raises(ValueError, match="unfinished"):
        list(replayed([replace(record, moves=record.moves[:-1], ending="unfinished")]))
    with pytest.raises(ValueError, match="size is 0"):
        list(replayed([record], size=0))
    with pytest.raises(ValueError, match="expected some"):
        joined(replayed([]))


@pytest.mark.parametrize("game", [Chameleon(size=4), Trinim(size=3, num_players=3), SMALL_CURIO], ids=str)
def test_self_play_gives_what_the_search_found(game):
    """The policies are the visit distributions of the positions that are observed, the returns those of their games."""
    found = []

    class Spy:
        def run(self, game, views, rng, *, workspace=None):
            assert (views["viewer"] == views["to_move"]).all(), "the search was shown secrets"
            results = Search(simulations=20).run(game, views, rng, workspace=workspace)
            found.extend(zip(game.observe(views), views["to_move"], results, strict=True))
            return results

    examples = self_play(game, Spy(), 5, np.random.default_rng(1))
    assert (np.lexsort((examples.plies, examples.games)) == np.arange(len(found))).all(), "game by game"
    examples = examples.rows(np.lexsort((examples.games, examples.plies)))  # as they were played: side by side
    assert len(found) == len(examples.returns)
    for k, (planes, _, result) in enumerate(found):
        assert (examples.observations[k] == planes).all()
        assert np.allclose(examples.policies[k], result.policy())
        assert (examples.visits[k] == result.visits).all()
        assert examples.players[k] == result.player
        assert np.allclose(examples.root_values[k], np.roll(result.value, -result.player))
        assert not examples.policies[k][~examples.masks[k]].any()
    assert np.allclose(examples.policies.sum(axis=1), 1)
    assert (examples.returns.sum(axis=1) == 0).all()
    ends = [k for k, (_, _, result) in enumerate(found) if result.proven]
    for k in ends:
        mover, result = found[k][1], found[k][2]
        if result.value[mover] == 1 and result.proven_actions[result.best]:
            assert examples.returns[k, 0] == 1  # temperature 1 plays a proven win too
    assert ends or not game.perfect_information
