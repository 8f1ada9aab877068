"""What the documentation says is so: its code and its commands run, the environments' pages name every option and
plane. `make docs` builds the site, and stops at a link that leads nowhere.
"""

import importlib
import inspect
import re
import shlex
from pathlib import Path

import gymnasium
import numpy as np
import pytest
from pbm_agents import Search
from pbm_agents.cli.app import app
from typer.testing import CliRunner

from pbm_envs import GAMES, Chameleon, chameleon_v0, make_game
from pbm_envs.records import read_records
from tests.training.test_docstrings import LIBRARIES

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = {page.relative_to(ROOT).as_posix(): page.read_text(encoding="utf-8") for page in DOCS.rglob("*.md")}
PAGES = {"README.md": (ROOT / "README.md").read_text(encoding="utf-8"), **dict(sorted(PAGES.items()))}
FENCE = re.compile(r"^```(\S*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
CODE = [
    pytest.param(page, code, id=f"{page}-{number}")
    for page, text in PAGES.items()
    for number, (kind, code) in enumerate(FENCE.findall(text))
    if kind == "python"
]
COMMANDS = {
    page: [
        line
        for kind, code in FENCE.findall(text)
        for line in code.splitlines()
        if kind in ("", "sh") and line.startswith("pbm ") and "COMMAND" not in line and "network" not in line
    ]
    for page, text in PAGES.items()
}
"""Networks play in `tests/training`."""
MODULES = sorted(
    {name for text in PAGES.values() for name in re.findall(r"<!-- pages: module ([\w.]+)", text)} - LIBRARIES.keys()
)
GIVEN = {
    "pbm_envs.testing": {"MyGame": Chameleon, "numpy": np},
    "pbm_envs.vector": {"chameleon_v0": chameleon_v0, "actions": np.zeros(1024, np.int64)},
    "pbm_envs.single": {"gymnasium": gymnasium, "action": 0},
    "pbm_agents.arena": {"Chameleon": Chameleon},
    "pbm_agents.training_data": {
        "Chameleon": Chameleon,
        "Search": Search,
        "game": Chameleon(size=5),
        "read_records": read_records,
        "rng": np.random.default_rng(7),
    },
}
"""What the code in a module's docstring takes for granted, beside what the module itself has."""


@pytest.fixture
def here(tmp_path, monkeypatch):
    """An empty working folder; `docs` and `docs/guides` are where Python looks for modules."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(DOCS)
    monkeypatch.syspath_prepend(DOCS / "guides")
    return tmp_path


def pbm(words, **settings):
    result = CliRunner().invoke(app, words, **settings)
    assert result.exit_code == 0, (words, result.output, result.exception)
    return result.output


@pytest.mark.parametrize(("page", "code"), CODE)
def test_code_runs(page, code, here, capsys):
    exec(compile(code, page, "exec"), {"__name__": "page"})


@pytest.mark.parametrize("page", [page for page in COMMANDS if COMMANDS[page] and page != "README.md"])
def test_commands_run(page, here):
    for line in COMMANDS[page]:
        pbm(shlex.split(line, comments=True)[1:])


@pytest.mark.slow
def test_readme_commands_run(here):
    """`make` and `pip` aside; persons resign, there is one opening, and nobody is served."""
    pbm(["play", "chameleon", "random", "random", "-o", "size=3", "--save", "games.jsonl"])
    seen = set()
    for line in COMMANDS["README.md"]:
        words = shlex.split(line, comments=True)[1:]
        more = {"tournament": ["--openings", "1"], "serve": ["--help"]}.get(words[0], [])
        pbm([*words, *more], input="resign\n")
        seen.add(words[0])
    assert {"play", "games", "bench", "tournament", "rate", "replay"} <= seen
    assert {"game.gif", "results"} <= {path.name for path in here.iterdir()}


@pytest.mark.parametrize("name", MODULES)
def test_code_in_the_docstrings_of_the_reference_runs(name, here, capsys):
    """As the site shows it, with what GIVEN provides, in a folder with a small tournament."""
    pbm(
        [
            "tournament",
            "results",
            "-g",
            "chameleon:size=5",
            "-a",
            "random",
            "-a",
            "mcts:simulations=2",
            "--openings",
            "1",
        ]
    )
    pages, module = importlib.import_module("pages"), importlib.import_module(name)
    for kind, code in FENCE.findall(pages.fenced(module.__doc__)):
        if kind == "python":
            exec(compile(code, name, "exec"), vars(module) | GIVEN.get(name, {}))


@pytest.mark.parametrize("name", GAMES)
def test_the_site_has_a_page_for_the_game(name, here):
    """With pictures, in both themes, all planes, and the rules."""
    pages = importlib.import_module("pages")
    page, game = pages.game(name), make_game(name)
    for number, (plane, meaning) in enumerate(game.planes.items()):
        assert f"| {number} | `{plane}` | {meaning} |" in page
    shown = re.findall(r"\]\(/(\S+\.svg)\)", page)
    assert len(shown) == 2 * (1 if game.perfect_information else game.num_players)
    for path in shown:
        assert (DOCS / path).read_text(encoding="utf-8").startswith("<svg")
    for heading in ("Options", "Actions", "Observation", "Version history", "The rules in full"):
        assert f"\n## {heading}\n" in page
    ruling = {"chameleon": "H3", "curio": "C15", "trinim": "T5", "unlur": "U3"}[name]
    assert ruling in page.partition("## The rules in full")[2]


def test_every_page_is_in_the_contents():
    named = set(re.findall(r"^([\w/]+)$", PAGES["docs/index.md"], re.MULTILINE))
    assert {f"docs/{name}.md" for name in named} == set(PAGES) - {"README.md", "docs/index.md"}


def test_every_result_of_the_benchmarks_is_shown(here):
    shown = importlib.import_module("pages").benchmarks()
    for result in (ROOT / "benchmarks" / "results").glob("*.txt"):
        assert result.read_text(encoding="utf-8").rstrip() in shown


def test_readme_links_lead_somewhere():
    for target in re.findall(r"\]\(([^)#]+)\)", PAGES["README.md"]):
        assert (ROOT / target).exists(), target


@pytest.mark.parametrize("name", GAMES)
def test_the_page_names_every_option_with_its_default(name):
    page = importlib.import_module(f"pbm_envs.{name}_v0").__doc__
    for option in inspect.signature(GAMES[name]).parameters.values():
        row = next(line for line in page.splitlines() if re.match(rf"\|.*`{option.name}`", line) and "|" in line[1:])
        default = "one set" if option.default is None else f"{option.default!r}".replace("'", '"')
        assert default in row or option.name in ("no_capture_limit",), row


@pytest.mark.parametrize("name", GAMES)
def test_the_page_names_every_plane(name):
    """Planes that come in families are named by their first: the page has `shows 1` ..."""
    page = importlib.import_module(f"pbm_envs.{name}_v0").__doc__
    shown = re.findall(r"`([^`]+)`", page)
    families = {re.sub(r"\d+|red|green|blue", "#", plane.rpartition(" by ")[0] or plane) for plane in shown}
    for plane in make_game(name).planes:
        family = re.sub(r"\d+|red|green|blue", "#", plane.rpartition(" by ")[0] or plane)
        family = re.sub(r"^(turn of|out:).*", r"\1 me", family)
        assert family in families, f"{plane} ({family}) is not on the page"


@pytest.mark.parametrize("name", GAMES)
def test_the_page_states_sizes_that_are_right(name):
    """The default numbers of actions and planes."""
    game, page = make_game(name), importlib.import_module(f"pbm_envs.{name}_v0").__doc__
    assert str(game.num_actions) in page
    if name != "curio" and name != "trinim":
        assert f", {len(game.planes)}) int8" in page
