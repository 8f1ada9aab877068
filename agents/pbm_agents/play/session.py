"""A game of persons and agents, with hints, undo and records. It does no input or output; boards are built on it."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np

from pbm_envs import Game
from pbm_envs.authoring import NOBODY
from pbm_envs.envs.memory import watches
from pbm_envs.records import RESIGN, Forfeit, GameRecord, make_record, play_moves
from pbm_envs.toolbox import stream

from ..arena import Opening
from ..arena.asking import ask
from ..common.faults import InfrastructureError
from ..players.agent import Agent, AnyAgent, Views
from ..players.names import make_agent
from .processes import known_agent, worker_process

PERSON = "person"
DEFAULT_AGENT = "mcts:simulations=1000"
"""The default agent of unnamed seats, and the default adviser."""
UNDO_WORLDS = 1000
"""Worlds that `undo` draws to test whether a person has learned hidden information since."""


def seats(game: Game, players: Sequence[str]) -> tuple[str, ...]:
    """Fill the seats that were omitted: with a person if only agents were named, then with DEFAULT_AGENT.

    >>> from pbm_envs import Trinim
    >>> seats(Trinim(num_players=3), ["random"])
    ('random', 'person', 'mcts:simulations=1000')
    """
    if len(players) > game.num_players:
        raise ValueError(f"{len(players)} players are given: expected at most {game.num_players} in {game!r}")
    persons = [] if PERSON in players else [PERSON]
    return tuple([*players, *persons, *[DEFAULT_AGENT] * game.num_players][: game.num_players])


class Session:
    """One game, from an opening.

    Positions are never changed in place, so another thread may read the game while an agent thinks.
    """

    def __init__(self, game: Game, players: Sequence[str], opening: Opening, *, agents: bool = True) -> None:
        """Set up the game.

        Args:
            game: The rules.
            players: By seat, PERSON or the name of an agent.
            opening: The seed, board and moves from which the game starts.
            agents: Whether to create the agents; otherwise any names are accepted.

        Raises:
            ValueError: If an agent's name or the opening is wrong.
        """
        self.game = game
        self.players = tuple(players)
        self.persons = [seat for seat, name in enumerate(players) if name == PERSON]
        self._opening = opening
        self._agents: dict[int, Agent] = {
            k: make_agent(name) for k, name in enumerate(players) if name != PERSON and agents
        }
        # hints and undo have their own generator, so that they do not change how the agents play
        self._rng, self._side_rng = (stream("", purpose, opening.seed) for purpose in ("agents", "hints"))
        self.start, _ = opening.position(game)
        self._positions = [self.start]
        self._moves: list[str] = []
        self._movers: list[int] = []
        self._forfeits: list[Forfeit] = []
        for move in opening.moves:
            self._step(game.string_to_action(move))

    def at_board(self, seats: Sequence[int]) -> Session:
        """Return this game as it is played at a board with the persons in `seats`. All boards share its moves."""
        session = copy.copy(self)
        session.persons = list(seats)
        return session

    @property
    def state(self) -> Views:
        """The current position, a batch of one."""
        return self._positions[-1]

    @property
    def done(self) -> bool:
        return bool(self.state["done"][0])

    @property
    def mover(self) -> int:
        return int(self.state["to_move"][0])

    @property
    def moves(self) -> list[tuple[str, int]]:
        """All moves so far, each with the player who made it; the first `given` moves belong to the opening."""
        return list(zip(self._moves, self._movers, strict=True))

    def moves_seen_by(self, seat: int) -> list[str]:
        """Return all moves so far as `seat` has seen them: "" for a move that is hidden from it (`public_moves`)."""
        if self.game.public_moves or self.done:
            return list(self._moves)
        seen = []
        for state, text in zip(self._positions[:-1], self._moves, strict=True):
            known = text == RESIGN or self.game.seen_actions(state, [self.game.string_to_action(text)], seat)[0] >= 0
            seen.append(text if known else "")
        return seen

    @property
    def plies(self) -> int:
        return len(self._moves)

    @property
    def given(self) -> int:
        """The number of moves in the opening."""
        return len(self._opening.moves)

    @property
    def positions(self) -> list[Views]:
        """All positions so far, batches of one."""
        return list(self._positions)

    def position(self, ply: int) -> Views:
        """Return the position after `ply` moves, a batch of one."""
        return self._positions[ply]

    def view(self, player: int) -> Views:
        return self.game.view(self.state, player)

    def seen(self, ply: int, seat: int) -> Views:
        """Return what `seat` can know of the position after `ply` moves; NOBODY for what all players can know."""
        view = self._positions[ply]
        for player in reversed(range(self.game.num_players)) if seat == NOBODY else [seat]:  # from the first one's side
            view = self.game.view(view, player)
        return view

    def legal(self) -> list[int]:
        """Return the legal actions of the player to move, from that player's view."""
        return np.flatnonzero(self.game.legal_action_mask(self.view(self.mover))[0]).tolist()

    def play(self, text: str) -> None:
        """Make a move for the player to move, who may always resign (A2); ValueError if it is illegal."""
        if text.strip().lower() == RESIGN and self.game.resign_action < 0:
            self._remove("resigned")
            return
        action = self.game.string_to_action(text)
        if action not in (legal := self.legal()):
            some = ", ".join(self.game.action_to_string(other) for other in legal[:8]) + ", ..." * (len(legal) > 8)
            raise ValueError(f"{self.game.action_to_string(action)!r} is illegal here: expected one of {some}")
        self._step(action)

    def play_agent_move(self) -> str:
        """Let the agent to move choose and play; return the move as text. An agent that fails forfeits."""
        return self.finish_turn(self.choose_action())

    def choose_action(self) -> int | str:
        """Return the action that the agent to move chooses, or the reason why it fails, without changing the game.

        Raises:
            InfrastructureError: The agent could not answer because of an external fault.
        """
        mover = self.mover
        choice, self._rng = self._ask(self._agents[mover], self.players[mover], self._rng)
        return choice

    def forfeit(self, reason: str) -> None:
        """Take the player to move out of the game, for a reason that the record states."""
        self._remove(reason)

    def finish_turn(self, choice: int | str) -> str:
        """Play the result of `choose_action`, or let the agent forfeit; return a readable description."""
        if isinstance(choice, str):
            self._remove(choice)
            return f"nothing and forfeits: {choice}"
        self._step(choice)
        return self._moves[-1] if all(self.moves_seen_by(seat)[-1] for seat in self.persons) else "a hidden move"

    def hint(self, agent: Agent, name: str = "") -> str:
        """Return the move that an agent, and its name, would make for the player to move; ValueError if it fails."""
        try:
            choice, self._side_rng = self._ask(agent, name, self._side_rng)
        except InfrastructureError as fault:
            raise ValueError(f"no hint: {fault}") from fault
        if isinstance(choice, str):
            raise ValueError(f"no hint: {choice}")
        return self.game.action_to_string(choice)

    def _ask(self, agent: Agent, name: str, rng: np.random.Generator) -> tuple[int | str, np.random.Generator]:
        """Ask an agent about the current position, after an agent with memory has received the earlier positions."""
        first = 0 if watches(agent) else self.given
        past = [self.game.view(position, self.mover) for position in self._positions[first:-1]]
        return choose(agent, name, self.game, self.view(self.mover), rng, past)

    def undo(self) -> list[str]:
        """Take back the last move of a person and all moves since.

        Returns:
            The moves that were taken back.

        Raises:
            ValueError: If there is no such move, or if a person has learned hidden information since.
        """
        own = [ply for ply, mover in enumerate(self._movers) if mover in self.persons and ply >= self.given]
        if not own:
            raise ValueError("there is no move of yours to take back")
        then = own[-1]
        if not self.game.public_moves:
            raise ValueError("no undo: the players do not see each other's moves in this game")
        if not self.game.perfect_information:
            if self.done:
                raise ValueError("no undo: the game is over and everything has been shown")
            persons = [seat for seat, name in enumerate(self.players) if name == PERSON]
            if wiser := [
                f"Player {seat + 1}" if len(persons) > 1 else "you" for seat in persons if self._has_learned(seat, then)
            ]:
                raise ValueError(f"no undo: since then something hidden has become known to {' and '.join(wiser)}")
        undone = self._moves[then:]
        del self._positions[then + 1 :], self._moves[then:], self._movers[then:]
        self._forfeits[:] = [forfeit for forfeit in self._forfeits if forfeit.ply <= then]
        return undone

    def record(self) -> GameRecord:
        """Return the record of the game so far."""
        return make_record(
            self.game,
            self.start,
            self._moves,
            self.state,
            self._forfeits,
            agents=self.players,
            seed=self._opening.seed,
            opening=self.given,
        )

    def _step(self, action: int) -> None:
        state, mover = self.state.copy(), self.mover
        self.game.step(state, [action])
        self._push(state, mover, self.game.action_to_string(action))

    def _remove(self, reason: str) -> None:
        state, mover = self.state.copy(), self.mover
        self.game.remove_player(state)
        self._forfeits.append(Forfeit(len(self._moves) + 1, mover, reason))
        self._push(state, mover, RESIGN)

    def _push(self, state: Views, mover: int, move: str) -> None:
        self._positions.append(state)
        self._movers.append(mover)
        self._moves.append(move)

    def replay(self, record: GameRecord) -> None:
        """Play the moves of a record after its opening; ValueError if one is illegal, or if a forfeit is misplaced."""
        forfeits = {forfeit.ply: forfeit for forfeit in record.forfeits}
        for move in record.moves[record.opening :]:
            forfeit = forfeits.get(self.plies + 1)
            if self.done or (forfeit and (forfeit.player != self.mover or move != RESIGN)):
                raise ValueError(f"ply {self.plies + 1}, {move!r}: expected moves of one game, up to its end")
            if forfeit:
                self._remove(forfeit.reason)
            else:
                self.play(move)

    def _has_learned(self, player: int, then: int) -> bool:
        """Return whether `player` has learned hidden information since ply `then`.

        The moves since then are replayed in worlds that were consistent with the view at that ply. If a move is illegal
        in one of them, or its view differs now, the player can rule that world out and so has learned something.
        """
        game, before = self.game, self.game.view(self._positions[then], player)
        worlds = game.determinize(np.repeat(before, UNDO_WORLDS), self._side_rng)
        try:
            for _ in play_moves(game, worlds, self._moves[then:]):
                pass
        except ValueError:  # illegal in one of the worlds
            return True
        seen, now = game.view(worlds, player), self.view(player)
        same = all((seen[field] == now[field]).all() for field in game.dtype.names or ())
        return not (same and (game.legal_action_mask(seen) == game.legal_action_mask(now)).all())


def choose(
    agent: AnyAgent, name: str, game: Game, view: Views, rng: np.random.Generator, past: Sequence[Views]
) -> tuple[int | str, np.random.Generator]:
    """Return an agent's action, or why it failed, and the generator after that; see `ask`.

    Args:
        agent: The agent, which is asked in this process if the thread has no worker processes.
        name: Its name, from which a worker process makes it.
        game: The rules.
        view: (1,) the view of the player to move.
        rng: Random numbers for the agent.
        past: The views after each earlier ply.
    """
    if (run := worker_process()) is not None:
        found: tuple[int | str, np.random.Generator] = run(_choose, name, game, view, rng, past)
        return found
    [choice] = ask(agent, game, view, rng, past)
    return choice, rng


def _choose(name: str, *rest: Any) -> Any:
    return choose(known_agent(name), name, *rest)
