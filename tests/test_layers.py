"""Imports run one way (CONTRIBUTING.md): a module imports from lower floors and, without cycles, from its own."""

import ast
from collections import defaultdict
from pathlib import Path

import pbm_agents
import pytest

import pbm_envs

SOURCE, AGENTS = Path(pbm_envs.__file__).parent, Path(pbm_agents.__file__).parent
FLOORS = (
    ("pbm_envs.version", "pbm_envs.core"),
    ("pbm_envs.render",),
    ("pbm_envs.games",),
    ("pbm_envs.registry", "pbm_envs.testing"),
    ("pbm_envs.authoring",),
    ("pbm_envs.records", "pbm_envs.envs"),
    ("pbm_envs.text",),
    ("pbm_envs.render.animation", "pbm_envs.adapters", *(f"pbm_envs.{name}_v0" for name in pbm_envs.games())),
    ("pbm_envs",),
    ("pbm_agents.players.agent",),
    ("pbm_agents.search",),
    ("pbm_agents.learning",),
    ("pbm_agents.players",),
    ("pbm_agents.exact",),
    ("pbm_agents.champions",),
    ("pbm_agents.equilibrium",),
    ("pbm_agents.arena",),
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
PUBLIC = {f"pbm_envs.{name}" for name in pbm_envs.__all__}
"""Names of the package itself, such as the function `games`, beside which there is a folder `games`."""


def when_imported(tree: ast.AST) -> list[ast.stmt]:
    """The import statements that run when the module is imported: none in functions, none for type checkers only."""
    found: list[ast.stmt] = []
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            found.append(node)
        elif isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        elif not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            found += when_imported(node)
    return found


def imports(name: str) -> set[str]:
    """What a module imports when it is imported, by absolute name; of our packages the modules, not what is in them."""
    path = MODULES[name]
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    found = set()
    for node in when_imported(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        else:
            base = package.split(".")[: len(package.split(".")) + 1 - node.level] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            inside = {f"{module}.{alias.name}" for alias in node.names} & MODULES.keys() - PUBLIC
            found |= inside or {module}
            if inside and len(inside) < len(node.names):
                found.add(module)
    return found - {name}


GRAPH = {name: imports(name) for name in MODULES}


def floor(name: str) -> int:
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        for number, names in enumerate(FLOORS):
            if ".".join(parts[:length]) in names and (length > 1 or len(parts) == 1):
                return number
    raise AssertionError(f"{name} is on no floor: name its package in FLOORS")


@pytest.mark.parametrize("name", sorted(MODULES))
def test_a_module_imports_only_from_its_own_floor_and_lower_ones(name):
    for other in GRAPH[name] & MODULES.keys():
        assert floor(other) <= floor(name), f"{name} imports {other}"


def test_every_floor_is_lived_on():
    assert {floor(name) for name in MODULES} == set(range(len(FLOORS)))
    assert {name for names in FLOORS for name in names} <= MODULES.keys()


def test_there_are_no_cycles():
    """Nowhere, and so not among the modules of a floor either."""
    state: dict[str, str] = defaultdict(str)

    def visit(name: str, path: list[str]) -> None:
        state[name] = "open"
        for other in sorted(GRAPH[name] & MODULES.keys()):
            assert state[other] != "open", f"a cycle: {' -> '.join([*path, name, other])}"
            if not state[other]:
                visit(other, [*path, name])
        state[name] = "done"

    for name in sorted(MODULES):
        if not state[name]:
            visit(name, [])


@pytest.mark.parametrize("package", sorted(EMPTY))
def test_packages_of_parts_import_nothing(package):
    assert not GRAPH[package] - {"__future__"}


def test_no_game_knows_another():
    for name, others in GRAPH.items():
        if name.startswith("pbm_envs.games."):
            games = {other.split(".")[2] for other in others if other.startswith("pbm_envs.games.")}
            assert games <= {name.split(".")[2], "chains"}, f"{name} imports {games}"


def test_rules_know_no_pictures():
    """What a rule or a view needs is in `core`; scenes, legends and the game class may use `render`."""
    for name, others in GRAPH.items():
        if name.startswith("pbm_envs.games.") and not name.endswith((".scene", ".legend")):
            assert not {other for other in others if other.startswith("pbm_envs.render")}, name


@pytest.mark.parametrize("module", ["rules", "view"])
def test_kernels_import_only_numpy(module):
    for name in pbm_envs.games():
        outside = {other for other in GRAPH[f"pbm_envs.games.{name}.{module}"] if not other.startswith("pbm_envs")}
        assert outside <= {"__future__", "collections.abc", "itertools", "typing", "numpy"}


def test_no_kernel_takes_a_function():
    """Numba would not find it in its cache again: it would be compiled in every process."""
    for name, path in MODULES.items():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and any(ast.unparse(d) == "kernel" for d in node.decorator_list):
                for argument in node.args.args:
                    annotation = ast.unparse(argument.annotation) if argument.annotation else "Any"
                    assert not annotation.startswith(("Callable", "Any")), f"{name}.{node.name}: {argument.arg}"


def test_agents_use_only_public_names():
    public = {f"pbm_envs.{name}" for name in ("adapters", "core", "envs", "records", "render", "registry", "text")}
    for name, others in GRAPH.items():
        if name.startswith("pbm_agents"):
            for other in others:
                if other.startswith("pbm_envs."):
                    assert ".".join(other.split(".")[:2]) in public or other.endswith("_v0"), f"{name} imports {other}"
