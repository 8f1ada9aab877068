"""`pbm tournament`, `pbm rate` and `pbm replay`, as typed."""

import re
import shutil

import pytest

from tests.commands import pbm

COMMAND = "-g chameleon:size=3 -g trinim:num_players=3 -a random -a tests.arena.agents:First --openings 3".split()


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    folder = tmp_path_factory.mktemp("commands") / "results"
    code, out, err = pbm("tournament", folder, *COMMAND)
    assert code == 0
    assert "24/24" in err
    return folder, out


def test_a_tournament_ends_with_its_tables(played):
    _, out = played
    for title in ("chameleon:size=3: 6 games", "trinim:num_players=3: 18 games", "all games: 24 games"):
        assert title in out
    assert "95% interval" in out
    assert "score in % against" in out


@pytest.mark.parametrize(
    ("words", "stops"),
    [
        ("sprt random mcts -g trinim", "pbm_agents.arena.play_sprt"),
        ("ladder random -g trinim", "pbm_agents.arena.rate_on_ladder"),
        ("dataset trinim -a random", "pbm_agents.cli.records.make_games"),
    ],
)
def test_ctrl_c_says_how_to_resume(words, stops, tmp_path, monkeypatch):
    def stop(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(stops, stop)
    code, _, err = pbm(*words.split(), "--out", tmp_path / "results")
    assert (code, err) == (130, "\npbm: what has been played is kept; the same command resumes it\n")


def test_rating_shows_them_again_and_writes_them(played, tmp_path):
    folder, out = played
    assert pbm("rate", folder)[1] == out
    assert pbm("rate", folder / "games.jsonl")[1] == out
    code, out, _ = pbm("rate", folder, "--anchor", "random", "--out", tmp_path / "written")
    assert code == 0
    names = {path.name for path in (tmp_path / "written").iterdir()}
    assert names > {"ratings.csv", "head_to_head.csv", "ratings-all-games.svg", "head-to-head-chameleon-size-3.png"}
    assert len(names) == 2 + 3 * 2 * 2
    assert all(name in out for name in names)


def test_replaying_counts_the_games(played):
    code, out, _ = pbm("replay", played[0])
    assert (code, out.splitlines()[0]) == (0, "24 of 24 games replay")


def test_replaying_names_line_ply_and_reason(played, tmp_path):
    lines = (played[0] / "games.jsonl").read_text().splitlines()
    lines[1] = lines[1].replace('"moves": ["', '"moves": ["z9x", "')
    lines[2] = lines[2].replace('"returns": [', '"returns": [0.5, ')
    path = tmp_path / "tampered.jsonl"
    path.write_text("\n".join([*lines[:4], "nonsense"]) + "\n")
    code, out, _ = pbm("replay", path)
    assert code == 1
    assert f"{path}, line 2: ply 1: 'z9x' is not a move of Chameleon" in out
    assert f"{path}, line 3: returns are 3: expected 2" in out
    assert f"{path}, line 5: 'nonsense' is not a record: expected a JSON object" in out
    assert out.endswith("2 of 5 games replay\n")


def test_a_game_is_shown_move_by_move(played):
    _, out, _ = pbm("replay", played[0], "--show", 1)
    assert re.match(r"Chameleon\(size=3, swap_rule=True, allow_resign=False\), seed \d+\nplayer_0: random\n", out)
    assert "\n1. player_0: " in out
    assert "\n2. player_1: " in out
    assert out.rstrip().splitlines()[-1].startswith("won: player_0 ")
    _, one, _ = pbm("replay", played[0], "--show", 1, "--ply", 2, "--seen-by", 1)
    assert "\n2. player_1: " in one
    assert "\n1. player_0: " not in one


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["rate", "nowhere"], "'nowhere' is not there: expected a file of records, or the folder of a tournament"),
        (["replay", "nowhere"], "'nowhere' is not there: expected a file of records, or the folder of a tournament"),
        (["rate", "{folder}", "--anchor", "z"], "anchor is 'z': expected one of random, tests.arena.agents:First"),
        (["replay", "{folder}", "--show", "99"], "has 24 lines: there is no game in line 99"),
        (["replay", "{folder}", "--ply", "9"], "--ply, --seen-by and --names need --show"),
        (["replay", "{folder}", "--show", "1", "--ply", "99"], "--ply 99: the game has"),
        (["replay", "{folder}", "--show", "1", "--seen-by", "2"], "--seen-by 2: expected 0..1"),
        (["tournament", "{folder}", *COMMAND, "--seed", "1"], "holds another tournament: seed 0 there and 1 here"),
        (["tournament", "{new}", *COMMAND, "--workers", "0"], "workers is 0: expected an integer from 1 up"),
        (["tournament", "{new}", *COMMAND, "-g", "hex"], "'hex' is not a game of pbm_envs"),
        (["tournament", "{new}", *COMMAND, "-a", "sage"], "'sage' is not an agent"),
        (["tournament", "{new}", "-g", "trinim:size=4", "-a", "random", "-a", "mcts"], "size is 4"),
    ],
)
def test_errors_are_one_line(played, tmp_path, words, message):
    code, out, err = pbm(*(word.format(folder=played[0], new=tmp_path / "new") for word in words))
    assert code == 2
    assert out == ""
    assert err.startswith("pbm: ")
    assert message in err
    assert len(err.splitlines()) == 1
    assert not (tmp_path / "new").exists()


def test_a_tournament_in_progress_can_be_rated(played, tmp_path):
    """What stands after the last end of line is still being written."""
    shutil.copytree(played[0], tmp_path / "half")
    whole = (played[0] / "games.jsonl").read_bytes()
    (tmp_path / "half" / "games.jsonl").write_bytes(whole[: len(whole) // 2])
    code, out, _ = pbm("rate", tmp_path / "half")
    assert code == 0
    assert "games; by seat" in out
