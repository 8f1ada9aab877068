"""A game between persons and agents with a way back. It reads and prints nothing."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pbm_envs import Game
from pbm_envs.records import RESIGN, Forfeit, GameRecord, make_record, remove_player

from ..agent import Agent, Views
from ..arena import Opening
from ..arena.match import ask
from ..mcts import SearchAgent
from ..names import make_agent
from ..search import SearchResult

PERSON = "person"
AGENT = "mcts:simulations=1000"
"""Who sits where nobody was named, and who is asked for advice."""
WORLDS = 1000
"""Worlds in which `undo` looks whether something has become known."""


def seats(game: Game, players: Sequence[str]) -> tuple[str, ...]:
    """Who sits where, if `players` were named: a person in the first free seat if they are all agents, then AGENT.

    >>> from pbm_envs import Trinim
    >>> seats(Trinim(num_players=3), ["random"])
    ('random', 'person', 'mcts:simulations=1000')
    """
    if len(players) > game.num_players:
        raise ValueError(f"{len(players)} players are given: expected at most {game.num_players} in {game!r}")
    persons = [] if PERSON in players else [PERSON]
    return tuple([*players, *persons, *[AGENT] * game.num_players][: game.num_players])


class Session:
    """One game. `players` are by seat: PERSON or an agent's name."""

    def __init__(self, game: Game, players: Sequence[str], opening: Opening) -> None:
        self.game = game
        self.players = tuple(players)
        self.persons = [seat for seat, name in enumerate(players) if name == PERSON]
        self._opening = opening
        self._agents: dict[int, Agent] = {k: make_agent(name) for k, name in enumerate(players) if name != PERSON}
        # what hints and undo draw does not change how the agents play
        self._rng, self._aside = map(np.random.default_rng, np.random.SeedSequence(opening.seed).spawn(2))
        self._start, state = opening.position(game)
        self._positions = [state]
        self._moves: list[str] = []
        self._movers: list[int] = []
        self._forfeits: list[Forfeit] = []

    @property
    def state(self) -> Views:
        """The position, a batch of one."""
        return self._positions[-1]

    @property
    def done(self) -> bool:
        return bool(self.state["done"][0])

    @property
    def mover(self) -> int:
        return int(self.state["to_move"][0])

    @property
    def moves(self) -> list[tuple[str, int | None]]:
        """All so far, and who played each; None for those that the game was started with."""
        return [*((move, None) for move in self._opening.moves), *zip(self._moves, self._movers, strict=True)]

    def view(self, player: int) -> Views:
        return self.game.view(self.state, player)

    def legal(self) -> list[int]:
        """The legal actions of the player to move, as that player knows them."""
        return np.flatnonzero(self.game.legal_action_mask(self.view(self.mover))[0]).tolist()

    def play(self, text: str) -> None:
        """The move of the player to move; ValueError if it is none or illegal. Everyone may resign (A2)."""
        if text.strip().lower() == RESIGN and self.game.resign < 0:
            self._remove("resigned")
            return
        action = self.game.string_to_action(text)
        if action not in (legal := self.legal()):
            some = ", ".join(self.game.action_to_string(other) for other in legal[:8]) + ", ..." * (len(legal) > 8)
            raise ValueError(f"{self.game.action_to_string(action)!r} is illegal here: expected one of {some}")
        self._step(action)

    def ask(self) -> str:
        """Let the agent to move play; what it played. It forfeits if it fails."""
        return self.answer(self.think())

    def think(self) -> int | str:
        """The action of the agent to move, or why it fails. It only reads the game: another thread may, meanwhile."""
        [thought] = ask(self._agents[self.mover], self.game, self.view(self.mover), self._rng)
        return thought

    def answer(self, thought: int | str) -> str:
        """Play what `think` gave; what was played. Who fails forfeits."""
        if isinstance(thought, str):
            self._remove(thought)
            return f"nothing and forfeits: {thought}"
        self._step(thought)
        return self._moves[-1]

    def hint(self, agent: Agent) -> str:
        """What `agent` would play, from what the player to move knows; ValueError if it fails."""
        [answer] = ask(agent, self.game, self.view(self.mover), self._aside)
        if isinstance(answer, str):
            raise ValueError(f"no hint: {answer}")
        return self.game.action_to_string(answer)

    def analyse(self, agent: SearchAgent) -> SearchResult:
        """What `agent` makes of the position, from what the player to move knows."""
        return agent.analyse(self.game, self.view(self.mover), self._aside)[0]

    def undo(self) -> list[str]:
        """Take back the last move of a person and all since; the moves taken back. ValueError where there is none, or
        where a person has learned something since: then the game would not be the same again.
        """
        own = [ply for ply, mover in enumerate(self._movers) if mover in self.persons]
        if not own:
            raise ValueError("there is no move of yours to take back")
        then = own[-1]
        if not self.game.perfect_information:
            if self.done:
                raise ValueError("no undo: the game is over and everything has been shown")
            if wiser := [f"player_{seat}" for seat in self.persons if self._has_learned(seat, then)]:
                raise ValueError(f"no undo: since then something hidden has become known to {' and '.join(wiser)}")
        undone = self._moves[then:]
        del self._positions[then + 1 :], self._moves[then:], self._movers[then:]
        self._forfeits = [forfeit for forfeit in self._forfeits if forfeit.ply <= self._given + then]
        return undone

    def record(self) -> GameRecord:
        return make_record(
            self.game,
            self._start,
            [*self._opening.moves, *self._moves],
            self.state,
            self._forfeits,
            agents=self.players,
            seed=self._opening.seed,
            opening=self._given,
        )

    @property
    def _given(self) -> int:
        return len(self._opening.moves)

    def _step(self, action: int) -> None:
        state, mover = self.state.copy(), self.mover
        self.game.step(state, [action])
        self._push(state, mover, self.game.action_to_string(action))

    def _remove(self, reason: str) -> None:
        state, mover = self.state.copy(), self.mover
        remove_player(self.game, state)
        self._forfeits.append(Forfeit(self._given + len(self._moves) + 1, mover, reason))
        self._push(state, mover, RESIGN)

    def _push(self, state: Views, mover: int, move: str) -> None:
        self._positions.append(state)
        self._movers.append(mover)
        self._moves.append(move)

    def _has_learned(self, player: int, then: int) -> bool:
        """Whether `player` knows more now: of WORLDS possible `then`, some cannot have come to what they see."""
        game, before = self.game, self.game.view(self._positions[then], player)
        worlds = game.determinize(np.repeat(before, WORLDS), self._aside)
        for move in self._moves[then:]:
            try:
                game.step(worlds, np.full(WORLDS, game.string_to_action(move)))
            except ValueError:  # impossible in one of them
                return True
        seen, now = game.view(worlds, player), self.view(player)
        same = all((seen[field] == now[field]).all() for field in game.dtype.names or ())
        return not (same and (game.legal_action_mask(seen) == game.legal_action_mask(now)).all())
