"""The settings of a tree search, with their checks: `SearchSettings`, the base class of `Search`."""

# No deferred annotations: a subclass in another module declares the same settings.
from dataclasses import dataclass

from pbm_envs.toolbox import check_settings, quoted, setting

from .evaluators import Evaluator, Playouts, PriorsAndValues, as_evaluator
from .rules import PUCT, UCT, Gumbel, Rule, Selection

PARALLEL_BY_THE_CLOCK = 8


@dataclass(frozen=True)
class SearchSettings:
    """The fields of `Search`. Raises ValueError for settings that are not allowed, or that conflict."""

    simulations: int | None = setting(None, low=1, help="Budget of each position, in simulations.")
    seconds: float | None = setting(
        None,
        low=1e-9,
        high=1e9,
        help="Budget of each position, in seconds. A batch of N positions gets N times as much, divided by `threads`.",
    )
    selection: Rule | None = setting(  # noqa: RUF009
        None,
        help="The selection rule: UCT, PUCT, Gumbel, or a Selection of your own. None chooses PUCT() for an "
        "evaluator that gives priors, else UCT().",
    )
    evaluator: Evaluator | PriorsAndValues | None = setting(  # noqa: RUF009
        None,
        help="What evaluates leaves: Playouts, a function from observations and masks to priors and values (see "
        "`FunctionEvaluator`), or any `Evaluator`. None means Playouts().",
    )
    parallel_simulations: int | None = setting(
        None,
        low=1,
        help="Number of simulations that run at the same time per position. More is faster, but each sees slightly "
        "older statistics; 1 is the sequential algorithm. None means 1 with a budget in simulations and 8 with "
        "one in seconds; with an evaluator and seconds, the best number from 4 to 32 is measured once for each "
        "evaluator and game, before the clock starts.",
    )
    solver: bool = setting(
        True,
        help="Whether outcomes are proven, with perfect information. With three players, a proven outcome assumes "
        "that nobody resigns.",
    )
    early_stop: bool = setting(
        False,
        help="Whether a search ends when no other action can overtake the most visited one. With a budget in "
        "seconds, this is estimated from the speed so far.",
    )
    reuse: bool = setting(
        False,
        help="Whether a run starts from the trees that the last run left in the workspace, with perfect information. "
        "Its result then depends on earlier runs.",
    )
    trees: int | None = setting(
        None,
        low=1,
        high=1024,
        help="Number of trees per position (root parallelization: Chaslot, Winands & van den Herik 2008). Each has "
        "its own random numbers and an equal share of the budget, rounded up; the statistics at their roots are "
        "added up before the choice. None means 1, or, with playouts and a budget in seconds, the number of "
        "threads per position.",
    )
    threads: int = setting(
        1, low=1, help="Threads that share the trees of a batch. They call the evaluator at the same time."
    )
    memory: int = setting(
        1024,
        low=1,
        help="MiB for the trees of a search with a budget in seconds, with `reuse` including those of the last run. "
        "When they are full, simulations add no more nodes.",
    )

    def __post_init__(self) -> None:
        if (self.simulations is None) == (self.seconds is None):
            raise ValueError(
                f"simulations={quoted(self.simulations)}, seconds={quoted(self.seconds)}: expected one of the two"
            )
        check_settings(self)
        gives_priors, rule = self.leaf_evaluator.gives_priors, self.selection  # ValueError if it is no evaluator
        if not isinstance(rule, (UCT, PUCT, Gumbel, Selection, type(None))):
            raise ValueError(f"selection is {quoted(rule)}: expected UCT, PUCT, Gumbel or Selection, or None")
        if rule is not None and rule.needs_priors and not gives_priors:
            raise ValueError(f"selection is {quoted(rule)}: expected an evaluator that gives priors beside it")
        if isinstance(rule, Gumbel) and (self.simulations is None or self.reuse or (self.trees or 1) > 1):
            raise ValueError(
                f"selection is {quoted(rule)}: expected a budget in simulations beside it, and neither reuse nor "
                "several trees"
            )

    @property
    def leaf_evaluator(self) -> Evaluator:
        """The evaluator of leaves: the one given, or random playouts."""
        return Playouts() if self.evaluator is None else as_evaluator(self.evaluator)

    @property
    def has_kernels(self) -> bool:
        """True if leaves are evaluated by kernels: random playouts, or a small network."""
        return hasattr(self.leaf_evaluator, "kernels")

    @property
    def has_priors(self) -> bool:
        """True if trees store priors, from the evaluator or from the selection rule."""
        return getattr(self.selection, "priors", None) is not None or self.leaf_evaluator.gives_priors

    @property
    def simulations_at_once(self) -> int:
        """The number of simulations of a tree that run at the same time."""
        return self.parallel_simulations or (1 if self.seconds is None else PARALLEL_BY_THE_CLOCK)
