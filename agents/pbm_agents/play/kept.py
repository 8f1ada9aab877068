"""Games stored under random addresses, so that a page can resume one after a reload, in another tab or after a restart.

Games stay on the machine that plays them: a page has only the address, which nobody can guess. Only the current state
of each game is stored, so nobody can return to an earlier position with later knowledge.
"""

from __future__ import annotations

import json
import logging
import os
import re
import secrets
import shutil
import tempfile
import threading
import time
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any, final

from pbm_envs.toolbox import write_text

ADDRESS = re.compile(r"[\w-]{22}", re.ASCII)
MOST_GAMES = 1000
KEPT_SECONDS = 30 * 24 * 3600.0

_log = logging.getLogger(__name__)


@final
class KeptGames:
    """A bounded number of games, each a file in a folder; games that nobody resumes expire."""

    def __init__(
        self,
        folder: Path | None = None,
        *,
        most: int = MOST_GAMES,
        seconds: float = KEPT_SECONDS,
        now: Callable[[], float] = time.time,
    ) -> None:
        """Open a folder of games.

        Args:
            folder: A persistent folder, created for its owner only if missing; None for a temporary one.
            most: The largest number of games; beyond it, the game that was played least recently is deleted.
            seconds: How long a game is kept after its last change.
            now: The clock.
        """
        self._most, self._seconds, self._now = most, seconds, now
        self._lock = threading.Lock()
        self._players: dict[str, Callable[[], None]] = {}
        """By address, the function to call when another table takes the game."""
        if folder is not None:
            try:
                folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            except OSError as error:
                _log.warning("games are not kept over a restart: %s", error)
                folder = None
        if folder is None:
            folder = Path(tempfile.mkdtemp(prefix="pbm-boards-"))
            weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        self._folder = folder

    def put(self, address: str | None, player: Callable[[], None], game: dict[str, Any]) -> str:
        """Store the current state of a game.

        Args:
            address: The address of an earlier state of this table; None for a new one.
            player: Called when another table takes the game.
            game: The data that `take` returns later.

        Returns:
            The address.

        Raises:
            ValueError: If another table has taken the game since.
        """
        with self._lock:
            if address is None:
                address = secrets.token_urlsafe(16)
                self._players[address] = player
            if self._players.get(address, player) != player:
                raise ValueError("this game continues in another tab: expected a new game, or that tab")
            try:
                write_text(self._folder / f"{address}.json", json.dumps(game))
                os.utime(self._folder / f"{address}.json", times=(self._now(),) * 2)
                self._make_room()
            except OSError as error:
                _log.warning("a game is not kept: %s", error)
        return address

    def take(self, address: str, player: Callable[[], None]) -> dict[str, Any]:
        """Return the game at an address and make `player` its owner; ValueError if there is none."""
        with self._lock:
            self._make_room()
            try:
                if not ADDRESS.fullmatch(address):
                    raise ValueError
                game: dict[str, Any] = json.loads((self._folder / f"{address}.json").read_text(encoding="utf-8"))
            except (OSError, ValueError):
                raise ValueError("it is not on this machine, or was left too long ago") from None
            before, self._players[address] = self._players.get(address, player), player
        if before != player:
            before()
        return game

    def _make_room(self) -> None:
        """Delete expired games, and the oldest ones beyond the limit."""
        games = [path for path in self._folder.glob("*.json") if ADDRESS.fullmatch(path.stem)]
        games.sort(key=lambda path: path.stat().st_mtime, reverse=True)
        for rank, path in enumerate(games):
            if rank >= self._most or path.stat().st_mtime < self._now() - self._seconds:
                self._players.pop(path.stem, None)
                path.unlink(missing_ok=True)


def state_folder() -> Path:
    """Return the folder of kept games, in the user's folder for application state."""
    root = os.environ.get("XDG_STATE_HOME") or os.environ.get("LOCALAPPDATA") or Path.home() / ".local" / "state"
    return Path(root) / "pbm_envs" / "boards"
