"""Python functions and classes as JavaScript, so that the table of a page in the browser is not written a second time.

`Translator.use` translates a function, a class or a constant with all that it mentions; what is called with other names
of Python is in `runtime.mjs`. Functions that a page has in another form are named in `replaced`. Of a class only those
methods are translated that are mentioned somewhere. An error names the first line that cannot be translated.
"""

from __future__ import annotations

import ast
import builtins
import dataclasses
import inspect
import json
import re
import textwrap
import types
from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import cached_property
from itertools import count
from typing import Any

import numpy as np
from numba.core.dispatcher import Dispatcher

RESERVED = frozenset((
    "arguments", "await", "case", "catch", "const", "debugger", "default", "delete", "do", "enum", "eval", "export",
    "extends", "function", "implements", "in", "instanceof", "interface", "let", "new", "null", "package", "private",
    "protected", "public", "static", "super", "switch", "this", "throw", "true", "typeof", "undefined", "var", "void",
    "with",
))  # fmt: skip
OPERATORS = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "div", ast.FloorDiv: "floordiv", ast.Mod: "mod",
    ast.Pow: "pow", ast.BitAnd: "and_", ast.BitOr: "or_", ast.BitXor: "xor", ast.LShift: "shl", ast.RShift: "shr",
    ast.Eq: "eq", ast.NotEq: "ne", ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge",
}  # fmt: skip
BUILTIN_METHODS = frozenset(
    name for kind in (str, list, dict, set, int, np.ndarray, re.Pattern, re.Match) for name in dir(kind)
)
"""Methods of Python's own types: which one is called is decided when the page runs."""
KERNELS = "_batch"
"""The end of the names of kernels that change batches: a page calls the compiled one."""


class Scope:
    """The names of a function, and of the functions around it."""

    def __init__(self, owner: Any, names: Mapping[str, str], outer: Scope | None, is_async: bool = False) -> None:
        self.owner, self.names, self.outer, self.is_async = owner, dict(names), outer, is_async

    def find(self, name: str) -> str | None:
        if name in self.names:
            return self.names[name]
        return self.outer.find(name) if self.outer else None


class Translator:
    """A module of JavaScript."""

    def __init__(
        self,
        replaced: Mapping[Any, str],
        waiting: frozenset[str],
        own: Mapping[type, frozenset[str]],
        kernels: frozenset[str],
        home: str = "pbm_",
    ) -> None:
        """Begin an empty module.

        Args:
            replaced: Functions and classes that the page has itself, with their names in its object `G`.
            waiting: The qualified names of what waits for others, and is asynchronous in the page.
            own: Methods of classes that the page has itself.
            kernels: Methods of all games that the page has itself.
            home: How the names of modules begin that are translated; what others define is in `runtime.mjs`.
        """
        self.replaced = {self._key(thing): name for thing, name in replaced.items()}
        self.waiting, self.own, self.kernels, self.home = waiting, own, kernels, home
        self.between: dict[type, str] = {}
        """Code that follows a class."""
        self.code: list[str] = []
        self.mentioned: set[str] = set()
        self.classes: dict[type, dict[str, str]] = {}
        self._names: dict[Any, str] = {}
        self._taken: set[str] = set(RESERVED) | {"R", "G"}
        self._number = count(1)

    # Things

    def use(self, thing: Any, name: str = "value") -> str:
        """Return the JavaScript of a function, a class or a constant, which is translated at its first use."""
        key = self._key(thing)
        if key in self.replaced:
            return f"G.{self.replaced[key]}"
        if key in self._names:
            return self._names[key]
        if isinstance(thing, type):
            return self._class(thing)
        if isinstance(thing, (types.FunctionType, Dispatcher)) or hasattr(thing, "__wrapped__"):
            if thing.__module__.startswith(self.home):
                return self._function_of(thing)
            return f"R.{thing.__name__}"
        if isinstance(thing, types.BuiltinFunctionType):
            return f"R.{thing.__name__}"
        return self._constant(thing, name)

    def finish(self) -> str:
        """Translate the methods of classes that are mentioned, and return the module's code."""
        found, values = True, []
        while found:
            found = False
            for kind, done in list(self.classes.items()):
                for name, member in list(vars(kind).items()):
                    if name not in self.mentioned or name in done or self._is_own(kind, name):
                        continue
                    done[name], found = "", True
                    if self._is_code(member):
                        done[name] = self._method(kind, name, member)
                    elif self._is_value(kind, name, member):
                        values.append(f"{self.use(kind)}.prototype.{name} = {self.use(member, name)};")
        classes = [self._class_code(kind, done) for kind, done in self.classes.items()]
        return "\n".join([*classes, *self.code, *values])

    @staticmethod
    def _key(thing: Any) -> Any:
        thing = inspect.unwrap(thing) if callable(thing) and not isinstance(thing, type) else thing
        thing = getattr(thing, "py_func", thing)
        named = getattr(thing, "__module__", None), getattr(thing, "__qualname__", None)
        return named if isinstance(thing, (type, types.FunctionType, types.BuiltinFunctionType)) else id(thing)

    def _name(self, wanted: str) -> str:
        name, number = wanted, 1
        while name in self._taken:
            number += 1
            name = f"{wanted}_{number}"
        self._taken.add(name)
        return name

    def _function_of(self, thing: Any) -> str:
        plain = inspect.unwrap(getattr(thing, "py_func", thing))
        name = self._names[self._key(plain)] = self._name(plain.__name__)
        code = self._function(plain, name)
        self.code.append(f"const {name} = R.cached({code});" if hasattr(thing, "cache_info") else code)
        return name

    def _constant(self, value: Any, name: str) -> str:
        short = self._literal(value)
        if len(short) <= 24 and "(" not in short:
            return short
        key = self._names[id(value)] = self._name(name)
        self._kept = [*getattr(self, "_kept", []), value]  # its id stays its own
        self.code.append(f"const {key} = {short};")
        return key

    def _literal(self, value: Any) -> str:
        if value is None or isinstance(value, (bool, np.bool_)):
            return {None: "null", True: "true", False: "false"}[None if value is None else bool(value)]
        if isinstance(value, (int, float, np.number)):
            return str(value).replace("inf", "Infinity")
        if isinstance(value, str):
            return json.dumps(value, ensure_ascii=False)
        if isinstance(value, (types.MappingProxyType, dict)):
            entries = ", ".join(f"[{self._literal(k)}, {self._literal(v)}]" for k, v in value.items())
            return f"new Map([{entries}])"
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            fields = ", ".join(self._literal(getattr(value, field.name)) for field in dataclasses.fields(value))
            return f"new {self.use(type(value))}({fields})"
        if isinstance(value, (tuple, list)):
            listed = f"[{', '.join(map(self._literal, value))}]"
            return listed if isinstance(value, list) or not value else f"R.frozen({listed})"
        if isinstance(value, (set, frozenset)):
            return f"new Set([{', '.join(map(self._literal, sorted(value)))}])"
        if isinstance(value, np.ndarray):
            return f"R.np.array({self._literal(value.tolist())})"
        if isinstance(value, re.Pattern):
            return f"R.re.compile({json.dumps(value.pattern)})"
        if isinstance(value, Fraction):
            return f"new R.Fraction({json.dumps(str(value))})"
        if isinstance(value, types.UnionType):
            return self._literal(value.__args__)
        if isinstance(value, type) or callable(value):
            return self.use(value)
        raise TypeError(f"a value of {type(value)} cannot be translated: {value!r:.100}")

    # Classes

    def _class(self, kind: type) -> str:
        if kind.__module__ == "builtins" or kind in (types.NoneType,):
            return f"R.{kind.__name__}"
        if not kind.__module__.startswith(self.home):
            return f"R.{kind.__module__.rpartition('.')[2]}.{kind.__name__}" if kind is not Fraction else "R.Fraction"
        name = self._names[self._key(kind)] = self._name(kind.__name__)
        bases = [base for base in kind.__bases__ if self._is_translated(base)]
        for base in bases:
            self.use(base)
        self.classes[kind] = {}
        return name

    def _is_own(self, kind: type, name: str) -> bool:
        return name in self.own.get(kind, ()) or (name in self.kernels and self._is_game(kind))

    @staticmethod
    def _is_value(kind: type, name: str, member: Any) -> bool:
        """Return whether a member of a class is a value that objects of the class have."""
        fields = {field.name for field in dataclasses.fields(kind)} if dataclasses.is_dataclass(kind) else set()
        fields |= set(getattr(kind, "_fields", ()))
        slots = (types.MemberDescriptorType, types.GetSetDescriptorType)
        return not name.startswith("__") and name not in fields and not isinstance(member, slots)

    @staticmethod
    def _is_game(kind: type) -> bool:
        return hasattr(kind, "_legal_action_mask")  # these are made from the description of a board

    def _is_translated(self, base: type) -> bool:
        return base.__module__.startswith(self.home) or issubclass(base, Exception)

    @staticmethod
    def _is_code(member: Any) -> bool:
        kinds = (types.FunctionType, property, classmethod, staticmethod, cached_property)
        return isinstance(member, kinds)

    def _method(self, kind: type, name: str, member: Any) -> str:
        if isinstance(member, property):
            return f"get {self._function(member.fget, name, method=True)}"
        if isinstance(member, cached_property):
            made = self._function(member.func, f"${name}", method=True)
            return f'{made}\nget {name}() {{ return R.kept(this, "{name}", this.${name}()); }}'
        if isinstance(member, (classmethod, staticmethod)):
            return f"static {self._function(member.__func__, name, method=True)}"
        return self._function(inspect.unwrap(member), name, method=True)

    def _class_code(self, kind: type, done: dict[str, str]) -> str:
        name = self._names[self._key(kind)]
        bases = [base for base in kind.__bases__ if self._is_translated(base)]
        extends = f" extends {self.use(bases[0])}" if bases else ""
        methods = [code for each, code in done.items() if self._is_code(vars(kind).get(each))]
        params = [] if self._is_game(kind) else self._params(kind)
        own = vars(kind).get("__init__")
        if "__dataclass_fields__" in vars(kind) or hasattr(kind, "_fields"):
            methods.insert(0, self._record_constructor(kind))
        elif isinstance(own, types.FunctionType) and not self._is_game(kind):
            methods.insert(0, self._function(own, "constructor", method=True))
        static = [f"static params = {json.dumps(params)};"] if params else []
        plain = [each for each in done if isinstance(vars(kind).get(each), types.FunctionType)]
        if signatures := {each: names for each in plain if (names := self._params(vars(kind)[each], kind))}:
            static.append(f"static signatures = {json.dumps(signatures)};")
        body = textwrap.indent("\n".join([*static, *methods]), "  ")
        after = [self.between[kind]] if kind in self.between else []
        return "\n".join([f"class {name}{extends} {{\n{body}\n}}", *after])

    def _record_constructor(self, kind: Any) -> str:
        """Return the constructor of a dataclass or a NamedTuple."""
        if hasattr(kind, "_fields"):
            given = {each: kind._field_defaults.get(each, inspect.Parameter.empty) for each in kind._fields}
            extra = "\n[Symbol.iterator]() { return Object.values(this)[Symbol.iterator](); }"
            floats: list[str] = []
        else:
            given, extra = {}, ""
            for field in dataclasses.fields(kind):
                empty = field.default is dataclasses.MISSING
                made = field.default_factory is not dataclasses.MISSING
                given[field.name] = inspect.Parameter.empty if empty and not made else field.default
                given[field.name] = field.default_factory() if made else given[field.name]
            floats = [field.name for field in dataclasses.fields(kind) if "float" in str(field.type)]
        names = {each: self._local(each) for each in given}
        params = ", ".join(
            names[each] + ("" if value is inspect.Parameter.empty else f" = {self._literal(value)}")
            for each, value in given.items()
        )
        begun = "super(); " if any(map(self._is_translated, kind.__bases__)) else ""
        sets = begun + " ".join(f"this.{each} = {name};" for each, name in names.items())
        return f"static floats = {json.dumps(floats)};\nconstructor({params}) {{ {sets} }}{extra}"

    def _params(self, thing: Any, kind: type | None = None) -> list[str]:
        """Return the names of parameters with which a function, a class, or a method of `kind` is called."""
        try:
            parameters = list(inspect.signature(thing).parameters.values())
        except (ValueError, TypeError):
            return []
        if kind is not None or (parameters and parameters[0].name in ("self", "cls")):
            parameters = parameters[1:]
        if any(each.kind is each.VAR_POSITIONAL for each in parameters):
            return []
        return [("**" if each.kind is each.VAR_KEYWORD else "") + each.name for each in parameters]

    # Functions

    def _function(self, function: Any, name: str, *, method: bool = False) -> str:
        source = textwrap.dedent(inspect.getsource(function))
        node = ast.parse(source).body[0]
        assert isinstance(node, ast.FunctionDef)
        scope = Scope(function, {}, None)
        try:
            return self._def(node, scope, name, "method" if method else "function")
        except (TypeError, NotImplementedError) as error:
            raise TypeError(f"{function.__module__}.{function.__qualname__}: {error}") from error

    @staticmethod
    def _local(name: str) -> str:
        return f"{name}_" if name in RESERVED or name in ("R", "G") else name

    def _def(self, node: ast.FunctionDef, outer: Scope, name: str, form: str) -> str:
        args = [*node.args.posonlyargs, *node.args.args]
        waits = form != "arrow" and outer.owner.__qualname__ in self.waiting
        scope = Scope(outer.owner, {}, outer, waits)
        own = args[0].arg if form == "method" and args and args[0].arg in ("self", "cls", "game") else None
        args = args[1:] if own else args
        every = [*args, *node.args.kwonlyargs]
        defaults = dict(zip([a.arg for a in reversed(args)], reversed(node.args.defaults), strict=False))
        defaults |= {a.arg: d for a, d in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True) if d}
        for arg in every:
            scope.names[arg.arg] = self._local(arg.arg)
        params = [
            scope.names[a.arg] + (f" = {self.expr(defaults[a.arg], outer)}" if a.arg in defaults else "") for a in every
        ]
        if node.args.kwarg:
            scope.names[node.args.kwarg.arg] = self._local(node.args.kwarg.arg)
            params.append(f"{scope.names[node.args.kwarg.arg]} = new Map()")
        if node.args.vararg:
            scope.names[node.args.vararg.arg] = self._local(node.args.vararg.arg)
            params.append(f"...{scope.names[node.args.vararg.arg]}")
        taken = set(scope.names)
        local = [each for each in dict.fromkeys(_assigned(node)) if each not in taken]
        for each in local:
            scope.names[each] = self._local(each)
        lines: list[str] = []
        if own:
            scope.names[own] = own
            alias = f"const {own} = this;"
            if name == "constructor" and not self._calls_super(node):
                derived = any(self._is_translated(b) for b in self._owner_class(outer.owner).__bases__)
                lines += ["super();"] if derived else []
            if name == "constructor" and self._calls_super(node):
                scope.names[own] = "this"
            else:
                lines.append(alias)
        if local:
            lines.append(f"let {', '.join(scope.names[each] for each in local)};")
        for statement in node.body:
            lines += self.statement(statement, scope)
        body = textwrap.indent("\n".join(lines), "  ")
        star = "*" if any(isinstance(each, (ast.Yield, ast.YieldFrom)) for each in _own_nodes(node)) else ""
        prefix = "async " if waits else ""
        if form == "function":
            return f"{prefix}function{star} {name}({', '.join(params)}) {{\n{body}\n}}"
        if form == "method":
            return f"{prefix}{star}{name}({', '.join(params)}) {{\n{body}\n}}"
        if star:
            return f"function*({', '.join(params)}) {{\n{body}\n}}"
        return f"{prefix}({', '.join(params)}) => {{\n{body}\n}}"

    @staticmethod
    def _calls_super(node: ast.AST) -> bool:
        return any(isinstance(each, ast.Name) and each.id == "super" for each in ast.walk(node))

    @staticmethod
    def _owner_class(function: Any) -> Any:
        owner: Any = inspect.getmodule(function)
        for part in function.__qualname__.split(".")[:-1]:
            owner = getattr(owner, part)
        return owner

    # Statements

    def statement(self, node: ast.stmt, scope: Scope) -> list[str]:
        """Return the lines of a statement."""
        method = getattr(self, f"_{type(node).__name__.lower()}", None)
        if method is None:
            raise NotImplementedError(f"{type(node).__name__} in {ast.unparse(node)[:80]}")
        lines: list[str] = method(node, scope)
        return lines

    def _block(self, nodes: list[ast.stmt], scope: Scope) -> str:
        return textwrap.indent("\n".join(line for node in nodes for line in self.statement(node, scope)), "  ")

    def _expr(self, node: ast.Expr, scope: Scope) -> list[str]:
        return [] if isinstance(node.value, ast.Constant) else [f"{self.expr(node.value, scope)};"]

    def _pass(self, node: ast.Pass, scope: Scope) -> list[str]:
        return []

    def _assert(self, node: ast.Assert, scope: Scope) -> list[str]:
        return []

    def _nonlocal(self, node: ast.Nonlocal, scope: Scope) -> list[str]:
        return []

    def _break(self, node: ast.Break, scope: Scope) -> list[str]:
        return ["break;"]

    def _continue(self, node: ast.Continue, scope: Scope) -> list[str]:
        return ["continue;"]

    def _return(self, node: ast.Return, scope: Scope) -> list[str]:
        return [f"return {self.value(node.value, scope)};" if node.value else "return null;"]

    def _functiondef(self, node: ast.FunctionDef, scope: Scope) -> list[str]:
        return [f"{scope.find(node.name)} = {self._def(node, scope, node.name, 'arrow')};"]

    def _assign(self, node: ast.Assign, scope: Scope) -> list[str]:
        if len(node.targets) == 1:
            return self._store(node.targets[0], self.value(node.value, scope), scope)
        name = f"$v{next(self._number)}"
        return [f"const {name} = {self.value(node.value, scope)};"] + [
            line for target in node.targets for line in self._store(target, name, scope)
        ]

    def _annassign(self, node: ast.AnnAssign, scope: Scope) -> list[str]:
        return self._store(node.target, self.value(node.value, scope), scope) if node.value else []

    def _augassign(self, node: ast.AugAssign, scope: Scope) -> list[str]:
        plain = ast.parse(ast.unparse(node.target), mode="eval").body
        operator = "iadd" if isinstance(node.op, ast.Add) else OPERATORS[type(node.op)]
        value = f"R.{operator}({self.expr(plain, scope)}, {self.expr(node.value, scope)})"
        return self._store(node.target, value, scope)

    def _delete(self, node: ast.Delete, scope: Scope) -> list[str]:
        lines = []
        for target in node.targets:
            assert isinstance(target, ast.Subscript)
            lines.append(f"R.delitem({self.expr(target.value, scope)}, {self._index(target.slice, scope)});")
        return lines

    def _store(self, target: ast.expr, value: str, scope: Scope, declare: str = "") -> list[str]:
        if isinstance(target, ast.Name):
            name = scope.find(target.id)
            return [f"{declare}{name} = {value};"]
        if isinstance(target, ast.Attribute):
            return [f"{self.expr(target.value, scope)}.{target.attr} = {value};"]
        if isinstance(target, ast.Subscript):
            return [f"R.setitem({self.expr(target.value, scope)}, {self._index(target.slice, scope)}, {value});"]
        if isinstance(target, (ast.Tuple, ast.List)):
            name, parts = f"$v{next(self._number)}", target.elts
            star = next((k for k, each in enumerate(parts) if isinstance(each, ast.Starred)), None)
            lines = [f"const {name} = R.unpack({value}, {len(parts)}{'' if star is None else f', {star}'});"]
            for k, each in enumerate(parts):
                plain = each.value if isinstance(each, ast.Starred) else each
                lines += self._store(plain, f"{name}[{k}]", scope, declare)
            return lines
        raise NotImplementedError(f"an assignment to {ast.unparse(target)}")

    def _if(self, node: ast.If, scope: Scope) -> list[str]:
        lines = [f"if ({self.test(node.test, scope)}) {{", self._block(node.body, scope)]
        if node.orelse:
            lines += ["} else {", self._block(node.orelse, scope)]
        return [*lines, "}"]

    def _while(self, node: ast.While, scope: Scope) -> list[str]:
        return [f"while ({self.test(node.test, scope)}) {{", self._block(node.body, scope), "}"]

    def _for(self, node: ast.For, scope: Scope) -> list[str]:
        name = f"$i{next(self._number)}"
        inner = "\n".join(self._store(node.target, name, scope))
        over = self.expr(node.iter, scope)
        lines = [f"for (const {name} of R.iter({over})) {{", textwrap.indent(inner, "  ")]
        if node.orelse:
            raise NotImplementedError("else of a loop")
        return [*lines, self._block(node.body, scope), "}"]

    def _with(self, node: ast.With, scope: Scope) -> list[str]:
        context = node.items[0].context_expr
        body = self._block(node.body, scope)
        if isinstance(context, ast.Call) and isinstance(context.func, ast.Name) and context.func.id == "suppress":
            kinds = ", ".join(self.expr(each, scope) for each in context.args)
            return ["try {", body, f"}} catch ($e) {{ if (!R.isexc($e, [{kinds}])) throw $e; }}"]
        return ["{", body, "}"]  # locks and filters of warnings: a page has one thread

    def _raise(self, node: ast.Raise, scope: Scope) -> list[str]:
        if node.exc is None:
            return ["throw $e;"]
        thrown = self.expr(node.exc, scope)
        return [f"throw {thrown};" if isinstance(node.exc, ast.Call) else f"throw R.raised({thrown});"]

    def _try(self, node: ast.Try, scope: Scope) -> list[str]:
        done = f"$d{next(self._number)}"
        lines = [f"let {done} = false;"] if node.orelse else []
        lines += ["try {", self._block(node.body, scope), *([f"  {done} = true;"] if node.orelse else [])]
        if node.handlers:
            lines.append("} catch ($e) {")
            for handler in node.handlers:
                kinds = "R.Exception" if handler.type is None else self.expr(handler.type, scope)
                lines.append(f"  if (R.isexc($e, {kinds})) {{")
                if handler.name:
                    lines.append(f"    {scope.find(handler.name)} = R.caught($e);")
                lines += [textwrap.indent(self._block(handler.body, scope), "  "), "  } else"]
            lines.append("    throw $e;")
        if node.finalbody:
            lines += ["} finally {", self._block(node.finalbody, scope)]
        lines.append("}")
        return lines + ([f"if ({done}) {{", self._block(node.orelse, scope), "}"] if node.orelse else [])

    # Expressions

    def value(self, node: ast.expr, scope: Scope) -> str:
        """Return an expression that may be a method, which stays bound to its object."""
        if isinstance(node, ast.Attribute) and self._static(node, scope) is _UNKNOWN:
            self.mentioned.add(node.attr)
            return f"R.attr({self.expr(node.value, scope)}, {json.dumps(node.attr)})"
        return self.expr(node, scope)

    def test(self, node: ast.expr, scope: Scope) -> str:
        """Return a condition."""
        if isinstance(node, ast.BoolOp):
            sign = " && " if isinstance(node.op, ast.And) else " || "
            return f"({sign.join(self.test(each, scope) for each in node.values)})"
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return f"!{self.test(node.operand, scope)}"
        return f"R.t({self.expr(node, scope)})"

    def expr(self, node: ast.expr, scope: Scope) -> str:
        """Return an expression."""
        method = getattr(self, f"_x_{type(node).__name__.lower()}", None)
        if method is None:
            raise NotImplementedError(f"{type(node).__name__} in {ast.unparse(node)[:80]}")
        text: str = method(node, scope)
        return text

    def _x_constant(self, node: ast.Constant, scope: Scope) -> str:
        return self._literal(node.value)

    def _x_name(self, node: ast.Name, scope: Scope) -> str:
        name = scope.find(node.id)
        if name is not None:
            return name
        thing = self._static(node, scope)
        if thing is _UNKNOWN:
            raise NotImplementedError(f"the name {node.id}")
        if thing is getattr(builtins, node.id, _UNKNOWN) and node.id != "NoneType":
            return "R.iterator" if node.id == "iter" else f"R.{node.id}"
        return self.use(thing, node.id)

    def _static(self, node: ast.expr, scope: Scope) -> Any:
        """Return the thing that a name of a module stands for, or `_UNKNOWN`."""
        if isinstance(node, ast.Name) and scope.find(node.id) is None:
            owner = inspect.unwrap(scope.owner)
            return owner.__globals__.get(node.id, getattr(builtins, node.id, _UNKNOWN))
        if isinstance(node, ast.Attribute):
            base = self._static(node.value, scope)
            if isinstance(base, types.ModuleType) or (isinstance(base, type) and base is not _UNKNOWN):
                return getattr(base, node.attr, _UNKNOWN)
        return _UNKNOWN

    def _x_attribute(self, node: ast.Attribute, scope: Scope) -> str:
        thing = self._static(node, scope)
        self.mentioned.add(node.attr)
        if thing is not _UNKNOWN:
            base = self._static(node.value, scope)
            if isinstance(base, type):
                return f"{self.expr(node.value, scope)}.{node.attr}"
            if base.__name__.startswith(self.home):
                return self.use(thing, node.attr)
            return f"R.{_dotted(node)}"
        return f"{self.expr(node.value, scope)}.{node.attr}"

    def _x_subscript(self, node: ast.Subscript, scope: Scope) -> str:
        return f"R.at({self.expr(node.value, scope)}, {self._index(node.slice, scope)})"

    def _index(self, node: ast.expr, scope: Scope) -> str:
        if isinstance(node, ast.Slice):
            parts = [self.expr(each, scope) if each else "null" for each in (node.lower, node.upper, node.step)]
            return f"new R.slice({', '.join(parts)})"
        if isinstance(node, ast.Tuple):
            return f"new R.Axes([{', '.join(self._index(each, scope) for each in node.elts)}])"
        return self.expr(node, scope)

    def _x_tuple(self, node: ast.Tuple | ast.List, scope: Scope) -> str:
        return f"[{', '.join(self._element(each, scope) for each in node.elts)}]"

    _x_list = _x_tuple

    def _element(self, node: ast.expr, scope: Scope) -> str:
        if isinstance(node, ast.Starred):
            return f"...R.iter({self.expr(node.value, scope)})"
        return self.value(node, scope)

    def _x_set(self, node: ast.Set, scope: Scope) -> str:
        return f"new Set([{', '.join(self._element(each, scope) for each in node.elts)}])"

    def _x_dict(self, node: ast.Dict, scope: Scope) -> str:
        parts = [
            f"...R.items({self.expr(value, scope)})"
            if key is None
            else f"[{self.expr(key, scope)}, {self.value(value, scope)}]"
            for key, value in zip(node.keys, node.values, strict=True)
        ]
        return f"new Map([{', '.join(parts)}])"

    def _x_binop(self, node: ast.BinOp, scope: Scope) -> str:
        left, right = self.expr(node.left, scope), self.expr(node.right, scope)
        return f"R.{OPERATORS[type(node.op)]}({left}, {right})"

    def _x_unaryop(self, node: ast.UnaryOp, scope: Scope) -> str:
        if isinstance(node.op, ast.Not):
            return self.test(node, scope)
        names = {ast.USub: "neg", ast.Invert: "invert", ast.UAdd: "pos"}
        return f"R.{names[type(node.op)]}({self.expr(node.operand, scope)})"

    def _x_boolop(self, node: ast.BoolOp, scope: Scope) -> str:
        name = "both" if isinstance(node.op, ast.And) else "either"
        first, *rest = (self.value(each, scope) for each in node.values)
        return f"R.{name}({', '.join([first, *(f'() => {each}' for each in rest)])})"

    def _x_ifexp(self, node: ast.IfExp, scope: Scope) -> str:
        test, body, other = self.test(node.test, scope), self.value(node.body, scope), self.value(node.orelse, scope)
        return f"({test} ? {body} : {other})"

    def _x_namedexpr(self, node: ast.NamedExpr, scope: Scope) -> str:
        return f"({scope.find(node.target.id)} = {self.expr(node.value, scope)})"

    def _x_compare(self, node: ast.Compare, scope: Scope) -> str:
        values = [self.expr(each, scope) for each in (node.left, *node.comparators)]
        parts, begun = [], []
        if len(node.ops) > 1:
            for k in range(1, len(values) - 1):
                name = f"$c{next(self._number)}"
                begun.append(name)
                values[k] = f"({name} = {values[k]})"
        for k, op in enumerate(node.ops):
            left, right = values[k] if k == 0 else begun[k - 1], values[k + 1]
            if isinstance(op, (ast.Is, ast.IsNot)):
                parts.append(f"(({left}) {'===' if isinstance(op, ast.Is) else '!=='} ({right}))")
            elif isinstance(op, (ast.In, ast.NotIn)):
                parts.append(f"{'!' * isinstance(op, ast.NotIn)}R.contains({right}, {left})")
            else:
                parts.append(f"R.{OPERATORS[type(op)]}({left}, {right})")
        if not begun:
            return parts[0]
        return f"(() => {{ let {', '.join(begun)}; return {' && '.join(parts)}; }})()"

    def _x_lambda(self, node: ast.Lambda, scope: Scope) -> str:
        inner = Scope(scope.owner, {a.arg: self._local(a.arg) for a in node.args.args}, scope)
        extra = [f"...{self._local(node.args.vararg.arg)}"] if node.args.vararg else []
        return f"(({', '.join([*inner.names.values(), *extra])}) => {self.value(node.body, inner)})"

    def _comprehension(self, node: Any, scope: Scope, start: str, add: Any) -> str:
        inner = Scope(scope.owner, {}, scope)
        lines, depth = [f"const $o = {start};"], 0
        for each in node.generators:
            over = self.expr(each.iter, inner)  # before the names of its target hide others
            for name in _targets(each.target):
                inner.names[name] = self._local(name)
            step = f"$i{next(self._number)}"
            lines.append(f"for (const {step} of R.iter({over})) {{")
            lines += self._store(each.target, step, inner, "let ")
            lines += [f"if (!{self.test(test, inner)}) continue;" for test in each.ifs]
            depth += 1
        lines += [add(inner), "}" * depth, "return $o;"]
        return f"(() => {{ {' '.join(lines)} }})()"

    def _x_listcomp(self, node: ast.ListComp | ast.GeneratorExp, scope: Scope) -> str:
        return self._comprehension(node, scope, "[]", lambda inner: f"$o.push({self.value(node.elt, inner)});")

    _x_generatorexp = _x_listcomp

    def _x_setcomp(self, node: ast.SetComp, scope: Scope) -> str:
        return self._comprehension(node, scope, "new Set()", lambda inner: f"$o.add({self.expr(node.elt, inner)});")

    def _x_dictcomp(self, node: ast.DictComp, scope: Scope) -> str:
        def add(inner: Scope) -> str:
            return f"$o.set({self.expr(node.key, inner)}, {self.value(node.value, inner)});"

        return self._comprehension(node, scope, "new Map()", add)

    def _x_yield(self, node: ast.Yield, scope: Scope) -> str:
        return f"yield {self.value(node.value, scope) if node.value else 'null'}"

    def _x_yieldfrom(self, node: ast.YieldFrom, scope: Scope) -> str:
        return f"yield* R.iter({self.expr(node.value, scope)})"

    def _x_joinedstr(self, node: ast.JoinedStr, scope: Scope) -> str:
        parts = []
        for each in node.values:
            if isinstance(each, ast.Constant):
                parts.append(json.dumps(each.value, ensure_ascii=False))
                continue
            assert isinstance(each, ast.FormattedValue)
            value = self.expr(each.value, scope)
            if each.conversion == ord("r"):
                value = f"R.repr({value})"
            spec = self._x_joinedstr(each.format_spec, scope) if isinstance(each.format_spec, ast.JoinedStr) else '""'
            parts.append(f"R.str({value})" if spec == '""' else f"R.format({value}, {spec})")
        return f"({' + '.join(parts)})" if parts else '""'

    # Calls

    def _x_call(self, node: ast.Call, scope: Scope) -> str:
        target, thing = node.func, self._static(node.func, scope)
        if isinstance(target, ast.Attribute):
            self.mentioned.add(target.attr)
            if isinstance(target.value, ast.Call) and ast.unparse(target.value) == "super()":
                args = ", ".join(self._element(each, scope) for each in node.args)
                return f"super({args})" if target.attr == "__init__" else f"super.{target.attr}({args})"
        args = [self._element(each, scope) for each in node.args]
        keywords = [each for each in node.keywords if each.arg != "strict"]
        name = thing.__name__ if isinstance(thing, (Dispatcher, types.FunctionType)) else ""
        if isinstance(thing, Dispatcher) and name.endswith(KERNELS):
            return f"R.kernel({json.dumps(name)}, {args[0]})"  # its other arguments are known where it was compiled
        if thing is not _UNKNOWN:
            code = self._known_call(node, scope, thing, args, keywords)
        elif isinstance(target, ast.Attribute):
            code = self._method_call(target, scope, args, keywords)
        else:
            called = self.expr(target, scope)
            code = f"R.call({called}, [{', '.join(args)}]{self._keywords(keywords, scope)})"
        if isinstance(target, ast.Attribute) and thing is _UNKNOWN:
            waits = any(each.endswith(f".{target.attr}") for each in self.waiting)
        else:
            waits = getattr(thing, "__qualname__", "") in self.waiting
        return f"(await {code})" if waits and scope.is_async else code

    def _keywords(self, keywords: list[ast.keyword], scope: Scope) -> str:
        if not keywords:
            return ""
        parts = [
            f"[{json.dumps(each.arg)}, {self.value(each.value, scope)}]"
            if each.arg
            else f"...R.items({self.expr(each.value, scope)})"
            for each in keywords
        ]
        return f", new Map([{', '.join(parts)}])"

    def _method_call(self, target: ast.Attribute, scope: Scope, args: list[str], keywords: list[ast.keyword]) -> str:
        owner, rest = self.expr(target.value, scope), ", ".join(args)
        if keywords:
            return f"R.callkw({owner}, {json.dumps(target.attr)}, [{rest}]{self._keywords(keywords, scope)})"
        if target.attr in BUILTIN_METHODS and owner not in ("self", "this"):
            return f"R.m({', '.join([owner, json.dumps(target.attr), *args])})"
        return f"{owner}.{target.attr}({rest})"

    def _known_call(
        self, node: ast.Call, scope: Scope, thing: Any, args: list[str], keywords: list[ast.keyword]
    ) -> str:
        called = self.expr(node.func, scope)
        made = isinstance(thing, type) and (
            thing.__module__.startswith((self.home, "threading")) or issubclass(thing, (Exception, Fraction))
        )
        new = "new " if made else ""
        plain = ", ".join(args)
        if not keywords:
            return f"{new}{called}({plain})"
        if called.startswith("R."):  # Python's own: keywords are an object, the last argument
            given = ", ".join(f"{each.arg}: {self.value(each.value, scope)}" for each in keywords)
            return f"{new}{called}({', '.join([*args, f'R.kw({{{given}}})'])})"
        names = self._params(thing) if not called.startswith("G.") else []
        spread = any(each.startswith("...") for each in args) or any(each.arg is None for each in keywords)
        if not names or spread:
            return f"R.call({called}, [{plain}]{self._keywords(keywords, scope)}, {json.dumps(names)})"
        placed = dict(zip(names, args, strict=False))
        rest = [each for each in keywords if each.arg not in names]
        placed |= {str(each.arg): self.value(each.value, scope) for each in keywords if each.arg in names}
        if rest:
            placed[names[-1]] = self._keywords(rest, scope).removeprefix(", ")
        while names and names[-1] not in placed:
            names.pop()
        return f"{new}{called}({', '.join(placed.get(each, 'undefined') for each in names)})"


_UNKNOWN = object()


def _dotted(node: ast.expr) -> str:
    return f"{_dotted(node.value)}.{node.attr}" if isinstance(node, ast.Attribute) else ast.unparse(node)


def _targets(node: ast.expr) -> Iterator[str]:
    """Yield the names in the target of an assignment."""
    for each in ast.walk(node):
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store):
            yield each.id


def _own_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a function, without those of functions in it."""
    for each in ast.iter_child_nodes(node):
        yield each
        if not isinstance(each, (ast.FunctionDef, ast.Lambda)):
            yield from _own_nodes(each)


def _assigned(node: ast.FunctionDef) -> Iterator[str]:
    """Yield the names that a function assigns to, but not those of comprehensions."""
    outside = {name for each in ast.walk(node) if isinstance(each, ast.Nonlocal) for name in each.names}

    def walk(each: ast.AST) -> Iterator[str]:
        if isinstance(each, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
            for inner in ast.walk(each):
                if isinstance(inner, ast.NamedExpr):
                    yield inner.target.id
            return
        if isinstance(each, ast.FunctionDef):
            yield each.name
            return
        if isinstance(each, ast.Lambda):
            return
        if isinstance(each, ast.ExceptHandler) and each.name:
            yield each.name
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store):
            yield each.id
        for inner in ast.iter_child_nodes(each):
            yield from walk(inner)

    for statement in node.body:
        for name in walk(statement):
            if name not in outside:
                yield name
