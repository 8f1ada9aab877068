"""Two commands in one folder, and games that do not belong to the tournament of their folder."""

import json
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from pbm_agents.arena import Tournament, play_tournament, tournament_records

from pbm_envs import Chameleon, Curio
from pbm_envs.records import RecordError

SMALL = Tournament(
    (Chameleon(size=3), Curio(base=2, rows=4, cols=3)), ("random", "mcts:simulations=2"), openings=2, key="k"
)


def test_two_commands_race_for_a_new_folder(tmp_path: Path) -> None:
    """Fifty times: what `tournament.json` says is what the games are of, and whoever came second is told."""
    for race in range(50):
        folder, start = tmp_path / str(race), threading.Barrier(2)
        errors: list[str] = []

        def play(
            seed: int, folder: Path = folder, start: threading.Barrier = start, errors: list[str] = errors
        ) -> None:
            tournament = Tournament((Chameleon(size=3),), ("random", "tests.arena.agents:First"), openings=1, seed=seed)
            start.wait()
            try:
                play_tournament(tournament, folder)
            except ValueError as error:
                errors.append(str(error))

        racers = [threading.Thread(target=play, args=(seed,)) for seed in (1, 2)]
        for racer in racers:
            racer.start()
        for racer in racers:
            racer.join()
        assert len(errors) == 1
        assert "another process is at work" in errors[0] or "holds another tournament" in errors[0]
        seed = json.loads((folder / "tournament.json").read_text())["seed"]
        winner = Tournament((Chameleon(size=3),), ("random", "tests.arena.agents:First"), openings=1, seed=seed)
        assert play_tournament(winner, folder) == tournament_records(folder)
        assert len(tournament_records(folder)) == 2


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp("played")
    play_tournament(SMALL, folder)
    return folder


def changed(line: bytes, **fields: object) -> bytes:
    return json.dumps(json.loads(line) | fields).encode() + b"\n"


@pytest.mark.parametrize(
    ("line", "fields", "message"),
    [
        (3, {"returns": [0, 0]}, "returns by the rules"),
        (1, {"agents": ["mcts:simulations=2", "random"]}, r"agents is .*: expected \('random', 'mcts"),
        (2, {"version": "0.0.9"}, "version is '0.0.9': expected"),
        (7, {"seed": 12345}, "seed is 12345: expected"),
        (6, {"board": "D11 . .//L11 . ."}, "board is .*: expected"),
        (1, {"options": {"size": 4, "swap_rule": True, "allow_resign": False}}, "options is .*: expected"),
        (4, {"moves": ["a1x", "b1x"], "plies": 2, "turns": [1, 1]}, "by the rules"),
        (4, {"opening": 1}, "opening is 1: expected 0"),
    ],
)
def test_a_line_that_does_not_belong_is_named(
    played: Path, tmp_path: Path, line: int, fields: dict[str, object], message: str
) -> None:
    lines = (played / "games.jsonl").read_bytes().splitlines(keepends=True)
    lines[line - 1] = changed(lines[line - 1], **fields)
    (tmp_path / "tournament.json").write_bytes((played / "tournament.json").read_bytes())
    (tmp_path / "games.jsonl").write_bytes(b"".join(lines))
    with pytest.raises(RecordError, match=rf"games.jsonl, line {line}: not a game of this tournament: .*{message}"):
        play_tournament(SMALL, tmp_path)
    assert (tmp_path / "games.jsonl").read_bytes() == b"".join(lines), "nothing is mended in silence"


def test_games_of_another_seed_are_refused(played: Path, tmp_path: Path) -> None:
    play_tournament(replace(SMALL, seed=7), tmp_path)
    (tmp_path / "tournament.json").write_bytes((played / "tournament.json").read_bytes())
    with pytest.raises(RecordError, match=r"games.jsonl, line 1: not a game of this tournament: seed is"):
        play_tournament(SMALL, tmp_path)
