"""Environments refuse attributes that nobody reads: `envs.opponent = agent` would be accepted and never looked at.

And their specifications say which setting cannot be written as JSON.
"""

from __future__ import annotations

import json
from typing import Any, ClassVar

from gymnasium.envs.registration import EnvSpec


class ExplainingSpec(EnvSpec):
    """A specification of Gymnasium's whose `to_json` names the setting that cannot be written."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, EnvSpec) and vars(self) == vars(other)

    __hash__ = None  # type: ignore[assignment]  # as EnvSpec

    def to_json(self) -> str:
        """As Gymnasium's.

        Raises:
            ValueError: If a setting is an object or a function; says which, and what to give instead.
        """
        for name, value in self.kwargs.items():
            try:
                json.dumps(value)
            except (TypeError, ValueError) as error:
                raise ValueError(
                    f"the setting {name} of {self.id} is {value!r}, which cannot be written as JSON: expected texts, "
                    "numbers, and lists and mappings of them; an opponent by its name, 'mcts:simulations=50' or "
                    "'module:attribute'"
                ) from error
        return super().to_json()


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
        if name == "spec" and type(value) is EnvSpec:  # Gymnasium's factories set it
            spec = object.__new__(ExplainingSpec)
            vars(spec).update(vars(value))
            value = spec
        super().__setattr__(name, value)
