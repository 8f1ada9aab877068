"""Films: scenes as an animated GIF (Pillow, extra `render`) or as an MP4 (ffmpeg, extra `video`)."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.checks import import_extra
from ..core.scene import Scene
from .pixels import check_size, frame_shape, pillow, pixels
from .themes import theme_named

LAST_SCENE_REPEATS = 3
"""The duration of the last scene as a multiple of that of the others."""
MIN_FRAME_RATE = 10
"""The lowest frame rate of an MP4, per second; below it some players show nothing."""
BLENDED_COLOURS = 96
"""Palette entries of a GIF in addition to the theme's colours, for blended edges and transparent shapes."""


@dataclass(frozen=True, repr=False)
class Film:
    """A film of one or more scenes of the same size. A notebook displays it as a GIF.

    Attributes:
        scenes: The scenes, in order.
        size: Pixels of the longer side.
        theme: A name in `THEMES`.
        seconds: How long each scene is shown, 0.02 to 60.
    """

    scenes: tuple[Scene, ...]
    size: int = 480
    theme: str = "light"
    seconds: float = 0.8

    def __post_init__(self) -> None:
        if not self.scenes or len({scene.box for scene in self.scenes}) > 1:
            raise ValueError(f"a film of {len(self.scenes)} scenes: expected one or more, of one size")
        check_size("size", self.size)
        theme_named(self.theme)
        if not 0.02 <= self.seconds <= 60:
            raise ValueError(f"seconds are {self.seconds!r}: expected 0.02 to 60 for each position")

    def __repr__(self) -> str:
        return f"Film of {len(self.scenes)} positions"

    def frames(self) -> Iterator[NDArray[np.uint8]]:
        """Draw the scenes one by one, each as an (H, W, 3) uint8 array."""
        return (pixels(scene, self.size, self.theme) for scene in self.scenes)

    def gif(self) -> bytes:
        """Return the bytes of a looping GIF."""
        image = pillow()
        some = [self.scenes[0], self.scenes[len(self.scenes) // 2], self.scenes[-1]]
        sample = image.fromarray(np.hstack([pixels(scene, self.size, self.theme) for scene in some]))
        pure = [channel for colour in theme_named(self.theme).values() for channel in bytes.fromhex(colour[1:])]
        # one palette for all frames, so that colours do not flicker
        palette = bytes(pure + sample.quantize(BLENDED_COLOURS).getpalette()[: 3 * BLENDED_COLOURS])
        frames = (_indexed(image, frame, palette) for frame in self.frames())
        pause, file = round(1000 * self.seconds), BytesIO()
        pauses = [pause] * (len(self.scenes) - 1) + [LAST_SCENE_REPEATS * pause]
        next(frames).save(file, format="GIF", save_all=True, append_images=list(frames), duration=pauses, loop=0)
        return file.getvalue()

    def save(self, path: str | Path) -> None:
        """Write a `.gif` or an `.mp4`; ValueError for another suffix or a folder that does not exist."""
        path = check_path(Path(path))
        if path.suffix.lower() == ".gif":
            path.write_bytes(self.gif())
        else:
            self._write_mp4(path)

    def _write_mp4(self, path: Path) -> None:
        ffmpeg = import_extra("imageio_ffmpeg", "an MP4 needs ffmpeg, a GIF does not", "video")
        rows, cols = (number + number % 2 for number in frame_shape(self.scenes[0], self.size))
        rate, quiet = 1 / self.seconds, {"macro_block_size": 2, "quality": 8, "ffmpeg_log_level": "error"}
        output = ["-r", str(max(MIN_FRAME_RATE, round(rate)))]
        writer = ffmpeg.write_frames(str(path), (cols, rows), fps=rate, output_params=output, **quiet)
        writer.send(None)
        for scene in self.scenes + self.scenes[-1:] * (LAST_SCENE_REPEATS - 1):
            frame = pixels(scene, self.size, self.theme)
            even = np.pad(frame, [(0, rows - len(frame)), (0, cols - frame.shape[1]), (0, 0)], mode="edge")
            writer.send(np.ascontiguousarray(even))
        writer.close()

    def _repr_html_(self) -> str:
        return f'<img alt="game" src="data:image/gif;base64,{b64encode(self.gif()).decode()}">'


def check_path(path: Path) -> Path:
    """Return the path if a film can be written there; ValueError otherwise."""
    if path.suffix.lower() not in (".gif", ".mp4") or not path.absolute().parent.is_dir():
        raise ValueError(f"{str(path)!r} cannot be written: expected a '.gif' or '.mp4' in a folder that exists")
    return path


def _indexed(image: Any, frame: NDArray[np.uint8], palette: bytes) -> Any:
    """Return a frame as a palette image with the nearest colours, more exactly than by Pillow's own conversion."""
    packed = frame.astype(np.int32) @ np.array([1 << 16, 1 << 8, 1], np.int32)
    colours, places = np.unique(packed, return_inverse=True)
    channels = np.stack([colours >> 16, colours >> 8 & 255, colours & 255], axis=1)
    known = np.frombuffer(palette, np.uint8).reshape(-1, 3).astype(np.int32)
    nearest = ((channels[:, None] - known) ** 2).sum(axis=2).argmin(axis=1).astype(np.uint8)
    picture = image.fromarray(nearest[places].reshape(packed.shape))  # grey values become indices
    picture.putpalette(palette)
    return picture
