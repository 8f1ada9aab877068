"""`pbm train`: a network for any game, by self-play."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import typer

from pbm_envs.registry import parse_game
from pbm_envs.toolbox import require

from ..learning.settings import Training, default_training
from .settings import OPTIONS, argument, flag, with_run, with_settings
from .terminal import stopped


@with_settings(Training, flags={"opponents": "--evaluate"})
@with_run("max_requests", "max_cost")
def train(
    settings: dict[str, Any],
    run: dict[str, Any],
    context: typer.Context,
    game: str = argument(..., None, "A name that `pbm games` lists, or module:Class."),
    out: Path = flag(..., "The folder of the run. It is made if missing.", metavar="FOLDER"),
    options: list[str] | None = OPTIONS,
    device: str = flag("cpu", "Device on which PyTorch learns, such as cuda. Games stay on the processors."),
    tensorboard: bool = flag(False, "Also write logs for TensorBoard.", "--tensorboard"),
) -> None:
    """Train a network by self-play.

    A search guided by the network plays against itself, and the network is trained on the results of the search.
    FOLDER receives the network, the curve as CSV and picture, the newest game as record and film, and checkpoints.

    The defaults shown here are those of most games. Chameleon has its own, for a small network that is evaluated inside
    the compiled search; FOLDER/training.json lists the settings of a run.

    The same command resumes a run after any interruption; a larger --rounds extends it. The result does not depend on
    the number of workers, nor on --ray, which plays on the cluster and trains on this machine.

    Examples:
      pbm train chameleon -o size=5 --out runs/chameleon --workers 2
      pbm train trinim -o num_players=3 --out runs/trinim --simulations 32 --full-share 0.25 --tensorboard
      pbm train curio --out runs/curio --imitation-rounds 5 --evaluate random --evaluate mcts:simulations=200
      pbm train unlur --out runs/unlur --games 512 --ray auto
    """
    rules = parse_game(game, options)
    sources = {name: context.get_parameter_source(name) for name in settings}
    given = {name: value for name, value in settings.items() if getattr(sources[name], "name", "") != "DEFAULT"}
    chosen = replace(default_training(rules), **given)
    require("pbm train", "torch", "torch")
    if tensorboard:
        require("--tensorboard", "torch", "tensorboard")
    from ..learning.trainer import train as train_network  # PyTorch

    try:
        train_network(rules, out, chosen, tensorboard=tensorboard, device=device, **run)
    except KeyboardInterrupt:
        stopped(f"the run is kept in {out}; the same command resumes it")
    name = next(name for name in ("network.npz", "network.onnx", "network.pt") if (out / name).exists())
    agent = f"mcts:simulations=200,network={out / name}"
    if (out / "game.gif").exists():
        print(f"Look at it:\n  {out / 'game.gif'}, its newest game, and {out / 'curve.png'}")
    print(f"Play against it:\n  pbm play {game}{''.join(f' -o {option}' for option in options or ())} person {agent}")
    against = f"-g {game}{':' * bool(options)}{','.join(options or ())} -a mcts:simulations=200 -a {agent}"
    print(f"Measure it:\n  pbm tournament {out / 'games'} {against} --openings 20")
