"""Scenes as pixels (extra `render`), without a display and without the machine's fonts."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.printable import quoted
from ..core.scene import Scene
from .painting import figure

SMALLEST, LARGEST = 16, 8192


def pixels(scene: Scene, size: int = 480, theme: str = "light", *, transparent: bool = False) -> NDArray[np.uint8]:
    """Draw a scene as an array.

    Args:
        scene: What to draw.
        size: Pixels of the longer side, 16 to 8192.
        theme: A name in `THEMES`.
        transparent: Without a ground; the array has a fourth channel, how opaque each pixel is.

    Returns:
        (H, W, 3) uint8, or (H, W, 4) if transparent, in the proportions of the scene's box.

    Raises:
        ImportError: If Matplotlib is missing.
        ValueError: If there is no such size or theme.
    """
    rows, cols = frame_shape(scene, size)
    drawn = figure(scene, rows, cols, theme, transparent=transparent)
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    canvas: Any = FigureCanvasAgg(drawn)
    canvas.draw()
    return np.array(np.asarray(canvas.buffer_rgba())[:, :, : 4 if transparent else 3])


def pdf(scene: Scene, size: int = 480, theme: str = "light", *, transparent: bool = False) -> bytes:
    """Return the bytes of a PDF of one page, `size` points (of 1/72 inch) on its longer side.

    Args:
        scene: What to draw.
        size: Points of the longer side.
        theme: A name in `THEMES`.
        transparent: Without a ground.

    Raises:
        ImportError: If Matplotlib is missing.
        ValueError: If there is no such size or theme.
    """
    drawn = figure(scene, *frame_shape(scene, size), theme, transparent=transparent)
    from matplotlib.backends.backend_pdf import FigureCanvasPdf

    file = BytesIO()
    canvas: Any = FigureCanvasPdf(drawn)
    canvas.print_pdf(file, metadata={"CreationDate": None, "Title": scene.caption})
    return file.getvalue()


def png(frame: NDArray[np.uint8], *, small: bool = False) -> bytes:
    """Return the bytes of a PNG.

    Args:
        frame: (H, W, 3) or (H, W, 4) uint8.
        small: In 256 colours, which nobody can tell apart in our pictures; half as many bytes. Not with transparency.
    """
    image, file = pillow().fromarray(frame), BytesIO()
    if small and frame.shape[2] == 3:
        image = image.quantize(256, dither=0)
    image.save(file, format="PNG", optimize=True)
    return file.getvalue()


def save_png(path: str | Path, frame: NDArray[np.uint8], *, small: bool = False) -> None:
    """Write a frame as a PNG; the arguments are those of `png`."""
    Path(path).write_bytes(png(frame, small=small))


def check_size(name: str, size: int) -> None:
    """Raise ValueError, naming the argument `name`, unless a picture can be `size` pixels long."""
    if isinstance(size, bool) or not isinstance(size, (int, np.integer)) or not SMALLEST <= size <= LARGEST:
        raise ValueError(f"{name} is {quoted(size)}: expected an integer from {SMALLEST} to {LARGEST}, in pixels")


def frame_shape(scene: Scene, size: int) -> tuple[int, int]:
    """Return (H, W), the shape of the frame that `pixels` would draw."""
    check_size("size", size)
    _, _, width, height = scene.box
    longer = max(width, height)
    return max(1, round(size * height / longer)), max(1, round(size * width / longer))


def pillow() -> Any:
    """Import Pillow's module Image; ImportError with the extra to install."""
    try:
        from PIL import Image
    except ImportError:
        raise ImportError("pictures in pixels need Pillow: pip install 'pbm-envs[render]'") from None
    return Image
