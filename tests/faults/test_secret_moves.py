"""Games whose moves are not public: no channel tells a player a move that the player has not seen.

Phantom tic-tac-toe, from the guide, is the example. Its first version forgot to say that its moves are hidden.
"""

import importlib
import json
from collections import Counter

import numpy as np
import pytest
from pbm_agents.arena import Opening
from pbm_agents.equilibrium import PublicTree
from pbm_agents.play.messages import position
from pbm_agents.play.session import PERSON, Session

from pbm_envs import Game, register_game
from pbm_envs.testing import check_channels
from tests.play import play
from tests.test_contracts import GUIDES

TWINS = ["b2 a1 c3 a2", "b2 a3 c3 c1"]
"""What player_0 cannot tell apart, and player_0 is to move."""


@pytest.fixture
def phantom(monkeypatch):
    monkeypatch.syspath_prepend(str(GUIDES))
    return register_game(importlib.import_module("phantom").Phantom)()


def test_a_game_that_does_not_say_that_it_hides_moves_is_found(phantom):
    class First(type(phantom)):
        public_moves = True

    with pytest.raises(AssertionError, match="expected `public_moves = False`"):
        check_channels(First(), np.random.default_rng(0))


@pytest.mark.parametrize("channel", ["info of the AEC environment", "info of the vector environment", "a prompt"])
def test_the_check_looks_at_every_channel(phantom, channel, monkeypatch):
    """With moves that everybody sees in histories, the check fails by the name of the first channel that leaks."""
    monkeypatch.setattr(Game, "seen_actions", lambda self, states, actions, players: np.asarray(actions))
    if channel != "a prompt":
        monkeypatch.setattr("pbm_envs.testing.channels.TextGame.prompt", lambda self, player: "")
    if channel == "info of the vector environment":
        monkeypatch.setattr("pbm_envs.envs.aec.BoardGameAECEnv._show_history", lambda self: None)
    with pytest.raises(AssertionError, match=f"player_0 can tell two games apart at ply .* by .*{channel}"):
        check_channels(phantom, np.random.default_rng(0))


def test_a_player_sees_their_own_moves(phantom):
    states = play(phantom, "b2")
    assert phantom.seen_actions(states, [0], 1).tolist() == [0]
    assert phantom.seen_actions(states, [0], 0).tolist() == [-1]
    assert phantom.view(play(phantom, TWINS[0]), 0)["last_action"] == -1


@pytest.mark.parametrize("moves", ["", "b2", "b2 a1", "b2 b2", "b2 b2 a1 a1", "b2 a1 c3 c3 a2", TWINS[0]])
@pytest.mark.parametrize("player", [0, 1])
def test_worlds_are_drawn_uniformly_from_those_that_fit_the_view(phantom, moves, player):
    """Against brute force: all full states of as many plies that can be reached and look the same to the player."""
    view = phantom.view(play(phantom, moves), player)
    reached = [play(phantom, "")]
    for _ in moves.split():
        reached = list({_key(state): state for before in reached for state in _successors(phantom, before)}.values())
    fits = {_key(state) for state in reached if _key(phantom.view(state, player)) == _key(view)}
    count = 400 * len(fits)
    worlds = phantom.determinize(view.repeat(count), np.random.default_rng(7))
    drawn = Counter(_key(worlds[row : row + 1]) for row in range(count))
    assert drawn.keys() == fits
    assert max(abs(number - 400) for number in drawn.values()) < 6 * 20, "six standard deviations"


def _key(state):
    """All of a batch of one but the last move."""
    return b"".join(state[name].tobytes() for name in state.dtype.names if name != "last_action")


def _successors(game, state):
    for action in np.flatnonzero(game.legal_action_mask(state)[0]):
        after = state.copy()
        game.step(after, [action])
        if not after["done"][0]:
            yield after


def test_what_cannot_be_done_without_public_moves_is_refused_by_name(phantom):
    with pytest.raises(ValueError, match=r"Phantom\(\) has moves that players do not see"):
        PublicTree.build(phantom)
    session = Session(phantom, [PERSON, PERSON], Opening(0))
    session.play("b2")
    with pytest.raises(ValueError, match="no undo: the players do not see each other's moves"):
        session.undo()


def with_junk(views):
    """Fill the bytes between the fields of records, which mean nothing."""
    junk = np.full((len(views), views.dtype.itemsize), 7, np.uint8).view(views.dtype)[:, 0]
    for name in views.dtype.names:
        junk[name] = views[name]
    return junk


def test_information_states_of_openspiel(phantom, monkeypatch):
    spiel, view = pytest.importorskip("pbm_envs.adapters.openspiel"), type(phantom).view
    loaded = spiel.load(phantom)
    told = []
    for moves in TWINS:
        state = loaded.new_initial_state()
        for move in moves.split():
            state.apply_action(phantom.string_to_action(move))
        told.append([state.information_state_string(player) for player in range(2)])
    assert told[0][0] == told[1][0]
    assert told[0][1] != told[1][1]
    assert "b2 ? c3 ?" in told[0][0]
    with monkeypatch.context() as patched:
        patched.setattr(type(phantom), "view", lambda *given: with_junk(view(*given)))
        again = loaded.new_initial_state()
        for move in TWINS[-1].split():
            again.apply_action(phantom.string_to_action(move))
        assert [again.information_state_string(player) for player in range(2)] == told[-1]
    with pytest.raises(NotImplementedError, match="hides moves"):
        state.resample_from_infostate(0, np.random.default_rng(0).random)


def test_the_board_lists_the_moves_that_its_seat_has_seen(phantom):
    sent = []
    for moves in TWINS:
        session = Session(phantom, [PERSON, "random"], Opening(0, None, tuple(moves.split())))
        sent.append([position(session, seat) for seat in range(2)])
    assert json.dumps(sent[0][0]) == json.dumps(sent[1][0])
    assert [entry["move"] for entry in sent[0][0]["moves"]] == ["b2", "hidden", "c3", "hidden"]
    assert [entry["move"] for entry in sent[0][1]["moves"]] == ["hidden", "a1", "hidden", "a2"]


def test_an_agents_move_is_printed_for_those_who_see_it(phantom):
    session = Session(phantom, [PERSON, "random"], Opening(0, None, ("b2",)))
    assert session.play_agent_move() == "a hidden move"
    alone = Session(phantom, ["random", "random"], Opening(0))
    assert alone.play_agent_move() in phantom.board.names
