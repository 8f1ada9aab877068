"""The notebooks as they are kept: whole, executed, with pictures, and without anything of the machine they ran on.

That they run, `make test-slow` and (those that need PyTorch) `make test-libraries` find out.
"""

import ast
import importlib
import re
from importlib.metadata import metadata
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path

import nbformat
import pytest

ROOT = Path(__file__).parent.parent
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
EXTRAS = metadata("pbm-envs").get_all("Provides-Extra")
WIDGET = "BoardWidget("
"""What a cell that shows a widget has: nothing of it is kept."""
KEPT = ("image/svg+xml", "image/png", "text/plain", "text/html")


def read(path):
    return nbformat.read(path, as_version=4)


def code(path):
    return [cell for cell in read(path).cells if cell.cell_type == "code"]


def of_each_notebook(test):
    return pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)(test)


@of_each_notebook
def test_it_is_a_whole_notebook_with_a_kernel_that_everyone_has(path):
    notebook = read(path)
    nbformat.validate(notebook)
    assert (notebook.nbformat, notebook.nbformat_minor) == (4, 5)
    assert notebook.metadata.kernelspec.name == "python3"
    ids = [cell.id for cell in notebook.cells]
    assert len(set(ids)) == len(ids)
    assert all(re.fullmatch(r"[a-z][a-z0-9-]*", name) for name in ids), "ids that say what a cell is do not change"


@of_each_notebook
def test_it_opens_with_what_to_install(path):
    first = read(path).cells[0]
    assert first.source.startswith("# ")
    extras = re.findall(r"pip install (?:-e )?'(?:pbm-envs|\.)\[([a-z,]+)\]'", first.source)
    assert extras
    for extra in ",".join(extras).split(","):
        assert extra in EXTRAS


@of_each_notebook
def test_it_was_executed_from_top_to_bottom(path):
    """Every cell has run, in order, in a fresh kernel, and without an error or a warning."""
    cells = code(path)
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    for cell in cells:
        for output in cell.outputs:
            assert output.output_type != "error", cell.id
            assert output.get("name") != "stderr", cell.id
        kinds = [output.output_type for output in cell.outputs]
        assert ("stream", "stream") not in pairwise(kinds), "where output is cut is chance"


@of_each_notebook
def test_what_a_cell_shows_is_there(path):
    """A cell that ends in an expression has an output, and one that draws has a picture."""
    pictures = 0
    for cell in code(path):
        source = re.sub(r"^%+.*$", "", cell.source, flags=re.MULTILINE)
        *_, last = ast.parse(source).body
        kinds = {kind for output in cell.outputs for kind in output.get("data", {})}
        assert kinds <= set(KEPT), cell.id
        if WIDGET in source:
            continue
        if isinstance(last, ast.Expr):
            assert cell.outputs, cell.id
        drawn = {"image/svg+xml", "image/png"} & kinds
        if re.search(r"\.show\(|plot_|plt\.", source):
            assert drawn, cell.id
        if "animate(" in source:
            assert "text/html" in kinds, cell.id
        pictures += bool(drawn)
    assert pictures >= 2


@of_each_notebook
def test_nothing_tells_where_it_ran(path):
    text = path.read_text(encoding="utf-8")
    for trace in (str(Path.home()), str(ROOT), "/tmp", "/home/", "/root", "ipykernel_", "0x7f"):
        assert trace not in text


def test_no_function_stands_in_two_notebooks():
    where = {}
    for path in NOTEBOOKS:
        for cell in code(path):
            for name in re.findall(r"^(?:def|class) (\w+)", cell.source, flags=re.MULTILINE):
                assert where.setdefault(name, path.stem) == path.stem, f"{name} stands in {where[name]} too"


def test_readme_lists_them():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert sorted(re.findall(r"\]\(notebooks/(\w+\.ipynb)\)", readme)) == [path.name for path in NOTEBOOKS]


@of_each_notebook
def test_links_lead_somewhere(path):
    for cell in read(path).cells:
        if cell.cell_type == "markdown":
            for target in re.findall(r"\]\(([^)#:]+)\)", cell.source):
                assert (path.parent / target).exists(), target


@of_each_notebook
def test_what_it_imports_from_here_exists(path):
    """So that a renamed function is noticed without running the notebook."""
    for cell in code(path):
        source = re.sub(r"^%.*$", "", cell.source, flags=re.MULTILINE)  # commands of the notebook
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(("pbm_envs", "pbm_agents")):
                if node.module == "pbm_agents.learning.network":
                    pytest.importorskip("torch")
                module = importlib.import_module(node.module)
                for alias in node.names:
                    missing = f"{node.module} has no {alias.name}"
                    assert hasattr(module, alias.name) or find_spec(f"{node.module}.{alias.name}"), missing
