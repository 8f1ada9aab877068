"""Records are written and read without loss, and replay; what was tampered with does not, at the ply and for the reason
that the error names.
"""

import json
from dataclasses import fields, replace

import numpy as np
import pytest
from pbm_agents import RandomAgent
from pbm_agents.arena import Opening, play_games

from pbm_envs import Chameleon, Curio, Trinim, Unlur, registered_games
from pbm_envs.records import (
    FIELDS,
    FORFEITED,
    RESIGNED,
    UNFINISHED,
    Forfeit,
    GameRecord,
    RecordError,
    append_records,
    make_record,
    read_records,
    replay,
    verify,
)


def games(game, count=4, **options):
    names = [f"random {seat}" for seat in range(game.num_players)]
    agents = {name: RandomAgent() for name in names}
    return play_games(game, agents, [names] * count, [Opening(seed, **options) for seed in range(count)], seed=1)


def record_of(game, text):
    """The record of a game that was played by these moves."""
    start = game.init(1, np.random.default_rng(0))
    end = start.copy()
    for move in text.split():
        game.step(end, [game.string_to_action(move)])
    return make_record(game, start, text.split(), end, agents=("x", "y"))


@pytest.mark.parametrize(
    "game", [kind(**options) for kind in registered_games().values() for options in kind.configurations[:3]], ids=str
)
def test_records_survive_writing_and_replay(game, tmp_path):
    played = games(game)
    path = tmp_path / "games.jsonl"
    append_records(path, played[:1])
    append_records(path, played[1:])
    assert list(read_records(path)) == played
    for record in played:
        *_, end = replay(record)
        assert end["returns"][0].tolist() == list(record.returns)
        assert end["ply"][0] == record.plies == sum(record.turns)
        assert json.loads(record.to_json())["version"]


def test_the_fields_and_their_types_are_the_same_table():
    assert list(FIELDS) == [field.name for field in fields(GameRecord)]


def test_replay_gives_every_position():
    record = record_of(Chameleon(size=3), "b1x swap b2o")
    positions = list(replay(record))
    assert [state["ply"][0] for state in positions] == [0, 1, 2, 3]
    assert record.ending == UNFINISHED
    assert record.board is None


def test_a_record_starts_where_the_game_did():
    """The same positions from the board text as from the seed; opening moves belong to nobody's turns."""
    for game in (Curio(), Trinim(num_players=3)):
        record = games(game, count=1)[0]
        first = next(replay(record))
        assert (first == game.init(1, np.random.default_rng(record.seed))).all()
    given = games(Unlur(radius=4), moves=("c3", "d4", "e4"))[0]
    assert given.opening == 3
    assert sum(given.turns) == given.plies - 3
    verify(given)


GOOD = record_of(Chameleon(size=3), "b1x a3o b2x b3x")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"moves": ("b1x", "a3o", "b1o", "b3x")}, "ply 3: 'b1o' is illegal here"),
        (
            {"moves": ("b1x", "z9", "b2x", "b3x")},
            "ply 2: 'z9' is not a move of Chameleon: expected a cell and a letter",
        ),
        ({"moves": (*GOOD.moves, "c1x")}, "ply 5: 'c1x' comes after the end of the game"),
        ({"moves": GOOD.moves[:3]}, "ply 3, the last: plies by the rules: 3; the record says 4"),
        ({"moves": GOOD.moves[:3], "plies": 3}, r"ply 3, the last: returns by the rules: \(0.0, 0.0\)"),
        ({"returns": (-1.0, 1.0)}, r"returns by the rules: \(1.0, -1.0\); the record says \(-1.0, 1.0\)"),
        ({"ending": "drawn"}, "ending by the rules: 'won'; the record says 'drawn'"),
        ({"turns": (3, 1)}, r"turns by the rules: \(2, 2\)"),
        ({"agents": ("x",)}, "returns are 2: expected 1"),
        ({"agents": ("x",) * 3, "returns": (0.0,) * 3, "turns": ()}, "agents are 3: expected 2"),
        ({"returns": (0.0, 0.0, 0.0)}, "returns are 3: expected 2"),
        ({"board": "x../.../..."}, "ply 0: board is 'x../.../...': expected the empty board"),
        ({"game": "chess"}, "'chess' is not a game of pbm_envs"),
        ({"game": "this:poem"}, "'this:poem' is not a game of pbm_envs"),
        ({"options": {"size": 99}}, "size is 99: expected an integer from 3 to 26"),
        ({"options": {"colour": 1}}, "chameleon has no option 'colour'"),
        ({"forfeits": (Forfeit(4, 1, "slept"),)}, "ply 4: player_1 forfeits and the move is 'b3x': expected 'resign'"),
        ({"forfeits": (Forfeit(9, 1, "slept"),)}, "ply 9: a forfeit, but the game has 4 plies"),
    ],
)
def test_what_was_tampered_with_does_not_replay(changes, message):
    verify(replace(GOOD, turns=(2, 2)))
    with pytest.raises(RecordError, match=message):
        verify(replace(GOOD, **changes))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda line: line[:40], "expected a JSON object"),
        (lambda line: "[1, 2]", "expected a JSON object"),
        (lambda line: line.replace('"schema": 1', '"schema": 2'), "schema is 2: expected 1, which this version reads"),
        (lambda line: line.replace('"plies": 4', '"plies": "4"'), "of a wrong type in a record: plies"),
        (lambda line: line.replace('"moves"', '"moven"'), "wrong type in a record: moves, moven"),
        (lambda line: line.replace('"forfeits": []', '"forfeits": [{"ply": 3}]'), "expected ply, player and reason"),
    ],
)
def test_a_line_that_is_no_record_is_refused(change, message, tmp_path):
    path = tmp_path / "games.jsonl"
    path.write_text(f"{GOOD.to_json()}\n{change(GOOD.to_json())}\n", encoding="utf-8")
    with pytest.raises(RecordError, match=f"games.jsonl, line 2: .*{message}"):
        list(read_records(path))


def test_resigning_and_forfeiting_are_told_apart():
    resigned = record_of(Chameleon(size=3, allow_resign=True), "b1x resign")
    assert resigned.ending == RESIGNED
    assert resigned.returns == (1, -1)
    forfeited = replace(resigned, ending=FORFEITED, forfeits=(Forfeit(2, 1, "slept"),))
    verify(forfeited)
    verify(replace(forfeited, options={"size": 3}))  # a forfeit needs no option
    with pytest.raises(RecordError, match="ply 2: 'resign' is not a move of Chameleon"):
        verify(replace(resigned, options={"size": 3}))
