"""Everything that the author of a game imports, in one module. `docs/promises.md` says what stays as it is.

| name | what it is for |
|---|---|
| `Game`, `RecordRules`, `register_game` | the class to derive from, rules as kernels over one record, the registry |
| `Notation` | move texts |
| `kernel` | compiles a function with Numba and keeps the result for the next process |
| `state_dtype`, `common_fields` | the type of a record: the fields of every game, then your own |
| `NOBODY`, `NO_ACTION`, `EMPTY` | no player, no action, an empty cell |
| `Board`, `make_board`, `square`, `triangle`, `rhombus`, `hexagon`, `NO_CELL` | cells, their names and neighbours |
| `Option`, `ALLOW_RESIGN` | the declaration of an option; that of resigning |
| `check_range`, `check_flag` | arguments that are numbers or flags, or a clear ValueError |
| `is_live`, `shows_mask`, `begin_ply`, `win`, `end_in_draw`, `concede` | kernels over one record that most rules need |
| `seeds`, `next_bits`, `draw`, `uniform`, `shuffle` | random numbers inside kernels, one stream a game |
| `Symmetry`, `permutation`, `symmetry_of_cells` | symmetries of the rules |
| `Deal` | a random set-up as chance events |
| `copy_states`, `take_rows` | batches copied, and rows of them, faster than by NumPy's fields |
| `Scene`, `Shape`, `Polygon`, `Circle`, `Line`, `Label`, `Cell`, `Glyph` | pictures as data |
| `States`, `Record`, `Mask`, `Planes`, `Ints`, `Seeds`, `Rng`, `Tables`, `Heat` | types of arguments |

A game that is right passes every check of `pbm_envs.testing.CHECKS`.
"""

from __future__ import annotations

from .core.boards import NO_CELL, Board, hexagon, make_board, rhombus, square, triangle
from .core.checks import check_flag, check_range
from .core.deals import Deal
from .core.game import ALLOW_RESIGN, Game
from .core.kernels import kernel
from .core.notation import Notation
from .core.options import Option
from .core.randomness import draw, next_bits, seeds, shuffle, uniform
from .core.record_rules import RecordRules
from .core.scene import Cell, Circle, Glyph, Heat, Label, Line, Polygon, Scene, Shape
from .core.state import (
    EMPTY,
    NO_ACTION,
    NOBODY,
    begin_ply,
    common_fields,
    concede,
    copy_states,
    end_in_draw,
    is_live,
    shows_mask,
    state_dtype,
    take_rows,
    win,
)
from .core.symmetry import Symmetry, permutation, symmetry_of_cells
from .core.types import Ints, Mask, Planes, Record, Rng, Seeds, States, Tables
from .registry import register_game

__all__ = [
    "ALLOW_RESIGN",
    "EMPTY",
    "NOBODY",
    "NO_ACTION",
    "NO_CELL",
    "Board",
    "Cell",
    "Circle",
    "Deal",
    "Game",
    "Glyph",
    "Heat",
    "Ints",
    "Label",
    "Line",
    "Mask",
    "Notation",
    "Option",
    "Planes",
    "Polygon",
    "Record",
    "RecordRules",
    "Rng",
    "Scene",
    "Seeds",
    "Shape",
    "States",
    "Symmetry",
    "Tables",
    "begin_ply",
    "check_flag",
    "check_range",
    "common_fields",
    "concede",
    "copy_states",
    "draw",
    "end_in_draw",
    "hexagon",
    "is_live",
    "kernel",
    "make_board",
    "next_bits",
    "permutation",
    "register_game",
    "rhombus",
    "seeds",
    "shows_mask",
    "shuffle",
    "square",
    "state_dtype",
    "symmetry_of_cells",
    "take_rows",
    "triangle",
    "uniform",
    "win",
]
