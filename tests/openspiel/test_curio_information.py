"""What OpenSpiel shows the players of Curio: all that they know, and nothing else (C15)."""

from collections import Counter

import numpy as np
import pytest

from pbm_envs import Curio
from pbm_envs.adapters.openspiel import load
from tests.curio.positions import chi_square_bound
from tests.openspiel.games import prefixes, sampler, sees, tiny, tree
from tests.reference.curio import Curio as Reference

SMALL = {"base": 2, "rows": 4, "cols": 3, "no_capture_limit": 20}
OPTIONS = [
    SMALL,
    SMALL | {"face": "random", "turn": False, "reveal_captured": False},
    SMALL | {"capture": "any", "reveal_captured": False},
    {"base": 3, "rows": 4, "cols": 4, "capture": "le_total"},
    {"base": 3, "rows": 4, "cols": 4, "capture": "gt_total", "turn": False, "face": "small"},
]
MOST_WORLDS, DRAWS = 40, 20
every_option = pytest.mark.parametrize("options", OPTIONS, ids=lambda options: str(Curio(**options)))
every_tree = pytest.mark.parametrize(
    "game",
    [tiny(no_capture_limit=1), tiny(no_capture_limit=1, reveal_captured=True, turn=True)],
    ids=lambda game: str(game.rules),
)


@every_option
def test_exchanged_faces_make_no_difference(options):
    """At no time of a game, for the player who cannot tell; the other player does see some."""
    game, rng = load(Curio(**options)), np.random.default_rng(4)
    exchanged = noticed = 0
    for plies in (0, 1, 2, 3, 5, 8, 12):
        state = prefixes(game, rng, plies)[-1]
        for player in range(2):
            twin = state.resample_from_infostate(player, sampler(plies))
            exchanged += str(twin) != str(state)
            noticed += twin.information_state_string(1 - player) != state.information_state_string(1 - player)
            for before, after in zip(moments(state), moments(twin), strict=True):
                assert sees(before, player) == sees(after, player)
    assert exchanged >= 3
    assert noticed >= 1


def moments(last):
    """All states of a game from the end of the deal on."""
    state, states = last.get_game().new_initial_state(), []
    for action in last.history():
        if not state.is_chance_node():
            states.append(state.clone())
        state.apply_action(action)
    return [*states, state]


@pytest.mark.parametrize("options", OPTIONS[:3], ids=lambda options: str(Curio(**options)))
def test_resampling_draws_every_world_equally_often(options):
    """Of all that the slow reference finds."""
    game, rng, total, freedom = load(Curio(**options)), np.random.default_rng(5), 0.0, 0
    for plies in (0, 2, 4, 6):
        state = prefixes(game, rng, plies)[-1]
        for player in range(2):
            worlds = worlds_of(state, player)
            if len(worlds) > MOST_WORLDS:
                continue
            random = sampler(plies)
            drawn = [state.resample_from_infostate(player, random) for _ in range(DRAWS * len(worlds))]
            counts = Counter(start_of(world) for world in drawn)
            assert set(counts) == worlds
            assert {tuple(world.moves()) for world in drawn} == {tuple(state.moves())}
            total += sum((count - DRAWS) ** 2 / DRAWS for count in counts.values())
            freedom += len(worlds) - 1
    assert freedom > 5
    assert total < chi_square_bound(freedom)


@every_tree
def test_information_states_are_what_the_reference_cannot_tell_apart(game):
    """In the whole tree: the set-ups that share an information state of the player to move."""
    members = {}
    for state, _ in tree(game.new_initial_state()):
        members.setdefault(state.information_state_string(), []).append(state)
    assert max(map(len, members.values())) == 4
    for states in members.values():
        assert {tuple(state.moves()) for state in states} == {tuple(states[0].moves())}
        assert {start_of(state) for state in states} == worlds_of(states[0], states[0].current_player())


@every_tree
def test_perfect_recall(game):
    """Who is in an information state has always been in the same ones before, and done the same there."""
    pasts, tensors, observations = {}, {}, {}
    for state, path in tree(game.new_initial_state()):
        player = state.current_player()
        own = [len(before.history()) for before in path if before.current_player() == player]
        past = tuple((path[k].information_state_string(), state.history()[k]) for k in own)
        key = state.information_state_string()
        assert pasts.setdefault(key, past) == past
        assert tensors.setdefault(key, state.information_state_tensor()) == state.information_state_tensor()
        assert observations.setdefault(key, state.observation_string()) == state.observation_string()
    assert len({tuple(tensor) for tensor in tensors.values()}) == len(tensors), "the tensor tells as much"


def test_under_totals_the_legal_moves_of_old_are_remembered():
    """C7: at the start Light learns whether L21 may capture on a2, and later nothing else would tell."""
    game = load(Curio(base=3, rows=4, cols=4, capture="le_total"))
    assert not game.get_type().provides_information_state_tensor
    one = game.new_initial_state("D13 . . ./. . . ./D12 . . ./L21 . . L33")
    other = game.new_initial_state("D12 . . ./. . . ./D13 . . ./L21 . . L33")
    assert one.information_state_string(1) != other.information_state_string(1)
    for text in ("a1-c1", "a4-b4"):
        for state in (one, other):
            state.apply_action(game.rules.string_to_action(text))
    knows, guesses = one.information_state_string(0), other.information_state_string(0)
    assert knows != guesses
    assert knows.partition(" | allowed #")[0] == guesses.partition(" | allowed #")[0]
    random = sampler(3)
    assert {str(one.resample_from_infostate(0, random)) for _ in range(30)} == {str(one)}


def test_nothing_leaks_while_the_game_is_set_up():
    game = tiny()
    state = game.new_initial_state()
    before = [(state.information_state_string(k), state.observation_tensor(k)) for k in range(2)]
    state.apply_action(state.legal_actions()[0])
    assert [(state.information_state_string(k), state.observation_tensor(k)) for k in range(2)] == before
    with pytest.raises(RuntimeError, match="still being set up"):
        state.resample_from_infostate(0, sampler(0))


def start_of(state):
    """The board text that was dealt."""
    game = state.get_game()
    return game.deal.board(state.history()[: len(game.deal.cells)])


def worlds_of(state, player):
    """The starts of all games that `player` cannot tell from this one, by the reference."""
    rules = state.get_game().rules
    reference = Reference(start_of(state), **rules.options)
    for action in state.moves():
        reference.play(rules.action_to_string(action))
    return {world.start for world in reference.worlds(player)}
