"""Extract the letters of a font as outlines: `python docs/glyphs.py Inter-Medium.otf Inter-Bold.otf` (needs fonttools).

Writes `src/pbm_envs/render/inter.json`: for each weight and character, its width and its outline as the `d` of an SVG
path, in thousandths of the font's size, y downwards from the baseline.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from fontTools.pens.svgPathPen import SVGPathPen
from fontTools.pens.transformPen import TransformPen
from fontTools.ttLib import TTFont

OUT = Path(__file__).parent.parent / "src" / "pbm_envs" / "render" / "inter.json"
CHARACTERS = [*map(chr, range(32, 127)), "\N{MIDDLE DOT}", "\N{MULTIPLICATION SIGN}", "\N{EN DASH}", "\N{EM DASH}"]


def outlines(path: str) -> dict[str, list[object]]:
    """Return the width and the outline of each character."""
    font = TTFont(path)
    glyphs, names, scale = font.getGlyphSet(), font.getBestCmap(), 1000 / font["head"].unitsPerEm
    drawn: dict[str, list[object]] = {}
    for character in CHARACTERS:
        glyph = glyphs[names[ord(character)]]
        pen = SVGPathPen(glyphs, ntos=lambda number: str(round(number)))
        glyph.draw(TransformPen(pen, (scale, 0, 0, -scale, 0, 0)))
        drawn[character] = [round(glyph.width * scale), pen.getCommands()]
    return drawn


if __name__ == "__main__":
    weights = dict(zip(("regular", "bold"), map(outlines, sys.argv[1:]), strict=True))
    lines = [
        f'"{weight}": {{\n' + ",\n".join(f"{json.dumps(c)}: {json.dumps(glyph)}" for c, glyph in drawn.items()) + "\n}"
        for weight, drawn in weights.items()
    ]
    OUT.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
