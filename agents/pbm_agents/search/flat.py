"""The settings of a search as one flat list, as in agents' names and tables of settings: `make_search`."""

from __future__ import annotations

import dataclasses
from typing import Any

from pbm_envs.authoring import Option
from pbm_envs.toolbox import describe_error, options_of, quoted

from .evaluators import Playouts
from .rules import PUCT, UCT, Gumbel, Selection, find
from .search import Search

PARTS: dict[type, dict[str, str]] = {
    Playouts: {"count": "playouts"},
    UCT: {},
    PUCT: {},
    Gumbel: {"actions": "gumbel", "noise": "gumbel_noise"},
}
"""The parts of a search, and the flat names of their settings where the two names differ."""
OBJECTS = ("evaluator", "priors", "prior_weight")
"""Settings that cannot be written in an agent's name."""


def _flat_names(part: type) -> dict[str, Option]:
    """Return the settings of a part by flat name."""
    named = {PARTS[part].get(option.name, option.name): option for option in options_of(part)}
    return {name: dataclasses.replace(option, name=name) for name, option in named.items()}


FLAT = {part: _flat_names(part) for part in PARTS}
SEARCH_SETTINGS: tuple[Option, ...] = tuple(
    dataclasses.replace(option, type=str) if name == "selection" else option
    for name, option in (
        {option.name: option for option in options_of(Search)} | FLAT[Playouts] | FLAT[Gumbel] | FLAT[PUCT] | FLAT[UCT]
    ).items()
    if name not in OBJECTS
)
"""The settings that `make_search` takes and that can be written as text."""


def make_search(**settings: Any) -> Search:
    """Return a search with these settings, including those of its selection rule and its playouts.

    >>> make_search(simulations=50, c=1.2, rave=0).selection
    UCT(c=1.2, rave=0, priors=None, prior_weight=0.5)

    Args:
        settings: The settings of `Search`; of `Playouts`, where `count` is called `playouts`; and of one rule: `Gumbel`
            if `gumbel` is given (its `actions`; `gumbel_noise` is its `noise`), else `PUCT` if the evaluator gives
            priors, else `UCT`. `selection` may also be a score kernel, whose parameter is `c`, or the text
            `module:attribute`. None selects the default.

    Raises:
        ValueError: For settings that are not allowed, or that conflict.
    """
    given = {name: value for name, value in settings.items() if value is not None}
    playouts = _take(given, Playouts)
    if playouts:
        if "evaluator" in given:
            raise ValueError(f"{_written(playouts)} beside an evaluator: expected one of the two")
        given["evaluator"] = _make(Playouts, playouts)
    of_rule = _take(given, Gumbel) | _take(given, PUCT) | _take(given, UCT)
    if "selection" in given:
        given["selection"] = _rule(given["selection"], of_rule)
        return Search(**given)
    search = Search(**given)
    if not of_rule:
        return search
    gives_priors = search.leaf_evaluator.gives_priors
    if "gumbel" in of_rule and not gives_priors:
        raise ValueError(f"gumbel is {quoted(of_rule['gumbel'])}: expected an evaluator that gives priors beside it")
    kind = Gumbel if "gumbel" in of_rule else PUCT if gives_priors else UCT
    return dataclasses.replace(search, selection=_make(kind, of_rule))


def _written(settings: dict[str, Any]) -> str:
    return ", ".join(f"{name}={quoted(value)}" for name, value in settings.items())


def _rule(selection: Any, of_rule: dict[str, Any]) -> Any:
    """Return the selection rule that was given, directly or by name; wrap a score kernel with its parameter."""
    if isinstance(selection, str):
        module, _, attribute = selection.partition(":")
        try:
            selection = find(module, attribute)
        except (Exception, SystemExit) as error:  # importing users' code may raise anything
            raise ValueError(
                f"selection is {quoted(selection)}: expected module:attribute of a Selection, or of a score kernel "
                f"({describe_error(error)})"
            ) from error
    if callable(selection) and of_rule.keys() <= {"c"}:
        return Selection(selection, *of_rule.values())
    if of_rule:
        raise ValueError(f"{_written(of_rule)} beside a selection rule: expected one of the two")
    return selection


def _take(given: dict[str, Any], part: type) -> dict[str, Any]:
    """Remove the settings of a part from `given`; return them, checked."""
    return {name: option.check(given.pop(name)) for name, option in FLAT[part].items() if name in given}


def _make(part: type, settings: dict[str, Any]) -> Any:
    """Return the part with these settings; raise ValueError for a setting that it does not have."""
    fields = {option.name: PARTS[part].get(option.name, option.name) for option in options_of(part)}
    for name, value in settings.items():
        if name not in FLAT[part]:
            other = "" if part is not UCT else ", or an evaluator that gives priors beside it"
            raise ValueError(
                f"{name} is {quoted(value)}: expected settings of {part.__name__}, {', '.join(FLAT[part])}{other}"
            )
    return part(**{field: settings[flat] for field, flat in fields.items() if flat in settings})
