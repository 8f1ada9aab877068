"""Agents of every kind: registered names and their settings, what a web page may name, and one set of things that every
entry accepts.
"""

import sys
import types
from importlib.metadata import EntryPoint
from typing import Annotated, Literal

import numpy as np
import pytest
from pbm_agents import (
    PolicyAgent,
    RandomAgent,
    Search,
    SearchAgent,
    agent_kinds,
    as_agent,
    evaluate,
    make_agent,
    register_agent,
)
from pbm_agents.arena import Tournament, play_tournament
from pbm_agents.players import kinds
from pbm_agents.players.kinds import AgentKind
from pbm_agents.players.names import may_be_named_on_the_web

from pbm_envs import Chameleon, chameleon_v0
from pbm_envs.core.options import REQUIRED, Option, options_of

GAME = Chameleon(size=3)


def first_legal(observations, masks):
    return masks.argmax(axis=1)


def act_first(game, views, rng):
    return game.legal_action_mask(views).argmax(axis=1)


class Steady:
    """Plays the legal action nearest to a number."""

    def __init__(
        self,
        number: Annotated[int, Option(low=0, help="The action that it likes best.")] = 0,
        *,
        mirror: bool = False,
        scale: float = 1.0,
        file: "Annotated[str | None, Option(help='A file that names something.')]" = None,
    ) -> None:
        self.settings = (number, mirror, scale, file)
        self.number = number

    def act(self, game, views, rng):
        masks = game.legal_action_mask(views)
        return np.where(masks, abs(np.arange(game.num_actions) - self.number), 999).argmin(axis=1)


def test_ours_are_described():
    """Every setting of every kind has a type, a default and help."""
    for name, kind in agent_kinds().items():
        assert kind.name == name
        assert kind.help
        for setting in kind.settings:
            assert setting.type in (bool, int, float, str), (name, setting)
            assert setting.help, (name, setting.name)
            assert setting.default is not REQUIRED
    settings = {setting.name: setting for setting in agent_kinds()["mcts"].settings}
    assert settings["simulations"].type is int
    assert settings["seconds"].type is settings["c"].type is float
    assert (settings["solver"].type, settings["solver"].default) == (bool, True)
    assert settings["network"].type is str
    assert "evaluator" not in settings


def test_settings_are_read_from_the_signature():
    assert options_of(Steady) == (
        Option("number", int, 0, low=0, help="The action that it likes best."),
        Option("mirror", bool, False),
        Option("scale", float, 1.0),
        Option("file", str, None, help="A file that names something.", optional=True),
    )

    def plain(needed, mode: Literal["a", "b"] = "a", guessed=3, either: "int | float | None" = None, odd: list = ()):
        """Nothing."""

    assert [(s.type, s.default) for s in options_of(plain)] == [
        (object, REQUIRED), (str, "a"), (int, 3), (float, None), (list, ()),
    ]  # fmt: skip
    assert options_of(plain)[1].choices == ("a", "b")


def test_a_registered_kind_works_everywhere():
    kind = register_agent("steady", Steady, web_settings=("number",))
    assert kind == agent_kinds()["steady"]
    assert kind.help == "Plays the legal action nearest to a number."
    assert make_agent("steady:number=4,mirror=true,scale=2,file=a=b:c").settings == (4, True, 2, "a=b:c")
    assert set(evaluate("steady", GAME, ["steady:number=3"], games=2)) == {"steady:number=3"}
    env = chameleon_v0.vector_env(2, size=3, opponent="steady")
    env.reset(seed=1)
    with pytest.raises(
        ValueError, match=r"'colour=1' is not an option of steady: expected NAME=VALUE, NAME one of number, mirror"
    ):
        make_agent("steady:colour=1")


def test_a_setting_without_a_default_has_to_be_given():
    def needy(depth: int) -> Steady:
        return Steady(number=depth)

    register_agent("needy", needy)
    assert make_agent("needy:depth=3").number == 3
    with pytest.raises(ValueError, match="'needy' has no depth: expected needy:depth=VALUE, an integer"):
        make_agent("needy")


def test_a_registered_kind_plays_a_tournament(tmp_path):
    register_agent("steady", Steady)
    records = play_tournament(Tournament((GAME,), ("steady:number=2", "random"), openings=2), tmp_path / "results")
    assert len(records) == 4
    assert not [record for record in records if record.forfeits]


@pytest.mark.parametrize(
    ("name", "make", "settings", "complaint"),
    [
        ("mcts", Steady, {}, "there is an agent named 'mcts': expected another.*Steady"),
        ("My Agent", Steady, {}, "'My Agent': expected lower-case letters, digits and hyphens"),
        ("", Steady, {}, "named ''"),
        (None, Steady, {}, "named None"),
        ("steady", "nocolon", {}, "make is .nocolon.: expected a class, a function or its module:attribute"),
        ("steady", Steady, {"web_settings": ("colour",)}, "web_settings name 'colour': expected settings of steady"),
    ],
)
def test_what_cannot_be_registered(name, make, settings, complaint):
    with pytest.raises(ValueError, match=complaint):
        register_agent(name, make, **settings)


def test_a_module_that_is_reloaded_registers_again():
    register_agent("steady", Steady)
    again = type("Steady", (Steady,), {"__module__": Steady.__module__, "__qualname__": Steady.__qualname__})
    assert register_agent("steady", again).make is again is agent_kinds()["steady"].make


def test_installed_packages_bring_kinds(monkeypatch):
    """By entry points; one that is broken is left out with a warning."""
    module = types.ModuleType("their_package")
    module.Steady, module.kind = Steady, AgentKind("declared", RandomAgent)
    monkeypatch.setitem(sys.modules, "their_package", module)
    points = [
        EntryPoint("theirs", "their_package:Steady", kinds.GROUP),
        EntryPoint("declared", "their_package:kind", kinds.GROUP),
        EntryPoint("broken", "their_package:Nothing", kinds.GROUP),
    ]
    monkeypatch.setattr(kinds, "entry_points", lambda group: points if group == kinds.GROUP else [])
    kinds._load_entry_points.cache_clear()
    with pytest.warns(UserWarning, match=r"the agent 'broken' \(their_package:Nothing\) is left out: AttributeError"):
        known = agent_kinds()
    assert {"theirs", "declared"} <= set(known)
    assert make_agent("theirs:number=5").number == 5
    assert isinstance(make_agent("declared"), RandomAgent)


@pytest.mark.parametrize(
    ("name", "allowed"),
    [
        ("random", True),
        ("mcts", True),
        ("mcts:simulations=100,c=1,temperature=0.5", True),
        ("pimc:worlds=3", True),
        ("greedy:worlds=3", True),
        ("openspiel-mcts:simulations=9", True),
        ("mcts:network=a.pt", False),
        ("mcts: network = a.pt", False),
        ("mcts:simulations=5,memory=100000", True),
        ("mcts:threads=64", True),
        ("mcts:unknown=1", False),
        ("network", False),
        ("network:file=a.pt", False),
        ("os:getcwd", False),
        ("tests.arena.agents:First", False),
        ("steady", False),
        ("webbed:number=1", True),
        ("webbed:number=1,file=x", False),
        ("nothing", False),
        ("", False),
    ],
)
def test_what_a_web_page_may_name(name, allowed):
    """An allowlist: a kind of somebody else's, or a new setting, is not on it unless it is declared.

    How much an agent may ask for is another matter: `Limits`.
    """
    register_agent("steady", Steady)
    register_agent("webbed", Steady.__new__, settings=options_of(Steady), web_settings=("number", "mirror"))
    assert may_be_named_on_the_web(name) is allowed


@pytest.fixture
def mine(monkeypatch):
    module = types.ModuleType("mine")
    module.Steady, module.steady, module.policy, module.act = Steady, Steady(2), first_legal, act_first
    module.search = Search(simulations=5)

    def make(*, simulations: int = 7):
        return Search(simulations=simulations)

    def untyped(file, temperature=0.5, flag=False):
        return Steady(file=(file, temperature, flag))

    module.make, module.untyped = make, untyped
    monkeypatch.setitem(sys.modules, "mine", module)
    return module


def test_ones_own_with_settings(mine):
    assert make_agent("mine:Steady:number=3,mirror=true,file=C:/a.pt").settings == (3, True, 1.0, "C:/a.pt")
    assert make_agent("mine:make:simulations=9").search == Search(simulations=9)
    assert make_agent("mine:make").search == Search(simulations=7)
    assert make_agent("mine:search").search is mine.search
    assert make_agent("mine:untyped:file=a.pt,temperature=0.25,flag=true").settings[3] == ("a.pt", 0.25, True)
    assert make_agent("mine:steady") is mine.steady
    assert isinstance(make_agent("mine:policy"), PolicyAgent)
    views = GAME.init(2, np.random.default_rng(0))
    for name in ("mine:policy", "mine:act"):
        assert make_agent(name).act(GAME, views, np.random.default_rng(0)).tolist() == [0, 0]


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("mine:Steady:colour=3", "'colour=3' is not an option of mine:Steady: expected .* number, mirror"),
        ("mine:Steady:number=x", "number is 'x': expected an integer from 0 up"),
        (
            "mine:Steady:number",
            "cannot be loaded: ValueError: option 'number' of mine:Steady has no value: expected number=VALUE",
        ),
        (
            "mine:make:simulations=0",
            "^'mine:make:simulations=0' cannot be loaded: ValueError: simulations is 0: .* None$",
        ),
        ("mine:steady:number=3", "steady takes no settings: expected a class or a function"),
        ("mine:untyped:temperature=1", "missing 1 required positional argument: 'file'"),
        ("mine:__name__", "'mine' is not an agent"),
    ],
)
def test_wrong_settings_of_ones_own(mine, name, complaint):
    with pytest.raises(ValueError, match=complaint):
        make_agent(name)


def test_opponents_in_a_list_have_names():
    results = evaluate(first_legal, GAME, ["random", first_legal, Steady(), first_legal, "random"], games=2)
    assert list(results) == ["random", "first_legal", "Steady", "first_legal 2", "random 2"]


def test_an_agent_given_twice_is_the_same():
    agent = Steady()
    assert as_agent(agent) is agent
    assert isinstance(as_agent(Search(simulations=3)), SearchAgent)


@pytest.mark.parametrize("wrong", [3, None, Steady, Search, [3], lambda one: one, object()])
def test_what_plays_nothing_is_refused(wrong):
    with pytest.raises(ValueError, match="is not an agent: expected a name, an agent with act"):
        as_agent(wrong)
    with pytest.raises(ValueError, match="is not an agent"):
        evaluate(wrong, GAME)
    if wrong is not None:  # which is to have no opponent
        with pytest.raises(ValueError, match="is not an agent: expected a name, an agent with act"):
            chameleon_v0.vector_env(2, size=3, opponent=wrong if not isinstance(wrong, list) else [3])


def test_an_evaluated_agent_that_plays_what_is_illegal():
    with pytest.raises(ValueError, match="the agent failed: illegal"):
        evaluate(lambda game, views, rng: np.full(len(views), game.num_actions + 5), GAME, games=4)


def test_a_search_beside_settings_is_refused():
    with pytest.raises(ValueError, match="a Search and simulations: expected one of the two"):
        SearchAgent(Search(simulations=5), simulations=3)
