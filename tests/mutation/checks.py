"""The tests that mutants meet: those of this repository on small boards, quick ones and independent witnesses first.

Each is a name and a function that raises if it notices something. All make their games anew.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from pbm_envs import Curio, Unlur, make_game
from pbm_envs.games import chains
from pbm_envs.games.chameleon import view as chameleon_view
from pbm_envs.games.curio import chain
from pbm_envs.games.curio import rules as curio_rules
from pbm_envs.testing import CHECKS, positions
from tests import test_agents, test_bridges, test_planes, test_reference, test_same_games
from tests.curio import test_chain, test_conditions, test_moves, test_worlds
from tests.curio import test_reference as curio_reference
from tests.curio.positions import VARIANTS, some_board
from tests.faults import test_validation
from tests.render import test_scenes

Check = Callable[[], object]
SMALL: dict[str, list[dict[str, Any]]] = {
    "chameleon": [{"size": 3, "allow_resign": True}, {"size": 4, "swap_rule": False}],
    "trinim": [{"size": 3, "num_players": 3, "allow_resign": True}, {"size": 5}],
    "unlur": [{"radius": 3, "allow_resign": True}, {"radius": 4}],
}
SAME_GAMES: dict[str, list[dict[str, Any]]] = {
    "chameleon": [{"size": 3}, {"size": 5, "swap_rule": False, "allow_resign": True}],
    "trinim": [{"size": 3, "num_players": 3}, {"size": 6, "num_players": 3, "allow_resign": True}],
    "unlur": [{"radius": 3}, {"radius": 4, "allow_resign": True}],
    "curio": [dict(options) for k, options in enumerate(Curio.configurations) if k != 1],
}
FILES = {
    "chameleon": ["tests/chameleon", "tests/test_game_texts.py"],
    "trinim": ["tests/trinim/test_rulings.py", "tests/trinim/test_resign.py"],
    "unlur": ["tests/unlur/test_rulings.py", "tests/test_game_texts.py"],
    "curio": ["tests/curio/test_rulings.py", "tests/curio/test_endings.py", "tests/curio/test_inference.py"],
}
GAMES = 8
"""Of each configuration, whose moves, observations, playouts and worlds are hashed."""


def checks(name: str) -> list[tuple[str, Check]]:
    """Those of the game of this name; "chains" is for the two that share them, "curio.chain" for what only
    determinization reaches.
    """
    if name == "chains":
        return [*checks("chameleon"), *checks("unlur")]
    if name == "curio.chain":
        parts = [("conditions", partial(_conditions, test, shape)) for shape in MOMENTS for test in CONDITIONS]
        parts += [("cycles", _cycles), ("large board", test_chain.test_a_large_board_on_which_nobody_can_capture)]
        parts += [("full states", test_chain.test_nothing_is_drawn_for_full_states)]
        return [*parts, ("draws", _draws), ("worlds", partial(_worlds, WORLDS[0]))]
    if name == "curio":
        found = [("reference", partial(_curio_reference, k)) for k in range(6)]
        found += [("planes", partial(_curio_planes, k)) for k in range(6)]
    else:
        found = []
        for options in SMALL[name]:
            found.append(("reference", partial(_reference, name, options)))
            found.append(("planes", partial(_planes, name, options)))
    found += [("same games", partial(_same_games, name, k)) for k in range(len(SAME_GAMES[name]))]
    if name == "curio":
        found += [("worlds", partial(_worlds, test)) for test in WORLDS]
        found += [("tables", _tables), ("large boards", _large_boards), ("large armies", _large_armies)]
        found += [("turnings", test_worlds.test_turnings_count_every_way_to_hide_a_pool)]
    found += [("conformance", partial(_conformance, name, check)) for check in CHECKS]
    found += [("rulings", partial(_files, FILES[name]))]
    found += [
        (
            "random play",
            partial(
                test_agents.compare_playouts, make_game(name, **SAME_GAMES[name][0]), 300 if name == "curio" else 1200
            ),
        )
    ]
    if name in ("chameleon", "unlur"):
        found += [("bridges", partial(_bridges, name)), ("figures", partial(_figures, name))]
        found += [("tables", _tables), ("validation", partial(_validation, name))]
    if name == "unlur":
        found += [("playouts", _avoiding)]
    return found


def _reference(name: str, options: dict[str, Any]) -> None:
    test_reference.compare(make_game(name, **options), 6, seed=5)


def _planes(name: str, options: dict[str, Any]) -> None:
    for k in range(2):
        test_planes.along(make_game(name, **options), None, random.Random(f"mutants {k}"))


def _curio_reference(part: int) -> None:
    case = ("3x3, any cells", "4x3, full", "4x3, any cells")[part % 3]
    for k, (game, slow, rng) in enumerate(curio_reference.positions(case, 12)):
        if k // 6 == part // 3:
            curio_reference.agree(game, slow, rng)


def _curio_planes(part: int) -> None:
    for k in range(3 * part, 3 * part + 3):
        rng = random.Random(f"mutants {k}")
        options = {"rows": 4, "cols": 3, "base": 3, **VARIANTS[k * 35 % len(VARIANTS)]}
        options |= {"no_capture_limit": rng.choice([3, 20, 100, None]), "allow_resign": rng.random() < 0.2}
        size = {name: options[name] for name in ("rows", "cols", "base", "face")}
        test_planes.along(Curio(**options), some_board(rng, **size, pieces=4), rng, most=25)


WORLDS = (
    test_worlds.test_determinize_draws_every_world_and_nothing_else_equally_often,
    test_worlds.test_whatever_is_possible_may_be_hidden,
    test_worlds.test_all_worlds_look_the_same,
    test_worlds.test_a_view_of_a_drawn_state_is_the_view_it_was_drawn_from,
)


def _worlds(test: Callable[[str, int], object]) -> None:
    for shape in ("3x3", "4x3"):
        test(shape, 6)


CONDITIONS = (
    test_conditions.test_sweeps_lead_to_assignments_and_count_what_they_break,
    test_conditions.test_an_assignment_breaks_nothing_just_if_it_is_a_world,
)
MOMENTS = {"3x3": 18, "4x3": 18}
"""Games of the small positions whose assignments are all looked at."""


def _conditions(test: Callable[[str, int], object], shape: str) -> None:
    test_conditions.looks.cache_clear()  # what the process that forked has seen were the unchanged rules
    test(shape, MOMENTS[shape])


def _cycles() -> None:
    with pytest.MonkeyPatch.context() as patch:
        test_conditions.looks.cache_clear()
        test_conditions.test_steps_are_symmetric_and_connect_all_assignments("4x3", MOMENTS["4x3"], patch)
    for board in test_conditions.BOARDS:
        with pytest.MonkeyPatch.context() as patch:
            test_conditions.test_cycles_are_symmetric_and_connect_what_exchanges_do_not(board, patch)


def _draws() -> None:
    """Uniform draws by the chain: on so small boards few sweeps are enough."""
    with pytest.MonkeyPatch.context() as patch:
        for constant, value in (("PILOT", 10), ("VISITS", 10), ("MOST_SWEEPS", 5000)):
            patch.setattr(chain, constant, value)
        test_chain.test_draws_every_world_and_nothing_else_equally_often("3x3", 18)


def _conformance(name: str, check: Callable[..., object]) -> None:
    check(make_game(name, **SAME_GAMES[name][0]), np.random.default_rng(2008))


EXPECTED: dict[tuple[str, int], object] = {}
"""Hashes of what the unchanged rules do."""


def learn() -> None:
    """Take the hashes, and the games that the slow reference has played, once, before anything is changed."""
    for shape, games in MOMENTS.items():
        test_worlds.moments(shape, games)
    for name, configurations in SAME_GAMES.items():
        for k in range(len(configurations)):
            EXPECTED[name, k] = _hashes(name, k)
    EXPECTED["curio", -1] = _large_playouts()


def _hashes(name: str, k: int) -> object:
    test_same_games.GAMES = GAMES
    return test_same_games.hashes(make_game(name, **SAME_GAMES[name][k]))


def _same_games(name: str, k: int) -> None:
    assert _hashes(name, k) == EXPECTED[name, k]


def _tables() -> None:
    """What is computed at import, computed anew."""
    assert (np.array([chains._runs(bits) for bits in range(64)]) == chains.RUNS).all()
    assert (chameleon_view.triples() == chameleon_view.TRIPLES).all()
    for base, kinds in enumerate(curio_rules.KINDS):
        assert (curio_rules._kinds(base) == kinds).all()


def _without_tables(k: int) -> Curio:
    """A small game of Curio by the kernels for boards of more than 64 cells."""
    game = Curio(**SAME_GAMES["curio"][k])
    game._tables = None
    return game


def _large_boards() -> None:
    """Boards of more than 64 cells have kernels of their own: the same moves, and whole games by the rules."""
    for k, options in enumerate(SAME_GAMES["curio"][:3]):
        game, slow = Curio(**options), _without_tables(k)
        states = positions(game, np.random.default_rng(5), 12, batch=4)
        assert (slow.legal_action_mask(states) == game.legal_action_mask(states)).all()
    test_moves.test_who_cannot_move_passes_by_the_walk_too()
    _who_moved_last(_without_tables(0))
    assert _large_playouts() == EXPECTED["curio", -1]


def _large_armies() -> None:
    """More pieces that hide a number than there are kinds."""
    game = Curio(base=2, rows=6, cols=4, num_pieces=9, face="random", turn=False)
    for state in positions(game, np.random.default_rng(5), 20, batch=3):
        for player in range(2):
            view = game.view(state[None], player)
            worlds = game.determinize(view, np.random.default_rng(6))
            assert (game.observe(game.view(worlds, player)) == game.observe(view)).all()


def _who_moved_last(game: Curio) -> None:
    """Every action of a playout was played by whom the playout says, or by nobody."""
    states, players = game.init(6, np.random.default_rng(3)), np.full((6, game.num_actions), -1, np.int8)
    game.playout(states, np.random.default_rng(4), last_player_by_action=players)
    game.validate(states)
    assert states["done"].all()
    assert (players[np.arange(6), states["last_action"]] == 1 - states["to_move"]).all()


def _large_playouts() -> object:
    game = _without_tables(0)
    states = game.init(12, np.random.default_rng(3))
    game.playout(states, np.random.default_rng(4))
    return states.tobytes()


def _validation(name: str) -> None:
    test_validation.test_random_bytes_are_refused_or_harmless(name)
    for game, field, value in test_validation.WRONG:
        if game.name == name:
            test_validation.test_the_row_and_the_field_are_named(game, field, value)
    for wrong in test_validation.CHAINS if name == "chameleon" else ():
        test_validation.test_chains_that_no_stones_make_are_refused(wrong)
    test_validation.test_everything_that_the_rules_make_is_valid(make_game(name, **SAME_GAMES[name][0]))


def _bridges(name: str) -> None:
    game = next(each for each in test_bridges.GAMES if each.name == name)
    test_bridges.test_the_cell_that_saves_a_bridge(game)
    test_bridges.test_games_that_save_bridges_end_by_the_rules(game)
    test_bridges.test_every_saving_cell_is_equally_likely(game)
    test_bridges.test_a_bridge_that_was_just_broken_is_saved_unless_that_loses(game)
    for save_bridges in (False, True):
        test_bridges.test_every_move_that_wins_at_once_is_tried(game, save_bridges)
    if name == "chameleon":
        for save_bridges in (False, True):
            test_bridges.test_who_swaps_where_no_bridge_is_broken(save_bridges)


def _figures(name: str) -> None:
    test_scenes.test_the_winning_figure_is_marked(make_game(name, **SMALL[name][0] | {"allow_resign": False}))


def _files(paths: list[str]) -> None:
    assert pytest.main(["-x", "-q", "-p", "no:cacheprovider", "--no-header", *paths]) == 0


def _avoiding() -> None:
    """As tests/unlur/test_playouts.py, from fewer positions."""
    from tests.unlur.test_playouts import outcomes

    game, rng = Unlur(radius=3), np.random.default_rng(5)
    states = positions(game, rng, 13, batch=40)
    states = states[~states["done"] & (states["black"] >= 0)]
    after = outcomes(game, states)
    must_lose = (np.isnan(after) | (after == -1)).all(axis=1)
    for _ in range(3):
        ended = states.copy()
        game.playout(ended, rng, avoid_losing_moves=True)
        at_once = ended["ply"] == states["ply"] + 1
        lost = at_once & (ended["returns"][np.arange(len(states)), states["to_move"]] < 0)
        assert (lost == must_lose).all()
