"""Pictures. A game turns a view into a scene (`Game.scene`); what stands here turns scenes into text, SVG and pixels,
and knows no game. What is drawn comes from a view, so it shows what that player may see.
"""

from .film import Film
from .picture import Picture
from .pixels import pixels, save_png
from .scene import Scene
from .svg import svg
from .text import text
from .themes import THEMES

__all__ = ["THEMES", "Film", "Picture", "Scene", "pixels", "save_png", "svg", "text"]
