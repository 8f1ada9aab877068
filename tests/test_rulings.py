"""Every ruling of the rules pages is named by a test, and the rules pages number their rulings without gaps."""

import re
from pathlib import Path

import pytest

from tests.environments import NAMES
from tests.play import rules_page

TESTS = Path(__file__).parent
SHARED = [f"A{number}" for number in range(1, 5)]
"""Rulings for all games, on rewards, resignation and truncation."""


def cited(name: str) -> set[str]:
    """The rulings that a rules page names: in brackets, as (C2, C15), or at the start of a row of its last table."""
    found = re.findall(r"(?:\(|^\| )([A-Z]\d+(?:, [A-Z]\d+)*)(?:\)| \|)", rules_page(name), re.MULTILINE)
    return {ruling for group in found for ruling in group.split(", ")} - set(SHARED)


RULINGS = {name: sorted(cited(name), key=lambda ruling: int(ruling[1:])) for name in NAMES}


@pytest.mark.parametrize("name", NAMES)
def test_a_rules_page_numbers_its_rulings_without_gaps(name):
    """With one letter, that no other game uses."""
    [letter] = {ruling[0] for ruling in RULINGS[name]}
    assert RULINGS[name] == [f"{letter}{number}" for number in range(1, len(RULINGS[name]) + 1)]
    assert not any(ruling[0] == letter for other in NAMES if other != name for ruling in RULINGS[other])


@pytest.mark.parametrize("ruling", [*SHARED, *(ruling for name in NAMES for ruling in RULINGS[name])])
def test_a_test_names_the_ruling(ruling):
    docstring = re.compile(rf'def test_\w+\([^)]*\):\n    (?:r?""".*?\b{ruling}\b.*?""")', re.DOTALL)
    files = [path for path in TESTS.rglob("test_*.py") if docstring.search(path.read_text(encoding="utf-8"))]
    assert files, f"no test's docstring names {ruling}"
