"""Move texts, board texts and agents' names: whatever is typed is read as what it says, or is one clear ValueError."""

import string
import sys

import numpy as np
import pytest
from hypothesis import strategies as st
from pbm_agents import agent_kinds, make_agent

from pbm_envs import make_game
from pbm_envs.core.checks import quoted
from tests.environments import NAMES, SMALL
from tests.faults.every import every, few_and_many, one_line

SMALL = SMALL | {"chameleon": {"allow_resign": True}, "curio": {}, "trinim": {"num_players": 3}, "unlur": {"radius": 4}}
ODD = "aA1-/. \t\n\0é²\u212ak\u017f\u0663ß\ud800\u2028\U0001d7d9"
"""Cells, blanks, and letters that become others in capitals or small."""


def edited(texts, alphabet):
    """One of `texts` after a few cuts, insertions, exchanges and changes of case; or anything at all."""

    def edit(parts):
        text, edits = parts
        for kind, at, new in edits:
            k = at % (len(text) + 1)
            text = {
                "cut": text[:k] + text[k + 1 :],
                "tail": text[:k],
                "insert": text[:k] + new + text[k:],
                "replace": text[:k] + new + text[k + 1 :],
                "swap": text[k:] + text[:k],
                "double": text + text,
                "upper": text.upper(),
                "lower": text.lower(),
            }[kind]
        return text

    kinds = st.sampled_from(["cut", "tail", "insert", "replace", "swap", "double", "upper", "lower"])
    edits = st.lists(st.tuples(kinds, st.integers(0, 200), st.text(alphabet, max_size=3)), max_size=4)
    return st.tuples(st.sampled_from(texts), edits).map(edit) | st.text(alphabet) | st.text()


@few_and_many(40, 375)
@pytest.mark.parametrize("name", NAMES)
def test_moves(name, examples):
    """A3"""
    game = make_game(name, **SMALL[name])
    canonical = [game.action_to_string(action) for action in range(game.num_actions)]

    def check(text):
        plain = text.strip()
        known = {one.lower(): action for action, one in enumerate(canonical)}
        if name == "trinim":  # T4: either end first
            known |= {"-".join(reversed(one.split("-"))): action for one, action in list(known.items())}
        expected = known.get(plain.lower()) if plain.isascii() else None
        if expected is not None:
            assert game.string_to_action(text) == expected
            return
        with pytest.raises(ValueError, match="expected") as caught:
            game.string_to_action(text)
        one_line(caught.value)
        assert quoted(text) in str(caught.value)

    every(edited(canonical, string.ascii_letters + string.digits + ODD), examples, check)


@few_and_many(40, 375)
@pytest.mark.parametrize("name", NAMES)
def test_boards(name, examples):
    """What is read is written as the same position."""
    game, rng = make_game(name, **SMALL[name]), np.random.default_rng(1)
    starts = [game.board_to_string(state) for state in game.init(4, rng)]

    def check(text):
        try:
            states = game.init(2, np.random.default_rng(2), board=text)
        except ValueError as error:
            one_line(error)
            return
        written = game.board_to_string(states[0])
        assert "".join(written.split()).lower() == "".join(text.split()).lower()
        assert game.board_to_string(game.init(1, rng, board=written)) == written
        for player in range(game.num_players):
            game.observe_with_mask(states, player)
        game.to_text(states[0])
        game.playout(states, rng)

    every(edited(starts, "LDldrgbx.12345/ " + ODD), examples, check)


NUMBERS = ["0", "1", "-1", "2", "1e3", "0.5", "-0.0", "nan", "inf", "-inf", "1e999", "1_0", "٣", "0x1", "9" * 5000]
NUMBERS += ["true", "False", "none", "", " 7 ", "1.5e-3", "1e400", "--1", "1,5"]


def names():
    """Names with good and bad options, and modules of one's own that are none."""
    options = sorted({setting.name for kind in agent_kinds().values() for setting in kind.settings})
    value = st.sampled_from(NUMBERS) | st.integers().map(str) | st.floats().map(str) | st.text(max_size=3)
    option = st.tuples(st.sampled_from([*options, "", "evaluator", "__init__", "self"]), value).map("=".join)
    kind = st.sampled_from([*agent_kinds(), "MCTS", " mcts", "", "person"])
    built = st.tuples(kind, st.lists(option, max_size=4).map(",".join)).map(":".join)
    dotted = st.text("ab._:0 \0é/\\\ud800", max_size=8)
    modules = st.tuples(st.sampled_from(["numpy", "json", "tests.faults.faulty", "a.b", ".", ".."]), dotted).map(
        ":".join
    )
    own = st.sampled_from(
        [f"tests.faults.faulty:{thing}" for thing in ("Exits", "Raises", "Needs", "Agent.act", "five")]
    )
    return (
        built
        | modules
        | own
        | edited(["mcts:simulations=5", "pimc:worlds=2,simulations=9", "random"], string.printable)
    )


@few_and_many(100, 625)
def test_names_of_agents(examples):
    """An agent, or one line; no program ends."""

    def check(name):
        try:
            agent = make_agent(name)
        except (ValueError, ImportError) as error:  # a network, where there is no PyTorch
            one_line(error)
        else:
            assert callable(agent.act)

    every(names(), examples, check)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("tests.faults.faulty:Exits", "SystemExit: 3"),
        ("tests.faults.faulty:Raises", "ZeroDivisionError: nothing to divide by"),
        ("tests.faults.faulty:Needs", "TypeError: .*missing 1 required positional argument"),
        ("tests.faults.unfinished:Agent", "SyntaxError: .*unfinished.py, line 1"),
        ("tests.faults.nowhere:Agent", "ModuleNotFoundError: No module named 'tests.faults.nowhere'"),
    ],
)
def test_what_is_wrong_with_agents_of_ones_own_is_said(name, reason, monkeypatch, tmp_path):
    if "unfinished" in name:
        (tmp_path / "unfinished.py").write_text("class Agent(\n")
        monkeypatch.syspath_prepend(str(tmp_path))
        name = "unfinished:Agent"
    with pytest.raises(ValueError, match=reason) as caught:
        make_agent(name)
    one_line(caught.value)
    assert caught.value.__cause__ is not None
    sys.modules.pop("unfinished", None)
