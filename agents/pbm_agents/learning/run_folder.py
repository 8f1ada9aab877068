"""The folder of a training run: the run it belongs to, and its networks as files."""

from __future__ import annotations

import copy
import json
import tempfile
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from pbm_envs import Game

from ..common.folders import check_programs, is_unused, programs, write_about
from .network import PolicyValueNetwork
from .settings import Training
from .small_training import SmallModule, exported

FORMAT = "pbm_agents.learning.trainer 2"
ABOUT = "training.json"
TORCH_THREADS = 1
"""PyTorch threads per process of a run: another number changes the order of additions, and so the rounding."""


def check_folder(out: Path) -> None:
    """Raise ValueError if the folder holds anything other than a run; write nothing."""
    if not is_unused(out) and not (out / ABOUT).exists():
        raise ValueError(f"{str(out)!r} holds something else: expected a folder of train, or a new or empty one")


def open_folder(game: Game, out: Path, settings: Training, accept_changes: bool = False, device: str = "cpu") -> None:
    """Write the description of a run to its folder, which is locked.

    Raises:
        ValueError: The folder holds another run, or was made with other programs and `accept_changes` is False.
    """
    about = {"format": FORMAT, "game": game.name, "options": dict(game.options), "settings": asdict(settings)}
    about, path = json.loads(json.dumps(about)), out / ABOUT
    here = programs([game], settings.opponents, libraries())
    here["threads of torch"] = str(TORCH_THREADS)
    if device != "cpu":
        here["device of torch"] = device
    made_with: Sequence[Mapping[str, str]] = [here]
    if path.exists():
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise ValueError(f"{str(path)!r} cannot be read: expected a file written by train") from error
        if not isinstance(found, dict) or found.get("format") != FORMAT:
            raise ValueError(f"{str(path)!r} is not from a run of this version: expected a file written by train")
        theirs, ours = _flat(found), _flat(about)
        other = {name: value for name, value in theirs.items() if name != "rounds" and value != ours.get(name)}
        if other:
            raise ValueError(f"{str(out)!r} holds a run with other settings, {other}: expected these, or a new folder")
        made_with = check_programs(out, found.get("made_with"), here, accept=accept_changes)
    write_about(path, about | {"made_with": made_with})


def _flat(about: dict[str, Any]) -> dict[str, Any]:
    return {"game": about.get("game"), **about.get("options", {}), **about.get("settings", {})}


def libraries() -> tuple[str, ...]:
    """Return the distributions that compute networks on this machine."""
    return ("torch", "onnxruntime") if _has_onnx() else ("torch",)


def write_network(network: PolicyValueNetwork | SmallModule, out: Path) -> Path:
    """Write a network for agents, each file atomically; return the file for the search.

    A small network is `network.npz`; another one `network.pt`, and `network.onnx` if ONNX is installed.
    """
    network.eval()
    if isinstance(network, SmallModule):
        exported(network).save(out / "network.npz")
        return out / "network.npz"
    network.save(out / "network.pt")
    if not _has_onnx():
        return out / "network.pt"
    _export(network, out / "network.onnx")
    return out / "network.onnx"


def fast_evaluator(network: PolicyValueNetwork | SmallModule) -> Any:
    """Return a picklable evaluator of the network as it is now.

    A small network needs no library; the other one is evaluated by ONNX Runtime if that is installed.
    """
    network.eval()
    if isinstance(network, SmallModule):
        return exported(network)
    if not _has_onnx():
        return copy.deepcopy(network).cpu().evaluator()
    from .onnx_evaluator import OnnxEvaluator

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "network.onnx"
        _export(network, path)
        return OnnxEvaluator(path)


def _has_onnx() -> bool:
    return all(map(find_spec, ("onnx", "onnxruntime")))


def _export(network: PolicyValueNetwork, path: Path) -> None:
    """Export the network as ONNX, without PyTorch's warnings."""
    from .onnx_evaluator import export_onnx

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        export_onnx(network, path)
