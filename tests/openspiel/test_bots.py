"""OpenSpiel's bots on our games, and as agents by name."""

import re
import sys

import numpy as np
import pytest
from open_spiel.python.algorithms import ismcts, mcts
from open_spiel.python.bots.uniform_random import UniformRandomBot
from pbm_agents import make_agent
from pbm_agents.arena import Tournament, play_tournament, rate

from pbm_envs import Chameleon, Curio, Trinim, Unlur
from pbm_envs.adapters.openspiel import load
from pbm_envs.testing import positions
from pbm_envs.toolbox import install_command
from tests.openspiel.games import dealt
from tests.play import play

OPEN = [
    Chameleon(size=3),
    Trinim(size=3, num_players=3),
    Unlur(radius=3),
    Trinim(size=6, num_players=3, allow_resign=True),
]
SMALL = Curio(base=2, rows=4, cols=3, no_capture_limit=20)


@pytest.mark.parametrize("rules", [*OPEN[:3], SMALL], ids=str)
def test_openspiels_bots_play_a_whole_game(rules):
    """With everything their own: evaluator, chance, history."""
    game, luck = load(rules), np.random.RandomState(1)
    bot = mcts.MCTSBot if rules.perfect_information else ismcts.ISMCTSBot
    evaluator = mcts.RandomRolloutEvaluator(random_state=luck)
    settings = (2, 10, evaluator) if rules.perfect_information else (evaluator, 2, 10)
    searching = bot(game, *settings, random_state=luck)
    others = [UniformRandomBot(player, luck) for player in range(1, rules.num_players)]
    state = dealt(game, np.random.default_rng(1))
    while not state.is_terminal():
        state.apply_action([searching, *others][state.current_player()].step(state))
    assert sum(state.returns()) == pytest.approx(0)


@pytest.mark.parametrize("rules", [*OPEN, SMALL], ids=str)
def test_an_agent_by_name_plays_from_views(rules):
    """In the middle of games, a batch at a time; the same luck, the same moves."""
    agent = make_agent(f"openspiel-{'mcts' if rules.perfect_information else 'ismcts'}:simulations=12")
    states = positions(rules, np.random.default_rng(2), 2, 6)
    states = states[~states["done"]]
    views = rules.view(states, states["to_move"])
    actions = agent.act(rules, views, np.random.default_rng(3))
    assert rules.legal_action_mask(states)[np.arange(len(states)), actions].all()
    assert agent.act(rules, views, np.random.default_rng(3)).tolist() == actions.tolist()


def test_it_finds_a_win_in_chameleon():
    """H3"""
    rules = Chameleon(size=3, swap_rule=False)
    state = play(rules, "b1x a3o b2x c3o")
    [action] = make_agent("openspiel-mcts:simulations=200").act(rules, rules.view(state, 0), np.random.default_rng(4))
    rules.step(state, [action])
    assert state["returns"][0].tolist() == [1, -1]


def test_it_finds_a_win_in_curio():
    """C10: it captures the last royal piece, which shows."""
    state = SMALL.init(1, np.random.default_rng(0), ". D11 ./. . D22/. . ./L11 . L22")
    agent = make_agent("openspiel-ismcts:simulations=200")
    [action] = agent.act(SMALL, SMALL.view(state, 0), np.random.default_rng(4))
    assert SMALL.action_to_string(int(action)) == "c1-c3"


@pytest.mark.parametrize(
    "options",
    [
        SMALL.options,
        SMALL.options | {"face": "random", "turn": False, "reveal_captured": False},
        {"base": 3, "rows": 4, "cols": 4, "capture": "le_total"},
    ],
    ids=lambda options: str(Curio(**options)),
)
def test_ismcts_does_not_know_what_it_cannot_see(options):
    """Exchange hidden faces, same luck, same move."""
    rules, rng = Curio(**options), np.random.default_rng(5)
    states = np.concatenate([positions(rules, rng, plies, 3) for plies in (0, 1, 3, 6)])
    states = states[~states["done"]]
    others = rules.determinize(rules.view(states, states["to_move"]), rng)
    assert (states["faces"] != others["faces"]).any(axis=(1, 2)).sum() >= 3
    agent = make_agent("openspiel-ismcts:simulations=15")
    one, other = (
        agent.act(rules, rules.view(batch, batch["to_move"]), np.random.default_rng(6)) for batch in (states, others)
    )
    assert one.tolist() == other.tolist()


def test_a_tournament_against_ours_in_chameleon(tmp_path):
    names = ("random", "mcts:simulations=40", "openspiel-mcts:simulations=40")
    records = play_tournament(Tournament((Chameleon(size=3),), names, openings=3), tmp_path)
    assert {name for record in records for name in record.agents} == set(names)
    assert not [record for record in records if record.forfeits]
    assert set(rate(records, anchor="random")) == set(names)


@pytest.mark.parametrize(
    ("name", "rules", "complaint"),
    [
        ("openspiel-mcts", SMALL, "openspiel-mcts would need to see what is hidden in Curio.*: use openspiel-ismcts"),
        (
            "openspiel-ismcts",
            Chameleon(size=3),
            "openspiel-ismcts is for games of hidden information.*: use openspiel-mcts",
        ),
    ],
)
def test_each_for_its_own_kind_of_game(name, rules, complaint):
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match=complaint):
        make_agent(name).act(rules, rules.view(rules.init(1, rng), 0), rng)


@pytest.mark.parametrize(("name", "rules"), [("openspiel-mcts", Chameleon(size=3)), ("openspiel-ismcts", SMALL)])
def test_it_does_not_move_for_others(name, rules):
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match="row 1 cannot be searched"):
        make_agent(name).act(rules, rules.view(rules.init(2, rng), [0, 1]), rng)


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("openspiel-mcts:simulations=0", "simulations is 0: expected an integer from 1 up"),
        ("openspiel-mcts:simulations=1.5", "simulations is '1.5': expected an integer"),
        ("openspiel-ismcts:c=-1", "c is -1: expected a number from 0 to"),
        ("openspiel-ismcts:worlds=3", "NAME one of simulations, c$"),
    ],
)
def test_bad_options(name, complaint):
    with pytest.raises(ValueError, match=complaint):
        make_agent(name)


def test_without_openspiel(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyspiel", None)
    monkeypatch.delitem(sys.modules, "pbm_envs.adapters.openspiel")
    monkeypatch.delattr("pbm_envs.adapters.openspiel")
    with pytest.raises(ImportError, match=re.escape(f"OpenSpiel is not installed: {install_command('openspiel')}")):
        make_agent("openspiel-mcts")
