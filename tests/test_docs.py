"""The documentation is true: its code and commands run, and its tables name every option and plane.

`make docs` builds the site and stops at a broken link; `test_figures.py` compares figures with the benchmarks.
"""

import ast
import importlib
import re
import shlex
from itertools import pairwise
from pathlib import Path

import gymnasium
import nbformat
import numpy as np
import pytest
from pbm_agents import RandomAgent, Search
from pbm_agents.arena import Opening, play_games
from pbm_agents.cli.app import SUMMARIES, app
from pbm_agents.learning.self_play import SelfPlay, self_play
from pbm_agents.learning.training_data import augmented
from typer.testing import CliRunner

from pbm_envs import Chameleon, chameleon_v0, make_game, registered_games
from pbm_envs.core.options import options_of
from pbm_envs.records import read_records
from pbm_envs.registry import parse_game
from tests.play import rules_page
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
        if kind == "sh" and line.startswith("pbm ")
    ]
    for page, text in PAGES.items()
}
"""The lines of blocks of kind `sh`. Those of kind `console` are shown only: they install, train, or are forms."""
TRAINED = re.compile(r"[\w/]+/network\.pt")
"""Networks that a command expects where the page has trained one."""
UNATTENDED = {"serve": ["--help"]}
"""What is added to a command that would run until it is stopped."""
TASKS = ["install", "first_game", *sorted(f"guides/{page.stem}" for page in DOCS.glob("guides/*.md")), "benchmarks"]
"""Pages for a task that a reader comes with."""
MODULES = sorted(
    {name for text in PAGES.values() for name in re.findall(r"<!-- pages: module ([\w.]+)", text)} - LIBRARIES.keys()
)
GIVEN = {
    "Chameleon": Chameleon,
    "MyGame": Chameleon,
    "Search": Search,
    "SelfPlay": SelfPlay,
    "action": 0,
    "actions": np.zeros(1024, np.int64),
    "augmented": augmented,
    "chameleon_v0": chameleon_v0,
    "game": Chameleon(size=5),
    "gymnasium": gymnasium,
    "numpy": np,
    "read_records": read_records,
    "record": next(iter(play_games(Chameleon(size=5), {"a": RandomAgent()}, [["a", "a"]], [Opening(7)], seed=7))),
    "rng": np.random.default_rng(7),
    "search": Search(simulations=4),
    "self_play": self_play,
}
"""Names that the code in docstrings takes for granted, beside those of its own module."""


@pytest.fixture
def here(tmp_path, monkeypatch):
    """An empty working folder; `docs` and `docs/guides` are where Python looks for modules."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path / "minari"))
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


def test_the_learner_of_the_evaluation_page_reaches_what_it_says(capsys):
    page = PAGES["docs/guides/evaluate.md"]
    exec(compile(next(code for kind, code in FENCE.findall(page) if kind == "python"), "evaluate.md", "exec"), {})
    scores = [float(text) for text in re.findall(r"score (\d\.\d+)", capsys.readouterr().out)]
    first, last = map(float, re.search(r"goes from a score of (\S+) to about (\d\.\d+)", page).groups())
    assert (scores[0], scores[-1]) == pytest.approx((first, last), abs=0.05)


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, marks=[pytest.mark.libraries] if any(map(TRAINED.search, COMMANDS[page])) else [])
        for page in COMMANDS
        if COMMANDS[page]
    ],
)
def test_commands_run(page, here):
    """In one folder, in the order of the page; a person who is asked for a move resigns."""
    for line in COMMANDS[page]:
        words = shlex.split(line, comments=True)[1:]
        for network in TRAINED.findall(line):
            save_network(Path(network), words[words.index("-g") + 1])
        pbm([*words, *UNATTENDED.get(words[0], [])], input="resign\n")


def save_network(path, game):
    """What a training of minutes would have left there."""
    pytest.importorskip("torch")
    network = importlib.import_module("pbm_agents.learning.network")
    name, _, options = game.partition(":")
    path.parent.mkdir(parents=True, exist_ok=True)
    network.PolicyValueNetwork(parse_game(name, options.split(","))).save(path)


def test_the_pages_show_every_command():
    shown = {shlex.split(line)[1] for lines in COMMANDS.values() for line in lines}
    inline = set(re.findall(r"`pbm ([\w-]+)", "\n".join(PAGES.values())))
    assert {command.name or command.callback.__name__ for command in app.registered_commands} <= shown | inline


def test_commands_that_are_not_run_say_why():
    """They install something, train, or name what only the reader has."""
    for page, text in PAGES.items():
        for kind, code in FENCE.findall(text):
            for line in code.splitlines():
                if kind in ("", "console", "bash", "shell") and line.startswith("pbm "):
                    known = any(part in line for part in ("mymodule", "url=", "--ray")) or line.startswith("pbm train ")
                    assert known, f"{page}: {line!r} belongs in a block of kind sh, where it is run"


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
            exec(compile(code, name, "exec"), GIVEN | {name: getattr(module, name) for name in dir(module)})


@pytest.mark.parametrize("name", registered_games())
def test_the_site_has_a_page_for_the_game(name, here):
    """With pictures, in both themes, all planes, and the rules."""
    pages = importlib.import_module("pages")
    page, game = pages.game(name), make_game(name)
    for number, (plane, meaning) in enumerate(game.planes.items()):
        assert f"| {number} | `{plane}` | {meaning} |" in page
    shown = re.findall(r"\{figure\} /(\S+\.svg)", page)
    assert len(shown) == 2 * (1 if game.perfect_information else game.num_players)
    for path in shown:
        assert (DOCS / path).read_text(encoding="utf-8").startswith("<svg")
    captions = set(re.findall(r"^What \w+, player_\d, sees\.$", page, re.MULTILINE))
    assert len(captions) == (0 if game.perfect_information else game.num_players)
    films = re.findall(r"\{figure\} /(\S+\.gif)", page)
    assert len(films) == 2
    for path in films:
        assert (DOCS / path).read_bytes().startswith(b"GIF8")
    for heading in ("Options", "Actions", "Observation", "Version history", "The rules in full"):
        assert f"\n## {heading}\n" in page
    rulings = set(re.findall(r"\(([A-Z]\d+)\)", rules_page(name)))
    assert len(rulings) > 3
    assert rulings <= set(re.findall(r"\(([A-Z]\d+)\)", page.partition("## The rules in full")[2]))


def test_every_page_is_in_the_contents():
    named = set(re.findall(r"^([\w/]+)$", PAGES["docs/index.md"], re.MULTILINE))
    notebooks = {f"notebooks/{path.stem}" for path in (ROOT / "notebooks").glob("[0-9]*.ipynb")}
    assert notebooks <= named
    assert {f"docs/{name}.md" for name in named - notebooks} == set(PAGES) - {"README.md", "docs/index.md"}


def test_the_front_page_has_the_boards_as_links(here):
    """Each with README's sentence; the rest of the page is README's too, with links to pages of the site."""
    pages = importlib.import_module("pages")
    front = pages.boards()
    for name, game in registered_games().items():
        assert len(re.findall(rf"\[!\[{game.__name__}\]\(/\S+\.svg\).*\]\(games/{name}\.md\)", front)) == 2
        assert re.search(rf"\*\*\[{game.__name__}\]\(games/{name}\.md\)\*\*: .{{20,}}\.", front)
    for heading in re.findall(r"<!-- pages: readme (.*) -->", PAGES["docs/index.md"]):
        text = pages.readme(heading)
        assert text
        for target in re.findall(r"\]\(([^)#:]+)[^)]*\)", FENCE.sub("", text)):
            assert (DOCS / target).exists() or (ROOT / target).exists(), target


def test_notebooks_become_pages_of_the_site(tmp_path, monkeypatch, here):
    """With links between pages of the site, and none to files that it does not have."""
    moving = importlib.import_module("moving")
    monkeypatch.setattr(moving, "DOCS", tmp_path / "docs")
    (tmp_path / "docs").mkdir()
    moving.copy_notebooks()
    copies = sorted((tmp_path / "docs" / "notebooks").glob("*.ipynb"))
    assert len(copies) == len(list((ROOT / "notebooks").glob("[0-9]*.ipynb"))) > 0
    for copy in copies:
        for cell in nbformat.read(copy, as_version=4).cells:
            for target in re.findall(r"\]\(([^)#:]+)", cell.source if cell.cell_type == "markdown" else ""):
                assert (DOCS / "notebooks" / target).resolve().exists() or (copy.parent / target).exists(), target


def test_constants_have_their_own_text():
    """Not Python's on tuples or numbers."""
    pages = importlib.import_module("pages")
    entry = pages.members("pbm_agents.arena", "FORMS")
    assert ":value: ('round-robin', 'gauntlet', 'pairs', 'neighbours')" in entry
    assert "Built-in" not in entry
    for page in PAGES.values():
        for name, rest in re.findall(r"<!-- pages: (?:module|members) ([\w.]+)(.*) -->", page):
            if name in LIBRARIES:
                continue
            module = importlib.import_module(name)
            for member in [part.strip() for part in rest.split("|") if part.strip()] or getattr(module, "__all__", ()):
                thing = getattr(module, member)
                if not callable(thing) and not isinstance(thing, type):
                    assert pages.constant_text(name, member), f"{name}.{member} has no text"


def test_the_site_has_the_help_of_every_command():
    """Under a heading of its own, so that a search for `pbm serve` finds it."""
    pages = importlib.import_module("pages")
    text = pages.commands()
    for name in SUMMARIES:
        assert f"## `pbm {name}`\n" in text
        assert f"Usage: pbm {name} " in text


@pytest.mark.parametrize("name", [*TASKS, "comparison"])
def test_a_page_says_what_it_is_for_and_where_to_go_next(name):
    text = PAGES[f"docs/{name}.md"]
    if text.startswith("<!-- pages: training -->"):
        text = text.replace("<!-- pages: training -->", (ROOT / "notebooks/training/README.md").read_text("utf-8"))
    title, _, rest = text.partition("\n\n")
    assert title.startswith("# ")
    assert rest.startswith("After this page you "), name
    last = re.split(r"^## ", text, flags=re.MULTILINE)[-1]
    assert last.startswith("Where to go next\n"), name
    assert re.search(r"\]\([\w/.-]+\.md(#[\w-]+)?\)", last), name


def test_readme_is_short_and_leads_to_every_page_for_a_task():
    assert len(PAGES["README.md"].splitlines()) < 200
    for name in TASKS:
        assert f"](docs/{name}.md)" in PAGES["README.md"], name


def test_every_result_of_the_benchmarks_is_shown(here):
    shown = importlib.import_module("pages").benchmarks()
    for result in (ROOT / "benchmarks" / "results").glob("*.txt"):
        assert result.read_text(encoding="utf-8").rstrip() in shown


def test_readme_links_lead_somewhere():
    for target in re.findall(r"\]\(([^)#]+)\)", FENCE.sub("", PAGES["README.md"])):
        assert (ROOT / target).exists(), target


@pytest.mark.parametrize("name", registered_games())
def test_the_page_names_every_option_with_its_default(name):
    page = importlib.import_module(f"pbm_envs.{name}_v0").__doc__
    table = page.partition("## Options")[2].partition("\n## ")[0]
    for option in options_of(registered_games()[name]):
        [row] = [line for line in table.splitlines() if re.match(rf"\|[^|]*`{option.name}`", line)]
        default = "one set" if option.default is None else f"{option.default!r}".replace("'", '"')
        assert default in row.split("|")[2], row


@pytest.mark.parametrize("name", registered_games())
def test_the_page_names_every_plane(name):
    """Planes that come in families are named by their first: the page has `shows 1` ..."""
    page = importlib.import_module(f"pbm_envs.{name}_v0").__doc__
    shown = re.findall(r"`([^`]+)`", page)
    families = {re.sub(r"\d+|red|green|blue", "#", plane.rpartition(" by ")[0] or plane) for plane in shown}
    for plane in make_game(name).planes:
        family = re.sub(r"\d+|red|green|blue", "#", plane.rpartition(" by ")[0] or plane)
        family = re.sub(r"^(turn of|out:).*", r"\1 me", family)
        assert family in families, f"{plane} ({family}) is not on the page"


@pytest.mark.parametrize("name", registered_games())
def test_the_page_states_sizes_that_are_right(name):
    """The default number of actions; the number of planes, as a formula of the options, for every configuration."""
    page = importlib.import_module(f"pbm_envs.{name}_v0").__doc__
    assert str(make_game(name).num_actions) in page
    shape = re.search(r'"observation": \((.*?)\) int8', page)[1]
    formula = shape.rpartition(", ")[2]
    for options in registered_games()[name].configurations:
        game = make_game(name, **options)
        names = {**game.options, "players": game.num_players}
        planes = eval(re.sub(r"(?<=\w)\(", " * (", formula), {}, names)
        assert planes == len(game.planes) == game.observation_shape[-1], (formula, options)


def test_texts_of_attributes_are_sentences():
    """The site shows each alone: none goes on in the next one."""
    for folder in (ROOT / "src" / "pbm_envs", ROOT / "agents" / "pbm_agents"):
        for path in folder.rglob("*.py"):
            for kind in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                for field, text in pairwise(kind.body) if isinstance(kind, ast.ClassDef) else ():
                    if isinstance(field, ast.AnnAssign) and isinstance(text, ast.Expr):
                        told = str(getattr(text.value, "value", "")).strip()
                        assert told[-1:] in {".", ")", '"', "`"}, f"{path.name}: {told!r}"
                        assert not told[:1].islower() or told.startswith(("nan ", "bool,")), f"{path.name}: {told!r}"
