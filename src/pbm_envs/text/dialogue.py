"""One game played in words: prompts for the player to move, reading of answers, and replies to bad ones.

    table = TextGame(Chameleon(size=5))
    table.reset(seed=7)
    while not table.done:
        outcome = table.answer(model(table.system_prompt(), table.prompt()))
    table.returns

Every adapter of a text library is a thin layer over this class.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from ..core.checks import check_range, check_seed, quoted, to_moves, to_options
from ..core.game import Game
from ..core.state import NO_ACTION, Rng, States, copy_states
from ..core.validation import check_game
from ..records import RESIGN, Forfeit, GameRecord, make_record, play_moves
from .history import History
from .prompts import FULL, PromptStyle, correction, system_prompt, turn_prompt
from .reading import Kind, Reading
from .vocabulary import Disguise, Vocabulary

ATTEMPTS = 3


@dataclass(frozen=True)
class Outcome:
    """The result of an answer."""

    reading: Reading
    player: int
    """The seat that answered."""
    message: str
    """The reply to that player if no move was played; otherwise ""."""
    forfeited: bool = False
    """True if the last attempt failed, so that the player has left the game."""

    @property
    def played(self) -> bool:
        return self.reading.kind is Kind.MOVE


@final
class TextGame:
    """A referee that holds the full state and sends each player the information of that player's view."""

    def __init__(
        self, game: Game, style: PromptStyle = FULL, *, attempts: int = ATTEMPTS, disguise: int | None = None
    ) -> None:
        """Make a referee; `reset` starts a game.

        Args:
            game: The rules.
            style: The amount of text in the prompts.
            attempts: Answers that a player may give in one turn; if all are bad, the player leaves the game as if by
                resigning (A2).
            disguise: A seed for made-up names (`Disguise`), or None for the game's own.
        """
        check_game(game)
        if not isinstance(style, PromptStyle):
            raise ValueError(f"style is {quoted(style)}: expected a PromptStyle, such as COMPACT")
        check_range("attempts", attempts, 1)
        check_seed("disguise", disguise)
        self.game, self.style, self.attempts = game, style, attempts
        self.words: Vocabulary = Vocabulary(game) if disguise is None else Disguise(game, disguise)
        self._system = system_prompt(self.words, style, attempts)
        self._states: States | None = None
        self._rng: Rng | None = None

    @property
    def states(self) -> States:
        """The full state, (1,), including hidden information."""
        if self._states is None:
            raise RuntimeError("there is no game yet: call reset() first")
        return self._states

    def reset(self, seed: int | None = None, options: Mapping[str, Any] | None = None) -> None:
        """Start a game.

        Args:
            seed: Seed of the set-up; by default the random stream of the last seed continues.
            options: "board", a board text, and "moves", move texts to play from there, in the game's own names.

        Raises:
            ValueError: If one of these is wrong; nothing is changed.
        """
        check_seed("seed", seed)
        options = to_options(options)
        board, moves = options.pop("board", None), to_moves(options.pop("moves", None))
        if options:
            raise ValueError(f"reset was given the options {sorted(options)}: expected 'board' and 'moves'")
        rng = np.random.default_rng(seed) if seed is not None or self._rng is None else self._rng
        states = self.game.init(1, rng, board)
        for _ in play_moves(self.game, copy_states(states), moves):  # raises before anything is changed
            pass
        self._rng, self._states, self._start = rng, states, copy_states(states)
        self.histories = [History(self.game, self.view(player)) for player in range(self.game.num_players)]
        self.moves: list[str] = []
        self.forfeits: list[Forfeit] = []
        self.failed = 0
        self._correction = ""
        for text in moves:
            self.play(self.game.string_to_action(text))
        self.opening = len(self.moves)

    @property
    def done(self) -> bool:
        return bool(self.states["done"][0])

    @property
    def truncated(self) -> bool:
        """True if a limit of plies has ended the game."""
        return bool(self.states["truncated"][0])

    @property
    def to_move(self) -> int:
        return int(self.states["to_move"][0])

    @property
    def returns(self) -> list[float]:
        """Returns by player; 0 before the end, except for a player who has left a game of three."""
        return self.states["returns"][0].tolist()

    def view(self, player: int) -> States:
        """Return the view of a player, (1,)."""
        return self.game.view(self.states, player)

    def system_prompt(self) -> str:
        """Return the rules and the form of an answer."""
        return self._system

    def prompt(self, player: int | None = None) -> str:
        """Return the position as `player` sees it, by default the player to move.

        If the last answer was bad, the prompt of the player to move ends with its correction.
        """
        seat = self.to_move if player is None else player
        told = turn_prompt(self.words, self.view(seat), self.histories[seat], self.style)
        if self._correction and seat == self.to_move:
            told = f"{told}\n\n{self._correction}"
        return told

    def read(self, answer: str) -> Reading:
        """Read an answer of the player to move without playing it. The action is that of the undisguised game."""
        return self.words.read(answer, self.game.legal_action_mask(self.view(self.to_move))[0])

    def answer(self, answer: str) -> Outcome:
        """Play the answer of the player to move, or return a correction; the last bad attempt forfeits the game."""
        if self.done:
            raise RuntimeError("the game is over: call reset()")
        player, reading = self.to_move, self.read(answer)
        if reading.kind is Kind.MOVE:
            self.play(reading.action)
            return Outcome(reading, player, "")
        self.failed += 1
        if self.failed >= self.attempts:
            why = f"illegal: {reading.text}" if reading.kind is Kind.ILLEGAL else f"unreadable: {reading.reason}"
            self.forfeit(why)
            return Outcome(reading, player, "You have forfeited the game.", forfeited=True)
        self._correction = correction(self.words, reading, self.attempts - self.failed)
        return Outcome(reading, player, self._correction)

    def play(self, action: int) -> None:
        """Play an action for the player to move; ValueError if it is illegal."""
        before = copy_states(self.states)
        self.game.step(self.states, [action])
        self.moves.append(self.game.action_to_string(action))
        self._next([int(self.game.seen_actions(before, [action], player)[0]) for player in range(len(self.histories))])

    def forfeit(self, reason: str) -> None:
        """Remove the player to move from the game as if by resigning (A2). `reason` is kept for the record."""
        player = self.to_move
        self.game.remove_player(self.states)
        self.moves.append(RESIGN)
        self.forfeits.append(Forfeit(len(self.moves), player, reason))
        self._next([NO_ACTION] * len(self.histories), f"player_{player} has forfeited the game")

    def _next(self, seen: Sequence[int], note: str | None = None) -> None:
        """Add the ply to each player's history; `seen` (P,) are the actions as the players saw them."""
        self.failed, self._correction = 0, ""
        for player, history in enumerate(self.histories):
            history.see(self.view(player), seen[player], note)

    def record(self, agents: Sequence[str], **rest: Any) -> GameRecord:
        """Return the game so far as a record with these agents' names by seat; `rest`: other fields, such as `seed`."""
        given = {"agents": tuple(agents), "opening": self.opening, **rest}
        return make_record(self.game, self._start, self.moves, self.states, self.forfeits, **given)
