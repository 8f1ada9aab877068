"""Scenes of the games: kept ones, last moves, winning figures, heat, secrets."""

import numpy as np
import pytest

from pbm_envs import Chameleon, Curio, Trinim, Unlur, make_game, registered_games
from pbm_envs.core.scene import Circle, Label, Line, Polygon, Seat
from pbm_envs.render.parts import chip
from tests import environments
from tests.play import play
from tests.render.positions import GOLDEN, POSITIONS, as_json, position, scene, some_heat

SMALL = environments.SMALL | {
    "chameleon": {"size": 5},
    "curio": {"base": 2, "rows": 4, "cols": 3},
    "trinim": {"num_players": 3},
}
SMALL = {name: options | {"allow_resign": True} for name, options in SMALL.items()}


def random_games(game, count, seed=0):
    """Of each game all states, batches of one."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        states = game.init(1, rng)
        played = [states.copy()]
        while not states["done"][0]:
            game.step(states, [rng.choice(np.flatnonzero(game.legal_action_mask(states)[0]))])
            played.append(states.copy())
        yield played


def middle(points):
    xs, ys = zip(*points, strict=True)
    return (min(xs) + max(xs)) / 2, (min(ys) + max(ys)) / 2


@pytest.mark.parametrize("name", POSITIONS)
def test_scenes_are_as_they_were(name):
    """`python -m tests.render.positions` writes them anew."""
    assert as_json(scene(name)) == (GOLDEN / f"{name}.json").read_text(encoding="utf-8")


def test_what_is_kept_is_tested():
    assert {path.stem for path in GOLDEN.iterdir()} == set(POSITIONS)


@pytest.mark.parametrize("name", registered_games())
def test_the_box_never_changes_and_holds_everything(name):
    game = make_game(name, **SMALL[name])
    for played in random_games(game, 3):
        scenes = [game.scene(state, np.ones(game.num_actions)) for state in played]
        assert {s.box for s in scenes} == {game.scene(played[0]).box}
        left, top, width, height = scenes[0].box
        for shape in [shape for s in scenes for shape in s.painted]:
            points = shape.points if isinstance(shape, (Polygon, Line)) else [(shape.x, shape.y)]
            assert all(left <= x <= left + width and top <= y <= top + height for x, y in points), shape


@pytest.mark.parametrize("name", registered_games())
def test_there_is_a_place_to_click_for_every_cell(name):
    game = make_game(name, **SMALL[name])
    cells = game.scene(game.init(1, np.random.default_rng(0))).cells
    assert [(cell.index, cell.name) for cell in cells] == list(enumerate(game.board.names))
    middles = np.array([middle(cell.points) for cell in cells])
    apart = np.linalg.norm(middles[:, None] - middles, axis=2) + 9 * np.eye(len(cells))
    assert (apart > 0.99).all()
    onward = {(a, int(b)) for a, row in enumerate(game.board.neighbours) for b in row if b >= 0}
    neighbours = onward | {(b, a) for a, b in onward}
    touching = set(zip(*np.nonzero(apart < 1.01), strict=True))
    assert touching <= neighbours, "Curio's neighbours on diagonals are farther away"
    assert name == "curio" or touching == neighbours


@pytest.mark.parametrize("name", registered_games())
def test_the_last_move_is_marked(name):
    game = make_game(name, **SMALL[name])
    words = set()
    for played in random_games(game, 40):
        for seat, state in enumerate(played):
            view = game.view(state, seat % game.num_players)
            drawn, last = game.scene(view), int(view["last_action"][0])
            marks = [shape for shape in drawn.painted if getattr(shape, "line", None) == "mark"]
            if last < 0:
                assert marks == []
                continue
            cells = game.action_cells(last)
            places = [(s.x, s.y) if isinstance(s, Circle) else middle(s.points) for s in marks]
            for cell in cells:
                here = middle(drawn.cells[cell].points)
                assert min(np.hypot(x - here[0], y - here[1]) for x, y in places) < 1e-6
            if not cells:
                words.add(game.action_to_string(last))
                assert [shape.text for shape in drawn.painted if isinstance(shape, Label)].count(
                    game.cell_free_actions[last]
                ) == 1
                assert len(marks) == 1
    assert words >= {"chameleon": {"swap"}, "unlur": {"black"}}.get(name, {"resign"})


def winning_cells(game, drawn):
    """The cells of the band under the winning figure."""
    discs = [(shape.x, shape.y) for shape in drawn.painted if isinstance(shape, Circle) and shape.radius == 0.5]
    middles = [middle(cell.points) for cell in drawn.cells]
    return [min(range(game.board.size), key=lambda c: abs(complex(*middles[c]) - complex(*disc))) for disc in discs]


def joined(game, cells):
    """The edges, as bits, that a connected set of cells touches; 0 if it is not connected."""
    if not cells:
        return 0
    reached = [cells[0]]
    for cell in reached:
        reached += [c for c in game.board.neighbours[cell].tolist() if c in cells and c not in reached]
    return int(np.bitwise_or.reduce(game.board.edges[reached])) if len(reached) == len(cells) else 0


@pytest.mark.parametrize("game", [Chameleon(size=4), Unlur(radius=3)], ids=["chameleon", "unlur"])
def test_the_winning_figure_is_marked(game):
    """H3, U5: it lies on stones of one kind, does what wins, and no stone of it can be spared."""
    kinds = set()
    for *before, end in random_games(game, 60):
        assert all(winning_cells(game, game.scene(state)) == [] for state in before[-3:])
        cells = winning_cells(game, game.scene(end))
        assert len(set(end["stones"][0, cells].tolist())) == 1
        if game.name == "chameleon":
            vertical = end["vert"][0] == end["returns"][0].argmax()
            figures = [0b0011] if vertical else [0b1100]
        else:
            vertical = end["black"][0] == end["returns"][0].argmax()
            figures = [0b010101, 0b101010] if vertical else [0b001001, 0b010010, 0b100100]
        kinds.add(vertical)
        assert wins(game, cells, figures)
        for cell in cells:
            assert not wins(game, [other for other in cells if other != cell], figures)
    assert kinds == {True, False}


def wins(game, cells, figures):
    touched = joined(game, cells)
    return any(touched & figure == figure for figure in figures)


def test_who_resigned_leaves_no_winning_figure():
    game = Chameleon(size=3, allow_resign=True)
    end = play(game, "b1x b3x a2x c2x resign")
    assert winning_cells(game, game.scene(end)) == []
    assert game.seat(end[0], 1) == Seat("Horz", "player_1", active=False, won=True)


@pytest.mark.parametrize("name", registered_games())
def test_cells_of_actions(name):
    """They are those that the move's text names."""
    game = make_game(name, **SMALL[name])
    for action in range(game.num_actions):
        text, cells = game.action_to_string(action), [game.board.names[cell] for cell in game.action_cells(action)]
        assert (
            text == "-".join(cells) or text[:-1] == "".join(cells) or (action in game.cell_free_actions and cells == [])
        )
    assert list(game.cell_free_actions) == [a for a in range(game.num_actions) if not game.action_cells(a)]
    for wrong in (-1, game.num_actions):
        with pytest.raises(ValueError, match=f"{wrong} is no"):
            game.action_cells(wrong)


def heated(drawn):
    return [s for s in drawn.painted if {getattr(s, "fill", None), getattr(s, "line", None)} & {"heat", "cold"}]


@pytest.mark.parametrize("name", registered_games())
def test_heat(name):
    """In proportion to the greatest; nan, masked and zero are left out; negative ones have another colour."""
    game = make_game(name, **SMALL[name])
    view = game.init(1, np.random.default_rng(1))
    heat = some_heat(game)
    drawn = game.scene(view, heat)
    counted = np.nan_to_num(heat) != 0
    assert len(heated(drawn)) == counted.sum()
    assert {shape.opacity for shape in heated(drawn)} != {1.0}
    assert game.scene(view, 7 * heat) == drawn
    assert game.scene(view, np.nan_to_num(heat)) == drawn
    assert game.scene(view, np.ma.masked_invalid(heat)) == drawn
    assert game.scene(view, np.ma.array(np.nan_to_num(heat, nan=5), mask=np.isnan(heat))) == drawn
    assert game.scene(view, -heat) != drawn
    assert len(heated(game.scene(view, -heat))) == counted.sum()
    for nothing in (np.zeros(game.num_actions), np.full(game.num_actions, np.nan), None):
        assert game.scene(view, nothing) == game.scene(view)


def test_heat_of_both_letters_of_a_cell():
    """Chameleon: x in the left half, o in the right one."""
    game = Chameleon(size=3)
    heat = np.zeros(game.num_actions)
    heat[[8, 9]] = 1, 0.5
    left, right = heated(game.scene(game.init(1, np.random.default_rng(0)), heat))
    assert middle(left.points)[0] < middle(game.scene(game.init(1, np.random.default_rng(0))).cells[4].points)[0]
    assert middle(left.points)[0] < middle(right.points)[0]
    assert left.opacity == 2 * right.opacity


def test_wrong_heat():
    game = Trinim()
    view = game.init(1, np.random.default_rng(0))
    with pytest.raises(ValueError, match=r"heat has shape \(3,\): expected \(\d+,\)"):
        game.scene(view, [1, 2, 3])
    with pytest.raises(ValueError, match=r"heat has shape"):
        game.scene(view, np.zeros((2, game.num_actions)))


@pytest.mark.parametrize("options", Curio.configurations, ids=range(len(Curio.configurations)))
def test_secrets(options):
    """C15: two games that a player cannot tell apart are drawn alike; and so, for everybody, are those that nobody
    sees through.
    """
    game, rng, exchanged = Curio(**options), np.random.default_rng(2), 0
    [played] = random_games(game, 1)
    for state in played[:: max(1, len(played) // 6)]:
        for player in range(2):
            view = game.view(state, player)
            twin = game.determinize(view, rng)
            assert game.scene(game.view(twin, player)) == game.scene(view)
            assert game.scene(twin, public=True) == game.scene(state, public=True)
            exchanged += game.scene(twin) != game.scene(state)
    assert exchanged > 0
    assert (play(game)["faces"] > 0).any(), "drawing public scenes changes no state"


def test_what_a_viewer_sees_of_a_tile():
    """C5, C8: the number towards the viewer, the other one if it is known, else what it can be."""
    game, view = position("curio-light-heated")
    texts = [shape.text for shape in game.scene(view).painted if isinstance(shape, Label)]
    assert texts.count("?") == 4
    game, state = position("curio-all")
    assert "?" not in [shape.text for shape in game.scene(state).painted if isinstance(shape, Label)]


def test_chips_are_framed_if_they_were_the_last_move():
    assert [shape.line for shape in chip(0, 0, 1, "swap", last=True) if isinstance(shape, Polygon)] == ["mark"]
    assert [shape.line for shape in chip(0, 0, 1, "swap") if isinstance(shape, Polygon)] == ["rim"]
