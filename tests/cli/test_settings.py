"""Commands take their parameters from the settings' declarations: a new field is written in one place."""

from dataclasses import dataclass

import pytest
import typer
from pbm_agents.arena import SequentialTest, Tournament
from pbm_agents.cli.app import loaded
from pbm_agents.cli.settings import with_settings
from pbm_agents.learning.settings import Training
from typer.testing import CliRunner

from pbm_envs.core.options import check_settings, options_of, setting


@pytest.mark.parametrize(
    ("command", "source"), [("train", Training), ("tournament", Tournament), ("sprt", SequentialTest)]
)
def test_every_setting_is_a_parameter_with_its_help(command, source):
    parameters = {each.name: each for each in loaded(command).params}
    for option in options_of(source):
        assert option.help, option.name
        assert option.name in parameters
        if option.name not in ("game", "new", "old"):  # written in another way
            assert parameters[option.name].help.startswith(option.help)


@dataclass(frozen=True)
class Plan:
    steps: int = setting(3, low=1, help="Steps to take.")
    names: tuple[str, ...] = setting(("a",), help="Names.")
    pause: float | None = setting(None, high=5, help="Seconds.")
    fast: bool = setting(False, help="Whether to hurry.")

    def __post_init__(self):
        check_settings(self)


@dataclass(frozen=True)
class LongerPlan(Plan):
    colour: str = setting("red", choices=("red", "blue"), help="The colour.")


@pytest.mark.parametrize(
    ("words", "plan"),
    [
        ("here", LongerPlan()),
        ("here --steps 4 --names b --names c", LongerPlan(steps=4, names=("b", "c"))),
        ("here --pause 2.5 --fast --colour blue", LongerPlan(pause=2.5, fast=True, colour="blue")),
    ],
)
def test_a_new_field_is_a_new_flag(words, plan):
    made = []

    @with_settings(LongerPlan)
    def walk(place: str, settings: dict) -> None:
        assert place == "here"
        made.append(LongerPlan(**settings))

    app = typer.Typer(rich_markup_mode=None)
    app.command()(walk)
    result = CliRunner().invoke(app, words.split())
    assert result.exit_code == 0, result.output
    assert made == [plan]
    assert "Expects one of red, blue." in " ".join(CliRunner().invoke(app, ["--help"]).output.split())


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({"steps": 0}, "steps is 0: expected an integer from 1 up"),
        ({"names": "a"}, r"names is 'a': expected several values, such as \('a',\)"),
        ({"names": (3,)}, "names is 3: expected a text"),
        ({"colour": "blu"}, "colour is 'blu': expected one of red, blue. Did you mean 'blue'?"),
    ],
)
def test_wrong_settings(settings, complaint):
    with pytest.raises(ValueError, match=complaint):
        LongerPlan(**settings)


def test_a_declaration_is_read_once_however_often_it_is_checked(monkeypatch):
    LongerPlan()
    monkeypatch.setattr("inspect.signature", None)  # it takes as long as a short search
    assert LongerPlan(steps=4).steps == 4
