"""Scenes as SVG, pixels and text; what notebooks show."""

import re
from html import unescape
from xml.etree import ElementTree

import numpy as np
import pytest
from pbm_agents import Search
from PIL import Image

from pbm_envs import Chameleon, Curio, Unlur, games, make_game
from pbm_envs.core.scene import Cell, Circle, Glyph, Label, Line, Polygon
from pbm_envs.records import make_record
from pbm_envs.render import THEMES, Picture, Scene, pixels, svg, text
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


@pytest.mark.parametrize("name", games())
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
        "svg", "g", "rect", "polygon", "polyline", "circle", "text", "title"
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
    assert drawn == [("polygon", None), ("circle", None), ("polygon", "0.5"), ("polyline", None), ("text", None)]
    assert root[1][-1].text == '<&"'
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
    with pytest.raises(ValueError, match=r"Curio\(.*was given a record of .*: expected one of its own dtype"):
        game.scene(Chameleon().init(1, np.random.default_rng(0)))


def test_themes_name_the_same_colours():
    assert THEMES["light"].keys() == THEMES["dark"].keys()


def test_text():
    assert text(PLAIN) == "<\n\nnote\n\na < b & c"


def test_pictures(tmp_path):
    game = Chameleon(size=3)
    view = play(game, "b2x")
    picture = game.show(view, np.ones(game.num_actions), size=90, theme="dark")
    assert picture == Picture(game.scene(view, np.ones(game.num_actions)), 90, "dark")
    assert str(picture) == game.to_text(view)
    for kind in ("svg", "PNG", "txt"):
        picture.save(tmp_path / f"picture.{kind}")
    assert (
        (tmp_path / "picture.svg").read_text(encoding="utf-8") == picture._repr_svg_() == svg(picture.scene, 90, "dark")
    )
    assert (np.asarray(Image.open(tmp_path / "picture.PNG")) == pixels(picture.scene, 90, "dark")).all()
    assert (tmp_path / "picture.txt").read_text(encoding="utf-8") == f"{picture}\n"
    with pytest.raises(ValueError, match=r"ends in '.bmp': expected '.svg', '.png' or '.txt'"):
        picture.save(tmp_path / "picture.bmp")


@pytest.mark.parametrize("name", games())
def test_a_notebook_shows_games(name):
    game = make_game(name)
    start = game.init(1, np.random.default_rng(0))
    assert game._repr_svg_() == game.show(game.view(start, 0))._repr_svg_()


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
        assert result.view.tobytes() == view.tobytes()
        picture = game.show(view, result.visits)._repr_svg_()
        assert result._repr_svg_() == picture
        assert picture in result._repr_html_()
        assert "?" in unescape(picture)
