"""`pbm train`: a network for any game, by self-play."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pbm_envs.registry import parse_game

from .games import Options
from .playing import Ray, Workers
from .wrapping import wrapped

EXAMPLES = """
  pbm train chameleon -o size=5 --out runs/chameleon --rounds 30 --workers 2
  pbm train trinim -o num_players=3 --out runs/trinim --simulations 32 --full-share 0.25 --tensorboard
  pbm train curio --out runs/curio --imitation-rounds 5 --evaluate random --evaluate mcts:simulations=200
  pbm train unlur --out runs/unlur --games 512 --ray auto
"""


def train(
    game: Annotated[str, typer.Argument(help="A name that `pbm games` lists, or module:Class.")],
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="Of the run; it is made if missing.")],
    options: Options = None,
    rounds: Annotated[int, typer.Option(help="Of self-play and learning.")] = 20,
    games: Annotated[int, typer.Option(help="Of self-play in a round.")] = 64,
    simulations: Annotated[int, typer.Option(help="Of each move in self-play.")] = 48,
    gumbel: Annotated[int, typer.Option(help="Actions considered at the root; 0: PUCT with noise.")] = 16,
    forced_playouts: Annotated[float, typer.Option(help="With --gumbel 0: of KataGo, who takes 2; 0: none.")] = 0.0,
    full_share: Annotated[float, typer.Option(help="Share of the positions that are searched in full.")] = 1.0,
    quick_simulations: Annotated[int, typer.Option(help="Of the other positions.")] = 12,
    exploring_plies: Annotated[int, typer.Option(help="In which moves are drawn.")] = 12,
    resign_below: Annotated[float | None, typer.Option(help="Give up below this value; left out: never.")] = None,
    imitation_rounds: Annotated[int, typer.Option(help="First rounds, played by the search with playouts.")] = 0,
    imitation_simulations: Annotated[int, typer.Option(help="Of each move there.")] = 400,
    reuse: Annotated[float, typer.Option(help="How often a new position is learned from.")] = 8.0,
    batch: Annotated[int, typer.Option(help="Positions of an update.")] = 128,
    learning_rate: Annotated[float, typer.Option(help="Of AdamW.")] = 1e-3,
    capacity: Annotated[int, typer.Option(help="Positions that are kept.")] = 50_000,
    critic_share: Annotated[
        float, typer.Option(help="Share of a critic, which sees what is hidden, in what values learn; 0: none.")
    ] = 0.0,
    hidden: Annotated[int, typer.Option(help="Units of a layer.")] = 128,
    layers: Annotated[int, typer.Option(help="Of the network.")] = 3,
    evaluate: Annotated[
        list[str] | None,
        typer.Option(metavar="AGENT", help="A frozen opponent, repeatable; random and mcts:simulations=100."),
    ] = None,
    evaluation_games: Annotated[int, typer.Option(help="Against each of them after a round.")] = 40,
    evaluation_simulations: Annotated[int, typer.Option(help="Of the network's moves there.")] = 48,
    gate_games: Annotated[int, typer.Option(help="Against the best network so far; 0: the newest is the best.")] = 40,
    seed: Annotated[int, typer.Option(min=0, help="Decides all that is random.")] = 1,
    workers: Workers = 1,
    ray: Ray = None,
    tensorboard: Annotated[bool, typer.Option("--tensorboard", help="Write for TensorBoard, too.")] = False,
) -> None:
    """Train a network by self-play.

    A search that the network guides plays against itself, and the network learns what the search finds. FOLDER gets
    the network, the curve as CSV and picture, and checkpoints.

    However it was stopped, the same command goes on with it; more --rounds prolong it. The result does not depend on
    the number of workers, nor on --ray, with which the cluster plays and this machine learns.
    """
    from ..learning.trainer import Training  # PyTorch, when it is needed
    from ..learning.trainer import train as run

    chosen = Training(
        rounds=rounds,
        games=games,
        simulations=simulations,
        gumbel=gumbel,
        forced_playouts=forced_playouts,
        full_share=full_share,
        quick_simulations=quick_simulations,
        exploring_plies=exploring_plies,
        resign_below=resign_below,
        imitation_rounds=imitation_rounds,
        imitation_simulations=imitation_simulations,
        reuse=reuse,
        batch=batch,
        learning_rate=learning_rate,
        capacity=capacity,
        critic_share=critic_share,
        hidden=hidden,
        layers=layers,
        opponents=tuple(evaluate or Training.opponents),
        evaluation_games=evaluation_games,
        evaluation_simulations=evaluation_simulations,
        gate_games=gate_games,
        seed=seed,
    )
    rules = parse_game(game, options)
    try:
        run(rules, out, chosen, workers=workers, ray=ray or False, tensorboard=tensorboard)
    except KeyboardInterrupt:
        typer.echo(
            "\n" + wrapped(f"pbm: the run is kept in {out}; the same command goes on with it", err=True), err=True
        )
        raise typer.Exit(130) from None
    name = "network.onnx" if (out / "network.onnx").exists() else "network.pt"
    print(f"The agent is mcts:simulations=200,network={out / name}")
