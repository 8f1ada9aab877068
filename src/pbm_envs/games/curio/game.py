"""The class `Curio`: the game with one set of options."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from itertools import product
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from ...core.boards import NO_CELL, Board, Deal, square
from ...core.game import Game
from ...core.randomness import branch
from ...core.record_rules import BatchKernel, PlayKernels
from ...core.state import EMPTY, NOBODY, Ints, Mask, Planes, Record, Rng, Seeds, States, copy_states
from ...core.symmetry import Symmetry, permutation
from ...core.validation import check_same_games
from . import scene, texts
from .chain import draw_worlds_batch
from .inference import find_hidden_batch
from .ladder import BENCH, RUNGS
from .moves import MOST_CELLS, mask_batch, mask_large_batch, move_tables, playout_batch, playout_large_batch
from .options import FACES, OPTIONS, make_deck, make_settings, with_num_pieces
from .pieces import DIRECTIONS, NO_PIECE, RANDOM
from .rules import curio_dtype, set_up_batch, start_batch, step_batch, validate_records
from .text import board_text, deal, read_board
from .view import EXCHANGED_SEATS, hide_batch, observe_batch, piece_words, plane_numbers, planes
from .worlds import MOST_TRIES, deal_batch, draw_turnings, world_batch

NO_END = 2**31 - 1  # `max_plies` without a limit: the greatest value of `ply`
NO_CANDIDATES = np.zeros((0, 0), np.int64)
MOST_CHAINS = 8
NO_LEGAL = np.zeros((1, 0), np.int8)
MOST_TURNED_BASE = 5
"""The greatest base for which the turnings of a pool are counted (`Turnings`): their number grows fast."""


@final
class Curio(Game):
    """Pieces with two faces, of which each player sees one: capture the last royal piece of the opponent (C1 to C15).

    A game of hidden information for two, Light (`player_0`) and Dark. `view` blanks the faces that a player cannot
    know, `determinize` fills them in. The rules in full are the page of `pbm_envs.curio_v0`.

    >>> game = Curio(base=2, rows=4, cols=3)
    >>> states = game.init(1, np.random.default_rng(7))
    >>> game.board_to_string(game.view(states, 0))
    'D1? D1? D2?/. . ./. . ./L1? L2? L2?'

    Actions: every pair of cells on a common line within reach, by cell of origin (a1, b1, ...), direction and distance;
    then `pass`; then `resign` where allowed.
    """

    name = "curio"
    perfect_information = False
    named_options = {
        f"{series}-{number}": options
        for series, games in (("ladder", RUNGS), ("bench", BENCH))
        for number, options in games.items()
    }
    random_setup = True
    configurations = (
        {"base": 2, "rows": 4, "cols": 3, "limit": False, "capture": "any", "no_capture_limit": None},
        {},
        {"face": "random", "capture": "lt", "turn": False, "allow_resign": True},
        {"face": "small", "capture": "ge", "reveal_captured": False},
        {"face": "random", "turn": False, "reveal_captured": False, "no_capture_limit": 30},
        {"base": 3, "rows": 6, "cols": 4, "num_pieces": 12, "capture": "gt", "turn": False, "no_capture_limit": 7},
        {"base": 3, "rows": 4, "cols": 4, "capture": "le_total", "allow_resign": True},
        {"base": 3, "rows": 4, "cols": 4, "capture": "gt_total", "turn": False, "face": "small"},
    )

    declared_options = OPTIONS

    def __init__(self, **options: Any) -> None:
        """Make the game; raise ValueError for an option or value that is not among `declared_options`."""
        options = self.check_options(options)
        board = square(options["rows"], options["cols"])
        self._base, self._face = options["base"], FACES[options["face"]]
        self._total = options["capture"].endswith("_total")
        farthest = self._base if options["limit"] else max(board.shape)
        self._deck = make_deck(options)
        self.steps, self._moves, texts = _moves(board, farthest)
        self._tables = move_tables(self._moves, board.size) if board.size <= MOST_CELLS else None
        self.settings = make_settings(options, len(texts))
        self._plane_numbers = plane_numbers(self._base)
        self._piece_words = piece_words(self._base)
        self.mask_reveals_hidden = self._total
        quiet_limit = options["no_capture_limit"]
        super().__init__(
            options=options,
            board=board,
            dtype=curio_dtype(board.size, self._base, len(texts), self._total),
            planes=planes(self._base),
            moves=[*texts, "pass"],
            form=f"two cells on a line such as {texts[0]!r}, or 'pass'",
            # at most all pieces but two are captured, each after the longest quiet phase; boards can be full
            max_plies=NO_END if quiet_limit is None else (board.size - 1) * quiet_limit,
        )

    @classmethod
    def complete_options(cls, options: dict[str, Any]) -> Mapping[str, Any]:
        """Return checked options with the number of pieces, which depends on base and board."""
        return with_num_pieces(options)

    def _init(self, states: States, seeds: Seeds, board: str | None) -> None:
        if board is None:
            set_up_batch(states, seeds, self._deck, self.settings)
        else:
            owner, faces = read_board(board, self.board, self._base)
            states["owner"], states["faces"] = owner, faces
        start_batch(states, self.settings)

    def _deal(self) -> Deal:
        return deal(self.board, self._deck, self.options["face"])

    def _validate(self, states: States) -> None:
        validate_records(states, self.settings[0])

    def _step(self, states: States, actions: Ints) -> int:
        return step_batch(states, actions, self._moves, self.board.neighbours, self.settings)

    def _legal_action_mask(self, states: States, out: Mask) -> None:
        if self._tables is None:
            mask_large_batch(states, out, self.steps, self.settings)
        else:
            mask_batch(states, out, self._tables, self.settings)
        if self._total:  # legality cannot be derived from a view's faces, so views contain the legal actions (C7)
            views = states["viewer"] != NOBODY
            out[views] = states["legal"][views, : self.num_actions]

    def _view(self, states: States, views: States) -> None:
        hide_batch(states, views, self._base)
        if self._total:
            movers = np.flatnonzero(views["viewer"] == views["to_move"])
            views["legal"][movers, : self.num_actions] = self.legal_action_mask(states[movers])

    def _observe(self, views: States, out: Planes) -> None:
        candidates = NO_CANDIDATES
        if self._face == RANDOM:
            candidates = np.zeros((len(views), self.board.size), np.int64)
            find_hidden_batch(views, candidates, self.settings)
        observe_batch(views, out, candidates, *self._piece_words, self.settings, self._plane_numbers)

    def _determinize(self, views: States, seeds: Seeds) -> States:
        own = self._branches(seeds, np.arange(len(views)))  # so that `seeds` does not depend on the number of tries
        if self._face == RANDOM and self._base > MOST_TURNED_BASE:
            return self._without_legal(self._run_chains(views, own))
        states, good = self._draw_worlds(views, self._branches(own, np.arange(len(views))))
        pending, copies, tries = np.flatnonzero(~good), 1, 1
        while len(pending):
            if tries > MOST_TRIES:
                states[pending] = self._run_chains(views[pending], own[pending])
                break
            rows = np.repeat(pending, copies)
            worlds, good = self._draw_worlds(views[rows], self._branches(own, rows))
            found, first = np.unique(rows[good], return_index=True)
            states[found] = worlds[good][first]
            pending, tries = np.setdiff1d(pending, found), tries + copies
            copies = min(8 * copies, 1 + 4096 // (1 + len(pending)))
        return self._without_legal(states)

    def _without_legal(self, states: States) -> States:
        if self._total:
            states["legal"] = 0  # only views carry it
        return states

    def _run_chains(self, views: States, seeds: Seeds, longer: int = 1) -> States:
        """Return one world per view, drawn by the chain with `longer` times as many sweeps as usual."""
        legal = np.ascontiguousarray(views["legal"]) if self._total else NO_LEGAL
        worlds, sweeps = copy_states(views), np.empty(len(views), np.int64)
        for row in range(0, len(worlds), MOST_CHAINS):  # few at once, so that Ctrl-C takes effect soon
            some = slice(row, row + MOST_CHAINS)
            known = legal[some] if self._total else legal
            draw_worlds_batch(worlds[some], self.settings, self.steps, known, seeds[some], sweeps[some], longer)
        if (sweeps < 0).any():
            raise RuntimeError(f"{self!r}: found no position that fits what a player knows: the view is impossible")
        return worlds

    @staticmethod
    def _branches(seeds: Seeds, rows: NDArray[np.int64]) -> Seeds:
        streams = np.empty(len(rows), np.uint64)
        branch(seeds, rows, streams)
        return streams

    def _draw_worlds(self, views: States, seeds: Seeds) -> tuple[States, Mask]:
        """Return copies of `views` with faces drawn for the hidden pieces, and which of them are consistent."""
        worlds, good = copy_states(views), np.empty(len(views), np.bool_)
        hidden = np.zeros((len(views), 2, self._base + 1, self._base + 1), np.int64)
        if self._face == RANDOM:
            draw_turnings(worlds, self.settings, seeds, hidden)
        deal_batch(worlds, hidden, self.settings, seeds, good)
        if self._total:  # a mover knows their legal actions (C7)
            movers = views["viewer"] == views["to_move"]
            open_worlds = worlds[movers]
            open_worlds["viewer"] = NOBODY
            masks = self.legal_action_mask(open_worlds)
            good[movers] &= (masks == views["legal"][movers, : self.num_actions]).all(axis=1)
        return worlds, good

    def _play_kernels(self, avoid_losing_moves: bool, save_bridges: bool) -> PlayKernels:
        settings, moves = self.settings, self._moves
        mask = BatchKernel(mask_large_batch, (self.steps, settings))
        playout = BatchKernel(playout_large_batch, (moves, self.steps, settings))
        if self._tables is not None:
            mask = BatchKernel(mask_batch, (self._tables, settings))
            playout = BatchKernel(playout_batch, (moves, self._tables, settings))
        return PlayKernels(
            step=BatchKernel(step_batch, (moves, self.board.neighbours, settings)),
            mask=mask,
            playout=playout,
            world=None if self._total or self._face == RANDOM else BatchKernel(world_batch, (settings,)),
        )

    def resample_start(self, starts: States, views: States, rng: Rng | Seeds) -> States:
        """Return full initial states consistent with both views. Faces hidden in the later view have never turned (C8)
        and are drawn from it. Those that it shows were initially hidden behind a face that the first view shows.
        """
        check_same_games(self, starts, views)
        drawn = self.determinize(views, rng)
        worlds = copy_states(starts)
        worlds["viewer"] = NOBODY
        hidden = starts["faces"] == 0
        pairs = drawn["faces"].sum(axis=2, keepdims=True)  # the sum of both faces, independent of orientation
        if self._total:
            worlds["legal"] = 0  # only views carry it
        worlds["faces"] = np.where(hidden, pairs - starts["faces"].sum(axis=2, keepdims=True), starts["faces"])
        return worlds

    def _transform(self, states: States, symmetry: Symmetry) -> None:
        cells, players = symmetry.cells, list(symmetry.players)
        old = copy_states(states)
        for name in ("owner", "known", "faces", "bounds"):
            states[name][:, cells] = old[name]
        for name in ("cell", "taker"):
            states[name][:, cells] = np.where(old[name] < 0, old[name], cells[old[name]])
        states["last_captured"] = np.where(old["last_captured"] < 0, old["last_captured"], cells[old["last_captured"]])
        states["board"][:, cells] = np.where(old["board"] == NO_PIECE, NO_PIECE, cells[old["board"]])
        states["owner"] = np.where(states["owner"] == NOBODY, NOBODY, np.asarray(players)[states["owner"]])
        states["faces"] = states["faces"][:, :, players]
        states["bounds"] = states["bounds"][:, :, players]
        states["unseen"] = old["unseen"][:, players]
        if self._total:
            states["legal"][:, symmetry.actions] = old["legal"][:, : self.num_actions]

    def _symmetries(self) -> Iterator[Symmetry]:
        """Yield the exchange of left and right, that of Light and Dark with the board turned, and both."""
        places, last = self.board.places, self.board.shape[0] - 1
        words = np.arange(len(self._moves), self.num_actions)
        ends = {(a, b): k for k, (a, _, _, b) in enumerate(self._moves.tolist())}
        for mirrored, exchanged in product((False, True), repeat=2):
            move = {
                (row, col): (last - row if exchanged else row, self.board.shape[1] - 1 - col if mirrored else col)
                for row, col in places
            }
            cells = permutation(move, places)
            yield Symmetry(
                name=" and ".join(["mirror"] * mirrored + ["Light for Dark"] * exchanged) or "identity",
                cells=cells,
                actions=np.array([ends[int(cells[a]), int(cells[b])] for a, b in ends] + words.tolist(), np.int64),
                planes=permutation(EXCHANGED_SEATS if exchanged else {}, self.planes),
                marks=(EMPTY,),
                players=(1, 0) if exchanged else (0, 1),
            )

    def role(self, view: Record, player: int) -> str:
        return ("Light", "Dark")[player]

    def _board_to_string(self, state: Record) -> str:
        return board_text(state, self.board)

    _scene = scene.draw
    badge = scene.badge
    holdings = scene.holdings
    symbols = scene.symbols
    cell_texts = texts.cell_texts
    facts = texts.facts
    move_note = texts.move_note
    task = texts.task
    ending = texts.ending
    explain = texts.explain
    short_rules = property(texts.short_rules)
    lesson = texts.LESSON
    wording = cached_property(texts.wording)

    def _public(self, state: Record) -> Record:
        """Return the state with only the faces of pieces known to both players."""
        shown = state.copy()
        shown["viewer"] = NOBODY
        shown["faces"][shown["known"] == 0] = 0
        return shown


def _moves(board: Board, farthest: int) -> tuple[Ints, Ints, list[str]]:
    """Return `steps` for `list_moves`, (origin, direction, distance, end) of each move (C6), and the texts."""
    steps = np.empty((2, board.size, DIRECTIONS), np.int32)
    moves: list[tuple[int, int, int, int]] = []
    texts: list[str] = []
    for origin in range(board.size):
        for d in range(DIRECTIONS):
            cell = int(board.neighbours[origin, d])
            steps[:, origin, d] = len(moves), cell
            for distance in range(1, farthest + 1):
                if cell == NO_CELL:
                    break
                moves.append((origin, d, distance, cell))
                texts.append(f"{board.names[origin]}-{board.names[cell]}")
                cell = int(board.neighbours[cell, d])
    return steps.reshape(2, -1), np.array(moves, np.int16), texts
