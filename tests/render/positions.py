"""Positions whose pictures are kept in `golden/`: `python -m tests.render.positions` writes them anew. Look at what has
changed before you commit it.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pbm_envs import Game, make_game
from pbm_envs.core.state import States
from pbm_envs.render import Scene
from tests.play import play

Floats: TypeAlias = NDArray[np.float64]
GOLDEN = Path(__file__).parent / "golden"
SMALL = {"base": 2, "rows": 4, "cols": 3}
CURIO = "D12 D11 D22/. . ./. . ./L21 L22 L11"
HEATED = "heated"

# game, options, board, moves, seat (None: everything), public; with heat if the name ends in HEATED
POSITIONS = {
    "chameleon": ("chameleon", {"size": 3}, None, "b1x b3o a2x", 0, False),
    "chameleon-swapped": ("chameleon", {"size": 3}, None, "b1x swap", 1, False),
    "chameleon-won": ("chameleon", {"size": 3}, None, "b1x b3x a2x c2x b2x", 0, False),
    "chameleon-heated": ("chameleon", {"size": 3}, None, "b2o", 0, False),
    "unlur": ("unlur", {"radius": 3}, None, "c3", 0, False),
    "unlur-y": ("unlur", {"radius": 3}, None, "c2 b3 c3 d4 black b4 d2 c4 a2 b2 e5", 0, False),
    "unlur-line": ("unlur", {"radius": 3}, None, "c3 c2 c4 black e5 b4 e3 d2", 0, False),
    "trinim": ("trinim", {"size": 3, "num_players": 3, "allow_resign": True}, "r/gb/rgb", "A3-B3 resign", 2, False),
    "trinim-heated": ("trinim", {"size": 3, "num_players": 3}, "r/gb/rgb", "B2", 1, False),
    "curio-light-heated": ("curio", SMALL, CURIO, "a1-a3 a4-a3", 0, False),
    "curio-dark": ("curio", SMALL, CURIO, "a1-a3 a4-a3", 1, False),
    "curio-all": ("curio", SMALL, CURIO, "a1-a3 a4-a3", None, False),
    "curio-public": ("curio", SMALL, CURIO, "a1-a3 a4-a3", None, True),
    "curio-hidden": ("curio", {**SMALL, "reveal_captured": False, "face": "random"}, CURIO, "a1-a3 a4-a3", 0, False),
}


def position(name: str) -> tuple[Game, States]:
    """The game and the view that are drawn."""
    kind, options, board, moves, seat, _ = POSITIONS[name]
    game = make_game(kind, **options)
    states = play(game, moves, board)
    return game, states if seat is None else game.view(states, seat)


def scene(name: str) -> Scene:
    game, view = position(name)
    return game.scene(view, some_heat(game) if name.endswith(HEATED) else None, public=POSITIONS[name][-1])


def as_json(scene: Scene) -> str:
    """The scene with one shape per line, and numbers to four places."""
    painted = {"shapes": scene.shapes, "coordinates": scene.coordinates, "legend": scene.legend}
    parts: dict[str, list[Any]] = {
        name: [{"kind": type(shape).__name__, **_plain(shape)} for shape in shapes] for name, shapes in painted.items()
    }
    parts["cells"] = [_plain(cell) for cell in scene.cells]
    parts["glyphs"] = [[glyph.row, glyph.col, glyph.text, *filter(None, [glyph.style])] for glyph in scene.glyphs]
    lines = [f'"box": {json.dumps(_round(scene.box))}']
    for name, members in parts.items():
        lines.append(f'"{name}": [\n' + ",\n".join(json.dumps(member) for member in members) + "\n]")
    lines += [f'"notes": {json.dumps(scene.notes)}', f'"caption": {json.dumps(scene.caption)}']
    return "{" + ",\n".join(lines) + "}\n"


def _plain(thing: Any) -> dict[str, Any]:
    """Its fields, less those that say nothing."""
    fields = {name: _round(value) for name, value in asdict(thing).items()}
    return {
        name: value for name, value in fields.items() if value not in (None, False) and (name, value) != ("opacity", 1)
    }


def _round(value: Any) -> Any:
    if isinstance(value, float):
        return round(value, 4) + 0.0  # not -0.0
    return [_round(part) for part in value] if isinstance(value, tuple) else value


def some_heat(game: Game) -> Floats:
    """(A,) of the first twelve actions and the last one."""
    heat = np.full(game.num_actions, np.nan)
    heat[:12] = np.arange(12) % 5 - 1.0
    heat[-1] = 2.0
    return heat


if __name__ == "__main__":
    GOLDEN.mkdir(exist_ok=True)
    for name in POSITIONS:
        (GOLDEN / f"{name}.json").write_text(as_json(scene(name)), encoding="utf-8")
