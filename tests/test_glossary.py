"""The words of the field: terms that a reader would have to guess are not used in code, pages and messages.

`WORDS` is the glossary as data: what is not written, what is written instead, and where the word means something else.
"""

import ast
import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
WORDS = [
    (r"\bopen (information )?games?\b", "perfect-information games", ()),
    (r"\beverything is open\b", "perfect information, nothing is hidden", ()),
    (r"\bwho(ever)? (is|are|was|were) to move\b(?<!player who was to move)", "the player to move", ()),
    (r"(?<!ast\.)\bwalk(s|ed|ing)?\b", "simulation, path, traversal", ()),
    (r"\bwaves?\b", "batch of simulations", ("agents/pbm_agents/search/",)),  # defined there
    (r"\bjudg(e|es|ed|ing)\b", "evaluator, value", ()),
    (r"\bsettle[sd]?\b", "proven, value", ("docs/guides/duel.py",)),  # a pot that is paid out
    (r"\blockstep\b", "batch of games", ()),
    (r"\bsits? opposite\b", "opponent", ()),
    (r"\bcareful\b", "avoid_losing_moves", ()),
    (r"\bluck\b", "seed, random numbers, advantage", ()),
    (
        r"\bcircles\b",
        "connected groups",
        ("src/pbm_envs/core/scene.py", "src/pbm_envs/render/", "benchmarks/ladders.py", "docs/pages.py"),
    ),
    (r"\bperceived?\b", "observe_with_mask", ()),
    (r"\b(OneSeat|VectorGames|GAMES_BY_NAME)\b", "SingleSeatEnv, BoardGameVectorEnv", ()),
]
"""(pattern, what to write instead, files and folders in which it is allowed)"""
NAMES = {
    "asked": "explicit_start, request",
    "careful": "avoid_losing_moves",
    "copied": "copy_states",
    "luck": "rng, random_state",
    "ordered": "parse_...",
    "perceive": "observe_with_mask",
    "shared_moves": "moves_player_independent",
    "shown": "view, message",
    "taken": "take_rows",
    "whole": "as_bytes",
}
"""Names of functions and classes that do not say what they do or are."""
FOLDERS = ["src", "agents", "docs", "benchmarks", "notebooks"]
ENDINGS = {".py", ".md", ".js", ".html", ".css", ".ipynb"}
FILES = sorted(
    path
    for path in [
        *ROOT.glob("*.md"),
        *(ROOT / ".github").rglob("*.md"),
        *(file for folder in FOLDERS for file in (ROOT / folder).rglob("*")),
    ]
    if path.suffix in ENDINGS
    and not {"_build", ".ipynb_checkpoints", "results"} & set(path.parts)
    and path.name != "CHANGELOG.md"  # which tells what older versions said
)


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def prose(path: Path) -> list[str]:
    """The lines of a file; of a notebook those that somebody wrote."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".ipynb":
        return text.splitlines()
    return "\n".join("".join(cell["source"]) for cell in json.loads(text)["cells"]).splitlines()


@pytest.mark.parametrize(("pattern", "instead", "allowed"), WORDS, ids=[pattern for pattern, _, _ in WORDS])
def test_terms_that_are_not_used(pattern, instead, allowed):
    found = [
        f"{name_of(path)}:{number}: {line.strip()}"
        for path in FILES
        if not name_of(path).startswith(allowed or ("\0",))
        for number, line in enumerate(prose(path), start=1)
        if re.search(pattern, line, re.IGNORECASE)
    ]
    assert not found, f"write {instead!r}:\n" + "\n".join(found)


def test_names_that_are_not_used():
    found = []
    for path in FILES:
        if path.suffix == ".py" and name_of(path).startswith(("src/", "agents/")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name.strip("_") in NAMES:
                    found.append(f"{name_of(path)}:{node.lineno}: {node.name}")
    assert not found, "\n".join(found)


def test_the_patterns_find_what_they_are_for():
    for sentence in ("who is to move", "in open games", "a walk down the tree", "leaves are judged", "careful=True"):
        assert any(re.search(pattern, sentence, re.IGNORECASE) for pattern, _, _ in WORDS), sentence
    assert not any(re.search(pattern, "the player to move, the current player") for pattern, _, _ in WORDS)
