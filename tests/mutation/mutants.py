"""Small changes of a module's functions, one at a time: each a code object for one function."""

from __future__ import annotations

import ast
import copy
import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from types import CodeType, FunctionType, ModuleType
from typing import Any

SWAPS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.BitXor: ast.BitAnd,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.And: ast.Or,
    ast.Or: ast.And,
}
DIRECTIONS: dict[type[ast.AST], type[ast.AST]] = {ast.Lt: ast.Gt, ast.LtE: ast.GtE, ast.Gt: ast.Lt, ast.GtE: ast.LtE}
"""Of comparisons also the other way round."""


@dataclass(frozen=True)
class Mutant:
    """One changed function."""

    module: str
    function: str
    line: int
    column: int
    change: str
    source: ast.FunctionDef
    position: int
    """Of the node in the function, as `_nodes` lists them."""
    kind: int
    """Which of its changes."""

    @property
    def name(self) -> str:
        """Lines are counted from the function's first, so that names outlive changes elsewhere in the file."""
        place = f"{self.line - self.source.lineno}.{self.column}"
        return f"{self.module.removeprefix('pbm_envs.games.')}.{self.function}:{place} {self.change}"

    def code(self) -> CodeType | None:
        """What runs in the place of the function's code; None if that is no Python."""
        twin = copy.deepcopy(self.source)
        node = _nodes(twin)[self.position]
        after = _mutated(node, self.kind)
        assert after is not None
        if after is not node:
            _replace(twin, node, after)
        return _compiled(ast.fix_missing_locations(twin), function_at(import_module(self.module), self.function))


def mutants_of(module: ModuleType) -> Iterator[Mutant]:
    """Every mutant of the functions and methods that the module defines. Constants of the module stay as they are."""
    for path, function in _functions(ast.parse(inspect.getsource(module)), ()):
        for position, node in enumerate(_nodes(function)):
            for kind in range(4):
                twin = copy.copy(node)
                if isinstance(twin, ast.Compare):
                    twin.ops = list(twin.ops)
                after = _mutated(twin, kind)
                if after is not None:
                    change = f"{_text(node)} -> {_text(after)}"
                    yield Mutant(module.__name__, ".".join(path), *_place(node), change, function, position, kind)


def function_at(module: ModuleType, path: str) -> FunctionType:
    """The function itself, below the decorators."""
    found: Any = module
    for part in path.split("."):
        found = getattr(found, part)
    while hasattr(found, "__wrapped__"):
        found = found.__wrapped__
    found = getattr(found, "py_func", found)
    assert isinstance(found, FunctionType)
    return found


def _functions(tree: ast.AST, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], ast.FunctionDef]]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef):
            yield (*path, node.name), node
        elif isinstance(node, ast.ClassDef):
            yield from _functions(node, (*path, node.name))


def _place(node: Any) -> tuple[int, int]:
    return node.lineno, node.col_offset


def _nodes(function: ast.FunctionDef) -> list[ast.AST]:
    """All that can be changed, in an order that is always the same."""
    body = function.body[1:] if _is_text(function.body[0]) else function.body
    return [node for statement in body for node in ast.walk(statement)]


def _mutated(node: ast.AST, kind: int) -> ast.AST | None:
    """The node changed, in the way of this number; None if there is no such way."""
    result: ast.AST | None = None
    if isinstance(node, ast.Compare) and len(node.ops) <= 2:
        swaps = [SWAPS, DIRECTIONS][kind % 2]
        op = kind // 2
        if op < len(node.ops) and type(node.ops[op]) in swaps:
            node.ops[op] = swaps[type(node.ops[op])]()  # type: ignore[assignment]
            result = node
    elif isinstance(node, (ast.BinOp, ast.BoolOp, ast.AugAssign)) and kind == 0 and type(node.op) in SWAPS:
        node.op = SWAPS[type(node.op)]()  # type: ignore[assignment]
        result = node
    elif isinstance(node, ast.AugAssign) and kind == 1:
        result = ast.copy_location(ast.Pass(), node)
    elif isinstance(node, ast.UnaryOp) and kind == 0:
        result = node.operand
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        if kind == 0:
            node.value = not node.value
            result = node
    elif isinstance(node, ast.Constant) and isinstance(node.value, int):
        if kind < 2:
            node.value += 1 - 2 * kind
            result = node
    elif isinstance(node, (ast.If, ast.While, ast.IfExp)) and kind == 0:
        node.test = ast.copy_location(ast.UnaryOp(ast.Not(), node.test), node.test)
        result = node
    elif isinstance(node, (ast.Assign, ast.Expr)) and kind == 0:
        stored = isinstance(node, ast.Expr) or isinstance(node.targets[0], (ast.Subscript, ast.Name))
        result = ast.copy_location(ast.Pass(), node) if stored else None
    elif isinstance(node, (ast.Break, ast.Continue)) and kind == 0:
        result = ast.copy_location(ast.Continue() if isinstance(node, ast.Break) else ast.Break(), node)
    return result


def _replace(tree: ast.AST, old: ast.AST, new: ast.AST) -> None:
    for node in ast.walk(tree):
        for name, value in ast.iter_fields(node):
            if value is old:
                setattr(node, name, new)
            elif isinstance(value, list):
                value[:] = [new if each is old else each for each in value]


def _compiled(function: ast.FunctionDef, target: FunctionType) -> CodeType | None:
    """Its code, to stand in the place of `target`'s."""
    function.decorator_list = []
    function.returns = None
    for argument in (*function.args.args, *function.args.kwonlyargs):
        argument.annotation = None
    module = ast.Module([function], [])
    try:
        compiled = compile(module, target.__code__.co_filename, "exec", dont_inherit=True)
    except SyntaxError:
        return None
    code = next(each for each in compiled.co_consts if isinstance(each, CodeType) and each.co_name == function.name)
    return code if code.co_freevars == target.__code__.co_freevars else None


def _is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _text(node: ast.AST | None) -> str:
    if isinstance(node, (ast.If, ast.While)):
        return f"{type(node).__name__.lower()} {ast.unparse(node.test)}"
    return ast.unparse(node).split("\n")[0] if node is not None else ""
