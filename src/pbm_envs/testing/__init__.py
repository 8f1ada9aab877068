"""Conformance checks for every game, ours or yours, whatever its rules.

    from pbm_envs.testing import CHECKS
    for check in CHECKS:
        check(MyGame(size=4), numpy.random.default_rng(0))

A check raises AssertionError. Each plays a few dozen random games.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from ..core.game import Game
from ..core.state import Rng
from .channels import check_channels
from .checks import (
    check_arguments,
    check_boards,
    check_facts,
    check_illegal_actions,
    check_leaving,
    check_observations,
    check_playout,
    check_random_games,
    check_rows_are_independent,
    check_secrets,
    check_setup,
    check_symmetries,
    check_texts,
    check_views,
)
from .random_games import BATCH, equal, positions, random_actions, sample

__all__ = ["BATCH", "CHECKS", "Check", "equal", "positions", "random_actions", "sample"]
__all__ += ["check_arguments", "check_boards", "check_illegal_actions", "check_texts"]
__all__ += ["check_channels", "check_observations", "check_secrets", "check_views"]
__all__ += ["check_facts", "check_leaving", "check_playout", "check_random_games"]
__all__ += ["check_rows_are_independent", "check_setup", "check_symmetries"]

Check: TypeAlias = Callable[[Game, Rng], None]

CHECKS: tuple[Check, ...] = (
    check_facts,
    check_arguments,
    check_texts,
    check_boards,
    check_random_games,
    check_playout,
    check_setup,
    check_leaving,
    check_rows_are_independent,
    check_illegal_actions,
    check_observations,
    check_views,
    check_secrets,
    check_channels,
    check_symmetries,
)
