"""Environments refuse attributes that nobody reads: `envs.opponent = agent` would be accepted and never looked at."""

from __future__ import annotations

from typing import Any, ClassVar


class NoNewAttributes:
    """A mixin: after `_seal()` only attributes that exist can be set."""

    _sealed: bool = False
    _instead: ClassVar[dict[str, str]] = {}
    """What to write instead of setting an attribute."""

    def _seal(self) -> None:
        object.__setattr__(self, "_sealed", True)

    def __setattr__(self, name: str, value: Any) -> None:
        if self._sealed and name not in vars(self) and not hasattr(type(self), name):
            instead = self._instead.get(name, "settings are arguments of the environment's factory")
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r} to set: {instead}")
        super().__setattr__(name, value)
