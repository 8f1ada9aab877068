"""The public tree of a two-player game in which moves are public and what is hidden was dealt at the start.

    tree = PublicTree.build(Curio(base=2, rows=2, cols=3, no_capture_limit=2))
    tree.num_information_sets                                    # 39446

A *public node* is what both players know in common: the moves, and what these have revealed. It holds the *worlds*
(set-ups) that are still possible. A player's *information set* at a node is the worlds that this player cannot tell
apart by all that they have seen (perfect recall). A game of perfect information is the case of one world.

Only nodes with a player to move are in the tree; where the game ends, a transition leads to a payoff. Arrays are flat
and breadth first:

    nodes -> pairs (of a node and one of its worlds) in the order of the player's information sets -> transitions
    information sets -> choices (their legal actions)

Of information set s, pairs are `set_pairs[s]` to `set_pairs[s + 1]`, choices `set_choices[s]` to `set_choices[s + 1]`;
of its k-th pair, the transition of the j-th choice is `set_transitions[s] + k * (number of choices) + j`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pbm_envs import Game
from pbm_envs.authoring import NOBODY, States, copy_states, take_rows
from pbm_envs.foreign import SCALAR, check_fields, parse_object, registered_game
from pbm_envs.toolbox import quoted

from .growth import grow
from .set_ups import check_public_moves, set_ups
from .structure import check_structure
from .sweeps import Flat, Sweeps

if TYPE_CHECKING:
    from .policy import Policy

Array = NDArray[Any]

GIBIBYTE = 1 << 30
FORMAT = "pbm_agents.equilibrium.PublicTree 1"
ALIGNMENT = 64
"""Of the arrays in a file."""
HEAD = {"format": str, "game": str, "options": {str: SCALAR}, "arrays": {str: [SCALAR]}}
DTYPES = ("|u1", "|i1", "<i2", "<u2", "<i4", "<u4", "<i8", "<u8", "<f4", "<f8")


@final
@dataclass(frozen=True, eq=False)
class PublicTree:
    """A public tree, as described above. The arrays are read-only facts; two trees with the same `digest` are equal."""

    game: Game
    starts: States
    """(W,) the set-ups."""
    chances: Array
    """(W,) and how likely each is."""
    payoffs: Array
    """What `player_0` can get in the end; `player_1` gets the negative."""
    level_sets: Array
    """(L + 1,) the first information set of each depth, and the number of all."""
    node_pairs: Array
    """(N + 1,)"""
    set_player: Array
    """(S,) the player to move."""
    set_pairs: Array
    """(S + 1,)"""
    set_choices: Array
    """(S + 1,)"""
    set_transitions: Array
    """(S + 1,)"""
    choice_actions: Array
    """(C,) the actions, rising within an information set."""
    pair_world: Array
    """(P,)"""
    pair_parent: Array
    """(P,) the transition that leads here; -1 at the roots."""
    children: Array
    """(T,) of each transition, the pair it leads to; or ~k where the game ends with `payoffs[k]`."""

    @classmethod
    def build(
        cls,
        game: Game,
        *,
        worlds: States | None = None,
        chances: ArrayLike | None = None,
        memory: float = 8.0,
        threads: int | None = None,
        progress: bool = False,
    ) -> PublicTree:
        """Follow every public history from the start to the end of the game.

        Args:
            game: Any game for two with returns that sum to zero.
            worlds: (W,) states to begin with instead of every set-up: what both players hold possible in common.
            chances: (W,) how likely each of them is; equally likely if not given.
            memory: GiB that the tree and the work on it may use.
            threads: How many parts of a level are expanded at the same time. None: one a processor.
            progress: Show a progress bar (extra `cli`).

        Raises:
            TreeTooLargeError: The tree needs more memory; the message says how large it had become.
            ValueError: The game is not for two, its moves are hidden, or legal actions tell more than views do.
        """
        if game.num_players != 2:
            raise ValueError(f"{game!r} has {game.num_players} players: expected two")
        check_public_moves(game)
        if worlds is None:
            starts, weights = set_ups(game)
        else:
            starts, weights = _check_worlds(game, worlds, chances)
        arrays = grow(game, starts, int(memory * GIBIBYTE), threads, progress)
        return cls(game, starts, weights, **arrays)

    def __post_init__(self) -> None:
        for name, array in self._arrays().items():
            if name != "starts":  # plain and read-only, however they came, so that kernels are compiled once
                plain = np.asarray(array).view()
                plain.flags.writeable = False
                object.__setattr__(self, name, plain)

    @property
    def num_information_sets(self) -> int:
        """Of both players together."""
        return len(self.set_player)

    @property
    def num_public_nodes(self) -> int:
        """Those with a player to move."""
        return len(self.node_pairs) - 1

    @property
    def num_pairs(self) -> int:
        """Pairs of a decision node and a world that is possible there."""
        return len(self.pair_world)

    @property
    def num_choices(self) -> int:
        """Legal actions, summed over the information sets."""
        return len(self.choice_actions)

    @property
    def num_transitions(self) -> int:
        """Legal actions, summed over the pairs of a node and a world."""
        return len(self.children)

    @property
    def depth(self) -> int:
        """Plies of the longest game."""
        return len(self.level_sets) - 1

    @property
    def nbytes(self) -> int:
        """Memory of the arrays."""
        return sum(array.nbytes for array in self._arrays().values())

    @cached_property
    def digest(self) -> str:
        """A hash of everything: the rules as far as this tree shows them."""
        digest = blake2b(repr(self.game).encode(), digest_size=16)
        for name, array in self._arrays().items():
            if name != "starts":  # there may be anything between the fields of records
                digest.update(np.ascontiguousarray(array).data)
        return digest.hexdigest()

    @property
    def num_roots(self) -> int:
        """Pairs before the first move: the set-ups."""
        return self._level_pairs(1)

    @cached_property
    def flat(self) -> Flat:
        """The arrays that sweeps use."""
        return Flat(*(getattr(self, name) for name in Flat._fields))

    @cached_property
    def sweeps(self) -> Sweeps:
        """Runs sweeps over this tree."""
        return Sweeps(self.flat, self.level_sets)

    def root_reach(self) -> tuple[Array, Array]:
        """(P,) of the roots the probabilities of their set-ups, of all else nothing yet; and (P,) 1 at the roots."""
        reached, own = np.empty(self.num_pairs), np.empty(self.num_pairs)
        reached[: self.num_roots] = self.chances[self.pair_world[: self.num_roots]]
        own[: self.num_roots] = 1.0
        return reached, own

    def uniform_policy(self) -> Policy:
        """Every legal action with the same probability."""
        from .policy import Policy

        sizes = np.diff(self.set_choices)
        return Policy(self, np.repeat(1 / sizes, sizes))

    def moves(self, information_set: int) -> list[int]:
        """The actions that lead from the start to an information set."""
        pair, actions = int(self.set_pairs[information_set]), []
        while (transition := int(self.pair_parent[pair])) >= 0:
            at = int(np.searchsorted(self.set_transitions, transition, side="right")) - 1
            pair, choice = divmod(transition - int(self.set_transitions[at]), self._size(at))
            pair += int(self.set_pairs[at])
            actions.append(int(self.choice_actions[int(self.set_choices[at]) + choice]))
        return actions[::-1]

    def state(self, pair: int) -> States:
        """(1,) the state of a pair of a node and a world."""
        state = copy_states(self.starts[self.pair_world[pair]].reshape(1))
        information_set = int(np.searchsorted(self.set_pairs, pair, side="right")) - 1
        for action in self.moves(information_set):
            self.game.step(state, [action])
        return state

    def view(self, information_set: int) -> States:
        """(1,) what the player to move knows there."""
        state = self.state(int(self.set_pairs[information_set]))
        return self.game.view(state, int(self.set_player[information_set]))

    def levels(self) -> Iterator[tuple[int, int, States]]:
        """Depth by depth: the first pair, the last but one, and the states of all between them."""
        states = take_rows(self.starts, self.pair_world[: self._level_pairs(1)].astype(np.int64))
        for depth in range(self.depth):
            first, last, below = (self._level_pairs(depth + k) for k in range(3))
            yield first, last, states
            if below == last:
                return
            transitions = self.pair_parent[last:below].astype(np.int64)
            sets = np.searchsorted(self.set_transitions, transitions, side="right") - 1
            sizes = np.diff(self.set_choices)[sets]
            pairs, choices = np.divmod(transitions - self.set_transitions[sets], sizes)
            states = take_rows(states, self.set_pairs[sets] + pairs - first)
            self.game.step(states, self.choice_actions[self.set_choices[sets] + choices].astype(np.int64))

    def views_by_batch(self, batch: int) -> Iterator[tuple[int, States]]:
        """What the players to move know: the first information set of a batch, and the views of `batch` or fewer."""
        for depth, (first, _, states) in enumerate(self.levels()):
            low, high = self.level_sets[depth : depth + 2].tolist()
            for start in range(low, high, batch):
                sets = slice(start, min(start + batch, high))
                some = take_rows(states, self.set_pairs[sets] - first)
                yield start, self.game.view(some, self.set_player[sets])

    def save(self, path: str | Path) -> None:
        """Write the tree to a file that `load` maps into memory."""
        arrays = self._arrays()
        head = {
            "format": FORMAT,
            "game": self.game.name,
            "options": dict(self.game.options),
            "arrays": {name: [array.dtype.str, len(array)] for name, array in arrays.items()},
        }
        with open(path, "wb") as file:
            file.write(json.dumps(head).encode() + b"\n")
            for array in arrays.values():
                file.write(b"\0" * (-file.tell() % ALIGNMENT))
                np.ascontiguousarray(array).tofile(file)

    @classmethod
    def load(cls, path: str | Path, game: Game | None = None) -> PublicTree:
        """Return the tree of a file, whose arrays stay in the file until they are used; they are checked first.

        Args:
            path: A file that `save` wrote.
            game: Needed if the game is not one of pbm_envs.
        """
        with open(path, "rb") as file:
            head = parse_object(file.readline(1 << 20), "the head of a public tree")
            offset, size = file.tell(), file.seek(0, 2)
        if head.get("format") != FORMAT:
            raise ValueError(f"{str(path)!r} is no public tree: expected a file that PublicTree.save wrote")
        check_fields(head, HEAD, "the head of a public tree")
        game = registered_game(head["game"], head["options"]) if game is None else game
        if game.name != head["game"] or dict(game.options) != head["options"]:
            raise ValueError(f"game is {game!r}: expected {head['game']} with {quoted(head['options'])}")
        arrays = {}
        for name, said in head["arrays"].items():
            dtype, length = said if len(said) == 2 and type(said[1]) is int else ("", 0)
            offset += -offset % ALIGNMENT
            if dtype not in DTYPES or not 0 < length <= (size - offset) // np.dtype(dtype).itemsize:
                raise ValueError(f"{str(path)!r} is damaged: {quoted(name)} is {quoted(dtype)} [{length}]")
            arrays[name] = np.memmap(path, np.dtype(dtype), "r", offset, (length,))
            offset += arrays[name].nbytes
        if arrays.keys() != {field.name for field in fields(cls)} - {"game"}:
            raise ValueError(f"{str(path)!r} holds {quoted(sorted(arrays))}: expected the arrays of a public tree")
        starts = np.array(arrays.pop("starts"))
        if starts.dtype != np.uint8 or starts.nbytes % game.dtype.itemsize:
            raise ValueError(f"{str(path)!r} was written by other rules of {game.name}")
        worlds = starts.view(game.dtype)
        game.validate(worlds)
        check_structure(arrays, len(worlds), game.num_actions)
        return cls(game, worlds, **arrays)

    def _arrays(self) -> dict[str, Array]:
        """What a file holds, in order."""
        names = (field.name for field in fields(self) if field.name != "game")
        arrays: dict[str, Array] = {name: getattr(self, name) for name in names}
        arrays["starts"] = np.atleast_1d(self.starts).view(np.uint8)
        return arrays

    def _size(self, information_set: int) -> int:
        return int(self.set_choices[information_set + 1] - self.set_choices[information_set])

    def _level_pairs(self, depth: int) -> int:
        """The first pair of a depth, or the number of all."""
        return int(self.set_pairs[self.level_sets[min(depth, self.depth)]])

    def __repr__(self) -> str:
        return (
            f"PublicTree({self.game!r}: {len(self.starts):,} worlds, {self.num_public_nodes:,} public nodes, "
            f"{self.num_information_sets:,} information sets, {self.depth} plies)"
        )


def _check_worlds(game: Game, worlds: States, chances: ArrayLike | None) -> tuple[States, Array]:
    if len(worlds) == 0 or (worlds["viewer"] != NOBODY).any():
        raise ValueError("worlds are empty or views: expected full states")
    weights = np.full(len(worlds), 1 / len(worlds)) if chances is None else np.array(chances, np.float64)
    if weights.shape != worlds.shape or (weights < 0).any() or not 0 < weights.sum() < np.inf:
        raise ValueError(f"chances have shape {weights.shape}: expected {worlds.shape}, none negative, not all zero")
    return copy_states(worlds), weights / weights.sum()
