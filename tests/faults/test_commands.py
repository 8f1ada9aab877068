"""Command lines of any words, and whatever is typed into a game: what was asked for, or one line that says what is
wrong and exit code 2; never a traceback, never a wait for something that does not come.
"""

import shutil

import pytest
from hypothesis import strategies as st
from pbm_agents.arena import Tournament, play_tournament
from pbm_agents.cli.app import app
from typer.main import get_command
from typer.testing import CliRunner

from pbm_envs import Chameleon
from tests.faults.every import every, few_and_many, one_line

ENDLESS = {"serve"}
"""Runs until it is interrupted."""
COMMANDS = {name: command for name, command in get_command(app).commands.items() if name not in ENDLESS}
INTEGERS = ["-1", "0", "1", "2", "3", "x", "", "1.5", "nan", "9" * 25, "9" * 5000]
PATHS = ["{folder}", "{folder}/games.jsonl", "{folder}/nothing", "{file}", "{file}/in", "new", "new/er", "", ".", "é\0"]
GAMES = ["chameleon", "chameleon:size=3", "trinim:num_players=3", "curio:base=2,rows=4,cols=3", "unlur:radius=3"]
GAMES += ["hex", "", ":", "chameleon:size=99", "chameleon:size", "curio:base=", "trinim:size=4", "chameleon:self=1"]
AGENTS = [*"random mcts:simulations=3 tests.arena.agents:First tests.faults.faulty:Raises person sage".split(), ""]
OPTIONS = [*"size=3 size=99 size=x = size swap_rule=no allow-resign=on base=2 self=1".split(), "\ud800=1"]
MOVES = ["", "b2x", "b2x swap", "b2x b2x", "?", "b2x " * 300, "pass", "a1-a3", "\0"]
BOARDS = ["", "x", "b/bb/bgr/grgg/rbgrr", ".../.../...", "D12 D11 D22/. . ./. . ./L21 L22 L11", "/" * 500]
VALUES = {
    "--game": GAMES,
    "--agent": AGENTS,
    "--anchor": AGENTS,
    "--hint": AGENTS,
    "--option": OPTIONS,
    "--moves": MOVES,
    "--board": BOARDS,
    "--form": ["round-robin", "gauntlet", "pairs", "swiss", ""],
    "--out": PATHS,
    "--save": PATHS,
    "--openings": ["-1", "0", "1", "x", "9" * 25],
    "--opening-moves": ["-1", "0", "1", "3", "1000", "x", "9" * 25],
    "--workers": ["-1", "0", "1", "x"],
    "--seconds": ["0", "-1", "x", "nan", "inf", "1e300", ""],
    "--pause": ["0", "-1", "x", "nan", "inf", "1e300", ""],
}
LINES = [*"b2x swap b3o a1-a2 c4 black ?".split(), "", " ", *"board moves help undo resign".split(), "\0", "é" * 99]
LINES += ["save", "save new.jsonl", "save {folder}", "save /nowhere/x", "save \0", "undo undo", "quit", "HINT", "hint"]


@st.composite
def lines(draw):
    """The words of a command line, and what is typed into it."""
    name = draw(st.sampled_from(sorted(COMMANDS)))
    flags = {max(p.opts, key=len): p for p in COMMANDS[name].params if p.param_type_name == "option"}
    flags.pop("--ray", None)  # another program's
    words = [name]
    named = GAMES[:6] if name in ("play", "games", "bench") else PATHS
    words += draw(st.lists(st.sampled_from(named), min_size=0, max_size=2 if name == "rate" else 1))
    if name == "play":
        words += draw(st.lists(st.sampled_from(AGENTS), max_size=3))
    if name == "tournament" and draw(st.booleans()):  # else hardly one would be played
        words += [
            "-g",
            draw(st.sampled_from(GAMES[1:5])),
            *"-a random -a tests.arena.agents:First --openings=1".split(),
        ]
    for _ in range(draw(st.integers(0, 4))):
        flag = draw(st.sampled_from([*flags, "--nonsense"]))
        value = draw(st.sampled_from(VALUES.get(flag, INTEGERS)))
        words += draw(st.sampled_from([[flag, value], [f"{flag}={value}"], [flag], [value]]))
    if name == "bench":
        words += ["--seconds", "0"] if "--seconds" not in " ".join(words) else []
    return words, draw(st.lists(st.sampled_from(LINES), max_size=12))


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    folder = tmp_path_factory.mktemp("commands") / "played"
    play_tournament(Tournament((Chameleon(size=3),), ("random", "tests.arena.agents:First"), openings=1), folder)
    return folder


@few_and_many(15, 100)
@pytest.mark.filterwarnings("ignore:every two-player game of Trinim")  # T7
def test_any_words(played, examples, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "file"
    file.write_text("no record\n")

    def check(given):
        words, typed = given
        folder = shutil.copytree(played, tmp_path / "folder", dirs_exist_ok=True)
        known = {"{folder}": str(folder), "{file}": str(file)}
        for name, value in known.items():
            words, typed = [w.replace(name, value) for w in words], [t.replace(name, value) for t in typed]
        result = CliRunner().invoke(app, words, input="\n".join(typed) + "\n")
        assert result.exception is None or isinstance(result.exception, SystemExit), repr(result.exception)
        assert result.exit_code in (0, 1, 2)
        assert "Traceback" not in result.output
        if result.exit_code == 2 and not result.stderr.startswith(("Usage: ", "Error: ")):
            *progress, last = result.stderr.strip().splitlines()
            one_line(last)
            assert last.startswith("pbm: ")
            assert not [line for line in progress if "Error" in line]
        if result.exit_code == 1:
            assert words[0] == "replay"
        for left in (tmp_path / "new", tmp_path / "new.jsonl"):
            if left.is_dir():
                shutil.rmtree(left)
            left.unlink(missing_ok=True)

    every(lines(), examples, check)
