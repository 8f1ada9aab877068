"""The protocol of a board to click on: messages in, messages out.

Messages are JSON objects, the same over the web socket of `pbm serve` and in Jupyter. A person sends

    {"do": "hello", "theme": "dark"}     asks for everything again; `theme` is that of the pictures
    {"do": "hello", "resume": "..."}     enters the game of this link ("kept" and "link", below)
    {"do": "play", "move": "c4x"}        or "resign"; with the "round" of a position it is refused in a later game,
                                         and so is every order about the game
    {"do": "undo"}                       takes back a move
    {"do": "hint"}  {"do": "analyse"}    the adviser's move; its five best moves with numbers: one search for both
    {"do": "values"}                     the adviser's value of each position of the game
    {"do": "look", "ply": 3}             shows the position after 3 moves, as this seat saw it then; null for the last
    {"do": "branch", "ply": 3}           a new game from there, with hidden information drawn anew
    {"do": "rematch", "exchange": true}  the same again, with other seats
    {"do": "pace", "seconds": 1}         minimum time per move if only agents play; null to pause
    {"do": "open", "record": "{...}"}    shows the game of a record, a line of JSON; or "number": 1, of those offered
    {"do": "pictures"}                   asks for the pictures of all games, for the form of a new game
    {"do": "choices", "game": "curio", "options": ["base=3"]}    asks for the option values compatible with these
    {"do": "rules"}                      asks for the rules and the symbols on this board
    {"do": "explain", "cells": [3]}      asks what the piece there can do; [3, 5]: why no move leads from 3 to 5
    {"do": "exercise", "game": "curio", "kind": "lesson", "number": 0}    puts a step of the lesson, or a puzzle
                                         (kind "puzzles"), on the board; "play" answers it, or, in words, "answer"
    {"do": "answer", "text": "yes"}  {"do": "reveal"}  {"do": "leave"}    answers; shows the answer; back to the game
    {"do": "save"}                       asks for the record
    {"do": "invite", "seat": 1}          asks for the link with which another person takes this seat; null: spectators
    {"do": "invite", "view": 1}          shows the side of the person in seat 1 to spectators, and asks for their link
    {"do": "conceal", "seat": 1}         shows it no longer
    {"do": "agree"}  {"do": "decline"}   consents to another person's undo or rematch, or not
    {"do": "hide"}  {"do": "sit"}        several persons, hidden information: leave the board to another, take it
    {"do": "new", "game": "curio", "options": ["base=3"], "players": ["person", "random"], "seed": "", "clock": "300+5"}

and receives {"type": "setup", ...} (games, options, agents), {"type": "position", ...} (picture, players, legal moves),
{"type": "kept", "address": ...} (the link of this board), {"type": "link", "seat": ..., "address": ...} (another one),
{"type": "preparing", ...} (rules are being compiled: how many kernels of how many), {"type": "pictures", "svg": {...}},
{"type": "choices", "choices": {...}}, {"type": "rules", ...}, {"type": "explained", "text": ..., "range": [3]},
{"type": "record", "name": ..., "text": ...},
{"type": "note" or "error", "text": ...}. Until the game is over, all of it is computed from the view of the person at
the board.
"""

from __future__ import annotations

import logging
import math
import threading
from collections.abc import Callable, Sequence
from queue import SimpleQueue
from typing import final

from pbm_envs.records import GameRecord
from pbm_envs.toolbox import COMPILING, Progress

from ..common.faults import InfrastructureError
from .ahead import how_far
from .kept import KeptGames
from .limits import Limits
from .orders import Orders
from .processes import AgentProcesses
from .rooms import Room
from .start import Message, Start
from .thinking import Thought

MAX_WAITING_MESSAGES = 32
"""The largest number of waiting messages; further ones are dropped."""

_log = logging.getLogger(__name__)


@final
class Table:
    """One board. It handles messages in its own thread, and agents think in further threads (`thinking`)."""

    def __init__(
        self,
        send: Callable[[Message], None],
        start: Start,
        *,
        records: Sequence[GameRecord] = (),
        limits: Limits | None = None,
        kept: KeptGames | None = None,
        processes: AgentProcesses | None = None,
        at_once: bool = True,
    ) -> None:
        """Start the thread.

        Args:
            send: Called with each message to the person, in another thread.
            start: The first game.
            records: Games that can be opened by number; if there are any, the first is opened instead of `start`.
            limits: The limits on agents; None for no limits.
            kept: The store of games; None for a folder of this table.
            processes: Where agents think; None for threads of this process.
            at_once: Whether the game begins now, with errors raised here, rather than with the first hello.

        Raises:
            ValueError: If the game begins now, and a name, the board or a move is wrong.
        """
        self._send, kept = send, kept or KeptGames()
        self._inbox: SimpleQueue[object] = SimpleQueue()
        self._closed = threading.Event()
        self._working = False
        """True while a message is being handled."""
        self.orders = Orders(self._reply, start, self._inbox.put, records, limits, kept)
        self.orders.thinking.processes, self.orders.thinking.notify = processes, self._notify
        if at_once:
            self.orders.begin()
        self._now, self._opened = kept.timekeeper.now, kept.timekeeper.now()
        COMPILING.listeners.add(self._compiled)
        threading.Thread(target=self._work, daemon=True).start()

    def receive(self, message: object) -> None:
        """Queue a message. If it turns out to be invalid, the person receives an error message."""
        if self._inbox.qsize() < MAX_WAITING_MESSAGES:
            self._inbox.put(message)

    def close(self) -> None:
        """Leave the game: send nothing more, and stop agents that still think."""
        self._closed.set()
        COMPILING.listeners.discard(self._compiled)
        self.orders.thinking.close()
        self._inbox.put(None)

    @property
    def idle_seconds(self) -> float:
        """Seconds since anybody did anything at this board or at others with the same game."""
        room = self.orders.room
        return self._now() - max(self._opened, -math.inf if room is None else room.touched)

    def _work(self) -> None:
        """Handle messages until the table is closed."""
        while True:
            message = self._inbox.get()
            if self._closed.is_set():
                self.orders.close()
                return
            self._working = True
            try:
                if isinstance(message, Thought):
                    self.orders.use_thought(message)
                elif isinstance(message, Room):
                    self.orders.refresh(message)
                else:
                    if self.orders.room is not None:
                        self.orders.room.touched = self._now()
                    self.orders.carry_out(message)
            except (ValueError, ImportError, InfrastructureError) as error:
                self._reply("error", text=str(error))
            except Exception:
                _log.exception("a board failed at %.200r", message)
                self._reply("error", text="that failed, which is a mistake in the program: its log says more")
            finally:
                self._working = False

    def _reply(self, kind: str, /, **rest: object) -> None:
        if self.orders.greeted and not self._closed.is_set():
            self._send({"type": kind, **rest})

    def _compiled(self, progress: Progress) -> None:
        """Send the progress of compilation to a person who waits; called in the thread that compiles.

        This includes kernels of other tables, since Numba compiles one kernel at a time.
        """
        if self._working or self.orders.thinking.kind:
            self._notify(how_far(self.orders.name, progress))

    def _notify(self, message: Message) -> None:
        if not self._closed.is_set():
            self._send(message)
