"""The games as Python games of OpenSpiel, registered on import (extra `openspiel`).

    import pyspiel
    import pbm_envs.adapters.openspiel
    game = pyspiel.load_game("python_pbm_curio(base=2,rows=4,cols=3)")   # _trinim, _chameleon, _unlur

Parameters are the options of the game; 0 means None for an option that can be None (Curio: `num_pieces`, one set, and
`no_capture_limit`, no limit). A random set-up is dealt cell by cell (`Game.deal`), with one explicit chance node per
cell; `board`, a board text, gives a start without chance. `load` returns the game for any rules, including games
outside this package; `SpielGame.enter` returns a state for a position.

The *observation* tensor is `game.observe` of the player's view; the string shows the board as that player sees it. The
*information state* is the current view (with perfect information, the first position), the moves, and, if masks reveal
something (`Game.mask_reveals_hidden`), the player's past masks. `#...` is a digest of the whole view. There is no
information state tensor if masks reveal hidden information or a game can be longer than MOST_PLIES plies.

Rewards come at the end, even for a player of three who has resigned earlier (A2).

Use the searches in `open_spiel.python.algorithms`. The C++ searches cannot resample games written in Python, and those
of open_spiel 2.0.2 crash on every such game, including `python_tic_tac_toe`; its C++ solvers work.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from hashlib import blake2b
from typing import Any

import numpy as np

from ..core.boards import Deal
from ..core.checks import install_command
from ..core.game import Game
from ..core.options import options_of
from ..core.state import NOBODY, Floats, States, copy_states
from ..registry import find_game, make_game, register_game, registered_games

try:
    import pyspiel
except ImportError:
    raise ImportError(f"OpenSpiel is not installed: {install_command('openspiel')}") from None

PREFIX = "python_pbm_"
BOARD = "board"
MOST_TRIES = 1000
"""The largest number of worlds that `resample_from_infostate` tries."""
MOST_PLIES = 10_000
"""The largest `max_plies` of a game that has an information state tensor."""


@dataclass(frozen=True)
class Moment:
    """The history of a game, which copies of a state share."""

    dealt: tuple[int, ...] = ()
    """Chance outcomes so far."""
    start: States | None = None
    """The position before the first move, (1,); None during the deal."""
    now: States | None = None
    allowed: tuple[str, ...] = ()
    """Per player, a digest of past legal moves if these reveal something, and of past views if moves are hidden."""
    seen: tuple[tuple[int, ...], ...] = ()
    """Per player, the actions as that player saw them."""

    def __deepcopy__(self, memo: dict[int, Any]) -> Moment:
        return self


class SpielGame(pyspiel.Game):
    """`rules` as a game of OpenSpiel. `register` makes a subclass for each game, with its registered `name`."""

    name: str

    def __init__(self, params: dict[str, Any] | None = None) -> None:
        """Make a game with the parameters described in the module's docstring."""
        options = dict(params or {})
        self.board: str = options.pop(BOARD, "")
        self.rules: Game = _rules(self.name, tuple(sorted(options.items())))
        self.deal: Deal | None = None if self.board else _deal(self.rules)
        if self.board:
            self._first(self.board)
        info = pyspiel.GameInfo(
            num_distinct_actions=self.rules.num_actions,
            max_chance_outcomes=len(self.deal.texts) if self.deal else 0,
            num_players=self.rules.num_players,
            min_utility=-1 / (self.rules.num_players - 1),  # A1
            max_utility=1.0,
            utility_sum=0.0,
            max_game_length=self.rules.max_plies,
        )
        super().__init__(game_type(self.name, self.rules, self.deal), info, params or {})

    def new_initial_state(self, board: str | None = None) -> SpielState:
        """Return the state before the deal, or at a board text."""
        board = board or self.board
        return SpielState(self, None if self.deal and not board else self._first(board or None))

    def enter(self, states: States) -> SpielState:
        """Return the state of a position, (1,); its history and information states begin there."""
        if states.shape != (1,) or states.dtype != self.rules.dtype:
            raise ValueError(f"states are {states.dtype}, shape {states.shape}: expected one game of {self.rules!r}")
        if states["viewer"][0] != NOBODY:
            raise ValueError("states are views: determinize them first")
        return SpielState(self, copy_states(states))

    def make_py_observer(self, iig_obs_type: Any = None, params: dict[str, Any] | None = None) -> Observer:
        if params:
            raise ValueError(f"params are {params!r}: expected none")
        kind = iig_obs_type or pyspiel.IIGObservationType(perfect_recall=False)
        if not kind.public_info or kind.private_info != pyspiel.PrivateInfoType.SINGLE_PLAYER:
            raise ValueError(f"{kind}: expected public_info and private_info=SINGLE_PLAYER")
        return Observer(self.rules, kind.perfect_recall)

    def max_chance_nodes_in_history(self) -> int:
        return len(self.deal.cells) if self.deal else 0

    def __reduce__(self) -> tuple[Any, ...]:
        return _loaded, (self.get_type().short_name, self.get_parameters())

    def _first(self, board: str | None) -> States:
        return self.rules.init(1, np.random.default_rng(0), board)


class SpielState(pyspiel.State):
    """A state of a SpielGame with all hidden information; players must use information states."""

    def __init__(self, game: SpielGame, start: States | None = None) -> None:
        super().__init__(game)
        players = game.rules.num_players
        self._moment = Moment(start=start, now=start, allowed=("",) * players, seen=((),) * players)

    @property
    def states(self) -> States:
        """A copy of the full state, (1,)."""
        if self._moment.now is None:
            raise RuntimeError("the game is still being set up: apply the chance outcomes first")
        return copy_states(self._moment.now)

    def current_player(self) -> int:
        now = self._moment.now
        if now is None:
            return int(pyspiel.PlayerId.CHANCE)
        return int(pyspiel.PlayerId.TERMINAL) if now["done"][0] else int(now["to_move"][0])

    def is_terminal(self) -> bool:
        now = self._moment.now
        return now is not None and bool(now["done"][0])

    def returns(self) -> list[float]:
        if not self.is_terminal():
            return [0.0] * self.num_players()
        return [float(value) for value in self.states["returns"][0]]

    def chance_outcomes(self) -> list[tuple[int, float]]:
        return self.get_game().deal.outcomes(self._moment.dealt)

    def _legal_actions(self, player: int) -> list[int]:
        return np.flatnonzero(self.get_game().rules.legal_action_mask(self._moment.now)[0]).tolist()

    def _apply_action(self, action: int) -> None:
        game, moment = self.get_game(), self._moment
        if moment.now is None:
            dealt = (*moment.dealt, action)
            if len(dealt) < len(game.deal.cells):
                self._moment = replace(moment, dealt=dealt)
            else:
                start = game._first(game.deal.board(dealt))
                self._moment = replace(moment, dealt=dealt, start=start, now=start)
            return
        rules, now, allowed = game.rules, copy_states(moment.now), list(moment.allowed)
        if rules.mask_reveals_hidden:
            mover = int(now["to_move"][0])
            allowed[mover] = digest(allowed[mover].encode(), rules.legal_action_mask(now).tobytes())
        players = range(rules.num_players)
        seen = tuple((*moment.seen[k], int(rules.seen_actions(now, [action], k)[0])) for k in players)
        rules.step(now, np.array([action]))
        if not rules.public_moves:
            allowed = [digest(allowed[k].encode(), *fields_of(rules.view(now, k))) for k in players]
        self._moment = replace(moment, now=now, allowed=tuple(allowed), seen=seen)

    def _action_to_string(self, player: int, action: int) -> str:
        game, dealt = self.get_game(), self._moment.dealt
        if player == pyspiel.PlayerId.CHANCE:
            return f"{game.deal.names[len(dealt)]} {game.deal.texts[action]}"
        return game.rules.action_to_string(action)

    def moves(self) -> list[int]:
        """Return the players' actions so far."""
        return self.history()[len(self._moment.dealt) :]

    def resample_from_infostate(self, player: int, probability_sampler: Callable[[], float]) -> SpielState:
        """Draw a state with a history that `player` cannot distinguish from this one, uniformly."""
        game, moment = self.get_game(), self._moment
        rules = game.rules
        if rules.perfect_information:
            twin: SpielState = self.clone()
            return twin
        if moment.start is None:
            raise RuntimeError("the game is still being set up: apply the chance outcomes first")
        if not rules.public_moves:
            raise NotImplementedError(f"{rules!r} hides moves: expected a game whose moves are public")
        first, view = rules.view(moment.start, int(player)), rules.view(self.states, int(player))
        known = self.information_state_string(player)
        seeds = np.array([int(probability_sampler() * 2**53)], np.uint64)
        for _ in range(MOST_TRIES):
            world = self._replayed(rules.resample_start(first, view, seeds))
            if world is not None and world.information_state_string(player) == known:
                return world
        raise RuntimeError(f"found no game that fits what player_{player} knows in {MOST_TRIES} draws")

    def _replayed(self, start: States) -> SpielState | None:
        """Play the same moves from another start; None if one of them is illegal there."""
        game = self.get_game()
        if self._moment.dealt:
            world = game.new_initial_state()
            for outcome in game.deal.read(game.rules.board_to_string(start)):
                world.apply_action(outcome)
        else:
            world = game.enter(start)
        for action in self.moves():
            if action not in world.legal_actions():
                return None
            world.apply_action(action)
        return world

    def __str__(self) -> str:
        rules, moment = self.get_game().rules, self._moment
        if moment.now is None:
            return "dealt: " + " ".join(self.get_game().deal.texts[outcome] for outcome in moment.dealt)
        return f"{board_with_digest(rules, moment.now)} | {rules.status(moment.now)}"


def load(rules: Game, board: str = "") -> SpielGame:
    """Return OpenSpiel's game for these rules, starting at a board text if one is given."""
    if registered_games().get(rules.name) is not type(rules):
        register_game(type(rules))
    register()
    params = {name: 0 if value is None else value for name, value in rules.options.items()}
    return _loaded(PREFIX + rules.name, params | ({BOARD: board} if board else {}))


def _loaded(name: str, params: dict[str, Any]) -> SpielGame:
    return pyspiel.load_game(name, params)


def register() -> None:
    """Register every registered game with OpenSpiel, unless it is known. Called on import and by `load`."""
    known = pyspiel.registered_names()
    for name in registered_games():
        if PREFIX + name not in known:
            rules = make_game(name)
            # OpenSpiel's creator must outlive Python, as classes do, or the process crashes at its end
            creator = type(f"{type(rules).__name__}Game", (SpielGame,), {"name": name})
            pyspiel.register_game(game_type(name, rules, _deal(rules)), creator)


@lru_cache(maxsize=64)
def _rules(name: str, options: tuple[tuple[str, Any], ...]) -> Game:
    may_be_none = {option.name for option in options_of(find_game(name)) if option.takes_none}
    return make_game(name, **{key: None if key in may_be_none and value == 0 else value for key, value in options})


def _deal(rules: Game) -> Deal | None:
    """Return the set-up as chance events; None if all games start alike; ValueError if the game defines none."""
    if rules.random_setup and rules.deal is None:
        raise ValueError(
            f"{rules!r} has a random set-up, which OpenSpiel needs as chance events: expected a `_deal` of the "
            "game, or a board to start from"
        )
    return rules.deal


def game_type(name: str, rules: Game, deal: Deal | None) -> Any:
    """Return OpenSpiel's description of a registered game, given its default rules and its deal, if it has one."""
    kind = pyspiel.GameType
    defaults = {option.name: 0 if option.default is None else option.default for option in options_of(type(rules))}
    return kind(
        short_name=PREFIX + name,
        long_name=f"pbm_envs {type(rules).__name__}",
        dynamics=kind.Dynamics.SEQUENTIAL,
        chance_mode=kind.ChanceMode.EXPLICIT_STOCHASTIC if deal else kind.ChanceMode.DETERMINISTIC,
        information=getattr(kind.Information, f"{'' if rules.perfect_information else 'IM'}PERFECT_INFORMATION"),
        utility=kind.Utility.ZERO_SUM,
        reward_model=kind.RewardModel.TERMINAL,
        max_num_players=max(rules.player_counts),
        min_num_players=min(rules.player_counts),
        provides_information_state_string=True,
        provides_information_state_tensor=has_tensor(rules),
        provides_observation_string=True,
        provides_observation_tensor=True,
        parameter_specification=defaults | ({BOARD: ""} if rules.random_setup else {}),
    )


class Observer:
    """An observer by OpenSpiel's interface: `tensor`, `dict`, `set_from`, `string_from`.

    `dict`: "player" (P,) one-hot; "observation" (rows, cols, planes); with perfect recall also "view", the concatenated
    fields of the record that the information state is built on, and "moves" (max_plies,), 1 + action.
    """

    def __init__(self, rules: Game, perfect_recall: bool) -> None:
        self._rules, self._recall = rules, perfect_recall
        shapes: dict[str, tuple[int, ...]] = {"player": (rules.num_players,), "observation": rules.observation_shape}
        self.tensor: Floats | None = None
        """All numbers, concatenated; None without an information state tensor."""
        self.dict: dict[str, Floats] = {}
        """The parts of `tensor` by name, as views in their own shapes."""
        if perfect_recall:
            if not has_tensor(rules):
                return
            shapes["view"] = (len(_numbers(np.zeros(1, rules.dtype))),)
            shapes["moves"] = (rules.max_plies,)
        sizes = [int(np.prod(shape)) for shape in shapes.values()]
        self.tensor = np.zeros(sum(sizes), np.float32)
        pieces = np.split(self.tensor, np.cumsum(sizes)[:-1])
        self.dict = {name: piece.reshape(shapes[name]) for name, piece in zip(shapes, pieces, strict=True)}

    def set_from(self, state: Any, player: int) -> None:
        """Fill `tensor`, and thereby `dict`, from a `SpielState`; during the deal only the player is set."""
        if self.tensor is None:
            raise ValueError("there is no information state tensor here: use the string")
        self.tensor.fill(0)
        self.dict["player"][player] = 1
        now = state._moment.now
        if now is None:
            return
        view = self._rules.view(now, int(player))
        self.dict["observation"][:] = self._rules.observe(view)[0]
        if self._recall:
            self.dict["view"][:] = _numbers(self._anchor(state, view))
            moves = state.moves()
            self.dict["moves"][: len(moves)] = np.add(moves, 1)

    def string_from(self, state: Any, player: int) -> str:
        moment, rules = state._moment, self._rules
        if moment.now is None:
            return f"player_{player} | being set up"
        view = rules.view(moment.now, int(player))
        if not self._recall:
            return f"player_{player} | {board_with_digest(rules, view)} | {rules.status(view)}"
        moves = " ".join(rules.action_to_string(move) if move >= 0 else "?" for move in moment.seen[player])
        allowed = f" | allowed #{moment.allowed[player]}" if moment.allowed[player] else ""
        return f"player_{player} | {board_with_digest(rules, self._anchor(state, view))} | {moves}{allowed}"

    def _anchor(self, state: Any, view: States) -> States:
        return state._moment.start if self._rules.perfect_information else view


def has_tensor(rules: Game) -> bool:
    """Return whether information states have a tensor: moves must be few and public, and masks reveal nothing."""
    return rules.max_plies <= MOST_PLIES and rules.public_moves and not rules.mask_reveals_hidden


def board_with_digest(rules: Game, record: States) -> str:
    """Return the board text with a digest of the whole record."""
    return f"{rules.board_to_string(record)} #{digest(*fields_of(record))}"


def fields_of(record: States) -> Iterator[bytes]:
    """Yield the content of each field, without the arbitrary bytes between fields."""
    return (record[name].tobytes() for name in record.dtype.names or ())


def digest(*parts: bytes) -> str:
    """Return a hash of all parts, 16 hexadecimal digits."""
    return blake2b(b"".join(parts), digest_size=8).hexdigest()


def _numbers(record: States) -> Floats:
    return np.concatenate([np.ravel(record[name]) for name in record.dtype.names or ()]).astype(np.float32)


register()
