"""The settings of a training run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

from pbm_envs import Game
from pbm_envs.toolbox import check_settings, setting

from ..search import PUCT, Gumbel, Search
from .self_play import SelfPlay

SMALL_NETWORKS = ("chameleon",)
"""Games whose training uses small networks by default, as measured in benchmarks/training.py."""
SMALL_BOARD = 25
"""Most cells of a board on which few games are enough."""


@final
@dataclass(frozen=True)
class Training:
    """The settings of a training run."""

    rounds: int = setting(
        20, low=1, help="Rounds of self-play and learning. A run with more rounds than before continues where it ended."
    )
    games: int = setting(64, low=1, help="Games of self-play per round.")
    simulations: int = setting(48, low=1, help="Simulations for each move in self-play.")
    gumbel: int = setting(
        16,
        low=0,
        help="Actions that sequential halving considers at the root. 0 uses PUCT with Dirichlet noise instead.",
    )
    forced_playouts: float = setting(
        0.0, low=0, help="Forced playouts as in KataGo (which uses 2). Needs gumbel 0. 0 turns them off."
    )
    full_share: float = setting(
        1.0, low=0, high=1, help="Share of the positions that are searched in full and used as policy targets."
    )
    quick_simulations: int = setting(12, low=1, help="Simulations for each move in the other positions.")
    exploring_plies: int = setting(
        12,
        low=0,
        help="Plies at the start of a game in which moves are sampled. After them, the best move found is played.",
    )
    resign_below: float | None = setting(
        None, low=-1, high=1, help="A player whose search expects less than this resigns. None turns resigning off."
    )
    imitation_rounds: int = setting(
        0, low=0, help="Number of first rounds in which a search with random playouts plays the games, as a warm start."
    )
    imitation_simulations: int = setting(400, low=1, help="Simulations for each move in these rounds.")
    reuse: float = setting(
        8.0, low=1e-9, help="Average number of times that a position is used in training in the round that adds it."
    )
    batch: int = setting(128, low=1, help="Positions per update.")
    learning_rate: float = setting(1e-3, low=1e-9, help="Learning rate of AdamW.")
    weight_decay: float = setting(1e-4, low=0, help="Weight decay of AdamW.")
    capacity: int = setting(50_000, low=1, help="Maximum number of examples kept. The oldest are dropped first.")
    critic_share: float = setting(
        0.0,
        low=0,
        high=1,
        help="Share of the value target that comes from a critic, which sees hidden information; the rest is the "
        "game's result. 0 turns the critic off.",
    )
    network: str = setting(
        "deep",
        choices=("small", "deep"),
        help="small: two layers, evaluated inside the compiled search. deep: gated layers, which see canonical forms "
        "and are evaluated by ONNX Runtime, if it is installed.",
    )
    hidden: int = setting(
        128, low=1, help="Units per layer of the network; the second layer of a small one has a quarter."
    )
    layers: int = setting(3, low=1, help="Layers of a deep network.")
    opponents: tuple[str, ...] = setting(
        ("random", "mcts:simulations=100"), help="Fixed opponents, as agents by name, that measure progress."
    )
    evaluation_games: int = setting(40, low=0, help="Games against each opponent after a round. 0 turns them off.")
    evaluation_simulations: int = setting(
        48, low=1, help="Simulations for each move of the networks in evaluation games and gate games."
    )
    gate_games: int = setting(
        40,
        low=0,
        help="Games against the best network so far. A network that scores its fair share or more replaces it. With "
        "0, the newest network always replaces it.",
    )
    seed: int = setting(1, low=0, help="Seed of all random numbers.")

    def __post_init__(self) -> None:
        check_settings(self)
        if self.gumbel and self.forced_playouts:
            raise ValueError(f"forced_playouts is {self.forced_playouts}, gumbel {self.gumbel}: expected one of them 0")
        self.self_play_settings()

    def self_play_settings(self) -> SelfPlay:
        """Return the settings of self-play games."""
        return SelfPlay(
            exploring_plies=self.exploring_plies,
            resign_below=self.resign_below,
            full_share=self.full_share,
            quick_simulations=self.quick_simulations,
            full_observations=self.critic_share > 0,
        )

    def self_play_search(self, evaluator: Any) -> Search:
        """Return the search that plays self-play games; without an evaluator, that of the imitation rounds."""
        if evaluator is None:
            return Search(simulations=self.imitation_simulations)
        if self.gumbel:
            return Search(simulations=self.simulations, evaluator=evaluator, selection=Gumbel(self.gumbel, noise=1.0))
        rule = PUCT(noise=0.25, forced_playouts=self.forced_playouts)
        return Search(simulations=self.simulations, evaluator=evaluator, selection=rule)

    def playing_search(self, evaluator: Any) -> Search:
        """Return the search that plays for a network in evaluations."""
        rule = Gumbel(self.gumbel) if self.gumbel else PUCT()
        return Search(simulations=self.evaluation_simulations, evaluator=evaluator, selection=rule)


def default_training(game: Game) -> Training:
    """Return the settings with which `pbm train` trains a network for a game if no others are given.

    SMALL_NETWORKS get a small network, which is so cheap to evaluate that a round has many games.
    """
    if game.name not in SMALL_NETWORKS:
        return Training()
    large = game.board.size > SMALL_BOARD
    return Training(
        rounds=100 if large else 30,
        games=512 if large else 256,
        imitation_rounds=12 if large else 3,
        network="small",
        hidden=256,
        batch=512,
        reuse=4.0,
        capacity=500_000,
        opponents=("mcts:simulations=100",),
        evaluation_games=32,
        gate_games=32,
    )
