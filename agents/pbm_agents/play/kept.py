"""Games by a random address, so that a page goes on with one after a reload, in another tab or after a restart.

Games stay on the machine that plays them: a page only knows the address, which nobody can guess. Each game is here
once, as it is now, so nobody can go back to before what they have seen.
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
            folder: A folder that outlasts the program, made for its owner only if missing; None for a temporary one.
            most: The number of games; the one that was played least recently makes room.
            seconds: How long a game is kept after its last change.
            now: The clock.
        """
        self._most, self._seconds, self._now = most, seconds, now
        self._lock = threading.Lock()
        self._players: dict[str, Callable[[], None]] = {}
        """By address, what the table that plays it wants called when another takes the game."""
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
        """Keep a game as it is now.

        Args:
            address: The address of an earlier state of this table; None for a new one.
            player: Called when another table takes the game.
            game: What `take` returns later.

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
                raise ValueError("this game goes on in another tab: expected a new game, or that tab")
            try:
                write_text(self._folder / f"{address}.json", json.dumps(game))
                os.utime(self._folder / f"{address}.json", times=(self._now(),) * 2)
                self._make_room()
            except OSError as error:
                _log.warning("a game is not kept: %s", error)
        return address

    def take(self, address: str, player: Callable[[], None]) -> dict[str, Any]:
        """Return the game at an address, which `player` plays from now on; raise ValueError if there is none."""
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
        """Delete games that are too old, and the oldest of too many."""
        games = [path for path in self._folder.glob("*.json") if ADDRESS.fullmatch(path.stem)]
        games.sort(key=lambda path: path.stat().st_mtime, reverse=True)
        for rank, path in enumerate(games):
            if rank >= self._most or path.stat().st_mtime < self._now() - self._seconds:
                self._players.pop(path.stem, None)
                path.unlink(missing_ok=True)


def state_folder() -> Path:
    """Return where games are kept: the user's folder for the state of programs."""
    root = os.environ.get("XDG_STATE_HOME") or os.environ.get("LOCALAPPDATA") or Path.home() / ".local" / "state"
    return Path(root) / "pbm_envs" / "boards"
