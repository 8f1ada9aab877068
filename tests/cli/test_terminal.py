"""`pbm` as a process: in a pipe, at a terminal, interrupted, and without its extra."""

import contextlib
import os
import re
import select
import signal
import subprocess
import sys
import time

import pytest

PBM = [sys.executable, "-m", "pbm_agents.cli"]
PATIENCE = 60
POSIX = pytest.mark.skipif(os.name != "posix", reason="needs a pseudo-terminal and signals")


def run(*words, **options):
    """Without the announcement of compiling."""
    done = subprocess.run([*PBM, *words], capture_output=True, text=True, timeout=PATIENCE, **options)
    return done.returncode, done.stdout, re.sub(r"compiling .*\n", "", done.stderr)


class Terminal:
    """A process at a terminal of its own."""

    def __init__(self, words):
        import pty

        self.ours, theirs = pty.openpty()
        environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100"}
        self.process = subprocess.Popen(
            [*PBM, *words.split()], stdin=theirs, stdout=theirs, stderr=theirs, env=environment
        )
        os.close(theirs)
        self.shown = ""

    def type(self, text):
        os.write(self.ours, text.encode())

    def expect(self, text):
        """Read on until `text` is shown; what was shown up to there since the last time."""
        end = time.monotonic() + PATIENCE
        while text not in self.shown:
            assert select.select([self.ours], [], [], max(0, end - time.monotonic()))[0], (
                f"{text!r} not in {self.shown!r}"
            )
            self.shown += os.read(self.ours, 65536).decode()
        before, _, self.shown = self.shown.partition(text)
        return before

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        os.close(self.ours)


@POSIX
def test_tab_completes_and_the_screen_is_cleared_between_persons():
    with Terminal("play curio person person -o base=2 -o rows=4 -o cols=3 --seed 1") as terminal:
        assert "\x1b[2J\x1b[3J" in terminal.expect("player_0, press Enter")
        terminal.type("\n")
        terminal.expect("player_0> ")
        terminal.type("mov\t\n")
        moves = terminal.expect("player_0> ").split()
        assert moves[0].startswith("moves")
        move = next(move for move in moves[1:] if sum(other.startswith(move[:4]) for other in moves) == 1)
        terminal.type(f"{move[:4]}\t\n")
        assert f"last move {move}" in terminal.expect("Enter hides the board")
        terminal.type("\n")
        assert "|" not in terminal.expect("player_1, press Enter").partition("\x1b[2J")[2]
        terminal.type("\n")
        terminal.expect("player_1> ")
        terminal.type("\x04")  # Ctrl-D
        terminal.expect("The game is left.")
        assert terminal.process.wait(PATIENCE) == 0


@POSIX
def test_ctrl_c_leaves_quietly(tmp_path):
    file = tmp_path / "games.jsonl"
    with Terminal(f"play chameleon person random --save {file}") as terminal:
        terminal.expect("player_0> ")
        terminal.type("b2x\n")
        terminal.expect("player_0> ")
        while terminal.process.poll() is None:  # one just before the wait for a key is handled late
            terminal.process.send_signal(signal.SIGINT)
            with contextlib.suppress(subprocess.TimeoutExpired):
                terminal.process.wait(10)
        assert terminal.process.wait(PATIENCE) == 130
        assert "Traceback" not in terminal.shown
        assert not file.exists()


def test_a_pipe_has_no_escape_codes():
    code, out, err = run("games", env={**os.environ, "TERM": "xterm-256color"})
    assert (code, err) == (0, "")
    assert "\x1b" not in out
    assert "an integer from 1 to 1000000, or none" in out
    code, out, err = run("play", "trinim", "random", input="")
    assert (code, err) == (0, "")
    assert "\x1b" not in out
    assert "player_1> " in out


def test_errors_have_no_traceback():
    assert run("play", "chess") == (
        2,
        "",
        "pbm: 'chess' is no game of pbm_envs: expected one of chameleon, curio, trinim, unlur, or module:Class\n",
    )


def test_agents_of_ones_own_are_found_in_the_folder(tmp_path):
    (tmp_path / "mine.py").write_text("from pbm_agents import RandomAgent as Me\n")
    code, out, _ = run("play", "trinim", "mine:Me", "random", cwd=tmp_path)
    assert code == 0
    assert "player_0 (mine:Me): " in out


def test_without_the_extra_it_says_which():
    program = "import sys; sys.modules['typer'] = None; from pbm_agents.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 2
    assert done.stderr == "pbm needs typer, of the extra `cli`: pip install 'pbm-envs[cli]'\n"
