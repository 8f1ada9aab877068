"""Nothing that a player may not know is sent to them, byte for byte: hidden faces are exchanged, and nothing changes.

The board of the rules of Curio, with Dark as a script that plays the same in every world.
"""

import json
import secrets

import numpy as np
import pytest
from pbm_agents.play.messages import explanation, position

from pbm_envs import Curio
from tests.board.boards import Person, Tab, serving, start

GAME = Curio(base=2, rows=4, cols=3)
WORLDS = ["D12 D11 D22/. . ./. . ./L21 L22 L11", "D11 D12 D22/. . ./. . ./L21 L22 L11"]
"""What Light cannot tell apart: which of the two pieces that show a 1 has the 2."""
SAGE = "mcts:simulations=50"


def talk(person):
    """Everything that a person can ask for, for two moves."""
    for theme in ("light", "dark"):
        person.say("hello", theme=theme)
        person.hear("setup")
        person.settle()
    person.error("play", move="a1-c1")
    person.error("play", move="nonsense")
    person.error("save")
    person.error("undo")
    person.do("hint")
    person.do("analyse")
    for cells in ([0], [9], [10], [11], [0, 9], [2, 11]):
        person.say("explain", cells=cells)
        assert person.hear("explained")["text"]
    person.say("rules")
    person.hear("rules")
    person.play("c1-c2")
    person.do("hint")
    person.do("undo")
    person.play("c1-c2")
    person.play("c2-c3")
    person.do("analyse")


def test_the_bytes_are_the_same_in_worlds_that_a_player_cannot_tell_apart():
    conversations = []
    for board in WORLDS:
        begin = start(GAME, "person", "tests.board.agents:dark", seed=1, board=board, hint=SAGE)
        with serving(begin) as port, Tab(port) as tab:
            talk(tab)
            conversations.append(tab.bytes)
    assert conversations[0] == conversations[1]


def test_other_bytes_would_be_noticed():
    """Dark, from the far side, sees the difference at once."""
    sent = []
    for board in WORLDS:
        with Person(start(GAME, "tests.board.agents:light", "person", seed=1, board=board)) as person:
            sent.append(person.position["svg"])
    assert sent[0] != sent[1]


@pytest.mark.parametrize(
    "options", [{}, {"capture": "le_total", "reveal_captured": False}, {"face": "random"}], ids=str
)
def test_positions_are_the_same_in_all_worlds_of_a_view(options):
    """Random games: at every ply of the person, the state is exchanged for others of the same view."""
    game = Curio(base=2, rows=4, cols=3, **options)
    rng = np.random.default_rng(7)
    changed = 0
    pairs = [[cell] for cell in range(12)] + [[cell, other] for cell in range(12) for other in range(12)]

    def exchange_worlds(session, ply):
        nonlocal changed
        state, shown = session.position(ply), position(session, 0, ply=ply)
        told = [explanation(session, 0, cells) for cells in pairs]
        for world in np.split(game.determinize(np.repeat(game.view(state, 0), 4), rng), 4):
            session._positions[ply] = world  # as if it had been so all along
            assert position(session, 0, ply=ply) == shown
            assert [explanation(session, 0, cells) for cells in pairs] == told
            changed += (world["faces"] != state["faces"]).any()
        session._positions[ply] = state

    for seed in range(3):
        session = start(game, "person", "random", seed=seed).session()
        while not session.done:
            if session.mover == 1:
                session.play_agent_move()
            else:
                exchange_worlds(session, session.plies)
                session.play(game.action_to_string(int(rng.choice(session.legal()))))
        for ply in range(session.plies):  # back in the game that is over
            exchange_worlds(session, ply)
    assert changed > 10


def test_neither_seed_nor_record_are_sent_before_the_end():
    seed = 2**62 + 12345
    begin = start(GAME, "person", "random", seed=seed)
    with serving(begin) as port, Tab(port) as tab:
        position = tab.position
        while not position["done"]:
            assert "the record reveals what is hidden" in tab.error("save")
            before = len(tab.bytes)
            position = tab.play(position["legal"][0]["move"])
        assert not any(str(seed).encode() in sent for sent in tab.bytes[:before])
        tab.say("save")
        assert str(seed) in tab.hear("record")["text"]
        board = json.loads(json.loads(tab.bytes[-1])["text"])["board"]
        assert not any(board.encode() in sent for sent in tab.bytes[:-1])


def test_seeds_of_ones_own_cannot_be_found_by_trying(monkeypatch):
    monkeypatch.setattr("pbm_agents.play.start.secrets", secrets)  # instead of the seeds of these tests
    begin = start(GAME, "person", "random")
    with Person(begin) as one, Person(begin) as other:
        assert one.table.orders.record.seed != other.table.orders.record.seed
        assert max(one.table.orders.record.seed, other.table.orders.record.seed) > 2**40


def test_the_end_shows_everything_from_ones_own_side():
    """Dark takes the last royal piece; Light sees Dark's faces now, and Light's own side is still below."""
    moves = ("a1-a3", "a4-a3", "b1-b3")
    begin = start(GAME, "person", "person", board=WORLDS[0], moves=moves)
    with Person(begin) as person:
        before = person.do("sit")
        assert before["can save"] is False
        end = person.play("c4-b3")
        assert end["headline"] == "Player 2 won: Dark captured Light's last royal piece"
        assert end["can save"]
        assert "game is over and everything has been shown" in person.error("undo")
