"""Records as GIF and MP4: in Python, in a notebook, on the command line."""

import re
import subprocess
import sys
from base64 import b64decode
from io import BytesIO

import imageio_ffmpeg
import numpy as np
import pytest
from PIL import Image

from pbm_envs import Curio
from pbm_envs.records import append_records, make_record
from pbm_envs.render import pixels
from pbm_envs.render.animation import animate
from pbm_envs.render.film import Film
from pbm_envs.toolbox import install_command
from tests.commands import pbm
from tests.play import play
from tests.render.positions import CURIO, SMALL

GAME = Curio(**SMALL)
MOVES = ["a1-a3", "a4-a3", "b1-b3", "c4-b3"]


def record(plies=4):
    start, end = play(GAME, board=CURIO), play(GAME, " ".join(MOVES[:plies]), CURIO)
    return make_record(GAME, start, MOVES[:plies], end, agents=("light", "dark"))


def positions(plies=4):
    return [play(GAME, " ".join(MOVES[:k]), CURIO) for k in range(plies + 1)]


def test_gif():
    """Each position in the colours of the theme, the last one three times as long."""
    film = animate(record(), size=100, theme="dark", seconds=0.5)
    picture = Image.open(BytesIO(film.gif()))
    assert (picture.n_frames, picture.info["loop"]) == (5, 0)
    pauses = []
    for k, state in enumerate(positions()):
        picture.seek(k)
        pauses.append(picture.info["duration"])
        expected = pixels(GAME.scene(state), 100, "dark").astype(int)
        assert np.abs(np.asarray(picture.convert("RGB")).astype(int) - expected).mean() < 2
        assert (np.asarray(picture.convert("RGB"))[-1, -1] == expected[-1, -1]).all()
    assert pauses == [500, 500, 500, 500, 1500]


def test_mp4(tmp_path):
    """Even sides, as the codec wants; seven units of time."""
    film, path = animate(record(), size=101, seconds=0.3), tmp_path / "game.mp4"
    film.save(path)
    ffmpeg = [imageio_ffmpeg.get_ffmpeg_exe(), "-v", "error", "-i", path, "-f", "rawvideo", "-pix_fmt", "rgb24", "-"]
    shown = np.frombuffer(subprocess.run(ffmpeg, capture_output=True, check=True).stdout, np.uint8)
    rows, cols, _ = pixels(film.scenes[0], 101).shape
    frames = shown.reshape(-1, rows + rows % 2, cols + cols % 2, 3)
    assert abs(len(frames) - 21) <= 2, "ten a second"
    for scene, frame in ((film.scenes[0], frames[0]), (film.scenes[-1], frames[-1])):
        expected = pixels(scene, 101).astype(int)
        assert np.abs(frame[:rows, :cols].astype(int) - expected).mean() < 6


def test_viewers():
    """C5: a seat's view, everything, or what all know while the game goes on."""
    over, states = record(), positions()
    assert animate(over).scenes == animate(over, "all").scenes == tuple(GAME.scene(state) for state in states)
    assert animate(over, 1).scenes == tuple(GAME.scene(GAME.view(state, 1)) for state in states)
    going = animate(record(2)).scenes
    assert going == tuple(GAME.scene(state, public=True) for state in states[:3])
    for wrong in (2, -1, "me", True, 0.5):
        with pytest.raises(ValueError, match=r"viewer is .*: expected None, 'all' or a seat from 0 to 1"):
            animate(over, wrong)


def test_a_notebook_shows_a_film():
    film = animate(record(1), size=60)
    assert repr(film) == "Film of 2 positions"
    [data] = film._repr_html_().split('"data:image/gif;base64,')[1:]
    assert b64decode(data.partition('"')[0]) == film.gif()


def test_wrong_films(tmp_path):
    scenes = animate(record(1)).scenes
    for path in ("game.png", "game", "nowhere/game.gif", "nowhere/game.mp4"):
        with pytest.raises(ValueError, match=r"cannot be written: expected a '.gif' or '.mp4' in a folder that exists"):
            Film(scenes).save(tmp_path / path)
    for settings, message in {
        ("seconds", 0): "seconds are 0: expected 0.02 to 60",
        ("size", 7): "size is 7: expected",
        ("theme", "red"): "theme is 'red': expected",
    }.items():
        with pytest.raises(ValueError, match=message):
            Film(scenes, **dict([settings]))
    with pytest.raises(ValueError, match="a film of 0 scenes: expected one or more"):
        Film(())


def test_without_ffmpeg(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    with pytest.raises(ImportError, match=re.escape(f"a GIF does not: {install_command('video')}")):
        animate(record(1), size=40).save(tmp_path / "game.mp4")


def test_the_command(tmp_path):
    games, out = tmp_path / "games.jsonl", tmp_path / "game.gif"
    append_records(games, [record(2), record()])
    code, said, _ = pbm("animate", games, out, "--show", 2, "--size", 80, "--seen-by", 1, "--theme", "dark")
    assert (code, said.split(": ")[1].split(",")[0]) == (0, "5 positions")
    assert out.read_bytes() == animate(record(), 1, size=80, theme="dark").gif()
    code, _, complaint = pbm("animate", games, out, "--size", 80)
    assert code != 0
    assert "--overwrite" in complaint
    pbm("animate", games, out, "--size", 80, "--overwrite")
    assert out.read_bytes() == animate(record(2), size=80).gif()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("game.png", "'game.png' cannot be written: expected a '.gif' or '.mp4'"),
        ("game.gif --show 3", "games.jsonl has 2 lines: there is no game in line 3"),
        ("game.gif --seen-by 2", "viewer is 2: expected None, 'all' or a seat from 0 to 1"),
        ("game.gif --seen-by me", "viewer is 'me': expected"),
        ("game.gif --theme red", "theme is 'red': expected one of light, dark"),
        ("game.gif --size 1", "size is 1: expected"),
    ],
)
def test_what_the_command_refuses(words, message, tmp_path):
    games = tmp_path / "games.jsonl"
    append_records(games, [record(2), record()])
    code, _, said = pbm("animate", games, *words.split())
    assert code == 2
    assert message in said
