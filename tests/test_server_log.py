"""Logs of the play-by-mail server become records: every form of command on the help pages, and wrong lines."""

import pytest
from pbm_agents.cli.app import app
from typer.testing import CliRunner

from pbm_envs import Curio, make_game, read_server_log
from pbm_envs.records import read_records, verify
from tests.trinim.test_rulings import HELP_PAGE_GAME
from tests.trinim.test_rulings import PICTURED as TRINIM_BOARD

ANY = {"capture": "any"}
SMALL_BOARD = "D12 . D11/. . ./L22 . L11"


def records_of(tmp_path, text):
    path = tmp_path / "server.log"
    path.write_text(text)
    records = read_server_log(path)
    for record in records:
        verify(record)
    return records


def test_the_game_of_trinims_help_page(tmp_path):
    """Its moves come from two users in turn; a lower-case name of a game and a password are as in the page."""
    moves = HELP_PAGE_GAME.split()
    lines = ["# mails to the server", "trinim challenge fred ted", f"trinim board 12 {TRINIM_BOARD}", ""]
    lines += [f"trinim move 12 {('fred', 'ted')[k % 2]} pw {move}" for k, move in enumerate(moves)]
    [record] = records_of(tmp_path, "\n".join(lines))
    assert (record.agents, record.moves, record.board) == (("fred", "ted"), tuple(moves), TRINIM_BOARD)
    assert (record.returns, record.ending) == ((1.0, -1.0), "won")
    assert "pw" not in record.to_json()


def test_boards_are_told_apart_by_game_number_and_player(tmp_path):
    log = f"""
        chameleon challenge -size=3 ann bob
        chameleon challenge -size=4 cat ann
        unlur challenge -radius=3 ann bob
        curio challenge -base=2 -rows=3 -cols=3 ann bob
        curio board 9 {SMALL_BOARD}
        chameleon move 5 cat pw f1x
        """
    with pytest.raises(ValueError, match="line 7: 'f1x' is not a move of Chameleon: expected a cell and a letter"):
        records_of(tmp_path, log)
    log = (
        log.replace("f1x", "d1x")
        + """
        Chameleon MOVE 4 ann pw a1o
        chameleon move 4 bob pw swap
        unlur move ann pw c3
        unlur move bob pw black
        curio move 9 ann pw a1-a3
        chameleon move 5 ann pw a1x
        chameleon resign 4 ann pw
        """
    )
    small, large, hexagon, curio = records_of(tmp_path, log)
    assert (small.options["size"], small.moves, small.ending) == (3, ("a1o", "swap", "resign"), "resigned")
    assert (large.agents, large.moves, large.ending) == (("cat", "ann"), ("d1x", "a1x"), "unfinished")
    assert hexagon.moves == ("c3", "black")
    assert (curio.board, curio.returns, curio.options["no_capture_limit"]) == (SMALL_BOARD, (1.0, -1.0), None)


@pytest.mark.parametrize(
    ("words", "options"),
    [
        ("-base=3 -no_turn -cols=4", {"base": 3, "turn": False, "cols": 4}),
        ("-turn -limit -face_large -capture_le", {}),
        ("-no_limit -face_random -capture_ge_total", {"limit": False, "face": "random", "capture": "ge_total"}),
        ("-rows=8 -num_pieces=20 -face_small -capture_any", {"rows": 8, "num_pieces": 20, "face": "small"} | ANY),
    ],
)
def test_the_options_of_curio(tmp_path, words, options):
    """C1: all those of the help page"""
    game = Curio(**options, no_capture_limit=None)
    rows, cols = game.board.shape
    board = "/".join([" ".join(["D11"] * cols), *[" ".join("." * cols)] * (rows - 2), " ".join(["L11"] * cols)])
    [record] = records_of(tmp_path, f"curio challenge {words} fred ted\ncurio board 1 {board}")
    assert record.rules() == game
    assert record.rules() == make_game("curio", **record.options)


@pytest.mark.parametrize(
    ("log", "message"),
    [
        ("hex challenge a b", "line 1: 'hex' is not a game of the server: expected one of chameleon, "),
        ("trinim", "line 1: '' is not a command: expected 'trinim' and one of challenge, board, move, resign"),
        ("trinim chat a b", "line 1: 'chat' is not a command"),
        ("trinim challenge a", r"1 players: expected 'trinim challenge \[options\] userid1 userid2 \[userid3\]'"),
        ("unlur challenge a b c", r"3 players: expected 'unlur challenge \[options\] userid1 userid2'"),
        ("unlur challenge a a", "2 players: expected"),
        ("curio challenge -bases=3 a b", "'-bases=3' is not an option of curio: expected -base=number, -rows=number"),
        ("curio challenge -base=x a b", "'-base=x' is not an option of curio"),
        ("curio challenge -base a b", "'-base' is not an option of curio"),
        ("unlur challenge -turn a b", "'-turn' is not an option of unlur: expected -radius=number$"),
        ("chameleon challenge -size=2 a b", "line 1: size is 2: expected an integer from 3 to 26"),
        ("\nchameleon move 3 a pw a1x", "line 2: board 3 has no challenge before it that names a"),
        ("chameleon move a pw a1x", "line 1: a fits 0 boards of chameleon: expected a board# here"),
        ("unlur challenge a b\nunlur challenge a c\nunlur move a pw c4", "line 3: a fits 2 boards of unlur"),
        ("unlur challenge a b\nunlur move 3 a c4", r"2 words after the board#: expected 'unlur move \[board#\]"),
        ("unlur challenge a b\nunlur move 3 b pw c4", "line 2: 'c4' of b: expected a move of a, the player to move"),
        ("unlur challenge a b\nunlur move 3 a pw a1", "line 2: 'a1' is illegal here: expected one of 62"),
        ("trinim challenge a b", "line 1: the server drew the board of this game, .* 'trinim board board# TEXT'"),
        ("trinim challenge a b\ntrinim board 3 rgb", "line 1: board is 'rgb': expected 5 rows"),
        (
            "chameleon challenge -size=3 a b\nchameleon resign 1 a pw\nchameleon move 1 b pw a1x",
            "line 3: 'a1x' comes after the end of the game",
        ),
    ],
)
def test_a_wrong_line_is_named_with_the_form(tmp_path, log, message):
    with pytest.raises(ValueError, match=message):
        records_of(tmp_path, log)


def test_pbm_replay_reads_logs_and_writes_records(tmp_path):
    log, games = tmp_path / "server.log", tmp_path / "games.jsonl"
    log.write_text("unlur challenge -radius=3 ann bob\nunlur move 7 ann pw c3\nunlur move 7 bob pw black\n")
    result = CliRunner().invoke(app, ["replay", str(log), "--write", str(games)])
    assert (result.exit_code, result.output.splitlines()[0]) == (0, "1 of 1 games replay")
    assert list(read_records(games)) == read_server_log(log)
    assert "player_1: bob" in CliRunner().invoke(app, ["replay", str(log), "--show", "1"]).output
    assert CliRunner().invoke(app, ["replay", str(log), "--write", str(games)]).exit_code == 2
