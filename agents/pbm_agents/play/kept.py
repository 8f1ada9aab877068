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
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, final

from pbm_envs.toolbox import write_text

ADDRESS = re.compile(r"[\w-]{22}")
MOST_GAMES = 1000
KEPT_SECONDS = 30 * 24 * 3600.0

_log = logging.getLogger(__name__)


@final
class KeptGames:
    """A bounded number of games, each with the table that plays it; games that nobody goes on with expire."""

    def __init__(
        self,
        folder: Path | None = None,
        *,
        most: int = MOST_GAMES,
        seconds: float = KEPT_SECONDS,
        now: Callable[[], float] = time.time,
    ) -> None:
        """Read the games of a folder.

        Args:
            folder: Where games outlast the program; None: they do not. It is made if missing, for its owner only.
            most: The number of games; the one that was played least recently makes room.
            seconds: How long a game is kept after its last change.
            now: The clock.
        """
        self._most, self._seconds, self._now = most, seconds, now
        self._lock = threading.Lock()
        self._games: dict[str, tuple[float, dict[str, Any]]] = {}
        """By address, the least recently played first: when it was last played, and the game."""
        self._players: dict[str, object] = {}
        """By address, the table that plays it."""
        self._folder = folder
        if folder is not None:
            self._read(folder)

    def put(self, address: str | None, player: object, game: dict[str, Any]) -> str:
        """Keep a game as it is now.

        Args:
            address: Of an earlier state of this table; None for a new one.
            player: The table.
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
            if self._players.get(address) is not player:
                raise ValueError("this game goes on in another tab: expected a new game, or that tab")
            self._games.pop(address, None)
            self._games[address] = (self._now(), game)
            self._make_room()
            self._write(address, game)
        return address

    def take(self, address: str, player: object) -> dict[str, Any]:
        """Return the game at an address, which `player` plays from now on; ValueError if there is none."""
        with self._lock:
            self._make_room()
            if address not in self._games:
                raise ValueError("it is not on this machine, or was left too long ago")
            self._players[address] = player
            return self._games[address][1]

    def _make_room(self) -> None:
        oldest = self._now() - self._seconds
        while self._games:
            address, (played, _) = next(iter(self._games.items()))
            if len(self._games) <= self._most and played >= oldest:
                return
            del self._games[address]
            self._players.pop(address, None)
            if self._folder is not None:
                self._file(self._folder, address).unlink(missing_ok=True)

    def _read(self, folder: Path) -> None:
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            files = sorted((path.stat().st_mtime, path) for path in folder.glob("*.json"))
        except OSError as error:
            self._give_up(error)
            return
        for played, path in files:
            if ADDRESS.fullmatch(path.stem):
                try:
                    self._games[path.stem] = (played, json.loads(path.read_text(encoding="utf-8")))
                except (OSError, ValueError):
                    _log.warning("%s is left out: it is not a game", path)
        self._make_room()

    def _write(self, address: str, game: dict[str, Any]) -> None:
        if self._folder is None:
            return
        try:
            write_text(self._file(self._folder, address), json.dumps(game))
        except OSError as error:
            self._give_up(error)

    def _give_up(self, error: OSError) -> None:
        _log.warning("games are not kept over a restart: %s", error)
        self._folder = None

    @staticmethod
    def _file(folder: Path, address: str) -> Path:
        return folder / f"{address}.json"


def state_folder() -> Path:
    """Return where games are kept: the user's folder for the state of programs."""
    root = os.environ.get("XDG_STATE_HOME") or os.environ.get("LOCALAPPDATA") or Path.home() / ".local" / "state"
    return Path(root) / "pbm_envs" / "boards"
