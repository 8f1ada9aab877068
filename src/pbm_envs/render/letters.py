"""The letters of pictures as outlines, so that SVG, pixels and PDF look the same on every machine.

The outlines are those of Inter (Medium and Bold, under the SIL Open Font License: `inter_LICENSE.txt`), extracted by
`docs/glyphs.py`. Units are thousandths of the font's size, with y downwards from the baseline.
"""

from __future__ import annotations

import json
import re
from functools import cache, lru_cache
from pathlib import Path
from typing import TypeAlias

from ..core.scene import Label, Point

EM = 1000
BASELINE = 0.364
"""Distance of a label's baseline below its middle as a share of its size: half the height of a capital."""
UNKNOWN = "?"
"""The character drawn for one without an outline."""
Command: TypeAlias = tuple[str, tuple[int, ...]]
"""A path command: M, L, C or Q with absolute coordinates, x and y alternating, or Z without coordinates."""


@lru_cache(4096)
def outline(text: str, bold: bool) -> tuple[Command, ...]:
    """Return the outline of a text whose baseline starts at (0, 0)."""
    commands: list[Command] = []
    x = 0
    for character in text:
        width, drawn = _glyph(character, bold)
        commands += [(letter, tuple(n + x * (k % 2 == 0) for k, n in enumerate(numbers))) for letter, numbers in drawn]
        x += width
    return tuple(commands)


def width(label: Label) -> float:
    """Return the width of a label in units of the scene."""
    return label.size * sum(_glyph(character, label.bold)[0] for character in label.text) / EM


def start(label: Label) -> Point:
    """Return the left end of a label's baseline."""
    before = {"start": 0.0, "middle": 0.5, "end": 1.0}[label.anchor]
    return label.x - before * width(label), label.y + BASELINE * label.size


@lru_cache(4096)
def svg_path(text: str, bold: bool) -> str:
    """Return the outline as the `d` of an SVG path."""
    return "".join(letter + " ".join(map(str, numbers)) for letter, numbers in outline(text, bold))


@cache
def _glyph(character: str, bold: bool) -> tuple[int, tuple[Command, ...]]:
    """Return the width and the outline of a character."""
    glyphs = _glyphs()["bold" if bold else "regular"]
    wide, path = glyphs.get(character, glyphs[UNKNOWN])
    return wide, _parsed(path)


@cache
def _glyphs() -> dict[str, dict[str, tuple[int, str]]]:
    return json.loads((Path(__file__).parent / "inter.json").read_text(encoding="utf-8"))


def _parsed(path: str) -> tuple[Command, ...]:
    """Parse the `d` of an SVG path; expand repeated, horizontal and vertical commands."""
    commands: list[Command] = []
    x = y = 0
    for letter, text in re.findall(r"([MLHVCQZ])([-\d ]*)", path):
        numbers = [int(number) for number in re.findall(r"-?\d+", text)]
        if letter in "HV":
            for number in numbers:
                x, y = (number, y) if letter == "H" else (x, number)
                commands.append(("L", (x, y)))
            continue
        step = {"M": 2, "L": 2, "C": 6, "Q": 4, "Z": 0}[letter]
        for k in range(0, len(numbers), step) if step else ():
            commands.append((letter if k == 0 or letter != "M" else "L", tuple(numbers[k : k + step])))
            x, y = numbers[k + step - 2 : k + step]
        if letter == "Z":
            commands.append(("Z", ()))
    return tuple(commands)
