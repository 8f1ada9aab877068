"""A Gymnasium environment whose observations and actions are texts.

    env = gymnasium.make("pbm_envs.text:pbm/Text-v0", game="curio", opponent="mcts:simulations=50")
    text, info = env.reset(seed=7)
    text, reward, terminated, truncated, info = env.step('I take it. {"move": "a2-a3"}')

The first text of a game begins with the rules (also `info["system_prompt"]`). An answer that is no legal move is sent
back: the reward is 0, the text says what was wrong; the last attempt ends the game at -1. `info` has `legal_moves`, a
list of texts, `seat`, `kind` ("move", "illegal", "unreadable": what the answer was), and `attempts_left`.
"""

from __future__ import annotations

import string
from collections.abc import Mapping
from typing import Any, final

import gymnasium
from gymnasium import spaces

from ..core.game import Game
from ..registry import make_game
from .dialogue import ATTEMPTS
from .prompts import PromptStyle
from .seat import TextSeat

LONGEST_TEXT, LONGEST_ANSWER = 1_000_000, 16_384
"""Characters. A longer answer is read as well."""
CHARACTERS = frozenset(string.printable) | frozenset(
    chr(code) for code in (*range(0xA0, 0x250), *range(0x2010, 0x2200))
)
ENV_ID = "pbm/Text-v0"


@final
class TextEnv(gymnasium.Env[str, str]):
    """One seat of a game in words."""

    metadata = {"render_modes": ["ansi"], "render_fps": 2}

    def __init__(
        self,
        game: Game,
        opponent: Any = "random",
        seat: int | str = "random",
        *,
        style: PromptStyle | None = None,
        attempts: int = ATTEMPTS,
        disguise: int | None = None,
        render_mode: str | None = None,
    ) -> None:
        """Arguments are those of TextSeat; `render_mode` "ansi" shows the board to a person."""
        if render_mode not in (None, "ansi"):
            raise ValueError(f"render_mode is {render_mode!r}: expected None or 'ansi'")
        self.game = game
        self.render_mode = render_mode
        self._table = TextSeat(game, opponent, seat, style=style or PromptStyle(), attempts=attempts, disguise=disguise)
        self.observation_space = spaces.Text(LONGEST_TEXT, min_length=0, charset=CHARACTERS)
        self.action_space = spaces.Text(LONGEST_ANSWER, min_length=0, charset=CHARACTERS)

    def reset(self, *, seed: int | None = None, options: Mapping[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
        """Start a game. `options`: "board" and "moves", see `TextGame.reset`."""
        super().reset(seed=seed)
        self._table.reset(seed, options)
        return self._text(first=True), self._info("")

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Read an answer, play it, and play on to the seat's next turn."""
        outcome = self._table.answer(action)
        done, truncated = self._table.done, self._table.table.truncated
        info = self._info(outcome.reading.kind.value)
        return self._text(first=False), float(self._table.reward), done and not truncated, truncated, info

    def _text(self, first: bool) -> str:
        told = self._table.prompt()
        if first:
            told = f"{self._table.system_prompt()}\n\n{told}"
        return "".join(letter if letter in CHARACTERS else "?" for letter in told)[-LONGEST_TEXT:]

    def _info(self, kind: str) -> dict[str, Any]:
        table = self._table.table
        return {
            "system_prompt": self._table.system_prompt(),
            "legal_moves": self._table.legal_moves(),
            "seat": self._table.seat,
            "kind": kind,
            "attempts_left": table.attempts - table.failed,
        }

    def render(self) -> str | None:
        """The board as the seat sees it."""
        if self.render_mode is None:
            return None
        return self.game.to_text(self._table.table.view(self._table.seat))


def make_text_env(
    game: str | Game,
    *,
    opponent: Any = "random",
    seat: int | str = "random",
    render_mode: str | None = None,
    attempts: int = ATTEMPTS,
    disguise: int | None = None,
    rules: str = "short",
    position: str = "both",
    history: int | None = None,
    legal_moves: bool = False,
    **options: Any,
) -> TextEnv:
    """What the Gymnasium id makes.

    Args:
        game: a game, or its registered name.
        opponent: as in TextSeat.
        seat: as in TextSeat.
        render_mode: None or "ansi".
        attempts: as in TextGame.
        disguise: as in TextGame.
        rules: as in PromptStyle.
        position: as in PromptStyle.
        history: as in PromptStyle.
        legal_moves: as in PromptStyle.
        options: of the game, where it is given by name.
    """
    if not isinstance(game, str) and options:
        raise ValueError(f"{sorted(options)} were given beside a game: expected options only beside a name")
    return TextEnv(
        make_game(game, **options) if isinstance(game, str) else game,
        opponent,
        seat,
        style=PromptStyle(rules, position, history, legal_moves),
        attempts=attempts,
        disguise=disguise,
        render_mode=render_mode,
    )


def register_text_env() -> None:
    """Tell Gymnasium the id; again does no harm."""
    if ENV_ID not in gymnasium.registry:
        gymnasium.register(ENV_ID, entry_point="pbm_envs.text.env:make_text_env")
