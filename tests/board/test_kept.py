"""Games by their address: they go on, once each, and leave when there are too many or they are too old."""

import json
import os
import re
import stat

import pytest
from pbm_agents.play.kept import KEY, KeptGames
from pbm_agents.play.limits import Limits
from pbm_agents.play.web import EXPIRED, IDLE_SECONDS, LOOK_SECONDS
from websockets.exceptions import ConnectionClosed

from pbm_envs import Chameleon, Curio
from tests.board.boards import Person, Tab, serving, start, until_ply
from tests.board.test_clock import Hours

GAME = {"board": "D12 D34", "moves": ["a1-a2", "b1-b2"]}


class Clock:
    """Time that a test sets, and that each look at it takes."""

    time = 1000.0

    def __call__(self):
        self.time += 0.01
        return self.time


def test_a_game_is_at_its_address_as_it_is_now():
    kept = KeptGames()
    one, other = kept.put(None, GAME), kept.put(None, GAME)
    assert one != other
    assert KEY.fullmatch(one)
    assert kept.put(one, GAME | {"moves": []}) == one
    assert kept.take(one) == GAME | {"moves": []}
    assert kept.take(other) == GAME


@pytest.mark.parametrize("address", ["", "abc", "é", "../../etc/passwd", "A" * 22])
def test_nothing_is_at_other_addresses(address):
    kept = KeptGames()
    kept.put(None, GAME)
    with pytest.raises(ValueError, match="not on this machine, or nobody has touched it for"):
        kept.take(address)


def test_old_games_and_too_many_leave(tmp_path):
    clock = Clock()
    kept = KeptGames(tmp_path, most=2, seconds=60, now=clock)
    first, second = kept.put(None, GAME), kept.put(None, GAME)
    kept.put(first, GAME)  # played again: the second is the least recent
    third = kept.put(None, GAME)
    assert {path.stem for path in tmp_path.iterdir()} == {first, third}
    with pytest.raises(ValueError, match="nobody has touched it for"):
        kept.take(second)
    clock.time += 30
    kept.put(third, GAME)
    clock.time += 40
    with pytest.raises(ValueError, match="nobody has touched it for"):
        kept.take(first)
    assert kept.take(third) == GAME
    assert {path.stem for path in tmp_path.iterdir()} == {third}


def test_games_outlast_the_program_in_a_folder_for_its_owner(tmp_path):
    address = KeptGames(tmp_path / "boards").put(None, GAME)
    (tmp_path / "boards" / f"{'B' * 22}.json").write_text("{")
    (tmp_path / "boards" / "notes.json").write_text("{}")
    again = KeptGames(tmp_path / "boards")
    assert again.take(address) == GAME
    for missing in ("B" * 22, "notes"):
        with pytest.raises(ValueError, match="not on this machine"):
            again.take(missing)
    if os.name == "posix":
        assert stat.S_IMODE((tmp_path / "boards").stat().st_mode) == 0o700


def test_without_a_place_games_last_as_long_as_the_program(tmp_path, caplog):
    (tmp_path / "file").write_text("")
    kept = KeptGames(tmp_path / "file" / "boards")
    assert kept.take(kept.put(None, GAME)) == GAME
    assert "games are not kept over a restart" in caplog.text


def test_a_game_goes_on_elsewhere_with_all_that_was_hidden(tmp_path):
    game = Curio(base=2, rows=4, cols=3)
    with Person(start(game, "person", "random", seed=3), kept=KeptGames(tmp_path)) as person:
        position = person.play(person.position["legal"][0]["move"])
        record, address = person.table.orders.record, person.kept
    with Person(start(Chameleon(size=3)), kept=KeptGames(tmp_path)) as other:
        other.say("hello", resume=address)
        other.hear("setup")
        assert other.settle() == position
        assert other.table.orders.record == record
        assert other.play(position["legal"][0]["move"])["plies"] == 4
        assert other.kept == address
        other.play("resign")
        other.do("rematch", exchange=False)
        assert other.table.orders.record.seed != record.seed  # nobody knows the other side of the next game


def test_a_game_in_which_somebody_resigned_goes_on():
    kept = KeptGames()
    with Person(start(Chameleon(size=3), "person", "random"), kept=kept) as person:
        over, address = person.play("resign"), person.kept
    with Person(start(Chameleon(size=3)), kept=kept) as other:
        other.say("hello", resume=address)
        other.hear("setup")
        assert other.settle() == over


def test_a_game_that_cannot_go_on_is_left_with_a_word():
    kept = KeptGames()
    with Person(start(Chameleon(size=3)), kept=kept) as person:
        for address in ("nonsense", kept.put(None, {"game": "chess"}), kept.put(None, {})):
            person.say("hello", resume=address)
            assert "The earlier game cannot be resumed" in person.hear("note")["text"]
            person.hear("setup")
            assert person.settle() == person.position


def test_a_page_cannot_bring_an_agent_that_may_not_play_here():
    kept = KeptGames()
    with Person(start(Chameleon(size=3), "person", "tests.cli.agents:Crash"), kept=kept) as person:
        address = person.kept
    with Person(start(Chameleon(size=3)), limits=Limits(), kept=kept) as other:
        other.say("hello", resume=address)
        assert "may not be chosen here" in other.hear("note")["text"]


def test_a_server_that_is_started_again_has_its_games(tmp_path):
    with serving(start(Chameleon(size=3), "person", "random", seed=1), kept=KeptGames(tmp_path)) as port:
        with Tab(port) as tab:
            after, address = tab.play("b2x"), tab.kept
        assert re.search(r"b2x", json.dumps(after["moves"]))
    with serving(start(Chameleon(size=4)), kept=KeptGames(tmp_path)) as port, Tab(port) as tab:
        tab.say("hello", resume=address)
        tab.hear("setup")
        assert tab.settle()["moves"] == after["moves"]


def expire(hours):
    """Let so much time pass that every board is closed that nobody touches meanwhile."""
    hours.wait(IDLE_SECONDS)
    hours.wait(LOOK_SECONDS)


def test_a_board_that_nobody_touches_is_closed_with_a_notice_and_its_game_kept():
    """Boards whose game somebody goes on with stay open, also those that only look on."""
    hours = Hours()
    kept = KeptGames(timekeeper=hours)
    with serving(start(Chameleon(size=3), "person", "random", seed=1), kept=kept) as port:
        with Tab(port) as tab, Tab(port) as looking:
            looking.say("hello", resume=tab.kept)
            for move, plies in (("b2x", 2), ("resign", 3)):
                hours.wait(IDLE_SECONDS - LOOK_SECONDS)
                tab.say("play", move=move)
                after = until_ply(tab, plies)
            address = tab.kept
            expire(hours)
            for closed in (tab, looking):
                with pytest.raises(ConnectionClosed) as found:  # noqa: PT012  after the messages that were sent before
                    while True:
                        closed.next_message()
                assert found.value.rcvd.code == EXPIRED
                assert "Nobody has touched this board for 6 hours" in found.value.rcvd.reason
                assert "kept for 30 days" in found.value.rcvd.reason
        with Tab(port) as tab:
            tab.say("hello", resume=address)
            tab.hear("setup")
            assert tab.settle()["moves"] == after["moves"]


@pytest.mark.slow
def test_the_page_says_that_its_board_was_closed_and_opens_it_again(context):
    hours = Hours()
    kept = KeptGames(timekeeper=hours)
    with serving(start(Chameleon(size=3), "person", "random", seed=1), kept=kept) as port:
        page = context.new_page()
        page.goto(f"http://127.0.0.1:{port}/")
        page.wait_for_selector(".pbm[data-turn=mine]")
        page.get_by_role("textbox", name="a move").fill("b2x")
        page.keyboard.press("Enter")
        page.wait_for_selector(".pbm-moves [data-ply='2']")
        page.wait_for_selector(".pbm[data-turn=mine]")
        expire(hours)
        again = page.get_by_role("button", name="Open it again")
        again.wait_for()
        assert "Nobody has touched this board for 6 hours" in page.locator(".pbm-banner").first.inner_text()
        again.click()
        page.wait_for_selector(".pbm[data-turn=mine]")
        page.wait_for_selector(".pbm-moves [data-ply='2']")
        again.wait_for(state="detached")
