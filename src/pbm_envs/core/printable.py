"""Untrusted texts made safe for terminals, records and messages: short, one line, no control characters."""

from __future__ import annotations

import inspect

LONGEST = 300
"""The maximum number of characters of untrusted text that a message repeats."""


def printable(text: object, longest: int = LONGEST) -> str:
    r"""Return the text in one line, truncated, with control characters, terminal escapes and lone surrogates escaped.

    >>> printable("red\x1b[31m\nand \ud800")
    'red\\x1b[31m and \\ud800'
    """
    words = str(text)[: longest + 1]
    line = "".join(sign if sign.isprintable() else " " if sign in "\n\r\t" else _escaped(sign) for sign in words)
    return line if len(line) <= longest and len(words) <= longest else line[: longest - 3] + "..."


def quoted(value: object, longest: int = 100) -> str:
    """Return the `repr` of a value for an error, in one line and truncated.

    >>> quoted("a" * 1000, 12)
    "'aaaaaaaa..."
    """
    try:
        text = repr(value[: longest + 1] if isinstance(value, (str, bytes)) else value)
    except Exception:  # an integer of thousands of digits, or a user-defined class
        text = f"a {type(value).__name__} without a text"
    return printable(text, longest)


def describe_error(error: BaseException, longest: int = LONGEST) -> str:
    """Return the type and text of an error, even if its class raises when formatting them.

    >>> describe_error(ZeroDivisionError("by zero"))
    'ZeroDivisionError: by zero'
    """
    try:
        kind = str(type(error).__name__)
    except BaseException:  # a metaclass can raise anything
        kind = "an error"
    try:
        text = str(error)
    except KeyboardInterrupt:
        raise
    except BaseException:
        text = "(its text cannot be had)"
    return printable(f"{kind}: {text[: longest + 1]}" if text else kind, longest)


def summary(thing: object) -> str:
    """Return the first paragraph of the docstring of a class or function, in one line."""
    return " ".join((inspect.getdoc(thing) or "").partition("\n\n")[0].split())


def _escaped(sign: str) -> str:
    return sign.encode("unicode_escape").decode()
