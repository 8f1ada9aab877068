"""Building blocks of fast agents and of programs around games; `pbm_agents` uses this and `pbm_envs.authoring`.

| name | purpose |
|---|---|
| `stack_kernel` | as `kernel`, for functions that allocate arrays only on the stack: most kernels |
| `table_of_calls`, `call`, `call_for_int`, `call_for_flag` | kernels that call others by address |
| `BatchKernel`, `PlayKernels` | kernels that play a game without returning to Python |
| `NetworkInputs` | the inputs of a small network, updated move by move |
| `COMPILES`, `COMPILING`, `Progress`, `SEARCH`, `SHARED`, `rules_of` | the progress of compilation |
| `cache_directory` | the folder of compiled kernels |
| `branch` | new random streams inside kernels |
| `log`, `exp`, `exp_in_range` | logarithm and exponential function in kernels, equal on every machine |
| `derive`, `stream`, `BITS`, `RECORDED_BITS` | seeds and generators for parts of a program, by name |
| `setting`, `options_of`, `check_settings`, `checked`, `REQUIRED`, `nearest` | settings: declared, read, checked |
| `parse_options`, `choices_given`, `narrowed`, `without_implied`, `typed` | options of games as text |
| `check_game`, `check_number`, `check_seed` | checks of arguments; raise a clear ValueError |
| `quoted`, `printable`, `summary`, `describe_error` | untrusted values and errors in one safe line |
| `require`, `import_extra`, `install_command` | errors for missing extras |
| `write_text`, `in_one_piece`, `is_partial` | files that are written atomically |
| `as_bytes` | records as rows of bytes |
| `Drawn`, `Sample`, `LEFT`, `RIGHT`, `TOP`, `BOTTOM` | parts of pictures; sides of a board |
| `Array`, `Floats` | types of arguments |
"""

from __future__ import annotations

from .core.boards import BOTTOM, LEFT, RIGHT, TOP
from .core.calls import call, call_for_flag, call_for_int, table_of_calls
from .core.checks import (
    check_number,
    check_seed,
    describe_error,
    import_extra,
    install_command,
    printable,
    quoted,
    require,
    summary,
)
from .core.compiling import COMPILING, SEARCH, SHARED, Progress, rules_of
from .core.elementary import exp, exp_in_range, log
from .core.files import in_one_piece, is_partial, write_text
from .core.kernel_files import cache_directory
from .core.kernels import COMPILES, stack_kernel
from .core.options import (
    REQUIRED,
    check_settings,
    checked,
    choices_given,
    narrowed,
    nearest,
    options_of,
    parse_options,
    setting,
    typed,
    without_implied,
)
from .core.randomness import BITS, RECORDED_BITS, branch, derive, stream
from .core.record_rules import BatchKernel, NetworkInputs, PlayKernels
from .core.scene import Drawn, Sample
from .core.state import Array, Floats, as_bytes
from .core.validation import check_game

__all__ = ["stack_kernel"]
__all__ += ["call", "call_for_flag", "call_for_int", "table_of_calls"]
__all__ += ["BatchKernel", "NetworkInputs", "PlayKernels"]
__all__ += ["COMPILES", "COMPILING", "SEARCH", "SHARED", "Progress", "rules_of"]
__all__ += ["cache_directory"]
__all__ += ["branch"]
__all__ += ["exp", "exp_in_range", "log"]
__all__ += ["BITS", "RECORDED_BITS", "derive", "stream"]
__all__ += ["REQUIRED", "check_settings", "checked", "nearest", "options_of", "setting"]
__all__ += ["choices_given", "narrowed", "parse_options", "typed", "without_implied"]
__all__ += ["check_game", "check_number", "check_seed"]
__all__ += ["describe_error", "printable", "quoted", "summary"]
__all__ += ["in_one_piece", "is_partial", "write_text"]
__all__ += ["import_extra", "install_command", "require"]
__all__ += ["as_bytes"]
__all__ += ["BOTTOM", "LEFT", "RIGHT", "TOP", "Drawn", "Sample"]
__all__ += ["Array", "Floats"]
