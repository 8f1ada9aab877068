"""Pictures of games: a scene as text, as SVG, as pixels or as PDF, and films of scenes.

A game turns a view into a scene (`Game.scene`). This package draws scenes and knows no game. Since a scene is made from
a view, it shows only what that player may see.
"""

from types import SimpleNamespace

from ..core.hooks import GameHooks
from ..core.scene import Scene
from .film import Film
from .parts import warmth
from .picture import Picture, cropped
from .pixels import pdf, pixels, save_png
from .plain import plain_scene
from .svg import svg
from .text import text
from .themes import THEMES

__all__ = ["THEMES", "Film", "Picture", "Scene", "cropped", "pdf", "pixels", "save_png", "svg", "text"]

GameHooks.drawing = SimpleNamespace(picture=Picture, cropped=cropped, plain_scene=plain_scene, text=text, warmth=warmth)
