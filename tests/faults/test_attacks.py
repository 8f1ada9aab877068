"""The table of attacks in docs/promises.md: each test that it names exists, and the cases are counted.

python -m tests.faults.test_attacks         # writes the counts anew
"""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "promises.md"
ROW = re.compile(r"^(\| 26\.\d+ \| .* \| )(\d+)( \| (.*) \|)$", re.MULTILINE)
TEST = re.compile(r"`(tests/[\w/]+\.py)(?:::(\w+))?`")


def counted(page: str) -> str:
    """The page with the number of cases in each row, slow ones included.

    Tests that need PyTorch are no cases where there is none: rows that name such tests count the others.
    """
    files = sorted({file for row in ROW.finditer(page) for file, _ in TEST.findall(row[4])})
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-n",
        "0",
        "-m",
        "",
        "--collect-only",
        "-q",
        "-p",
        "no:cacheprovider",
        *files,
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    cases = re.findall(r"^(tests/[\w/]+\.py)::(\w+)", done.stdout, re.MULTILINE)
    assert cases, done.stdout + done.stderr

    def rewritten(row: re.Match[str]) -> str:
        named = TEST.findall(row[4])
        count = sum(1 for file, test in cases for other, name in named if file == other and name in ("", test))
        return f"{row[1]}{count}{row[3]}"

    return ROW.sub(rewritten, page)


def test_every_attack_has_its_tests():
    rows = list(ROW.finditer(PAGE.read_text(encoding="utf-8")))
    assert {re.match(r"\| 26\.(\d)", row[1])[1] for row in rows} == set("1234567")
    for row in rows:
        assert TEST.search(row[4]), row[0]
        for file, test in TEST.findall(row[4]):
            assert f"def {test}" in (ROOT / file).read_text(encoding="utf-8"), (file, test)


@pytest.mark.slow
def test_the_cases_are_counted():
    page = PAGE.read_text(encoding="utf-8")
    assert counted(page) == page, "python -m tests.faults.test_attacks"


if __name__ == "__main__":
    PAGE.write_text(counted(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
