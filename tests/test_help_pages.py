"""Boards as text beside the pictures of the server's help pages, character by character.

The pages of Curio and Unlur have lost all blanks but one between two words and those of one line, so that their
pictures are compared without them. Chameleon's pictures have no coordinates and are not slanted.
"""

import re
from textwrap import dedent

import pytest

from pbm_envs import Chameleon, Curio, Trinim, Unlur
from tests.chameleon.test_rulings import HORZ_WINS, LAST_MOVER_WINS, VERT_WINS, placements
from tests.curio.positions import PICTURED as CURIO_BOARD
from tests.play import play, rows
from tests.trinim.test_rulings import HELP_PAGE_GAME
from tests.trinim.test_rulings import PICTURED as TRINIM_BOARD
from tests.unlur.test_rulings import DIAGRAM_1, DIAGRAM_2, stones

CURIO_START = """
                   ,---,   ,---,   ,---,   ,---,   ,---,
+---+| +---+| +---+| +---+| +---+|
|:1:||--|:3:||--|:1:||--|:2:||--|:1:||--+
5 ,---,:|/,---,:|/,---,:|/,---,:|/,---,:|/ /
+---+|-++---+|-++---+|-++---+|-++---+|-+ / 5
|:2:||--|:1:||--|:2:||--|:4:||--|:3:||--+
4 /|:::|/ /|:::|/ /|:::|/ /|:::|/ /|:::|/ /
/ +---+ / +---+ / +---+ / +---+ / +---+ / 4
+-------+-------+-------+-------+-------+
3 ,---, ,---, ,---, ,---, ,---, /
+---+| +---+| +---+| +---+| +---+| / 3
| 4 ||--| 4 ||--| 2 ||--| 2 ||--| 3 ||--+
2 ,---, |/,---, |/,---, |/,---, |/,---, |/ /
+---+|-++---+|-++---+|-++---+|-++---+|-+ / 2
| 4 ||--| 4 ||--| 1 ||--| 3 ||--| 3 ||--+
1 /| |/ /| |/ /| |/ /| |/ /| |/ /
/ +---+ / +---+ / +---+ / +---+ / +---+ / 1
+-------+-------+-------+-------+-------+

a b c d e
"""
CURIO_LATER = """
                   ,---,   ,---,   ,---,   ,---,   ,---,
+---+| +---+| +---+| +---+| +---+|
|:1:||--|:3:||--|:1:||--|:2:||--|:1:||--+
5 ,---,:|/,---,:|/,---,:|/,---,:|/,---,:|/ /
+---+|-++---+|-++---+|-++---+|-++---+|-+ / 5
|:2:||--| 3 ||--|:2:||--|:4:||--|:3:||--+
4 /|:::|/ /| |/ /|:::|/ /|:::|/ /|:::|/ /
/ +---+ / +---+ / +---+ / +---+ / +---+ / 4
+-------+-------+-------+-------+-------+
3 ,---, ,---, ,---, / ,---, /
+---+| +---+| +---+| / +---+| / 3
| 4 ||--| 4 ||--| 2 ||--+------+| 3 ||--+
2 ,---, |/,---, |/,---, |/,---, ,---, |/ /
+---+|-++---+|-++---+|-++---+| +---+|-+ / 2
| 4 ||--| 4 ||--| 1 ||--| 3 ||--| 3 ||--+
1 /| |/ /| |/ /| |/ /| |/ /| |/ /
/ +---+ / +---+ / +---+ / +---+ / +---+ / 1
+-------+-------+-------+-------+-------+

a b c d e
"""
TRINIM_START = r"""
       1-  b
      2-  b b
     3-  b g r
    4-  g r g g
   5-  r b g r r
        \ \ \ \ \
         A B C D E

         R   G   B   Score
         ~   ~   ~   ~~~~~
Fred     0   0   0     0
Ted      0   0   0     0
"""
TRINIM_END = r"""
       1-  .
      2-  . .
     3-  . . .
    4-  . . . .
   5-  . . . . .
        \ \ \ \ \
         A B C D E

         R   G   B   Score
         ~   ~   ~   ~~~~~
Fred     4   0   1     2
Ted      1   5   4     1
"""
UNLUR_1 = """
Side 1 1 2 3 4 5 6 / / / / / / 7 A- . . X . . . / 8 B- . . X . . . . / 9 Side 6 C- . . X . . . . . / 10 Side 2 D- . . .
X . . . . . / 11 E- . . . . X X . . . . / F- . . . X X . X . . . . G- . . X . . . X X . . H- . X . . . . . X X Side 5 I-
X . . . . . . . Side 3 J- . . . . . . . K- . . . . . . Side 4
"""
UNLUR_2 = """
Side 1 1 2 3 4 5 6 / / / / / / 7 A- . . O . . . / 8 B- . . O . . . . / 9 Side 6 C- . . O . . . . . / 10 Side 2 D- . . .
O . . . . . / 11 E- . . . . O . . . . . / F- . . . . O . . . . . . G- . . . . O O . . . . H- . . . . . O . . . Side 5 I-
. . . . . O . . Side 3 J- . . . . O . . K- . . . O . . Side 4
"""


def board(game, states):
    """The picture without what stands below it."""
    return game.to_text(states).split("\n\n")[0]


@pytest.mark.parametrize(("moves", "picture"), [("", CURIO_START), ("d2-b4", CURIO_LATER)])
def test_curio(moves, picture):
    """C14. A known piece has its other number on its top, which the pages do not draw."""
    game = Curio(face="random")
    states = game.view(play(game, moves, CURIO_BOARD.replace("L21", "L23")), 0)
    drawn = re.sub(r",-\d-,", ",---,", game.to_text(states).split("\n\nLight")[0]).split("\n")
    page = picture.strip("\n").split("\n")
    assert drawn[0] == page[0]
    assert [" ".join(line.split()) for line in drawn] == [" ".join(line.split()) for line in page]


@pytest.mark.parametrize(("moves", "picture"), [("", TRINIM_START), (HELP_PAGE_GAME, TRINIM_END)])
def test_trinim(moves, picture):
    """T2, T5: board and table, with the names of the players"""
    game = Trinim()
    page_board, page_table = picture.strip("\n").split("\n\n")
    drawn_board, drawn_table, _ = game.to_text(play(game, moves, TRINIM_BOARD), names=("Fred", "Ted")).split("\n\n")
    assert dedent(drawn_board) == dedent(page_board)
    assert drawn_table == page_table


@pytest.mark.parametrize("picture", [HORZ_WINS, VERT_WINS, LAST_MOVER_WINS])
def test_chameleon(picture):
    """H1, H3"""
    game = Chameleon(size=7)
    lines = [line.split() for line in board(game, play(game, placements(picture))).split("\n")]
    assert lines[0] == lines[-1] == list("abcdefg")
    assert ["".join(line[1:-1]) for line in lines[1:-1]] == rows(picture)
    assert [(line[0], line[-1]) for line in lines[1:-1]] == [(str(row), str(row)) for row in range(1, 8)]


@pytest.mark.parametrize(("diagram", "mark", "page"), [(DIAGRAM_1, "X", UNLUR_1), (DIAGRAM_2, "O", UNLUR_2)])
def test_unlur(diagram, mark, page):
    """U2: with numbers, letters and sides"""
    game = Unlur()
    states = play(game, "black")
    for stone in stones(diagram):
        states["stones"][0, game.board.names.index(stone)] = " XO".index(mark)
    assert board(game, states).split() == page.split()


def test_names_are_refused_unless_there_is_one_for_each_player():
    game = Trinim()
    for names in (("Fred",), "ab", ("a", "b", "c")):
        with pytest.raises(ValueError, match="expected 2 names, one for each player"):
            game.to_text(play(game), names=names)
    assert game.to_text(play(game, "E1"), names=("Frederick", "Ted")).endswith("last move E1 - Ted to move")
