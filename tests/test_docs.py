"""What the documentation says is so: README's code runs, the environments' pages name every option and plane."""

import importlib
import inspect
import re
from pathlib import Path

import pytest

from pbm_envs import GAMES, make_game

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", README, re.DOTALL)


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.splitlines()[0])
def test_readme_code_runs(block, capsys):
    exec(compile(block, "README.md", "exec"), {})
    capsys.readouterr()


def test_readme_links_lead_somewhere():
    for target in re.findall(r"\]\(([^)#]+)\)", README):
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
