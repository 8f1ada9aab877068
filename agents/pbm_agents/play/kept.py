"""Games stored under random keys, so that a page can resume one after a reload or a restart (see `rooms`).

Games stay on the machine that plays them: a page has only a link, which nobody can guess. Only the current state
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

from .clock import Timekeeper

KEY = re.compile(r"[\w-]{22}", re.ASCII)
MOST_GAMES = 1000
KEPT_DAYS = 30
KEPT_SECONDS = KEPT_DAYS * 24 * 3600.0

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
        timekeeper: Timekeeper | None = None,
    ) -> None:
        """Open a folder of games.

        Args:
            folder: A persistent folder, created for its owner only if missing; None for a temporary one.
            most: The largest number of games; beyond it, the game that was played least recently is deleted.
            seconds: How long a game is kept after its last change.
            now: The time of day, by which games expire.
            timekeeper: The time by which the clocks of players run.
        """
        self._most, self._seconds, self._now = most, seconds, now
        self.timekeeper = timekeeper or Timekeeper()
        self.lock = threading.RLock()
        """Held while a game is fetched and its room is opened, and while games are deleted."""
        self.rooms: weakref.WeakValueDictionary[str, Any] = weakref.WeakValueDictionary()
        """The rooms that boards have open, by key."""
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

    def put(self, key: str | None, game: dict[str, Any]) -> str:
        """Store the current state of a game under its key, None for a new game, and return the key.

        Boards store their games at the same time; only for a new game is the folder searched for others to delete.
        """
        new, key = key is None, secrets.token_urlsafe(16) if key is None else key
        try:
            write_text(self._folder / f"{key}.json", json.dumps(game))
            os.utime(self._folder / f"{key}.json", times=(self._now(),) * 2)
            if new:
                with self.lock:
                    self._make_room()
        except OSError as error:
            _log.warning("a game is not kept: %s", error)
        return key

    def take(self, key: str) -> dict[str, Any]:
        """Return the game under a key; ValueError if there is none."""
        with self.lock:
            self._make_room()
            try:
                if not KEY.fullmatch(key):
                    raise ValueError
                game: dict[str, Any] = json.loads((self._folder / f"{key}.json").read_text(encoding="utf-8"))
            except (OSError, ValueError):
                raise ValueError(
                    f"it is not on this machine, or nobody has touched it for {self._seconds / 86400:g} days, or "
                    f"{self._most:,} later games have taken its place"
                ) from None
        return game

    def _make_room(self) -> None:
        """Delete expired games, and the oldest ones beyond the limit."""
        games = [path for path in self._folder.glob("*.json") if KEY.fullmatch(path.stem)]
        games.sort(key=lambda path: path.stat().st_mtime, reverse=True)
        for rank, path in enumerate(games):
            if rank >= self._most or path.stat().st_mtime < self._now() - self._seconds:
                path.unlink(missing_ok=True)


def state_folder() -> Path:
    """Return the folder of kept games, in the user's folder for application state."""
    root = os.environ.get("XDG_STATE_HOME") or os.environ.get("LOCALAPPDATA") or Path.home() / ".local" / "state"
    return Path(root) / "pbm_envs" / "boards"
