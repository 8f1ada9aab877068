"""Measure how long documented commands take with nothing compiled, and how long they print nothing meanwhile.

    pip install -e ".[bench,dev]" && python benchmarks/waiting.py [demo] [PAGE ...]

`demo` is `make demo` in a fresh clone, which installs what it needs, downloads included. A page stands for its commands
and, of README.md and the tutorials, programs, but those that need a trained network: each a new process on a terminal,
with an empty cache of compiled kernels; those of a page share a folder. A person who is asked for a move resigns, the
first agent trains for a second, and `pbm serve` is stopped when it has printed its address.

Columns: seconds until the end, until the first output (mostly imports), and the longest time without output after
that; what had been printed before. Seconds are by the clock, and in parentheses those of the processor, which do not
depend on other work of the machine: of all processes in the first column, of the command's own in the other two.
"""

from __future__ import annotations

import os
import pty
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path
from time import monotonic

from machine import machine

ROOT = Path(__file__).parent.parent
FOLDERS = (ROOT / "src", ROOT / "agents", ROOT / "docs" / "guides")
TUTORIALS = ("README.md", "docs/first_game.md", "docs/guides/train_and_rate.md", "docs/guides/game.md")
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
NOT_RUN = re.compile(r"network\.pt|\[|:trained:")
ESCAPES = re.compile(r"\x1b\[[\d;?]*[A-Za-z]")


def clocks(process: int) -> tuple[float, float]:
    """Return the time by the clock and the processor time of a process."""
    used = Path(f"/proc/{process}/stat").read_text().rpartition(") ")[2].split()[11:13]
    return monotonic(), sum(map(int, used)) / os.sysconf("SC_CLK_TCK")


def measure(title: str, command: list[str], folder: str) -> float:
    """Run a command on a terminal in a folder, print its row, and return its seconds."""
    began, gaps, text, children = monotonic(), list[tuple[float, float, str]](), "", os.times()
    with tempfile.TemporaryDirectory() as cache:
        environment = os.environ | {"PBM_ENVS_CACHE_DIR": cache, "PYTHONPATH": os.pathsep.join(map(str, FOLDERS))}
        terminal, end = pty.openpty()
        process = subprocess.Popen(
            command, cwd=folder, env=environment, stdin=subprocess.PIPE, stdout=end, stderr=end, start_new_session=True
        )
        os.close(end)
        assert process.stdin
        with process.stdin as keyboard:
            keyboard.write(b"resign\n")
        data, last = "-", (began, 0.0)
        while data:
            try:
                data = os.read(terminal, 65536).decode(errors="replace")
            except OSError:  # the process has ended
                data = ""
            now = clocks(process.pid)
            gaps.append((now[0] - last[0], now[1] - last[1], text))
            last, text = now, (text + data)[-1000:]
            if "Ctrl-C ends it" in text:
                process.terminate()
        failed = " FAILED" * (process.wait() > 0)
        os.close(terminal)
    used = sum(os.times()[2:4]) - sum(children[2:4])
    silence, own, before = max(gaps[1:], default=(0.0, 0.0, ""))
    words = " ".join(ESCAPES.sub("", before).replace("\r", "\n").strip().split("\n")[-1].split())
    times = ((last[0] - began, used), gaps[0][:2], (silence, own))
    cells = "".join(f"{f'{clock:.1f} ({processor:.1f})':>14}" for clock, processor in times)
    print(f"{title[:80]:80}{cells}  {words[-45:]}{failed}", flush=True)
    return last[0] - began


def commands(page: str) -> list[tuple[str, list[str]]]:
    """Return the titles and words of the commands and, in a tutorial, of the programs that a page shows."""
    found = []
    for kind, code in FENCE.findall((ROOT / page).read_text(encoding="utf-8")):
        if kind == "python" and page in TUTORIALS:
            found.append((f"a program of {len(code.splitlines())} lines", [sys.executable, "-c", code]))
        for line in code.splitlines() if kind in ("sh", "console") else ():
            program = {"pbm": ["-m", "pbm_agents.cli"], "python": []}.get(line.partition(" ")[0])
            line = line.replace("docs/guides", str(ROOT / "docs/guides")).replace(
                "minutes 8", "minutes 0.01 --interval 400"
            )
            words = shlex.split(line, comments=True)[1:]
            if program is not None and not NOT_RUN.search(line) and (kind == "sh" or "first_agent.py" in line):
                found.append((line.partition("  #")[0].replace(f"{ROOT}/", ""), [sys.executable, *program, *words]))
    return found


def main(names: list[str]) -> None:
    print(f"{machine()}\n\n{'':80}{'seconds':>14}{'first':>14}{'silent':>14}  after")
    documented = [path.relative_to(ROOT).as_posix() for path in sorted(ROOT.glob("docs/**/*.md"))]
    for name in names or ["demo", *(page for page in dict.fromkeys([*TUTORIALS, *documented]) if commands(page))]:
        print(f"\n{name}, load average {os.getloadavg()[0]:.1f}", flush=True)
        with tempfile.TemporaryDirectory() as folder:
            if name == "demo":
                subprocess.run(["git", "clone", "--quiet", ROOT, folder], check=True)
                measure("make demo", ["make", "demo"], folder)
            else:
                print(f"{name}, all: {sum(measure(*command, folder) for command in commands(name)):.0f}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
