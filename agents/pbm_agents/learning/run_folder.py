"""The folder of a training run: whose run it is, and its networks as files."""

from __future__ import annotations

import json
import warnings
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pbm_envs import Game
from pbm_envs.core.files import is_partial, write_text

from .network import PolicyValueNetwork
from .settings import Training

FORMAT = "pbm_agents.learning.trainer 1"


def open_folder(game: Game, out: Path, settings: Training) -> None:
    """Make the folder of a run; ValueError if it holds another run, or something else."""
    about = {"format": FORMAT, "game": game.name, "options": dict(game.options), "settings": asdict(settings)}
    about, path = json.loads(json.dumps(about)), out / "training.json"
    if path.exists():
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise ValueError(f"{str(path)!r} cannot be read: expected what train has written") from error
        if not isinstance(found, dict) or found.get("format") != FORMAT:
            raise ValueError(f"{str(path)!r} is of no run of this version: expected what train has written")
        theirs, ours = _flat(found), _flat(about)
        other = {name: value for name, value in theirs.items() if name != "rounds" and value != ours.get(name)}
        if other:
            raise ValueError(f"{str(out)!r} holds a run with other settings, {other}: expected these, or a new folder")
    elif out.is_dir() and not all(is_partial(file) for file in out.iterdir()):
        raise ValueError(f"{str(out)!r} holds something else: expected a folder of train, or a new or empty one")
    out.mkdir(parents=True, exist_ok=True)
    write_text(path, json.dumps(about, indent=2) + "\n")


def _flat(about: dict[str, Any]) -> dict[str, Any]:
    return {"game": about.get("game"), **about.get("options", {}), **about.get("settings", {})}


def write_network(network: PolicyValueNetwork, out: Path) -> None:
    """Write `network.pt`, and `network.onnx` where ONNX is installed, each in one piece."""
    network.eval().save(out / "network.pt")
    if _has_onnx():
        _export(network, out / "network.onnx")


def fast_evaluator(network: PolicyValueNetwork, out: Path) -> Any:
    """The network as it is now, in ONNX Runtime where that is installed: faster, and it goes to processes as bytes."""
    if not _has_onnx():
        return network.eval().evaluator()
    from .onnx_evaluator import OnnxEvaluator

    path = out / "self_play" / "network.onnx"
    path.parent.mkdir(exist_ok=True)
    _export(network, path)
    return OnnxEvaluator(path)


def _has_onnx() -> bool:
    try:
        import onnx  # noqa: F401
        import onnxruntime  # noqa: F401
    except ImportError:
        return False
    return True


def _export(network: PolicyValueNetwork, path: Path) -> None:
    """As ONNX, without what PyTorch says of it each time."""
    from .onnx_evaluator import export_onnx

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        export_onnx(network, path)
