"""Notices that rules are being compiled, for one board, with how many kernels have been compiled."""

from __future__ import annotations

from collections.abc import Callable

from pbm_envs.core.kernels import ANNOUNCEMENTS

from .start import Message

FIRST = {"curio": 34, "chameleon": 4, "trinim": 9, "unlur": 5}
"""By game, how many kernels are compiled until the first position is shown on a machine where nothing has been."""
LATER = {"curio": 69, "chameleon": 47, "trinim": 42, "unlur": 52}
"""How many more until an agent has searched. A test compiles them; of other games the most is expected."""


class Preparing:
    """Tells a board about kernels that are compiled while somebody before it waits."""

    def __init__(self, game: str, send: Callable[[Message], None], waits: Callable[[], bool]) -> None:
        """Listen until `close`.

        Args:
            game: The name of the game that the board begins with.
            send: Called with the message, in the thread that compiles.
            waits: Whether somebody waits at this board. What another board compiles is waited for too, since Numba
                compiles one kernel after the other.
        """
        self._send = send
        self._waits = waits
        self._shown: set[str] = set()
        self.expect(game)
        ANNOUNCEMENTS.listeners.add(self._hear)

    def expect(self, game: str) -> None:
        """Begin with a game: its first position comes next."""
        self._game = game
        self._compiled = self._running = 0

    def position_shown(self, game: str) -> None:
        """Count anew once a position of a game has been shown: from now on agents may search."""
        if game not in self._shown:
            self._shown.add(game)
            self.expect(game)

    def close(self) -> None:
        """Listen no more."""
        ANNOUNCEMENTS.listeners.discard(self._hear)

    def _hear(self, part: str, done: bool) -> None:
        self._compiled += done
        self._running = max(0, self._running + (-1 if done else 1))
        if not self._waits():
            return
        numbers = LATER if self._game in self._shown else FIRST
        what = "the search" if part == "the tree search" else "the rules"
        self._send(
            {
                "type": "preparing",
                "text": f"Preparing {what} on this machine, once: about 20 seconds",
                "compiled": self._compiled,
                "expected": max(numbers.get(self._game, max(numbers.values())), self._compiled + 1),
                "running": self._running > 0,
            }
        )
