"""Scenes as SVG, pixels and text; what notebooks show."""

import re
import sys
from base64 import b64encode
from io import BytesIO
from itertools import product
from xml.etree import ElementTree

import numpy as np
import pytest
from pbm_agents import Search
from PIL import Image

from pbm_envs import Chameleon, Curio, Unlur, make_game, registered_games
from pbm_envs.core.scene import Cell, Circle, Glyph, Label, Line, Polygon
from pbm_envs.records import make_record
from pbm_envs.render import THEMES, Picture, Scene, letters, pixels, svg, text
from tests import environments
from tests.play import play
from tests.render.positions import CURIO, SMALL

SVG = "{http://www.w3.org/2000/svg}"
SHAPES = (
    Polygon(((0, 0), (4, 0), (4, 2), (0, 2)), "cell"),
    Circle(1, 1, 0.5, "red"),
    Polygon(((2, 0.5), (3, 0.5), (3, 1.5), (2, 1.5)), "blue", opacity=0.5),
    Line(((0, 1.8), (4, 1.8)), "ink", 0.2),
    Label(3.5, 1, '<&"', 0.5, "ink", bold=True),
)
PLAIN = Scene(
    (0, 0, 4, 2),
    SHAPES,
    (Cell(0, "<a>", ((0, 0), (2, 0), (2, 2), (0, 2))),),
    (Glyph(0, 0, "<"),),
    ("note",),
    "a < b & c",
)


@pytest.mark.parametrize("name", registered_games())
@pytest.mark.parametrize("theme", THEMES)
def test_svg(name, theme):
    """Well-formed, with a polygon for each cell on top of everything, and nothing that two in one page would share."""
    game = make_game(name)
    drawn = game.scene(game.init(1, np.random.default_rng(0)), np.ones(game.num_actions))
    page = svg(drawn, 300, theme)
    root = ElementTree.fromstring(page)
    assert root.tag == f"{SVG}svg"
    targets = [element for element in root.iter() if "data-cell" in element.attrib]
    assert [int(element.attrib["data-cell"]) for element in targets] == list(range(game.board.size))
    assert [element.find(f"{SVG}title").text for element in targets] == list(game.board.names)
    paper, painted, cells = root
    assert (painted.attrib["pointer-events"], list(cells)) == ("none", targets)
    assert paper.attrib["fill"] == THEMES[theme]["paper"]
    assert {element.tag.removeprefix(SVG) for element in root.iter()} <= {
        "svg", "g", "rect", "polygon", "polyline", "circle", "path", "title"
    }  # fmt: skip
    assert not re.search(r"\b(id|class|style|href|on\w+)=", page)
    assert max(float(root.attrib[side]) for side in ("width", "height")) == 300
    assert root.attrib["aria-label"] == game.status(game.init(1, np.random.default_rng(0)))


def test_svg_of_all_shapes():
    root = ElementTree.fromstring(svg(PLAIN, None))
    assert "width" not in root.attrib
    assert root.attrib["viewBox"] == "0 0 400 200"
    assert root.attrib["aria-label"] == PLAIN.caption
    drawn = [(element.tag.removeprefix(SVG), element.attrib.get("opacity")) for element in root[1]]
    assert drawn == [("polygon", None), ("circle", None), ("polygon", "0.5"), ("polyline", None), ("path", None)]
    assert root[2][0].find(f"{SVG}title").text == "<a>"


def test_numbers_in_svg():
    """Short, and never in a form that has an exponent."""
    numbers = re.findall(r"-?\d[^\s\",]*", "".join(re.findall(r'points="[^"]*"', svg(Chameleon(size=26).scene(
        Chameleon(size=26).init(1, np.random.default_rng(0))
    )))))  # fmt: skip
    assert len(numbers) > 1000
    assert all(re.fullmatch(r"-?\d+(\.\d+)?", number.rstrip('"')) for number in numbers)


def rgb(name, theme="light"):
    return np.frombuffer(bytes.fromhex(THEMES[theme][name][1:]), np.uint8).astype(int)


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("size", [40, 400])
def test_pixels_of_all_shapes(theme, size):
    frame = pixels(PLAIN, size, theme).astype(int)
    assert frame.shape == (size // 2, size, 3)
    unit = size // 4
    for (x, y), colour in {
        (0.2, 0.2): rgb("cell", theme),
        (1, 1): rgb("red", theme),
        (0.6, 1): rgb("red", theme),
        (2.5, 1): (rgb("cell", theme) + rgb("blue", theme)) / 2,
        (2, 1.8): rgb("ink", theme),
    }.items():
        np.testing.assert_allclose(frame[int(y * unit), int(x * unit)], colour, atol=4, err_msg=f"{x}, {y}")
    letters = frame[int(0.75 * unit) : int(1.25 * unit), int(3.1 * unit) : int(3.9 * unit)]
    assert np.abs(letters - rgb("cell", theme)).max() > 60, "the label is there"


@pytest.mark.parametrize("theme", THEMES)
def test_pixels_of_a_game(theme):
    """Stones have their colours, the last one a ring."""
    game = Unlur(radius=3)
    drawn = game.scene(play(game, "b2 c3 black d3"))
    frame = pixels(drawn, 400, theme).astype(int)
    scale = frame.shape[1] / drawn.box[2]
    for name, colour in {"b2": "dark", "c3": "dark", "d3": "light", "c2": "cell", "a1": "cell 2"}.items():
        points = np.array(drawn.cells[game.board.names.index(name)].points)
        x, y = (points.mean(axis=0) - drawn.box[:2]) * scale
        np.testing.assert_allclose(frame[int(y), int(x)], rgb(colour, theme), atol=3, err_msg=name)
        ring = frame[int(y), int(x + 0.45 * scale)]
        assert (np.abs(ring - rgb("mark", theme)).max() < 25) == (name == "d3")


def test_pixels_as_asked_for():
    game = Curio()
    drawn = game.scene(game.init(1, np.random.default_rng(0)))
    for size in (16, 200, 1000):
        assert max(pixels(drawn, size).shape) == size
    for draw in (svg, pixels, Picture):
        for wrong in (15, 9000, 200.0, True, "200"):
            with pytest.raises(ValueError, match=r"size is .*: expected an integer from 16 to 8192, in pixels"):
                draw(drawn, wrong)
        with pytest.raises(ValueError, match="theme is 'grey': expected one of light, dark"):
            draw(drawn, 100, "grey")
    with pytest.raises(ValueError, match=r"Curio\(.*was given a record of 11 fields, .*: expected a record of its own"):
        game.scene(Chameleon().init(1, np.random.default_rng(0)))


def test_text_in_colour():
    """Escape codes around runs of one style, none at the ends of lines, and none at all without colour."""
    glyphs = (Glyph(0, 0, "ab", "red"), Glyph(0, 2, "c", "mark"), Glyph(0, 3, " ", "blue"), Glyph(1, 0, "d", "unknown"))
    scene = Scene((0, 0, 1, 1), (), (), glyphs)
    assert text(scene, colour=True) == "\033[31mab\033[0m\033[7mc\033[0m\nd"
    assert text(scene) == "abc\nd"
    assert text(PLAIN) == "<\n\nnote\n\na < b & c"


@pytest.mark.parametrize("name", registered_games())
def test_boards_in_colour_say_the_same(name):
    """The last move is marked; without escape codes it is the same text."""
    game = make_game(name, **environments.SMALL.get(name, {}))
    states = game.init(1, np.random.default_rng(0))
    assert "\033[7m" not in game.to_text(states, colour=True)
    game.step(states, [next(int(a) for a in np.flatnonzero(game.legal_action_mask(states)[0]) if game.action_cells(a))])
    coloured = game.to_text(states, colour=True)
    assert "\033[7m" in coloured
    assert re.sub(r"\033\[\d+m", "", coloured) == re.sub(r" +$", "", game.to_text(states), flags=re.MULTILINE)


def test_pictures(tmp_path):
    game = Chameleon(size=3)
    view = play(game, "b2x")
    picture = game.show(view, np.ones(game.num_actions), size=90, theme="dark")
    assert picture == Picture(game.scene(view, np.ones(game.num_actions)), 90, "dark")
    assert str(picture) == game.to_text(view)
    for kind in ("svg", "PNG", "pdf", "txt"):
        picture.save(tmp_path / f"picture.{kind}")
    assert (
        (tmp_path / "picture.svg").read_text(encoding="utf-8") == picture._repr_svg_() == svg(picture.scene, 90, "dark")
    )
    assert (np.asarray(Image.open(tmp_path / "picture.PNG")) == pixels(picture.scene, 90, "dark")).all()
    assert (tmp_path / "picture.txt").read_text(encoding="utf-8") == f"{picture}\n"
    with pytest.raises(ValueError, match=r"ends in '.bmp': expected '.svg', '.png', '.pdf' or '.txt'"):
        picture.save(tmp_path / "picture.bmp")


@pytest.mark.parametrize("theme", THEMES)
def test_letters_are_the_same_in_svg_and_pixels(theme):
    """Both fill Inter's outlines: the ink of a label lies where the font says, whatever is installed."""
    for anchor, bold in product(("start", "middle", "end"), (False, True)):
        label = Label(2, 0.5, "HE", 0.8, "ink", anchor, bold)
        scene = Scene((0, 0, 4, 1), (label,), (), (Glyph(0, 0, "x"),))
        frame = pixels(scene, 800, theme).astype(int)
        rows, cols = np.nonzero(np.abs(frame - rgb("paper", theme)).max(axis=2) > 128)
        wide, (start, _) = letters.width(label), letters.start(label)
        side = 0.8 * 0.11
        assert start < cols.min() / 200 < start + side
        assert start + wide - side < cols.max() / 200 < start + wide
        assert abs(rows.mean() / 200 - 0.5) < 0.02, "a capital stands in the middle"
        [path] = [element for element in ElementTree.fromstring(svg(scene, 800, theme)).iter() if "d" in element.attrib]
        x, y, scale = map(float, re.findall(r"-?[\d.]+", path.attrib["transform"]))
        assert (x, y, scale) == pytest.approx((100 * start, 100 * (0.5 + 0.8 * letters.BASELINE), 0.08), abs=0.06)


def test_characters_without_an_outline_are_question_marks():
    assert letters.svg_path("棋a", bold=False) == letters.svg_path("?a", bold=False)


@pytest.mark.parametrize("name", registered_games())
def test_without_legend_coordinates_and_ground(name, tmp_path):
    """For papers: only what is wanted, in a frame that fits it in every position of a game."""
    game = make_game(name, **environments.SMALL.get(name, {}))
    states, rng = game.init(1, np.random.default_rng(0)), np.random.default_rng(1)
    boxes = set()
    for _ in range(6):
        plain = game.show(states, legend=False, coordinates=False, transparent=True, size=200)
        assert plain.scene.painted == game.scene(states).shapes
        boxes.add(plain.scene.box)
        left, top, width, height = plain.scene.box
        for cell in plain.scene.cells:
            assert all(left < x < left + width and top < y < top + height for x, y in cell.points)
        if states["done"][0]:
            break
        game.step(states, [rng.choice(np.flatnonzero(game.legal_action_mask(states)[0]))])
    assert len(boxes) == 1
    assert width < game.scene(states).box[2]
    named = game.show(states, legend=False).scene
    assert (named.coordinates, named.legend) == (game.scene(states).coordinates, ())
    assert named.box[2] > width
    assert "<rect" not in plain._repr_svg_()
    frame = np.asarray(Image.open(BytesIO(plain._repr_png_())))
    assert frame[0, 0, 3] == 0 < frame[:, :, 3].max() == 255
    plain.save(tmp_path / "board.pdf")
    data = (tmp_path / "board.pdf").read_bytes()
    assert data.startswith(b"%PDF-")
    points = [float(number) for number in re.search(rb"/MediaBox \[([^]]*)\]", data)[1].split()]
    assert max(points) == 200
    assert b"/FontFile" not in data, "letters are outlines"


@pytest.mark.parametrize("name", registered_games())
def test_a_notebook_shows_games(name):
    game = make_game(name)
    start = game.init(1, np.random.default_rng(0))
    assert game._repr_svg_() == game.show(game.view(start, 0))._repr_svg_()
    frame = np.asarray(Image.open(BytesIO(game._repr_png_())).convert("RGB")).astype(int)
    assert np.abs(frame - pixels(game.scene(game.view(start, 0)))).mean() < 1


def test_a_notebook_shows_pictures_without_matplotlib(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    assert Picture(PLAIN)._repr_png_() is None
    assert Picture(PLAIN)._repr_svg_()


def test_a_notebook_shows_records_without_secrets():
    """A game that is over shows everything; another one what both players know."""
    game = Curio(**SMALL)
    start, moves = play(game, board=CURIO), "a1-a3 a4-a3"
    end = play(game, moves, CURIO)
    record = make_record(game, start, moves.split(), end, agents=("a", "b"))
    assert record._repr_svg_() == game.show(end, public=True)._repr_svg_() != game.show(end)._repr_svg_()
    moves += " b1-b3 c4-b3"
    end = play(game, moves, CURIO)
    record = make_record(game, start, moves.split(), end, agents=("a", "b"))
    assert end["done"][0]
    assert record._repr_svg_() == game.show(end)._repr_svg_()


def test_a_notebook_shows_what_a_search_has_found():
    """The position as it was given to the search, with visits as heat."""
    game, rng = Curio(**SMALL), np.random.default_rng(0)
    views = game.view(game.init(2, rng), 0)
    for view, result in zip(views, Search(simulations=50).run(game, views, rng), strict=True):
        assert all(np.array_equal(result.view[0][name], view[name]) for name in view.dtype.names)  # not padding
        picture = game.show(view, result.visits)._repr_svg_()
        assert result._repr_svg_() == picture
        assert b64encode(picture.encode()).decode() in result._repr_html_()
        assert result._repr_png_() == game.show(view, result.visits)._repr_png_()


@pytest.mark.parametrize("game", [Curio(rows=26, cols=26), Curio(rows=8, cols=9), Chameleon(size=26)], ids=str)
def test_boards_that_are_too_wide_for_a_terminal_have_a_narrow_form(game):
    """Nothing folds in 80 columns; with room enough, or no width, the board is as ever."""
    state = game.init(1, np.random.default_rng(1))
    for player in range(2):
        view = game.view(state, player)
        usual, narrow = game.to_text(view), game.to_text(view, width=80)
        assert max(map(len, usual.splitlines())) > 80 >= max(map(len, narrow.splitlines()))
        assert game.to_text(view, width=300) == usual
        assert usual.splitlines()[-1] == narrow.splitlines()[-1]


def test_the_narrow_form_of_curio():
    game = Curio(base=2, rows=4, cols=3)
    state = game.init(1, np.random.default_rng(0), board="D12 D11 D22/. . ./. . ./L21 L22 L11")
    for move in ("a1-a3", "a4-a3"):
        game.step(state, np.array([game.string_to_action(move)]))
    shown = [game.to_text(game.view(state, player), width=20).splitlines()[:5] for player in range(2)]
    assert shown[0] == [" 4 . :1?:2?", " 3:21 .  .", " 2 .  .  .", " 1 .  2? 1?", "   a  b  c"]
    assert shown[1] == [" 1:1?:2? .", " 2 .  .  .", " 3 .  .  12", " 4 2? 1? .", "   c  b  a"]
