"""The settings of a Monte Carlo tree search for every game of pbm_envs, by simulations or by the clock.

With perfect information positions are searched as they are; with hidden information, information sets are (see `tree`).
A `Search` holds the settings, a `Workspace` the memory; `Search.run` searches a batch of positions (see `running`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from pbm_envs import Game
from pbm_envs.authoring import Rng, Seeds, seeds
from pbm_envs.toolbox import Array, check_settings, quoted, setting

from ..players.agent import check_game
from .evaluators import Evaluator, Playouts, PriorsAndValues, as_evaluator
from .result import SearchResult
from .rules import PUCT, UCT, Gumbel, Rule, Selection
from .running import run_search
from .workspace import Workspace


@final
@dataclass(frozen=True)
class Search:
    """The settings of a tree search, and `run`, which searches positions with them.

    A search belongs to no game and to no thread: one can be shared, pickled and compared. Two of its settings are
    values with settings of their own: `selection` is the rule by which simulations choose actions, `evaluator` is what
    evaluates the leaves. Either `simulations` or `seconds` is given.

    >>> from pbm_envs import Chameleon
    >>> game, rng = Chameleon(size=3), np.random.default_rng(0)
    >>> [result] = Search(simulations=20000).run(game, game.init(1, rng), rng)
    >>> result.proven, result.value.tolist()  # the second player can always swap
    (True, [-1.0, 1.0])

    Raises:
        ValueError: For settings that are not allowed, or do not go together.
    """

    simulations: int | None = setting(None, low=1, help="Budget of each position, in simulations.")
    seconds: float | None = setting(
        None,
        low=1e-9,
        high=1e9,
        help="Budget of each position, in seconds. A batch takes this times its size, over `threads`.",
    )
    selection: Rule | None = setting(  # noqa: RUF009
        None,
        help="The selection rule: UCT, PUCT, Gumbel, or a Selection of your own. None: PUCT() for an evaluator that "
        "gives priors, else UCT().",
    )
    evaluator: Evaluator | PriorsAndValues | None = setting(  # noqa: RUF009
        None,
        help="Evaluates leaves: Playouts, a function from observations and masks to priors and values (see "
        "`FunctionEvaluator`), or any `Evaluator`. None: Playouts().",
    )
    parallel_simulations: int | None = setting(
        None,
        low=1,
        help="Number of simulations that run at the same time per position. More is faster, but each sees slightly "
        "older statistics; 1 is the sequential algorithm. None: 1; by the clock 8, with an evaluator as many as pay, "
        "from 4 to 32, measured before the clock starts, once for each evaluator and game.",
    )
    solver: bool = setting(
        True,
        help="Whether outcomes are proven, with perfect information. No player resigns in a search: among three "
        "players a proven outcome is one if nobody resigns.",
    )
    early_stop: bool = setting(
        False,
        help="Whether a search ends when no other action can overtake the most visited one; by the clock, at the speed "
        "so far.",
    )
    reuse: bool = setting(
        False,
        help="Whether a run starts from the trees that the last run left in the workspace, with perfect information. "
        "What it finds then depends on the runs before.",
    )
    trees: int | None = setting(
        None,
        low=1,
        high=1024,
        help="Trees of each position, each with its own random numbers, which share the budget (in simulations rounded "
        "up); the statistics at their roots are added up before the choice (root parallelization: Chaslot, Winands & "
        "van den Herik 2008). None: 1; by the clock and with playouts, as many as there are threads for each position.",
    )
    threads: int = setting(
        1, low=1, help="Threads that share the trees of a batch. They call the evaluator at the same time."
    )
    memory: int = setting(
        1024,
        low=1,
        help="MiB for the trees of a search by the clock. When they are full, simulations end at their leaves.",
    )

    def __post_init__(self) -> None:
        if (self.simulations is None) == (self.seconds is None):
            raise ValueError(
                f"simulations={quoted(self.simulations)}, seconds={quoted(self.seconds)}: expected one of the two"
            )
        check_settings(self)
        gives_priors, rule = self.leaf_evaluator.gives_priors, self.selection  # ValueError for what is no evaluator
        if not isinstance(rule, (UCT, PUCT, Gumbel, Selection, type(None))):
            raise ValueError(f"selection is {quoted(rule)}: expected UCT, PUCT, Gumbel or Selection, or None")
        if rule is not None and rule.needs_priors and not gives_priors:
            raise ValueError(f"selection is {quoted(rule)}: expected an evaluator that gives priors beside it")
        if isinstance(rule, Gumbel) and (self.simulations is None or self.reuse or (self.trees or 1) > 1):
            raise ValueError(
                f"selection is {quoted(rule)}: expected a budget in simulations beside it, and neither reuse nor "
                "several trees"
            )

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
        return Playouts() if self.evaluator is None else as_evaluator(self.evaluator)


def check_searchable(game: Game, views: Array) -> None:
    """ValueError unless all games go on and are seen by the player to move."""
    check_game(game)
    searchable = game.legal_action_mask(views).any(axis=1)
    if not searchable.all():
        row = int(searchable.argmin())
        raise ValueError(f"row {row} cannot be searched: expected a game that is not over, seen by the player to move")
