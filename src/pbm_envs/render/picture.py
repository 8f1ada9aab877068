"""Pictures as notebooks show and files keep them."""

from __future__ import annotations

from base64 import b64encode
from dataclasses import dataclass
from html import escape
from pathlib import Path

from ..core.checks import check_path
from ..core.printable import quoted
from ..core.scene import Scene
from .pixels import check_size, pdf, pixels, png
from .svg import svg
from .text import text
from .themes import theme_named


@dataclass(frozen=True, repr=False)
class Picture:
    """A scene to look at: a notebook shows it, `print` writes it as text, and `save` as a file.

    A notebook keeps it as SVG and, with the extra `render`, as PNG, which is all that JupyterLab shows of notebooks
    that it does not trust, such as those of a fresh clone.

    Attributes:
        scene: What is drawn.
        size: Pixels of the longer side.
        theme: A name in `THEMES`.
        transparent: Without a ground.
    """

    scene: Scene
    size: int = 480
    theme: str = "light"
    transparent: bool = False

    def __post_init__(self) -> None:
        check_size("size", self.size)
        theme_named(self.theme)

    def __repr__(self) -> str:
        return text(self.scene)

    def _repr_svg_(self) -> str:
        return svg(self.scene, self.size, self.theme, transparent=self.transparent)

    def _repr_png_(self) -> bytes | None:
        try:
            return self._png(small=True)
        except ImportError:
            return None

    def _png(self, *, small: bool = False) -> bytes:
        return png(pixels(self.scene, self.size, self.theme, transparent=self.transparent), small=small)

    def in_html(self) -> str:
        """Return an `<img>` that shows the picture; unlike a bare `<svg>`, it is shown in untrusted notebooks too."""
        data = b64encode(self._repr_svg_().encode()).decode()
        return f'<img alt="{escape(self.scene.caption)}" src="data:image/svg+xml;base64,{data}"/>'

    def save(self, path: str | Path) -> None:
        """Write an `.svg`, a `.png`, a `.pdf` (`size` points long) or a `.txt`; ValueError for another ending."""
        check_path("path", path)
        kind = Path(path).suffix.lower()
        if kind == ".svg":
            Path(path).write_text(self._repr_svg_(), encoding="utf-8")
        elif kind == ".txt":
            Path(path).write_text(f"{self}\n", encoding="utf-8")
        elif kind == ".png":
            Path(path).write_bytes(self._png())
        elif kind == ".pdf":
            Path(path).write_bytes(pdf(self.scene, self.size, self.theme, transparent=self.transparent))
        else:
            raise ValueError(f"{quoted(str(path))} ends in {quoted(kind)}: expected '.svg', '.png', '.pdf' or '.txt'")
