"""Games that a browser keeps: nobody but this machine reads or changes them, and they go on."""

import base64
import json
import os
import stat

import pytest
from pbm_agents.play import sealed
from pbm_agents.play.sealed import BLOCK, seal, unseal

from pbm_envs import Chameleon, Curio
from tests.board.boards import Person, start

CONTENT = {"board": "D12 D34", "moves": ["a1-a2", "b1-b2"]}


@pytest.fixture(autouse=True)
def own_key(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    sealed._key.cache_clear()
    yield
    sealed._key.cache_clear()


def test_what_was_sealed_comes_back_and_never_looks_the_same():
    one, other = seal(CONTENT), seal(CONTENT)
    assert unseal(one) == unseal(other) == CONTENT
    assert one != other
    assert b"D12" not in base64.urlsafe_b64decode(one)


def test_the_length_tells_nothing_of_short_differences():
    assert len(seal({"board": "D12"})) == len(seal({"board": "D12 D34 D11"}))
    packed = base64.urlsafe_b64decode(seal({"board": "x" * BLOCK}))
    assert len(packed) == sealed.NONCE_BYTES + 2 * BLOCK + sealed.TAG_BYTES


def test_every_changed_byte_is_noticed():
    packed = bytearray(base64.urlsafe_b64decode(seal(CONTENT)))
    for k in range(len(packed)):
        packed[k] ^= 1
        with pytest.raises(ValueError, match="cannot be read"):
            unseal(base64.urlsafe_b64encode(packed).decode())
        packed[k] ^= 1
    assert unseal(base64.urlsafe_b64encode(packed).decode()) == CONTENT


@pytest.mark.parametrize("token", ["", "abc", "é", "A" * 400, json.dumps(CONTENT)])
def test_other_texts_are_refused(token):
    with pytest.raises(ValueError, match="cannot be read"):
        unseal(token)


def test_another_key_reads_nothing(tmp_path, monkeypatch):
    token = seal(CONTENT)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "other"))
    sealed._key.cache_clear()
    with pytest.raises(ValueError, match="cannot be read"):
        unseal(token)


@pytest.mark.skipif(os.name != "posix", reason="needs modes of files")
def test_the_key_is_for_its_owner_and_lasts():
    token = seal(CONTENT)
    assert stat.S_IMODE(sealed.key_file().stat().st_mode) == 0o600
    sealed._key.cache_clear()
    assert unseal(token) == CONTENT
    assert [path.name for path in sealed.key_file().parent.iterdir()] == ["boards.key"]


def test_without_a_place_for_the_key_games_last_as_long_as_the_program(tmp_path, monkeypatch, caplog):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    sealed._key.cache_clear()
    assert unseal(seal(CONTENT)) == CONTENT
    assert "games are not kept over a restart" in caplog.text


def test_a_game_goes_on_elsewhere_with_all_that_was_hidden():
    game = Curio(base=2, rows=4, cols=3)
    with Person(start(game, "person", "random", seed=3)) as person:
        position = person.play(person.position["legal"][0]["move"])
        record, token = person.table.record, person.kept
    with Person(start(Chameleon(size=3))) as other:
        other.say("hello", resume=token)
        other.hear("setup")
        assert other.settle() == position
        assert other.table.record == record
        assert other.play(position["legal"][0]["move"])["plies"] == 4


def test_a_game_in_which_somebody_resigned_goes_on():
    with Person(start(Chameleon(size=3), "person", "random")) as person:
        over, token = person.play("resign"), person.kept
    with Person(start(Chameleon(size=3))) as other:
        other.say("hello", resume=token)
        other.hear("setup")
        assert other.settle() == over


def test_a_game_that_cannot_go_on_is_left_with_a_word():
    with Person(start(Chameleon(size=3))) as person:
        for token in ("nonsense", seal({"game": "chess"}), seal({})):
            person.say("hello", resume=token)
            assert "The game before cannot go on" in person.hear("note")["text"]
            person.hear("setup")
            assert person.settle() == person.position


def test_a_page_cannot_bring_an_agent_that_may_not_play_here():
    with Person(start(Chameleon(size=3), "person", "tests.cli.agents:Crash")) as person:
        token = person.kept
    with Person(start(Chameleon(size=3)), ()) as other:
        other.say("hello", resume=token)
        assert "may not be chosen here" in other.hear("note")["text"]
