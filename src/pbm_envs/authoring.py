"""Everything that the author of a game imports, in one module. `docs/promises.md` lists what will not change.

| name | purpose |
|---|---|
| `Game`, `RecordRules`, `register_game` | the base class, rules as kernels over one record, the registry |
| `Notation` | move texts |
| `kernel` | compiles a function with Numba and caches the result on disk |
| `state_dtype`, `common_fields` | the type of a record: the fields of every game, then your own |
| `NOBODY`, `NO_ACTION`, `EMPTY` | no player, no action, an empty cell |
| `Board`, `make_board`, `square`, `triangle`, `rhombus`, `hexagon`, `NO_CELL` | cells, their names and neighbours |
| `Option`, `ALLOW_RESIGN` | the declaration of an option; the option to resign |
| `check_range`, `check_flag` | checks of arguments that are numbers or flags; raise a clear ValueError |
| `is_live`, `shows_mask`, `begin_ply`, `win`, `end_in_draw`, `concede` | kernels over one record that most rules need |
| `seeds`, `next_bits`, `draw`, `uniform`, `shuffle` | random numbers inside kernels, one stream per game |
| `Symmetry`, `permutation`, `symmetry_of_cells` | symmetries of the rules |
| `Deal` | a random set-up as chance events |
| `copy_states`, `take_rows` | copies of batches and of their rows, faster than NumPy's |
| `Scene`, `Shape`, `Polygon`, `Circle`, `Line`, `Label`, `Cell`, `Glyph` | pictures as data |
| `Rule`, `Step`, `Example`, `Explanation` | short rules, lessons and sentences for people at a board |
| `States`, `Record`, `Mask`, `Planes`, `Ints`, `Seeds`, `Rng`, `Tables`, `Heat` | types of arguments |

A correct game passes every check in `pbm_envs.testing.CHECKS`.
"""

from __future__ import annotations

from .core.boards import NO_CELL, Board, Deal, hexagon, make_board, rhombus, square, triangle
from .core.checks import check_flag, check_range
from .core.game import Game
from .core.kernels import kernel
from .core.notation import Notation
from .core.options import ALLOW_RESIGN, Option
from .core.randomness import draw, next_bits, seeds, shuffle, uniform
from .core.record_rules import RecordRules
from .core.scene import Cell, Circle, Glyph, Heat, Label, Line, Polygon, Scene, Shape
from .core.state import (
    EMPTY,
    NO_ACTION,
    NOBODY,
    Ints,
    Mask,
    Planes,
    Record,
    Rng,
    Seeds,
    States,
    Tables,
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
from .core.wording import Example, Explanation, Rule, Step
from .registry import register_game

__all__ = ["Game", "RecordRules", "register_game"]
__all__ += ["Notation"]
__all__ += ["kernel"]
__all__ += ["common_fields", "state_dtype"]
__all__ += ["EMPTY", "NOBODY", "NO_ACTION"]
__all__ += ["NO_CELL", "Board", "hexagon", "make_board", "rhombus", "square", "triangle"]
__all__ += ["ALLOW_RESIGN", "Option"]
__all__ += ["check_flag", "check_range"]
__all__ += ["begin_ply", "concede", "end_in_draw", "is_live", "shows_mask", "win"]
__all__ += ["draw", "next_bits", "seeds", "shuffle", "uniform"]
__all__ += ["Symmetry", "permutation", "symmetry_of_cells"]
__all__ += ["Deal"]
__all__ += ["copy_states", "take_rows"]
__all__ += ["Cell", "Circle", "Glyph", "Label", "Line", "Polygon", "Scene", "Shape"]
__all__ += ["Example", "Explanation", "Rule", "Step"]
__all__ += ["Heat", "Ints", "Mask", "Planes", "Record", "Rng", "Seeds", "States", "Tables"]
