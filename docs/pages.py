"""Parts of the site that are made from the package: docstrings, rules, README and the results of the benchmarks.

A line `<!-- pages: game curio -->` in a page is replaced by what `game("curio")` returns; `|` separates arguments.
"""

import ast
import importlib
import importlib.util
import inspect as inspect_module
import re
import textwrap
from itertools import pairwise
from pathlib import Path
from types import ModuleType

import numpy as np
from figures import RESULTS, table
from moving import GAMES, film, record, screen
from pbm_agents.arena import ladders as every_ladder
from pbm_agents.cli.app import SUMMARIES, app
from pbm_agents.data import GRADES
from pbm_agents.data.rows import columns_of
from pictures import POSITIONS
from sphinx.ext.autodoc.mock import mock
from sphinx.util import inspect
from typer.testing import CliRunner

from pbm_envs import Game, make_game, registered_games
from pbm_envs.core.hooks import GameHooks
from pbm_envs.core.types import States
from pbm_envs.render import THEMES

ROOT = Path(__file__).parent.parent
DRAWN = Path(__file__).parent / "_build" / "drawn"

TYPES = (
    *("ActionPriors", "Actions", "Array", "ArrayLike", "Bools", "Floats", "Frame", "Heat", "Ints", "Mask"),
    *("Observation", "Planes", "Policy", "PriorsAndValues", "Record", "Rng", "Seed", "Seeds", "Shape", "States"),
    *("Step", "Views"),
)
"""Type aliases that signatures show by name."""
ABSENT = ("torch", "stable_baselines3", "ray")
"""Libraries that need not be installed to build the pages of the modules that use them."""


def fill_in(app: object, document: str, source: list[str]) -> None:
    """Replace the lines `<!-- pages: ... -->` of a page (Sphinx's event `source-read`)."""
    source[0] = re.sub(
        r"^<!-- pages: (\w+) ?(.*) -->$",
        lambda line: MAKERS[line[1]](*filter(None, re.split(r"\s*\|\s*", line[2]))),
        source[0],
        flags=re.MULTILINE,
    )


def game(name: str) -> str:
    """Return the page of a game: its environment's docstring, pictures, the table of planes, the rules."""
    first, page = importlib.import_module(f"pbm_envs.{name}_v0").__doc__.split("\n", 1)
    title, _, claim = first.partition(": ")
    page = page.replace(f"`{name}/rules.md`", "[below](#the-rules-in-full)")
    before, history, after = page.partition("## Version history")
    rules = (Path(importlib.import_module(f"pbm_envs.games.{name}").__file__).parent / "rules.md").read_text(
        encoding="utf-8"
    )
    rules = re.sub(r"^#(.*)$", r"##\1", rules.split("\n", 1)[1], flags=re.MULTILINE)
    return "\n\n".join(
        [
            f"# {title}\n\n{claim[0].upper()}{claim[1:]}",
            draw(make_game(name)),
            before.strip(),
            f"## A game\n\n{moving(name)}",
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
    """Draw a position of the game, once for each player if information is hidden; return Markdown with the pictures."""
    states = _position(rules)
    parts = []
    for player in [0] if rules.perfect_information else range(rules.num_players):
        view = rules.view(states, player)
        whose = "" if rules.perfect_information else f"What {rules.role(view[0], player)}, player_{player}, sees."
        for theme in THEMES:
            path = _drawn(f"{rules.name}-{player}-{theme}.svg")
            rules.show(view, theme=theme, size=360).save(path)
            parts.append(_figure(path, f"A position of {type(rules).__name__}. {whose}", whose, f"only-{theme} board"))
    return "\n".join(["::::{container} boards", *parts, "::::"])


def _position(rules: Game) -> States:
    """Return the position of a game that the site shows."""
    board, moves, _ = POSITIONS[rules.name]
    states = rules.init(1, np.random.default_rng(0), board)
    for move in moves.split():
        rules.step(states, [rules.string_to_action(move)])
    return states


def _drawn(name: str) -> Path:
    """Return the path of a file that is made when the site is built."""
    DRAWN.mkdir(parents=True, exist_ok=True)
    return DRAWN / name


def _figure(path: Path, alt: str, caption: str, classes: str) -> str:
    """Return a picture with a caption, in Markdown."""
    return f":::{{figure}} /_build/drawn/{path.name}\n:alt: {alt.strip()}\n:figclass: {classes}\n\n{caption}\n:::"


def moving(name: str) -> str:
    """Draw a game as a film; return Markdown with it."""
    game = record(name)
    agents = " against ".join(f"`{agent}`" for agent in game.agents)
    told = f"{game.plies} plies, {agents}, from the tournament of the ladder `{GAMES[name]}`."
    return "\n".join(
        _figure(path, f"A game of {name.capitalize()}, move by move", told, f"only-{theme} board film")
        for path, theme in zip(film(name, _drawn("x").parent), THEMES, strict=True)
    )


def terminal(words: str, *typed: str) -> str:
    """Draw what a command shows in a terminal; return Markdown with it."""
    path = _drawn(f"terminal-{words.split()[1]}.svg")
    screen(words, "".join(f"{line}\n" for line in typed), path)
    return _figure(path, f"pbm {words} in a terminal", "", "screen")


def boards() -> str:
    """Return the four boards as links, each with the sentence that README has for it."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    sentences = dict(re.findall(r"^\| \*\*(\w+)\*\* \| (.*?) \|", readme, flags=re.MULTILINE))
    parts = []
    for name in registered_games():
        rules = make_game(name)
        view = rules.view(_position(rules), POSITIONS[name][2])
        title, lines = type(rules).__name__, []
        for theme in THEMES:
            path = _drawn(f"front-{name}-{theme}.svg")
            rules.show(view, theme=theme, size=260, legend=False, coordinates=False, transparent=True).save(path)
            lines.append(f"[![{title}](/_build/drawn/{path.name}){{.only-{theme}}}](games/{name}.md)")
        sentence = sentences[title]
        text = f"**[{title}](games/{name}.md)**: {sentence}."
        parts.append("\n".join([":::{container} game", *lines, "", text, ":::"]))
    return "\n".join(["::::{container} front", *parts, "::::"])


def readme(heading: str) -> str:
    """Return a section of README, without its heading, with links to pages of the site."""
    text = (ROOT / "README.md").read_text(encoding="utf-8").partition(f"## {heading}\n")[2].partition("\n## ")[0]
    text = text.replace("](docs/", "](")
    text = re.sub(r"\]\(src/pbm_envs/games/(\w+)/rules\.md\)", r"](games/\1.md#the-rules-in-full)", text)
    return text.strip()


def commands() -> str:
    """Return the help of every command of `pbm`."""
    parts = []
    for name in SUMMARIES:
        shown = CliRunner(env={"TERMINAL_WIDTH": "100"}).invoke(app, [name, "--help"], prog_name="pbm")
        parts.append(f"## `pbm {name}`\n\n{SUMMARIES[name]}\n\n```text\n{shown.stdout.strip()}\n```")
    return "\n\n".join(parts)


def games() -> str:
    """Return a table with a row for each game."""
    rows = []
    for name in registered_games():
        rules = make_game(name)
        rows.append(
            f"| [{type(rules).__name__}](games/{name}.md) | {rules.num_players} | "
            f"{'perfect' if rules.perfect_information else 'hidden'} | {rules.num_actions} | "
            f"{', '.join(map(str, rules.observation_shape))} | {rules.max_plies:,} |"
        )
    head = "| game, by default | players | information | actions | observation | longest game, in plies |"
    return "\n".join([head, "|---|---|---|---|---|---|", *rows])


def module(name: str, *names: str) -> str:
    """Return a module's docstring and entries for its members: those named, or all of `__all__`."""
    found = imported(name)
    page = fenced(found.__doc__.strip())
    return f"## `{name}`\n\n{page}\n\n{members(name, *(names or vars(found).get('__all__', ())))}"


def docstring(name: str) -> str:
    """Return a module's docstring, for a module whose members are described elsewhere."""
    return f"## `{name}`\n\n{fenced(imported(name).__doc__.strip())}"


def members(name: str, *names: str) -> str:
    """Return entries for autodoc."""
    found, entries = imported(name), []
    for member in names:
        thing = getattr(found, member)
        kind = "class" if isinstance(thing, type) else "function" if callable(thing) else "data"
        if kind == "data":
            entries.append(_value(name, member, thing))
            continue
        inherits = kind == "class" and issubclass(thing, Game) and thing is not Game
        options = "\n   :members:\n   :special-members: __call__" if kind == "class" and not inherits else ""
        if thing is Game:
            options += "\n   :inherited-members: GameHooks"  # what authors of games write has an entry of its own
            options += f"\n   :exclude-members: {', '.join(vars(GameHooks)['__annotations__'])}"
        entries.append(f".. auto{kind}:: {name}.{member}{options}\n")
    return "\n".join(["```{eval-rst}", *entries, "```"])


def _value(module: str, name: str, value: object) -> str:
    """Return the entry of a constant: its value, and the text below it where it is defined."""
    text = constant_text(module, name) or "A constant."
    told = "\n".join(f"   {line}" for line in re.sub(r"`([^`]+)`", r"``\1``", text).splitlines())
    shown = repr(value)
    given = f"   :value: {shown}\n" if len(shown) < LONGEST_VALUE and " at 0x" not in shown else ""
    return f".. py:data:: {module}.{name}\n{given}\n{told}\n"


def constant_text(module: str, name: str) -> str:
    """Return the string below the definition of a constant, in the module itself or where it imports it from."""
    tree = ast.parse(Path(importlib.import_module(module).__file__).read_text(encoding="utf-8"))
    for node, after in pairwise([*tree.body, ast.Pass()]):
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        defined = {target.id for each in targets if each for target in ast.walk(each) if isinstance(target, ast.Name)}
        if name in defined and isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
            return inspect_module.cleandoc(str(after.value.value))
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and name in {alias.asname or alias.name for alias in node.names}:
            package = (
                module
                if Path(importlib.import_module(module).__file__).stem == "__init__"
                else module.rpartition(".")[0]
            )
            source = importlib.util.resolve_name("." * node.level + (node.module or ""), package)
            return constant_text(source, name)
    return ""


def imported(name: str) -> ModuleType:
    with mock(list(ABSENT)):
        return importlib.import_module(name)


def fenced(text: str) -> str:
    """Return `text` with its indented code, as docstrings have it, as fenced code."""

    def fence(block: re.Match[str]) -> str:
        code = textwrap.dedent(block[0]).strip()
        try:
            ast.parse(code)
            kind = "python"
        except SyntaxError:
            kind = "text"
        return f"```{kind}\n{code}\n```\n"

    return re.sub(r"(?:(?<=\n\n)) {4}.*\n(?:(?: {4}.*)?\n)*(?: {4}.*\Z)?", fence, text + "\n").strip()


def introduction() -> str:
    """Return the title and the first paragraph of README."""
    return (ROOT / "README.md").read_text(encoding="utf-8").partition("\n<picture>")[0]


def training() -> str:
    """Return the page of the programs that train with RL libraries."""
    return without_links((ROOT / "notebooks" / "training" / "README.md").read_text(encoding="utf-8"))


def without_links(text: str) -> str:
    """Return `text` with links as plain text and without pictures: the site does not have those files."""
    return re.sub(r"!?\[([^\]]+)\]\([^)]+\)", lambda link: "" if link[0][0] == "!" else link[1], text)


def contributing(heading: str) -> str:
    """Return the section of CONTRIBUTING below a heading."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    return without_links(text.partition(f"## {heading}\n")[2].partition("\n## ")[0].strip())


def benchmarks() -> str:
    """Return for each benchmark its script's docstring, what it printed, and its plots."""
    parts = []
    for result in sorted(RESULTS.glob("*.txt")):
        script = ROOT / "benchmarks" / f"{result.stem}.py"
        question = ast.get_docstring(ast.parse(script.read_text(encoding="utf-8"))) or ""
        parts.append(f"## {result.stem}\n\n{fenced(question)}")
        parts.append(f"```text\n{result.read_text(encoding='utf-8').rstrip()}\n```")
        plots = sorted((ROOT / "docs" / "pictures").glob(f"{result.stem}.*"))
        parts += [f"![{result.stem}](pictures/{plot.name})" for plot in plots]
    return "\n\n".join(parts)


LONGEST_VALUE = 100
"""Longer values of constants are not shown."""
SECTIONS = "Args|Attributes|Example|Raises|Returns|Yields"


def as_rst(app: object, what: str, name: str, thing: object, options: object, lines: list[str]) -> None:
    """Convert a docstring to reStructuredText (an event of autodoc).

    Docstrings are plain text with `code` in backticks, indented code and Google's sections; no character is markup.
    """
    if re.match("Alias for field number|Create new instance of", lines[0] if lines else ""):  # of named tuples
        lines.clear()
    text = "\n".join(lines)
    parts = re.split(r"(`[^`]+`)", text)
    parts[::2] = [re.sub(r"([|\\]|\*(?! )|(?<=\w)_(?!\w))", r"\\\1", part) for part in parts[::2]]
    parts[1::2] = [f"`{part}`\\ " for part in parts[1::2]]
    text = re.sub(r"\n\n(?= {4})(?!.*>>>)", "\n\n::\n\n", "".join(parts))
    text = re.sub(rf"^({SECTIONS}):\n((?: +.*\n?)+)", _section, text + "\n", flags=re.MULTILINE)
    lines[:] = text.split("\n")


def _section(match: re.Match[str]) -> str:
    """Convert a section of Google's style: a heading, and a list of what it names or a paragraph."""
    body = textwrap.dedent(match[2])
    if match[1] not in ("Args", "Raises", "Attributes"):
        return f"\n**{match[1]}**\n\n{body}\n"
    entries = re.split(r"\n(?=\S)", body.strip("\n"))
    rows = [" ".join(line.strip() for line in entry.split("\n")) for entry in entries]
    return f"\n**{match[1]}**\n\n" + "\n".join(f"* {row}" for row in rows) + "\n\n"


def signature(
    app: object, what: str, name: str, thing: object, options: object, arguments: str | None, result: str | None
) -> tuple[str | None, str | None]:
    """Correct a signature (an event of autodoc).

    Python 3.11 spells type aliases in unions as internal objects, and base classes of other projects hide the
    arguments of our `__init__`.
    """
    if what == "class" and arguments and arguments.startswith("(*args"):
        made_with = inspect.signature(
            vars(thing)["__init__"], bound_method=True, type_aliases={name: name for name in TYPES}
        )
        arguments = inspect.stringify_signature(made_with, show_return_annotation=False, unqualified_typehints=True)

    def plain(text: str | None) -> str | None:
        return text and re.sub(r"TypeAliasForwardRef\('(\w+)'\)", r"\1", text)

    return plain(arguments), plain(result)


def columns() -> str:
    """The columns of data sets as a table."""
    rows = [
        f"| `{column.name}` | {column.kind}{', may be empty' * column.nullable} | {column.shape} | {column.meaning} |"
        for column in columns_of(full_states=True)
    ]
    return "\n".join(["| column | type | shape | meaning |", "|---|---|---|---|", *rows])


def grades() -> str:
    """The grades of data sets, and who plays in each."""
    rows = [f"| {grade} | {', '.join(f'`{name}`' for name in names)} |" for grade, names in GRADES.items()]
    return "\n".join(["| grade | agents |", "|---|---|", *rows])


def ladders() -> str:
    """The rungs of every frozen ladder, and what its tournament says about one scale."""
    parts = []
    for ladder in every_ladder().values():
        rows = [
            f"| {rung.name} | {rung.elo:,.0f} | {rung.low:,.0f} to {rung.high:,.0f} | {rung.games:,} |"
            for rung in reversed(ladder.rungs)
        ]
        pairs, circles = ladder.tournament["pairs"], ladder.tournament["circles"]
        worst = max(pairs, key=lambda pair: abs(pair[-1]))
        said = (
            f"{ladder.tournament['games']:,} games of `{ladder.game!r}`. Cycles: {len(circles) or 'none'}. The pair "
            f"farthest from its ratings: {worst[0]} scored {worst[3]:.1%} against {worst[1]} in {worst[2]} games, "
            f"{worst[4]:.1%} were expected ({worst[5]:+.1f} standard errors)."
        )
        table = ["| opponent | Elo | 95% interval | games |", "|---|---:|---:|---:|", *rows]
        parts.append("\n".join([f"### {ladder.id}\n", said, "", *table]))
    return "\n\n".join(parts)


MAKERS = {
    maker.__name__: maker
    for maker in (
        benchmarks,
        boards,
        columns,
        commands,
        contributing,
        docstring,
        game,
        games,
        grades,
        introduction,
        ladders,
        members,
        module,
        moving,
        readme,
        table,
        terminal,
        training,
    )
}
