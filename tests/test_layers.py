"""Imports run one way (CONTRIBUTING.md): each layer knows only those below it, and no game knows another."""

import ast
from pathlib import Path

import pbm_agents
import pytest

import pbm_envs

SOURCE, AGENTS = Path(pbm_envs.__file__).parent, Path(pbm_agents.__file__).parent
LAYERS = [
    {"kernels", "version"},
    {"boards", "checks", "notation", "randomness", "render", "state", "symmetry"},
    {"chains", "game"},
    set(pbm_envs.GAMES),
    {"deals", "registry", "testing"},
    {"adapters", "aec", "animation", "lockstep", "opponents", "records", "single", "vector"},
    {f"{name}_v0" for name in pbm_envs.GAMES},
    {"__init__"},
]
RULES_FIRST = ["rules", "text", "view", "worlds", "scene", "game", "__init__"]
"""Inside a game's folder."""
SCENES_FIRST = ["scene", "themes", "parts", "pixels", "svg", "text", "picture", "window", "modes", "film", "__init__"]
"""Inside `render`."""


def imports(path: Path, package: str) -> list[str]:
    """Absolute names of all that a file imports."""
    names = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package.split(".")[: len(package.split(".")) + 1 - node.level] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            names += [f"{module}.{alias.name}" if module == "pbm_envs" else module for alias in node.names]
    return names


def layer(name: str) -> int:
    return next(k for k, names in enumerate(LAYERS) if name in names)


@pytest.mark.parametrize("path", sorted(SOURCE.rglob("*.py")), ids=lambda path: str(path.relative_to(SOURCE)))
def test_a_module_imports_only_lower_layers(path):
    parts = path.relative_to(SOURCE).with_suffix("").parts
    package = ".".join(["pbm_envs", *parts[:-1]])
    for name in imports(path, package):
        if not name.startswith("pbm_envs."):
            continue
        other = name.split(".")[1:]
        if other[0] == parts[0] and len(parts) > 1:
            if len(other) > 1:
                order = SCENES_FIRST if parts[0] == "render" else RULES_FIRST
                assert order.index(other[1]) < order.index(parts[1]), f"{parts} imports {name}"
        elif parts[0] != "__init__" or hasattr(pbm_envs, other[0]):
            assert layer(other[0]) <= layer(parts[0]), f"{parts} imports {name}"
            assert other[0] == parts[0] or not {other[0], parts[0]} <= set(pbm_envs.GAMES), f"{parts} imports {name}"


@pytest.mark.parametrize("path", sorted(AGENTS.rglob("*.py")), ids=lambda path: path.name)
def test_agents_use_only_public_names(path):
    for name in imports(path, "pbm_agents"):
        if name.startswith("pbm_envs."):
            public = name.split(".")[1]
            modules = LAYERS[6] | {"adapters", "animation", "kernels", "randomness", "records", "render"}
            assert public in pbm_envs.__all__ or public in modules, name


@pytest.mark.parametrize("module", ["rules", "view"])
def test_kernels_take_no_functions(module):
    """Numba would not find them in its cache again; and rules import neither environments nor libraries but NumPy."""
    for name in pbm_envs.GAMES:
        path = SOURCE / name / f"{module}.py"
        outside = {other for other in imports(path, f"pbm_envs.{name}") if not other.startswith("pbm_envs")}
        assert outside <= {"__future__", "typing", "numpy"}
        tree = ast.parse(path.read_text(encoding="utf-8"))
        assert not [node for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id == "Callable"]
