"""Back in the game, another game from there, rematches, records, and agents that play each other."""

import numpy as np
import pytest
from pbm_agents.play.branches import branch, opened
from pbm_agents.play.messages import position
from pbm_agents.play.page import board_svg

from pbm_envs import Chameleon, Curio, Trinim
from pbm_envs.records import verify
from tests.board.agents import GO
from tests.board.boards import Person, start

HIDDEN = Curio(base=2, rows=4, cols=3)


def a_game(game=HIDDEN, seed=3, moves=6):
    """A session with the person in seat 0, and its start."""
    begin = start(game, "person", *["random"] * (game.num_players - 1), seed=seed)
    session, rng = begin.session(), np.random.default_rng(seed)
    while not session.done and (session.plies < moves or session.mover != 0):
        session.play(game.action_to_string(int(rng.choice(session.legal()))))
    return session, begin


def test_back_in_the_game_a_seat_sees_what_it_saw_then():
    """Not what it has learned since."""
    for seed in range(4):
        session, begin = a_game(seed=seed)
        shown = []
        fresh = begin.session()
        for move, _ in session.moves:
            shown.append(position(fresh, 0)["svg"])
            fresh.play(move)
        assert [position(session, 0, ply=ply)["svg"] for ply in range(session.plies)] == shown


def test_a_new_game_from_a_position_shows_the_same_and_draws_the_rest():
    """Over many: all that was possible then comes up, and nothing else."""
    session, begin = a_game(seed=1)
    game, boards = session.game, set()
    for ply in range(0, session.plies, 2):
        for _ in range(20):
            other = branch(session, begin, 0, ply)
            new = other.session()
            assert (game.view(new.state, 0) == game.view(session.position(ply), 0)).all()
            boards.add((ply, other.board))
    assert len(boards) > session.plies // 2 * 2


def test_steps_back_and_on_from_there():
    with Person(start(Chameleon(size=3), "person", "random", seed=2)) as person:
        person.play("b2x")
        latest = person.play(person.position["legal"][0]["move"])
        back = person.do("look", ply=1)
        assert (back["ply"], back["plies"], back["legal"], back["headline"]) == (1, 4, [], "After move 1 of 4")
        assert person.do("look", ply=None) == latest
        person.do("look", ply=2)
        other = person.do("branch", ply=2)
        assert [move["given"] for move in other["moves"]] == [True, True]
        assert len(person.play(other["legal"][0]["move"])["moves"]) == 4


def test_no_game_goes_on_from_its_end():
    with Person(start(Chameleon(size=3), "person", "random", seed=2)) as person:
        over = person.play("resign")
        assert "the game is over in this position" in person.error("branch", ply=over["plies"])


def test_two_persons_do_not_look_into_each_others_past():
    with Person(start(HIDDEN, "person", "person", seed=2)) as person:
        light = person.do("sit")
        person.play(light["legal"][0]["move"])
        assert "must not show the other's pieces" in person.error("branch", ply=0)


def test_rematch_and_exchanged_seats():
    with Person(start(Chameleon(size=3), "person", "random", seed=2)) as person:
        seed = person.table.orders.record.seed
        person.play("resign")
        again = person.do("rematch", exchange=False)
        assert (again["seats"], again["plies"]) == (["person", "random"], 0)
        assert person.table.orders.record.seed != seed
        person.play("resign")
        other = person.do("rematch", exchange=True)
        assert (other["seats"], other["plies"], other["seat"]) == (["random", "person"], 1, 1)


def test_agents_play_each_other_at_a_pace():
    with Person(start(HIDDEN, "random", "random", seed=2)) as person:
        assert person.position["watching"] == {"pace": 1.0, "opened": False}
        person.say("pace", seconds=0)
        while not (now := person.hear("position"))["done"]:
            assert now["legal"] == []
        verify(person.table.orders.record)


def test_agents_wait():
    """A move that was chosen before the pause waits, too."""
    GO.clear()
    with Person(start(Chameleon(size=3), "tests.board.agents:Waiting", "random", seed=2)) as person:
        person.say("pace", seconds=None)
        assert person.hear("position")["watching"]["pace"] is None
        GO.set()
        for ply in (0, None):
            person.say("look", ply=ply)
            assert person.hear("position")["plies"] == 0
        person.say("pace", seconds=0)
        while not person.hear("position")["done"]:
            pass


def test_records_are_opened_and_show_everything():
    session, _ = a_game(moves=1000)
    record = session.record()
    verify(record)
    with Person(start(Chameleon(size=3)), records=[record]) as person:
        assert (person.setup["records"][0]["plies"], person.position["ply"]) == (record.plies, 0)
        assert person.position["watching"]["opened"]
        end = person.do("look", ply=None)
        assert [move["move"] for move in end["moves"]] == list(record.moves)
        full = session.start.copy()
        full["viewer"] = 0
        assert person.do("look", ply=0)["svg"] == board_svg(session.game.scene(full), "light")
        assert board_svg(session.game.scene(session.game.view(session.start, 0)), "light") != board_svg(
            session.game.scene(full), "light"
        )
        person.say("new", game="chameleon", options=["size=3"])
        assert person.settle()["game"] == "chameleon"
        assert person.do("open", record=record.to_json())["game"] == "curio"
        assert person.do("branch", ply=0)["seats"].count("person") == 1


def test_records_of_games_that_go_on_are_not_shown():
    session, _ = a_game(moves=2)
    with pytest.raises(ValueError, match="is not over"):
        opened(session.record())


def test_records_that_break_the_rules_are_not_shown():
    session, _ = a_game(Chameleon(size=3), moves=1000)
    text = session.record().to_json()
    with Person(start(Chameleon(size=3))) as person:
        moves = session.record().moves
        assert "illegal" in person.error("open", record=text.replace(f'"{moves[2]}"', f'"{moves[0]}"', 1))


@pytest.mark.slow
def test_what_could_be_expected_at_each_position():
    with Person(start(Chameleon(size=3), "person", "random", hint="mcts:simulations=20", seed=1)) as person:
        person.play("b2x")
        values = person.do("values")["values"]
        assert len(values) == 3
        assert all(-1 <= value <= 1 for value in values)
    with Person(start(HIDDEN, "person", "random", hint="mcts:simulations=20", seed=1)) as person:
        person.play(person.position["legal"][0]["move"])
        values = person.do("values")["values"]
        assert [value is None for value in values] == [False, True, False]


def test_hint_and_analysis_are_one_search():
    with Person(start(Chameleon(size=4), hint="mcts:simulations=50", seed=1)) as person:
        hint = person.do("hint")["hint"]
        person.say("analyse")
        found = person.hear("position")
        assert not found["thinking"]
        assert found["analysis"][0]["move"] == hint["move"]
        assert hint["sure"]


def test_plies_since_ones_own_in_games_of_three():
    with Person(start(Trinim(size=3, num_players=3), "person", "random", "random", seed=1)) as person:
        person.play("C1" if "C1" in str(person.position["legal"]) else person.position["legal"][0]["move"])
        cells = person.position["since"]
        assert len(cells) >= 2


def test_a_page_of_rules_and_the_symbols():
    with Person(start(HIDDEN, "person", "random", seed=1)) as person:
        person.say("rules")
        rules = person.hear("rules")
        assert rules["title"] == "Curio"
        assert len(rules["symbols"]) > 4
        assert all("<svg" in symbol["svg"] for symbol in rules["symbols"])
