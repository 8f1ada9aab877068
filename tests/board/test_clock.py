"""Clocks of games, by a time that the test sets: what runs when, who loses, and what is recorded."""

import pytest
from pbm_agents.play.clock import OUT_OF_TIME, Clock, TimeControl, Timekeeper
from pbm_agents.play.kept import KeptGames

from pbm_envs import Chameleon, Curio, Trinim
from pbm_envs.records import FORFEITED, Forfeit, verify
from tests.board.agents import GO
from tests.board.boards import Guest, Person, invite, start, until, until_ply


class Hours(Timekeeper):
    """A time that stands still until the test lets it pass."""

    def __init__(self):
        self.time, self.waiting = 0.0, {}

    def now(self):
        return self.time

    def call_later(self, seconds, action):
        number = object()
        self.waiting[number] = self.time + seconds, action
        return lambda: self.waiting.pop(number, None)

    def wait(self, seconds):
        self.time += seconds
        for number, (then, action) in list(self.waiting.items()):
            if then <= self.time:
                del self.waiting[number]
                action()


@pytest.fixture
def hours():
    return Hours()


@pytest.fixture
def kept(hours):
    return KeptGames(timekeeper=hours)


def begin(control, game=None, *players, **rest):
    players = players or ("person", "person")
    return start(game or Chameleon(size=7), *players, clock=TimeControl.parse(control), **rest)


def a_move(person):
    return person.play(person.position["legal"][0]["move"])


@pytest.mark.parametrize("text", ["300", "300+5", "30/move", "2.5+0.5"])
def test_a_clock_is_written_as_it_is_read(text):
    assert str(TimeControl.parse(text)) == text


@pytest.mark.parametrize(
    "text", ["five", "0", "-3", "300+", "30/game", "1e9", "99999999", "300+99999", "300+5/move", "nan"]
)
def test_other_texts_are_no_clocks(text):
    with pytest.raises(ValueError, match="expected seconds per game such as 300"):
        TimeControl.parse(text)


def test_a_clock_needs_a_person():
    with pytest.raises(ValueError, match="only agents play: expected a person, or no clock"):
        begin("300", None, "random", "random")


def clock_of(control, hours):
    session = start(Chameleon(size=7), "person", "person").session()
    return session, Clock(TimeControl.parse(control), session, hours, lambda: None)


def pass_and_play(clock, session, hours, seconds):
    clock.follow(present=True)
    hours.wait(seconds)
    session.play(session.game.action_to_string(session.legal()[0]))
    clock.follow(present=True)


def test_the_first_turns_are_free_and_moves_add_time(hours):
    session, clock = clock_of("60+5", hours)
    for seconds in (1000, 2000, 10, 20):
        pass_and_play(clock, session, hours, seconds)
    assert clock.message() == {
        "left": [55, 45],
        "running": 0,
        "control": "60+5",
        "words": "1 min per game and 5 s for each move",
    }
    hours.wait(54)
    assert not clock.has_fallen()
    assert clock.message()["left"] == [1, 45]
    hours.wait(1)
    assert clock.has_fallen()


def test_a_clock_per_move_begins_anew_with_each_move(hours):
    session, clock = clock_of("30/move", hours)
    for seconds in (100, 100, 29, 29, 29):
        pass_and_play(clock, session, hours, seconds)
        assert not clock.has_fallen()
    assert clock.message()["left"] == [30, 30]
    assert clock.agent_seconds() == 24


def test_a_takeback_gives_no_time(hours):
    session, clock = clock_of("60+5", hours)
    for seconds in (0, 0, 10, 2):
        pass_and_play(clock, session, hours, seconds)
    assert clock.message()["left"] == [55, 63]
    session.undo()
    clock.follow(present=True)
    assert clock.message()["left"] == [55, 60]
    for _ in range(5):  # nor do many
        pass_and_play(clock, session, hours, 1)
        session.undo()
        clock.follow(present=True)
    assert clock.message()["left"] == [55, 60]
    pass_and_play(clock, session, hours, 20)
    session.undo()
    clock.follow(present=True)
    assert clock.message()["left"] == [55, 45]


def test_nobody_at_the_boards_stops_the_clock(hours):
    session, clock = clock_of("60", hours)
    for seconds in (0, 0, 10):
        pass_and_play(clock, session, hours, seconds)
    hours.wait(5)
    clock.follow(present=False)
    hours.wait(1000)
    assert (clock.message()["left"], clock.message()["running"], hours.waiting) == ([50, 55], None, {})
    again = Clock(clock.control, session, hours, lambda: None, clock.keep())
    again.follow(present=True)
    hours.wait(5)
    assert again.message()["left"] == [50, 50]


def test_a_person_whose_time_is_over_loses_and_the_record_says_so(hours, kept):
    with Person(begin("60"), kept=kept) as host, Guest(kept, invite(host, 1)) as guest:
        for person, ply in ((host, 1), (guest, 2)):
            until(person, lambda position: position["legal"])
            person.say("play", move=person.position["legal"][0]["move"])
            until_ply(host, ply), until_ply(guest, ply)
        assert host.position["clock"] == {"left": [60, 60], "running": 0, "control": "60", "words": "1 min per game"}
        hours.wait(60)
        assert until_ply(host, 3)["headline"] == "You lost: you ran out of time"
        assert until_ply(guest, 3)["headline"] == "You won: Player 1 ran out of time"
        assert host.position["clock"]["running"] is None
        record = host.table.orders.record
        assert (record.ending, record.forfeits) == (FORFEITED, (Forfeit(3, 0, OUT_OF_TIME),))
        verify(record)
        guest.say("rematch", exchange=False)
        until(host, lambda position: position["table"]["request"])
        host.say("agree")
        again = until(host, lambda position: not position["done"])
        assert again["clock"] == {"left": [60, 60], "running": None, "control": "60", "words": "1 min per game"}


def test_a_move_that_comes_too_late_is_not_played(hours, kept):
    """Even if the server has not yet noticed: here its timer never rings."""
    hours.call_later = lambda seconds, action: lambda: None
    with Person(begin("60"), kept=kept) as person:
        a_move(person), a_move(person)
        hours.time += 61
        person.say("play", move=person.position["legal"][0]["move"])
        assert until(person, lambda position: position["done"])["moves"][-1]["move"] == "resign"
        assert "the game is over" in person.hear("error")["text"]


def test_an_agent_has_the_same_clock(hours, kept):
    """It thinks for too long; its answer comes when the game is over, and changes nothing."""
    GO.set()
    with Person(begin("60", None, "person", "tests.board.agents:Waiting"), kept=kept) as person:
        a_move(person)
        GO.clear()
        person.say("play", move=person.position["legal"][0]["move"])
        until_ply(person, 3)
        assert person.position["clock"]["running"] == 1
        hours.wait(60)
        assert until_ply(person, 4)["headline"].endswith("ran out of time")
        assert person.position["headline"].startswith("You won")
        GO.set()
        for thread in person.table.orders.thinking.threads:
            thread.join(60)
        person.say("look", ply=None)
        assert person.hear("position")["plies"] == 4
        verify(person.table.orders.record)


def test_an_agent_plans_its_time(hours, kept):
    """A search without end ends by the clock of the agent."""
    game = Trinim()
    agent = "mcts:seconds=1000"
    with Person(begin("1/move", game, "person", agent), kept=kept) as person:
        a_move(person)
        assert person.position["plies"] == 2
        assert not person.position["done"]


def test_of_three_players_the_others_play_on(hours, kept):
    game = Trinim(size=3, num_players=3)
    with Person(begin("60", game, "person", "person", "person"), kept=kept) as person:
        for _ in range(3):
            a_move(person)
        hours.wait(60)
        position = until_ply(person, 4)
        assert (position["done"], position["clock"]["running"]) == (False, 1)
        assert position["headline"].startswith("Your move")
        hours.wait(60)
        assert until_ply(person, 5)["done"]
        verify(person.table.orders.record)


def test_a_lost_player_may_come_back_while_the_clock_runs(hours, kept):
    with Person(begin("60"), kept=kept) as host:
        address = invite(host, 1)
        with Guest(kept, address) as guest:
            for person, ply in ((host, 1), (guest, 2), (host, 3)):
                until(person, lambda position: position["legal"])
                person.say("play", move=person.position["legal"][0]["move"])
                until_ply(host, ply), until_ply(guest, ply)
        until(host, lambda position: position["table"]["absent"] == [1])
        hours.wait(20)
        with Guest(kept, address) as guest:
            assert guest.position["clock"]["left"] == [60, 40]
            assert guest.position["clock"]["running"] == 1
            hours.wait(40)
            assert until_ply(guest, 4)["headline"] == "You lost: you ran out of time"


def test_a_game_with_a_clock_outlasts_the_server(hours, tmp_path):
    curio = Curio(base=2, rows=4, cols=3)
    with Person(begin("60+1", curio, "person", "random", seed=1), kept=KeptGames(tmp_path, timekeeper=hours)) as person:
        a_move(person)
        hours.wait(10)
        a_move(person)
        address = person.kept
    other = KeptGames(tmp_path, timekeeper=hours)
    with Guest(other, address) as person:
        assert person.position["clock"]["left"] == [51, 61]
        assert person.position["clock"]["running"] == 0


def test_a_message_asks_for_a_clock():
    with Person(start(Chameleon(size=3), "person", "random")) as person:
        assert person.position["clock"] is None
        new = {"game": "trinim", "players": ["person", "random"]}
        assert person.do("new", **new, clock="300+5")["clock"]["control"] == "300+5"
        assert person.do("rematch", exchange=False)["clock"]["control"] == "300+5"
        assert "expected seconds per game" in person.error("new", **new, clock="soon")
        assert "only agents play" in person.error("new", game="trinim", players=["random", "random"], clock="300")
