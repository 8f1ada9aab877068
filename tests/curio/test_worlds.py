"""What a player of Curio cannot tell apart (C15), compared with every world that the slow reference finds.

Small random positions are played on at random, under all combinations of the options. A *moment* is a reference in the
middle or at the end of such a game, a player, and the worlds in which this player may be.
"""

import itertools
import random
from collections import Counter
from functools import cache, partial
from typing import NamedTuple

import numpy as np
import pytest

from pbm_envs import Curio
from pbm_envs.games.curio.worlds import Turnings
from tests.curio.positions import VARIANTS, chi_square_bound, expect_uniform, may_hide, some_board
from tests.play import play
from tests.reference.curio import Curio as Reference
from tests.reference.curio import cell_name

SHAPES = {  # and pieces a side
    "3x3": {"rows": 3, "cols": 3, "base": 2, "pieces": 3},
    "4x3": {"rows": 4, "cols": 3, "base": 3, "pieces": 5},
    "5x4": {"rows": 5, "cols": 4, "base": 3, "pieces": 5},
}
MOST_WORLDS = 150
DRAWS = 30
"""Of each world, on average."""
CASES = [("3x3", 54), ("4x3", 54), pytest.param("5x4", 54, marks=pytest.mark.slow)]
every_case = pytest.mark.parametrize(("shape", "games"), CASES)


class Moment(NamedTuple):
    game: Curio
    reference: Reference
    player: int
    worlds: list[Reference]

    def state(self, world):
        """The game of a world, by the rules under test: a batch of one."""
        return play(self.game, " ".join(world.moves), world.start)

    def view(self):
        return self.game.view(self.state(self.reference), self.player)

    def case(self, draw):
        """As `expect_uniform` takes it."""
        return str(self), draw, self.view(), [self.state(world)["faces"].tobytes() for world in self.worlds]

    def __str__(self):
        return f"player_{self.player} of {self.game!r}, {self.reference.start!r}: {' '.join(self.reference.moves)}"


@cache
def moments(shape, games):
    """Of each game three moments for each player, the last position among them; no game has a pass before."""
    found = []
    for seed in range(games):
        rng = random.Random(f"{shape} {seed}")
        options = {k: v for k, v in SHAPES[shape].items() if k != "pieces"} | VARIANTS[seed * 31 % len(VARIANTS)]
        reference = Reference(some_board(rng, **SHAPES[shape], face=options["face"]), **options)
        past = [reference.copy()]
        while not reference.done and reference.ply < 20 and "pass" not in reference.legal():
            texts = sorted(reference.legal())
            takes = [text for text in texts if text.partition("-")[2] in map(cell_name, reference.board)]
            reference.play(rng.choice(takes if takes and rng.random() < 0.5 else texts))
            past.append(reference.copy())
        for then in [*rng.sample(past[:-1], min(2, len(past) - 1)), past[-1]]:
            for player in range(2):
                worlds = then.worlds(player)
                if len(worlds) <= MOST_WORLDS:
                    found.append(Moment(Curio(**options), then, player, worlds))
    return found


def possible(worlds, player):
    """The numbers that each piece on the board has on its other side in some world, by cell."""
    found = {}
    for world in worlds:
        for cell, piece in world.board.items():
            found.setdefault(cell_name(cell), set()).add(piece.faces[1 - player])
    return found


def differences(game, one, other):
    """The fields in which two batches differ."""
    return [name for name in game.dtype.names if not np.array_equal(one[name], other[name])]


@every_case
def test_determinize_draws_every_world_and_nothing_else_equally_often(shape, games):
    """C15, and C7 under totals"""
    rng = np.random.default_rng(6)
    cases = (moment.case(partial(moment.game.determinize, rng=rng)) for moment in moments(shape, games))
    assert expect_uniform(cases, DRAWS) > 3 * games


@every_case
def test_whatever_is_possible_may_be_hidden(shape, games):
    """C15: the `may hide` planes leave out nothing"""
    for moment in moments(shape, games):
        planes = may_hide(moment.game, moment.view())
        for cell, numbers in possible(moment.worlds, moment.player).items():
            assert planes[cell] >= numbers, str(moment)


@every_case
def test_nothing_else_may_be_hidden_but_for_the_end_of_the_game(shape, games, monkeypatch):
    """C15: if captured pieces are shown and totals do not count, the planes leave in nothing but what C11 excludes"""
    played = moments(shape, games)  # by the rules as they are
    monkeypatch.setattr(Reference, "_dead", lambda _: False)
    compared = 0
    for moment in played:
        options = moment.game.options
        if options["reveal_captured"] and not options["capture"].endswith("_total"):
            worlds = moment.reference.worlds(moment.player)
            assert may_hide(moment.game, moment.view()) == possible(worlds, moment.player), str(moment)
            compared += 1
    assert compared > games


@every_case
def test_all_worlds_look_the_same(shape, games):
    """C15: view, observation, mask and picture"""
    exchanged = 0
    for moment in moments(shape, games):
        game, view = moment.game, moment.view()
        for world in moment.worlds:
            twin = game.view(moment.state(world), moment.player)
            assert differences(game, twin, view) == [], str(moment)
            assert game.observe(twin).tobytes() == game.observe(view).tobytes()
            assert game.legal_action_mask(twin).tobytes() == game.legal_action_mask(view).tobytes()
            assert game.scene(twin) == game.scene(view)
            exchanged += world.start != moment.reference.start
    assert exchanged > 3 * games


@every_case
def test_a_view_of_a_drawn_state_is_the_view_it_was_drawn_from(shape, games):
    """C15"""
    rng = np.random.default_rng(7)
    for moment in moments(shape, games):
        view, game = moment.view(), moment.game
        again = game.view(game.determinize(np.repeat(view, 10), rng), moment.player)
        assert differences(game, again, np.repeat(view, 10)) == [], str(moment)


@pytest.mark.parametrize(("shape", "games"), [({}, 30), ({"rows": 8, "cols": 8, "num_pieces": 20, "capture": "le"}, 6)])
def test_whole_armies(shape, games):
    """C15, C7: the last two on every fourth ply of games with whole sets"""
    draws, moves = np.random.default_rng(8), np.random.default_rng(9)
    for seed in range(games):
        game = Curio(**VARIANTS[seed * 31 % len(VARIANTS)] | shape, no_capture_limit=30)
        states = game.init(3, moves)
        while not states["done"].all():
            masks = game.legal_action_mask(states)
            for player in range(2) if states["ply"].max() % 4 == 0 else ():
                views = game.view(states, player)
                assert differences(game, game.view(game.determinize(views, draws), player), views) == []
                mine = (states["to_move"] == player)[:, None]
                assert np.array_equal(game.legal_action_mask(views), masks & mine)
            game.step(states, [moves.choice(np.flatnonzero(mask)) if mask.any() else 0 for mask in masks])


def test_turnings_count_every_way_to_hide_a_pool():
    """For `face` "random": the ways that `Turnings` counts are those that going through all assignments finds, and it
    draws them equally often.
    """
    rng = random.Random(3)
    for _ in range(25):
        base, pieces = 3, [tuple(sorted(rng.choices(range(1, 4), k=2))) for _ in range(rng.randint(2, 5))]
        shown, hides = zip(*(rng.sample(piece, 2) for piece in pieces), strict=True)
        lows = [rng.randint(1, hidden) for hidden in hides]
        kinds = list(itertools.combinations_with_replacement(range(1, base + 1), 2))
        pool = np.array([pieces.count(kind) for kind in kinds], np.int64)
        least = np.zeros((base, 9), np.int64)
        for v in range(1, base + 1):
            group = sorted((low for low, face in zip(lows, shown, strict=True) if face == v), reverse=True)
            least[v - 1, : len(group)] = group
        splits = Counter()
        for guess in itertools.product(range(1, base + 1), repeat=len(pieces)):
            fits = all(low <= h for low, h in zip(lows, guess, strict=True))
            if fits and sorted(map(tuple, map(sorted, zip(shown, guess, strict=True)))) == sorted(pieces):
                splits[tuple(sorted(Counter(zip(shown, guess, strict=True)).items()))] += 1
        ways = Turnings(base, pool.tobytes(), least.tobytes())
        assert ways._completions(0) == sum(splits.values())
        drawn = Counter()
        for _ in range(400):
            hidden = ways.draw([rng.random() for _ in kinds])
            drawn[tuple(((v, h), n) for v, row in enumerate(hidden) for h, n in enumerate(row) if n)] += 1
        assert set(drawn) <= set(splits)
        expected = {split: 400 * count / sum(splits.values()) for split, count in splits.items()}
        assert sum((drawn[s] - n) ** 2 / n for s, n in expected.items()) < chi_square_bound(len(splits))


def test_kernel_draws_the_worlds_of_determinize():
    """A search draws worlds without Python: the same ones, also where the first attempt fails."""
    game, rng = Curio(face="small", capture="ge", reveal_captured=False), np.random.default_rng(3)
    world = game._play_kernels(False, False).world
    states = game.init(50, rng)
    for ply in range(30):
        actions = [
            int(rng.choice(np.flatnonzero(mask))) if mask.any() else 0 for mask in game.legal_action_mask(states)
        ]
        game.step(states, actions)
        views, seeds = game.view(states, ply % 2), rng.integers(0, 2**64, 50, np.uint64)
        drawn, worlds, good = game.determinize(views, seeds.copy()), views.copy(), np.zeros(50, np.bool_)
        world.kernel(worlds, seeds, good, *world.arguments)
        assert good.all()
        assert all((drawn[name] == worlds[name]).all() for name in drawn.dtype.names)
