"""The parts of the Markov chain, where all assignments of hidden faces can be looked at (C15).

An assignment gives the hidden pieces of each army the kinds of its pool, as the orientation allows (C5). It must break
a condition unless it is a world; steps must be symmetric and connect all assignments; sweeps must count right.
"""

import itertools
from collections import Counter
from fractions import Fraction
from functools import cache
from math import prod

import numpy as np
import pytest

from pbm_envs import Curio
from pbm_envs.core.kernels import kernel
from pbm_envs.core.state import NOBODY
from pbm_envs.games.curio import chain
from pbm_envs.games.curio.chain import begin, count_all_broken, count_royals, list_pieces, sweep
from pbm_envs.games.curio.conditions import list_allowed, list_conditions
from pbm_envs.games.curio.game import NO_LEGAL
from tests.curio.test_worlds import moments
from tests.mutation.mutants import function_at
from tests.reference.curio import Piece, cell_name, stands_by

MOST = 400
"""Assignments of the views that are looked at."""
SWEEPS = 30
BOARDS = (
    "D12 D23 D31/. . ./. . ./L12 L23 L31",
    "D21 D12 D13/D32 . ./. L33 ./L12 L23 L31",
    "D12 D23 D31/D22 . ./. . L21/L12 L32 L13",
)
"""With cycles of three pieces, each of which hides what the next one shows."""
CASES = [("3x3", 18), pytest.param("4x3", 18, marks=pytest.mark.slow)]
every_case = pytest.mark.parametrize(("shape", "games"), CASES)


@kernel
def look_at_conditions(views, settings, steps, legal, hides, broken, first, visited, tracked, counted, seeds):
    """What each row of `hides` breaks; where the chain of a view begins; where sweeps lead, the number of broken
    conditions and of royal pieces as they are tracked and as they are counted anew.
    """
    view, rules = views[0], settings[0]
    cells, base = hides.shape[1], rules["base"]
    allowed, royals = np.empty(cells, np.int64), np.zeros(2, np.int64)
    scratch = np.empty((6, max(cells, base * (base + 1) // 2)), np.int64)
    out = np.empty((2, base + 2), np.int64)
    list_allowed(view, rules, allowed)
    known = list_conditions(view, rules, steps, legal[0], allowed)
    for i in range(len(hides)):
        pieces = list_pieces(view, rules, hides[i])
        count_royals(view, known.royal, hides[i], base, royals)
        broken[i] = count_all_broken(pieces, hides[i], known, rules["compare"], royals)
    if not begin(view, rules, allowed, first, scratch):
        return False
    now = first.copy()
    pieces = list_pieces(view, rules, now)
    count_royals(view, known.royal, now, base, royals)
    total = count_all_broken(pieces, now, known, rules["compare"], royals)
    for k in range(len(visited)):
        total += sweep(pieces, now, known, rules, royals, seeds, 0, out)
        tracked[k, 0], tracked[k, 1], tracked[k, 2] = total, royals[0], royals[1]
        count_royals(view, known.royal, now, base, royals)
        counted[k, 0] = count_all_broken(pieces, now, known, rules["compare"], royals)
        counted[k, 1], counted[k, 2] = royals[0], royals[1]
        for slot in range(cells):
            visited[k, slot] = now[slot]
    return True


def assignments(game, view, most=MOST):
    """What each slot hides, 0 for none: tuples of all assignments; None if there are more than `most`."""
    base, cells, seen = game.options["base"], game.board.size, int(view["viewer"])
    kinds = list(itertools.combinations_with_replacement(range(1, base + 1), 2))

    def fill(army, slots, pool):
        if not slots:
            yield {}
        for h in range(1, base + 1) if slots else ():
            shown = int(view["faces"][slots[0], seen])
            faces = (shown, h) if seen == 0 else (h, shown)
            pair = (min(faces), max(faces))
            if pool[pair] and stands_by(game.options["face"], army, faces):
                for rest in fill(army, slots[1:], pool - Counter([pair])):
                    yield {slots[0]: h, **rest}

    armies = []
    for army in range(2):
        own = [slot for slot in range(cells) if view["owner"][slot] == army]
        pool = Counter(dict(zip(kinds, view["unseen"][army].tolist(), strict=True)))
        hidden = [slot for slot in own if not view["faces"][slot, 1 - seen]]
        armies.append(list(itertools.islice(fill(army, hidden, pool), most + 1)))
    if prod(map(len, armies)) > most:
        return None
    return [tuple((one | other).get(slot, 0) for slot in range(cells)) for one in armies[0] for other in armies[1]]


def hidden_in(world, view):
    """The assignment of a full state."""
    faces, seen = world["faces"], int(view["viewer"])
    hides = (view["faces"][:, 1 - seen] == 0) & (view["owner"] != NOBODY)
    return tuple(np.where(hides, faces[:, 1 - seen], 0).tolist())


def is_dead(moment, view, hides):
    """Would the position have been at its end by C11?"""
    twin, seen = moment.reference.copy(), int(view["viewer"])
    slots = {moment.game.board.names[cell]: slot for slot, cell in enumerate(view["cell"].tolist()) if cell >= 0}
    for cell, piece in twin.board.items():
        hidden = hides[slots[cell_name(cell)]]
        if hidden:
            shown = piece.faces[seen]
            twin.board[cell] = Piece(piece.owner, (shown, hidden) if seen == 0 else (hidden, shown))
    return twin._dead()


class Look:
    """What `look_at_conditions` says of a moment's view."""

    def __init__(self, moment, every):
        game, views, count = moment.game, moment.view(), moment.game.board.size
        legal = np.ascontiguousarray(views["legal"]) if game._total else NO_LEGAL
        self.hides = np.array(every, np.int64)
        self.broken, self.first = np.zeros(len(every), np.int64), np.zeros(count, np.int64)
        self.visited = np.zeros((SWEEPS, count), np.int64)
        self.tracked, self.counted = np.zeros((SWEEPS, 3), np.int64), np.zeros((SWEEPS, 3), np.int64)
        self.begun = look_at_conditions(views, game.settings, game.steps, legal, self.hides, self.broken, self.first,
                                        self.visited, self.tracked, self.counted, np.array([7], np.uint64))  # fmt: skip


@cache
def looks(shape, games):
    """Moments with few assignments: the moment, its view, its assignments, what the kernels say of them."""
    found = []
    for moment in moments(shape, games):
        view = moment.view()[0]
        every = assignments(moment.game, view)
        if every is not None:
            found.append((moment, view, every, Look(moment, every)))
    return found


@every_case
def test_an_assignment_breaks_nothing_just_if_it_is_a_world(shape, games):
    """Of those that are none, `run_chain` leaves only dead positions (C11) to `is_consistent`."""
    wrong = 0
    for moment, view, every, look in looks(shape, games):
        worlds = {hidden_in(moment.state(world)[0], view) for world in moment.worlds}
        assert worlds <= set(every), str(moment)
        for hides, broken in zip(every, look.broken.tolist(), strict=True):
            wrong += broken > 0
            if hides in worlds:
                assert broken == 0, str(moment)
            elif broken == 0:
                assert not moment.reference.done, str(moment)
                assert is_dead(moment, view, hides), str(moment)
    assert wrong > games


@every_case
def test_sweeps_lead_to_assignments_and_count_what_they_break(shape, games):
    changed = 0
    for moment, _, every, look in looks(shape, games):
        assert look.begun, str(moment)
        known = set(every)
        assert {tuple(hides) for hides in [look.first.tolist(), *look.visited.tolist()]} <= known, str(moment)
        assert np.array_equal(look.tracked, look.counted), str(moment)
        changed += len(np.unique(look.visited, axis=0)) > 1
    assert changed > games


def outcomes(monkeypatch, step):
    """What a function returns for all that `draw` can say, each with its probability."""
    script, position = [], 0

    def draw(_seeds, _row, count):
        nonlocal position
        if position == len(script):
            script.append([0, count])
        position += 1
        return script[position - 1][0]

    monkeypatch.setattr(chain, "draw", draw)
    while True:
        position = 0
        result = step()
        yield result, prod((Fraction(1, count) for _, count in script), start=Fraction(1))
        while script and script[-1][0] == script[-1][1] - 1:
            script.pop()
        if not script:
            return
        script[-1][0] += 1


def probabilities(monkeypatch, view, rules, hides, turned):
    """Of all that one step can lead to from an assignment."""
    before, found = np.array(hides, np.int64), Counter()
    pieces = function_at(chain, "list_pieces")(view, rules, before)
    out = np.empty((2, int(rules["base"]) + 2), np.int64)
    seeds = np.zeros(1, np.uint64)

    def step():
        shows = (pieces.shows,) if turned else ()
        propose = function_at(chain, "propose_cycle" if turned else "propose_exchange")
        count = propose(pieces.slots, pieces.groups, pieces.starts, before, *shows, seeds, 0, out)
        after = before.copy()
        after[out[0, :count]] = out[1, :count]
        return tuple(after.tolist())

    for after, probability in outcomes(monkeypatch, step):
        found[after] += probability
    return found


def check_steps(monkeypatch, game, view, every):
    """Exactly, over everything that the random numbers of a step can be. Whether a cycle can be turned around."""
    matrices, rules, cycles = [], game.settings[0], False
    for turned in (False, True) if game.options["face"] == "random" else (False,):
        matrix = {hides: probabilities(monkeypatch, view, rules, hides, turned) for hides in every}
        for hides, row in matrix.items():
            assert sum(row.values()) == 1
            for after, probability in row.items():
                assert matrix[after][hides] == probability, (hides, after)
        matrices.append(matrix)
        cycles = turned and any(len(row) > 1 for row in matrix.values())
    reached = waiting = {every[0]}
    while waiting:
        waiting = {after for hides in waiting for matrix in matrices for after in matrix[hides]} - reached
        reached = reached | waiting
    assert reached == set(every)
    return cycles


@every_case
def test_steps_are_symmetric_and_connect_all_assignments(shape, games, monkeypatch):
    seen = 0
    for moment, view, every, _ in looks(shape, games):
        if 1 < len(every) <= 24:
            check_steps(monkeypatch, moment.game, view, every)
            seen += 1
    assert seen > games


@pytest.mark.parametrize("board", BOARDS)
def test_cycles_are_symmetric_and_connect_what_exchanges_do_not(board, monkeypatch):
    game = Curio(base=3, rows=4, cols=3, face="random")
    for player in range(2):
        view = game.view(game.init(1, np.random.default_rng(1), board), player)[0]
        assert check_steps(monkeypatch, game, view, assignments(game, view))
