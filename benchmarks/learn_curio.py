"""Learn the values of Curio's champion from games against itself, generation by generation.

    python benchmarks/learn_curio.py FOLDER agents/pbm_agents/champions/weights/curio.npz

The first generation plays with simple values, each further one with the network that earlier games have taught. A
player draws some worlds and searches every move in each, then captures (see GENERATIONS); the first moves of games are
random, the others slightly so. What is learned is the result of the game (a draw is half a win) for the player to move,
by logistic regression, from positions in which no capture is better than the static value. One game in ten is held out;
the cross-entropy on its positions (in nats) is printed after each pass. Of the last LAST passes, in which the steps are
small, the weights with the least are kept.

The games of a generation are written to FOLDER, and a command that was stopped resumes with the next generation. Needs
the extra `torch` and uses one thread.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from pbm_agents.champions.curio import CurioValues, Weights, empty_position, load_weights, quantized, save_weights
from pbm_agents.champions.lines import INFINITE, expected_outcomes, search, value_moves
from pbm_agents.champions.position import ALLOWED, UNITS, Position, Values, set_up, value_of
from torch.nn.functional import binary_cross_entropy_with_logits

from pbm_envs import Curio
from pbm_envs.authoring import Ints, States
from pbm_envs.games.curio.pieces import action_of, end_of, list_moves, slot_of
from pbm_envs.testing import random_actions
from pbm_envs.toolbox import Floats, in_one_piece, stack_kernel

MARGIN, NOISE = 0.6, 0.03
MOST_RANDOM = 8
"""The most random moves at the start of a game."""
BATCH, LEARNING_RATE, DECAY = 4096, 0.01, 1e-5
HELD, LAST = 10, 3
ENOUGH = 1 << 40
AT_ONCE = 5_000
"""Games that are played at the same time."""


class Generation(NamedTuple):
    """A generation of games, and what is learned after it."""

    games: int
    worlds: int
    """Worlds that a player draws for each move."""
    depth: int
    """Plies of the search in each world."""
    learned_from: int
    """The number of generations, the latest ones, whose games are learned from."""


GENERATIONS = (
    Generation(games=4_000, worlds=2, depth=1, learned_from=1),
    Generation(games=4_000, worlds=2, depth=1, learned_from=2),
    Generation(games=30_000, worlds=3, depth=1, learned_from=1),
)


@stack_kernel
def choose_moves(
    worlds: States,
    count: int,
    position: Position,
    values: Values,
    depth: int,
    margin: float,
    noise: Floats,
    moves: Ints,
    cells: Ints,
    found: Floats,
    totals: Floats,
    out: Ints,
) -> None:
    """Write the best action of each position by the mean over its `count` worlds, which follow one another."""
    for i in range(len(out)):
        state = worlds[i * count]
        number = list_moves(state, int(state["to_move"]), values.steps, values.settings[0], False, moves)
        out[i] = action_of(moves[0])
        if number == 1:
            continue
        for k in range(number):
            cells[k, 0], cells[k, 1] = state["cell"][slot_of(moves[k])], end_of(moves[k])
            totals[k] = noise[i, k]
        for w in range(count):
            world = worlds[i * count + w : i * count + w + 1]
            value_moves(world, position, values, cells[:number], depth, margin, found[:number])
            expected_outcomes(found[:number], found[:number])
            for k in range(number):
                totals[k] += found[k] / count
        best = 0
        for k in range(number):
            if totals[k] > totals[best]:
                best = k
        out[i] = action_of(moves[best])


@stack_kernel
def find_quiet(states: States, position: Position, values: Values, out: Ints) -> None:
    """Write 1 for each full state in which no capture is better than the static value, else 0."""
    for i in range(len(states)):
        mover, quiet = int(states[i]["to_move"]), int(states[i]["quiet"])
        set_up(states[i : i + 1], position, values)
        static = value_of(position, values, mover, quiet)
        out[i] = search(position, values, mover, 0, 0, -INFINITE, INFINITE) == static


class Player:
    """Searches worlds of many positions at once, at a fixed depth."""

    def __init__(self, values: CurioValues, worlds: int, depth: int) -> None:
        self.values, self.worlds, self.depth = values, worlds, depth
        most = values.game.num_actions + 1
        self.position = empty_position(values.game)
        self.memory = np.zeros(most, np.int64), np.zeros((most, 2), np.int64), np.zeros(most), np.zeros(most)

    def act(self, game: Curio, views: States, rng: np.random.Generator) -> Ints:
        worlds = game.determinize(np.repeat(views, self.worlds), rng)
        noise, out = rng.gumbel(size=(len(views), game.num_actions)) * NOISE, np.zeros(len(views), np.int64)
        self.position.counters[ALLOWED] = ENOUGH
        self.position.history.fill(0)
        constants = self.position, self.values.values, self.depth, MARGIN
        choose_moves(worlds, self.worlds, *constants, noise, *self.memory, out)
        return out

    def quiet(self, states: States) -> Ints:
        out = np.zeros(len(states), np.int64)
        self.position.counters[ALLOWED] = ENOUGH
        find_quiet(states, self.position, self.values.values, out)
        return out


class Examples(NamedTuple):
    """Positions, as the indices of the weights of their pieces, with the results of their games."""

    inputs: Ints
    """(N, 2, pieces) as the player to move and the opponent see them; captured pieces have the last index."""
    fading: Floats
    """(N,) plies since the last capture, as a share of the limit."""
    results: Floats
    """(N,) 1, 1/2 or 0 for the player to move."""
    games: Ints
    """(N,) the number of the game."""


def examples_of(game: Curio, states: States, results: Floats, games: Ints) -> Examples:
    base, (rows, cols) = int(game.options["base"]), game.board.shape
    slots = np.flatnonzero(game.init(1, np.random.default_rng(0))["board"][0] >= 0)
    columns = np.minimum(np.arange(cols), cols - 1 - np.arange(cols))
    place = (np.arange(rows)[:, None] * (-(-cols // 2)) + columns).ravel()
    none = 2 * base * base * (place.max() + 1)
    cell, owner = states["cell"][:, slots].astype(np.int64), states["owner"][:, slots]
    inputs = np.empty((len(states), 2, len(slots)), np.int16)
    for k in range(2):
        viewer = states["to_move"] if k == 0 else 1 - states["to_move"]
        near = np.take_along_axis(states["faces"][:, slots], owner[..., None].astype(np.int64), 2)[..., 0]
        far = states["faces"][:, slots].sum(axis=2) - near
        seen = np.where(viewer[:, None] == 0, cell, game.board.size - 1 - cell)
        index = ((owner != viewer[:, None]) * base + near.astype(np.int64) - 1) * base + far - 1
        inputs[:, k] = np.where(
            cell < 0, none, index * (place.max() + 1) + place[np.minimum(seen, game.board.size - 1)]
        )
    fading = states["quiet"] / game.options["no_capture_limit"]
    return Examples(inputs, fading.astype(np.float32), results.astype(np.float32), games)


def together(parts: list[Examples]) -> Examples:
    """Return the positions of several sets of games, which are counted on."""
    first, numbered = 0, []
    for part in parts:
        numbered.append(part._replace(games=part.games + first))
        first += int(part.games.max()) + 1
    return Examples(*(np.concatenate(same) for same in zip(*numbered, strict=True)))


def play(game: Curio, player: Player, count: int, rng: np.random.Generator) -> Examples:
    """Play games of a player against itself; return the quiet positions after the random moves, with the results."""
    states, start = game.init(count, rng), rng.integers(2, MOST_RANDOM + 1, count)
    found, numbers = [], []
    while not (over := states["done"]).all():
        rows = np.flatnonzero(~over)
        some = states[rows]
        searched = some["ply"] >= start[rows]
        actions = random_actions(game, some, rng)
        if searched.any():
            views = game.view(some[searched], some["to_move"][searched])
            actions[searched] = player.act(game, views, rng)
            found.append(some[searched])
            numbers.append(rows[searched])
        game.step(some, actions)
        states[rows] = some
    met, games = np.concatenate(found), np.concatenate(numbers)
    kept = player.quiet(met) == 1
    met, games = met[kept], games[kept]
    drawn, plies = (states["returns"] == 0).all(axis=1), states["ply"].mean()
    print(f"{count} games, {plies:.1f} plies, {drawn.mean():.3f} drawn; {len(met)} quiet positions", flush=True)
    return examples_of(game, met, (1 + states["returns"][games, met["to_move"]]) / 2, games)


class Network(torch.nn.Module):
    """The network of `lines`; weights of a piece are sums for its numbers, for a number and the cell, and for all."""

    def __init__(self, game: Curio) -> None:
        super().__init__()
        self.base, (self.rows, self.cols) = int(game.options["base"]), game.board.shape
        self.places = self.rows * -(-self.cols // 2)
        kinds, small = self.base**2, 0.02
        self.kind = torch.nn.Parameter(small * torch.randn(2, kinds, 1, UNITS))
        self.near = torch.nn.Parameter(small * torch.randn(2, self.base, 1, self.places, UNITS))
        self.far = torch.nn.Parameter(small * torch.randn(2, 1, self.base, self.places, UNITS))
        self.whole = torch.nn.Parameter(torch.zeros(2, kinds, self.places, UNITS))
        self.biases = torch.nn.Parameter(0.1 * torch.ones(UNITS))
        self.outputs = torch.nn.Parameter(torch.tensor([1.0, 0.5, -0.5, 0.5, -0.5, 0.5, -0.5, 0.5]))
        self.faded = torch.nn.Parameter(torch.tensor(0.0))
        with torch.no_grad():
            numbers = torch.arange(1, self.base + 1) / self.base
            self.kind[0, :, 0, 0] += (0.1 + 0.2 * numbers[:, None] + 0.2 * numbers).flatten()
            royal = torch.maximum(numbers[:, None], numbers).flatten() == 1
            self.kind[0, :, 0, 0] += 0.3 * royal

    def pieces(self) -> torch.Tensor:
        """Return (2, base², places, UNITS) the weights of pieces."""
        both = (self.near + self.far).reshape(2, self.base**2, self.places, UNITS)
        return self.kind + both + self.whole

    def forward(self, inputs: torch.Tensor, fading: torch.Tensor) -> torch.Tensor:
        """Return (N,) values, before the hyperbolic tangent."""
        table = torch.cat([self.pieces().reshape(-1, UNITS), torch.zeros(1, UNITS)])
        units = torch.nn.functional.embedding_bag(inputs.flatten(0, 1), table, mode="sum") + self.biases
        units = torch.cat([units[:, :1], units[:, 1:].relu()], dim=1)
        ours, theirs = (units @ self.outputs).view(-1, 2).unbind(1)
        return (ours - theirs) * (1 - self.faded.sigmoid() * fading)

    def weights(self) -> Weights:
        """Return the weights as `CurioValues` expects them."""
        across = np.minimum(np.arange(self.cols), self.cols - 1 - np.arange(self.cols))
        pieces = self.pieces().detach().double().numpy()
        shape = 2, self.base, self.base, self.rows, -(-self.cols // 2), UNITS
        full = pieces.reshape(shape)[:, :, :, :, across].reshape(*shape[:3], -1, UNITS)
        biases, outputs = self.biases.detach().double().numpy(), self.outputs.detach().double().numpy()
        return quantized(full, biases, outputs, round(self.faded.detach().sigmoid().item(), 4))


def learn(game: Curio, examples: Examples, passes: int, rng: np.random.Generator) -> Weights:
    """Return the weights that predict held-out games best, of those after each of the LAST passes."""
    torch.manual_seed(int(rng.integers(1 << 62)))
    network = Network(game)
    optimizer = torch.optim.Adam(network.parameters(), lr=LEARNING_RATE)
    inputs, fading, results = (torch.from_numpy(np.ascontiguousarray(each)) for each in examples[:3])
    held = examples.games % HELD == 0
    trained, held_rows = np.flatnonzero(~held), torch.from_numpy(np.flatnonzero(held))
    batches, least, best = max(1, len(trained) // BATCH), np.inf, network.weights()
    rates = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.02, passes * batches)
    for number in range(passes):
        losses = []
        for rows in np.array_split(rng.permutation(trained), batches):
            of = torch.from_numpy(rows)
            loss = binary_cross_entropy_with_logits(2 * network(inputs[of].int(), fading[of]), results[of])
            losses.append(loss.item())
            loss = loss + DECAY * (network.whole**2).sum() + DECAY / 10 * (network.pieces() ** 2).sum()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            rates.step()
        with torch.no_grad():
            logits = 2 * network(inputs[held_rows].int(), fading[held_rows])
            found = binary_cross_entropy_with_logits(logits, results[held_rows]).item()
        if number >= passes - LAST and found < least:
            least, best = found, network.weights()
        print(f"pass {number + 1}: {np.mean(losses):.4f}, held out {found:.4f} nats", flush=True)
    return best


def learn_generations(folder: Path, share: float = 1.0, passes: int = 6, seed: int = 0) -> Weights:
    """Play the games of each generation that are not in the folder, and learn; return the weights of the last.

    Args:
        folder: Where games and weights are kept.
        share: What share of each generation's games is played.
        passes: The number of passes through the positions, in each generation.
        seed: Determines games and weights.
    """
    torch.set_num_threads(1)
    game, known = Curio(), []
    values = CurioValues.simple(game)
    folder.mkdir(parents=True, exist_ok=True)
    for number, generation in enumerate(GENERATIONS):
        path, learned = (folder / f"{name}-{number}.npz" for name in ("games", "weights"))
        if not path.exists():
            start, parts, count = time.process_time(), [], max(2, round(share * generation.games))
            for first in range(0, count, AT_ONCE):
                player, games = Player(values, generation.worlds, generation.depth), min(AT_ONCE, count - first)
                parts.append(play(game, player, games, np.random.default_rng([seed, number, 0, first])))
            with in_one_piece(path) as part:
                np.savez_compressed(part, **together(parts)._asdict())
            print(f"generation {number}: {time.process_time() - start:.1f} s", flush=True)
        with np.load(path) as file:
            known.append(Examples(*(file[name] for name in Examples._fields)))
        if not learned.exists():
            examples = together(known[-generation.learned_from :])
            save_weights(learned, learn(game, examples, passes, np.random.default_rng([seed, number, 1])))
        values = CurioValues(game, load_weights(learned))
    return values.weights


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--share", type=float, default=1.0, help="of the games of each generation")
    parser.add_argument("--passes", type=int, default=6, help="through the positions, in each generation")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    weights = learn_generations(arguments.folder, arguments.share, arguments.passes, arguments.seed)
    save_weights(arguments.out, weights)


if __name__ == "__main__":
    main()
