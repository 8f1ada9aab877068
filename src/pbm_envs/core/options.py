"""Declarations of the options of a game and of the settings of an agent, a search, a tournament or a run.

Checks and their errors, command lines, forms and tables in the documentation all use the declaration. `options_of`
finds it in one of three places: a game lists its options in `declared_options`; a field of a dataclass is
`steps: int = setting(48, low=1)`; a parameter of a function or class is `steps: Annotated[int, Option(low=1)] = 48`.
"""

from __future__ import annotations

import contextlib
import dataclasses
import difflib
import functools
import inspect
import types
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal, ParamSpec, TypeVar, Union, get_args, get_origin

from .checks import check_flag, check_number, check_range, integers, numbers, quoted

P = ParamSpec("P")
T = TypeVar("T")

REQUIRED: Final = inspect.Parameter.empty
"""The default of an option that has none."""
WORDS = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}
"""The texts of flags."""
SIMPLE = (bool, int, float, str)
"""Types whose values can be given as text."""
MOST_CHOICES = 1000
"""The maximum number of values of a range that a form lists."""


@dataclass(frozen=True)
class Option:
    """The declaration of an option.

    >>> size = Option("size", int, 11, low=3, high=26, help="Cells per side.")
    >>> size.parse("7"), size.expected
    (7, 'an integer from 3 to 26')
    >>> size.check(2)
    Traceback (most recent call last):
    ValueError: size is 2: expected an integer from 3 to 26
    """

    name: str = ""
    type: type = object
    """bool, int, float or str; object for any of these, or for values that cannot be given as text."""
    default: Any = REQUIRED
    low: float | None = None
    high: float | None = None
    choices: tuple[Any, ...] = ()
    """The allowed values, if there are few."""
    help: str = ""
    """One or two sentences: the effect of the option, and the meaning of special values such as 0 or None."""
    optional: bool = False
    """True if None is allowed. It is always allowed if it is the default."""
    many: bool = False
    """True if the value is a tuple; type, range and choices then apply to its elements."""

    @property
    def takes_none(self) -> bool:
        """True if None is allowed."""
        return self.optional or self.default is None

    @property
    def expected(self) -> str:
        """The allowed values in words, for errors and tables."""
        kinds = {bool: "True or False", str: "a text", object: "a value"}
        kinds |= {int: integers(self.low, self.high), float: numbers(self.low, self.high)}
        listed = "one of " * (len(self.choices) > 1) + ", ".join(map(str, self.choices))
        return (listed or kinds.get(self.type, f"a {self.type.__name__}")) + ", or None" * self.takes_none

    @property
    def typed(self) -> str:
        """The allowed values as text to type."""
        return self.expected.replace("True or False", "true or false").replace("or None", "or none")

    @property
    def all_values(self) -> tuple[Any, ...]:
        """The allowed values; () if there are too many to list."""
        none = (None,) if self.takes_none else ()
        if self.choices:
            return none + self.choices
        if self.type is bool:
            return (*none, True, False)
        if self.type is int and self.low is not None and self.high is not None and self.high - self.low < MOST_CHOICES:
            return (*none, *range(int(self.low), int(self.high) + 1))
        return ()

    def check(self, value: Any) -> Any:
        """Return a value as Python's own number or flag; raise ValueError if it is not allowed."""
        if value is None and self.takes_none:
            return None
        if not self.many:
            return self._check_one(value)
        try:
            if not isinstance(value, str):
                return tuple(map(self._check_one, value))
        except TypeError:  # not iterable, such as an array without axes
            pass
        raise ValueError(f"{self.name} is {quoted(value)}: expected several values, such as ({quoted(value)},)")

    def parse(self, text: str) -> Any:
        """Return the value of a text (with `many`, one element); raise ValueError if it is not allowed."""
        word = text.lower()
        if word == "none" and self.takes_none:
            return None
        value: Any = text
        if self.type in (bool, object) and word in WORDS:
            value = WORDS[word]
        elif self.type in (int, float, object):
            value = _number(text, whole=self.type is int)
        return self._check_one(value)

    def _check_one(self, value: Any) -> Any:
        if self.type is bool:
            check_flag(self.name, value, self.expected)
            value = bool(value)
        elif self.type is int:
            check_range(self.name, value, self.low, self.high, self.expected)
            value = int(value)
        elif self.type is float:
            check_number(self.name, value, self.low, self.high, self.expected)
        elif not isinstance(value, self.type):
            raise ValueError(f"{self.name} is {quoted(value)}: expected {self.expected}")
        if self.choices and value not in self.choices:
            raise ValueError(f"{self.name} is {quoted(value)}: expected {self.expected}{nearest(value, self.choices)}")
        return value


ALLOW_RESIGN = Option("allow_resign", bool, False, help="Adds `resign` as the last action: the player gives up.")
"""The declaration of the option `allow_resign` (A2), for games that support it."""


def setting(default: Any = REQUIRED, **declaration: Any) -> Any:
    """Declare a field of a dataclass as an option with these fields of `Option`.

    >>> @dataclass(frozen=True)
    ... class Walk:
    ...     steps: int = setting(10, low=1, help="Steps to take.")
    >>> options_of(Walk)[0].expected
    'an integer from 1 up'
    """
    known = {} if default is REQUIRED else {"default": default}
    return dataclasses.field(**known, metadata={Option: Option(default=default, **declaration)})


def options_of(source: Any) -> tuple[Option, ...]:
    """Return the options that a game class, a dataclass, a function or another class declares or has as parameters."""
    declared = getattr(source, "declared_options", None)
    if declared is not None:
        return tuple(declared)
    try:
        parameters = inspect.signature(source).parameters.values()
    except (TypeError, ValueError):  # implemented in C
        return ()
    fields = {field.name: field for field in dataclasses.fields(source)} if dataclasses.is_dataclass(source) else {}
    function = source.__init__ if isinstance(source, type) else source  # type: ignore[misc]
    names = getattr(inspect.unwrap(function), "__globals__", {})
    found = []
    for parameter in parameters:
        if parameter.kind in (parameter.KEYWORD_ONLY, parameter.POSITIONAL_OR_KEYWORD):
            hint = _evaluated(parameter.annotation, names)
            base, *extras = get_args(hint) if get_origin(hint) is Annotated else (hint,)
            if parameter.name in fields:
                extras.extend(fields[parameter.name].metadata.values())
            partial = next((extra for extra in extras if isinstance(extra, Option)), Option())
            found.append(_completed(partial, parameter, base))
    return tuple(found)


def check_settings(settings: Any) -> None:
    """Check every field of a dataclass declared by `setting`; raise ValueError for the first invalid one."""
    for option in _options_of_class(settings.__class__):
        option.check(getattr(settings, option.name))


_options_of_class = functools.lru_cache(maxsize=256)(options_of)


def checked(function: Callable[P, T]) -> Callable[P, T]:
    """Check the arguments of a function against its declared options, and pass the results of `Option.check` to it.

    >>> @checked
    ... def walk(*, steps: Annotated[int, Option(low=1)] = 10) -> int:
    ...     return steps
    >>> walk(steps=0)
    Traceback (most recent call last):
    ValueError: steps is 0: expected an integer from 1 up
    """

    @functools.wraps(function)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> T:
        for option in declared():
            if option.name in kwargs:
                kwargs[option.name] = option.check(kwargs[option.name])
        return function(*args, **kwargs)

    @functools.cache
    def declared() -> tuple[Option, ...]:
        return tuple(option for option in options_of(function) if option.type is not object)

    return wrapper


def check_names(owner: str, given: Iterable[str], options: Iterable[Option]) -> None:
    """Raise ValueError if one of the names is not an option; the error suggests the nearest one."""
    known = [option.name for option in options]
    for name in given:
        if name not in known:
            expected = f"some of {', '.join(known)}" if known else "none"
            raise ValueError(f"{owner} has no option {quoted(name)}: expected {expected}{nearest(name, known)}")


def parse_options(owner: str, texts: Iterable[str], options: Iterable[Option]) -> dict[str, Any]:
    """Return the values by name from texts of the form `NAME=VALUE`, each name once; `-` in a name is read as `_`."""
    known, values = {option.name: option for option in options}, dict[str, Any]()
    for text in texts:
        name, equals, value = (part.strip() for part in text.partition("="))
        name = name.replace("-", "_")
        if not equals and name in known:
            raise ValueError(f"option {name!r} of {owner} has no value: expected {name}=VALUE, {known[name].typed}")
        if name not in known:
            expected = f"NAME=VALUE, NAME one of {', '.join(known)}" if known else "none"
            raise ValueError(f"{quoted(text)} is not an option of {owner}: expected {expected}{nearest(name, known)}")
        if name in values:
            raise ValueError(f"{name} is given twice for {owner}: expected each option only once")
        values[name] = known[name].parse(value)
    return values


def choices_given(source: Any, values: Mapping[str, Any]) -> dict[str, tuple[Any, ...]]:
    """Return, for every option with few values, those that a game class accepts together with the other `values`.

    >>> from pbm_envs import Curio
    >>> choices_given(Curio, {"base": 3, "rows": 4, "cols": 4})["num_pieces"]
    (None, 6)
    """
    options = options_of(source)
    given = {option.name: option.check(values.get(option.name, option.default)) for option in options}
    found: dict[str, list[Any]] = {option.name: [] for option in options if option.all_values}
    for option in options:
        for value in option.all_values:
            with contextlib.suppress(ValueError):
                source.complete_options({**given, option.name: value})
                found[option.name].append(value)
    return {name: tuple(accepted) for name, accepted in found.items()}


def narrowed(option: Option, accepted: Iterable[Any]) -> Option:
    """Return an option that allows only these of its values, which are in order.

    >>> narrowed(Option("rows", int, 5, low=2, high=26), range(4, 27)).expected
    'an integer from 4 to 26'
    """
    values = tuple(accepted)
    if values == option.all_values:
        return option
    given = tuple(value for value in values if value is not None)
    whole = option.type is int and len(given) > 2 and given == tuple(range(given[0], given[-1] + 1))
    bounds: dict[str, Any] = {"low": given[0], "high": given[-1], "choices": ()} if whole else {"choices": given}
    default = None if None in values else REQUIRED
    return dataclasses.replace(option, **bounds, default=default, optional=False)


def without_implied(source: Any, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of a game, with None for every option whose value is implied by the others."""
    found = dict(values)
    for option in options_of(source):
        without = {name: value for name, value in found.items() if name != option.name}
        if option.default is None and source.check_options(without) == values:
            found[option.name] = None
    return found


def nearest(given: object, known: Iterable[object]) -> str:
    """Return a suggestion for the end of an error: the known word most similar to the given one; "" if none is.

    >>> nearest("sise", ["size", "radius"])
    ". Did you mean 'size'?"
    """
    if not isinstance(given, str):
        return ""
    found = difflib.get_close_matches(given[:100].lower(), [str(word) for word in known], 1)
    return f". Did you mean {found[0]!r}?" if found else ""


def signature_of(options: Iterable[Option]) -> inspect.Signature:
    """Return the options as the signature of a class, for `help` and for completion."""
    parameters = []
    for option in options:
        hint = f"{option.type.__name__}{' | None' * option.takes_none}"
        keyword = inspect.Parameter.KEYWORD_ONLY
        parameters.append(inspect.Parameter(option.name, keyword, default=option.default, annotation=hint))
    return inspect.Signature(parameters)


def typed(value: Any) -> str:
    """Return the text of a value that `Option.parse` reads.

    >>> typed(True), typed(None), typed("le")
    ('true', 'none', 'le')
    """
    return str(value).lower() if value is None or isinstance(value, bool) else str(value)


def _completed(declared: Option, parameter: inspect.Parameter, hint: Any) -> Option:
    """Return the declaration completed with the name, default and type of the parameter."""
    members = get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)
    kinds = [member for member in members if member is not type(None)]
    choices, many = declared.choices, declared.many
    only = kinds[0] if len(kinds) == 1 else None
    if get_origin(only) is Literal:
        choices = choices or get_args(only)
        only = type(choices[0])
    elif get_origin(only) is tuple:
        many, only = True, get_args(only)[0]
    kind: type = type(parameter.default) if type(parameter.default) in SIMPLE else object
    kind = float if set(kinds) == {int, float} else only if isinstance(only, type) else kind
    return dataclasses.replace(
        declared,
        name=parameter.name,
        type=kind if declared.type is object else declared.type,
        default=parameter.default,
        choices=choices,
        optional=declared.optional or type(None) in members,
        many=many,
    )


def _evaluated(annotation: Any, names: dict[str, Any]) -> Any:
    """Return an evaluated annotation; None for one that only a type checker can evaluate."""
    try:
        found = eval(annotation, names) if isinstance(annotation, str) else annotation
    except Exception:
        return None
    return None if found is REQUIRED else found


def _number(text: str, *, whole: bool) -> Any:
    """Return the number in a text; the text itself if it is not a number."""
    for kind in (int,) if whole else (int, float):
        with contextlib.suppress(ValueError):
            return kind(text)
    return text
