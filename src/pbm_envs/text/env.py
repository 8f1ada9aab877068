"""One seat of a game in words, also as a Gymnasium environment whose observations and actions are texts.

    env = gymnasium.make("pbm_envs.text:pbm/Text-v0", game="curio", opponent="mcts:simulations=50")
    text, info = env.reset(seed=7)
    text, reward, terminated, truncated, info = env.step('I take it. {"move": "a2-a3"}')

The first text of a game begins with the rules (also `info["system_prompt"]`). After an answer that is not a legal move
the reward is 0 and the text says what was wrong; the last such attempt ends the game at -1. `info` has `legal_moves`, a
list of texts, `seat`, `kind` ("move", "illegal" or "unreadable"), and `attempts_left`.
"""

from __future__ import annotations

import string
from collections.abc import Mapping
from dataclasses import fields
from typing import Any, final

import gymnasium
import numpy as np
from gymnasium import spaces

from ..core.checks import check_seed
from ..core.game import Game
from ..envs.factories import make_env
from ..envs.memory import new_ids, reserve_ids
from ..envs.opponents import RANDOM, check_seat, single_opponent
from .dialogue import ATTEMPTS, Outcome, TextGame
from .prompts import FULL, PromptStyle

LONGEST_TEXT, LONGEST_ANSWER = 1_000_000, 16_384
"""The lengths of the text spaces, in characters. Longer answers are still read."""
CHARACTERS = frozenset(string.printable) | frozenset(
    chr(code) for code in (*range(0xA0, 0x250), *range(0x2010, 0x2200))
)
ENV_ID = "pbm/Text-v0"


@final
class TextSeat:
    """A TextGame, `table`, in which an agent plays all seats but `seat`."""

    def __init__(
        self,
        game: Game,
        opponent: Any = "random",
        seat: int | str = RANDOM,
        *,
        style: PromptStyle = FULL,
        attempts: int = ATTEMPTS,
        disguise: int | None = None,
    ) -> None:
        """Make a seat; `reset` starts a game. `style`, `attempts` and `disguise` are those of TextGame.

        Args:
            game: The rules.
            opponent: An agent, or its name (`pbm_envs.envs.opponents`).
            seat: The number of the player, or "random" to draw it for each game.
            style: The amount of text in the prompts.
            attempts: Answers per turn before a forfeit.
            disguise: Seed of made-up names.
        """
        check_seat(seat, game.num_players)
        self.table = TextGame(game, style, attempts=attempts, disguise=disguise)
        self._opponent = single_opponent(opponent)
        self._ids = new_ids(0)
        """(P,) the numbers by which an agent with memory identifies the seats; empty before the first game."""
        self._seat = seat
        self._rng = np.random.default_rng()
        self.seat = 0

    def reset(self, seed: int | None = None, options: Mapping[str, Any] | None = None) -> None:
        """Start a game and play up to the seat's first turn; `seed` also decides the seat and the opponents."""
        self.table.reset(seed, options)
        if seed is not None:
            self._rng = np.random.default_rng(seed).spawn(1)[0]
        if self._ids.size:
            self._opponent.end(self._ids)
        self._ids = new_ids(self.table.game.num_players)
        self._opponent.begin(self.table.game, self._ids)
        self.seat = int(self._rng.integers(self.table.game.num_players)) if self._seat == RANDOM else int(self._seat)
        self._opponents()

    def __setstate__(self, fields: dict[str, Any]) -> None:
        self.__dict__.update(fields)
        reserve_ids(self._ids)

    @property
    def done(self) -> bool:
        """True if the game is over or the seat has left a game that continues."""
        return self.table.done or self.reward != 0

    @property
    def reward(self) -> float:
        """The seat's return; 0 before its end."""
        return self.table.returns[self.seat]

    def prompt(self) -> str:
        """Return the position as the seat sees it."""
        return self.table.prompt(self.seat)

    def answer(self, answer: str) -> Outcome:
        """Play the seat's answer and the opponents' replies, or return a correction of the answer."""
        if self.done:
            raise RuntimeError("the game is over: call reset()")
        if self.table.to_move != self.seat:
            raise RuntimeError("an opponent failed while it was to move: call reset()")
        outcome = self.table.answer(answer)
        self._opponents()
        return outcome

    def _opponents(self) -> None:
        table = self.table
        while not self.done and table.to_move != self.seat:
            ids = self._ids[table.to_move : table.to_move + 1]
            [action] = self._opponent.answer(table.game, table.view(table.to_move), self._rng, ids)
            table.play(int(action))


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
        style: PromptStyle = FULL,
        attempts: int = ATTEMPTS,
        disguise: int | None = None,
        render_mode: str | None = None,
    ) -> None:
        """Make an environment with the arguments of TextSeat; `render_mode` "ansi" shows the board to a person."""
        if render_mode not in (None, "ansi"):
            raise ValueError(f"render_mode is {render_mode!r}: expected None or 'ansi'")
        self.game, self.render_mode = game, render_mode
        self._seat = TextSeat(game, opponent, seat, style=style, attempts=attempts, disguise=disguise)
        self._table = self._seat.table
        self.observation_space = spaces.Text(LONGEST_TEXT, min_length=0, charset=CHARACTERS)
        self.action_space = spaces.Text(LONGEST_ANSWER, min_length=0, charset=CHARACTERS)

    def reset(self, *, seed: int | None = None, options: Mapping[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
        """Start a game. `options`: "board" and "moves", see `TextGame.reset`."""
        check_seed("seed", seed)
        super().reset(seed=None if seed is None else int(seed))
        self._seat.reset(seed, options)
        return self._text(f"{self._table.system_prompt()}\n\n{self._seat.prompt()}"), self._info("")

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Read an answer, play it, and continue to the seat's next turn."""
        info = self._info(self._seat.answer(action).reading.kind.value)
        done, truncated = self._seat.done, self._table.truncated
        return self._text(self._seat.prompt()), float(self._seat.reward), done and not truncated, truncated, info

    def _text(self, text: str) -> str:
        """Convert a text to one of the observation space."""
        return "".join(letter if letter in CHARACTERS else "?" for letter in text)[-LONGEST_TEXT:]

    def _info(self, kind: str) -> dict[str, Any]:
        table, seat = self._table, self._seat.seat
        legal, left = table.words.legal_moves(table.view(seat)), table.attempts - table.failed
        rules = table.system_prompt()
        return {"system_prompt": rules, "legal_moves": legal, "seat": seat, "kind": kind, "attempts_left": left}

    def render(self) -> str | None:
        """Return the board as the seat sees it."""
        return None if self.render_mode is None else self.game.to_text(self._table.view(self._seat.seat))


def make_text_env(game: Game | str, **settings: Any) -> TextEnv:
    """Make an environment of texts; the Gymnasium id calls this.

    Args:
        game: The rules, or the name of a registered game.
        settings: The arguments of TextEnv and the fields of PromptStyle; with a name, also the options of the game;
            `wrap` as in `pbm_envs.envs.factories`.
    """
    style = {field.name: settings.pop(field.name) for field in fields(PromptStyle) if field.name in settings}
    return make_env(TextEnv, game, {"style": PromptStyle(**style), **settings})


def register_text_env() -> None:
    """Register the Gymnasium id, unless it is registered."""
    if ENV_ID not in gymnasium.registry:
        gymnasium.register(ENV_ID, entry_point="pbm_envs.text.env:make_text_env")
