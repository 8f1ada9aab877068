"""The games that the state machines play: short ones, with every way to end."""

from tests.environments import MODULES, SMALL

SETTINGS = {
    "chameleon": {"allow_resign": True},
    "curio": {"limit": True, "capture": "le", "no_capture_limit": 4},
    "trinim": {"allow_resign": True},
    "unlur": {"allow_resign": True},
}
"""Further options by which a game ends in more ways, for those that have such options."""
CASES = [(name, SMALL[name] | SETTINGS.get(name, {})) for name in MODULES]
HEADLESS = (None, "ansi", "rgb_array")
"""Render modes that need no screen."""


def as_seen_last(states):
    """States as their players see them last: what a limit of plies or an illegal action has cut off looks like a game
    under way, since a learner has to estimate what it is worth.
    """
    seen = states.copy()
    seen["done"] &= ~states["truncated"]
    seen["truncated"] = False
    return seen
