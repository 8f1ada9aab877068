"""While results are written: torn files, a full disk, folders that nobody may write to, two commands in one folder.

Nothing that was finished is lost, the error names the file, and the same command resumes to the same games.
"""

import errno
import json
import os
import subprocess
import sys
import tempfile
import threading
from contextlib import contextmanager
from dataclasses import replace
from io import FileIO
from pathlib import Path

import pytest
from pbm_agents.arena import Tournament, play_tournament, tournament_records
from pbm_agents.arena.tournament import StoredGames
from pbm_agents.cli.app import app
from typer.testing import CliRunner

from pbm_envs import Chameleon, Trinim
from pbm_envs.records import GameRecord, RecordError, append_records, append_to, read_records
from tests.commands import pbm
from tests.faults.every import one_line

ROOT = Path(__file__).parents[2]
FIRST, SLOW = "tests.arena.agents:First", "tests.arena.agents:Slow"
SMALL = Tournament((Chameleon(size=3), Trinim(num_players=3)), ("random", FIRST), openings=2, batch=4, key="a test")
COMMAND = ["-g", "chameleon:size=3", "-g", "trinim:num_players=3", "-a", "random", "-a", FIRST]
COMMAND += ["--openings", "2", "--batch", "4", "--key", "a test"]
posix = pytest.mark.skipif(sys.platform == "win32", reason="signals, users and limits of POSIX")


def games(records):
    """What has to be the same: all but the time."""
    return [replace(record, seconds=()) for record in records]


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    folder = tmp_path_factory.mktemp("played")
    return play_tournament(SMALL, folder), folder


def copied(folder, to, size=None):
    to.mkdir(exist_ok=True)
    (to / "tournament.json").write_bytes((folder / "tournament.json").read_bytes())
    (to / "games.jsonl").write_bytes((folder / "games.jsonl").read_bytes()[:size])
    return to


def test_a_tournament_cut_anywhere(played, tmp_path):
    """At ends of lines, beside them, and within: only finished lines are read, only finished batches are kept."""
    records, folder = played
    whole, batches = (folder / "games.jsonl").read_bytes(), SMALL.batches()
    ends = [0]
    for line in whole.splitlines(keepends=True):
        ends.append(ends[-1] + len(line))
    sizes = [0]
    for batch in batches:
        sizes.append(sizes[-1] + len(batch))
    path = copied(folder, tmp_path / "cut") / "games.jsonl"
    beside = {end + by for end in ends for by in (-1, 0, 1)} & set(range(len(whole) + 1))
    for cut in sorted({*beside, *range(0, len(whole), 41)}):
        path.write_bytes(whole[:cut])
        finished = sum(end <= cut for end in ends[1:])
        assert tournament_records(path.parent) == records[:finished]
        with FileIO(path, "a+b") as file:
            stored = StoredGames(file)
            kept = [record for batch in batches for record in stored.take(batch)]
            stored.settle()
        assert len(kept) == max(size for size in sizes if size <= finished)
        assert kept == records[: len(kept)]
        assert path.read_bytes() == whole[: ends[len(kept)]]


@pytest.mark.parametrize("part", [0, 0.3, 0.7, 0.99])
def test_a_tournament_that_was_cut_goes_on(played, tmp_path, part):
    records, folder = played
    whole = (folder / "games.jsonl").stat().st_size
    assert games(play_tournament(SMALL, copied(folder, tmp_path / "cut", int(part * whole)))) == games(records)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "tournament.json is not JSON"),
        ('{"schema": 1,', "tournament.json is not JSON"),
        ("[" * 100_000, "tournament.json is not JSON .*recursion"),
        ("[1]", r"tournament.json holds \[1\]: expected the command"),
        ("{}", "holds another tournament: schema none there and 1 here"),
    ],
    ids=["empty", "cut", "deep", "list", "object"],
)
def test_a_damaged_command_is_said(played, tmp_path, text, message):
    """And nothing is written."""
    folder = copied(played[1], tmp_path / "there")
    (folder / "tournament.json").write_text(text)
    with pytest.raises(ValueError, match=message) as caught:
        play_tournament(SMALL, folder)
    one_line(caught.value)
    assert tournament_records(folder) == played[0]


class FullDisk(FileIO):
    """A file on a disk with room for so many bytes more: it takes what it can, and then nothing."""

    def __init__(self, path, room):
        super().__init__(path, "a+b")
        self.room = room

    def write(self, data):
        if not self.room:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        taken = super().write(data[: self.room])
        self.room -= taken
        return taken


def test_a_disk_that_is_full_at_any_byte(played, tmp_path):
    """The file stays as it was, the error names it; with room again the same call succeeds."""
    records, path = played[0], tmp_path / "games.jsonl"
    append_records(path, records[:2])
    before, data = path.read_bytes(), "".join(record.to_json() + "\n" for record in records[2:4])
    for room in range(len(data.encode())):
        with FullDisk(path, room) as file, pytest.raises(OSError, match=r"No space left on device: .*games.jsonl"):
            append_to(file, records[2:4])
        assert path.read_bytes() == before
    append_records(path, records[2:4])
    assert list(read_records(path)) == list(records[:4])


LIMITED = """
import resource, signal, sys
limit = int(sys.argv.pop(1))
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
from pbm_agents.cli import main
main()
"""


@posix
def test_a_tournament_that_finds_no_room(played, tmp_path):
    """One line with the file; the batches before are kept, and with room it resumes to the same games."""
    folder = tmp_path / "results"
    command = [sys.executable, "-c", LIMITED, "3000", "tournament", str(folder), *COMMAND]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600)
    assert done.returncode == 2
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("pbm: ")
    assert f"'{folder / 'games.jsonl'}': file too large" in last
    assert "Traceback" not in done.stderr
    kept = tournament_records(folder)
    assert games(kept) == games(played[0])[: len(kept)]
    assert kept
    assert (folder / "games.jsonl").read_bytes().endswith(b"\n")
    assert games(play_tournament(SMALL, folder)) == games(played[0])


@contextmanager
def not_root():
    """Whom the permissions of files concern: nobody, where the tests run as root."""
    if os.geteuid():
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
def locked(played):
    """A folder with a finished tournament, which can be read and not written to."""
    with tempfile.TemporaryDirectory() as name:
        folder = copied(played[1], Path(name) / "locked")
        for path in (Path(name), folder):
            path.chmod(0o555)
        for path in folder.iterdir():
            path.chmod(0o444)
        yield folder
        for path in (Path(name), folder):
            path.chmod(0o755)


@posix
def test_folders_that_may_not_be_written_to(played, locked):
    pbm("rate", played[1])  # imports what it needs: another user may not be allowed to read it
    with not_root():
        assert tournament_records(locked) == played[0], "reading is allowed"
        code, _, err = pbm("rate", locked)
        assert code == 0, err
        for words in (
            ["tournament", locked, *COMMAND],
            ["tournament", locked / "new", *COMMAND],
            ["rate", locked, "--out", locked / "tables"],
            ["rate", locked, "--out", locked],
        ):
            code, _, err = pbm(*words)
            assert code == 2
            one_line(err)
            assert err.startswith(f"pbm: '{locked}")
            assert err.endswith(("': permission denied\n", "with permission to write\n"))
    assert tournament_records(locked) == played[0]


@pytest.mark.parametrize("where", ["file", "file/results", "file/a/b"])
def test_files_in_the_place_of_folders(played, tmp_path, where):
    (tmp_path / "file").write_text("mine")
    for words in (["tournament", tmp_path / where, *COMMAND], ["rate", played[1], "--out", tmp_path / where]):
        code, _, err = pbm(*words)
        assert code == 2
        one_line(err)
        assert str(tmp_path / "file") in err
    assert (tmp_path / "file").read_text() == "mine"


@pytest.mark.parametrize("name", ["games.jsonl", "tournament.json"])
def test_folders_in_the_place_of_files(tmp_path, name):
    (tmp_path / name).mkdir()
    code, _, err = pbm("tournament", tmp_path, *COMMAND)
    assert code == 2
    one_line(err)
    assert name in err


@posix
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
def test_a_game_that_cannot_be_saved_is_printed():
    words = ["play", "chameleon", "random", "person", "-o", "size=3", "--save", "/dev/full"]
    result = CliRunner().invoke(app, words, input="quit\n")
    assert result.exit_code == 2
    assert result.stderr == "pbm: '/dev/full': no space left on device\n"
    record = GameRecord.from_json(result.stdout.splitlines()[-1])
    assert (record.plies, record.ending) == (1, "unfinished")


@posix
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
def test_plots_that_find_no_room(played, tmp_path):
    (tmp_path / "ratings-chameleon-size-3.png").symlink_to("/dev/full")
    code, _, err = pbm("rate", played[1], "--out", tmp_path)
    assert code == 2
    one_line(err)
    assert err.startswith(f"pbm: '{tmp_path}")
    assert err.endswith("': no space left on device\n")


def test_two_commands_race_for_a_new_folder(tmp_path):
    """Fifty times: the games are those of the tournament in `tournament.json`, and the second command is refused."""
    for race in range(50):
        folder, start, errors = tmp_path / str(race), threading.Barrier(2), []
        rivals = [Tournament((Chameleon(size=3),), ("random", FIRST), openings=1, seed=seed) for seed in (1, 2)]

        def play(tournament, folder=folder, start=start, errors=errors):
            start.wait()
            try:
                play_tournament(tournament, folder)
            except ValueError as error:
                errors.append(str(error))

        racers = [threading.Thread(target=play, args=(tournament,)) for tournament in rivals]
        for racer in racers:
            racer.start()
        for racer in racers:
            racer.join()
        assert len(errors) == 1
        assert "another process is at work" in errors[0] or "holds another tournament" in errors[0]
        winner = rivals[json.loads((folder / "tournament.json").read_text())["seed"] - 1]
        assert play_tournament(winner, folder) == tournament_records(folder)
        assert len(tournament_records(folder)) == 2


@pytest.mark.parametrize(
    ("line", "fields", "message"),
    [
        (3, {"returns": [0, 0]}, "returns by the rules"),
        (1, {"agents": [FIRST, "random"]}, r"agents is .*: expected \('random', 'tests"),
        (2, {"version": "0.0.9"}, "version is '0.0.9': expected"),
        (7, {"seed": 12345}, "seed is 12345: expected"),
        (6, {"board": "b/bb/bgr/grgg/rbgrr"}, "board is .*: expected"),
        (1, {"options": {"size": 4, "swap_rule": True, "allow_resign": False}}, "options is .*: expected"),
        (4, {"moves": ["a1x", "b1x"], "plies": 2, "turns": [1, 1]}, "by the rules"),
        (4, {"opening": 1}, "opening is 1: expected 0"),
    ],
)
def test_a_line_that_does_not_belong_is_named(played, tmp_path, line, fields, message):
    folder = copied(played[1], tmp_path / "there")
    lines = (folder / "games.jsonl").read_bytes().splitlines(keepends=True)
    lines[line - 1] = json.dumps(json.loads(lines[line - 1]) | fields).encode() + b"\n"
    (folder / "games.jsonl").write_bytes(b"".join(lines))
    with pytest.raises(RecordError, match=rf"games.jsonl, line {line}: not a game of this tournament: .*{message}"):
        play_tournament(SMALL, folder)
    assert (folder / "games.jsonl").read_bytes() == b"".join(lines), "nothing is mended in silence"


def test_games_of_another_seed_are_refused(played, tmp_path):
    play_tournament(replace(SMALL, seed=7), tmp_path)
    (tmp_path / "tournament.json").write_bytes((played[1] / "tournament.json").read_bytes())
    with pytest.raises(RecordError, match=r"games.jsonl, line 1: not a game of this tournament: seed is"):
        play_tournament(SMALL, tmp_path)
