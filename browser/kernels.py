"""A WebAssembly module of compiled kernels: Numba's LLVM code of each, compiled for another target, and linked."""

from __future__ import annotations

import inspect
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

FOLDER = tempfile.mkdtemp()
os.environ |= {  # kernels from a cache have no LLVM code; vectors of 128 bits, as in WebAssembly
    "PBM_ENVS_CACHE_DIR": FOLDER,
    "NUMBA_CPU_NAME": "generic",
    "NUMBA_CPU_FEATURES": "",
}

import llvmlite.binding as llvm  # noqa: E402
import numba  # noqa: E402
import numpy as np  # noqa: E402
from numba.core import types  # noqa: E402
from recording import recorded  # noqa: E402

from pbm_envs import Game  # noqa: E402
from pbm_envs.core.layouts import layout_of  # noqa: E402

TRIPLE, STACK = "wasm32-unknown-unknown", 1 << 20
FEATURES = "+simd128,+bulk-memory,+nontrapping-fptoint,+sign-ext,+mutable-globals"


class Input(NamedTuple):
    """An argument that the caller in JavaScript chooses, by name; the value only has its type."""

    name: str
    value: Any


class Module:
    """The kernels and constant arrays of one game."""

    def __init__(self) -> None:
        self.functions: dict[tuple[Any, Any], str] = {}
        self.objects: list[bytes] = []
        self.arrays: list[dict[str, Any]] = []
        self.data = bytearray()
        self._known: dict[tuple[Any, ...], int] = {}
        llvm.initialize_all_targets()
        llvm.initialize_all_asmprinters()
        self._target = llvm.Target.from_triple(TRIPLE).create_target_machine(opt=3, features=FEATURES, reloc="static")

    def call(self, kernel: Any, arguments: tuple[Any, ...], inputs: dict[str, Any]) -> list[Any]:
        """Return a call as `[function, arguments]`; arrays that are among `inputs` are arguments by name."""
        values = tuple(each.value if isinstance(each, Input) else each for each in arguments)
        flat = [entry for each in arguments for entry in self._flat(each, inputs)]
        return [self.function(kernel, values), flat]

    def calls_of(self, game: Game, hook: Callable[..., Any], **inputs: Any) -> list[Any]:
        """Return the calls of kernels that a method of a game makes for these inputs."""
        hook(*inputs.values())
        with recorded() as calls:
            vars(game).pop("_kernels", None)  # the game keeps its kernels, and takes those that are recorded instead
            hook(*inputs.values())
        vars(game).pop("_kernels", None)
        return [self.call(call.kernel, call.arguments, inputs) for call in calls]

    def function(self, kernel: Any, values: tuple[Any, ...]) -> str:
        """Return the name of a kernel compiled for these arguments; the arguments of a `*` parameter are folded."""
        parameters = list(inspect.signature(kernel.py_func).parameters.values())
        if parameters[-1].kind is inspect.Parameter.VAR_POSITIONAL:
            fixed = len(parameters) - 1
            folded = len(values) == len(parameters) and isinstance(values[-1], tuple)
            values = values if folded else (*values[:fixed], tuple(values[fixed:]))
        signature = tuple(map(numba.typeof, values))
        if (kernel, signature) not in self.functions:
            name = kernel.py_func.__name__
            same = [one.py_func.__name__ == name for one, _ in self.functions]
            name += f"_{sum(same) + 1}"
            self.functions[kernel, signature] = name
            self.objects.append(self._compile(kernel, signature, name))
        return self.functions[kernel, signature]

    def _compile(self, kernel: Any, signature: Any, name: str) -> bytes:
        kernel.compile(signature)
        compiled = kernel.overloads[signature]
        code = compiled.library.get_llvm_str()
        for key, value in (("datalayout", self._target.target_data), ("triple", TRIPLE)):
            code = re.sub(rf"^target {key} = .*$", f'target {key} = "{value}"', code, flags=re.M)
        code = re.sub(r"= common (local_unnamed_addr |unnamed_addr )?global", "= weak global", code)
        code = re.sub(r'"(target-cpu|target-features|tune-cpu|probe-stack)"="[^"]*"', "", code)
        symbol = compiled.fndesc.llvm_func_name
        code = code.replace(f'@"{symbol}"', f"@{name}").replace(f"@{symbol}(", f"@{name}(")
        return self._target.emit_object(llvm.parse_assembly(code))

    def _flat(self, value: Any, inputs: dict[str, Any]) -> Iterator[Any]:
        """Yield the flattened entries of an argument: a name, the number of an array, or `[type, number]`."""
        if isinstance(value, Input):
            yield value.name
        elif isinstance(value, tuple):
            for each in value:
                yield from self._flat(each, inputs)
        elif isinstance(value, np.ndarray):
            yield next((name for name, array in inputs.items() if array is value), None) or self.constant(value)
        elif isinstance(value, (bool, np.bool_)):
            yield ["i32", int(value)]
        else:
            kind = numba.typeof(value)
            if isinstance(kind, types.Integer):
                yield ["i64" if kind.bitwidth == 64 else "i32", str(value)]
            else:
                yield ["f64" if kind == types.float64 else "f32", float(value)]

    def constant(self, array: Any) -> int:
        """Return the number of a constant array."""
        registered = layout_of(array)
        layout = None if registered is None else self.constant(registered)
        data = np.ascontiguousarray(array).tobytes()
        key = array.shape, array.dtype, data
        if key not in self._known:
            self.data.extend(bytes(-len(self.data) % 16))
            spec = {"at": len(self.data), "shape": array.shape, "itemsize": array.itemsize}
            self._known[key] = len(self.arrays)
            self.arrays.append(spec if layout is None else {**spec, "layout": layout})
            self.data.extend(data)
        return self._known[key]

    def link(self, target: Path) -> None:
        """Write the module; raise CalledProcessError if a kernel calls a function that is not there."""
        with tempfile.TemporaryDirectory() as folder:
            files = [Path(folder, f"{k}.o") for k in range(len(self.objects))]
            for file, content in zip(files, self.objects, strict=True):
                file.write_bytes(content)
            linker = [sys.executable, "-m", "ziglang", "wasm-ld", "--no-entry", "--gc-sections", "--strip-all"]
            memory = ["-z", f"stack-size={STACK}", "--stack-first", "--export=__heap_base"]
            table = ["--export-table", "--growable-table"]
            exports = [f"--export={name}" for name in self.functions.values()]
            subprocess.run([*linker, *memory, *table, *exports, "-o", target, *files], check=True)
