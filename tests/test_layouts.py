"""Records whose lengths kernels read when they run: the same values as NumPy's, and one compilation for all sizes."""

import os
import pickle
import subprocess
import sys

import numba
import numpy as np
import pytest

from pbm_envs.core.kernels import kernel
from pbm_envs.core.layouts import layout_of, register_records

compiled_only = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")


@kernel
def weigh(state):
    """A number that changes with every field and its length."""
    total = 3 * state["small"] + 5 * int(state["flag"]) + 7 * state["ratio"] + len(state["cells"])
    for k in range(len(state["cells"])):
        total += (k + 1) * state["cells"][k]
    deep = state["deep"]
    for a in range(deep.shape[0]):
        for b in range(deep.shape[1]):
            for c in range(deep.shape[2]):
                total += (a * 100 + b * 10 + c + 1) * deep[a, b, c]
    return total + state["pair"][0] - state["pair"][1] + state["cells"][-1]


@kernel
def weigh_all(states, out):
    for i in range(len(states)):
        out[i] = weigh(states[i])


@kernel
def change(states, source):
    states[0] = source[-1]
    state = states[1]
    state["small"] += 1
    state["flag"] = state["ratio"] > 0
    state["ratio"] = 2
    state["cells"][len(state["cells"]) - 1] = -4
    state["deep"][:, 0, 0] = 9


def states_of(cells, count=6):
    """Some states with `cells` cells, every byte of a field at random."""
    fields = [
        ("pair", "f4", (2,)),
        ("small", "i2"),
        ("cells", "i4", (cells,)),
        ("flag", "?"),
        ("deep", "i1", (cells + 1, 5, 2)),
        ("ratio", "f8"),
    ]
    rng = np.random.default_rng(cells)
    states = np.zeros(count, register_records(np.dtype(fields, align=True)))
    for name in states.dtype.names:
        states[name] = rng.integers(0, 2 if name == "flag" else 100, states[name].shape)
    return states


def expected(state):
    deep = state["deep"].astype(int)
    a, b, c = np.indices(deep.shape)
    cells = state["cells"].astype(int)
    return (
        3 * int(state["small"])
        + 5 * int(state["flag"])
        + 7 * state["ratio"]
        + len(cells)
        + (np.arange(1, len(cells) + 1) * cells).sum()
        + ((a * 100 + b * 10 + c + 1) * deep).sum()
        + state["pair"][0]
        - state["pair"][1]
        + cells[-1]
    )


@pytest.mark.parametrize("cells", [5, 12, 31])
def test_kernels_read_what_numpy_reads(cells):
    states = states_of(cells)
    for batch in (states, states[::-2], states[:0], states[4:5]):
        out = np.zeros(len(batch))
        weigh_all(batch, out)
        assert out.tolist() == [expected(state) for state in batch]


@kernel
def weigh_some(states, first, last, out):
    weigh_all(states[first:last], out)
    weigh_all(states[first:], out[len(states[first:last]) :])


@pytest.mark.parametrize(("first", "last"), [(0, 6), (2, 5), (3, 3), (5, 2), (-3, -1), (4, 99), (7, 9), (-99, 2)])
def test_slices_of_a_batch_are_those_of_numpy(first, last):
    states = states_of(12)
    for batch in (states, states[::-2]):
        wanted = [expected(state) for part in (batch[first:last], batch[first:]) for state in part]
        out = np.zeros(len(wanted))
        weigh_some(batch, first, last, out)
        assert out.tolist() == wanted


@pytest.mark.parametrize("cells", [5, 12])
def test_kernels_write_what_numpy_writes(cells):
    states, source = states_of(cells), states_of(cells)[:4]
    source["small"][3] = -1
    wanted = states.copy()
    wanted[0] = source[3]
    wanted[1]["small"] += 1
    wanted[1]["flag"] = wanted[1]["ratio"] > 0
    wanted[1]["ratio"] = 2
    wanted[1]["cells"][-1] = -4
    wanted[1]["deep"][:, 0, 0] = 9
    change(states, source)
    for name in states.dtype.names:
        assert np.array_equal(states[name], wanted[name]), name


def test_an_equal_type_of_another_process_is_known():
    states = pickle.loads(pickle.dumps(states_of(12)))
    out = np.zeros(len(states))
    weigh_all(states, out)
    assert out.tolist() == [expected(state) for state in states]
    assert register_records(states.dtype) is states_of(12).dtype


@compiled_only
def test_sizes_share_what_is_compiled():
    for cells in (5, 12, 31):
        weigh_all(states_of(cells), np.zeros(6))
    assert len([kind for kind in weigh_all.signatures if kind[0].writable]) == 1


@compiled_only
def test_what_cannot_be_written_is_refused():
    states = states_of(5)
    states.flags.writeable = False
    with pytest.raises(numba.TypingError):
        change(states, states)


@compiled_only
def test_a_field_that_is_not_there_is_named():
    @kernel
    def read(states):
        return states[0]["colour"]

    with pytest.raises(numba.TypingError, match="no field 'colour'"):
        read(states_of(5))


TWO_SIZES = """
import glob, os, sys
import numpy as np, pbm_envs
counts = []
for options in ({first}, {second}):
    game, rng = pbm_envs.make_game({name!r}, **options), np.random.default_rng(0)
    states = game.init(2, rng)
    observations, masks = game.observe_with_mask(states, states["to_move"])
    game.step(states, masks.argmax(axis=1))
    game.playout(game.determinize(game.view(states, states["to_move"]), rng), rng)
    counts.append(len(glob.glob(os.environ["PBM_ENVS_CACHE_DIR"] + "/*.kernel")))
print(*counts)
"""


@compiled_only
@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "first", "second"),
    [
        ("curio", {}, {"rows": 6, "cols": 6}),  # Chameleon: in tests/cli/test_warm_up.py
        ("trinim", {}, {"size": 8}),
        ("unlur", {"radius": 3}, {"radius": 5}),
    ],
)
def test_a_second_size_compiles_nothing(name, first, second, tmp_path):
    environment = os.environ | {"PBM_ENVS_CACHE_DIR": str(tmp_path)}
    program = TWO_SIZES.format(name=name, first=first, second=second)
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    compiled, altogether = map(int, done.stdout.split())
    assert 0 < compiled == altogether


def test_the_layout_of_records_has_their_lengths_and_other_arrays_have_none():
    dtype = register_records(np.dtype([("cells", "i1", (9,)), ("small", "i4")], align=True))
    layout = layout_of(np.zeros(2, dtype))
    assert layout is not None
    assert 9 in layout.tolist()
    assert layout_of(np.zeros((2, 2), dtype)) is None
    assert layout_of(np.zeros(2)) is None
    assert layout_of(np.zeros(2, [("other", "i1")])) is None
