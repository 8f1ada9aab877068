"""The widget of Jupyter, from the kernel's side: what goes over its comm is what goes over the socket."""

import queue
import re
import subprocess
import sys

import comm
import pytest
from comm.base_comm import BaseComm
from pbm_agents.play.widget import BoardWidget

from pbm_envs import Curio, Trinim
from pbm_envs.records import verify
from pbm_envs.toolbox import install_command
from tests.board.boards import PATIENCE, Person


class Wire(BaseComm):
    """What a notebook would be sent."""

    def __init__(self, **kwargs):
        self.sent = queue.SimpleQueue()
        super().__init__(**kwargs)

    def publish_msg(self, msg_type, data=None, metadata=None, buffers=None, **keys):
        self.sent.put((msg_type, data))


class Cell(Person):
    """A cell of a notebook that shows a board."""

    def __init__(self, board):
        self.board = board
        self.opened = [board.comm.sent.get()]
        self.say("hello", theme="dark")
        self.setup = self.hear("setup")
        self.position = self.hear("position")

    def say(self, do, **rest):
        content = {"do": do, **rest}
        self.board.comm.handle_msg({"content": {"data": {"method": "custom", "content": content}}, "buffers": []})

    def next_message(self):
        while True:
            name, data = self.board.comm.sent.get(timeout=PATIENCE)
            assert name == "comm_msg"
            if data["method"] == "custom":
                return data["content"]
            assert data["state"].keys() == {"picture"}

    def __exit__(self, *_):
        self.board.close()


@pytest.fixture(autouse=True)
def wire(monkeypatch):
    monkeypatch.setattr(comm, "create_comm", Wire)


def test_a_game_over_the_comm():
    board = BoardWidget("chameleon", "random", 1, seed=3, size=3)
    with Cell(board) as cell:
        state = cell.opened[0][1]["state"]
        assert "export default { render }" in state["_esm"]
        assert ".pbm" in state["_css"]
        position = cell.position if cell.position["legal"] else cell.settle()
        assert position["players"][1]["name"] == "You"
        while not position["done"]:
            position = cell.play(position["legal"][0]["move"])
        verify(board.record)
        assert board.record.agents == ("random", "person")
        assert list(board.record.moves) == [move["move"] for move in position["moves"]]
    assert "record" not in state


def test_nothing_hidden_is_in_what_is_sent():
    sent = []
    for text in ("D12 D11 D22/. . ./. . ./L21 L22 L11", "D11 D12 D22/. . ./. . ./L21 L22 L11"):
        board = BoardWidget(Curio(base=2, rows=4, cols=3), "tests.board.agents:dark", board=text, seed=1)
        with Cell(board) as cell:
            state = {name: value for name, value in cell.opened[0][1]["state"].items() if name != "layout"}
            sent.append((state, cell.setup, cell.position, cell.play("c1-c2")))
            assert board.record.board == text
    assert sent[0] == sent[1]


def test_seats_and_opponents():
    with Cell(BoardWidget("trinim", ["random", "mcts:simulations=5"], 1, num_players=3)) as cell:
        assert cell.position["seats"] == ["random", "person", "mcts:simulations=5"]
    with Cell(BoardWidget(Trinim(num_players=3), "random", (0, 2))) as cell:
        assert cell.position["seats"] == ["person", "random", "person"]
    with Cell(BoardWidget("unlur", moves=["b2"], radius=3)) as cell:
        assert cell.position["moves"][0] == {"move": "b2", "player": 0, "given": True}  # an answer may have come


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (("chess",), {}, "'chess'"),
        (("chameleon", "sage"), {}, "'sage' is not an agent"),
        (("chameleon", "random", 2), {}, "seat is 2: expected one or more of 0..1"),
        (("chameleon", "random", ()), {}, "seat is ()"),
        (("chameleon", ["random", "random"]), {}, "expected one name, or 1 in Chameleon"),
        (("chameleon", "random", 0), {"size": 2}, "size is 2"),
        ((Trinim(), "random"), {"size": 5}, "expected them with the name of a game"),
        (("chameleon",), {"hint": "sage"}, "'sage' is not an agent"),
    ],
)
def test_what_cannot_be_is_said_at_once(arguments, options, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        BoardWidget(*arguments, **options)


def test_without_the_extra_it_says_which():
    program = "import sys; sys.modules['anywidget'] = None; import pbm_agents.play.widget"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=PATIENCE)
    assert f"BoardWidget needs anywidget, of the extra `widget`: {install_command('widget')}" in done.stderr
