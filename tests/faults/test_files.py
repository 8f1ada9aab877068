"""Files that are written in one piece: nothing else is touched, and nothing is left behind."""

import os
import stat

import pytest

from pbm_envs.core.files import in_one_piece, is_partial, write_text


def test_a_reader_never_sees_a_part(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("old")
    with in_one_piece(path, durable=True) as part:
        part.write_text("new")
        assert path.read_text() == "old"
        assert part.suffix == path.suffix
        assert is_partial(part)
    assert path.read_text() == "new"
    assert os.listdir(tmp_path) == ["table.csv"]


def test_what_fails_changes_nothing_and_two_writers_do_not_meet(tmp_path):
    path = tmp_path / "table.csv"
    with in_one_piece(path) as one, in_one_piece(path) as two:
        one.write_text("1")
        two.write_text("2")
    assert path.read_text() == "1"
    with pytest.raises(ZeroDivisionError), in_one_piece(path) as part:
        part.write_text("3" * (part.write_text("3") // 0))
    assert path.read_text() == "1"
    assert os.listdir(tmp_path) == ["table.csv"]


def test_somebody_elses_part_stays(tmp_path):
    for name in ("x.part", "x.csv.part", ".x.part"):
        (tmp_path / name).write_text("precious")
    write_text(tmp_path / "x.csv", "rows\n")
    assert sorted(os.listdir(tmp_path)) == [".x.part", "x.csv", "x.csv.part", "x.part"]
    assert not any(is_partial(tmp_path / name) for name in os.listdir(tmp_path))


def test_a_folder_appears_when_it_is_complete(tmp_path):
    with in_one_piece(tmp_path / "data") as part:
        part.mkdir()
        (part / "rows").write_text("1")
        assert not (tmp_path / "data").exists()
    assert (tmp_path / "data" / "rows").read_text() == "1"


def test_errors_name_the_file(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"missing\.txt"):
        write_text(tmp_path / "no" / "missing.txt", "")
    with pytest.raises(OSError, match=r"full\.txt") as caught, in_one_piece(tmp_path / "full.txt"):
        raise OSError(28, "No space left on device")
    assert caught.value.errno == 28


@pytest.mark.skipif(os.name == "nt", reason="permissions of POSIX")
def test_permissions_are_those_of_a_file_that_is_simply_opened(tmp_path):
    (tmp_path / "plain").write_text("")
    write_text(tmp_path / "ours", "")
    assert stat.S_IMODE((tmp_path / "ours").stat().st_mode) == stat.S_IMODE((tmp_path / "plain").stat().st_mode)
