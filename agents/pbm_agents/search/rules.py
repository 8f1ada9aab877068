"""Selection rules as values: which action a simulation takes at a node (`Search(selection=...)`).

`UCT`, `PUCT` and `Gumbel` are the rules of this package; `Selection` is a rule of your own, made of a score kernel.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple, TypeAlias, final

import numpy as np

from pbm_envs import Game
from pbm_envs.toolbox import COMPILES, check_number, check_settings, describe_error, quoted, setting

from .evaluators import ActionPriors, Evaluator
from .gumbel import choose_with_gumbel
from .selection import choose_by_score, choose_with_rave, make_select, puct, uct

Score: TypeAlias = Callable[[int, float, float, int, float], float]
"""A kernel `score(visits, mean, prior, parent_visits, parameter)`: see `Selection`."""


class Weights(NamedTuple):
    """The numbers in the formulas of selection."""

    c: float
    """Weight of exploration in UCT."""
    rave: float
    """Equivalence parameter of RAVE (Gelly & Silver 2011); 0 turns RAVE off."""


OTHER_GAMES = Weights(c=1.0, rave=0)
"""For games without an entry, and for the formula (with RAVE, without it) that a game's entry is not for."""
_weights = {
    "chameleon": Weights(c=0.05, rave=1000),
    "curio": Weights(c=0.6, rave=0),
    "trinim": Weights(c=0.5, rave=0),
    "unlur": Weights(c=0.1, rave=1000),
}
"""The best in tournaments of searches that differ in these alone, by game."""


def register_weights(game_name: str, *, c: float, rave: float = 0.0) -> None:
    """Set the weights that a search of this game uses by default.

    >>> register_weights("my_game", c=0.7)

    Args:
        game_name: `Game.name`.
        c: Weight of exploration in UCT, or in UCT with RAVE.
        rave: Equivalence parameter of RAVE; 0: plain UCT is best.
    """
    check_number("c", c, 0, 1e9)
    check_number("rave", rave, 0, 1e9)
    _weights[game_name] = Weights(c, rave)


@final
@dataclass(frozen=True)
class UCT:
    """UCT (Kocsis & Szepesvari 2006), with RAVE (Gelly & Silver 2011) where `rave` is above 0 and nothing is hidden.

    With hidden information it is information-set UCT (Cowling, Powley & Whitehouse 2012).
    """

    c: float | None = setting(
        None, low=0, high=1e9, help="Weight of exploration. None: that registered for the game (`register_weights`)."
    )
    rave: float | None = setting(
        None,
        low=0,
        high=1e9,
        help="Equivalence parameter of RAVE, with perfect information and playouts: an action's own mean weighs as "
        "much as that of RAVE after a third as many visits. 0 turns RAVE off. None: that registered for the game.",
    )
    priors: ActionPriors | None = setting(  # noqa: RUF009
        None, help="Prior probabilities of actions, beside playouts and RAVE, with perfect information."
    )
    prior_weight: float = setting(0.5, low=0, high=1e9, help="Weight of these priors.")

    needs_priors: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_settings(self)
        if self.priors is not None and not callable(self.priors):
            raise ValueError(f"priors is {quoted(self.priors)}: expected ActionPriors")

    @property
    def parameter(self) -> float:
        return OTHER_GAMES.c if self.c is None else self.c

    def select_kernel(self, hidden: bool, priors: bool) -> Callable[..., bool]:
        """Return the kernel `select` for trees of this kind."""
        if self.rave:
            return make_select(choose_with_rave(priors), hidden)
        return make_select(choose_by_score(uct, hidden, priors, each_first=True), hidden)

    def for_game(self, game: Game, hidden: bool, evaluator: Evaluator) -> UCT:
        """Return the rule with the weights of a game filled in.

        Raises:
            ValueError: For RAVE, or priors beside it, where they cannot be used.
        """
        usual = _weights.get(game.name, OTHER_GAMES)
        recorded = "last_player_by_action" in game.playout_options and not evaluator.gives_priors  # which RAVE needs
        if self.rave and not recorded:
            raise ValueError(
                f"rave is {self.rave!r}: expected 0 or None, as the evaluator or the playouts of {game!r} do not fill "
                "last_player_by_action"
            )
        rave = 0.0 if hidden or not recorded else usual.rave if self.rave is None else self.rave
        if self.priors is not None and not rave:
            raise ValueError(f"priors beside playouts of {game!r}: expected perfect information and rave above 0")
        if (rave > 0) != (usual.rave > 0):  # the usual c is that of the other formula
            usual = OTHER_GAMES
        return replace(self, c=usual.c if self.c is None else self.c, rave=rave)


@final
@dataclass(frozen=True)
class PUCT:
    """PUCT (Silver et al. 2017), for an evaluator that gives priors."""

    c: float = setting(1.5, low=0, high=1e9, help="Weight of exploration.")
    first_play_reduction: float = setting(
        0.0,
        low=0,
        high=1e9,
        help="An action without a visit has the mean value of its node less this times the square root of the sum of "
        "the visited actions' priors.",
    )
    forced_playouts: float = setting(
        0.0,
        low=0,
        high=1e9,
        help="For self-play (Wu 2020, who takes 2): a visited action of the root gets at least the square root of this "
        "times its prior times the visits of the root; `SearchResult.policy` leaves out visits that only were forced. "
        "0 turns it off.",
    )
    noise: float = setting(0.0, low=0, high=1, help="Share of Dirichlet noise in the priors of the root.")
    concentration: float = setting(0.3, low=1e-9, high=1e9, help="Parameter of the Dirichlet distribution.")

    needs_priors: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_settings(self)

    @property
    def parameter(self) -> float:
        return self.c

    def select_kernel(self, hidden: bool, priors: bool) -> Callable[..., bool]:
        """Return the kernel `select` for trees of this kind."""
        return make_select(choose_by_score(puct, hidden, priors, each_first=False), hidden)


@final
@dataclass(frozen=True)
class Gumbel:
    """Gumbel root selection (Danihelka et al. 2022): sequential halving among a few actions of the root.

    For budgets of few simulations of an evaluator that gives priors. It needs a budget in simulations and a new tree
    for each search.
    """

    actions: int = setting(16, low=1, help="Actions that are considered at the root.")
    noise: float = setting(
        0.0,
        low=0,
        high=1e9,
        help="Scale of the Gumbel numbers that decide which these are: 1 in self-play, 0 for the best play.",
    )
    value_weight: float = setting(1.0, low=0, high=1e9, help="Weight of values against priors, c_scale in the paper.")

    needs_priors: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_settings(self)

    def select_kernel(self, hidden: bool, priors: bool) -> Callable[..., bool]:
        """Return the kernel `select` for trees of this kind."""
        return make_select(choose_with_gumbel(hidden), hidden)


@final
@dataclass(frozen=True)
class Selection:
    """A selection rule of your own: the action with the greatest score is taken, the first of equal ones.

    The score is a kernel and is compiled into the search, as those of `UCT` and `PUCT` are. It is called with

    * `visits` of the action, simulations under way included;
    * `mean`, the action's mean return for the player to move, with a loss for each simulation under way; without a
      visit, that of its node so far;
    * `prior`, from the evaluator; if that gives none, one over the number of legal actions;
    * `parent_visits`, how many simulations of the node could take the action, this one included;
    * `parameter`.

    A score that divides by `visits`, or is infinite without one, has each action tried once first, in random order, as
    UCT does; `parent_visits` then leaves out this simulation, unless information is hidden.

    >>> import math
    >>> from pbm_envs.authoring import kernel
    >>> @kernel
    ... def ucb1_tuned(visits, mean, prior, parent_visits, parameter):
    ...     return mean + parameter * math.sqrt(math.log(parent_visits) / visits * 0.25)
    >>> Selection(ucb1_tuned, 1.4).tries_each_first
    True

    Attributes:
        score: The kernel, made by `pbm_envs.authoring.kernel`.
        parameter: The number that it is given.
    """

    score: Score
    parameter: float = 1.0

    needs_priors: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if not callable(self.score) or (COMPILES and not hasattr(self.score, "py_func")):
            raise ValueError(f"score is {quoted(self.score)}: expected a kernel, made by pbm_envs.authoring.kernel")
        check_number("parameter", self.parameter, -1e300, 1e300)
        _ = self.tries_each_first  # ValueError for what is no score

    @property
    def tries_each_first(self) -> bool:
        """Whether each action is tried once before scores count."""
        function: Any = getattr(self.score, "py_func", self.score)
        try:
            found = function(0, 0.0, 0.5, 1, float(self.parameter))
        except (ArithmeticError, ValueError):  # such as a division by zero, or the logarithm of zero
            return True
        except Exception as error:
            raise ValueError(
                f"score fails ({describe_error(error)}): expected a kernel that can be called as "
                "score(visits, mean, prior, parent_visits, parameter)"
            ) from error
        if isinstance(found, (bool, np.bool_)) or not isinstance(found, (int, float, np.integer, np.floating)):
            raise ValueError(f"score returns {quoted(found)}: expected a number")
        return not math.isfinite(found)

    def select_kernel(self, hidden: bool, priors: bool) -> Callable[..., bool]:
        """Return the kernel `select` for trees of this kind."""
        choose = choose_by_score(self.score, hidden, priors, each_first=self.tries_each_first)
        return make_select(choose, hidden)

    def __reduce__(self) -> tuple[Any, ...]:
        """By the kernel's name, as functions are pickled; Numba pickles one that has none."""
        module, name = self.score.__module__, getattr(self.score, "__qualname__", "")
        try:
            if find(module, name) is self.score:
                return _of_module, (module, name, self.parameter)
        except (ImportError, AttributeError):
            pass
        return Selection, (self.score, self.parameter)


Rule: TypeAlias = UCT | PUCT | Gumbel | Selection
"""What `Search(selection=...)` takes."""


def without_noise(rule: Rule | None) -> Rule | None:
    """Return a rule as it searches outside self-play."""
    if isinstance(rule, PUCT):
        return replace(rule, noise=0.0, forced_playouts=0.0)
    return replace(rule, noise=0.0) if isinstance(rule, Gumbel) else rule


def find(module: str, name: str) -> Any:
    """Return what a module holds under a name, which may have dots."""
    found: Any = importlib.import_module(module)
    for part in name.split("."):
        found = getattr(found, part)
    return found


def _of_module(module: str, name: str, parameter: float) -> Selection:
    return Selection(find(module, name), parameter)
