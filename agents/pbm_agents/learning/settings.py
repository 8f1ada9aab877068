"""The settings of a training run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

from pbm_envs.core.checks import check_number, check_range

from ..search import PUCT, Gumbel, Search
from .self_play import SelfPlay


@final
@dataclass(frozen=True)
class Training:
    """The settings of a run.

    Attributes:
        rounds: Of self-play and learning. A run can be prolonged: more rounds than it had go on where it ended.
        games: Of self-play in a round.
        simulations: Of each move in self-play.
        gumbel: Actions that sequential halving considers at the root, as in `Gumbel`; 0: PUCT with Dirichlet noise.
        forced_playouts: As in `PUCT`; 2 in KataGo. 0: none.
        full_share: Share of the positions that are searched in full and learned from, as in `SelfPlay`.
        quick_simulations: Of the others.
        exploring_plies: Moves are drawn in so many plies of a game; then the best one found is played.
        resign_below: A player whose search expects less gives up; None: nobody does.
        imitation_rounds: First rounds, whose games are played by the search with random playouts: a warm start.
        imitation_simulations: Of each move there.
        reuse: How often a position is learned from, on average, in the round in which it is new.
        batch: Positions of an update.
        learning_rate: Of AdamW.
        weight_decay: Of AdamW.
        capacity: Examples that are kept, of the newest games.
        critic_share: For games with hidden information: share of an asymmetric critic in what values learn from; the
            rest is the game's result. The critic is a network that sees the full state, in training only. 0: none.
        hidden: Units of a layer of the network.
        layers: Of the network.
        opponents: Agents by name that never change, to measure progress by.
        evaluation_games: Against each of them after a round; 0: none.
        evaluation_simulations: Of the network's moves there, and of both networks' in the gatekeeper's games.
        gate_games: Against the best network so far, from which a network that scores its fair share or more takes over.
            0: the newest network always does.
        seed: Decides all that is random.
    """

    rounds: int = 20
    games: int = 64
    simulations: int = 48
    gumbel: int = 16
    forced_playouts: float = 0.0
    full_share: float = 1.0
    quick_simulations: int = 12
    exploring_plies: int = 12
    resign_below: float | None = None
    imitation_rounds: int = 0
    imitation_simulations: int = 400
    reuse: float = 8.0
    batch: int = 128
    learning_rate: float = 1e-3
    weight_decay: float = 1e-4
    capacity: int = 50_000
    critic_share: float = 0.0
    hidden: int = 128
    layers: int = 3
    opponents: tuple[str, ...] = ("random", "mcts:simulations=100")
    evaluation_games: int = 40
    evaluation_simulations: int = 48
    gate_games: int = 40
    seed: int = 1

    def __post_init__(self) -> None:
        for name in (
            "rounds",
            "games",
            "simulations",
            "batch",
            "capacity",
            "imitation_simulations",
            "hidden",
            "layers",
        ):
            check_range(name, getattr(self, name), 1)
        check_range("evaluation_simulations", self.evaluation_simulations, 1)
        for name in ("gumbel", "imitation_rounds", "evaluation_games", "gate_games", "seed"):
            check_range(name, getattr(self, name), 0)
        for name in ("reuse", "learning_rate"):
            check_number(name, getattr(self, name), 1e-9, 1e9)
        check_number("forced_playouts", self.forced_playouts, 0, 1e9)
        if self.gumbel and self.forced_playouts:
            raise ValueError(f"forced_playouts is {self.forced_playouts}, gumbel {self.gumbel}: expected one of them 0")
        check_number("weight_decay", self.weight_decay, 0, 1e9)
        check_number("critic_share", self.critic_share, 0, 1)
        given: Any = self.opponents
        if isinstance(given, str):
            raise ValueError(f"opponents is {given!r}: expected several names, such as ({given!r},)")
        self.self_play_settings()

    def self_play_settings(self) -> SelfPlay:
        """How games of self-play are played."""
        return SelfPlay(
            exploring_plies=self.exploring_plies,
            resign_below=self.resign_below,
            full_share=self.full_share,
            quick_simulations=self.quick_simulations,
            full_observations=self.critic_share > 0,
        )

    def self_play_search(self, evaluator: Any) -> Search:
        """What plays them; without an evaluator, that of the imitation rounds."""
        if evaluator is None:
            return Search(simulations=self.imitation_simulations)
        if self.gumbel:
            return Search(simulations=self.simulations, evaluator=evaluator, selection=Gumbel(self.gumbel, noise=1.0))
        rule = PUCT(noise=0.25, forced_playouts=self.forced_playouts)
        return Search(simulations=self.simulations, evaluator=evaluator, selection=rule)

    def playing_search(self, evaluator: Any) -> Search:
        """What plays for a network in evaluations."""
        rule = Gumbel(self.gumbel) if self.gumbel else PUCT()
        return Search(simulations=self.evaluation_simulations, evaluator=evaluator, selection=rule)
