"""`pbm games`, `pbm bench`, help and errors."""

import random
import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest
from pbm_agents.cli.app import SUMMARIES, loaded

import pbm_envs
from pbm_envs import Curio, make_game, registered_games, registry
from pbm_envs.core import checks
from pbm_envs.core.checks import install_command
from pbm_envs.core.options import Option, choices_given, options_of
from pbm_envs.registry import parse_game
from tests.commands import pbm


@pytest.mark.parametrize("name", registered_games())
def test_every_option_is_listed_with_its_default_and_what_is_allowed(name):
    code, out, _ = pbm(f"games {name}")
    assert code == 0
    rows = {line.split()[0]: line.split() for line in out.splitlines() if "  " in line}
    for option in options_of(registered_games()[name]):
        assert rows[option.name][1] == str(option.default).lower()
        assert len(rows[option.name]) > 3


def test_ranges_are_those_of_the_class():
    _, out, _ = pbm("games curio")
    rows = {line.split()[0]: line.split(maxsplit=2)[2] for line in out.splitlines() if "  " in line}
    assert rows["base"].startswith("an integer from 2 to 4  "), "what fits the usual board"
    assert rows["num_pieces"].startswith("10, or none  ")
    assert rows["no_capture_limit"].startswith("an integer from 1 to 1000000, or none  ")
    assert rows["face"].startswith("one of large, small, random  ")
    assert rows["turn"].startswith("true or false  ")


def test_values_that_go_with_others_are_listed():
    _, out, _ = pbm("games curio -o rows=18 -o cols=3")
    rows = {line.split()[0]: line.split(maxsplit=2)[1:] for line in out.splitlines() if "  " in line}
    assert rows["rows"][0] == "18"
    assert rows["base"][1].startswith("an integer from 2 to 6  ")
    assert "The values of base, rows, num_pieces depend on each other" in out
    assert "depend on" not in pbm("games trinim")[1]


def test_options_that_do_not_go_together_are_refused():
    assert "two armies of 45 pieces need 18 rows" in pbm("games curio -o base=9")[2]
    assert "options are given without a game" in pbm("games -o base=3")[2]


def test_a_game_with_a_free_text_option_is_listed(monkeypatch):
    """Its options are those of its `__init__`, without a declaration."""

    class Labelled(type(make_game("unlur")).__base__):
        """A game with a label."""

        name = "labelled"

        def __init__(self, *, label: str = "none yet", limit: int | None = None) -> None:
            raise NotImplementedError

        _init = _board_to_string = _step = _legal_action_mask = _observe = None

    monkeypatch.setitem(registry._registered, "labelled", Labelled)
    code, out, _ = pbm("games labelled")
    assert code == 0
    rows = [re.split(r" {2,}", line) for line in out.splitlines()[2:]]
    assert ["label", "none yet", "a text"] in rows
    assert ["limit", "none", "an integer, or none"] in rows


@pytest.mark.parametrize(
    ("option", "text", "value"),
    [
        (Option("a", bool, True), "off", False),
        (Option("a", int, 1, low=0), "7", 7),
        (Option("a", int, None), "none", None),
        (Option("a", float, 1.0, optional=True), "2.5", 2.5),
        (Option("a", str, ""), "7", "7"),
        (Option("a", int, 2, choices=(2, 3)), "3", 3),
        (Option("a", int, (), many=True), "3", 3),
        (Option("a"), "1.5", 1.5),
    ],
)
def test_values_as_typed(option, text, value):
    assert option.parse(text) == value


@pytest.mark.parametrize(
    ("option", "value", "expected"),
    [
        (Option("a", bool, True), 1, "True or False"),
        (Option("a", int, 1, low=0), -1, "an integer from 0 up"),
        (Option("a", int, None, low=0, high=2), 3, "an integer from 0 to 2, or None"),
        (Option("a", int, 2, choices=(2, 3)), 4, "one of 2, 3"),
        (Option("a", int, 2, choices=(1, 2)), True, "one of 1, 2"),
        (Option("a", float, 1.0), float("nan"), "a finite number"),
        (Option("a", float, 1.0, low=0, high=1), 1.5, "a number from 0 to 1"),
        (Option("a", str, "b", choices=("bee", "cow")), "be", "one of bee, cow. Did you mean 'bee'?"),
        (Option("a", str, "b"), None, "a text"),
        (Option("a", str, (), many=True), "b", "several values, such as ('b',)"),
    ],
)
def test_values_that_are_refused(option, value, expected):
    with pytest.raises(ValueError, match=re.escape(f"a is {value!r}: expected {expected}") + "$"):
        option.check(value)


@pytest.mark.parametrize("name", registered_games())
def test_every_choice_that_is_offered_is_accepted(name):
    """Beside the others of each configuration, and beside what was chosen before; what is not offered is refused."""
    kind, rng = registered_games()[name], random.Random(7)
    for options in kind.configurations:
        for _ in range(3):
            offered = choices_given(kind, options)
            for option in options_of(kind):
                for value in option.all_values:
                    changed = {**options, option.name: value}
                    if value in offered[option.name]:
                        assert kind.check_options(changed)
                    else:
                        with pytest.raises(ValueError, match=r"expected|need"):
                            kind(**changed)
            chosen = rng.choice(list(offered))
            options = {**options, chosen: rng.choice(offered[chosen])}


def test_options_as_typed():
    options = ["base=3", "no-capture-limit=None", "limit = off", "capture=any", "rows=6"]
    assert parse_game("curio", options) == Curio(base=3, no_capture_limit=None, limit=False, capture="any", rows=6)
    assert parse_game(f"curio:base=4,{','.join(options[1:])}", options[:1]) == parse_game("curio", options)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("games chess", "'chess' is not a game of pbm_envs: expected one of chameleon, curio, trinim, unlur"),
        ("play chess", "'chess' is not a game of pbm_envs"),
        ("play chameleon -o sise=7", "'sise=7' is not an option of chameleon: expected NAME=VALUE, NAME one of size"),
        ("play chameleon -o size", "option 'size' of chameleon has no value: expected size=VALUE, an integer from 3"),
        ("games curio -o base", "option 'base' of curio has no value: expected base=VALUE, "),
        ("play chameleon -o size=2", "size is 2: expected an integer from 3 to 26"),
        ("play chameleon -o size=big", "size is 'big': expected an integer from 3 to 26"),
        ("play chameleon alphazero", "'alphazero' is not an agent: expected random, mcts"),
        ("play chameleon --hint sage", "'sage' is not an agent: expected random, mcts"),
        ("play chameleon random random random", "3 players are given: expected at most 2 in Chameleon("),
        ("play chameleon --board x", "board is 'x': expected the empty board"),
        ("play chameleon --moves z9z", "'z9z' is not a move of Chameleon: expected a cell"),
        ("play chameleon --save nowhere/games.jsonl", "'nowhere/games.jsonl' cannot be written: expected a file"),
        ("exploit random -g trinim:num_players=3", "has 3 players: expected two"),
        (
            f"replay {__file__} --write nowhere/a.jsonl",
            "'nowhere/a.jsonl' cannot be written: expected a file in a folder",
        ),
        (f"rate {__file__} --out {__file__}/a", "/a' cannot be written: expected a folder, with permission to write"),
        ("curio-bench random --results nowhere/a", "'nowhere/a' cannot be written: expected a file in a folder"),
        ("bench -o size=7", "options are given without a game: expected 'pbm bench GAME -o NAME=VALUE'"),
        ("bench chess", "'chess' is not a game of pbm_envs"),
        ("games curio-ladder-99", "Did you mean 'curio-ladder-"),
        ("--import nowhere games", "--import nowhere: No module named 'nowhere'"),
        ("ladder random", "neither --game nor --ladder is given: expected one of the two"),
        (
            "dataset trinim --grade random -a greedy --out x",
            "--grade and --agent are both given: expected one of the two",
        ),
        ("dataset trinim -a random --out x --label random", "label is 'random': expected an agent that searches, such"),
        ("rate nowhere", "'nowhere' is not there: expected a file of records, or the folder of a tournament"),
        ("play trinim llm:model=m,url=nowhere", "url is 'nowhere': expected an address such as 'http://"),
    ],
)
def test_errors_are_one_line(words, message):
    code, out, err = pbm(words)
    assert (code, out) == (2, "")
    assert err.startswith("pbm: ")
    assert message in err
    assert len(err.splitlines()) == 1


def test_the_version():
    assert pbm("--version") == (0, f"pbm-envs {version('pbm-envs')}\n", "")


def test_a_wrong_command_suggests_the_nearest():
    assert "Did you mean 'tournament'?" in pbm("turnament")[2]


@pytest.mark.parametrize(
    ("words", "module", "extra"),
    [
        ("dataset chameleon:size=3 -a random --games 2 --out {out}", "pyarrow", "data"),
        ("dataset chameleon:size=3 -a random --out {out} --to minari --minari-id pbm/x-v0", "PIL", "data"),
        ("export nowhere --out {out}", "pyarrow", "data"),
        ("rate nowhere --out {out}", "matplotlib", "plot"),
        ("serve --no-open", "h11", "serve"),
        ("train trinim --out {out}", "torch", "torch"),
        ("exploit random --method learned", "torch", "torch"),
        ("animate nowhere {folder}/game.gif", "matplotlib", "render"),
        ("animate nowhere {folder}/game.mp4", "imageio_ffmpeg", "video"),
    ],
)
def test_a_missing_extra_is_named_before_any_work(words, module, extra, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)
    code, out, err = pbm(words.format(out=tmp_path / "out", folder=tmp_path))
    assert (code, out) == (2, "")
    assert f"needs {module}, of the extra `{extra}`: {install_command(extra)}\n" in err
    assert not (tmp_path / "out").exists()


def test_the_command_for_an_extra_where_the_package_is_installed(monkeypatch, tmp_path):
    assert install_command("data") in ("pip install -e '.[data]'", f"pip install -e '{checks.ROOT}[data]'")
    monkeypatch.setattr(checks, "ROOT", tmp_path)
    assert install_command("data") == "pip install 'pbm-envs[data]'"


@pytest.mark.parametrize("words", ["nonsense", "games --nonsense", "play", "play chameleon --seed x"])
def test_what_cannot_be_parsed_shows_the_usage(words):
    code, out, err = pbm(words)
    assert (code, out) == (2, "")
    assert err.startswith("Usage: ")
    assert "Error: " in err


def test_a_warning_is_one_line():
    """T7"""
    code, _, err = pbm("bench trinim -o size=3 --seconds 0")
    assert code == 0
    assert err.startswith("pbm: every two-player game of Trinim of size 3 is a draw")
    assert len(err.splitlines()) == 1


def test_bench_prints_a_row_for_a_game():
    code, out, _ = pbm("bench unlur -o radius=3 --seconds 0")
    assert code == 0
    head, row = out.splitlines()[-2:]
    assert head.split() == ["games/s", "plies/s", "env", "steps/s", "simulations/s"]
    assert row.split()[0] == "unlur"
    assert all(float(figure.replace(",", "")) > 0 for figure in row.split()[1:])


@pytest.mark.parametrize("name", SUMMARIES)
def test_every_command_has_help_with_examples(name):
    assert loaded(name).help.partition("\n\n")[0].replace("\n", " ") == SUMMARIES[name]
    _, out, _ = pbm(f"{name} --help")
    _, examples = out.split("Examples:")
    assert f"pbm {name}" in examples
    assert f"  {name} " in pbm("--help")[1]
    assert "..." not in next(line for line in pbm("--help")[1].splitlines() if line.startswith(f"  {name} "))


@pytest.mark.slow
def test_a_script_compares_two_checkouts():
    """This one with itself."""
    root = Path(pbm_envs.__file__).parents[2]
    command = [sys.executable, "benchmarks/checkouts.py", str(root), "--only", "Trinim 5, plies", "--rounds", "3"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    rows = [line.split() for line in done.stdout.splitlines() if line.startswith("Trinim 5")]
    assert [row[3] for row in rows] == ["1024", "one"]
    assert all(float(figure.replace(",", "")) > 0 for row in rows for figure in row[5:8])


def test_a_script_refuses_what_is_no_checkout():
    root = Path(pbm_envs.__file__).parents[2]
    command = [sys.executable, "benchmarks/checkouts.py", "no-such-revision"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "neither a checkout of pbm_envs nor one of its git" in done.stderr


@pytest.mark.parametrize(
    ("words", "message"), [("chess", "'chess'"), ("chameleon:size=1", "size is 1"), ("chameleon:sise=3", "sise")]
)
def test_warm_up_of_no_game(words, message):
    code, out, err = pbm(f"warm-up {words}")
    assert code == 2
    assert message in err
    assert not out
