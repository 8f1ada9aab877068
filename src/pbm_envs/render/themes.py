"""Themes: the colours of the names in scenes.

The hues are those of Okabe and Ito, which colour-blind people can distinguish. Important elements also differ in shape
or lightness.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ..core.checks import quoted

COLOURS = {
    "paper": ("#faf9f6", "#15181c"),
    "ink": ("#20252b", "#eeebe4"),
    "muted": ("#646b73", "#9ba3ac"),
    "faint": ("#d8d4ca", "#353b42"),
    "cell": ("#ebe6da", "#343b43"),
    "cell 2": ("#e0d9c9", "#2a3037"),
    "rim": ("#c6bfae", "#4c555f"),
    "light": ("#fffdf5", "#f3ecdb"),
    "light shade": ("#e4dabf", "#d8cfba"),
    "light line": ("#857e6e", "#a39a86"),
    "dark": ("#3a4048", "#0b0d10"),
    "dark shade": ("#565e68", "#1f242a"),
    "dark line": ("#15181c", "#8d96a1"),
    "red": ("#d55e00", "#e8731a"),
    "green": ("#009e73", "#12b485"),
    "blue": ("#0072b2", "#3d9be0"),
    "orange": ("#e69f00", "#f0b429"),
    "on red": ("#15181c", "#15181c"),
    "on green": ("#15181c", "#15181c"),
    "on blue": ("#ffffff", "#15181c"),
    "on orange": ("#15181c", "#15181c"),
    "on heat": ("#15181c", "#15181c"),
    "gold": ("#d08f00", "#f2b632"),
    "mark": ("#b8127d", "#f05cb5"),
    "heat": ("#f29d00", "#ffb000"),
    "cold": ("#3fa0e0", "#56b4e9"),
}
"""The colours of each name in the light and in the dark theme."""
THEMES: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        theme: MappingProxyType({name: pair[k] for name, pair in COLOURS.items()})
        for k, theme in enumerate(("light", "dark"))
    }
)


def theme_named(name: str) -> Mapping[str, str]:
    """Return the colours of a theme; ValueError for an unknown name."""
    if not isinstance(name, str) or name not in THEMES:
        raise ValueError(f"theme is {quoted(name)}: expected one of {', '.join(THEMES)}")
    return THEMES[name]
