"""Everything that a player of Curio is given depends on nothing but what that player can know (C15).

Small armies are enumerated completely: all set-ups in which a player can be, by the opening position that they see, are
played on by the slow reference, and those are kept that have looked the same after every ply. Whatever the program
shows or does for that player must be the same in all of them, and `determinize` must draw each equally often.
"""

import itertools
import json
import random
from collections import Counter
from functools import cache, partial
from queue import Queue
from typing import NamedTuple

import numpy as np
import pytest
from pbm_agents import make_agent
from pbm_agents.play.table import Start, Table

from pbm_envs import Curio, curio_v0
from pbm_envs.records import make_record
from pbm_envs.render import pixels, svg
from tests.commands import output_of
from tests.curio.positions import CAPTURES, FACES, VARIANTS, expect_uniform
from tests.reference.curio import Curio as Reference
from tests.reference.curio import Piece, board_text, random_board, stands_by

SIZES = {
    "one set": {"base": 2, "rows": 4, "cols": 3},
    "gaps": {"base": 2, "rows": 4, "cols": 4},
    "two sets": {"base": 2, "rows": 5, "cols": 4, "num_pieces": 6},
    "base 3": {"base": 3, "rows": 4, "cols": 4},
}
LIMITS = (100, None, 6)
MOST_WORLDS = 160
PLIES = 16
DRAWS = 30
"""Of each world, on average."""
SHOWN = 5
"""Worlds in which the slower ways of showing are compared."""
MODES = ("ansi", "rgb_array")
AGENTS = ("random", "mcts:simulations=12", "mcts:simulations=8,temperature=1", "pimc:worlds=2,simulations=8")


class Moment(NamedTuple):
    """`worlds` are all in which `player` may be; the first is the true one."""

    game: Curio
    player: int
    worlds: list[Reference]

    @property
    def states(self):
        return states_of(self.game, self.worlds)

    def views(self):
        return self.game.view(self.states, self.player)

    @property
    def own_turn(self):
        return not self.worlds[0].done and self.worlds[0].to_move == self.player

    def __str__(self):
        truth = self.worlds[0]
        return f"player_{self.player} of {self.game!r}, {truth.start!r}: {' '.join(truth.moves)}"


def states_of(game, worlds):
    """These worlds by the rules under test, a batch."""
    states = np.concatenate([game.init(1, np.random.default_rng(0), world.start) for world in worlds])
    for text in worlds[0].moves:
        game.step(states, np.full(len(states), game.string_to_action(text)))
    return states


def armies(truth, owner, player):
    """Every way in which the sets in play can stand where this army stands, showing `player` what it shows (C2, C5)."""
    army = sorted((cell, piece.faces[player]) for cell, piece in truth.board.items() if piece.owner == owner)
    kinds = Counter(tuple(sorted(piece.faces)) for piece in truth.board.values() if piece.owner == owner)

    def place(rest, left):
        if not rest:
            yield {}
            return
        (cell, shown), *others = rest
        for kind in sorted(left):
            for faces in {kind, kind[::-1]}:
                if faces[player] == shown and stands_by(truth.face, owner, faces):
                    for placed in place(others, left - Counter([kind])):
                        yield {cell: Piece(owner, faces), **placed}

    return list(place(army, kinds))


def histories(seed, size, options):
    """A random game, without a pass; after every ply, for each player, all worlds that have looked the same so far."""
    rng = random.Random(f"{seed} {size} {options}")
    settings = SIZES[size] | options
    shape = {name: settings.get(name) for name in ("base", "rows", "cols", "num_pieces", "face")}
    truth = Reference(random_board(rng, **shape), **settings)
    game = Curio(**settings)
    found = []
    for player in range(2):
        pairs = itertools.product(*(armies(truth, owner, player) for owner in range(2)))
        boards = [board_text({**light, **dark}, truth.rows, truth.cols) for light, dark in pairs]
        boards.sort(key=lambda board: board != truth.start)
        assert boards[0] == truth.start
        assert len(set(boards)) == len(boards)
        found.append(
            [world for world in (Reference(board, **settings) for board in boards) if alike(world, truth, player)]
        )
    while True:
        for player in range(2):
            worlds = found[player]
            if settings["capture"].endswith("_total") and truth.to_move == player:  # C7: the mask reveals something
                worlds = [world for world in worlds if world.legal() == truth.legal()]
            if len(worlds) <= MOST_WORLDS:
                yield Moment(game, player, [world.copy() for world in worlds])
        if truth.done or truth.ply == PLIES or "pass" in truth.legal():
            return
        texts = sorted(truth.legal())
        ends = {text.partition("-")[2] for text in texts}
        taken = [text for text in texts if text.partition("-")[2] in ends & occupied(truth)]
        text = rng.choice(taken if taken and rng.random() < 0.5 else texts)
        truth.play(text)
        for player in range(2):
            found[player] = [world for world in found[player] if follows(world, text, truth, player)]


def occupied(truth):
    return {f"{'abcdefghi'[col]}{row + 1}" for col, row in truth.board}


def alike(world, truth, player):
    return world.sees(player) == truth.sees(player)


def follows(world, text, truth, player):
    """Play on; whether it could be played and looks the same."""
    if world.done or text not in world.legal():
        return False
    world.play(text)
    return alike(world, truth, player)


@cache
def moments(face, capture, size, games):
    """All moments of games; eight games are under all combinations of the other options."""
    chosen = [options for options in VARIANTS if (options["face"], options["capture"]) == (face, capture)]
    found = []
    for seed in range(games):
        options = chosen[(seed * 3 + CAPTURES.index(capture)) % len(chosen)]
        found += histories(seed, size, options | {"no_capture_limit": LIMITS[seed % 3]})
    return found


FEW = [  # the others have records of other kinds, whose kernels take long to compile
    pytest.param(face, capture, size, 2, id=f"{size}, {face}, {capture}")
    for size, face, capture in [
        ("one set", "large", "le"),
        ("one set", "small", "ge"),
        ("one set", "random", "lt"),
        ("base 3", "large", "le_total"),
    ]
]
ALL = [
    pytest.param(face, capture, size, games, id=f"{size}, {face}, {capture}, all", marks=pytest.mark.slow)
    for size, games in (("one set", 8), ("gaps", 2), ("two sets", 1), ("base 3", 1))
    for face, capture in itertools.product(FACES, CAPTURES)
]
every_option = pytest.mark.parametrize(("face", "capture", "size", "games"), [*FEW, *ALL])


def some(moments):
    """A few moments, for what takes long: where there is something to hide, and most of them on the player's turn."""
    hiding = [moment for moment in moments if len(moment.worlds) > 1]
    return [moment for moment in hiding if moment.own_turn][1::8][:2] + hiding[-1:]


@every_option
def test_views_and_pictures(face, capture, size, games):
    """View, observation, mask, text and picture after every ply: byte for byte the same in all worlds"""
    hidden = 0
    for k, moment in enumerate(moments(face, capture, size, games)):
        game, views = moment.game, moment.views()
        planes, masks = game.observe(views), game.legal_action_mask(views)
        assert [name for name in game.dtype.names if not (views[name] == views[name][:1]).all()] == [], str(moment)
        assert (planes == planes[:1]).all(), str(moment)
        assert (masks == masks[:1]).all(), str(moment)
        assert (masks == game.legal_action_mask(moment.states)[:1] * moment.own_turn).all(), str(moment)
        drawn = views[:SHOWN] if k % 4 == 0 else views[:1]
        shown = {(game.to_text(view), svg(game.scene(view)), game.board_to_string(view)) for view in drawn}
        assert len(shown) == 1, str(moment)
        hidden += len(moment.worlds) > 1
    assert hidden > games


@pytest.mark.slow
@every_option
def test_determinize_is_uniform(face, capture, size, games):
    """Chi-square against the enumeration; nothing else is drawn"""
    rng = np.random.default_rng(2008)
    cases = (
        (str(m), partial(m.game.determinize, rng=rng), m.views()[:1], [state["faces"].tobytes() for state in m.states])
        for m in moments(face, capture, size, games)[::3]
    )
    assert expect_uniform(cases, DRAWS) > games


@every_option
def test_environments(face, capture, size, games):
    """What the PettingZoo and both Gymnasium environments give"""
    for moment in some(moments(face, capture, size, games)):
        game, agent, worlds = moment.game, f"player_{moment.player}", moment.worlds[:SHOWN]
        seen = []
        for mode in MODES:
            env = curio_v0.raw_env(**game.options, render_mode=mode, render_viewer=agent, render_size=120)
            for world in worlds:
                env.reset(seed=1, options={"board": world.start, "moves": world.moves})
                given = env.observe(agent)
                told = env.infos, env.terminations, env.truncations, env.rewards, env.agent_selection, env.agents
                picture = np.asarray(env.render()).tobytes()
                seen.append((mode, picture, given["observation"].tobytes(), given["action_mask"].tobytes(), str(told)))
        assert len(set(seen)) == len(MODES), str(moment)
        if not moment.own_turn:
            continue
        starts = {"board": [world.start for world in worlds], "moves": [world.moves for world in worlds]}
        for mode in MODES:
            envs = curio_v0.vector_env(len(worlds), render_mode=mode, render_size=120, **game.options)
            planes, info = envs.reset(seed=1, options=starts)
            assert (planes == planes[:1]).all(), str(moment)
            assert all((value == value[:1]).all() for value in info.values()), str(moment)
            assert len({np.asarray(picture).tobytes() for picture in envs.render()}) == 1
        one = curio_v0.single_env(opponent="random", seat=moment.player, render_mode="ansi", **game.options)
        seen = set()
        for world in worlds:
            planes, info = one.reset(seed=1, options={"board": world.start, "moves": world.moves})
            seen.add((planes.tobytes(), info.pop("action_mask").tobytes(), str(info), one.render()))
        assert len(seen) == 1, str(moment)


@every_option
def test_agents(face, capture, size, games):
    """The same luck, the same action"""
    played = Counter()
    for moment in some(moments(face, capture, size, games)):
        if moment.own_turn:
            for name in AGENTS:
                agent, views = make_agent(name), moment.views()[:SHOWN]
                rows = [views[row : row + 1] for row in range(len(views))]
                actions = {int(agent.act(moment.game, view, np.random.default_rng(1))[0]) for view in rows}
                assert len(actions) == 1, str(moment)
                played[name] += 1
    assert played


@every_option
def test_the_terminal(face, capture, size, games, tmp_path):
    """`pbm play`, with hints; and a whole game as `pbm replay --seen-by` shows it"""
    for moment in some(moments(face, capture, size, games)):
        game, path = moment.game, tmp_path / "games.jsonl"
        options = [word for name, value in game.options.items() for word in ("-o", f"{name}={value}")]
        seen, replayed = set(), set()
        for world, end in zip(moment.worlds[:SHOWN], moment.states, strict=False):
            start = game.init(1, np.random.default_rng(0), world.start)
            record = make_record(game, start, world.moves, np.array([end]), agents=("a", "b"), seed=1)
            path.write_text(record.to_json() + "\n")
            replayed.add(output_of("replay", path, "--show", 1, "--seen-by", moment.player))
            if moment.own_turn:
                where = ["--board", world.start, "--moves", " ".join(world.moves), "--seed", 7, "--hint", AGENTS[1]]
                typed = "board\nmoves\nhint\nundo\nresign!\nquit\n"
                seen.add(output_of("play", "curio", "person", "person", *options, *where, typed=typed))
        assert len(replayed) == 1, str(moment)
        assert len(seen) == moment.own_turn, str(moment)


@every_option
def test_served_pages(face, capture, size, games):
    """All messages to the page that a person has open: position, picture, legal moves, hints, thoughts, refusals"""
    for moment in some(moments(face, capture, size, games)):
        if moment.own_turn:
            pages = {served(moment.game, world) for world in moment.worlds[:SHOWN]}
            assert len(pages) == 1, str(moment)


def served(game, world):
    """What a table sends to two persons, of whom the one to move has sat down."""
    sent = Queue()
    table = Table(sent.put, Start(game, ("person", "person"), 7, world.start, tuple(world.moves), AGENTS[1]))
    messages = []

    def order(word, done):
        table.receive({"do": word})
        while not messages or not done(messages[-1]):
            message = sent.get(timeout=600)
            if message["type"] == "kept":  # at a random address
                message = message | {"address": ""}
            if message["type"] != "preparing":  # when rules are compiled
                messages.append(message)

    def idle(message):
        return message["type"] == "position" and not message["thinking"]

    order("hello", lambda message: message["type"] == "position")
    order("sit", lambda message: message["type"] == "position" and message["curtain"] is None)
    order("hint", lambda message: idle(message) and message["hint"])
    order("analyse", lambda message: idle(message) and message["analysis"])
    order("save", lambda message: message["type"] == "error")
    table.close()
    while not sent.empty():
        assert sent.get()["type"] == "preparing"
    return json.dumps(messages)


def test_what_is_compared_tells_worlds_apart():
    """The other player, to whom the difference is open, sees it; and a board that looks different is another page."""
    moment = next(m for m in moments("large", "le", "one set", 2) if m.own_turn and len(m.worlds) > 3)
    game, truth = moment.game, moment.worlds[0]
    assert not truth.moves
    views = game.view(moment.states, 1 - moment.player)
    assert len({planes.tobytes() for planes in game.observe(views)}) > 1
    assert len({game.to_text(view) for view in views}) > 1
    assert len({svg(game.scene(view)) for view in views}) > 1
    assert len({pixels(game.scene(view)).tobytes() for view in views}) > 1
    *rest, home = truth.start.split("/")
    boards = ["/".join([*rest, " ".join(row)]) for row in itertools.permutations(home.split())]
    worlds = [Reference(board, **truth.options) for board in boards]
    pages = {world.sees(moment.player): served(game, world) for world in worlds}
    assert len(set(pages.values())) == len(pages) == 3
