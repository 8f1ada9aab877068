"""Small networks that are evaluated inside the compiled search, similar to NNUE (Nasu 2018).

    make_agent("mcts:simulations=400,network=chameleon7.npz")

A network has two hidden layers, a policy and a value for each player, and needs neither PyTorch nor ONNX Runtime to
play. If the game has the hook `_network_inputs`, each node of the search tree keeps the sums of the first layer, moves
update them incrementally, and the search's kernels evaluate the leaves. For any other game the inputs are the
observation of the player to move, which is slower.

`small_training` trains one and exports it from PyTorch.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, final

import numpy as np

from pbm_envs import Game
from pbm_envs.authoring import Ints, Mask, Record, Seeds, States, Tables
from pbm_envs.foreign import check_array, parse_object, read_arrays, registered_game
from pbm_envs.toolbox import Array, BatchKernel, Floats, NetworkInputs, PlayKernels, in_one_piece, stack_kernel

from ..search.backup import expand_leaf
from ..search.tree import EVALUATED, Tree
from .training_data import unanswered

FORMAT = "pbm_agents.learning.small_network 1"
WHAT = "a small network"
LEAST = np.float32(-20.0)
"""Logits are clamped to this distance from the highest, at which a probability is below a millionth."""
ONE, SIXTEENTH = np.float32(1.0), np.float32(1 / 16)


class Weights(NamedTuple):
    """The numbers of a network with I inputs and two hidden layers of H and M units, all float32."""

    first: Floats  # (I, H)
    first_bias: Floats  # (H,)
    second: Floats  # (H, M)
    second_bias: Floats  # (M,)
    policy: Floats  # (M, A)
    policy_bias: Floats  # (A,)
    value: Floats  # (M, P): from the player to move on
    value_bias: Floats  # (P,)


class Network(NamedTuple):
    """The arrays that the evaluation kernels of a search use."""

    weights: Weights
    actions: Ints
    """(perspectives, A), as in NetworkInputs."""
    tables: Tables


@stack_kernel
def forward(weights: Weights, sums: Floats, hidden: Floats, logits: Floats, shares: Floats) -> None:
    """Write the `logits` (A,) and, in turn order from the player to move, the `shares` (P,) of the result.

    The inner loops run over outputs, so that they are vectorized, and zero units are skipped. `sums` (H,) are those of
    the first layer; `hidden` (M,) is overwritten.
    """
    second, policy, value = weights.second, weights.policy, weights.value
    for j in range(len(hidden)):
        hidden[j] = weights.second_bias[j]
    for i in range(len(sums)):
        unit = sums[i]
        if unit > 0:
            for j in range(len(hidden)):
                hidden[j] += unit * second[i, j]
    for a in range(len(logits)):
        logits[a] = weights.policy_bias[a]
    for k in range(len(shares)):
        shares[k] = weights.value_bias[k]
    for j in range(len(hidden)):
        unit = hidden[j]
        if unit > 0:
            for a in range(len(logits)):
                logits[a] += unit * policy[j, a]
            for k in range(len(shares)):
                shares[k] += unit * value[j, k]
    highest, total = shares[0], 0.0
    for k in range(len(shares)):
        highest = max(highest, shares[k])
    for k in range(len(shares)):
        shares[k] = np.exp(shares[k] - highest)
        total += shares[k]
    for k in range(len(shares)):
        shares[k] /= total


@stack_kernel
def write_priors(logits: Floats, names: Ints, mask: Mask, shares: Floats, priors: Floats) -> None:
    """Write the softmax of the legal actions' logits; `names` (A,) is the output for each action.

    The exponential is the 16th power of a polynomial, which the compiler can vectorize. It is accurate to five digits
    where priors matter. `shares` (A,) is overwritten.
    """
    highest, total = np.float32(-1e30), np.float32(0.0)
    for a in range(len(names)):
        shares[a] = logits[names[a]] if mask[a] else np.float32(-1e30)
        highest = max(highest, shares[a])
    for a in range(len(names)):
        x = max(shares[a] - highest, LEAST) * SIXTEENTH
        y = ONE + x / np.float32(7)
        y = ONE + x * y / np.float32(6)
        y = ONE + x * y / np.float32(5)
        y = ONE + x * y / np.float32(4)
        y = ONE + x * y / np.float32(3)
        y = ONE + x * y / np.float32(2)
        y = ONE + x * y
        y *= y
        y *= y
        y *= y
        shares[a] = y * y
    for a in range(len(names)):
        shares[a] = shares[a] if mask[a] else np.float32(0.0)
        total += shares[a]
    for a in range(len(names)):
        priors[a] = shares[a] / total


@stack_kernel
def write_values(shares: Floats, mover: int, values: Floats) -> None:
    """Write values (P,) by seat, which sum to 0; a player who has the whole share of the result gets 1."""
    players = len(shares)
    for k in range(players):
        values[(mover + k) % players] = (players * shares[k] - 1) / (players - 1)


@stack_kernel
def add_changes(first: Floats, changes: Ints, count: int, sums: Floats) -> None:
    """Update the sums (H,) of the first layer for changed inputs, as `NetworkInputs.changed` writes them."""
    for c in range(count):
        change = changes[c]
        if change >= 0:
            for i in range(len(sums)):
                sums[i] += first[change, i]
        else:
            for i in range(len(sums)):
                sums[i] -= first[~change, i]


@stack_kernel
def answer(
    weights: Weights, sums: Floats, names: Ints, movers: Ints, masks: Mask, priors: Floats, values: Floats
) -> None:
    """Write priors (R, A) and values (R, P) from the sums (R, H) of the first layer; `names` (R, A) are the outputs."""
    hidden, logits = np.empty(weights.second.shape[1], np.float32), np.empty(names.shape[1], np.float32)
    exponentials, shares = np.empty(names.shape[1], np.float32), np.empty(values.shape[1], np.float32)
    for r in range(len(sums)):
        forward(weights, sums[r], hidden, logits, shares)
        write_priors(logits, names[r], masks[r], exponentials, priors[r])
        write_values(shares, movers[r], values[r])


@cache
def make_accumulate(changed: Callable[..., int], perspective: Callable[[Record], int]) -> Callable[..., None]:
    """Return the kernel that computes sums of the first layer from scratch, for a game's `NetworkInputs`."""

    @stack_kernel
    def accumulate(empty: States, states: States, network: Network, sums: Floats, movers: Ints) -> None:
        """Write sums (R, perspectives, H) and the perspective (R,) of the player to move; `empty` (1,) is all zeros."""
        weights = network.weights
        changes = np.empty(len(weights.first), np.int64)
        for r in range(len(states)):
            movers[r] = perspective(states[r])
            for p in range(sums.shape[1]):
                for i in range(sums.shape[2]):
                    sums[r, p, i] = weights.first_bias[i]
                number = changed(empty[0], states[r], p, network.tables, changes)
                add_changes(weights.first, changes, number, sums[r, p])

    return accumulate


@cache
def make_evaluate(changed: Callable[..., int], perspective: Callable[[Record], int]) -> Callable[..., None]:
    """Return the kernel that evaluates the leaves of a search, for a game's `NetworkInputs`."""

    @stack_kernel
    def evaluate(
        simulations: Array,
        count: int,
        states: States,
        state_bytes: Array,
        masks: Mask,
        values: Array,
        network: Network,
        node_states: States,
        all_sums: Floats,
        *arrays: Array,
    ) -> None:
        """Expand the first `count` leaves with priors and first-layer sums, and write their values (R, P).

        A leaf's sums in `all_sums` (G, N + 1, perspectives, H) are those of its parent, whose state is in `node_states`
        (G * N,), updated for the inputs that the move changed; the last entry is for leaves without a node. The other
        arrays are as in Buffers and a Tree.
        """
        tree, weights, first = Tree(*arrays), network.weights, network.weights.first
        hidden, logits = np.empty(weights.second.shape[1], np.float32), np.empty(masks.shape[1], np.float32)
        exponentials, shares = np.empty(masks.shape[1], np.float32), np.empty(values.shape[1], np.float32)
        changes, spare = np.empty(len(first), np.int64), np.empty(masks.shape[1], np.float32)
        last = all_sums.shape[1] - 1
        for r in range(count):
            g, n, state = simulations[r]["tree"], simulations[r]["node"], states[r]
            if simulations[r]["done"]:
                for k in range(values.shape[1]):
                    values[r, k] = state["returns"][k]
                continue
            child = expand_leaf(tree, g, n, simulations[r]["action"], state_bytes[r], masks[r])
            at = child if child > 0 else last
            for p in range(all_sums.shape[2]):
                for i in range(all_sums.shape[3]):
                    all_sums[g, at, p, i] = all_sums[g, n, p, i]
                number = changed(node_states[g * tree.states.shape[1] + n], state, p, network.tables, changes)
                add_changes(first, changes, number, all_sums[g, at, p])
            mover = perspective(state)
            forward(weights, all_sums[g, at, mover], hidden, logits, shares)
            priors = tree.priors[g, child] if child > 0 else spare
            write_priors(logits, network.actions[mover], masks[r], exponentials, priors)
            write_values(shares, state["to_move"], values[r])
            if tree.sums.shape[2] > EVALUATED and child > 0:
                for k in range(values.shape[1]):
                    tree.sums[g, child, EVALUATED, k] = values[r, k]

    return evaluate


def zero_weights(game: Game, first: int, second: int) -> Weights:
    """Return zeros as the weights of a network for a game, with `first` and `second` units in its hidden layers."""
    inputs, actions, players = game._network_inputs(), game.num_actions, game.num_players
    size = inputs.size if inputs else int(np.prod(game.observation_shape))
    shapes = (size, first), (first,), (first, second), (second,)
    outputs = (second, actions), (actions,), (second, players), (players,)
    return Weights(*(np.zeros(shape, np.float32) for shape in (*shapes, *outputs)))


@final
class SmallNetwork:
    """A small network as an evaluator: `Search(evaluator=SmallNetwork.load("chameleon7.npz"))`."""

    gives_priors = True
    answers_are_checked = True

    def __init__(self, game: Game, weights: Weights) -> None:
        """Take the weights of a network for a game; raise ValueError if they do not fit it."""
        self.game = game
        self._inputs: NetworkInputs | None = game._network_inputs()
        (_, first), (_, second) = (
            np.shape(part) if np.ndim(part) == 2 else (0, 0) for part in (weights[0], weights[2])
        )
        parts = zip(Weights._fields, weights, zero_weights(game, first, second), strict=True)
        self.weights = Weights(
            *(
                np.array(check_array(part, f"weights {name!r}", like.shape), np.float32, order="C")
                for name, part, like in parts
            )
        )
        for part in self.weights:
            part.flags.writeable = False  # like those of a file: kernels are compiled for either
        if self._inputs:
            actions = np.ascontiguousarray(self._inputs.actions, np.int64)
            self._network = Network(self.weights, actions, self._inputs.tables)
        self._outputs = np.arange(game.num_actions)[None]

    def __call__(
        self, game: Game, states: Array, masks: Array, seeds: Seeds, last_player_by_action: Array | None
    ) -> tuple[Array, Array]:
        """Evaluate as `Evaluator` specifies."""
        rows, priors, values = unanswered(self.game, game, states, masks)
        if len(rows):
            sums, names = self.sums(states[rows])
            found = np.empty((len(rows), game.num_actions), np.float32), np.empty((len(rows), game.num_players))
            answer(self.weights, sums, names, states["to_move"][rows].astype(np.int64), masks[rows], *found)
            priors[rows], values[rows] = found
        return priors, values

    def sums(self, states: Array) -> tuple[Floats, Ints]:
        """Return the sums (R, H) of the first layer for the players to move, and the output (R, A) for each action."""
        if self._inputs is None:
            seen = self.game.observe(self.game.view(states, states["to_move"]))
            sums = seen.reshape(len(states), -1).astype(np.float32) @ self.weights.first + self.weights.first_bias
            return sums, self._outputs.repeat(len(states), axis=0)
        both = np.empty((len(states), *self.accumulators(self.game)), np.float32)
        movers = self.accumulate(states, both)
        return both[np.arange(len(states)), movers], self._network.actions[movers]

    def accumulators(self, game: Game) -> tuple[int, int]:
        """Return the numbers of perspectives and units whose sums each search node keeps; zeros if it keeps none."""
        kept = game == self.game and self._inputs is not None
        return (len(self._inputs.actions), len(self.weights.first_bias)) if kept and self._inputs else (0, 0)

    def accumulate(self, states: Array, sums: Floats) -> Ints:
        """Write the sums (R, perspectives, H) of states; return the perspective (R,) of the players to move."""
        assert self._inputs is not None
        movers = np.empty(len(states), np.int64)
        accumulate = make_accumulate(self._inputs.changed, self._inputs.perspective)
        accumulate(np.zeros(1, states.dtype), states, self._network, sums, movers)
        return movers

    def kernels(self, game: Game) -> PlayKernels | None:
        """Return kernels for searches that never return to Python; None if the game has no incremental inputs."""
        play = game._play_kernels(False, False) if game == self.game else None
        if play is None or self._inputs is None:
            return None
        evaluate = make_evaluate(self._inputs.changed, self._inputs.perspective)
        return play._replace(network=BatchKernel(evaluate, (self._network,)))

    def save(self, path: str | Path) -> None:
        """Write the weights, and the game's name and options, as an `.npz` file."""
        about = {"format": FORMAT, "game": self.game.name, "options": dict(self.game.options)}
        text = np.frombuffer(json.dumps(about).encode(), np.uint8)
        with in_one_piece(path) as part, open(part, "wb") as file:
            np.savez_compressed(file, about=text, **self.weights._asdict())

    @classmethod
    def load(cls, path: str | Path) -> SmallNetwork:
        """Return the network in a file written by `save`, else raise ValueError; nothing in the file is executed.

        If there is no such file, the name may be that of a network in this package, such as `chameleon7.npz`.
        """
        packaged = Path(__file__).parent / "weights" / Path(path).name
        if not Path(path).exists() and str(path) == packaged.name and packaged.exists():
            path = packaged
        arrays = read_arrays(path, WHAT, ("about", *Weights._fields))
        about = parse_object(arrays.pop("about").tobytes(), WHAT)
        if about.get("format") != FORMAT:
            raise ValueError(f"{str(path)!r} is not {WHAT} of this version of pbm_envs")
        try:
            game = registered_game(about.get("game"), about.get("options"))
            return cls(game, Weights(**arrays))
        except ValueError as error:
            raise ValueError(f"{str(path)!r} is not {WHAT} of this version of pbm_envs: {error}") from None

    def __reduce__(self) -> tuple[Any, ...]:
        return SmallNetwork, (self.game, self.weights)
