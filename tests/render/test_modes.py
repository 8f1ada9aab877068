"""Render modes of the environments: text, frames, windows; machines without a display."""

import copy
import pickle
import re
import subprocess
import sys

import gymnasium
import numpy as np
import pygame
import pytest
from gymnasium.utils.env_checker import check_env
from pettingzoo.test import render_test

from pbm_envs import chameleon_v0, curio_v0, trinim_v0
from pbm_envs.render import pixels
from pbm_envs.render.modes import Window
from pbm_envs.toolbox import install_command
from tests.environments import MODULES, NAMES


@pytest.fixture
def display(monkeypatch):
    """SDL's display that shows nothing."""
    pygame.display.quit()
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    yield
    pygame.display.quit()


@pytest.fixture
def shown(monkeypatch):
    """The frames that windows show from here on, without pauses."""
    frames = []
    monkeypatch.setattr(Window, "show", lambda self, frame, pause=0.0: frames.append((frame, pause)))
    return frames


def hasty(env):
    env.unwrapped.metadata["render_fps"] = 1000
    return env


@pytest.mark.parametrize("name", NAMES)
def test_pettingzoos_contract(name, display):
    render_test(lambda render_mode: hasty(MODULES[name].env(render_mode=render_mode, render_size=64)))


@pytest.mark.parametrize("name", NAMES)
def test_frames(name):
    """Of one shape during a game, of what the player to move sees, as large and as dark as asked."""
    env = MODULES[name].raw_env(render_mode="rgb_array", render_size=120, render_theme="dark")
    shapes, rng = set(), np.random.default_rng(0)
    env.reset(seed=3)
    for _ in range(12):
        frame = env.render()
        view = env.game.view(env.states, int(env.states["to_move"][0]))
        assert frame.dtype == np.uint8
        assert (frame == pixels(env.game.scene(view), 120, "dark")).all()
        shapes.add(frame.shape)
        if not env.states["done"][0]:
            env.step(rng.choice(np.flatnonzero(env.observe(env.agent_selection)["action_mask"])))
    [(rows, cols, channels)] = shapes
    assert (max(rows, cols), channels) == (120, 3)


def test_viewers():
    """C5: each sees their own side; everything is shown only on request."""
    frames = []
    for viewer in (None, "player_0", "player_1", "all"):
        env = curio_v0.raw_env(render_mode="rgb_array", render_viewer=viewer)
        env.reset(seed=3)
        frames.append(env.render())
    assert (frames[0] == frames[1]).all()
    assert len({frame.tobytes() for frame in frames}) == 3


def test_a_window_shows_every_position(display, shown):
    env = chameleon_v0.raw_env(size=3, render_mode="human", render_size=100)
    env.reset(seed=1)
    for text in ("a1x", "b2o"):
        env.step(env.game.string_to_action(text))
    assert env.render() is None
    expected = [env.game.scene(env.game.view(states, 0)) for states in positions(env.game, "a1x", "b2o")]
    frames = [frame for frame, _ in shown]
    assert [frame.tobytes() for frame in frames] == [pixels(s, 100).tobytes() for s in (*expected, expected[-1])]
    assert {pause for _, pause in shown} == {0.5}


def positions(game, *texts):
    states = game.init(1, np.random.default_rng(0))
    yield states.copy()
    for text in texts:
        game.step(states, [game.string_to_action(text)])
        yield states.copy()


def test_gymnasiums_window(display, shown):
    env = gymnasium.make("pbm/Unlur-v0", radius=3, opponent="random", seat=0, render_mode="human")
    _, info = env.reset(seed=1)
    env.step(int(np.flatnonzero(info["action_mask"])[0]))
    env.close()
    assert len(shown) == 2
    assert not (shown[0][0] == shown[1][0]).all()


def test_gymnasiums_frames():
    env = gymnasium.make("pbm/Curio-v0", opponent="random", seat=1, render_mode="rgb_array", render_size=100)
    env.reset(seed=1)
    game, states = env.unwrapped.game, env.unwrapped.states
    assert (env.render() == pixels(game.scene(game.view(states, 1)), 100)).all()
    envs = gymnasium.make_vec("pbm/Curio-v0", num_envs=3, render_mode="rgb_array", render_size=64)
    envs.reset(seed=1)
    frames = envs.render()
    assert isinstance(frames, tuple)
    assert len({frame.tobytes() for frame in frames}) == 3
    assert {frame.shape for frame in frames} == {frames[0].shape}


def test_a_real_window(display):
    """Opened by the first frame, kept, closed by its person: then it stays closed, and the game goes on."""
    window, frame = Window("test"), np.full((40, 60, 3), 200, np.uint8)
    window.show(frame)
    window.show(frame // 2)
    surface = window._window.get_surface()
    assert surface.get_size() == (60, 40)
    assert surface.get_at((5, 5))[:3] == (100, 100, 100)
    other = Window("other")
    other.show(frame)
    pygame.event.post(pygame.Event(pygame.WINDOWCLOSE, window=window._window))
    other.show(frame)
    assert other._window is not None
    window.show(frame)
    assert window._window is None
    other.close()
    other.show(frame)
    assert other._window is None


def test_copies_of_an_environment_with_a_window(display):
    env = hasty(trinim_v0.raw_env(size=3, num_players=3, render_mode="human"))
    env.reset(seed=1)
    for twin in (env.clone(), copy.deepcopy(env), pickle.loads(pickle.dumps(env))):
        hasty(twin).step(0)
        assert twin._renderer._window._window is not env._renderer._window._window
        twin.close()
    env.render()
    env.close()


@pytest.mark.parametrize(
    "use",
    [
        lambda: curio_v0.env(render_mode="human"),
        lambda: curio_v0.single_env(render_mode="human"),
        lambda: check_env(gymnasium.make("pbm/Chameleon-v0", size=3).unwrapped),  # Gymnasium's checker opens a window
    ],
    ids=["env", "single_env", "checker"],
)
def test_no_display(use, monkeypatch):
    pygame.display.quit()
    monkeypatch.delenv("SDL_VIDEODRIVER", raising=False)
    monkeypatch.setattr(pygame.display, "get_driver", lambda: "offscreen")
    with pytest.raises(RuntimeError, match=r"no display .*use \"rgb_array\" or \"ansi\".*SDL_VIDEODRIVER=dummy"):
        use()


@pytest.mark.parametrize(
    ("module", "mode", "extra"),
    [
        ("matplotlib.figure", "rgb_array", "render"),
        ("matplotlib.figure", "human", "render"),
        ("pygame", "human", "window"),
    ],
)
def test_a_missing_library(module, mode, extra, monkeypatch, display):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError, match=re.escape(install_command(extra))):
        curio_v0.env(render_mode=mode)
    curio_v0.env(render_mode="ansi")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"render_mode": "rgb"}, r"render_mode is 'rgb': expected None or one of \['ansi', 'rgb_array'"),
        ({"render_size": 5}, "render_size is 5: expected an integer from 16 to 8192"),
        ({"render_size": 99.5}, "render_size is 99.5: expected"),
        ({"render_theme": "blue"}, "theme is 'blue': expected one of light, dark"),
    ],
)
@pytest.mark.parametrize(
    "make", [curio_v0.raw_env, curio_v0.single_env, lambda **s: curio_v0.vector_env(2, **s)], ids=range(3)
)
def test_wrong_settings(make, settings, message):
    with pytest.raises(ValueError, match=message):
        make(**settings)


def test_libraries_are_loaded_when_they_are_needed():
    program = (
        "import sys; from pbm_envs import curio_v0; env = curio_v0.env(render_mode='ansi'); env.reset(seed=1); "
        "env.render(); env.unwrapped.game._repr_svg_(); "
        "assert not {'PIL', 'pygame', 'imageio_ffmpeg'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
