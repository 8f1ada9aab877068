"""Imports run one way (CONTRIBUTING.md): a module imports from lower floors and, without cycles, from its own."""

import ast
import subprocess
import sys
from pathlib import Path

import pbm_agents
import pytest

import pbm_envs

SOURCE, AGENTS = Path(pbm_envs.__file__).parent, Path(pbm_agents.__file__).parent
FLOORS = (
    ("pbm_envs.version", "pbm_envs.core"),
    ("pbm_envs.render",),
    ("pbm_envs.games",),
    ("pbm_envs.registry",),
    ("pbm_envs.foreign",),
    ("pbm_envs.authoring", "pbm_envs.toolbox"),
    ("pbm_envs.records", "pbm_envs.server_log", "pbm_envs.envs"),
    ("pbm_envs.text",),
    ("pbm_envs.testing",),
    (
        "pbm_envs.render.animation",
        "pbm_envs.adapters",
        *(f"pbm_envs.{name}_v0" for name in pbm_envs.registered_games()),
    ),
    ("pbm_envs",),
    ("pbm_agents.players.agent", "pbm_agents.common"),
    ("pbm_agents.search",),
    ("pbm_agents.learning",),
    ("pbm_agents.players",),
    ("pbm_agents.exact",),
    ("pbm_agents.champions",),
    ("pbm_agents.equilibrium",),
    ("pbm_agents.arena",),
    ("pbm_agents.learning.trainer", "pbm_agents.learning.progress"),
    ("pbm_agents.data",),
    ("pbm_agents.play",),
    ("pbm_agents.cli",),
    ("pbm_agents",),
)
"""From the ground up: packages and modules, the most specific name counts."""
EMPTY = {"pbm_envs.core", "pbm_envs.games", "pbm_envs.envs", "pbm_envs.adapters", "pbm_agents.players"}
"""Packages that import nothing themselves, so that importing one of their modules is importing that module alone."""


def modules() -> dict[str, Path]:
    """Every module of both packages by name."""
    found = {}
    for root in (SOURCE, AGENTS):
        for path in root.rglob("*.py"):
            parts = path.relative_to(root.parent).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


MODULES = modules()


def imported(node: ast.AST, module: str) -> set[str]:
    """The absolute names that a statement or call in this module imports: of our packages the modules."""
    package = module if MODULES.get(module, Path()).name == "__init__.py" else module.rpartition(".")[0]
    if isinstance(node, ast.Import):
        return {alias.name for alias in node.names}
    if isinstance(node, ast.ImportFrom):
        base = package.split(".")[: len(package.split(".")) + 1 - node.level] if node.level else []
        source = ".".join([*base, *([node.module] if node.module else [])])
        names = {f"{source}.{alias.name}" for alias in node.names}
        inside = names & MODULES.keys()
        return inside | {source} if len(inside) < len(names) else inside
    if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in ("import_module", "__import__"):
        return {argument.value for argument in node.args[:1] if isinstance(argument, ast.Constant)}
    return set()


def imports(name: str) -> set[str]:
    """What a module imports: at its top, in functions, for type checkers only, and by `import_module`."""
    tree = ast.parse(MODULES[name].read_text(encoding="utf-8"))
    return {other for node in ast.walk(tree) for other in imported(node, name)} - {name}


GRAPH = {name: imports(name) for name in MODULES}


def floor(name: str) -> int:
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        for number, names in enumerate(FLOORS):
            if ".".join(parts[:length]) in names and (length > 1 or len(parts) == 1):
                return number
    raise AssertionError(f"{name} is on no floor: name its package in FLOORS")


def upward() -> set[tuple[str, str]]:
    """Every import of a module on a higher floor."""
    return {(name, other) for name in MODULES for other in GRAPH[name] & MODULES.keys() if floor(other) > floor(name)}


def cycle() -> list[str]:
    """Modules of which each imports the next, and the last the first; [] if none."""
    path: list[str] = []
    done: set[str] = set()

    def visit(name: str) -> list[str]:
        if name in path:
            return path[path.index(name) :]
        path.append(name)
        for other in sorted(GRAPH[name] & MODULES.keys() - done):
            if found := visit(other):
                return found
        done.add(path.pop())
        return []

    return next((found for name in sorted(MODULES) if name not in done and (found := visit(name))), [])


def test_a_module_imports_only_from_its_own_floor_and_lower_ones():
    assert upward() == set()


def test_there_are_no_cycles():
    """Nowhere, and so not among the modules of a floor either."""
    assert cycle() == []


def test_folders_can_be_imported_by_name():
    """No name of `pbm_envs` hides a folder: `import pbm_envs.games.chameleon.rules as rules` once failed."""
    code = "import pbm_envs.games.chameleon.rules as rules; print(rules.__name__)"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert printed.strip() == "pbm_envs.games.chameleon.rules"
    assert not {name for name in pbm_envs.__all__ if f"pbm_envs.{name}" in MODULES}


def test_every_floor_is_lived_on():
    assert {floor(name) for name in MODULES} == set(range(len(FLOORS)))
    assert {name for names in FLOORS for name in names} <= MODULES.keys()


@pytest.mark.parametrize("package", sorted(EMPTY))
def test_packages_of_parts_import_nothing(package):
    assert not GRAPH[package] - {"__future__"}


def test_no_game_knows_another():
    for name, others in GRAPH.items():
        if name.startswith("pbm_envs.games."):
            games = {other.split(".")[2] for other in others if other.startswith("pbm_envs.games.")}
            assert games <= {name.split(".")[2], "chains", "connection"}, f"{name} imports {games}"


def test_rules_know_no_pictures():
    """What a rule or a view needs is in `core`; only scenes use `render`."""
    for name, others in GRAPH.items():
        if name.startswith("pbm_envs.games.") and not name.endswith(".scene"):
            assert not {other for other in others if other.startswith("pbm_envs.render")}, name


@pytest.mark.parametrize("module", ["rules", "view"])
def test_kernels_import_only_numpy(module):
    for name in pbm_envs.registered_games():
        outside = {other for other in GRAPH[f"pbm_envs.games.{name}.{module}"] if not other.startswith("pbm_envs")}
        assert outside <= {"__future__", "collections.abc", "itertools", "typing", "numpy"}


def kernels(source: str) -> list[ast.FunctionDef]:
    """The functions that `kernel` or `stack_kernel` compiles, by whatever name a module imports them."""
    tree = ast.parse(source)
    names = {"kernel", "stack_kernel"}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            names |= {alias.asname for alias in node.names if alias.asname and alias.name in names}
    return [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
        and any(ast.unparse(decorator).rpartition(".")[2] in names for decorator in node.decorator_list)
    ]


def functions_taken(kernel: ast.FunctionDef) -> list[str]:
    """The arguments of a kernel that can be functions."""
    given = [*kernel.args.posonlyargs, *kernel.args.args, *kernel.args.kwonlyargs]
    types = {one.arg: ast.unparse(one.annotation) if one.annotation else "Any" for one in given}
    return [name for name, kind in types.items() if kind == "Any" or "Callable" in kind or "Function" in kind]


def test_no_kernel_takes_a_function():
    """Numba would not find it in its cache again: it would be compiled in every process."""
    found = {f"{name}.{node.name}": node for name, path in MODULES.items() for node in kernels(path.read_text("utf-8"))}
    assert len(found) > 200
    assert {name: functions_taken(node) for name, node in found.items() if functions_taken(node)} == {}


def test_kernels_are_found_by_every_name():
    source = """
from pbm_envs.authoring import kernel as compiled
import pbm_envs.core.kernels as kernels

@compiled
def first(rule: Callable[..., int], count: int): ...

def outer():
    @kernels.stack_kernel
    def second(count: int, rule): ...

def third(rule): ...
"""
    assert {node.name: functions_taken(node) for node in kernels(source)} == {"first": ["rule"], "second": ["rule"]}


def test_agents_use_only_public_names():
    """Those that docs/versions.md lists."""
    parts = "adapters authoring envs foreign records registry render server_log text toolbox".split()
    public = {f"pbm_envs.{name}" for name in parts}
    for name, others in GRAPH.items():
        if name.startswith("pbm_agents"):
            for other in others:
                if other.startswith("pbm_envs."):
                    part = ".".join(other.split(".")[:2])
                    kernels_of = ("pbm_envs.games.curio.pieces", "pbm_envs.games.unlur.rules")
                    allowed = part in public or other.endswith("_v0") or other in kernels_of
                    assert allowed, f"{name} imports {other}"
