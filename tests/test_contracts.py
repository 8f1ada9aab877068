"""What is outside is like what is inside: games, agents, policies and evaluators of somebody else, through every public
entry. The games are those of the documentation, in files of their own that no module of ours imports.
"""

import importlib
import json
import subprocess
import sys
import textwrap
from pathlib import Path

import gymnasium
import numpy as np
import pettingzoo
import pytest
from pbm_agents import Evaluator, Search, agent_kinds, as_policy, evaluate, make_agent
from pbm_agents.arena import Tournament, by_game, play_games, play_tournament, standings
from pbm_agents.arena.openings import draw_opening
from pbm_agents.players.names import make_agent_for
from pbm_agents.search import Playouts
from pettingzoo.test import api_test

import pbm_envs
from pbm_envs import Game, make_game, register_game
from pbm_envs.authoring import hexagon, rhombus, square, state_dtype, triangle
from pbm_envs.envs.factories import make_aec_env, make_raw_env, make_single_env, make_vector_env
from pbm_envs.records import GameRecord, RecordError, append_records, read_records, replay, verify
from pbm_envs.registry import parse_game
from pbm_envs.testing import CHECKS, check_boards, check_random_games
from tests.commands import output_of

GUIDES = Path(__file__).parent.parent / "docs" / "guides"
NAMES = {
    "tictactoe": "TicTacToe", "row": "Row", "duel": "Duel", "phantom": "Phantom", "leduc": "Leduc",
    "liars_dice": "LiarsDice", "dark_hex": "DarkHex", "hex": "Hex",
}  # fmt: skip
pytestmark = pytest.mark.xdist_group("contracts")


@pytest.fixture
def classes(monkeypatch):
    """The outside games by name; registered for the time of one test, as importing them anew would."""
    monkeypatch.syspath_prepend(str(GUIDES))
    found = {name: getattr(importlib.import_module(name), kind) for name, kind in NAMES.items()}
    for game_class in found.values():
        register_game(game_class)
    return found


@pytest.fixture(params=NAMES)
def game(request, classes):
    return classes[request.param]()


def first_legal(observations, masks):
    return masks.argmax(axis=1)


def test_tic_tac_toe_is_complete_in_sixty_lines():
    text = (GUIDES / "tictactoe.py").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 60
    assert "class TicTacToe(Game)" in text


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_conformance(game, check):
    for options in type(game).configurations:
        check(type(game)(**options), np.random.default_rng(2008))


def test_names(game):
    assert pbm_envs.registered_games()[game.name] is type(game)
    assert make_game(game.name) == game
    assert make_game(f"{type(game).__module__}:{type(game).__name__}") == game
    assert game.with_options() == game
    assert register_game(type(game)) is type(game), "a second time does no harm"
    with pytest.raises(ValueError, match=rf"{game.name} has no option 'edges': expected (some of|none)"):
        make_game(game.name, edges=4)


def test_games_from_what_was_typed(classes, monkeypatch):
    assert parse_game("row:size=4") == classes["row"](size=4)
    for name in NAMES:
        monkeypatch.delitem(pbm_envs.registry._registered, name)
    assert parse_game("row:Row:size=4") == classes["row"](size=4)
    assert parse_game("tictactoe:TicTacToe") == classes["tictactoe"]()


def test_what_cannot_be_registered(classes):
    class Nameless(classes["tictactoe"]):
        name = "Tic Tac Toe"

    class Taken(classes["tictactoe"]):
        name = "curio"

    class Unfinished(Game):
        name = "unfinished"

    class Demanding(classes["tictactoe"]):
        name = "demanding"

        def __init__(self, size):
            super().__init__()

    with pytest.raises(ValueError, match="name of Nameless is 'Tic Tac Toe': expected lower-case"):
        register_game(Nameless)
    with pytest.raises(ValueError, match=r"'curio' belongs to .*Curio: expected another for .*Taken"):
        register_game(Taken)
    with pytest.raises(ValueError, match="Unfinished is not complete: expected the methods _board_to_string, _init"):
        register_game(Unfinished)
    with pytest.raises(ValueError, match="Demanding has no default for 'size'"):
        register_game(Demanding)
    with pytest.raises(ValueError, match="is not a game: expected a class"):
        register_game(len)
    for name, example in (
        ("chameleon:size=5,swap_rule=no", r"make_game\('chameleon', size=5, swap_rule=no\)"),
        ("row:Row:size=4", r"make_game\('row:Row', size=4\)"),
    ):
        with pytest.raises(ValueError, match=rf"'{name}' has options in the name: expected {example}"):
            make_game(name)
    for name in ("no_such_module:Game", "json:loads", "json:no_such_name", "no_such_game"):
        with pytest.raises(ValueError, match="is not a game"):
            make_game(name)
    assert set(pbm_envs.registered_games()) == {"chameleon", "curio", "trinim", "unlur", *NAMES}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"max_plies": 0}, "max_plies is 0: expected an integer from 1"),
        ({"max_plies": -1}, "max_plies is -1: expected an integer from 1"),
        ({"moves": ("a1", "b1", "A1")}, "two moves of Changed are 'a1': expected a text of its own for each action"),
        ({"dtype": np.dtype([("marks", "i1", (9,))])}, "field 'returns' of dtype is missing: expected state_dtype"),
        ({"dtype": state_dtype(3, [])}, r"field 'returns' of dtype is .*: expected state_dtype\(2, fields\)"),
        ({"dtype": state_dtype(2, [("marks", "O")])}, r"field 'marks' of dtype is dtype\('O'\): expected state_dtype"),
        ({"num_players": 0}, "num_players is 0: expected an integer from 2"),
    ],
)
def test_facts_that_no_game_can_have(classes, changes, message):
    class Changed(classes["tictactoe"]):
        def __init__(self):
            facts = {"options": {}, "board": square(3, 3), "dtype": state_dtype(2, []), "planes": {}, "form": "a cell"}
            Game.__init__(self, **{**facts, "moves": ("a1", "b1"), "max_plies": 9, **changes})

    with pytest.raises(ValueError, match=message):
        Changed()


@pytest.mark.parametrize(
    ("make", "sizes", "message"),
    [
        (square, (1, 30), "cols is 30: expected an integer from 1 to 26"),
        (square, (0, 3), "rows is 0: expected an integer from 1 to 1000"),
        (square, (3.0, 3), "rows is 3.0: expected an integer"),
        (triangle, (27,), "size is 27: expected an integer from 1 to 26"),
        (rhombus, (0,), "size is 0: expected an integer from 1 to 26"),
        (hexagon, (14,), "radius is 14: expected an integer from 1 to 13"),
        (state_dtype, (0, ()), "num_players is 0: expected an integer from 2 to 127"),
    ],
)
def test_sizes_that_no_board_can_have(make, sizes, message):
    assert square(3, 3).size == 9
    with pytest.raises(ValueError, match=message):
        make(*sizes)


def test_checks_say_what_is_wrong(classes):
    class Lenient(classes["tictactoe"]):
        def __init__(self):
            super().__init__()
            self.max_plies = 3

        def _init(self, states, seeds, board):
            pass

    rng = np.random.default_rng(0)
    with pytest.raises(AssertionError, match=r"is not over after 3 plies \(legal actions: 6\): .* max_plies = 3"):
        check_random_games(Lenient(), rng)
    with pytest.raises(
        AssertionError, match=r"init\(1, .* \{'board': ''\} was accepted: expected a ValueError that says"
    ):
        check_boards(Lenient(), rng)


def test_a_game_without_rules_says_what_is_missing(classes):
    class NoRules(classes["tictactoe"]):
        rules = None

    with pytest.raises(TypeError, match="NoRules has no _step, _legal_action_mask, _observe: expected these or `rules"):
        NoRules()


@pytest.fixture(params=["kernels", "kernels and a playout", "hooks"])
def endless(request, classes):
    """Tic-tac-toe whose author has forgotten to end it."""
    from pbm_envs.authoring import RecordRules, kernel

    @kernel
    def play(state, mover, action, tables):
        state["marks"][action] = 1 + mover

    @kernel
    def playout(state, seeds, i, tables, last_player):
        state["ply"] = 9
        state["marks"][:] = 1

    module = sys.modules["tictactoe"]
    kernels = RecordRules(play, module.mark_legal, module.observe, playout if "playout" in request.param else None)

    class Endless(classes["tictactoe"]):
        name = "endless"
        rules = kernels

    class EndlessHooks(Endless):
        rules = None

        def _legal_action_mask(self, states, out):
            out[:] = states["marks"] == 0

        def _step(self, states, actions):
            rows = np.arange(len(states))
            if (taken := states["marks"][rows, actions] != 0).any():
                return int(taken.argmax())
            states["marks"][rows, actions] = 1 + states["to_move"]
            states["to_move"] = 1 - states["to_move"]
            states["ply"] += 1
            return -1

        def _observe(self, views, out):
            out[:] = 0

    return EndlessHooks() if request.param == "hooks" else Endless()


def test_rules_that_do_not_end_a_game_are_named(endless):
    """Nothing is endless, and no agent forfeits for it."""
    rng = np.random.default_rng(0)
    states = endless.init(2, rng)
    fault = rf"{endless!r} is not over after 9 plies \(legal actions: 0\): expected rules".replace("()", r"\(\)")
    with pytest.raises(ValueError, match=fault):
        endless.playout(states.copy(), rng)
    for search in (Search(simulations=50), Search(simulations=50, evaluator=Playouts(2))):
        with pytest.raises(ValueError, match=fault):
            search.run(endless, states, rng)
    with pytest.raises(ValueError, match=fault):
        evaluate(first_legal, endless, games=2)
    with pytest.raises(AssertionError, match=fault):
        check_random_games(endless, rng)
    env, envs = make_aec_env(endless), make_vector_env(endless, 2)
    env.reset()
    envs.reset()
    for action in range(9):
        env.step(action)
        envs.step(np.full(2, action))
    with pytest.raises(ValueError, match=fault):
        env.step(0)
    with pytest.raises(ValueError, match=fault):
        envs.step(np.zeros(2, np.int64))


def test_records_and_replay(game, tmp_path):
    openings = [draw_opening(game, seed, None, 0) for seed in range(4)]
    agents = {"random": make_agent("random"), "other": make_agent("random")}
    records = play_games(game, agents, [("random", "other")] * 4, openings, seed=7)
    append_records(tmp_path / "games.jsonl", records)
    read = list(read_records(tmp_path / "games.jsonl"))
    assert read == records
    for record in read:
        verify(record)
        assert record.rules() == game
        *_, end = replay(record)
        assert end["returns"][0].tolist() == list(record.returns)
    assert list(by_game(read)) == [game.name]


def test_a_game_that_nobody_has_registered(classes, monkeypatch):
    """It is played and evaluated as it is; only what has to find it by its name says that there is none."""
    monkeypatch.setattr(pbm_envs.registry, "_registered", {})
    game = classes["row"](size=5)
    assert evaluate(first_legal, game, games=4)["random"].games == 4
    [record] = play_games(game, {"a": make_agent("random")}, [("a", "a")], [draw_opening(game, 0, None, 0)], seed=1)
    with pytest.raises(RecordError, match=r"'row' is not a game of pbm_envs: expected one of .* `pbm --import MODULE`"):
        GameRecord.from_json(record.to_json()).rules()


def test_search(classes):
    rng = np.random.default_rng(0)
    tictactoe = classes["tictactoe"]()
    states = tictactoe.init(1, rng)
    for text in ("b2", "b1", "a1"):
        tictactoe.step(states, [tictactoe.string_to_action(text)])
    [result] = Search(simulations=3000).run(tictactoe, states, rng)
    assert result.proven
    assert result.value.tolist() == [1, -1]
    row = classes["row"](size=8)
    [result] = Search(simulations=2000).run(row, row.init(1, rng), rng)
    assert result.proven
    assert result.value.tolist() == [-1, 1]
    duel = classes["duel"]()
    states = duel.init(1, rng, board="Q K J")
    for text in ("check", "bet"):
        duel.step(states, [duel.string_to_action(text)])
    king = duel.init(1, rng, board="K J Q")
    duel.step(king, [duel.string_to_action("check")])
    duel.step(king, [duel.string_to_action("bet")])
    [result] = Search(simulations=500).run(duel, duel.view(king, 0), rng)
    assert result.best == duel.string_to_action("call"), "nothing beats a king"


class OutsideEvaluator:
    """Somebody's own `Evaluator`: uniform priors, values by counting nothing."""

    gives_priors = True

    def __init__(self):
        self.calls = 0

    def __call__(self, game, states, masks, seeds, last_player_by_action):
        self.calls += 1
        priors = masks / np.maximum(1, masks.sum(axis=1, keepdims=True))
        return priors.astype(np.float32), states["returns"].astype(np.float64)


def test_an_evaluator_of_somebody_else_is_used_as_it_is(game):
    """Neither wrapped nor copied; plain functions are wrapped."""
    evaluator, rng = OutsideEvaluator(), np.random.default_rng(0)
    search = Search(simulations=50, evaluator=evaluator)
    states = game.init(2, rng)
    results = search.run(game, game.view(states, states["to_move"]), rng)
    assert evaluator.calls > 1
    assert all(result.visits.sum() == 50 or result.proven for result in results)

    def function(observations, masks):
        return masks / masks.sum(axis=1, keepdims=True), np.zeros(len(masks))

    wrapped = Search(simulations=50, evaluator=function).run(game, game.view(states, states["to_move"]), rng)
    assert all(result.visits.sum() == 50 or result.proven for result in wrapped)
    agent: Evaluator = evaluator
    assert agent is evaluator


AGENTS = """
class LastLegal:
    def __init__(self, *, from_the_end: int = 1):
        self.from_the_end = from_the_end

    def act(self, game, views, rng):
        masks = game.legal_action_mask(views)
        return [[a for a in range(game.num_actions) if mask[a]][-self.from_the_end :][0] for mask in masks]


def policy(observations, masks):
    return masks.argmax(axis=1)
"""


def ways_to_name_an_agent(folder, monkeypatch):
    """A name, a name of one's own with a setting, an agent, a search, a policy, a function of views."""
    (folder / "outside_agents.py").write_text(AGENTS)
    monkeypatch.syspath_prepend(str(folder))
    return {
        "a name": "mcts:simulations=10",
        "one's own": "outside_agents:LastLegal:from_the_end=2",
        "one's own policy": "outside_agents:policy",
        "an agent": importlib.import_module("outside_agents").LastLegal(),
        "a search": Search(simulations=10),
        "a policy": first_legal,
        "a function of views": lambda game, views, rng: game.legal_action_mask(views).argmax(axis=1),
    }


def test_every_entry_accepts_the_same_agents(game, tmp_path, monkeypatch):
    given = ways_to_name_an_agent(tmp_path, monkeypatch)
    for agent in given.values():
        assert evaluate(agent, game, games=4)["random"].games == 4
        policy, env = as_policy(agent, seed=1), make_raw_env(game)
        env.reset(seed=1)
        while env.agents:
            env.step(policy(env))
        envs = make_vector_env(game, 2, opponent=agent)
        envs.reset(seed=1)
        single = make_single_env(game, opponent=agent)
        single.reset(seed=1)
    assert len(evaluate(first_legal, game, given, games=2)) == len(given)
    names = tuple(agent for agent in given.values() if isinstance(agent, str))
    records = play_tournament(Tournament((game,), names, openings=1), tmp_path / "results")
    assert not [record for record in records if record.forfeits]


def test_a_tournament(classes, tmp_path):
    games = tuple(game_class() for game_class in classes.values())
    tournament = Tournament(games, ("random", "mcts:simulations=30"), openings=3)
    records = play_tournament(tournament, tmp_path / "results")
    assert not [record for record in records if record.forfeits]
    assert set(by_game(records)) == set(classes)
    assert standings(records)[0].agent == "mcts:simulations=30"


@pytest.mark.filterwarnings("ignore")
def test_pettingzoo(game):
    api_test(make_aec_env(game), num_cycles=30)
    env = pettingzoo.make("aec", f"pbm/{game.name}-v0") if hasattr(pettingzoo, "make") else make_aec_env(game.name)
    env.reset(seed=3)
    policy = as_policy(make_agent("random"), 1)
    for _ in env.agent_iter():
        env.step(policy(env))
    assert env.unwrapped.states["done"][0]
    copy = make_raw_env(game, render_mode="ansi")
    copy.reset(seed=3)
    assert game.name == copy.unwrapped.game.name
    assert "player_0" in copy.render()


def test_gymnasium(game):
    envs = gymnasium.make_vec(f"pbm/{type(game).__name__}-v0", num_envs=4)
    observations, info = envs.reset(seed=7)
    assert observations.shape == (4, *game.observation_shape)
    for _ in range(20):
        observations, reward, *_, info = envs.step(info["action_mask"].argmax(axis=1))
    assert info["action_mask"].any(axis=1).all()
    against = make_vector_env(game, 4, opponent="mcts:simulations=10")
    against.reset(seed=1)
    env = gymnasium.make(f"pbm/{type(game).__name__}-v0", opponent="random")
    _, info = env.reset(seed=7)
    over = False
    while not over:
        _, reward, terminated, truncated, info = env.step(int(info["action_mask"].argmax()))
        over = terminated or truncated
    assert -1 <= reward <= 1
    assert make_single_env(game.name).game == game


def test_openspiel(game):
    spiel = pytest.importorskip("pbm_envs.adapters.openspiel")
    import pyspiel

    loaded = spiel.load(game)
    pyspiel.random_sim_test(loaded, num_sims=3, serialize=False, verbose=False)
    state = loaded.new_initial_state()
    assert state.is_chance_node() == game.random_setup
    assert loaded.get_type().short_name == f"python_pbm_{game.name}"


def test_a_random_set_up_that_is_not_spelled_out_is_no_game_of_openspiel(classes):
    spiel = pytest.importorskip("pbm_envs.adapters.openspiel")

    class Undealt(classes["duel"]):
        name = "undealt"

        def _deal(self):
            return None

    with pytest.raises(ValueError, match="random set-up, which OpenSpiel needs as chance events"):
        spiel.load(Undealt())


def test_the_equilibrium_of_kuhn_poker(classes):
    """Kuhn (1950): player_0 loses 1/18 of the ante on average; our stakes are half of his."""
    equilibrium = pytest.importorskip("pbm_agents.equilibrium")
    tree = equilibrium.PublicTree.build(classes["duel"]())
    assert tree.num_information_sets == 12
    solution = equilibrium.cfr_plus(tree, 2000)
    assert equilibrium.exploitability(tree, solution) < 1e-3
    assert equilibrium.exploitability(tree, tree.uniform_policy()) == pytest.approx(0.5 * 0.4583333, abs=1e-5)


def test_the_command_line(classes, tmp_path):
    assert "tictactoe" in output_of("games")
    assert "an integer from 3 to 26" in output_of("games", "row")
    assert "has won" in output_of("play", "row", "random", "random", "-o", "size=4")
    folder = tmp_path / "results"
    words = ["-g", "tictactoe", "-g", "duel", "-g", "row:size=4", "-a", "random", "-a", "mcts:simulations=20"]
    output_of("tournament", folder, *words, "--openings", 2)
    assert "games replay" in output_of("replay", folder)
    assert "mcts:simulations=20" in output_of("rate", folder)
    assert "row" in output_of("--import", "row", "games")
    output_of("animate", folder, tmp_path / "game.gif", "--size", 120)


PLUGIN = """
from pbm_envs.authoring import Game
import tictactoe

class Noughts(tictactoe.TicTacToe):
    name = "noughts"
"""
PROGRAM = """
import json, sys, warnings
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    import pbm_envs
    names = list(pbm_envs.registered_games())
warned = [str(warning.message) for warning in caught if "left out" in str(warning.message)]
print(json.dumps([names, repr(pbm_envs.make_game("noughts")), warned]))
"""


def test_an_installed_package_brings_its_games(tmp_path):
    """By the entry-point group `pbm_envs.games`; one that is broken is left out with a warning."""
    info = tmp_path / "noughts-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: noughts\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[pbm_envs.games]\nnoughts = noughts:Noughts\nbroken = no_such_module:X\n")
    (tmp_path / "noughts.py").write_text(textwrap.dedent(PLUGIN))
    path = [str(tmp_path), str(GUIDES), *sys.path]
    program = f"import sys; sys.path[:0] = {path!r}\n{PROGRAM}"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    names, made, warned = json.loads(done.stdout)
    assert names[:4] == ["chameleon", "curio", "trinim", "unlur"]
    assert "noughts" in names
    assert made == "Noughts()"
    assert len(warned) == 1
    assert "'broken' (no_such_module:X) is left out" in warned[0]


NEED_MORE = {"network", "recurrent", "llm"}
"""Kinds of agents that need a file or a server; `tests/training` has the first two, and the third plays all games."""


def refusal(work, *given):
    """The text of the ValueError that this raises, or None."""
    try:
        work(*given)
    except ValueError as error:
        return str(error)


@pytest.mark.parametrize("kind", sorted(set(agent_kinds()) - NEED_MORE))
def test_an_agent_refuses_a_game_before_it_begins_or_plays_it(classes, kind):
    """`check_plays` knows all that `act` refuses: three players, hidden moves, more set-ups than a tree can have."""
    budget = {"simulations": 20, "seconds": 0.2}
    settings = {setting.name for setting in agent_kinds()[kind].settings}
    name = next((f"{kind}:{one}={budget[one]}" for one in budget if one in settings), kind)
    if kind.startswith("openspiel"):
        pytest.importorskip("pyspiel")
    games = [pbm_envs.Trinim(num_players=3), classes["phantom"](), make_game("curio-ladder-1"), pbm_envs.Curio()]
    for game in games:
        env = make_aec_env(game)
        env.reset(seed=7)
        refused = refusal(make_agent_for, name, game)
        failed = refusal(as_policy(name, seed=7), env)
        assert refused == (failed and f"{name!r} cannot play this game: {failed}")
