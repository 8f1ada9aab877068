"""Files that only GitHub and other services read: they parse, and they agree with the project."""

import importlib
import os
import re
from importlib.metadata import metadata
from pathlib import Path

import pytest
import yaml

from pbm_envs import __version__, make_game
from tests.environments import NAMES

ROOT = Path(__file__).parent.parent
GITHUB = ROOT / ".github"
WORKFLOWS = sorted((GITHUB / "workflows").glob("*.yml"))
FORMS = [form for form in sorted((GITHUB / "ISSUE_TEMPLATE").glob("*.yml")) if form.name != "config.yml"]
PYPROJECT = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
PYTHONS = re.findall(r'"Programming Language :: Python :: (3\.\d+)"', PYPROJECT)


def load(path: Path) -> dict:
    found = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert isinstance(found, dict), path
    return found


def jobs(path: Path) -> dict:
    return load(path)["jobs"]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_workflows_have_what_github_asks_for(path):
    workflow = load(path)
    assert workflow["name"]
    assert workflow[True], "YAML reads the key `on` as true"
    assert workflow["permissions"] == {"contents": "read"}, "a job that needs more says so itself"
    for job in workflow["jobs"].values():
        assert job["runs-on"]
        for step in job["steps"]:
            assert ("uses" in step) != ("run" in step)
            if "uses" in step:
                assert re.fullmatch(r"[\w.-]+/[\w.-]+@(v\d+|release/v\d+|[0-9a-f]{40})", step["uses"])
    needed = {job["needs"] for job in workflow["jobs"].values() if "needs" in job}
    assert needed <= workflow["jobs"].keys()


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_workflows_make_targets_that_exist(path):
    targets = set(re.findall(r"^([\w-]+):", MAKEFILE, re.MULTILINE))
    commands = [step["run"] for job in jobs(path).values() for step in job["steps"] if "run" in step]
    made = {target for command in commands for target in re.findall(r"\bmake ([\w-]+)", command)}
    assert made <= targets


def test_every_check_of_the_makefile_runs_in_some_workflow():
    """So that none is forgotten. Other targets change files, clean up, show something, or are parts of a check."""
    targets = set(re.search(r"^\.PHONY: (.*)$", MAKEFILE, re.MULTILINE)[1].split())
    text = "\n".join(path.read_text(encoding="utf-8") for path in WORKFLOWS)
    made = set(re.findall(r"\bmake ([\w-]+)", text))
    others = {"demo", "test", "pages", "pictures", "notebooks", "screenshots", "wasm", "format", "clean"}
    assert targets - made == others | {"environments", "test-training", "test-training-notebook", "test-rllib"}


def test_tests_that_are_named_elsewhere_are_there():
    """In the Makefile, in the checks that mutants meet, which no other test imports, and in the table of attacks."""
    for path in re.findall(r"tests/[\w/]+\.py", MAKEFILE):
        assert (ROOT / path).exists(), path
    for path in [path for paths in importlib.import_module("tests.mutation.checks").FILES.values() for path in paths]:
        assert (ROOT / path).exists(), path
    promises = (ROOT / "docs" / "promises.md").read_text(encoding="utf-8")
    for path, test in re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", promises):
        assert f"def {test}" in (ROOT / path).read_text(encoding="utf-8"), (path, test)


def test_the_tests_run_on_three_systems_in_every_supported_python():
    matrix = jobs(GITHUB / "workflows" / "ci.yml")["tests"]["strategy"]["matrix"]
    assert matrix["python"] == PYTHONS
    assert matrix["os"] == ["ubuntu-latest", "macos-latest", "windows-latest"]
    assert f'requires-python = ">={PYTHONS[0]}"' in PYPROJECT
    assert f"Python {PYTHONS[0]} to {PYTHONS[-1]} are supported" in (ROOT / "docs" / "promises.md").read_text("utf-8")


def test_releases_use_trusted_publishing():
    publish = jobs(GITHUB / "workflows" / "release.yml")["publish"]
    assert publish["permissions"] == {"id-token": "write"}
    assert publish["environment"] == "pypi"
    assert "secrets." not in (GITHUB / "workflows" / "release.yml").read_text(encoding="utf-8")


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.stem)
def test_issue_forms(path):
    form = load(path)
    assert form["name"]
    assert form["description"]
    ids = [field["id"] for field in form["body"]]
    assert len(set(ids)) == len(ids) > 0
    for field in form["body"]:
        assert field["type"] in ("textarea", "input", "dropdown")
        assert field["attributes"]["label"]


def test_the_form_for_rules_names_every_game():
    [game] = [field for field in load(GITHUB / "ISSUE_TEMPLATE" / "rules.yml")["body"] if field["id"] == "game"]
    assert sorted(game["attributes"]["options"]) == sorted(type(make_game(name)).__name__ for name in NAMES)


def test_dependabot_looks_where_requirements_are():
    updates = load(GITHUB / "dependabot.yml")["updates"]
    assert {update["package-ecosystem"] for update in updates} == {"github-actions", "pip"}
    for update in updates:
        for folder in update.get("directories", [update.get("directory")]):
            assert (ROOT / folder.lstrip("/")).is_dir()


def test_hooks_run_tools_of_the_environment():
    [repository] = load(ROOT / ".pre-commit-config.yaml")["repos"]
    assert repository["repo"] == "local"
    hooks = {hook["id"]: hook for hook in repository["hooks"]}
    assert {"ruff", "ruff-format", "mypy"} == hooks.keys()
    for hook in hooks.values():
        assert hook["language"] == "system"
        for word in hook["entry"].split():
            assert not word.startswith("tests/") or (ROOT / word).exists(), word


def test_the_citation_is_of_this_version():
    citation = load(ROOT / "CITATION.cff")
    released = __version__.partition(".dev")[0]
    assert citation["version"] == released
    assert f"\n## {released} ({citation['date-released']})\n" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert " AND ".join(citation["license"]) == metadata("pbm-envs")["License-Expression"]


def test_no_page_names_where_the_project_lives():
    """Links are relative. Whoever publishes the project adds `[project.urls]`, from which the site takes its links."""
    assert "[project.urls]" not in PYPROJECT
    for folder in (ROOT, GITHUB, ROOT / "docs", ROOT / "src", ROOT / "agents", ROOT / "notebooks"):
        for path in folder.glob("*") if folder == ROOT else folder.rglob("*"):
            if path.suffix in (".md", ".yml", ".cff", ".ipynb", ".toml") and "_build" not in path.parts:
                assert not re.search(r"OWNER\b|github\.com/[\w-]+/pbm_envs", path.read_text(encoding="utf-8")), path


def test_contributing_names_places_that_exist():
    """The table of what a fifth game needs: the same places exist for every game that is here."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    table = text.partition("## A fifth game")[2].partition("\n## ")[0]
    places = re.findall(r"`([\w./]+/[\w./]*|[A-Z]+\.md)`", table)
    assert len(places) > 15
    for place in places:
        for name in NAMES if re.search(r"\bx(?=[/_.])", place) else [""]:
            path = ROOT / re.sub(r"\bx(?=[/_.])", name, place)
            assert path.exists(), f"{place} for {name}: there is no {path}"


@pytest.mark.xdist_group("one process")
def test_tests_of_a_group_run_in_one_process(request):
    """pytest-xdist sorts tests by the group in their names; where it cannot write it there, it says nothing."""
    if "PYTEST_XDIST_WORKER" not in os.environ or not request.config.getvalue("loadgroup"):
        pytest.skip("only with `--dist loadgroup`")
    assert request.node.nodeid.endswith("@one process")
