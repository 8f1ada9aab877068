"""Mutated files of every format: our ValueError or a file that works, and never an import, a signal or another error.

`python -m tests.faults.foreign_files --count 100000` tries more.
"""

import zipfile

import numpy as np
import pytest

from pbm_envs import Chameleon
from pbm_envs.foreign import check_array, parse_object, read_arrays, registered_game
from tests.faults.foreign_files import EVIL, FORMATS, run

WITH_TORCH = ("network", "recurrent", "onnx")


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in FORMATS if name not in WITH_TORCH])
def test_mutated_files(name):
    assert run(name, 8, 600)["files"] == 600


@pytest.mark.libraries
@pytest.mark.parametrize("name", WITH_TORCH)
def test_mutated_networks(name):
    for library in ("torch", "onnx", "onnxruntime"):
        pytest.importorskip(library)
    assert run(name, 7, 200)["files"] == 200


@pytest.mark.parametrize("name", [f"{EVIL}:Game", "json:loads", "no-such-game", None, ["chameleon"]])
def test_only_registered_games(name):
    with pytest.raises(ValueError, match="expected"):
        registered_game(name, {})


@pytest.mark.parametrize("options", [None, 3, {"size": "x"}, {"no": 1}, {1: 2}, [["size", 3, 4]]])
def test_wrong_options(options):
    with pytest.raises(ValueError, match="game 'chameleon' with options"):
        registered_game("chameleon", options)
    assert registered_game("chameleon", {"size": 3}) == Chameleon(size=3)


@pytest.mark.parametrize("text", ["[]", "3", "{", '{"a": NaN}', '{"a":' * 10**5, b"\xff", 3, "x" * 99])
def test_what_is_no_json_object(text):
    with pytest.raises(ValueError, match="a thing"):
        parse_object(text, "a thing", most=10**6)
    with pytest.raises(ValueError, match="too long for a thing: expected at most 5"):
        parse_object('{"a": 1}', "a thing", most=5)


def test_arrays_that_claim_more_than_there_is(tmp_path):
    np.savez(tmp_path / "good.npz", a=np.arange(3))
    assert read_arrays(tmp_path / "good.npz", "a thing", ("a",))["a"].tolist() == [0, 1, 2]
    with pytest.raises(ValueError, match=r"holds \['a'\]: expected b, a thing"):
        read_arrays(tmp_path / "good.npz", "a thing", ("b",))
    np.savez(tmp_path / "objects.npz", a=np.array([None], dtype=object))
    with zipfile.ZipFile(tmp_path / "good.npz") as file:
        data = file.read("a.npy")
    with zipfile.ZipFile(tmp_path / "large.npz", "w") as file:
        file.writestr("a.npy", data.replace(b"(3,), }", b"(9999999999999,), }"))
    for name in ("objects", "large"):
        with pytest.raises(ValueError, match="is not a thing"):
            read_arrays(tmp_path / f"{name}.npz", "a thing")


@pytest.mark.parametrize("array", [[1, 2], [1.0, np.nan], [1.0, np.inf], [[1.0, 2.0]], ["a", "b"], 3.0])
def test_arrays_that_kernels_must_not_get(array):
    with pytest.raises(ValueError, match="expected"):
        check_array(array, "values", (2,))
