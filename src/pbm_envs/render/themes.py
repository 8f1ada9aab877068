"""Themes: what colours the names in scenes stand for.

The hues are those of Okabe and Ito, which colour-blind people can tell apart. What matters differs in shape or
lightness as well.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ..core.printable import quoted

THEMES: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "light": MappingProxyType(
            {
                "paper": "#faf9f6",
                "ink": "#20252b",
                "muted": "#646b73",
                "faint": "#d8d4ca",
                "cell": "#ebe6da",
                "cell 2": "#e0d9c9",
                "rim": "#c6bfae",
                "light": "#fffdf5",
                "light shade": "#e4dabf",
                "light line": "#857e6e",
                "dark": "#3a4048",
                "dark shade": "#565e68",
                "dark line": "#15181c",
                "red": "#d55e00",
                "green": "#009e73",
                "blue": "#0072b2",
                "orange": "#e69f00",
                "on red": "#15181c",
                "on green": "#15181c",
                "on blue": "#ffffff",
                "on orange": "#15181c",
                "on heat": "#15181c",
                "gold": "#d08f00",
                "mark": "#b8127d",
                "heat": "#f29d00",
                "cold": "#3fa0e0",
            }
        ),
        "dark": MappingProxyType(
            {
                "paper": "#15181c",
                "ink": "#eeebe4",
                "muted": "#9ba3ac",
                "faint": "#353b42",
                "cell": "#343b43",
                "cell 2": "#2a3037",
                "rim": "#4c555f",
                "light": "#f3ecdb",
                "light shade": "#d8cfba",
                "light line": "#a39a86",
                "dark": "#0b0d10",
                "dark shade": "#1f242a",
                "dark line": "#8d96a1",
                "red": "#e8731a",
                "green": "#12b485",
                "blue": "#3d9be0",
                "orange": "#f0b429",
                "on red": "#15181c",
                "on green": "#15181c",
                "on blue": "#15181c",
                "on orange": "#15181c",
                "on heat": "#15181c",
                "gold": "#f2b632",
                "mark": "#f05cb5",
                "heat": "#ffb000",
                "cold": "#56b4e9",
            }
        ),
    }
)


def theme_named(name: str) -> Mapping[str, str]:
    """Return the colours of a theme by name; ValueError if there is none of that name."""
    if not isinstance(name, str) or name not in THEMES:
        raise ValueError(f"theme is {quoted(name)}: expected one of {', '.join(THEMES)}")
    return THEMES[name]
