"""Trinim solved exactly: an agent that loses no won position, and an oracle that says what every move is worth.

    game, rng = Trinim(), np.random.default_rng(7)
    states = game.init(1, rng)
    TrinimSolver().action_values(game, states)      # (1, A): 1 wins, -1 loses, nan is illegal
    make_agent("exact")                             # plays so

With two players left in the game, values are those of perfect play. Among three there is no such thing: who can no
longer win decides who does. There the solver supposes that every player plays moves by how much they expect from them.
"""

from __future__ import annotations

from typing import final

import numpy as np
from numpy.typing import NDArray

from pbm_envs import Game, Trinim
from pbm_envs.authoring import Record, States, check_range
from pbm_envs.toolbox import Array, check_number

from ..players.agent import Actions, Views, check_searchable
from .trinim_kernels import EXCHANGED, NO_CELL, solve_three, solve_two

COLOURS = 3
MOST_PIECES = 22
"""Pieces left on the board up to which positions of two players are solved by default."""
MOST_PIECES_OF_THREE = 16
"""The same of three players, of whose positions there are eight times as many, and each takes longer."""
TEMPERATURE = 0.05
"""How far from their best moves players among three are thought to stray, in returns."""


@final
class TrinimSolution:
    """Every position that can arise from one, solved: at most 2 ** pieces times the parities that players can hold.

    Solving takes time and memory in proportion to 2 ** pieces: 15 pieces (a game of size 5) some milliseconds, 21
    (size 6) a fraction of a second and 6 MB.
    """

    def __init__(self, game: Trinim, state: Record, temperature: float = TEMPERATURE) -> None:
        """Solve a position and all that follow.

        Args:
            game: The rules.
            state: One state or view; nothing in Trinim is hidden.
            temperature: Among three, how far players stray from their best moves, in returns; 0: not at all, and
                equally good moves are equally likely.
        """
        self.pieces, self.out = state["pieces"].copy(), state["out"].copy()
        self.cells = np.flatnonzero(self.pieces)
        self.total = _total(state)
        self.still_in = [player for player in range(game.num_players) if not state["out"][player]]
        self._place = np.full(game.board.size, NO_CELL, np.int64)
        self._place[self.cells] = np.arange(len(self.cells))
        neighbours = game.board.neighbours[self.cells, :COLOURS].astype(np.int64)
        following = np.where(neighbours == NO_CELL, NO_CELL, self._place[neighbours])
        colours = self.pieces[self.cells].astype(np.int64)
        if len(self.still_in) == 2:
            self._table = solve_two(colours, following, self.total, EXCHANGED)
        else:
            self._table = solve_three(colours, following, self.total, float(temperature))
        loss = 1.0 / (game.num_players - 1)
        gone = game.num_players - len(self.still_in)
        self._win, self._loss, self._draw = 1.0, -loss, loss * gone / len(self.still_in)

    def covers(self, state: Record) -> bool:
        """Whether this position can arise from the one that was solved, up to what players hold."""
        there = state["pieces"] != 0
        return bool(
            (state["pieces"][there] == self.pieces[there]).all()
            and (state["out"] == self.out).all()
            and _total(state) == self.total
        )

    def values(self, state: Record) -> NDArray[np.float64]:
        """(P,) expected returns of the players by seat in a position that is covered."""
        mask = self._mask(state["pieces"])
        order = self._order(int(state["to_move"]))
        held = [_parities(state["held"][player]) for player in order]
        values = np.full(len(state["out"]), self._loss)
        if len(order) == 3:
            values[order] = self._table[mask, :, 8 * held[0] + held[1]]
            return values
        won, lost = (int(word) >> held[0] & 1 for word in self._table[mask])
        if won or lost:
            values[order] = (self._win, self._loss) if won else (self._loss, self._win)
        else:
            values[order] = self._draw
        return values

    def _mask(self, pieces: Array) -> int:
        return int((pieces[self.cells] != 0).astype(np.int64) @ (1 << np.arange(len(self.cells))))

    def _order(self, mover: int) -> list[int]:
        """The players still in, from the player to move on."""
        at = self.still_in.index(mover)
        return self.still_in[at:] + self.still_in[:at]


@final
class TrinimSolver:
    """Says what positions of Trinim and the moves there are worth. It keeps the newest solutions.

    Of a game whose first position it has solved it knows all that follow at once.
    """

    def __init__(self, *, temperature: float = TEMPERATURE, kept: int = 8) -> None:
        """A solver that knows nothing yet.

        Args:
            temperature: As of `TrinimSolution`.
            kept: Solutions that are kept.
        """
        check_number("temperature", temperature, 0, 1e9)
        check_range("kept", kept, 1)
        self.temperature, self.kept = temperature, kept
        self._solutions: list[tuple[Game, TrinimSolution]] = []

    def knows(self, game: Game, state: Record) -> bool:
        """Whether the position is solved already."""
        return self._known(game, state) is not None

    def solution(self, game: Game, state: Record) -> TrinimSolution:
        """A solution that covers this position, which is solved now if there is none."""
        if not isinstance(game, Trinim):
            raise ValueError(f"{game!r} cannot be solved: expected Trinim")
        found = self._known(game, state)
        if found is None:
            found = TrinimSolution(game, state, self.temperature)
            self._solutions = [(game, found), *self._solutions[: self.kept - 1]]
        return found

    def _known(self, game: Game, state: Record) -> TrinimSolution | None:
        return next((one for of, one in self._solutions if of == game and one.covers(state)), None)

    def values(self, game: Game, states: States) -> NDArray[np.float64]:
        """(B, P) the expected returns of the players by seat: of perfect play, where two are left."""
        found = [state["returns"] if state["done"] else self.solution(game, state).values(state) for state in states]
        return np.array(found, np.float64).reshape(len(states), game.num_players)

    def action_values(self, game: Game, states: States) -> NDArray[np.float64]:
        """(B, A) what each action is worth to the player to move; nan for what is illegal, and for resigning.

        Args:
            game: Trinim.
            states: (B,) full states or views of games that are not over, of few enough pieces: see `TrinimSolution`.
        """
        check_searchable(game, states)
        worth = np.full((len(states), game.num_actions), np.nan)
        for row, (state, mask) in enumerate(zip(states, game.legal_action_mask(states), strict=True)):
            self.solution(game, state)  # of this position, not of each of those that follow
            actions = np.flatnonzero(mask)
            actions = actions[actions != game.resign_action]
            after = _after(game, states[row : row + 1], actions)
            worth[row, actions] = self.values(game, after)[:, int(state["to_move"])]
        return worth


@final
class TrinimAgent:
    """Plays Trinim exactly while few enough pieces are left, and else as another agent does.

    Of equally good moves it prefers one after which few of the next player's replies are good: a lost position is lost
    only against somebody who finds the way.
    """

    def __init__(self, solver: TrinimSolver, most_pieces: int = MOST_PIECES, most_of_three: int = MOST_PIECES_OF_THREE):
        """An agent that asks this solver, up to so many pieces among two and among three players."""
        self.solver, self.most = solver, {2: most_pieces, 3: most_of_three}

    def solves(self, game: Game, view: Record) -> bool:
        """Whether this position is solved rather than searched."""
        if not isinstance(game, Trinim):
            return False
        still_in = game.num_players - int(view["out"].sum())
        return int(view["left"]) <= self.most[still_in] or self.solver.knows(game, view)

    def act(self, game: Game, views: Views, rng: np.random.Generator) -> Actions:
        """As `Agent.act`, of positions that are solved."""
        check_searchable(game, views)
        return np.array([self._best(game, views[row : row + 1], rng) for row in range(len(views))], np.int64)

    def _best(self, game: Game, view: Views, rng: np.random.Generator) -> int:
        worth = self.solver.action_values(game, view)[0]
        best = np.flatnonzero(worth >= np.nanmax(worth) - 1e-6)
        if len(best) == 1:
            return int(best[0])
        good_replies = [self._good_replies(game, state) for state in _after(game, view, best)]
        fewest = best[np.array(good_replies) <= min(good_replies) + 1e-9]
        return int(rng.choice(fewest))

    def _good_replies(self, game: Game, state: Record) -> float:
        """The share of the legal replies that are best for the next player; 0 if the game is over."""
        if state["done"]:
            return 0.0
        worth = self.solver.action_values(game, np.array([state]))[0]
        legal = worth[~np.isnan(worth)]
        return float(np.mean(legal >= legal.max() - 1e-6))


def _after(game: Game, state: States, actions: Array) -> States:
    """(len(actions),) the positions after each of some actions in one."""
    states = np.repeat(state, len(actions))
    states["viewer"] = -1  # nothing is hidden
    game.step(states, actions)
    return states


def _parities(held: Array) -> int:
    return int((held % 2) @ (1 << np.arange(COLOURS)))


def _total(state: Record) -> int:
    """Parities of all pieces that are left or held by players who are still in the game (A2)."""
    left = np.array([(state["pieces"] == colour + 1).sum() for colour in range(COLOURS)])
    return _parities(state["held"][state["out"] == 0].sum(axis=0) + left)
