"""A board to click on in Jupyter (extra `widget`, anywidget)."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, final

from pbm_envs.toolbox import install_command

try:
    import anywidget
    import traitlets
except ModuleNotFoundError as error:
    if error.name != "anywidget":
        raise
    raise ImportError(f"BoardWidget needs anywidget, of the extra `widget`: {install_command('widget')}") from None

from pbm_envs import Game, make_game
from pbm_envs.records import GameRecord

from .kept import KeptGames, state_folder
from .page import one_script
from .session import DEFAULT_AGENT, PERSON
from .start import Message, Start
from .table import Table

HERE = Path(__file__).parent
KEPT = "The board as it was last shown"
"""The alternative text of the picture that a notebook keeps, by which board.css hides it below a live board."""


@cache
def _kept_games(folder: Path) -> KeptGames:
    """Return this machine's store of games, which all boards of a kernel share."""
    return KeptGames(folder)


@final
class BoardWidget(anywidget.AnyWidget):
    """A game to play in a notebook. The board shows the view of your seat.

        board = BoardWidget("curio", opponent="mcts:seconds=1", seat=1, base=3)
        board  # as the last line of a cell

    `board.record` is the record of the game so far, including hidden information.
    """

    _esm = one_script()
    _css = HERE / "board.css"
    name = traitlets.Unicode().tag(sync=True)
    """A name for the game, its options and its players, under which the browser stores the game's address."""
    picture = traitlets.Unicode().tag(sync=True)
    """The board as last shown, in SVG, which a notebook shows without a kernel."""
    _table: Table | None = None
    """The board; None if `__init__` failed, since ipywidgets closes such a widget too."""
    _kept: Any = None
    """The display handle that updates the picture in the notebook; None before the board is displayed."""

    def __init__(
        self,
        game: str | Game = "chameleon",
        opponent: str | Sequence[str] = DEFAULT_AGENT,
        seat: int | Sequence[int] = 0,
        *,
        seed: int | None = None,
        board: str | None = None,
        moves: Sequence[str] = (),
        hint: str | None = None,
        **options: Any,
    ) -> None:
        """Start a game.

        Args:
            game: A name, with `options`, or a Game.
            opponent: The name of the agent in all other seats, or one name for each, in order.
            seat: The person's seat, or the seats of several persons.
            seed: The seed of the set-up and of the agents; a new one by default.
            board: The board to start from, as text.
            moves: The moves to start after, as text.
            hint: The adviser's name; the champion by default.
            options: Options of the game.

        Raises:
            ValueError: If an argument is wrong.
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
        super().__init__(name=f"{rules!r} {' '.join(start.players)}")
        self._table = table = Table(self._send_message, start, kept=_kept_games(state_folder()))
        self.picture = table.orders.picture
        self.on_msg(lambda _, content, buffers: table.receive(content))

    def _send_message(self, message: Message) -> None:
        self.send(message)
        if message["type"] == "position" and "svg" in message:
            self.picture = message["svg"]
            if self._kept is not None:
                self._kept.update(self._kept_picture(), raw=True)

    def _ipython_display_(self) -> None:
        """Display the board and, below it, a picture that is hidden while the board is live.

        A notebook that is reopened without its kernel has no live board, unless it was saved with the state of its
        widgets; it then shows the picture.
        """
        from IPython import display

        shown: Any = display  # untyped in some versions
        bundle = self._repr_mimebundle_()
        data, metadata = bundle if isinstance(bundle, tuple) else (bundle, {})
        shown.display(data, metadata=metadata, raw=True)
        self._kept = shown.display(self._kept_picture(), raw=True, display_id=True)

    def _kept_picture(self) -> dict[str, str]:
        """Return the picture by MIME type, in an `img`, since untrusted notebooks hide SVG."""
        coded = b64encode(self.picture.encode()).decode()
        image = f'<img alt="{KEPT}" width="420" src="data:image/svg+xml;base64,{coded}">'
        return {"text/html": f"{image}<p>{KEPT}. Run the cell to play.</p>", "text/plain": KEPT}

    @property
    def record(self) -> GameRecord:
        """The game so far, including hidden information; `board.record.to_json()` is a line for `pbm replay`."""
        assert self._table is not None
        assert self._table.orders.record is not None
        return self._table.orders.record

    def close(self) -> None:
        """Leave the game."""
        if self._table is not None:
            self._table.close()
        super().close()
