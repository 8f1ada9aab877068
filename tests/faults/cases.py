"""The games that the state machines play: short ones, with every way to end."""

from pbm_envs import chameleon_v0, curio_v0, trinim_v0, unlur_v0

MODULES = {"chameleon": chameleon_v0, "curio": curio_v0, "trinim": trinim_v0, "unlur": unlur_v0}
CASES = [
    ("chameleon", {"size": 3, "allow_resign": True}),
    ("curio", {"base": 2, "rows": 4, "cols": 3, "no_capture_limit": 4}),
    ("trinim", {"size": 3, "num_players": 3, "allow_resign": True}),
    ("unlur", {"radius": 3, "allow_resign": True}),
]
HEADLESS = (None, "ansi", "rgb_array")
"""Render modes that need no screen."""
