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

from pbm_envs.toolbox import install_command
from tests.commands import processes_with

PBM = [sys.executable, "-m", "pbm_agents.cli"]
PATIENCE = 180
POSIX = pytest.mark.skipif(os.name != "posix", reason="needs a pseudo-terminal and signals")


def run(*words, **options):
    """Without the announcement of compiling."""
    done = subprocess.run([*PBM, *words], capture_output=True, text=True, timeout=PATIENCE, **options)
    return done.returncode, done.stdout, re.sub(r"compiling .*\n", "", done.stderr)


class Terminal:
    """A process at a terminal of its own."""

    def __init__(self, words, width=100, **extra):
        import pty

        self.ours, theirs = pty.openpty()
        environment = {**os.environ, "TERM": "xterm", "COLUMNS": str(width), **extra}
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

    def rest(self):
        """Read on until the process ends; all that is shown."""
        with contextlib.suppress(OSError):  # on Linux, the other end is closed
            while data := os.read(self.ours, 65536):
                self.shown += data.decode()
        return self.shown

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


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")
def test_ctrl_c_ends_warm_up_and_its_processes(tmp_path):
    """Also if only the first process is told."""
    with Terminal("warm-up chameleon trinim --processes 2", PBM_ENVS_CACHE_DIR=str(tmp_path)) as terminal:
        while len(list(tmp_path.glob("*.kernel"))) < 5:
            time.sleep(0.1)
        assert len(processes_with(str(tmp_path))) > 2
        terminal.process.send_signal(signal.SIGINT)
        assert terminal.process.wait(PATIENCE) == 130
        assert "Traceback" not in terminal.rest()
        end = time.monotonic() + PATIENCE
        while processes_with(str(tmp_path)) and time.monotonic() < end:
            time.sleep(0.1)
        assert not processes_with(str(tmp_path))


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
        "pbm: 'chess' is not a game of pbm_envs: expected one of chameleon, curio, trinim, unlur, or module:Class\n",
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
    assert done.stderr == f"pbm needs typer, of the extra `cli`: {install_command('cli')}\n"


def test_help_does_not_wait_for_the_compiler():
    """Numba alone takes more than a second; what is left is the interpreter, typer and our names."""
    program = (
        "import sys; from pbm_agents.cli import main\n"
        "sys.argv = ['pbm', '--help']\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "print({'numba', 'numpy', 'pbm_envs'} & set(sys.modules), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=PATIENCE)
    assert "  tournament " in done.stdout
    assert done.stderr == "set()\n"
    used = os.times().children_user
    run("--help")
    assert os.times().children_user - used < 0.5, "seconds of processor time"


WIDE = re.compile(r"\x1b\[[\d;?]*[a-zA-Z]")


def shown_at(width, words, **extra):
    """What a command shows in a terminal of so many columns, line by line, without escape codes; and as it is."""
    with Terminal(words, width, **extra) as terminal:
        raw = terminal.rest()
        assert terminal.process.wait(PATIENCE) in (0, 2)
    return WIDE.sub("", raw).replace("\r", "").split("\n"), raw


@pytest.mark.slow
@POSIX
def test_tables_fit_80_columns_and_names_are_whole(tmp_path):
    """By-seat scores, plies and time give way first; in a pipe all are there."""
    agents = ["mcts:simulations=10,c=1.4", "mcts:simulations=20,c=1.4", "random"]
    words = [word for agent in agents for word in ("-a", agent)]
    assert run("tournament", str(tmp_path), "-g", "chameleon:size=4", *words, "--openings", "1")[0] == 0
    lines, _ = shown_at(80, f"rate {tmp_path}")
    assert all(len(line) <= 80 for line in lines), lines
    for agent in agents:
        assert sum(agent in line for line in lines) == 2, "in both tables, whole"
    head = next(line for line in lines if "Elo" in line)
    assert "by seat" not in head
    assert head.split()[:2] == ["agent", "Elo"]
    assert "score" in head
    piped = run("rate", str(tmp_path))[1]
    assert all(name in piped for name in ("by seat", "plies", "s/move", "95% interval"))
    wide, _ = shown_at(160, f"rate {tmp_path}")
    assert any("by seat" in line for line in wide)


@pytest.mark.slow
@POSIX
def test_no_word_is_broken_at_40_columns(tmp_path):
    for words in ("play chess", f"replay {tmp_path / 'nonexistent'}", "play chameleon -o sise=7"):
        lines, _ = shown_at(40, words)
        whole = set(" ".join(line.strip() for line in run(*words.split())[2].splitlines()).split())
        assert set(" ".join(lines).split()) <= whole
        assert all(len(line) <= 40 or " " not in line.strip() for line in lines), lines


@pytest.mark.slow
@POSIX
def test_boards_have_colours_only_where_they_are_wanted():
    command = "play chameleon random random -o size=3 --seed 1"
    _, raw = shown_at(80, command)
    assert "\x1b[34ma\x1b[0m" in raw, "Vert's edges"
    assert "\x1b[33m 1\x1b[0m" in raw, "Horz's edges"
    assert "\x1b[7m" in raw, "the last move"
    assert "\x1b[" not in shown_at(80, command, NO_COLOR="1")[1]
    assert "\x1b[" not in shown_at(80, command, TERM="dumb")[1]
    assert "\x1b" not in run(*command.split())[1]


@POSIX
def test_resigning_has_to_be_confirmed_at_a_keyboard():
    with Terminal("play chameleon person random -o size=3") as terminal:
        terminal.expect("player_0> ")
        terminal.type("resign\n")
        terminal.expect("Resign? [y/N] ")
        terminal.type("\n")
        terminal.expect("player_0> ")
        terminal.type("resign\n")
        terminal.expect("Resign? [y/N] ")
        terminal.type("y\n")
        terminal.expect("over> ")


@POSIX
def test_a_stopped_tournament_says_how_to_go_on(tmp_path):
    command = f"tournament {tmp_path} -g chameleon:size=4 -a random -a mcts:simulations=300 --openings 3000 --batch 2"
    with Terminal(command, 80) as terminal:
        deadline = time.monotonic() + PATIENCE
        while not (tmp_path / "games.jsonl").exists() or not (tmp_path / "games.jsonl").stat().st_size:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        terminal.process.send_signal(signal.SIGINT)
        said = " ".join(terminal.rest().split())
        assert terminal.process.wait(PATIENCE) == 130
    kept = len((tmp_path / "games.jsonl").read_bytes().splitlines())
    assert f"{kept} of 6000 games are kept in {tmp_path}; the same command plays the others" in said
    assert "Traceback" not in said
