"""Selection rules of one's own: found by name, pickled, compiled once, and as good as ours where they say the same."""

import math
import os
import pickle
import subprocess
import sys
import textwrap

import numba
import numpy as np
import pytest
from pbm_agents import PUCT, UCT, Search, Selection, make_agent
from pbm_agents.search import make_search

from pbm_envs import Chameleon, Curio, Trinim
from pbm_envs.authoring import kernel
from tests.search.pinned import network

GAMES = [Chameleon(size=4, allow_resign=True), Trinim(size=5, num_players=3), Curio(base=2, rows=4, cols=3)]
every_game = pytest.mark.parametrize("game", GAMES, ids=lambda game: game.name)


@kernel
def own_uct(visits, mean, prior, parent_visits, parameter):
    return mean + parameter * math.sqrt(math.log(parent_visits) / visits)


@kernel
def guarded_uct(visits, mean, prior, parent_visits, parameter):
    return math.inf if visits == 0 else own_uct(visits, mean, prior, parent_visits, parameter)


@kernel
def own_puct(visits, mean, prior, parent_visits, parameter):
    return mean + parameter * prior * math.sqrt(parent_visits) / (1 + visits)


@kernel
def least_visited(visits, mean, prior, parent_visits, parameter):
    return -visits


@kernel
def no_number(visits, mean, prior, parent_visits, parameter):
    return math.nan if visits else -1.0


RULE = Selection(own_uct, 0.3)


def visits(search, game):
    """Of searches after some plies."""
    rng = np.random.default_rng(3)
    states = game.init(3, rng)
    for _ in range(2):
        game.step(states, [int(mask.argmax()) for mask in game.legal_action_mask(states)])
    results = search.run(game, game.view(states, states["to_move"]), np.arange(3, dtype=np.uint64))
    return [result.visits.tolist() for result in results]


@every_game
@pytest.mark.parametrize("score", [own_uct, guarded_uct], ids=["divides by visits", "infinite"])
def test_uct_written_outside_is_uct(game, score):
    for settings in ({}, {"parallel_simulations": 3, "solver": False}):
        ours = visits(Search(simulations=120, selection=UCT(c=0.3, rave=0), **settings), game)
        assert visits(Search(simulations=120, selection=Selection(score, 0.3), **settings), game) == ours


@every_game
def test_puct_written_outside_is_puct(game):
    evaluator = network(game.num_players)
    ours = visits(Search(simulations=90, selection=PUCT(c=1.2), evaluator=evaluator), game)
    assert visits(Search(simulations=90, selection=Selection(own_puct, 1.2), evaluator=evaluator), game) == ours


@every_game
def test_the_greatest_score_is_taken(game):
    """Of equal ones the first; with perfect information all actions get as many visits, to within one."""
    for found in visits(Search(simulations=100, selection=Selection(least_visited), solver=False), game):
        tried = [count for count in found if count]
        assert sum(found) == 100
        if game.perfect_information:
            assert max(tried) - min(tried) <= 1
            assert tried == sorted(tried, reverse=True)


@every_game
def test_scores_that_are_no_numbers_do_no_harm(game):
    for found in visits(Search(simulations=40, selection=Selection(no_number), solver=False), game):
        assert sum(found) == 40


def test_an_evaluator_without_priors_gives_all_actions_the_same():
    game = Chameleon(size=3)

    @kernel
    def by_prior(visits, mean, prior, parent_visits, parameter):
        return -visits + 1e6 * abs(prior - parameter)

    [legal] = game.legal_action_mask(game.init(1, np.random.default_rng(0)))
    search = Search(simulations=30, selection=Selection(by_prior, 1 / legal.sum()), solver=False)
    [result] = search.run(game, game.init(1, np.random.default_rng(0)), np.random.default_rng(0))
    seen = result.visits[legal]
    assert seen.max() - seen.min() <= 1


@pytest.mark.parametrize(
    ("score", "complaint"),
    [
        (3, "score is 3: expected a kernel, made by pbm_envs.authoring.kernel"),
        (kernel(lambda visits, mean: mean), "score fails .*expected a kernel that can be called as score.visits, "),
        (kernel(lambda visits, mean, prior, parent, parameter: "high"), "score returns 'high': expected a number"),
    ],
    ids=["number", "two arguments", "text"],
)
def test_what_is_no_score_is_refused(score, complaint):
    with pytest.raises(ValueError, match=complaint):
        Selection(score, 1.0)


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="every function is a kernel then")
def test_a_function_is_no_kernel():
    with pytest.raises(ValueError, match="expected a kernel, made by"):
        Selection(lambda visits, mean, prior, parent_visits, parameter: mean)


@pytest.mark.parametrize(
    "selection", [own_uct, "uct", 3, Search(simulations=1)], ids=["kernel", "text", "number", "search"]
)
def test_other_selections_are_refused(selection):
    with pytest.raises(ValueError, match=r"selection is .*: expected UCT, PUCT, Gumbel or Selection, or None"):
        Search(simulations=10, selection=selection)


def test_by_name():
    here = "tests.search.test_selection"
    assert make_agent(f"mcts:simulations=50,selection={here}:RULE").search.selection == RULE
    assert make_agent(f"mcts:selection={here}:own_uct,c=0.3").search.selection == RULE
    assert make_agent(f"pimc:worlds=2,selection={here}:own_uct").search.selection == Selection(own_uct)
    assert make_search(simulations=5, selection=own_uct, c=0.3).selection == RULE
    for name, complaint in (
        ("RULE,c=0.3", "c=0.3 beside a selection rule: expected one of the two"),
        ("own_uct,rave=3", "rave=3 beside a selection rule"),
        ("nothing", "selection is .*:nothing': expected module:attribute of a Selection, or of a score kernel"),
        ("GAMES", "selection is .*: expected UCT, PUCT, Gumbel or Selection"),
        ("visits", "score is .*: expected a kernel"),
    ):
        with pytest.raises(ValueError, match=complaint):
            make_agent(f"mcts:selection={here}:{name}")


def test_rules_are_pickled_by_name():
    search = Search(simulations=60, selection=RULE)
    again = pickle.loads(pickle.dumps(search))
    assert again == search
    assert again.selection.score is own_uct


def test_a_rule_without_a_name_is_pickled_too():
    @kernel
    def inner(visits, mean, prior, parent_visits, parameter):
        return mean + parameter * prior * math.sqrt(parent_visits) / (1 + visits)

    if numba.config.DISABLE_JIT:
        pytest.skip("plain functions need a name")
    game, evaluator = GAMES[0], network(2)
    again = pickle.loads(pickle.dumps(Selection(inner, 1.2)))
    ours = visits(Search(simulations=40, selection=PUCT(c=1.2), evaluator=evaluator), game)
    assert visits(Search(simulations=40, selection=again, evaluator=evaluator), game) == ours


PROGRAM = """
    import logging, pickle, sys
    import numpy as np
    from pbm_agents import Search
    from pbm_envs import Chameleon
    import my_rules

    logging.basicConfig(level=logging.WARNING)
    game, rng = Chameleon(size=3), np.random.default_rng(0)
    search = pickle.loads(pickle.dumps(Search(simulations=20, selection=my_rules.RULE)))
    [result] = search.run(game, game.init(1, rng), rng)
    print(result.visits.sum())
"""
RULES = """
    import math
    from pbm_agents import Selection
    from pbm_envs.authoring import kernel

    @kernel
    def score(visits, mean, prior, parent_visits, parameter):
        return mean + parameter * math.sqrt(parent_visits * {factor}) / (1 + visits)

    RULE = Selection(score, 0.2)
"""


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")
def test_a_second_process_compiles_nothing(tmp_path):
    """A rule that has changed is compiled with what calls it, and with nothing else."""

    def run(factor):
        (tmp_path / "my_rules.py").write_text(textwrap.dedent(RULES.format(factor=factor)))
        path = os.pathsep.join([str(tmp_path), *sys.path])
        environment = {**os.environ, "PYTHONPATH": path, "PBM_ENVS_CACHE_DIR": str(tmp_path / "cache")}
        command = [sys.executable, "-c", textwrap.dedent(PROGRAM)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        assert done.stdout.split() == ["20"]
        kernels = {file.name for file in (tmp_path / "cache").glob("*.kernel")}
        return done.stderr, kernels

    first, compiled = run(factor=1.0)
    assert "compiling" in first
    assert run(factor=1.0) == ("", compiled)
    changed, more = run(factor=2.0)
    assert "compiling" in changed
    new = {name.partition("-")[0].rpartition(".")[2] for name in more - compiled}
    assert new == {"score", "choose", "select"}
    assert run(factor=2.0) == ("", more)
