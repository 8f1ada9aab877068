"""The settings of a Monte Carlo tree search for every game of pbm_envs, by simulations or by the clock.

With perfect information positions are searched as they are; with hidden information, information sets are (see `tree`).
A `Search` holds the settings, a `Workspace` the memory; `Search.run` searches a batch of positions (see `running`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from pbm_envs import Game
from pbm_envs.core.checks import check_flag, check_number, check_range
from pbm_envs.core.printable import quoted
from pbm_envs.core.randomness import seeds
from pbm_envs.core.types import Array, Rng, Seeds

from ..players.agent import check_game
from .evaluators import ActionPriors, Evaluator, Playouts, PriorsAndValues, as_evaluator
from .result import SearchResult
from .running import run_search
from .workspace import Workspace


@final
@dataclass(frozen=True)
class Search:
    """The settings of a tree search, and `run`, which searches positions with them.

    A search belongs to no game and to no thread: one can be shared, pickled and compared. The algorithm follows from
    the game and the evaluator:

    * perfect information: UCT, with RAVE where `rave` is above 0;
    * hidden information: information-set UCT, a world drawn for each simulation;
    * an evaluator that gives priors: PUCT, or with `gumbel` sequential halving at the root.

    >>> from pbm_envs import Chameleon
    >>> game, rng = Chameleon(size=3), np.random.default_rng(0)
    >>> [result] = Search(simulations=20000).run(game, game.init(1, rng), rng)
    >>> result.proven, result.value.tolist()  # the second player can always swap
    (True, [-1.0, 1.0])

    Attributes:
        simulations: The budget of each position, in simulations. Either this or `seconds` is given.
        seconds: The budget of each position, in seconds. A batch takes this times its size, over `threads`.
        c: Weight of exploration in UCT; in PUCT, where the evaluator gives priors. None: 1.5 in PUCT, else what
            `register_weights` has been told of the game, else 1.
        rave: Equivalence parameter of RAVE, with perfect information and without priors: an action's own mean weighs
            as much as that of RAVE after a third as many visits. 0: plain UCT. None: as for `c`, else 0.
        width: Simulations of one position under way at the same time: faster, slightly less well informed. 1 is the
            sequential algorithm. None: 1; by the clock 8, with an evaluator as many as pay, from 4 to 32. That is
            measured before the clock starts, once for each evaluator and game.
        playouts: Random games from each leaf.
        avoid_losing_moves: Whether playouts avoid moves that lose at once, as in `Game.playout`.
        save_bridges: Whether playouts save bridges, as in `Game.playout`, in the games that know it: better informed
            and slower.
        evaluator: Instead of playouts: a function from observations and masks to priors and values (see
            `FunctionEvaluator`), or any `Evaluator`.
        priors: Which actions look good, beside playouts and RAVE, with perfect information: see `ActionPriors`.
        prior_weight: Weight of these priors, in the formula of PUCT.
        solver: Prove outcomes, with perfect information. No player resigns in a search: among three players a proven
            outcome is one if nobody does.
        early_stop: End when no other action can overtake the most visited one; by the clock, at the speed so far.
        reuse: Start from the trees that the last run has left in the workspace, with perfect information. What a run
            finds then depends on the runs before.
        first_play_reduction: In PUCT an action without a visit is worth what its node has been worth so far, less this
            times the square root of the visited actions' priors.
        forced_playouts: In PUCT, for self-play: an action of the root that has a visit gets at least the square root of
            this times its prior times the visits of the root (Wu 2020, who takes 2), so that noise in the priors can
            find something. `SearchResult.policy` takes away those of them that PUCT would not have made.
        gumbel: Actions that sequential halving considers at the root (Danihelka et al. 2022), for budgets of few
            simulations of an evaluator that gives priors; 16 in the paper. 0: PUCT.
        gumbel_noise: Scale of the Gumbel numbers that decide which these are: 1 in self-play, 0 for the best play.
        value_weight: What values weigh against priors there and below: c_scale of the paper.
        noise: Share of Dirichlet noise in the priors of the root, from 0 to 1. In PUCT.
        concentration: Parameter of the Dirichlet distribution.
        trees: Trees of each position, each with random numbers of its own, which share the budget (in simulations
            rounded up); what stands at their roots is added up before the choice (root parallelization: Chaslot,
            Winands & van den Herik 2008). None: 1; by the clock and without an evaluator, as many as there are threads
            for each position, so that several threads search one position.
        threads: The trees of a batch are spread over these. The evaluator is then called by several at once.
        memory: MiB for the trees of a search by the clock. When they are full, simulations end at their leaves.

    Raises:
        ValueError: For settings that cannot be, or do not go together.
    """

    simulations: int | None = None
    seconds: float | None = None
    c: float | None = None
    rave: float | None = None
    width: int | None = None
    playouts: int = 1
    avoid_losing_moves: bool = True
    save_bridges: bool = False
    evaluator: Evaluator | PriorsAndValues | None = None
    priors: ActionPriors | None = None
    prior_weight: float = 0.5
    solver: bool = True
    early_stop: bool = False
    reuse: bool = False
    first_play_reduction: float = 0.0
    forced_playouts: float = 0.0
    gumbel: int = 0
    gumbel_noise: float = 0.0
    value_weight: float = 1.0
    noise: float = 0.0
    concentration: float = 0.3
    trees: int | None = None
    threads: int = 1
    memory: int = 1024

    def __post_init__(self) -> None:
        if (self.simulations is None) == (self.seconds is None):
            raise ValueError(
                f"simulations={quoted(self.simulations)}, seconds={quoted(self.seconds)}: expected one of the two"
            )
        self._check_ranges()
        gives_priors = self._check_evaluator()
        self._check_gumbel(gives_priors)

    def _check_ranges(self) -> None:
        """ValueError for a number out of its range, or a flag that is none."""
        for name in ("simulations", "width", "playouts", "threads", "memory"):
            value = getattr(self, name)
            if value is not None:
                check_range(name, value, 1)
        if self.trees is not None:
            check_range("trees", self.trees, 1, 1024)
        for name, low, high in (
            ("c", 0.0, 1e9),
            ("rave", 0.0, 1e9),
            ("seconds", 1e-9, 1e9),
            ("prior_weight", 0.0, 1e9),
            ("noise", 0.0, 1.0),
            ("first_play_reduction", 0.0, 1e9),
            ("forced_playouts", 0.0, 1e9),
            ("gumbel_noise", 0.0, 1e9),
            ("value_weight", 0.0, 1e9),
            ("concentration", 1e-9, 1e9),
        ):
            number = getattr(self, name)
            if number is not None:
                check_number(name, number, low, high)
        for name in ("avoid_losing_moves", "save_bridges", "solver", "early_stop", "reuse"):
            check_flag(name, getattr(self, name))

    def _check_evaluator(self) -> bool:
        """ValueError for an evaluator that is none, or for settings that do not go with it; whether it gives priors."""
        if self.evaluator is not None and self.playouts != 1:
            raise ValueError(f"playouts={quoted(self.playouts)} beside an evaluator: expected one of the two")
        gives_priors = self.leaf_evaluator.gives_priors  # ValueError for what is no evaluator
        if self.priors is not None and (gives_priors or not callable(self.priors)):
            raise ValueError(
                f"priors is {quoted(self.priors)}: expected ActionPriors, and no evaluator that gives priors"
            )
        if self.noise and not gives_priors:
            raise ValueError(f"noise is {quoted(self.noise)}: expected an evaluator that gives priors beside it")
        for name in ("first_play_reduction", "forced_playouts"):
            if getattr(self, name) and not gives_priors:
                raise ValueError(
                    f"{name} is {quoted(getattr(self, name))}: expected an evaluator that gives priors beside it"
                )
        return gives_priors

    def _check_gumbel(self, gives_priors: bool) -> None:
        """ValueError for settings of sequential halving that do not go with the others."""
        check_range("gumbel", self.gumbel, 0)
        if self.gumbel and not gives_priors:
            raise ValueError(f"gumbel is {quoted(self.gumbel)}: expected an evaluator that gives priors beside it")
        of_puct = self.noise or self.first_play_reduction or self.forced_playouts
        if self.gumbel and (self.simulations is None or self.reuse or of_puct or (self.trees or 1) > 1):
            raise ValueError(
                f"gumbel is {quoted(self.gumbel)}: expected a budget in simulations beside it, and neither reuse "
                "nor noise nor first_play_reduction nor forced_playouts nor several trees"
            )
        if self.gumbel_noise and not self.gumbel:
            raise ValueError(f"gumbel_noise is {quoted(self.gumbel_noise)}: expected gumbel above 0 beside it")

    def run(
        self, game: Game, views: Array, rng: Rng | Seeds, *, workspace: Workspace | None = None
    ) -> list[SearchResult]:
        """Search some positions.

        A position with the same seed has the same result in any batch and on any number of threads, unless the clock
        or an earlier run (`reuse`) matters. The first run of a process compiles; by the clock, before that starts.

        Args:
            game: The game.
            views: (B,) positions that are not over, each as the player to move sees it (`game.view`); or full states,
                which are searched as if everything in them were known.
            rng: A generator, or (B,) uint64 seeds.
            workspace: Memory to work in, kept from run to run; needed for `reuse`. None: new memory for this run.

        Returns:
            What was found out, for each of `views`.

        Raises:
            ValueError: For a position that is over or not seen by the player to move; if the evaluator's answers
                cannot be used; for `reuse` without a workspace.
            RuntimeError: If the workspace is in use by another run.
        """
        if workspace is None:
            if self.reuse:
                raise ValueError("reuse=True without a workspace: expected run(..., workspace=Workspace())")
            workspace = Workspace()
        elif not isinstance(workspace, Workspace):
            raise ValueError(f"workspace is {quoted(workspace)}: expected a Workspace, or None")
        check_game(game)
        if not isinstance(views, np.ndarray) or views.ndim != 1:
            raise ValueError(f"views are {quoted(views)}: expected a batch (B,), as game.view makes it")
        streams = seeds(rng, len(views)).copy()
        check_searchable(game, views)
        return run_search(self, game, views.copy(), streams, workspace)

    @property
    def leaf_evaluator(self) -> Evaluator:
        """What evaluates leaves: random playouts, or the evaluator that was given."""
        if self.evaluator is None:
            return Playouts(self.playouts, self.avoid_losing_moves, self.save_bridges)
        return as_evaluator(self.evaluator)


def check_searchable(game: Game, views: Array) -> None:
    """ValueError unless all games go on and are seen by the player to move."""
    check_game(game)
    searchable = game.legal_action_mask(views).any(axis=1)
    if not searchable.all():
        row = int(searchable.argmin())
        raise ValueError(f"row {row} cannot be searched: expected a game that is not over, seen by the player to move")
