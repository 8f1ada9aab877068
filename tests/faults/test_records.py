"""Records damaged in whatever way: a line is a record, or RecordError; a record replays, or RecordError."""

import json
import math
import warnings
from functools import cache

import pytest
from hypothesis import strategies as st
from pbm_agents import RandomAgent
from pbm_agents.arena import Opening, play_games
from pbm_agents.cli.app import app
from typer.testing import CliRunner

from pbm_envs import Chameleon, Curio, Trinim, Unlur
from pbm_envs.records import FIELDS, GameRecord, RecordError, append_records, read_records, verify
from tests.faults.every import every, few_and_many, one_line


class Leaves(RandomAgent):
    """Forfeits at ply 3."""

    def act(self, game, views, rng):
        return super().act(game, views, rng) - (1000 if (views["ply"] == 2).any() else 0)


@cache
def good():
    """A record of each game, one of three players, one with a forfeit."""
    small = Curio(base=2, rows=4, cols=3, no_capture_limit=6)
    records = []
    for game in (Chameleon(size=3), small, Trinim(num_players=3), Unlur(radius=3)):
        agents = {"random": RandomAgent(), "leaves é": Leaves() if game.name == "unlur" else RandomAgent()}
        seats = [
            ["random", "leaves é", "random"][: game.num_players],
            ["leaves é", "random", "random"][: game.num_players],
        ]
        records += play_games(game, agents, seats, [Opening(3, moves=()), Opening(4)], seed=1)
    assert any(record.forfeits for record in records)
    return records


NUMBERS = st.sampled_from([-1, 0, 1, 2, 3, 0.5, -0.5, 1.0, 2**31, 2**63, 10**30, 1e308, math.nan, math.inf, -math.inf])
TEXTS = st.sampled_from(["", "x", "a1x", "resign", "swap", "won", "random", "curio", "\n", "\ud800", "é", "z" * 3000])
SCALARS = st.none() | st.booleans() | NUMBERS | TEXTS
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=3), max_leaves=8
)
NAMES = st.sampled_from([*FIELDS, "colour", "size", "self", "name", ""])


@st.composite
def damaged(draw):
    """A line: a record in which some values have been exchanged, left out, added; then some of its characters."""
    record = draw(st.sampled_from(good()))
    fields = json.loads(record.to_json())
    for kind in draw(st.lists(st.sampled_from(["set", "drop", "swap", "inside", "options", "bool"]), max_size=3)):
        name, other = draw(NAMES), draw(NAMES)
        if kind == "set":
            fields[name] = draw(VALUES)
        elif kind == "drop":
            fields.pop(name, None)
        elif kind == "swap":
            fields[name], fields[other] = fields.get(other), fields.get(name)
        elif kind == "options" and isinstance(fields.get("options"), dict):
            fields["options"][draw(st.sampled_from([*fields["options"], "size", "name", "self"]))] = draw(VALUES)
        elif kind == "bool":
            fields[name] = draw(st.booleans())
        elif fields.get(name) and isinstance(fields[name], list):
            k = draw(st.integers(0, len(fields[name]) - 1))
            fields[name][k : k + draw(st.integers(0, 2))] = draw(st.lists(VALUES, max_size=2))
    line = json.dumps(fields, ensure_ascii=draw(st.booleans()))
    for at, text in draw(
        st.lists(st.tuples(st.integers(0, 5000), st.sampled_from(["", '"', "]", "{", ",", "9" * 400])), max_size=2)
    ):
        k = at % (len(line) + 1)
        line = line[:k] + text + line[k + 1 :]
    return line


@few_and_many(100, 1000)
def test_damaged_lines(examples):
    def check(line):
        try:
            record = GameRecord.from_json(line)
        except RecordError as error:
            one_line(error)
            return
        assert GameRecord.from_json(record.to_json()) == record
        try:
            verify(record)
        except RecordError as error:
            one_line(error)
        else:
            assert record.plies == len(record.moves)

    every(damaged(), examples, check)


@few_and_many(5, 37)
def test_damaged_files_on_the_command_line(examples, tmp_path):
    """`pbm replay`, `pbm rate`: tables, or a line that says what is wrong, and no traceback."""
    path = tmp_path / "games.jsonl"

    def check(line):
        whole = "".join(record.to_json() + "\n" for record in good()[:2])
        path.write_bytes(whole.encode() + line.encode(errors="surrogatepass") + b"\n")
        for words in (["replay", path], ["replay", path, "--show", 3], ["rate", path]):
            result = CliRunner().invoke(app, [str(word) for word in words])
            assert result.exception is None or isinstance(result.exception, SystemExit), repr(result.exception)
            assert result.exit_code in (0, 1, 2)
            if result.exit_code == 2:
                one_line(result.stderr)
                assert result.stderr.startswith("pbm: ")
            if words[:1] == ["replay"] and len(words) == 2:
                assert "of 3 games replay" in result.stdout
                assert (result.exit_code == 0) == ("3 of 3" in result.stdout)

    every(damaged(), examples, check)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("[" * 100_000, "expected a JSON object .*recursion"),
        ('{"a":' * 100_000, "expected a JSON object .*recursion"),
        ("1" * 5000, "expected a JSON object .*digits"),
        ('{"schema": true}', "schema"),
        ("\ufeff{}", "expected a JSON object .*BOM"),
        ("\0", "expected a JSON object"),
    ],
    ids=lambda value: value[:10],
)
def test_lines_that_break_readers(line, message):
    with pytest.raises(RecordError, match=message) as caught:
        GameRecord.from_json(line)
    one_line(caught.value)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("returns", [math.nan, 1.0], "NaN is not a number of JSON"),
        ("returns", [3, -3], r"returns: \[3, -3\]: expected -1 to 1"),
        ("returns", [1], "returns are 1: expected 2"),
        ("seconds", [math.inf, 0], "Infinity is not a number of JSON"),
        ("turns", [True, False], "of a wrong type in a record: turns"),
        ("plies", True, "of a wrong type in a record: plies"),
        ("plies", 10**400, "plies: 1000.*: expected 0 to"),
        ("options", {"size": [3]}, "of a wrong type in a record: options"),
        ("seed", -1, "seed is -1: expected an integer from 0 up"),
        ("ending", "won?", "ending is 'won[?]': expected one of won, drawn"),
        ("forfeits", [{"ply": "2", "player": 0, "reason": ""}], "forfeits hold .*: expected ply, player and reason"),
        ("forfeits", [{"ply": 2, "player": 2, "reason": ""}], "forfeits hold .*: expected ply, player and reason"),
    ],
)
def test_values_that_no_game_has(name, value, message):
    fields = json.loads(good()[0].to_json())
    with pytest.raises(RecordError, match=message):
        GameRecord.from_json(json.dumps(fields | {name: value}))


def test_a_file_cut_anywhere(tmp_path):
    """Every finished line is read, a torn one left out with a warning, and what is added later is not lost either."""
    path, records = tmp_path / "games.jsonl", good()[:3]
    lines = [record.to_json().encode() for record in records]
    whole = b"\n".join(lines) + b"\n"
    ends = [len(line) for line in (b"", lines[0], lines[0] + lines[1] + b" ", whole[:-1])]
    for cut in sorted({*ends, *(end + 1 for end in ends), *(end - 1 for end in ends[1:]), *range(0, len(whole), 23)}):
        path.write_bytes(whole[:cut])
        *_, tail = pieces = whole[:cut].split(b"\n")
        torn = tail not in (b"", *lines)
        finished = [record for record, line in zip(records, lines, strict=True) if line in pieces]
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            assert list(read_records(path)) == finished
        assert [str(one.message) for one in said] == [
            f"{path}, line {len(finished) + 1}, the last, is cut short: it is left out"
        ] * torn
        append_records(path, records[:1])
        left = [line for line in path.read_bytes().splitlines() if not torn or line != tail]
        assert [GameRecord.from_json(line.decode()) for line in left] == [*finished, records[0]]


def test_a_file_in_another_encoding_is_named(tmp_path):
    path = tmp_path / "games.jsonl"
    path.write_bytes(good()[0].to_json().encode() + b"\n" + good()[1].to_json().encode("utf-16") + b"\n")
    with pytest.raises(RecordError, match=r"games.jsonl, line 2: .*utf-8"):
        list(read_records(path))


def test_records_share_their_texts():
    """A hundred thousand records of one tournament hold each move and each name once."""
    one, other = (GameRecord.from_json(good()[0].to_json()) for _ in range(2))
    assert one.moves
    assert all(
        a is b for name in ("moves", "agents") for a, b in zip(getattr(one, name), getattr(other, name), strict=True)
    )
