"""Boards that share a game: tabs in step, invited players, spectators, consent, links."""

from contextlib import ExitStack

import pytest
from pbm_agents.play.kept import KeptGames

from pbm_envs import Chameleon, Curio, Trinim
from pbm_envs.authoring import NOBODY
from tests.board.agents import GO
from tests.board.boards import Guest, Person, Tab, catch_up, invite, serving, start, until, until_ply
from tests.board.test_secrets import GAME, WORLDS

HIDDEN = Curio(base=2, rows=4, cols=3)


@pytest.fixture
def table():
    """Makes a host at a new board, and guests of the host."""
    with ExitStack() as stack:
        kept = KeptGames()

        def host(game, *players, **rest):
            return stack.enter_context(Person(start(game, *players, **rest), kept=kept))

        host.guest = lambda address: stack.enter_context(Guest(kept, address))
        yield host


def test_two_tabs_of_one_seat_stay_in_step(table):
    one = table(Chameleon(size=4), "person", "random", seed=1)
    other = table.guest(one.kept)
    move = one.position["legal"][0]["move"]
    one.say("play", move=move)
    assert until_ply(one, 2)["moves"] == until_ply(other, 2)["moves"]
    until(one, lambda position: position["legal"]), until(other, lambda position: position["legal"])
    assert one.position["legal"] == other.position["legal"] != []
    other.say("play", move=other.position["legal"][0]["move"])
    assert until_ply(one, 4)["moves"] == until_ply(other, 4)["moves"]


@pytest.mark.parametrize("game", [Chameleon(size=4), HIDDEN, Trinim(size=3, num_players=3)], ids=str)
def test_an_invited_person_has_a_seat_of_their_own(game, table):
    host = table(game, "person", "person", *["random"] * (game.num_players - 2), seed=2)
    guest = table.guest(invite(host, 1))
    until(host, lambda position: position["table"]["others"] == [1] and not position["table"]["absent"])
    assert host.position["seat"] == 0
    assert (guest.position["seat"], guest.position["table"]["others"]) == (1, [0])
    assert [player["name"] for player in guest.position["players"]][:2] == ["Player 1", "You"]
    assert guest.position["legal"] == []
    assert "not your turn" in guest.error("play", move=host.position["legal"][0]["move"])
    host.say("play", move=host.position["legal"][0]["move"])
    assert until_ply(host, 1)["legal"] == []
    assert until_ply(guest, 1)["headline"].startswith("Your move")
    guest.say("play", move=guest.position["legal"][0]["move"])
    assert until(host, lambda position: position["plies"] >= 2)["moves"][1]["player"] == 1


def test_takebacks_and_rematches_need_consent(table):
    host = table(Chameleon(size=4), "person", "person", seed=2)
    guest = table.guest(invite(host, 1))
    host.say("play", move="b2x")
    until_ply(guest, 1), until_ply(host, 1)
    host.say("undo")
    until(host, lambda position: position["table"]["request"] == {"what": "undo", "mine": True})
    until(guest, lambda position: position["table"]["request"] == {"what": "undo", "mine": False})
    assert "nothing was requested of you" in host.error("agree")
    guest.say("decline")
    for person in (host, guest):
        assert until(person, lambda position: not position["table"]["request"])["plies"] == 1
    host.say("undo")
    until(guest, lambda position: position["table"]["request"])
    guest.say("agree")
    until_ply(host, 0), until_ply(guest, 0)
    host.say("play", move="resign")
    until_ply(guest, 1)
    guest.say("rematch", exchange=True)
    until(host, lambda position: position["table"]["request"])
    host.say("agree")
    assert until(host, lambda position: not position["done"])["seat"] == 1
    assert until(guest, lambda position: not position["done"])["seat"] == 0


def test_an_order_that_was_meant_for_the_game_before_is_refused(table):
    """Another board has begun a rematch; the move of this page, which had not heard of it, changes neither game."""
    host = table(Chameleon(size=4), "person", "person", seed=2)
    guest = table.guest(invite(host, 1))
    until(host, lambda position: position["table"]["others"] == [1] and not position["table"]["absent"])
    before, move = host.position["round"], host.position["legal"][0]["move"]
    host.say("rematch", exchange=False)
    until(guest, lambda position: position["table"]["request"])
    guest.say("agree")
    until(guest, lambda position: position["round"] == before + 1)
    host.say("play", move=move, round=before)
    while (message := host.hear())["type"] == "position":
        host.position = message
    assert message["text"] == "another game has begun meanwhile: look at the board, and choose again"
    assert (host.position["round"], host.position["plies"]) == (before + 1, 0)
    host.say("play", move=move, round=before + 1)
    assert until_ply(host, 1)["round"] == before + 1


def test_a_spectator_plays_on_from_a_game_with_hidden_pieces_once_it_is_over(table):
    host = table(HIDDEN, "person", "random", seed=3)
    watching = table.guest(invite(host))
    host.play(host.position["legal"][0]["move"])
    until_ply(watching, 2)
    watching.say("branch", ply=1)
    while (message := watching.hear())["type"] == "position":
        pass
    assert "you only watch" in message["text"]
    host.say("play", move="resign")
    until(watching, lambda position: position["done"])
    watching.say("branch", ply=2)
    assert until(watching, lambda position: not position["done"])["plies"] == 2


def test_a_move_ends_a_request(table):
    host = table(Chameleon(size=4), "person", "person", seed=2)
    guest = table.guest(invite(host, 1))
    host.say("play", move="b2x")
    until_ply(guest, 1)
    host.say("undo")
    until(guest, lambda position: position["table"]["request"])
    guest.say("play", move="c2o")
    assert until_ply(host, 2)["table"]["request"] is None


def test_a_spectator_only_watches(table):
    host = table(HIDDEN, "person", "random", seed=3)
    spectator = table.guest(invite(host))
    assert (spectator.position["table"]["role"], spectator.position["legal"]) == ("watch", [])
    for order in ("undo", "rematch", "invite"):
        assert "only watch" in spectator.error(order)
    assert "not your turn" in spectator.error("play", move=host.position["legal"][0]["move"])
    assert "not your turn" in spectator.error("hint")
    assert "expected a game that is over" in spectator.error("branch", ply=0)


def ask_for_all(person):
    """What the board of somebody who watches says to everything that can be asked."""
    heard = []
    size = len(person.position["cells"])
    for order, rest in [
        ("hint", {}), ("analyse", {}), ("values", {}), ("save", {}), ("undo", {}), ("sit", {}), ("hide", {}),
        ("agree", {}), ("decline", {}), ("rematch", {}), ("pace", {"seconds": 0}), ("look", {"ply": 0}),
        ("look", {"ply": None}), ("rules", {}), ("invite", {"seat": None}), ("invite", {"view": 0}),
        ("invite", {"view": 1}), ("conceal", {"seat": 0}), ("play", {"move": "c1-c2"}),
        *(("explain", {"cells": [cell]}) for cell in range(size)),
        *(("explain", {"cells": [0, cell]}) for cell in range(size)),
    ]:  # fmt: skip
        person.say(order, **rest)
        message = person.hear()
        while message["type"] == "position" and message["thinking"]:
            message = person.hear()
        heard.append((order, message | {"table": None}))
    return heard


def test_nothing_hidden_reaches_other_boards(table):
    """What Light cannot tell apart is the same, to the letter, for Light as a guest and for those who watch.

    Spectators see what all can see, or, with the link that Light alone can give, what Light sees.
    """
    boards = []
    for board in WORLDS:
        dark = table(GAME, "person", "person", seed=1, board=board)
        light = table.guest(invite(dark, 0))
        light.say("invite", view=0)
        watchers = [table.guest(invite(dark)), table.guest(link(light))]
        heard = [light.position, *(watcher.position for watcher in watchers)]
        until(dark, lambda position: not position["table"]["absent"])
        light.say("play", move="c1-c2")
        heard += [until_ply(person, 1) for person in (light, *watchers)]
        until_ply(dark, 1)
        dark.say("play", move="c4-c3")
        heard += [until_ply(person, 2) for person in (light, *watchers)]
        for person in (dark, *watchers):
            catch_up(person)
        answers = [ask_for_all(watcher) for watcher in watchers]
        assert watchers[0].position["svg"] != watchers[1].position["svg"] == light.position["svg"]
        boards.append((dark.position["svg"], answers, [each | {"table": None} for each in heard]))
    assert boards[0][1:] == boards[1][1:]
    assert boards[0][0] != boards[1][0]


def link(person):
    message = person.hear()
    while message["type"] == "position":
        message = person.hear()
    assert message["type"] == "link", message
    return message["address"]


def test_a_side_is_shown_by_its_player_only_and_no_longer_than_they_like(table):
    """Dark's side tells the worlds apart: it is seen with Dark's link, until Dark conceals it."""
    seen = []
    for board in WORLDS:
        dark = table(GAME, "person", "person", seed=1, board=board)
        light = table.guest(invite(dark, 0))
        assert "expected your own seat" in light.error("invite", view=1)
        assert "expected your own seat" in light.error("conceal", seat=1)
        dark.say("invite", view=1)
        address = link(dark)
        watcher, other = table.guest(address), table.guest(invite(light))
        assert until(dark, lambda position: position["table"]["shown"])["table"]["shown"] == [1]
        assert (watcher.position["seat"], watcher.position["legal"]) == (1, [])
        assert watcher.position["svg"] == dark.position["svg"]
        seen.append(watcher.position["svg"])
        dark.say("conceal", seat=1)
        until(watcher, lambda position: position["seat"] == NOBODY)
        assert watcher.position["svg"] == other.position["svg"] != dark.position["svg"]
        assert table.guest(address).position["svg"] == other.position["svg"]
    assert seen[0] != seen[1]


def test_a_shown_side_follows_its_player_to_the_next_game(table):
    dark = table(GAME, "person", "person", seed=1)
    light = table.guest(invite(dark, 0))
    light.say("invite", view=0)
    watcher = table.guest(link(light))
    light.say("play", move="resign")
    for board in (dark, watcher):
        until(board, lambda position: position.get("done"))
    dark.say("rematch", exchange=True)
    until(light, lambda position: position["table"]["request"])
    light.say("agree")
    until(light, lambda position: not position["done"])
    assert until(watcher, lambda position: not position["done"])["seat"] == light.position["seat"] == 1


def test_sides_are_shown_in_games_that_hide_something(table):
    host = table(Chameleon(size=4), "person", "person")
    assert "nothing is hidden in this game" in host.error("invite", view=0)


def test_links_of_other_roles_cannot_be_made(table):
    host = table(HIDDEN, "person", "person", seed=3)
    key, role, code = invite(host).split(".")
    stranger = table(Chameleon(size=3))
    for forged in (f"{key}.here.{code}", f"{key}.0.{code}", f"{key}.1.", f"{key}.1.é", f"{key}.{role}.{code}x", key):
        stranger.say("hello", resume=forged)
        assert "the link is wrong" in stranger.hear("note")["text"]
        stranger.hear("setup"), stranger.settle()


def test_a_room_outlasts_the_server(tmp_path):
    with serving(start(HIDDEN, "person", "person", seed=1), kept=KeptGames(tmp_path)) as port, Tab(port) as host:
        address = invite(host, 1)
        own = host.kept
    with serving(start(Chameleon(size=4)), kept=KeptGames(tmp_path)) as port, Tab(port) as host, Tab(port) as guest:
        for tab, link in ((host, own), (guest, address)):
            tab.say("hello", resume=link)
            tab.hear("setup")
            tab.settle()
        assert (host.position["seat"], guest.position["seat"]) == (0, 1)
        assert guest.position["table"] == {
            "role": "1",
            "request": None,
            "absent": [],
            "others": [0],
            "shown": [],
            "watches": False,
        }


def test_a_board_that_leaves_hands_its_agent_over(table):
    GO.clear()
    one = table(Chameleon(size=5), "person", "tests.board.agents:Waiting", seed=1)
    other = table.guest(one.kept)
    one.say("play", move="b2x")
    until_ply(other, 1)
    one.table.close()
    GO.set()
    assert until_ply(other, 2)["moves"][1]["player"] == 1


def test_the_link_of_a_position_begins_there():
    person = Person(start(Trinim(), "person", "random", seed=3))
    with person:
        board = person.position["board"]
        person.say("new", game="trinim", options=[], players=["person", "person"], board=board, moves="D2 E1")
        assert [each["move"] for each in person.settle()["moves"]] == ["D2", "E1"]
        assert person.position["board"] == board
        assert "expected a text of at most" in person.error("new", game="trinim", moves="a" * 20_000)
    with Person(start(HIDDEN, "person", "random", seed=3)) as person:
        assert (person.position["board"], person.position["linkable"]) == (None, False)
