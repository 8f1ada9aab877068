"""What files and people say reaches the terminal in printable lines; films do not go where a link points."""

from pathlib import Path

from pbm_agents import RandomAgent
from pbm_agents.arena import Opening, play_games
from pbm_agents.cli.app import app
from typer.testing import CliRunner

from pbm_envs import Chameleon
from pbm_envs.records import append_records

ESCAPE = "\x1b]0;owned\x07\x1b[2J\u202e"


def games(path: Path, *pairs: tuple[str, str]) -> Path:
    """A file with a game of each pair of agents, which play at random whatever they are called."""
    for first, second in pairs:
        agents = {first: RandomAgent(), second: RandomAgent()}
        append_records(path, play_games(Chameleon(size=3), agents, [[first, second]], [Opening(3)], seed=1))
    return path


def run(*words: object, code: int = 0) -> str:
    result = CliRunner().invoke(app, [str(word) for word in words])
    assert result.exit_code == code, result.output
    assert all(line.isprintable() for line in result.output.splitlines()), result.output
    return result.output


def test_names_of_agents_are_printed_without_terminal_escapes(tmp_path: Path) -> None:
    path = games(tmp_path / "games.jsonl", (f"a{ESCAPE}", "b"), ("c", f"d{ESCAPE}"))  # two groups that have not met
    assert "a\\x1b]0;owned\\x07" in run("replay", path, "--show", 1)
    said = run("rate", path)
    assert "have not met" in said
    assert "d\\x1b]0;owned" in said.rpartition("have not met")[2]
    assert "expected one of" in run("rate", path, "--anchor", f"x{ESCAPE}", code=2)


def test_a_film_replaces_nothing_unless_it_is_told_to_and_follows_no_link(tmp_path: Path) -> None:
    path, precious, link = games(tmp_path / "games.jsonl", ("a", "b")), tmp_path / "precious", tmp_path / "film.gif"
    precious.write_text("precious")
    link.symlink_to(precious)
    assert "expected the name of a new file, or --overwrite" in run("animate", path, link, code=2)
    assert link.is_symlink()
    run("animate", path, link, "--overwrite", "--size", "60")
    assert not link.is_symlink()
    assert link.read_bytes()[:3] == b"GIF"
    assert precious.read_text() == "precious"
    assert "expected a '.gif' or '.mp4'" in run("animate", path, tmp_path / "film.txt", code=2)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["film.gif", "games.jsonl", "precious"]
