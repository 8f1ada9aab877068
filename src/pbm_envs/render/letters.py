"""The letters of pictures as outlines, so that SVG, pixels and PDF look the same on every machine.

The outlines are Inter's (Medium and Bold, under the SIL Open Font License: `inter_LICENSE.txt`), taken by
`docs/glyphs.py`. Units are thousandths of the font's size, y downwards from the baseline.
"""

from __future__ import annotations

import json
import re
from functools import cache, lru_cache
from pathlib import Path
from typing import TypeAlias

EM = 1000
BASELINE = 0.364
"""How far the baseline of a label lies below its middle, as a share of its size: half the height of a capital."""
UNKNOWN = "?"
"""What is drawn for a character that has no outline."""
Command: TypeAlias = tuple[str, tuple[int, ...]]
"""M, L, C or Q with absolute coordinates, x and y in turns; Z without."""


@lru_cache(4096)
def outline(text: str, bold: bool) -> tuple[Command, ...]:
    """Return the outline of a text that begins at (0, 0) on its baseline."""
    commands: list[Command] = []
    x = 0
    for character in text:
        width, drawn = _glyph(character, bold)
        commands += [(letter, tuple(n + x * (k % 2 == 0) for k, n in enumerate(numbers))) for letter, numbers in drawn]
        x += width
    return tuple(commands)


def width(text: str, bold: bool) -> float:
    """Return how wide a text is, as a share of its size."""
    return sum(_glyph(character, bold)[0] for character in text) / EM


def left(text: str, bold: bool, anchor: str) -> float:
    """Return where a text begins, if its `anchor` is at 0, as a share of its size."""
    return -width(text, bold) * {"start": 0.0, "middle": 0.5, "end": 1.0}[anchor]


@lru_cache(4096)
def svg_path(text: str, bold: bool) -> str:
    """Return the outline as the `d` of an SVG path."""
    return "".join(letter + " ".join(map(str, numbers)) for letter, numbers in outline(text, bold))


@cache
def _glyph(character: str, bold: bool) -> tuple[int, tuple[Command, ...]]:
    glyphs = _glyphs()["bold" if bold else "regular"]
    wide, path = glyphs.get(character, glyphs[UNKNOWN])
    return wide, _parsed(path)


@cache
def _glyphs() -> dict[str, dict[str, tuple[int, str]]]:
    return json.loads((Path(__file__).parent / "inter.json").read_text(encoding="utf-8"))


def _parsed(path: str) -> tuple[Command, ...]:
    """Read the `d` of an SVG path; repeated and horizontal or vertical commands are written out."""
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
