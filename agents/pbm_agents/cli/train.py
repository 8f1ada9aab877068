"""`pbm train`: a network for any game, by self-play."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from pbm_envs.registry import parse_game

from ..learning.settings import Training
from .games import Options
from .playing import AcceptChanges, Ray, Workers
from .settings import with_settings
from .wrapping import wrapped

EXAMPLES = """
  pbm train chameleon -o size=5 --out runs/chameleon --rounds 30 --workers 2
  pbm train trinim -o num_players=3 --out runs/trinim --simulations 32 --full-share 0.25 --tensorboard
  pbm train curio --out runs/curio --imitation-rounds 5 --evaluate random --evaluate mcts:simulations=200
  pbm train unlur --out runs/unlur --games 512 --ray auto
"""


@with_settings(Training, flags={"opponents": "--evaluate"})
def train(
    game: Annotated[str, typer.Argument(help="A name that `pbm games` lists, or module:Class.")],
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="The folder of the run. It is made if missing.")],
    settings: dict[str, Any],
    options: Options = None,
    workers: Workers = 1,
    ray: Ray = None,
    accept_changes: AcceptChanges = False,
    tensorboard: Annotated[bool, typer.Option("--tensorboard", help="Write logs for TensorBoard, too.")] = False,
) -> None:
    """Train a network by self-play.

    A search that the network guides plays against itself, and the network learns what the search finds. FOLDER gets
    the network, the curve as CSV and picture, and checkpoints.

    However it was stopped, the same command goes on with it; more --rounds prolong it. The result does not depend on
    the number of workers, nor on --ray, with which the cluster plays and this machine learns.
    """
    rules, chosen = parse_game(game, options), Training(**settings)
    from ..learning.trainer import train as run  # PyTorch

    try:
        run(
            rules,
            out,
            chosen,
            workers=workers,
            ray=ray or False,
            tensorboard=tensorboard,
            accept_changes=accept_changes,
        )
    except KeyboardInterrupt:
        typer.echo(
            "\n" + wrapped(f"pbm: the run is kept in {out}; the same command goes on with it", err=True), err=True
        )
        raise typer.Exit(130) from None
    name = "network.onnx" if (out / "network.onnx").exists() else "network.pt"
    print(f"The agent is mcts:simulations=200,network={out / name}")
