"""Selection rules: how a simulation chooses an action at a node (`Search(selection=...)`).

`UCT`, `PUCT` and `Gumbel` are the rules of this package; `Selection` makes a rule from your own score kernel.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from operator import attrgetter
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
    """The default parameters of selection for a game."""

    c: float
    """Weight of exploration in UCT."""
    rave: float
    """Equivalence parameter of RAVE (Gelly & Silver 2011); 0 turns RAVE off."""


OTHER_GAMES = Weights(c=1.0, rave=0)
"""Defaults for games without an entry, and for searches that use RAVE if the game's entry does not, or vice versa."""
_weights = {
    "chameleon": Weights(c=0.05, rave=1000),
    "curio": Weights(c=0.6, rave=0),
    "trinim": Weights(c=0.5, rave=0),
    "unlur": Weights(c=0.1, rave=1000),
}
"""By game: the best weights in tournaments of searches that differ in nothing else."""


def register_weights(game_name: str, *, c: float, rave: float = 0.0) -> None:
    """Set the default weights of searches of this game.

    >>> register_weights("my_game", c=0.7)

    Args:
        game_name: `Game.name`.
        c: Weight of exploration in UCT (with RAVE, if `rave` is above 0).
        rave: Equivalence parameter of RAVE. 0 selects plain UCT.
    """
    check_number("c", c, 0, 1e9)
    check_number("rave", rave, 0, 1e9)
    _weights[game_name] = Weights(c, rave)


@final
@dataclass(frozen=True)
class UCT:
    """UCT (Kocsis & Szepesvari 2006), with RAVE (Gelly & Silver 2011) if `rave` is above 0 and nothing is hidden.

    With hidden information it is information-set UCT (Cowling, Powley & Whitehouse 2012).
    """

    c: float | None = setting(
        None,
        low=0,
        high=1e9,
        help="Weight of exploration. None means the weight registered for the game (`register_weights`).",
    )
    rave: float | None = setting(
        None,
        low=0,
        high=1e9,
        help="Equivalence parameter of RAVE, with perfect information and playouts: after this many visits, an "
        "action's own mean and its RAVE mean have equal weights. 0 turns RAVE off. None means the value "
        "registered for the game.",
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
        """Return the kernel `select` for trees with `hidden` information, or with `priors`."""
        if self.rave:
            return make_select(choose_with_rave(priors), hidden)
        return make_select(choose_by_score(uct, hidden, priors, each_first=True), hidden)

    def for_game(self, game: Game, hidden: bool, evaluator: Evaluator) -> UCT:
        """Return the rule with the weights of a game filled in.

        Raises:
            ValueError: If RAVE, or priors in addition to it, cannot be used.
        """
        usual = _weights.get(game.name, OTHER_GAMES)
        recorded = "last_player_by_action" in game.playout_options and not evaluator.gives_priors  # required by RAVE
        if self.rave and not recorded:
            raise ValueError(
                f"rave is {self.rave!r}: expected 0 or None, as the evaluator or the playouts of {game!r} do not fill "
                "last_player_by_action"
            )
        rave = 0.0 if hidden or not recorded else usual.rave if self.rave is None else self.rave
        if self.priors is not None and not rave:
            raise ValueError(f"priors beside playouts of {game!r}: expected perfect information and rave above 0")
        if (rave > 0) != (usual.rave > 0):  # the game's c belongs to the other formula
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
        help="Reduces the value of an action without a visit: the mean value of its node minus this times the square "
        "root of the sum of the visited actions' priors.",
    )
    forced_playouts: float = setting(
        0.0,
        low=0,
        high=1e9,
        help="Forced playouts for self-play (Wu 2020, with 2): each visited action of the root gets at least "
        "sqrt(this * prior * visits of the root) visits, and `SearchResult.policy` subtracts those that were "
        "only forced. 0 turns them off.",
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
        """Return the kernel `select` for trees with `hidden` information, or with `priors`."""
        return make_select(choose_by_score(puct, hidden, priors, each_first=False), hidden)


@final
@dataclass(frozen=True)
class Gumbel:
    """Gumbel root selection (Danihelka et al. 2022): sequential halving among a few actions of the root.

    It suits small budgets with an evaluator that gives priors. It needs a budget in simulations and a new tree for each
    search.
    """

    actions: int = setting(16, low=1, help="Number of actions considered at the root.")
    noise: float = setting(
        0.0,
        low=0,
        high=1e9,
        help="Scale of the Gumbel noise in the choice of these actions: 1 in self-play, 0 for the strongest play.",
    )
    value_weight: float = setting(
        1.0, low=0, high=1e9, help="Weight of values relative to priors (c_scale in the paper)."
    )

    needs_priors: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_settings(self)

    def select_kernel(self, hidden: bool, priors: bool) -> Callable[..., bool]:
        """Return the kernel `select` for trees with `hidden` information, or with `priors`."""
        return make_select(choose_with_gumbel(hidden), hidden)


@final
@dataclass(frozen=True)
class Selection:
    """A selection rule of your own: it takes the action with the greatest score, or the first of equal ones.

    The score is a kernel and is compiled into the search, like those of `UCT` and `PUCT`. It is called with

    * `visits`, the action's visits, including simulations under way;
    * `mean`, the action's mean return for the player to move, with a loss for each simulation under way; without a
      visit, the mean of its node so far;
    * `prior`, from the evaluator; if it gives none, one over the number of legal actions;
    * `parent_visits`, the simulations of the node in which the action was legal, including this one;
    * `parameter`.

    If a score divides by `visits`, or is infinite without a visit, each action is first tried once, in random order, as
    in UCT; `parent_visits` then excludes this simulation, unless information is hidden.

    >>> import math
    >>> from pbm_envs.authoring import kernel
    >>> @kernel
    ... def ucb1_tuned(visits, mean, prior, parent_visits, parameter):
    ...     return mean + parameter * math.sqrt(math.log(parent_visits) / visits * 0.25)
    >>> Selection(ucb1_tuned, 1.4).tries_each_first
    True

    Attributes:
        score: The kernel, made by `pbm_envs.authoring.kernel`.
        parameter: The number passed to the kernel.
    """

    score: Score
    parameter: float = 1.0

    needs_priors: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if not callable(self.score) or (COMPILES and not hasattr(self.score, "py_func")):
            raise ValueError(f"score is {quoted(self.score)}: expected a kernel, made by pbm_envs.authoring.kernel")
        check_number("parameter", self.parameter, -1e300, 1e300)
        _ = self.tries_each_first  # raises ValueError if it is not a score

    @property
    def tries_each_first(self) -> bool:
        """True if each action is tried once before scores count."""
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
        """Return the kernel `select` for trees with `hidden` information, or with `priors`."""
        choose = choose_by_score(self.score, hidden, priors, each_first=self.tries_each_first)
        return make_select(choose, hidden)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the kernel by name, like a function; if it has no importable name, Numba pickles it."""
        module, name = self.score.__module__, getattr(self.score, "__qualname__", "")
        try:
            if find(module, name) is self.score:
                return _of_module, (module, name, self.parameter)
        except (ImportError, AttributeError):
            pass
        return Selection, (self.score, self.parameter)


Rule: TypeAlias = UCT | PUCT | Gumbel | Selection
"""Any selection rule that `Search(selection=...)` accepts."""


def without_noise(rule: Rule | None) -> Rule | None:
    """Return the rule without the exploration of self-play: no noise, no forced playouts."""
    if isinstance(rule, PUCT):
        return replace(rule, noise=0.0, forced_playouts=0.0)
    return replace(rule, noise=0.0) if isinstance(rule, Gumbel) else rule


def find(module: str, name: str) -> Any:
    """Return the attribute of a module; its name may contain dots."""
    return attrgetter(name)(importlib.import_module(module))


def _of_module(module: str, name: str, parameter: float) -> Selection:
    return Selection(find(module, name), parameter)
