"""What the site takes from elsewhere. A line `<!-- pages: game curio -->` in a page stands for what `game("curio")`
gives, and `|` separates arguments: Markdown from the docstrings, README and the results of the benchmarks.
"""

import ast
import importlib
import re
import textwrap
from pathlib import Path
from types import ModuleType

import numpy as np
from pictures import POSITIONS
from sphinx.ext.autodoc.mock import mock
from sphinx.util import inspect

from pbm_envs import GAMES, Game, make_game
from pbm_envs.render import THEMES

ROOT = Path(__file__).parent.parent
DRAWN = Path(__file__).parent / "_build" / "drawn"
RESULTS = ROOT / "benchmarks" / "results"

TYPES = (
    *("Actions", "Array", "ArrayLike", "Bools", "Floats", "Frame", "Heat", "Ints", "Mask", "Observation", "Planes"),
    *("Policy", "PriorsAndValues", "Record", "Rng", "Seed", "Seeds", "Shape", "States", "Step", "Views"),
)
"""Aliases, which are shown by name."""
ABSENT = ("torch", "stable_baselines3", "ray")
"""Libraries that a build need not have, to describe what is made for them."""


def fill_in(app: object, document: str, source: list[str]) -> None:
    """Sphinx's event `source-read`."""
    source[0] = re.sub(
        r"^<!-- pages: (\w+) ?(.*) -->$",
        lambda line: MAKERS[line[1]](*filter(None, re.split(r"\s*\|\s*", line[2]))),
        source[0],
        flags=re.MULTILINE,
    )


def game(name: str) -> str:
    """The page of a game: the module's docstring with a picture, the table of planes, the rules."""
    first, page = importlib.import_module(f"pbm_envs.{name}_v0").__doc__.split("\n", 1)
    title, _, claim = first.partition(": ")
    page = page.replace(f"`{name}/rules.md`", "[below](#the-rules-in-full)")
    before, history, after = page.partition("## Version history")
    rules = (Path(importlib.import_module(f"pbm_envs.{name}").__file__).parent / "rules.md").read_text(encoding="utf-8")
    rules = re.sub(r"^#(.*)$", r"##\1", rules.split("\n", 1)[1], flags=re.MULTILINE)
    return "\n\n".join(
        [
            f"# {title}\n\n{claim[0].upper()}{claim[1:]}",
            draw(make_game(name)),
            before.strip(),
            f"## Planes, one by one\n\nOf `{make_game(name)!r}`:\n\n{planes(make_game(name))}",
            f"{history}{after.rstrip()}\n\n[What makes a new version](../versions.md)",
            f"## The rules in full\n\n{rules.strip()}",
        ]
    )


def planes(rules: Game) -> str:
    """`game.planes` as a table."""
    rows = [f"| {k} | `{name}` | {meaning} |" for k, (name, meaning) in enumerate(rules.planes.items())]
    return "\n".join(["| index | plane | meaning |", "|---|---|---|", *rows])


def draw(rules: Game) -> str:
    """README's position; of hidden information, as each player sees it."""
    board, moves, _ = POSITIONS[rules.name]
    states = rules.init(1, np.random.default_rng(0), board)
    for move in moves.split():
        rules.step(states, [rules.string_to_action(move)])
    DRAWN.mkdir(parents=True, exist_ok=True)
    lines = []
    for player in [0] if rules.perfect_information else range(rules.num_players):
        whose = "" if rules.perfect_information else f" as player_{player} sees it"
        for theme in THEMES:
            path = DRAWN / f"{rules.name}-{player}-{theme}.svg"
            rules.show(rules.view(states, player), theme=theme, size=360).save(path)
            lines.append(f"![A position of {rules.name}{whose}](/_build/drawn/{path.name}){{.only-{theme} .board}}")
    return "\n".join(lines)


def games() -> str:
    """A row a game."""
    rows = []
    for name in GAMES:
        rules = make_game(name)
        rows.append(
            f"| [{type(rules).__name__}](games/{name}.md) | {rules.num_players} | "
            f"{'open' if rules.perfect_information else 'hidden'} | {rules.num_actions} | "
            f"{', '.join(map(str, rules.observation_shape))} | {rules.max_plies:,} |"
        )
    head = "| game, by default | players | information | actions | observation | longest game, in plies |"
    return "\n".join([head, "|---|---|---|---|---|---|", *rows])


def module(name: str, *names: str) -> str:
    """A module's docstring, and entries for its members: all of `__all__`, unless some are named."""
    found = imported(name)
    page = fenced(found.__doc__.strip())
    return f"## `{name}`\n\n{page}\n\n{members(name, *(names or vars(found).get('__all__', ())))}"


def members(name: str, *names: str) -> str:
    """Autodoc's entries."""
    found, entries = imported(name), []
    for member in names:
        thing = vars(found)[member]
        kind = "class" if isinstance(thing, type) else "function" if callable(thing) else "data"
        inherits = kind == "class" and issubclass(thing, Game) and thing is not Game
        options = "\n   :members:\n   :special-members: __call__" if kind == "class" and not inherits else ""
        entries.append(f".. auto{kind}:: {name}.{member}{options}\n")
    return "\n".join(["```{eval-rst}", *entries, "```"])


def imported(name: str) -> ModuleType:
    with mock(list(ABSENT)):
        return importlib.import_module(name)


def fenced(text: str) -> str:
    """Indented code, as in docstrings, as fenced code."""

    def fence(block: re.Match[str]) -> str:
        code = textwrap.dedent(block[0]).strip()
        try:
            ast.parse(code)
            kind = "python"
        except SyntaxError:
            kind = "text"
        return f"```{kind}\n{code}\n```\n"

    return re.sub(r"(?:(?<=\n\n)) {4}.*\n(?:(?: {4}.*)?\n)*(?: {4}.*\Z)?", fence, text + "\n").strip()


def readme(*headings: str) -> str:
    """Sections of README."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    sections = {section.split("\n", 1)[0]: section for section in re.split(r"^## ", text, flags=re.MULTILINE)}
    chosen = "\n".join(f"## {sections[heading]}" for heading in headings)
    return without_links(chosen)


def introduction() -> str:
    """What README says first, without its pictures."""
    text = (ROOT / "README.md").read_text(encoding="utf-8").partition("\n## ")[0]
    return re.sub(r"<picture>.*?</picture>\n?", "", text, flags=re.DOTALL)


def training() -> str:
    """The page of the programs that train with other people's libraries."""
    return without_links((ROOT / "notebooks" / "training" / "README.md").read_text(encoding="utf-8"))


def without_links(text: str) -> str:
    """Only the texts of the links to files, which the site has not, and no pictures."""
    return re.sub(r"!?\[([^\]]+)\]\([^)]+\)", lambda link: "" if link[0][0] == "!" else link[1], text)


def contributing(heading: str) -> str:
    """What stands in CONTRIBUTING below a heading."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    return text.partition(f"## {heading}\n")[2].partition("\n## ")[0].strip()


def benchmarks() -> str:
    """What each script asks, what it printed, and its plots."""
    parts = []
    for result in sorted(RESULTS.glob("*.txt")):
        script = ROOT / "benchmarks" / f"{result.stem}.py"
        question = ast.get_docstring(ast.parse(script.read_text(encoding="utf-8"))) or ""
        parts.append(f"## {result.stem}\n\n{fenced(question)}")
        parts.append(f"```text\n{result.read_text(encoding='utf-8').rstrip()}\n```")
        plots = [plot for plot in sorted(RESULTS.glob(f"{result.stem}.*")) if plot.suffix in (".svg", ".png")]
        parts += [f"![{result.stem}](../benchmarks/results/{plot.name})" for plot in plots]
    return "\n\n".join(parts)


def as_rst(app: object, what: str, name: str, thing: object, options: object, lines: list[str]) -> None:
    """Autodoc's event: our docstrings are text with `code`, and indented code; none of their characters is markup."""
    if re.match("Alias for field number|Create new instance of", lines[0] if lines else ""):  # of named tuples
        lines.clear()
    text = "\n".join(lines)
    parts = re.split(r"(`[^`]+`)", text)
    parts[::2] = [re.sub(r"([*|\\]|(?<=\w)_(?!\w))", r"\\\1", part) for part in parts[::2]]
    parts[1::2] = [f"`{part}`\\ " for part in parts[1::2]]
    text = re.sub(r"\n\n(?= {4})(?!.*>>>)", "\n\n::\n\n", "".join(parts))
    lines[:] = text.split("\n")


def signature(
    app: object, what: str, name: str, thing: object, options: object, arguments: str | None, result: str | None
) -> tuple[str | None, str | None]:
    """Autodoc's event: in unions Python 3.11 spells an alias as the object that stands for it; and the classes of other
    projects hide what ours are made with.
    """
    if what == "class" and arguments and arguments.startswith("(*args"):
        made_with = inspect.signature(
            vars(thing)["__init__"], bound_method=True, type_aliases={name: name for name in TYPES}
        )
        arguments = inspect.stringify_signature(made_with, show_return_annotation=False, unqualified_typehints=True)

    def plain(text: str | None) -> str | None:
        return text and re.sub(r"TypeAliasForwardRef\('(\w+)'\)", r"\1", text)

    return plain(arguments), plain(result)


MAKERS = {
    maker.__name__: maker
    for maker in (benchmarks, contributing, game, games, introduction, members, module, readme, training)
}
