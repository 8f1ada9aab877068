"""Run the notebooks and keep what they show: `python notebooks/execute.py notebooks/*.ipynb`, or `make notebooks`.

What is another every time is left out: times, widgets' ids, the message that kernels are being compiled.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient

KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}
WIDGET = "application/vnd.jupyter.widget-view+json"
COMPILING = re.compile(r"compil(ing|ed) .*(once on this machine|kernels)")


def execute(path: Path) -> None:
    """In place, in the notebook's folder. nbclient's CellExecutionError if a cell fails; then nothing is written."""
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(
        notebook,
        timeout=1800,
        kernel_name="python3",
        record_timing=False,
        coalesce_streams=True,
        store_widget_state=False,
        resources={"metadata": {"path": str(path.parent)}},
    )
    client.execute()
    notebook.metadata = {"kernelspec": KERNEL, "language_info": {"name": "python"}}
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
        if cell.cell_type == "code":
            cell.outputs = [
                output
                for output in cell.outputs
                if WIDGET not in output.get("data", {}) and not COMPILING.search(_text(output))
            ]
    nbformat.validate(notebook)
    nbformat.write(notebook, path)


def _text(output: nbformat.NotebookNode) -> str:
    """Return what an output says in plain words."""
    return str(output.get("text", output.get("data", {}).get("text/html", "")))


for name in sys.argv[1:]:
    print(name, flush=True)
    execute(Path(name))
