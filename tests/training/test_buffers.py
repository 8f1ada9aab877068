"""Torch tensors over the environment's own memory."""

import numpy as np
import pytest

from pbm_envs import chameleon_v0, curio_v0, sample_actions

pytestmark = pytest.mark.libraries
torch = pytest.importorskip("torch")


def flat(info):
    for name, value in info.items():
        if isinstance(value, dict):
            yield from ((f"final {key}", one) for key, one in flat(value))
        else:
            yield name, value


@pytest.mark.parametrize("copy", [True, False])
def test_tensors_hold_what_arrays_hold(copy):
    """Observations, rewards, ends and every info; actions may be tensors too."""
    options = {"base": 2, "rows": 4, "cols": 3, "no_capture_limit": 4, "opponent": "random", "history": 2}
    arrays = curio_v0.vector_env(8, **options)
    tensors = curio_v0.vector_env(8, **options, buffers="torch", copy=copy)
    one, other, rng, ends = arrays.reset(seed=1), tensors.reset(seed=1), np.random.default_rng(1), 0
    for _ in range(40):
        for a, b in zip(one[:-1], other[:-1], strict=True):
            assert isinstance(b, torch.Tensor)
            assert (torch.from_numpy(a) == b).all()
        there = dict(flat(other[-1]))
        for name, value in flat(one[-1]):
            if value.dtype == object:
                ends += 1
                for mine, yours in zip(value, there[name], strict=True):
                    assert (mine is None and yours is None) or (torch.from_numpy(mine) == yours).all()
            else:
                assert torch.equal(torch.from_numpy(value), there[name])
        actions = sample_actions(one[-1]["action_mask"], rng)
        one, other = arrays.step(actions), tensors.step(torch.from_numpy(actions))
    assert ends


def test_no_copy_is_made():
    """The tensors are the environment's own two arrays, which the next step overwrites."""
    envs = chameleon_v0.vector_env(8, size=4, buffers="torch", copy=False)
    planes, info = envs.reset(seed=1)
    assert planes.data_ptr() == envs._planes.ctypes.data
    assert info["action_mask"].data_ptr() == envs._masks.ctypes.data
    before = planes.clone()
    again, *_, later = envs.step(info["action_mask"].float().multinomial(1)[:, 0])
    assert again.data_ptr() == planes.data_ptr()
    assert later["action_mask"].data_ptr() == info["action_mask"].data_ptr()
    assert not torch.equal(planes, before)


def test_fresh_tensors_are_the_callers():
    envs = chameleon_v0.vector_env(4, size=4, buffers="torch")
    planes, info = envs.reset(seed=1)
    kept = planes.clone()
    envs.step([0, 1, 2, 3])
    assert torch.equal(planes, kept)
    planes.zero_()
    info["action_mask"].zero_()
    assert envs.action_masks().any()


@pytest.mark.parametrize("kind", [torch.float32, torch.bfloat16, torch.bool], ids=str)
def test_actions_are_integers(kind):
    envs = chameleon_v0.vector_env(2, size=4)
    envs.reset(seed=1)
    with pytest.raises(ValueError, match="expected integers"):
        envs.step(torch.tensor([1, 1]).to(kind))


def test_pinned_memory_needs_a_gpu():
    settings = {"size": 3, "buffers": "torch", "copy": False, "pin_memory": True}
    if torch.cuda.is_available():
        assert chameleon_v0.vector_env(2, **settings).reset(seed=1)[0].is_pinned()
    else:
        with pytest.raises(ValueError, match="memory cannot be pinned here"):
            chameleon_v0.vector_env(2, **settings)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"buffers": "jax"}, "buffers is 'jax': expected 'numpy' or 'torch'"),
        ({"pin_memory": True}, "expected buffers='torch' and copy=False"),
        ({"pin_memory": True, "buffers": "torch"}, "expected buffers='torch' and copy=False"),
        ({"pin_memory": 1}, "pin_memory is 1"),
    ],
)
def test_wrong_settings(settings, message):
    with pytest.raises(ValueError, match=message):
        chameleon_v0.vector_env(2, size=3, **settings)


def test_arrays_are_read_through_dlpack():
    """The protocol by which JAX, CuPy and others take them: `jax.dlpack.from_dlpack(planes)`."""
    planes, info = chameleon_v0.vector_env(4, size=3).reset(seed=1)
    for array in (planes, info["action_mask"], info["rewards"]):
        tensor = torch.from_dlpack(array)
        assert tensor.data_ptr() == array.ctypes.data


@pytest.mark.parametrize("copy", [True, False])
@pytest.mark.parametrize("size", [3, 5, 11])
def test_jax_reads_observations_and_masks_without_a_copy(copy, size):
    """Which it does only for memory at multiples of 64 bytes."""
    jax = pytest.importorskip("jax")
    envs, rng = chameleon_v0.vector_env(3, size=size, copy=copy), np.random.default_rng(1)
    planes, info = envs.reset(seed=1)
    for _ in range(3):
        for array in (planes, info["action_mask"]):
            there = jax.dlpack.from_dlpack(array)
            if there.devices() == {jax.devices("cpu")[0]}:
                assert there.unsafe_buffer_pointer() == array.ctypes.data
            assert (np.asarray(there) == array).all()
        planes, *_, info = envs.step(sample_actions(info["action_mask"], rng))
