"""The board to click on, in Jupyter. It needs the extra `widget` (anywidget)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, final

try:
    import anywidget
except ModuleNotFoundError as error:
    if error.name != "anywidget":
        raise
    raise ImportError("Board needs anywidget, of the extra `widget`: pip install 'pbm-envs[widget]'") from None

from pbm_envs import Game, make_game
from pbm_envs.records import GameRecord

from .session import AGENT, PERSON
from .start import Start
from .table import Table

HERE = Path(__file__).parent


@final
class Board(anywidget.AnyWidget):
    """A game to play in a notebook: what is shown is what your seat can know.

        board = Board("curio", opponent="mcts:seconds=1", seat=1, base=3)
        board  # as the last line of a cell

    `board.record` is the game so far, with all that is hidden.
    """

    _esm = HERE / "board.js"
    _css = HERE / "board.css"
    _table: Table | None = None
    """None where the arguments were wrong: ipywidgets closes such a widget too."""

    def __init__(
        self,
        game: str | Game = "chameleon",
        opponent: str | Sequence[str] = AGENT,
        seat: int | Sequence[int] = 0,
        *,
        seed: int | None = None,
        board: str | None = None,
        moves: Sequence[str] = (),
        hint: str | None = None,
        **options: Any,
    ) -> None:
        """`game` by name with its `options`, or a Game. `opponent`: one agent's name for all other seats, or one for
        each, in order; `seat`: that of the person, or those of several. `board` and `moves`: where the game starts.
        `hint`: who is asked for hints; as the opponent, if it searches, by default. ValueError for what cannot be.
        """
        if isinstance(game, Game) and options:
            raise ValueError(f"options {options!r} are given beside {game!r}: expected them with the name of a game")
        rules = game if isinstance(game, Game) else make_game(game, **options)
        seats = [seat] if isinstance(seat, int) else list(seat)
        if not seats or not set(seats) <= set(range(rules.num_players)):
            raise ValueError(f"seat is {seat!r}: expected one or more of 0..{rules.num_players - 1}")
        others = [k for k in range(rules.num_players) if k not in seats]
        names = [opponent] * len(others) if isinstance(opponent, str) else list(opponent)
        if len(names) != len(others):
            raise ValueError(f"opponent is {opponent!r}: expected one name, or {len(others)} in {rules!r}")
        players = dict.fromkeys(seats, PERSON) | dict(zip(others, names, strict=True))
        start = Start(rules, tuple(players[k] for k in range(rules.num_players)), seed, board, tuple(moves), hint)
        super().__init__()
        self._table = table = Table(self.send, start)
        self.on_msg(lambda _, content, buffers: table.receive(content))

    @property
    def record(self) -> GameRecord:
        """The game so far, with all that is hidden: a line for `pbm replay` is `board.record.to_json()`."""
        assert self._table is not None
        return self._table.record

    def close(self) -> None:
        """Leave the game."""
        if self._table is not None:
            self._table.close()
        super().close()
