"""Other people's texts made safe for a terminal, a record and a message: short, one line, no control characters."""

from __future__ import annotations

import inspect

LONGEST = 300
"""The most characters of other people's text that a message repeats."""


def printable(text: object, longest: int = LONGEST) -> str:
    r"""Return the text in one line, cut, with control characters, terminal escapes and lone surrogates escaped.

    >>> printable("red\x1b[31m\nand \ud800")
    'red\\x1b[31m and \\ud800'
    """
    words = str(text)[: longest + 1]
    line = "".join(sign if sign.isprintable() else " " if sign in "\n\r\t" else _escaped(sign) for sign in words)
    return line if len(line) <= longest and len(words) <= longest else line[: longest - 3] + "..."


def quoted(value: object, longest: int = 100) -> str:
    """Return `repr` of what was given, for an error, in one line and cut.

    >>> quoted("a" * 1000, 12)
    "'aaaaaaaa..."
    """
    try:
        text = repr(value[: longest + 1] if isinstance(value, (str, bytes)) else value)
    except Exception:  # an integer of thousands of digits, or a class of one's own
        text = f"a {type(value).__name__} without a text"
    return printable(text, longest)


def describe_error(error: BaseException, longest: int = LONGEST) -> str:
    """Return kind and text of an error, whatever its class does when it is asked for them.

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
