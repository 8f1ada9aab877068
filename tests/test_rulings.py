"""Every ruling of the rules pages is named by a test, and the rules pages name every ruling."""

import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
SOURCE = TESTS.parent / "src" / "pbm_envs"
RULINGS = {"A": 4, "C": 15, "T": 7, "H": 5, "U": 7}
PAGES = {"C": "curio", "T": "trinim", "H": "chameleon", "U": "unlur"}
IDS = [f"{letter}{number}" for letter, last in RULINGS.items() for number in range(1, last + 1)]


@pytest.mark.parametrize("ruling", IDS)
def test_a_test_names_the_ruling(ruling):
    docstring = re.compile(rf'def test_\w+\([^)]*\):\n    (?:r?""".*?\b{ruling}\b.*?""")', re.DOTALL)
    files = [path for path in TESTS.rglob("test_*.py") if docstring.search(path.read_text(encoding="utf-8"))]
    assert files, f"no test's docstring names {ruling}"


@pytest.mark.parametrize("ruling", [ruling for ruling in IDS if ruling[0] != "A"])
def test_the_rules_page_names_the_ruling(ruling):
    page = (SOURCE / PAGES[ruling[0]] / "rules.md").read_text(encoding="utf-8")
    assert re.search(rf"\b{ruling}\b", page)
