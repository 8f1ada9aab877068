"""`pbm play`, typed through a pipe: `pbm(words, lines)` gives exit code, stdout and stderr."""

import re

import pytest
from pbm_agents.cli.app import app
from pbm_agents.cli.boards import play
from typer.testing import CliRunner

from pbm_envs import Chameleon
from pbm_envs.records import read_records, replay, verify

CURIO = ["play", "curio", "person", "person", "-o", "base=2", "-o", "rows=4", "-o", "cols=3", "--board"]
SHELF = "D12 D11 D22/. . ./. . ./L21 L22 L11"
"""The example of the rules."""


def pbm(words, *lines):
    result = CliRunner().invoke(app, words.split() if isinstance(words, str) else words, input="".join(lines))
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert "\x1b" not in result.output
    return result.exit_code, result.stdout, result.stderr


def typed(moves):
    return "".join(f"{move}\n" for move in moves.split())


def test_a_whole_game_of_two_persons(tmp_path):
    """H3: the last move completes chains for both, and the mover wins."""
    file = tmp_path / "games.jsonl"
    moves = "b1x b3x a2x c2x b2x"
    code, out, err = pbm(f"play chameleon person person -o size=3 --seed 5 --save {file}", typed(moves))
    assert (code, err) == (0, "")
    assert "ply 5, last move b2x - player_0 (Vert) has won" in out
    [record] = read_records(file)
    assert (record.moves, record.ending, record.seed) == (tuple(moves.split()), "won", 5)
    assert record.agents == ("person", "person")
    verify(record)


def test_wrong_moves_say_what_is_expected_and_the_game_goes_on():
    _, out, _ = pbm("play chameleon person person -o size=3", typed("z9z b2x B2X c2o"), "b2 x\n")
    assert "'z9z' is not a move of Chameleon: expected a cell and a letter such as 'c2x' or 'swap'" in out
    assert "'b2x' is illegal here: expected one of a1x, a1o" in out
    assert "'b2 x' is not a move of Chameleon" in out
    assert out.count("player_0 (Vert) to move") == 2
    assert "ply 2, last move c2o" in out


def test_the_agent_answers_and_the_same_seed_plays_the_same_game():
    games = [pbm("play trinim person random --seed 3", typed("E1"))[1] for _ in range(2)]
    assert "\nplayer_1 (random): " in games[0]
    assert "ply 2, last move" in games[0]
    assert games[0] == games[1]


def test_hints_do_not_change_the_game():
    without = pbm("play trinim person random --seed 3 --hint random", typed("E1"))[1]
    hinted = pbm("play trinim person random --seed 3 --hint random", typed("hint E1"))[1]
    assert hinted[hinted.index("\nplayer_1 (") :] == without[without.index("\nplayer_1 (") :]


def test_a_search_hints_at_the_win():
    start = ["play", "chameleon", "person", "person", "-o", "size=3", "--moves", "a1x c1o a3x b1o"]
    assert "player_0> hint\na2x\n" in pbm(start, "hint\n")[1]


def test_legal_moves_and_help_are_listed():
    _, out, _ = pbm("play chameleon person person -o size=3", typed("a1x moves help"))
    assert "a1o" not in out
    assert "b1x b1o" in out
    assert "swap" in out
    assert "undo" in out


def test_the_rules_are_told_in_short_and_in_full():
    game = Chameleon(size=3)
    short, _ = pbm("play chameleon person person -o size=3", "rules\n")[1].split("\nThe game is left.")
    assert game.wording.summary in short
    assert game.wording.geometry in short
    assert game.rules_page() not in short
    assert game.rules_page() in pbm("play chameleon person person -o size=3", "rules all\n")[1]


def test_nothing_more_to_read_ends_the_game_politely(tmp_path):
    file = tmp_path / "games.jsonl"
    code, out, err = pbm(f"play unlur -o radius=3 --save {file}", "")
    assert (code, err) == (0, "")
    assert "The game is left." in out
    assert next(read_records(file)).ending == "unfinished"
    assert pbm("play unlur -o radius=3", "quit\nb2\n")[1].count("to move") == 1


def test_saving_in_the_middle_appends(tmp_path):
    file = tmp_path / "games.jsonl"
    lines = f"b2x\nsave {file}\nc2x\nsave {file}\n"
    _, out, _ = pbm("play chameleon person person -o size=3", lines, f"save\nsave {tmp_path}\n")
    assert [record.plies for record in read_records(file)] == [1, 2]
    assert "expected a file, such as 'save games.jsonl'" in out
    assert f"'{tmp_path}' cannot be written: expected a file in a folder that exists" in out


def test_everyone_may_resign_and_three_go_on(tmp_path):
    file = tmp_path / "games.jsonl"
    command = f"play trinim person random random -o num_players=3 -o size=3 --seed 1 --save {file}"
    _, out, _ = pbm(command, typed("resign"))
    [record] = read_records(file)
    assert record.moves[0] == "resign"
    assert record.plies > 2
    assert record.returns[0] == -0.5
    assert record.forfeits[0].reason == "resigned"
    assert "over> " in out
    verify(record)


def test_resigning_is_a_move_where_the_game_has_it(tmp_path):
    file = tmp_path / "games.jsonl"
    pbm(f"play chameleon person random -o allow_resign=yes --save {file}", typed("resign"))
    [record] = read_records(file)
    assert (record.ending, record.returns, record.forfeits) == ("resigned", (-1, 1), ())


def test_undo_takes_back_ones_own_move_and_the_answer(tmp_path):
    file = tmp_path / "games.jsonl"
    lines = "undo\nb2x\nundo\nresign\nundo\na1x\nundo\nc3o\n"
    _, out, _ = pbm(f"play chameleon person random -o size=3 --seed 2 --save {file}", lines)
    assert "there is no move of yours to take back" in out
    assert "taken back: b2x " in out
    assert "taken back: resign\n" in out
    [record] = read_records(file)
    assert record.moves[0] == "c3o"
    assert len(record.moves) == 2
    assert record.forfeits == ()
    verify(record)


def test_undo_where_nothing_has_become_known():
    """Every piece may go one cell, so Dark has learned nothing."""
    _, out, _ = pbm([*CURIO, SHELF], typed("c1-c2 undo"))
    assert "taken back: c1-c2" in out


def test_no_undo_where_something_has_become_known():
    """C15: a piece that goes two cells shows its owner a 2; and Light sees what has taken."""
    _, out, _ = pbm([*CURIO, SHELF], typed("a1-a3 undo a4-a3 undo"))
    assert "no undo: since then something hidden has become known to Player 2" in out
    assert "no undo: since then something hidden has become known to Player 1" in out
    assert "taken back" not in out


def test_no_undo_after_the_end_which_shows_everything():
    _, out, _ = pbm([*CURIO, SHELF], typed("a1-a3 a4-a3 b1-b3 c4-b3 undo"))
    assert "player_1 (Dark) has won" in out
    assert "no undo: the game is over and everything has been shown" in out


def test_what_is_hidden_is_not_shown():
    """Two boards that Light cannot tell apart, and their own sides."""
    boards = ["D12 D11 D22/. . ./. . ./L21 L22 L11", "D11 D12 D22/. . ./. . ./L21 L22 L11"]
    first, second = (pbm([*CURIO, board, "--seed", "1"], "moves\n")[1] for board in boards)
    assert first == second
    other = pbm([*CURIO, "D12 D11 D22/. . ./. . ./L11 L22 L21", "--seed", "1"], "moves\n")[1]
    assert other != first


def test_persons_who_hide_something_are_separated():
    _, out, _ = pbm([*CURIO, SHELF], typed("c1-c2"))
    light, dark = out.split("-" * 40 + " player_")[1:]
    assert light.startswith("0\n")
    assert dark.startswith("1\n")
    assert light.split("ply")[0] != dark.split("ply")[0]


def test_agents_play_for_people_to_watch():
    code, out, _ = pbm("play unlur random mcts:simulations=20 -o radius=3 --seed 1")
    assert code == 0
    assert "player_1 (mcts:simulations=20): " in out
    assert "has won" in out.splitlines()[-2]
    assert "> " not in out


def test_an_agent_that_fails_forfeits():
    _, out, _ = pbm("play chameleon person tests.cli.agents:Crash", typed("b2x"))
    assert "player_1 (tests.cli.agents:Crash): nothing and forfeits: RuntimeError: lost my way" in out
    assert "player_0 (Vert) has won" in out
    _, out, _ = pbm("play chameleon person random --hint tests.cli.agents:Crash", typed("hint"))
    assert "no hint: RuntimeError: lost my way" in out


def test_saved_games_start_where_they_started(tmp_path):
    """From a board, after moves, by persons and agents."""
    file = tmp_path / "games.jsonl"
    command = ["play", "trinim", "person", "random", "--board", "b/bb/bgr/grgg/rbgrr", "--moves", "D4-D2 A5"]
    pbm([*command, "--save", str(file)], typed("B5-C5"))
    [record] = read_records(file)
    assert record.moves[:3] == ("D4-D2", "A5", "B5-C5")
    assert record.opening == 2
    assert len(list(replay(record))) == record.plies + 1


@pytest.mark.parametrize("example", re.findall(r" (pbm play (?:(?!--pause).)+)\n", play.__doc__))
def test_the_examples_of_the_help_run(example):
    code, out, err = pbm(example.split()[1:])
    assert (code, err) == (0, "")
    assert "The game is left." in out
