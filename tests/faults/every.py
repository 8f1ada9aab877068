"""How the tests of this folder use Hypothesis: the same examples every time, few by default, many in the slow tests."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.strategies import SearchStrategy

STEADY = settings(
    derandomize=True,
    database=None,
    deadline=None,  # other work on the machine is no fault
    phases=[Phase.generate, Phase.shrink],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
)


def few_and_many(few: int, many: int) -> Any:
    """Parametrizes `examples`."""
    return pytest.mark.parametrize(
        "examples", [pytest.param(few, id="few"), pytest.param(many, id="many", marks=pytest.mark.slow)]
    )


def every(strategy: SearchStrategy[Any], examples: int, check: Callable[[Any], None]) -> None:
    """`check` holds for so many examples."""

    @settings(STEADY, max_examples=examples)
    @given(strategy)
    def run(example: Any) -> None:
        check(example)

    run()


def one_line(error: BaseException | str) -> None:
    """A message for people: one line that says something."""
    message = str(error)
    assert message.strip(), repr(error)
    assert len(message.splitlines()) == 1, message
    assert "Traceback" not in message
