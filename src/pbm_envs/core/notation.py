"""Move texts (A3): one table of texts by action, and its parser."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import index

from .checks import quoted


class Notation:
    """The canonical text of every action, and the texts that are accepted.

    >>> moves = Notation("Nim", ("A1", "A2-A1"), "a cell such as 'A1' or two ends such as 'A2-A1'", {"A1-A2": 1})
    >>> moves.write(1), moves.read(" a1-a2 ")
    ('A2-A1', 1)
    """

    def __init__(self, game: str, texts: Sequence[str], form: str, other: Mapping[str, int] | None = None) -> None:
        """Set the texts of all actions, in order; `form` describes them in errors, `other` has alternative texts."""
        self._game = game
        self._texts = tuple(texts)
        self.form = form
        self._actions = {text.lower(): action for action, text in enumerate(self._texts)}
        for action, text in enumerate(self._texts):
            if self._actions[text.lower()] != action:
                raise ValueError(f"two moves of {game} are {quoted(text)}: expected a text of its own for each action")
        for text, action in (other or {}).items():
            self._actions[text.lower()] = action

    def write(self, action: int) -> str:
        try:
            number = -1 if isinstance(action, bool) else index(action)
        except TypeError:
            number = -1
        if not 0 <= number < len(self._texts):
            raise ValueError(f"{quoted(action)} is not an action of {self._game}: expected 0..{len(self._texts) - 1}")
        return self._texts[number]

    def read(self, text: str) -> int:
        if not isinstance(text, str):
            raise ValueError(f"{quoted(text)} is not a move of {self._game}: expected {self.form}")
        plain = text.strip()
        if plain.isascii():  # `lower` would turn the Kelvin sign into k
            plain = plain.lower()
        try:
            return self._actions[plain]
        except KeyError:
            raise ValueError(f"{quoted(text)} is not a move of {self._game}: expected {self.form}") from None
